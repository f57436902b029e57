"""Recovery of known numbers, levels that keep their meaning, and intervals: what they are, and how often they hold the truth."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from helpers.paths import ROOT
from oracles.learning import SMALL, draw
from quaestor.errors import QuaestorError
from quaestor.learn.intervals import bootstrap, imprecise


def study(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "studies" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_known_numbers_are_found_again_and_the_error_falls_with_the_root():
    made = study("recovery")
    errors = []
    for people in (300, 4800):  # sixteen times as many: a quarter of the error
        found = []
        for repeat in range(4):
            bank = made.truth(np.random.default_rng([1, repeat]))
            fit = qs.learn(made.start(bank), made.answers(bank, people, 1000 * repeat + people), weight=1)
            found.append(float(np.sqrt(((made.rights(fit.bank) - made.rights(bank)) ** 2).mean())))
        errors.append(np.mean(found))
    assert errors[1] < 0.02
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.25)


def test_the_committed_recovery_falls_with_the_root():
    table = pd.read_csv(ROOT / "studies" / "recovery" / "recovery.csv", index_col="people")
    slope = np.polyfit(np.log(table.index), np.log(table["error"]), 1)[0]
    assert slope == pytest.approx(-0.5, abs=0.05)


def test_levels_keep_their_meaning_from_any_start():
    made = study("recovery")
    bank = made.truth(np.random.default_rng(5))
    frame = made.answers(bank, 1500, 3)
    for seed in range(3):
        fit = qs.learn(made.start(bank), frame, weight=1, restarts=3, seed=seed)
        assert np.abs(made.rights(fit.bank) - made.rights(bank)).mean() < 0.04


BANK = SMALL["one skill"]
FIT = qs.learn(BANK, draw(BANK, 200))


def test_the_imprecise_dirichlet_model():
    learnt = imprecise(FIT, 3)
    assert not learnt.is_precise
    counts = FIT.expected.counts.groups[0] + FIT.aim.prior.groups[0]
    for number, name in enumerate(BANK.questions):
        table, total = learnt.questions[name].table, counts[number].sum(axis=-1)
        np.testing.assert_allclose(table.upper - table.lower, np.broadcast_to((3 / (total + 3))[:, None], (2, 2)), atol=1e-9)
        assert (table.lower <= FIT.bank.questions[name].table.lower + 1e-12).all()
        assert (table.upper >= FIT.bank.questions[name].table.lower - 1e-12).all()
    wider = imprecise(FIT, 6)
    assert (wider.questions["Q0"].table.lower <= learnt.questions["Q0"].table.lower).all()


def test_tied_rows_have_the_same_interval():
    bank = SMALL["two parents"]
    learnt = imprecise(qs.learn(bank, draw(bank, 100), tied=True), 2)
    table = learnt.questions["Q3"].table
    assert table.lower[0, 0, 1] == table.lower[0, 1, 1] == table.lower[1, 0, 1]
    assert table.upper[0, 0, 1] == table.upper[1, 0, 1]


def test_the_bootstrap_holds_the_fit_and_repeats():
    one, two = (bootstrap(FIT, np.random.default_rng(1), 20) for _ in range(2))
    assert one.version == two.version
    for name in BANK.questions:
        table = one.questions[name].table
        inside = (table.lower <= FIT.bank.questions[name].table.lower + 1e-12) & (
            FIT.bank.questions[name].table.lower <= table.upper + 1e-12
        )
        assert inside.all()
    narrow = bootstrap(FIT, np.random.default_rng(1), 20, level=0.2)
    assert (narrow.questions["Q0"].table.upper <= one.questions["Q0"].table.upper + 1e-12).all()


def test_a_learnt_credal_bank_is_like_any_other():
    learnt = imprecise(FIT, 2)
    beliefs = qs.posterior(learnt, {"Q0": "right"})
    assert (beliefs["a"].lower < beliefs["a"].upper).all()
    assert qs.Session(learnt).next is not None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: imprecise(FIT, 0), "intervals: s is a number above 0, got 0"),
        (lambda: bootstrap(FIT, np.random.default_rng(1), 1), "intervals: samples are a whole number of at least 2, got 1"),
        (lambda: bootstrap(FIT, np.random.default_rng(1), 5, 1.0), "intervals: level is a share between 0 and 1, got 1.0"),
    ],
)
def test_options_that_make_no_sense(call, words):
    with pytest.raises(QuaestorError) as caught:
        call()
    assert str(caught.value) == words


def test_the_committed_coverage_is_as_the_docs_say():
    """The bootstrap holds the truth about as often as it says; the imprecise Dirichlet model makes no such promise, and holds it less."""
    table = pd.read_csv(ROOT / "studies" / "recovery" / "coverage.csv").set_index(["way", "people"])["inside"]
    assert table["bootstrap, 90%"].between(0.86, 0.95).all()
    assert (table["imprecise Dirichlet, s = 2"] < 0.3).all()


@pytest.mark.long
def test_the_study_of_recovery_repeats(tmp_path):
    made = study("recovery")
    assert made.main(tmp_path) == 0
    for name in ("recovery.csv", "coverage.csv"):
        kept, found = (pd.read_csv(folder / name) for folder in (ROOT / "studies" / "recovery", tmp_path))
        pd.testing.assert_frame_equal(kept, found, atol=2e-3)
