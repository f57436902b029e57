"""`quaestor learn --group COLUMN`: the column is no question, and what works differently is told in words, on the page and as JSON."""

import html
import json

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from oracles.learning import draw
from quaestor.cli import main
from quaestor.learn.differential import differences

PEOPLE = 240


def bank(shift=0.0):
    logits = np.array([-1.6, 0, 1.6]) + np.array([-0.5, 0, 0.5, 0, -0.3, 0.2, 0.1, -0.1])[:, None]
    logits[2] += shift
    right = (1 / (1 + np.exp(-logits))).round(6).tolist()
    questions = {f"Q{number}": {"skill": "a", "right": row} for number, row in enumerate(right)}
    return qs.Bank({"skills": {"a": {"levels": ["1", "2", "3"]}}, "questions": questions})


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A bank and answers with the columns `pupil` and `language`, wide and long."""
    folder = tmp_path_factory.mktemp("groups")
    qs.dump(bank(), folder / "bank.yaml")
    frame = pd.concat([draw(bank(), PEOPLE, 1), draw(bank(-2.0), PEOPLE, 2)], ignore_index=True)
    frame.insert(0, "pupil", [f"P{number}" for number in range(2 * PEOPLE)])
    frame["language"] = ["French"] * PEOPLE + ["German <b>"] * PEOPLE
    frame.loc[3, "language"] = None
    frame.to_csv(folder / "wide.csv", index=False)
    long = frame.melt(["pupil", "language"], var_name="question", value_name="answer")
    long.to_csv(folder / "long.csv", index=False)
    return folder


def run(folder, answers, *words):
    out = folder / "learnt.yaml"
    start = ["learn", str(folder / "bank.yaml"), "--responses", str(folder / answers), "--out", str(out), "--folds", "0"]
    return main([*start, "--shape", "tables", *words])


def test_what_works_differently_is_told(files, capsys):
    assert run(files, "wide.csv", "--person", "pupil", "--group", "language") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "Groups: French (239 people), German <b> (240 people). 1 of 8 questions works differently: `Q2`." in printed
    assert "- 1 person without a group was left out." in printed
    assert "`Q2`: It works differently for German <b> than for French: at the same level" in printed
    assert "in 100 fewer answer it right. Look at its wording" in printed
    page = (files / "learnt.html").read_text(encoding="utf-8")
    assert "<h2>Groups</h2>" in page
    assert "German <b>" not in page
    assert html.escape("--group language") in page
    assert page.count("differential item functioning") == 1
    assert ">nan<" not in page


@pytest.mark.parametrize("answers", ["wide.csv", "long.csv"])
def test_json_says_what_python_says(files, capsys, answers):
    assert run(files, answers, "--person", "pupil", "--group", "language", "--json") == 0
    found = json.loads(capsys.readouterr().out)["groups"]
    frame = pd.read_csv(files / "wide.csv", index_col="pupil")
    expected = differences(qs.learn(bank(), frame.drop(columns="language")), frame["language"])
    assert found["people"] == {"French": 239, "German <b>": 240}
    assert found["anchors"] == list(expected.anchors)
    assert found["notes"] == list(expected.notes)
    for one in expected.questions:
        own = found["questions"][one.question]
        assert own["log_odds"] == pytest.approx(one.log_odds, abs=1e-6)
        assert (own["size"], own["told"], own["group"]) == (one.size, one.is_told, one.group)
    assert found["questions"]["Q2"]["told"]


def test_without_groups_nothing_is_said(files, capsys):
    frame = pd.read_csv(files / "wide.csv", index_col="pupil").drop(columns="language")
    frame.to_csv(files / "plain.csv")
    assert run(files, "plain.csv", "--person", "pupil", "--json") == 0
    assert json.loads(capsys.readouterr().out)["groups"] is None
    assert "<h2>Groups</h2>" not in (files / "learnt.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--group", "langauge"], "--group names a column that is no question and no name, got 'langauge' (did you mean 'language'?)"),
        (["--group", "pupil"], "--group names a column that is no question and no name, got 'pupil'"),
        (["--group", "Q1"], "--group names a column that is no question and no name, got 'Q1'"),
        (["--group", "language", "--link", "bank.yaml"], "learn: --group or --link, got both"),
    ],
)
def test_what_is_no_group(files, capsys, words, said):
    frame = pd.read_csv(files / "wide.csv")
    answers = "wide.csv"
    if words[1] == "Q1":
        answers = "less.csv"
        frame.drop(columns="language").to_csv(files / answers, index=False)
    assert run(files, answers, "--person", "pupil", *words) == 1
    assert said in " ".join(capsys.readouterr().err.split())


def test_groups_are_looked_at_before_the_work(files, capsys, monkeypatch):
    monkeypatch.setattr("quaestor.cli.learn.learn", None)
    frame = pd.read_csv(files / "wide.csv")
    frame.assign(language="all").to_csv(files / "one.csv", index=False)
    assert run(files, "one.csv", "--person", "pupil", "--group", "language") == 1
    assert "groups: people belong to at least two groups, got 'all' only" in capsys.readouterr().err


def test_a_person_of_two_groups(files, capsys):
    frame = pd.read_csv(files / "long.csv")
    frame.loc[0, "language"] = "Italian"
    frame.to_csv(files / "two.csv", index=False)
    assert run(files, "two.csv", "--person", "pupil", "--group", "language") == 1
    assert "two.csv: a person belongs to one group, got two of 'P0'" in " ".join(capsys.readouterr().err.split())
