"""`quaestor learn`: the bank, the page, the words, and what it refuses."""

import html
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import quaestor as qs
from helpers.paths import ROOT
from oracles.learning import draw
from quaestor.cli import answer_files, main
from quaestor.cli import learn as command
from quaestor.cli.answer_files import read_file, tables
from quaestor.learn.answers import read_answers
from quaestor.learn.compare import Maker, held_out_log_likelihoods
from quaestor.learn.diagnose import diagnose
from quaestor.learn.folds import fold_of
from quaestor.learn.graphs import every_link, learnt_tree
from quaestor.learn.sections import untaken, without
from quaestor.learn.skeleton import skeleton
from quaestor.report.learning import level_figures

ANSWERS = str(ROOT / "docs" / "examples" / "answers.csv")


def run(*words):
    return main(["learn", *map(str, words)])


def test_a_bank_and_its_page(tmp_path, capsys):
    out = tmp_path / "learnt.yaml"
    assert run("single-skill", "--responses", ANSWERS, "--out", out, "--folds", 3, "--shape", "tables") == 0
    printed = capsys.readouterr().out
    assert "200 people gave 3,185 answers to 18 questions" in printed
    assert "`Q6`: Check the key:" in printed
    assert printed.startswith("200 people answered 18 questions; the bank has 1 skill with 2 levels. To look at: 1 question, ")
    assert "On the whole the bank does not fit:" in printed
    assert "Nobody's answers stand out." in printed
    learnt = qs.load(out)
    expected = qs.learn(qs.load("single-skill"), pd.read_csv(ANSWERS)).bank
    assert learnt.model_version == expected.model_version
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    for words in (
        "What to look at",
        "Check the key",
        "Expected and observed, by level",
        "How well the bank fits",
        "People whose answers do not fit",
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
    words += ["--levels", 2, "--shape", "tables", "--needs", "each"]
    assert run(*words, "--untaken", "empty", "--restarts", 1) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["people"] == 60
    assert found["held_out"]["folds"] == 5
    assert set(found["questions"]) == set(names)
    assert found["fit"]["verdict"] in ("fits", "close", "misfit")
    assert found["fit"]["pairs"] == 15
    assert found["people_who_do_not_fit"] == []
    learnt = qs.load(tmp_path / "new.csv")
    assert learnt.version == found["bank"]["learnt"]
    for graph in ("chain", "independent"):
        assert run(*words[:2], "--graph", graph, *words[4:], "--folds", 0) == 0


def test_answers_alone_are_enough(tmp_path, capsys):
    """Semicolons, decimal commas and points; levels and shape are chosen, and the page shows the alternatives."""
    answers, out = tmp_path / "answers.csv", tmp_path / "learnt.yaml"
    rng = np.random.default_rng(3)
    level = rng.random(60) < 0.5
    lines = ["Name;Zahl;Ordnung;Brüche;Wurzel"]
    for person, able in enumerate(level):
        points = rng.binomial(2, 0.8 if able else 0.2)
        half = ["0", "0,5", "1"][rng.binomial(2, 0.7 if able else 0.3)]
        right = [str(int(rng.random() < (0.85 if able else 0.2))) for _ in range(2)]
        lines.append(f"p{person};{points};{half};{right[0]};{right[1]}")
    answers.write_bytes("\n".join(lines).encode("cp1252"))
    assert run("--responses", answers, "--person", "Name", "--out", out, "--folds", 3) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "banks were tried on 60 people held out in 3 parts; taken: one skill," in printed
    learnt = qs.load(out)
    assert {name: question.classes for name, question in learnt.questions.items()} == {
        "Zahl": ("0", "1", "2"),
        "Ordnung": ("0", "0.5", "1"),
        "Brüche": ("wrong", "right"),
        "Wurzel": ("wrong", "right"),
    }
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    assert "The alternatives" in page
    assert "one skill, 3 levels, curves" in page
    assert (
        main(["compare", "--responses", str(answers), "--person", "Name", "--folds", "2", "--out", str(tmp_path / "c.csv"), "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert len(found["alternatives"]) == len(pd.read_csv(tmp_path / "c.csv")) == 8
    assert found["taken"] in [row["bank"] for row in found["alternatives"]]


def test_too_few_people_to_choose(tmp_path, capsys):
    answers, out = tmp_path / "answers.csv", tmp_path / "learnt.yaml"
    answers.write_text("Q1,Q2\n0,1\n1,1\n0,0\n1,0\n")
    assert run("--responses", answers, "--out", out, "--folds", 2) == 0
    assert "banks were tried" not in capsys.readouterr().out
    assert len(next(iter(qs.load(out).skills.values())).levels) == 2


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
        (
            ["single-skill", "--levels", 3, "--responses", ANSWERS],
            "learn: --levels is for a start without a bank, got it with 'single-skill'",
        ),
        (["--graph", "given", "--responses", ANSWERS], "learn: --graph given is for a bank, got none"),
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
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    words = ["--credal", "bootstrap", "--samples", 3, "--folds", 2]
    assert run("single-skill", "--responses", ANSWERS, "--out", tmp_path / "x.yaml", *words) == 0
    for said in ("learning and cross-validation", "objective -", "bootstrap", "step 3 of 3"):
        assert said in shown.getvalue()


def test_people_named_twice(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("who,Q1\nx,1\ny,1\nx,0\n")
    with pytest.raises(qs.QuaestorError, match=r"a.csv: a person has one row, got two of 'x'$"):
        read_file(str(path), qs.load("single-skill"), "who")
    monkeypatch.setattr(answer_files, "ROWS", 1)
    with pytest.raises(qs.QuaestorError, match=r"a.csv: a person has one row, got two of 'x'$"):
        read_file(str(path), qs.load("single-skill"), "who")


def test_cells_are_text_and_empty_ones_missing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Q1,Q2\n1,None\nNA,right\n,01\n")
    (frame,) = tables(str(path))
    assert frame["Q1"].isna().tolist() == [False, True, True]
    assert frame["Q2"].tolist() == ["None", "right", "01"]


def test_a_file_in_parts_is_the_same_table(tmp_path, monkeypatch):
    bank, frame = qs.load("single-skill"), pd.read_csv(ANSWERS)
    named = frame.set_axis([f"p{n}" for n in range(len(frame))]).rename_axis("who")
    wide, long = tmp_path / "wide.csv", tmp_path / "long.csv"
    named.to_csv(wide)
    named.reset_index().melt("who", var_name="question", value_name="answer").to_csv(long, index=False)
    assert ",1.0" in wide.read_text()  # as pandas writes numbers beside empty cells
    monkeypatch.setattr(answer_files, "ROWS", 7)
    assert len(list(tables(str(wide), "who"))) == 29
    for path in (wide, long):
        found = read_file(str(path), bank, "who")
        assert found.names.tolist() == named.index.tolist()
        assert (found.cells == read_answers(bank, frame).cells).all()


@pytest.mark.parametrize("content", [b"PK\x03\x04 and then nothing", b"nonsense"])
def test_a_damaged_workbook(tmp_path, capsys, content):
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    assert run("single-skill", "--responses", path, "--out", tmp_path / "x.yaml") == 1
    assert capsys.readouterr().err.startswith(f"{path}: a table of answers, got ")


def test_a_column_of_names_is_told_apart(tmp_path, capsys):
    path = tmp_path / "a.csv"
    pd.read_csv(ANSWERS).rename_axis("who").to_csv(path)
    assert run("single-skill", "--responses", path, "--out", tmp_path / "x.yaml") == 1
    said = f"{path}: a column is a question of the bank, got 'who' (if it names the people: --person 'who')"
    assert capsys.readouterr().err.strip() == said


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("new.txt", "{out}: a bank file ends in one of .yaml, .yml, .json, .csv, .xlsx, got '.txt'"),
        ("none/new.yaml", "{out}: the file can be written, got no folder {folder}/none"),
        ("taken.yaml", "{out}: the file can be written, got a folder"),
    ],
)
def test_where_the_bank_goes_is_looked_at_before_the_work(tmp_path, capsys, monkeypatch, out, said):
    (tmp_path / "taken.yaml").mkdir()
    monkeypatch.setattr(command, "begin", None)
    assert run("single-skill", "--responses", ANSWERS, "--out", tmp_path / out) == 1
    assert capsys.readouterr().err.strip() == said.format(out=tmp_path / out, folder=tmp_path)


def test_the_same_bank_is_learnt_once(tmp_path, monkeypatch):
    calls = []
    real = command.learn
    monkeypatch.setattr(command, "learn", lambda *given, **options: calls.append(options.get("folds")) or real(*given, **options))
    assert run("single-skill", "--responses", ANSWERS, "--out", tmp_path / "x.yaml", "--folds", 2) == 0
    assert calls == [2]


def test_the_command_on_the_page_can_be_pasted(tmp_path):
    folder = tmp_path / "my answers & more"
    folder.mkdir()
    (folder / "a.csv").write_text(Path(ANSWERS).read_text())
    out = folder / "x.yaml"
    assert run("single-skill", "--responses", folder / "a.csv", "--out", out, "--folds", 0) == 0
    page = html.unescape(out.with_suffix(".html").read_text(encoding="utf-8"))
    assert f"--responses '{folder}/a.csv' --out '{out}' --folds 0" in page


MATRIX = pd.DataFrame(np.repeat(np.eye(3, dtype=int), 4, axis=0), index=[f"Q{n}" for n in range(12)], columns=["a", "b", "c"])


def three_skills(tmp_path):
    """A Q-matrix of three skills on files, and answers of 80 people, ten of whom did not take the section on c."""
    matrix, answers = tmp_path / "q.csv", tmp_path / "answers.csv"
    MATRIX.rename_axis("item").to_csv(matrix)
    rng = np.random.default_rng(3)
    level = rng.random((80, 3)) < 0.6
    frame = pd.DataFrame((rng.random((80, 12)) < np.where(level, 0.9, 0.2)[:, np.repeat(range(3), 4)]).astype(int), columns=MATRIX.index)
    frame.iloc[:10, :8] = 1
    frame.iloc[:10, 8:] = 0
    frame.to_csv(answers, index=False)
    told = ["--levels", 2, "--shape", "tables", "--needs", "each"]
    return frame, ["--matrix", matrix, "--responses", answers, "--out", tmp_path / "new.yaml", *told]


def test_a_tree_is_learnt_without_the_people_held_out(tmp_path, capsys):
    frame, words = three_skills(tmp_path)
    assert run(*words, "--graph", "tree", "--folds", 4, "--json") == 0
    held = json.loads(capsys.readouterr().out)["held_out"]
    bank = skeleton(MATRIX)
    part = fold_of(80, 4, np.random.default_rng(0))
    honest = held_out_log_likelihoods(Maker(lambda people: learnt_tree(bank, people)), frame, part).mean()
    assert held["mean"] == pytest.approx(honest, abs=1e-9)
    leaking = qs.learn(learnt_tree(bank, frame), frame, folds=4).held_out.mean
    assert held["mean"] < leaking
    assert held["notes"] == ["The tree was learnt anew for each fold, without the people held out."]
    assert run(*words, "--graph", "tree", "--folds", 81) == 1
    assert capsys.readouterr().err.strip() == "learn: at most as many folds as people, got 81 for 80"
    assert run(*words, "--graph", "tree", "--folds", 1) == 1
    assert capsys.readouterr().err.strip() == "learn: folds are at least 2, or 0 for none, got 1"


def test_sections_left_out_were_chosen_with_everybody_and_that_is_said(tmp_path, capsys):
    """One level of all skills: who has the others hardly lacks the third."""
    _, words = three_skills(tmp_path)
    rng = np.random.default_rng(3)
    level = rng.random((200, 1)) < 0.6
    frame = pd.DataFrame((rng.random((200, 12)) < np.where(level, 0.9, 0.4)).astype(int), columns=MATRIX.index)
    frame.iloc[:12, :8], frame.iloc[:12, 8:] = 1, 0
    frame.to_csv(tmp_path / "answers.csv", index=False)
    assert run(*words, "--graph", "all", "--untaken", "empty", "--folds", 3) == 0
    note = "The sections left out were chosen with the answers of all people, those held out included"
    assert note in " ".join(capsys.readouterr().out.split())
    assert note in (tmp_path / "new.html").read_text(encoding="utf-8")
    bank = every_link(skeleton(MATRIX))
    expected = qs.learn(bank, without(frame, untaken(qs.learn(bank, frame)))).bank
    assert qs.load(tmp_path / "new.yaml").model_version == expected.model_version
    assert run(*words, "--graph", "all", "--folds", 3) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert note not in printed
    assert "sections look untaken" in printed


def test_a_panel_for_each_skill_of_a_question():
    bank = qs.Bank({
        "skills": {"adding": {}, "taking away": {}},
        "questions": {
            "one": {"skill": "adding", "right": [0.2, 0.8]},
            "both": {"skills": ["adding", "taking away"], "needs": "all", "slip": 0.1, "guess": 0.2},
        },
    })  # fmt: skip
    frame = pd.DataFrame({"one": [1, 0, 1, 1, 0, 0] * 5, "both": [1, 0, 1, 0, 0, 1] * 5})
    ((figure, caption),) = level_figures(diagnose(qs.learn(bank, frame)))
    titles = [axes.get_title(loc="left").removesuffix(" ▲") for axes in figure.axes if axes.axison]
    assert titles == ["one", "both · adding", "both · taking away"]
    assert "a panel for each of them" in caption


def test_intervals_that_say_what_they_mean(tmp_path, capsys):
    out = tmp_path / "learnt.yaml"
    assert run("single-skill", "--responses", ANSWERS, "--out", out, "--folds", 2, "--intervals", 0.8) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "of 100 shares of right answers that the bank predicts for new people like these, about 80 hold." in printed
    assert "it predicted 36 shares in the other half" in printed
    learnt = qs.load(out)
    assert all(not question.table.is_precise for question in learnt.questions.values())
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    assert "What it predicts for new people" in page
    assert "of 25 people, from" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--intervals", "90"], "learn: --intervals: a share above 0 and below 1, such as 0.9, got 90.0; for 90 in 100 write 0.9"),
        (["--intervals", "0"], "learn: --intervals: a share above 0 and below 1, such as 0.9, got 0.0"),
        (["--intervals", "0.9", "--credal", "idm"], "learn: --intervals or --credal, got both"),
    ],
)
def test_intervals_that_make_no_sense(tmp_path, capsys, words, said):
    assert run("single-skill", "--responses", ANSWERS, "--out", tmp_path / "x.yaml", *words) == 1
    assert said in " ".join(capsys.readouterr().err.split())


def two_skills(people, seed=1):
    """Answers to twelve questions, six on each of two skills, and the Q-matrix."""
    names = [f"Q{n}" for n in range(12)]
    questions = {name: {"skill": "ab"[number % 2], "right": [0.1, 0.9]} for number, name in enumerate(names)}
    bank = qs.Bank({"skills": {"a": {}, "b": {"parents": ["a"], "strength": 0.3}}, "questions": questions})
    matrix = pd.DataFrame({"a": [1, 0] * 6, "b": [0, 1] * 6}, index=pd.Index(names, name="question"))
    return draw(bank, people, seed), matrix


def test_skills_are_found_in_answers_alone(tmp_path, capsys):
    frame, _ = two_skills(250)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    words = ["--responses", tmp_path / "answers.csv", "--out", tmp_path / "new.yaml", "--shape", "curves", "--graph", "all", "--levels", 2]
    assert run(*words, "--folds", 3) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "taken: 2 skills found, 2 levels, all links, curves" in printed
    assert "The skills were learnt anew for each fold, without the people held out." in printed
    assert tuple(qs.load(tmp_path / "new.yaml").skills) == ("skill 1", "skill 2")
    page = (tmp_path / "new.html").read_text(encoding="utf-8")
    assert "2 skills were found in the answers. They have no names" in page
    assert "found again" in page
    assert run(*words, "--folds", 3, "--skills", 2, "--json") == 0
    found = json.loads(capsys.readouterr().out)["choice"]["found"]
    assert (found["skills"], found["taken"], found["samples"]) == (2, True, 20)
    assert {name: len(row["skills"]) for name, row in found["questions"].items()} == {f"Q{n}": 1 for n in range(12)}
    assert run(*words, "--folds", 3, "--skills", 1) == 0
    assert tuple(qs.load(tmp_path / "new.yaml").skills) == ("ability",)


def test_a_wrong_row_of_a_matrix_is_told(tmp_path, capsys):
    frame, matrix = two_skills(300)
    matrix.loc["Q2"] = [0, 1]
    frame.to_csv(tmp_path / "answers.csv", index=False)
    matrix.to_csv(tmp_path / "matrix.csv")
    words = ["--matrix", tmp_path / "matrix.csv", "--responses", tmp_path / "answers.csv", "--out", tmp_path / "new.yaml"]
    words += ["--levels", 2, "--graph", "all", "--shape", "tables", "--needs", "each", "--folds", 0]
    assert run(*words) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "`Q2`: It is said to need b. Answers of people held out are predicted better if it needs a (log loss lower by" in printed
    page = (tmp_path / "new.html").read_text(encoding="utf-8")
    assert "Which skills the questions need" in page
    assert "needs others" in page
    assert run(*words, "--json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["question"], row["stated"], row["found"], row["kind"]) for row in rows] == [("Q2", ["b"], ["a"], "other")]


def test_where_skills_cannot_be_looked_for(tmp_path, capsys):
    frame, matrix = two_skills(20)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    matrix.to_csv(tmp_path / "matrix.csv")
    words = ["--responses", tmp_path / "answers.csv", "--out", tmp_path / "new.yaml", "--skills", 2]
    assert run("--matrix", tmp_path / "matrix.csv", *words) == 1
    assert "learn: --skills is for answers alone, got it with --matrix" in capsys.readouterr().err
    assert run("single-skill", *words) == 1
    assert "learn: --skills is for a start without a bank, got it with 'single-skill'" in capsys.readouterr().err


def test_a_matrix_that_lacks_questions_or_is_turned_round(tmp_path, capsys):
    frame, matrix = two_skills(20)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    matrix.iloc[:10].to_csv(tmp_path / "short.csv")
    matrix.T.to_csv(tmp_path / "turned.csv")
    for name, words in (
        ("short", "Q-matrix: every question with answers has a row, got none for Q10, Q11"),
        ("turned", "got none for Q0, Q1, Q2, Q3, Q4, Q5, Q6, Q7, Q8, Q9 (are its rows the skills? turn it round)"),
    ):
        assert run("--matrix", tmp_path / f"{name}.csv", "--responses", tmp_path / "answers.csv", "--out", tmp_path / "new.yaml") == 1
        assert words in capsys.readouterr().err


def test_without_a_bank_nothing_was_before(tmp_path):
    frame, _ = two_skills(60)
    frame.to_csv(tmp_path / "answers.csv", index=False)
    words = ["--responses", tmp_path / "answers.csv", "--out", tmp_path / "new.yaml", "--folds", 0, "--skills", 1, "--levels", 2]
    assert run(*words, "--shape", "curves") == 0
    page = (tmp_path / "new.html").read_text(encoding="utf-8")
    assert "before:" not in page
    assert "The questions, in words" in page
    assert "The learnt tables never fall from a level to a higher one." in page
