"""`quaestor learn`: the bank, the page, the words, and what it refuses."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import quaestor as qs
from quaestor.cli import learn as command
from quaestor.cli import main
from quaestor.cli.learn import read_table

ROOT = Path(__file__).parents[1]
ANSWERS = str(ROOT / "docs" / "examples" / "answers.csv")


def run(*words):
    return main(["learn", *map(str, words)])


def test_a_bank_and_its_page(tmp_path, capsys):
    out = tmp_path / "learnt.yaml"
    assert run("single-skill", "--responses", ANSWERS, "--out", out, "--folds", 3) == 0
    printed = capsys.readouterr().out
    assert "200 people gave 3,185 answers to 18 questions" in printed
    assert "`Q6`: Check the key:" in printed
    learnt = qs.load(out)
    expected = qs.learn(qs.load("single-skill"), pd.read_csv(ANSWERS)).bank
    assert learnt.model_version == expected.model_version
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    for words in (
        "What to look at",
        "Check the key",
        "Expected and observed, by level",
        "it never falls",
        "quaestor learn single-skill",
        "<svg",
    ):
        assert words in page
    assert page.count("<h2>") >= 8
    assert ">nan<" not in page
    assert "http://" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace("http://creativecommons.org", "")


@pytest.mark.parametrize("way", [["--credal", "idm", "--s", "4"], ["--credal", "bootstrap", "--samples", "5", "--level", "0.8"]])
def test_a_credal_bank(tmp_path, way):
    out = tmp_path / "learnt.json"
    assert run("single-skill", "--responses", ANSWERS, "--out", out, "--folds", 0, *way) == 0
    assert not qs.load(out).is_precise


def test_json_and_a_matrix(tmp_path, capsys):
    matrix, answers = tmp_path / "q.csv", tmp_path / "answers.xlsx"
    names = [f"Q{n}" for n in range(6)]
    pd.DataFrame({"a": [1, 1, 1, 0, 0, 1], "b": [0, 0, 0, 1, 1, 1]}, index=pd.Index(names, name="item")).to_csv(matrix)
    rng = np.random.default_rng(1)
    level = rng.random(60) < 0.5
    right = {name: np.where(rng.random(60) < np.where(level, 0.8, 0.2), 1, 0) for name in names}
    pd.DataFrame({"who": [f"p{n}" for n in range(60)], **right}).to_excel(answers, index=False)
    words = ["--matrix", matrix, "--graph", "tree", "--responses", answers, "--person", "who", "--out", tmp_path / "new.csv", "--json"]
    assert run(*words, "--untaken", "empty", "--restarts", 1) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["people"] == 60
    assert found["held_out"]["folds"] == 5
    assert set(found["questions"]) == set(names)
    learnt = qs.load(tmp_path / "new.csv")
    assert learnt.version == found["bank"]["learnt"]
    for graph in ("chain", "independent"):
        assert run(*words[:2], "--graph", graph, *words[4:], "--folds", 0) == 0


def test_nobody_has_a_right_answer(tmp_path, capsys):
    matrix, answers = tmp_path / "q.csv", tmp_path / "zeros.csv"
    names = [f"Q{n}" for n in range(5)]
    pd.DataFrame({"a": 1}, index=pd.Index(names, name="item")).to_csv(matrix)
    pd.DataFrame(0, index=range(6), columns=names).to_csv(answers, index=False)
    for way in ("keep", "empty"):
        assert run("--matrix", matrix, "--responses", answers, "--untaken", way, "--out", tmp_path / "new.yaml") == 0
    assert "'wrong' from all 6" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--responses", ANSWERS], "learn: a bank or --matrix, got neither"),
        (["single-skill", "--matrix", "q.csv", "--responses", ANSWERS], "learn: a bank or --matrix, got both"),
        (["single-skill", "--responses", "a.doc"], "a.doc: a table of answers ends in one of .csv, .xlsx, .parquet, got '.doc'"),
        (["single-skill", "--responses", "none.csv"], "none.csv: a table of answers, got No such file or directory"),
        (["single-skill", "--responses", ANSWERS, "--person", "id"], f"{ANSWERS}: --person names a column, got 'id'"),
        (["multiplication", "--responses", ANSWERS], "responses: a column is a question of the bank, got 'Q3'"),
        (["single-skill", "--responses", ANSWERS, "--weight", "-1"], "learn: weight is a number of at least 0, got -1.0"),
    ],
)
def test_what_it_refuses(tmp_path, capsys, words, said):
    assert run(*words, "--out", tmp_path / "x.yaml") == 1
    assert capsys.readouterr().err.strip() == said
    assert not list(tmp_path.iterdir())


def test_a_terminal_shows_how_far_it_is(tmp_path, monkeypatch):
    shown = io.StringIO()
    monkeypatch.setattr(command, "console", lambda: Console(file=shown, force_terminal=True, width=120))
    words = ["--credal", "bootstrap", "--samples", 3, "--folds", 2]
    assert run("single-skill", "--responses", ANSWERS, "--out", tmp_path / "x.yaml", *words) == 0
    for said in ("learning, and people held out", "objective -", "bootstrap", "step 3"):
        assert said in shown.getvalue()


def test_people_named_twice(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("who,Q1\nx,1\nx,0\n")
    with pytest.raises(qs.QuaestorError, match=r"a.csv: a person has one row, got two of 'x'$"):
        read_table(str(path), "who")


def test_cells_are_text_and_empty_ones_missing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Q1,Q2\n1,None\nNA,right\n,01\n")
    frame = read_table(str(path))
    assert frame["Q1"].isna().tolist() == [False, True, True]
    assert frame["Q2"].tolist() == ["None", "right", "01"]
