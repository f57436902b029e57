"""The paper repeated: printed numbers, exact ones, the authors' raw results where they are at hand, and the page about them."""

import hashlib
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from helpers.paths import ROOT, SHARED
from quaestor import load
from quaestor.cli import main
from quaestor.report.reproduction.knowledge import knowledge_section
from quaestor.report.reproduction.multi import multi_section, readings
from quaestor.report.reproduction.single import single_section
from quaestor.report.reproduction.table import table_section
from quaestor.simulate import simulate
from quaestor.simulate.paper import NAMES, published, studies
from quaestor.simulate.paper.audit import agreement, ends, first_question, random_order, shares_right
from quaestor.simulate.paper.best import BestTest, left_after_one
from quaestor.simulate.paper.methods import methods
from quaestor.simulate.paper.raw import read_raw
from quaestor.simulate.paper.runs import own
from quaestor.simulate.paper.split import split, surest
from quaestor.simulate.paper.studies import MULTI, PRINTED, gaps, repeat_multi, repeat_single
from quaestor.simulate.paper.table import compared, table_1
from quaestor.version import VERSION

REPLAY = SHARED / "paper" / "replay"
HERE = pytest.mark.skipif(not REPLAY.is_dir(), reason="the authors' raw results are not beside this repository (../shared/paper/replay)")
FOUND = (ROOT / "studies" / "paper" / "findings.txt").read_text(encoding="utf-8")
FIGURES = {"single-skill-accuracy": 19, "single-skill-brier": 19, "multi-skill-accuracy": 65}


@pytest.fixture(scope="module")
def single():
    return repeat_single(64, read_raw(REPLAY) if REPLAY.is_dir() else None)


@pytest.fixture(scope="module")
def multi():
    return repeat_multi(1024)


@pytest.fixture(scope="module")
def raw():
    return read_raw(REPLAY)


@pytest.mark.parametrize("name", FIGURES)
def test_printed_points_come_with_the_package(name):
    frame = published(name)
    assert frame.shape == (FIGURES[name], 5)
    assert list(frame.columns) == list(NAMES.values()) == list(PRINTED)
    assert frame.to_numpy().min() >= 0
    assert frame.to_numpy().max() <= 1


def test_table_1_in_exact_numbers():
    table = table_1()
    assert (table["Bayesian"] - table["Bayesian, printed"]).abs().max() < 5.1e-4
    lower = [0.029, 0.052, 0.0625, 0.306, 0.500, 0.517, 0.665, 0.708]
    upper = [0.1875, 0.220, 0.344, 0.500, 0.694, 0.792, 0.823, 0.896]
    np.testing.assert_allclose(table["lower"], lower, atol=5.1e-4)
    np.testing.assert_allclose(table["upper"], upper, atol=5.1e-4)


def test_two_networks_give_the_printed_bounds_but_one():
    bounds = compared(table_1())
    far = bounds[bounds["from the two"] > 1e-3]
    assert far[["answers", "bound", "printed"]].to_numpy().tolist() == [["(-, 0)", "upper", 0.506]]
    assert (bounds["from exact"] <= 1e-3).sum() == 5
    both = (bounds["from exact"] <= 1e-3) | (bounds["from the two"] <= 1e-3)
    assert both.sum() == 15


def test_exact_curves_to_the_printed_digits(single):
    at = [1, 2, 3, 4, 5, 10, 18]
    known = {
        ("Bayesian entropy", "accuracy"): [0.8000, 0.8600, 0.9020, 0.9101, 0.9480, 0.9778, 0.9905],
        ("Bayesian mode", "accuracy"): [0.8000, 0.8600, 0.8950, 0.9095, 0.9286, 0.9727, 0.9905],
        ("credal entropy", "accuracy"): [0.8000, 0.8000, 0.8900, 0.9062, 0.9397, 0.9734, 0.9902],
        ("credal mode, upper", "accuracy"): [0.8000, 0.8600, 0.8960, 0.9170, 0.9388, 0.9761, 0.9902],
        ("credal entropy", "not_upper"): [0.2430, 0.1566, 0.0889, 0.0531, 0.0329, 0.0062, 0.0015],
        ("credal entropy", "brier"): [0.3201, 0.2446, 0.1697, 0.1249, 0.1010, 0.0547, 0.0406],
        ("Bayesian entropy", "brier"): [0.3125, 0.2076, 0.1532, 0.1156, 0.0857, 0.0318, 0.0146],
    }
    for (method, metric), values in known.items():
        np.testing.assert_allclose(single.exact_curve(method, metric)[at], values, atol=5.1e-5, err_msg=f"{method}, {metric}")


def test_our_students_are_those_of_simulate():
    method = methods("single-skill-as-run")[0]
    run, simulated = own(method.bank, method.rules, 30, 5), simulate(method.bank, method.rules, 30, 5)
    steps = len(simulated.running)
    np.testing.assert_array_equal(run.asked[:, : steps - 1], simulated.asked_places)
    for metric in ("accuracy", "brier", "not_upper", "determinate"):
        np.testing.assert_allclose(run.mean(metric)[:steps], getattr(simulated, metric), atol=1e-12)


@HERE
def test_raw_results_equal_the_printed_points_by_the_papers_definitions(raw):
    for method, run in raw.runs.items():
        for name, metric in (("single-skill-accuracy", "strict_accuracy"), ("single-skill-brier", "wrong_lower")):
            np.testing.assert_allclose(run.mean(metric), published(name)[method], rtol=0, atol=1e-9)
        np.testing.assert_allclose(run.mean("wrong_lower"), run.mean("not_upper"), atol=1e-6)  # four decimals may not sum to 1


@HERE
def test_raw_results_honestly_scored(raw):
    ended = {name: run.mean("brier")[-1] for name, run in raw.runs.items()}
    assert ended["credal entropy"] == pytest.approx(0.041, abs=5e-4)
    assert ended["credal mode"] == pytest.approx(0.038, abs=5e-4)
    assert ended["Bayesian entropy"] == ended["Bayesian mode"] == pytest.approx(0.008, abs=5e-4)
    assert all(run.mean("accuracy")[0] == 0.5 and run.mean("strict_accuracy")[0] == 0 for run in raw.runs.values())


@HERE
def test_how_the_first_study_was_run(raw):
    shares = shares_right(raw)
    assert shares.loc["T7", "z as written, 0"] > 10
    assert shares.filter(like="z as run").abs().to_numpy().max() < 3
    agreed = agreement(raw)["best"]
    assert agreed["credal entropy: upper entropy"] > 0.99
    assert agreed["credal entropy: lower entropy"] < 0.5
    assert agreed["credal mode: lower mode"] > agreed["credal mode: upper mode"] + 0.2
    assert agreed["Bayesian entropy: entropy"] == agreed["Bayesian mode: mode"] == 1
    assert first_question(raw) == (9, {"lower": True, "upper": False})
    ended = ends(raw)
    assert ended["ended early"].between(0.18, 0.21).all()
    assert (ended["went on below 0.1"] == "0").all()
    assert random_order(raw) == (1024, 9, 9)
    assert [int((raw.levels == level).sum()) for level in (0, 1)] == [505, 519]


@pytest.mark.long
def test_no_rule_exceeds_the_best_test_after_one_question(multi):
    best = BestTest(load(MULTI))
    assert len(best.kinds) == 16
    assert best.after(0) == pytest.approx(0.5)
    assert best.after(1) == pytest.approx(0.692)
    assert best.after(2) > best.after(1)
    for run in multi.own.values():
        assert run.mean("accuracy")[1] < best.after(1) + 4 * run.error("accuracy")[1]
    printed = published("multi-skill-accuracy")
    assert (printed.loc[1, ["credal entropy", "credal mode"]] > best.after(3)).all()


def test_one_question_leaves_what_the_simulation_leaves(multi):
    left = left_after_one(load(MULTI).widen(0.05))
    run = multi.own["credal entropy"]
    assert len(np.unique(run.asked[:, 0])) == 1
    first = list(load(MULTI).questions)[run.asked[0, 0]]
    assert abs(run.mean("not_ruled_out")[1] - left[first]) < 4 * run.error("not_ruled_out")[1]


def test_figure_3_is_the_share_not_ruled_out(multi):
    assert (published("multi-skill-accuracy").to_numpy() * 256 % 1 == 0).all()
    found = readings(multi)["mean"].astype(float)
    assert found.idxmin() == "true level not ruled out"
    assert found.min() < 0.005 < 0.04 < found["accuracy of the midpoint"]
    rest = gaps(
        "multi-skill-accuracy", {name: multi.own[name].mean("accuracy") for name in ("Bayesian entropy", "Bayesian mode", "random")}
    )
    assert (rest["mean"] < 0.02).all()


def test_gaps_are_the_largest_and_the_mean_without_step_0():
    points = published("single-skill-accuracy")["random"].to_numpy()
    moved = points + np.where(np.arange(19) == 7, 0.18, 0.0)
    moved[0] = 1.0
    row = gaps("single-skill-accuracy", {"random": moved}, {"random": np.full(19, 0.09)}).loc["random"]
    assert row.tolist() == pytest.approx([0.18, 7, 0.01, 2.0])


def test_the_surest_are_picked_in_part_at_the_border():
    assert surest(np.array([0.9, 0.6, 0.8, 0.8]), 0.5).tolist() == [1.0, 0.0, 0.5, 0.5]
    assert surest(np.array([0.9, 0.6]), 0.0).tolist() == [0.0, 0.0]


def test_determinate_answers_are_more_often_right(multi):
    table = split(multi.own["credal entropy"], multi.own["Bayesian entropy"], (4, 12))
    assert (table["credal there"] > table["credal else"] + 0.1).all()
    whole = multi.own["credal entropy"].mean("accuracy")[[4, 12]]
    share = table["determinate"]
    np.testing.assert_allclose(share * table["credal there"] + (1 - share) * table["credal else"], whole)


def test_findings_of_the_committed_page_are_current(single, multi):
    """Those that do not depend on the 1024 students of one skill, or on raw results that are not at hand."""
    made = [table_section(), single_section(single), multi_section(multi), knowledge_section(None, multi)]
    lines = FOUND.splitlines()
    sentences = [finding for section in made for finding in section.findings]
    assert len(sentences) == len(lines)
    for line, sentence in zip(lines, sentences, strict=True):
        assert line == f"- {sentence}" or (not REPLAY.is_dir() and line.startswith(f"- {sentence}")), "run `quaestor reproduce all` again"


def test_findings_stand_in_the_docs_and_on_the_page():
    docs = " ".join((ROOT / "docs" / "reproduction.md").read_text(encoding="utf-8").split())
    page = (ROOT / "studies" / "paper" / "index.html").read_text(encoding="utf-8")
    for line in FOUND.splitlines():
        assert line in docs
        assert line.removeprefix("- ") in page


def test_committed_results_are_small_and_hold_no_paths():
    files = [path for path in (ROOT / "studies" / "paper").iterdir() if path.suffix != ".png"]
    assert sum(path.stat().st_size for path in files) < 450_000  # figures twice, in the page and as files, with bands on their curves
    for path in files:
        assert not re.search(r"/work|/tmp|/home|shared/", path.read_text(encoding="utf-8")), path.name


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.long
def test_the_command_twice_writes_the_same_files(tmp_path, capsys):
    for name in ("one", "two"):
        assert main(["reproduce", "multi", "--students", "8", "--out", str(tmp_path / name)]) == 0
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert {"index.html", "findings.txt", "multi-accuracy.svg", "multi-accuracy.png", "gaps-multi.csv"} <= set(digests(tmp_path / "one"))
    assert str(tmp_path) not in (tmp_path / "one" / "index.html").read_text(encoding="utf-8")
    assert "index.html" in capsys.readouterr().out


def test_table_1_alone(tmp_path, capsys):
    assert main(["reproduce", "table1", "--out", str(tmp_path)]) == 0
    assert pd.read_csv(tmp_path / "table-1.csv").shape == (8, 9)
    out = " ".join(capsys.readouterr().out.split())
    assert "15 of the 16" in out
    assert "--raw" not in out


def test_without_raw_results_it_says_what_is_missing_and_goes_on(single, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(studies, "repeat_single", lambda students, raw: replace(single, raw=raw))  # it takes seconds
    assert main(["reproduce", "single", "--students", "64", "--out", str(tmp_path)]) == 0
    assert "raw results of figure 2 were not given (--raw FOLDER)" in " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Left out" in page
    assert "how it was run, from the raw results" not in page


def test_bad_folders_are_named(tmp_path, capsys):
    assert main(["reproduce", "single", "--raw", str(tmp_path / "none")]) == 1
    assert "got no such folder" in capsys.readouterr().err
    (tmp_path / "students.csv").write_text("student,skill\n0,1\n")
    assert main(["reproduce", "single", "--raw", str(tmp_path)]) == 1
    assert "got a folder without answers.csv, credal_entropy.csv" in capsys.readouterr().err
    for name in ("answers", *NAMES):
        (tmp_path / f"{name}.csv").write_text("student,step\n0,0\n")
    assert main(["reproduce", "single", "--raw", str(tmp_path)]) == 1
    assert "answers.csv: the columns student, Q1, Q2, Q3, ..., got no Q1" in capsys.readouterr().err
    (tmp_path / "students.csv").write_text("")
    assert main(["reproduce", "single", "--raw", str(tmp_path)]) == 1
    assert "files of numbers that can be read" in capsys.readouterr().err
    assert main(["reproduce", "table1", "--out", str(tmp_path / "students.csv")]) == 1
    assert "a folder that can be written" in capsys.readouterr().err
    assert main(["reproduce", "multi", "--students", "1"]) == 1
    assert "--students: a whole number of at least 2, got 1" in capsys.readouterr().err


def test_the_page_names_seed_and_version_and_links_to_every_table_and_figure(tmp_path):
    assert main(["reproduce", "table1", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert f"Quaestor {VERSION}; seed {studies.SEED}." in page
    written = {path.name for path in tmp_path.iterdir() if path.suffix in (".csv", ".svg")}
    assert set(re.findall(r'<a href="([^"]+)"', page)) == written
