"""Studies: what cannot be meant is refused with file, place and line; the page says what was done and claims only what follows."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from quaestor.cli import main
from quaestor.cli.take import DEFAULT
from quaestor.errors import BankError, QuaestorError
from quaestor.report.study import conclusions, summary
from quaestor.simulate import Scattered
from quaestor.simulate.study import StudyError, load_study

METHODS = """
methods:
  entropy: {rules: {score: entropy, stop: {max_questions: 3}}}
  mode: {rules: {score: mode, stop: {max_questions: 3}}}
"""


@pytest.fixture
def written(tmp_path):
    def write(text, name="study.yaml"):
        path = tmp_path / name
        path.write_text(f"title: A study\n{text}" if "title:" not in text else text, encoding="utf-8")
        return path

    return write


def refused(path):
    with pytest.raises(StudyError) as error:
        load_study(path)
    return str(error.value).replace(f"{path}:", "").splitlines()


def words_of(path):
    """What a page says, without its figures."""
    text = re.sub(r"<(svg|style).*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"</?code>", "", re.sub(r"<(?!/?code)[^>]+>", " ", text))).split())


# What is refused


EXACT = "exact: exact curves are for students drawn from one bank who answer as it says, got"


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("bank: german\nexact: true\nbehaviour: {slips: 0.1}", [f"{EXACT} a behaviour as well [line 3]"]),
        ("bank: german\nexact: true\ntruth: {random: 0.05}", [f"{EXACT} a random truth as well [line 3]"]),
        ("bank: german\nexact: true\nstudents: profiles", [f"{EXACT} students: profiles as well [line 3]"]),
        ("bank: german\nstudents: many", ["students: a whole number of at least 1, or profiles, got 'many' [line 3]"]),
        ("bank: german\nstudents: 0", ["students: a whole number of at least 1, or profiles, got '0' [line 3]"]),
        ("bank: german\nstudents: 2.5", ["students: a whole number of at least 1, or profiles, got '2.5' [line 3]"]),
        ("bank: german\nseed: -1", ["seed: a whole number of at least 0, got '-1' [line 3]"]),
        ("bank: german\nbehaviour:\n  fatigue: 2", ["behaviour.fatigue: a share between 0 and 1, got '2' [line 4]"]),
        (
            "bank: german\nbehaviour:\n  reveals:\n    V1: {V2: often}",
            ["behaviour.reveals.V1.V2: a share between 0 and 1, got 'often' [line 5]"],
        ),
        (
            "bank: german\nbehaviour:\n  reveals:\n    V1: {V99: 0.5}",
            ["behaviour.reveals.V1.V99: a question of the bank, got 'V99' (did you mean 'V9'?) [line 5]"],
        ),
        ("bank: gorman", ["bank: a file, or the name of a bundled bank, got 'gorman' (did you mean 'german'?) [line 2]"]),
        ("bank: german\ntruth: gorman", ["truth: a file, or the name of a bundled bank, got 'gorman' (did you mean 'german'?) [line 3]"]),
        ("bank: german\ntruth: {random: 0}", ["truth.random: a width above 0, since the bank is precise, got 0 [line 3]"]),
        ("bank: german\ntruth: {random: 3}", ["truth.random: a table is widened by a number between 0 and 1, got 3 [line 3]"]),
        (
            "bank: german\ntruth: random",
            [
                "truth: random is for methods that share one credal bank; say how wide the set is, such as {random: 0.05}, got 'random'"
                " [line 3]"
            ],
        ),
    ],
    ids=lambda value: value.replace("\n", " ") if isinstance(value, str) else "",
)
def test_what_cannot_be_meant(written, text, problems):
    assert refused(written(text + METHODS)) == problems


def test_a_truth_that_does_not_fit(written):
    (problem,) = refused(written(f"bank: german\ntruth: four-skills{METHODS}"))
    assert re.fullmatch(r"truth: \S+ has the levels .*, got no such skill \[line 3\]", problem)


def test_a_bank_file_that_is_not_there_or_not_right(written):
    (problem,) = refused(written(f"bank: other.yaml{METHODS}"))
    assert problem.startswith("bank: ")
    assert problem.endswith("[line 2]")
    bad = written("title: Bad\nskills: {a: {}}\nquestions: {q: {skill: b, right: [0.1, 0.9]}}", "bad.yaml")
    with pytest.raises(BankError, match=re.escape(f"{bad}:questions.q.skill")):
        load_study(written(f"bank: bad.yaml{METHODS}"))


@pytest.mark.parametrize(
    ("names", "place", "taken"),
    [
        (("A b", "a-b"), "a-b", "a-b.csv is taken by 'A b'"),
        (("one", "Summary"), "Summary", "summary.csv is taken by the summary of the study"),
        (("index", "one"), "index", "index.csv is taken by the page of the study"),
    ],
)
def test_every_method_has_a_file_of_its_own(written, names, place, taken):
    methods = "".join(f"\n  {name}: {{rules: {{score: entropy}}}}" for name in names)
    (problem,) = refused(written(f"bank: german\nmethods:{methods}"))
    assert problem.startswith(f"methods.{place}: a name whose file is not that of another, {taken}, got '{place}' [line ")


def test_rules_are_told_with_their_place(written):
    (problem,) = refused(written("bank: german\nmethods:\n  one:\n    rules:\n      score: entrpy"))
    assert problem.startswith("methods.one.rules.score: ")
    assert problem.endswith("[line 6]")


# One set of students


def test_random_truths_are_the_same_students_for_every_method(written):
    methods = "\nmethods:\n" + "".join(
        f"  {name}: {{widen: {width}, rules: {{score: order, stop: {{max_questions: 6}}}}}}\n"
        for name, width in (("precise", 0), ("narrow", 0.02), ("wide", 0.1))
    )
    study = load_study(written(f"bank: german\nstudents: 60\ntruth: {{random: 0.05}}{methods}"))
    assert isinstance(study.truth, Scattered)
    assert study.scatter == 0.05
    found = [simulated for simulated, _ in study.run().values()]
    for other in found[1:]:
        assert (other.levels == found[0].levels).all()
        assert (other.answers == found[0].answers).all()
    by_hand = qs.simulate(qs.load("german").widen(0.05), study.methods[0].rules, 60, truth="random")
    assert (by_hand.answers == found[0].answers).all()


def test_plain_random_where_all_share_one_credal_bank(written):
    same = "\nmethods:\n  one: {widen: 0.05, rules: {score: entropy}}\n  two: {widen: 0.05, rules: {score: mode}}"
    study = load_study(written(f"bank: german\ntruth: random{same}"))
    assert study.truth.bank.version == qs.load("german").widen(0.05).version
    (problem,) = refused(written(f"bank: german\ntruth: random{same.replace('0.05', '0.04', 1)}"))
    assert problem.startswith("truth: random is for methods that share one credal bank")


# The page


def test_an_exact_study(written):
    path = written(f"bank: german\nstudents: 60\nexact: true\nmetrics: [accuracy, set_accuracy]{METHODS}")
    assert main(["simulate", str(path)]) == 0
    study, folder = load_study(path), path.with_suffix("")
    exact = qs.expected(study.bank, study.methods[0].rules)
    page = words_of(folder / "index.html")
    assert f"After 1 question entropy and mode lead with an exact accuracy of {exact.accuracy[1]:.3f}." in page
    assert f"After 3 questions entropy and mode lead with an exact accuracy of {exact.accuracy[3]:.3f}." in page
    assert "bands" not in page
    assert "clear" not in page
    assert "Exact, without sampling: the curves, the conclusions, the mean lengths and the metrics of this table" in page
    assert "From the sample of 60 students: its other columns, and how many questions were never used." in page
    table = pd.read_csv(folder / "entropy.csv", index_col="step")
    np.testing.assert_allclose(table["accuracy_exact"], exact.accuracy, atol=1e-6)
    assert abs(table["accuracy"] - table["accuracy_exact"]).max() > 1e-4
    shown = pd.read_csv(folder / "summary.csv", index_col="method")
    assert shown.loc["mode", "accuracy, end"] == pytest.approx(exact.accuracy[-1], abs=1e-6)


def test_the_page_says_what_was_done(written):
    path = written(
        "bank: german\nstudents: 60\nseed: 7\nbehaviour: {slips: 0.1, reveals: {V1: {V2: 0.3}}}\ntruth: {random: 0.02}\n"
        "metrics: [u80, log_loss]\nmethods:\n  precise: {rules: {stop: {max_questions: 2}}}\n"
        "  chance: {rules: {score: random, stop: {max_questions: 2}}}\n  credal: {widen: 0.05, rules: {stop: {max_questions: 2}}}"
    )
    assert main(["simulate", str(path)]) == 0
    page, bank = words_of(path.with_suffix("") / "index.html"), qs.load("german")
    for words in (
        "60 simulated students, each from another network of the credal set of German placement test, widened by 0.02",
        "the same ones for every method (seed 7)",
        "They answer otherwise than the bank says: slips 0.1, V1 gives the best answer of V2 away to 30%.",
        "credal: score mode, ties by entropy; a credal bank, every number widened by 0.05 to each side",
        f"Quaestor {qs.__version__}; seed 7; German placement test, version {bank.version}.",
        "U80 against the number of questions, mean over students and skills (more is better); bands are two standard errors to each side.",
        "After 1 question credal leads with a mean u80 of",
    ):
        assert words in page


def test_ties_and_differences_in_words(written):
    same = (
        "\nmethods:\n  one: {rules: {score: entropy, stop: {max_questions: 2}}}\n  two: {rules: {score: entropy, stop: {max_questions: 2}}}"
    )
    study = load_study(written(f"bank: german\nstudents: 50{same}"))
    results = study.run()
    value = results["one"][0].accuracy
    assert conclusions(study, results) == [
        f"After 1 question one and two lead with a mean accuracy of {value[1]:.3f}.",
        f"After 2 questions one and two lead with a mean accuracy of {value[2]:.3f}.",
    ]
    study = load_study(written(f"bank: german\nstudents: 50\nmetrics: [set_accuracy]{same}"))
    assert len(conclusions(study, study.run())) <= 2
    assert "set_accuracy, 1 question" in summary(study, results).columns


def test_nothing_is_written_unless_everything_is_there(written, capsys):
    path = written(
        "bank: german\nexact: true\nstudents: 20\nmethods:\n  one: {rules: {stop: {max_questions: 2}}}\n  two: {rules: {score: random}}"
    )
    assert main(["simulate", str(path)]) == 1
    assert capsys.readouterr().err.startswith("methods.two: exact expectations are for rules that look only at the answers")
    assert not path.with_suffix("").exists()


def test_results_beside_a_study_named_as_its_bank(written):
    """Found by running it twice: the folder of results was taken for the bank."""
    path = written(f"bank: german\nstudents: 20{METHODS}", "german.yaml")
    for _ in range(2):
        assert main(["simulate", str(path)]) == 0
    assert (path.with_suffix("") / "summary.csv").exists()


# The command


@pytest.mark.parametrize("options", [["--students", "5"], ["--seed", "1"], ["--widen", "0"], ["--json"], ["--rules", "r.yaml"]])
def test_a_study_says_everything_itself(written, capsys, options):
    path = written(f"bank: german\nstudents: 20{METHODS}")
    assert main(["simulate", str(path), *options]) == 1
    assert capsys.readouterr().err == f"{path}: a study says these things itself, got {options[0]}; change the file\n"


@pytest.mark.parametrize("field", ["bank: german", "methods: {}", "students: 5"])
def test_what_is_taken_for_a_study(written, capsys, field):
    path = written(f"{field}\nquestions: {{}}")
    assert main(["simulate", str(path)]) == 1
    assert f"{path}:questions: unknown field" in capsys.readouterr().err


def test_a_bank_is_tried_by_the_rules_of_take(capsys):
    assert main(["simulate", "german", "--students", "30"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.startswith(f"The test stops when {DEFAULT.stop.words}. 30 students;")
    assert "determinate" not in out
    found = qs.simulate(qs.load("german"), DEFAULT, 30)
    assert f"{found.length:.1f} questions on average" in out
    assert main(["simulate", "german", "--students", "30", "--widen", "0.05"]) == 0
    assert "determinate" in capsys.readouterr().out


def test_no_folder_where_a_file_stands(written, tmp_path):
    path = written(f"bank: german\nstudents: 20{METHODS}")
    (tmp_path / "taken").write_text("")
    assert main(["simulate", str(path), "--out", str(tmp_path / "taken")]) == 1


def test_a_random_truth_has_no_exact_curves(written):
    study = load_study(written(f"bank: german\ntruth: {{random: 0.05}}{METHODS}"))
    with pytest.raises(QuaestorError, match=r"^methods.entropy: exact: students who come from one network, got a random truth$"):
        type(study)(**{**vars(study), "exact": True}).run()
