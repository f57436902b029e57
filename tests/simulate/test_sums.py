"""Simulations that keep only sums over students: the same curves, and no more memory for more students."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from quaestor.cli import main
from quaestor.simulate import simulate, work

TEN = qs.any_of(qs.entropy_below(0.3), qs.max_questions(10))
CASES = {
    "plain": ("german", 0.0, {"rules": qs.Rules(score="entropy", stop=TEN)}),
    "one skill": ("single-skill-as-run", 0.0, {"rules": qs.Rules(stop=TEN)}),
    "credal": ("german", 0.05, {"rules": qs.Rules(score="mode", stop=TEN)}),
    "drawn": ("german", 0.0, {"rules": qs.Rules(score="random", stop=TEN)}),
    "skips": ("german", 0.0, {"rules": qs.Rules(score="entropy", stop=TEN), "behaviour": qs.Behaviour(skipping=0.2)}),
}


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(work, "_MOST", 100)


def check_same(one, other):
    """All that is told of two simulations, but for what is of each student, is the same to the last bit."""
    pd.testing.assert_frame_equal(one.table(), other.table(), check_exact=True)
    pd.testing.assert_series_equal(one.exposure, other.exposure, check_exact=True)
    assert (one.count, one.length, one.stops, one.overlap, one.never_used) == (
        *(other.count, other.length, other.stops, other.overlap, other.never_used),
    )
    assert list(one.means) == list(other.means)
    for name in one.totals:
        for found in ("by_level", "error_by_skill", "error_by_level"):
            np.testing.assert_array_equal(getattr(one, found)(name), getattr(other, found)(name))
    np.testing.assert_array_equal(one.calibration, other.calibration)


@pytest.mark.parametrize("case", CASES)
def test_the_curves_are_the_same(small_parts, case):
    name, width, options = CASES[case]
    bank = qs.load(name)
    bank = bank.widen(width) if width else bank
    found = simulate(bank, students=450, **options)
    assert found.count == len(found.lengths) == 450
    assert found.length == pytest.approx(found.lengths.mean(), abs=1e-12)
    check_same(found, simulate(bank, students=450, keep="sums", **options))


def test_two_workers_and_files(small_parts, tmp_path):
    bank, rules = qs.load("german"), qs.Rules(score="entropy", stop=TEN)
    one = simulate(bank, rules, 450, keep="sums")
    check_same(one, simulate(bank, rules, 450, workers=2, keep="sums"))
    kept = simulate(bank, rules, 450, out=tmp_path)
    check_same(kept, simulate(bank, rules, 450, out=tmp_path, keep="sums"))


def test_real_people(small_parts):
    bank = qs.load("german")
    names = list(bank.questions)
    given = np.random.default_rng(3).integers(0, 2, (260, len(names))).astype(float)
    given[:, 5:9] = np.where(np.random.default_rng(4).random((260, 4)) < 0.3, np.nan, given[:, 5:9])
    options = {"rules": qs.Rules(score="entropy", stop=qs.max_questions(4)), "holdout": names[5:9]}
    answers = pd.DataFrame(given, columns=names)
    check_same(simulate(bank, responses=answers, **options), simulate(bank, responses=answers, keep="sums", **options))


@pytest.mark.parametrize("what", ["by_student", "asked", "answers", "levels", "lengths", "difference"])
def test_nothing_is_known_of_each_student(what):
    bank = qs.load("german")
    found, full = (simulate(bank, qs.Rules(stop=TEN), 20, keep=keep) for keep in ("sums", "students"))
    calls = [lambda: getattr(found, what)]
    if what == "difference":
        calls = [lambda: found.difference(full), lambda: full.difference(found)]
    for call in calls:
        with pytest.raises(qs.QuaestorError) as raised:
            call()
        said = "numbers of each student are there with keep='students', got a simulation with keep='sums'"
        assert str(raised.value) == f"{what}: {said}"


def test_metrics_that_are_not_there():
    found = simulate(qs.load("german"), qs.Rules(stop=TEN), 20, keep="sums")
    with pytest.raises(qs.QuaestorError, match=r"^a metric is one of accuracy, brier, .*, got 'speed'$"):
        found.error("speed")


@pytest.mark.parametrize("keep", ["all", "", None, 1])
def test_what_can_be_kept(keep):
    with pytest.raises(qs.QuaestorError, match=rf"^keep is one of 'students', 'sums', got {keep!r}$"):
        simulate(qs.load("german"), students=3, keep=keep)


def peak(students, keep):
    """The most memory that a simulation takes, and the size of what is found."""
    bank, rules = qs.load("german"), qs.Rules(score="entropy", stop=qs.max_questions(10))
    simulate(bank, rules, 10, keep=keep)
    tracemalloc.start()
    try:
        found = simulate(bank, rules, students, keep=keep)
        return tracemalloc.get_traced_memory()[1], len(pickle.dumps(found))
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_memory_does_not_grow_with_the_number_of_parts(small_parts):
    (few, small), (many, large) = peak(1_000, "sums"), peak(10_000, "sums")
    assert many < 1.5 * few  # parts differ
    assert large == small
    (few, small), (many, large) = peak(1_000, "students"), peak(10_000, "students")
    assert many > 3 * few
    assert large > 5 * small


def test_the_command(capsys):
    command = ["simulate", "german", "--students", "300", "--seed", "4"]
    assert main(command) == 0
    shown = capsys.readouterr().out
    assert main([*command, "--keep", "sums"]) == 0
    assert capsys.readouterr().out == shown
    assert "300 students; " in shown
