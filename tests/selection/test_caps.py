"""The best question found by caps against all gains worked out, on banks with loops and questions on several skills."""

import numpy as np
import pytest

import quaestor as qs
from helpers.random_models import answer, bank, loopy, scopes_of, tree
from quaestor.inference.chooser import Chooser
from quaestor.inference.conflict import possible
from quaestor.inference.evidence import OPEN, Evidence
from quaestor.selection.caps import Caps
from quaestor.selection.step import step
from quaestor.selection.ties import best

SCORES = ("mode", "entropy", "gini")


def case(seed, takers=1):
    """A random credal bank, some of its rows precise, and the answers of some takers to some of its questions."""
    rng = np.random.default_rng([seed, 15])
    count = int(rng.integers(2, 4))
    parents = (loopy if seed % 3 else tree)(rng, count)
    kinds = ("interval", "interval", "vertices", "precise")
    made = bank(rng, parents, scopes_of(rng, count, 8, 2), kinds=kinds, width=float(rng.choice([0.02, 0.1, 0.3])), zeros=0.1)
    rows = np.full((takers, 8), OPEN, dtype=np.int16)
    for taker in range(takers):
        for name, given in answer(rng, made, float(rng.choice([0.0, 0.3, 0.6]))).items():
            rows[taker, int(name[1:])] = given
    evidence = Evidence.of_rows(made, rows)
    return evidence.take(np.flatnonzero(possible(evidence.model, takers)))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("seed", [pytest.param(seed, marks=pytest.mark.long) if seed in (7, 9) else seed for seed in range(10)])
def test_the_question_is_that_of_all_gains(seed, score):
    evidence = case(seed, takers=1 + 3 * (seed % 2))
    if not evidence.takers:
        return
    for options in ({}, {"target": "all"}, {"per": "minute"}, {"then": None}, {"bound": "lower"}):
        rules = qs.Rules(score=score, **options)
        found, full = step(rules, evidence), step(rules, evidence)
        gains = np.where(full.open, full.gains, -np.inf)
        expected = best(gains, full.second)
        np.testing.assert_array_equal(found.question, expected)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("seed", range(10))
def test_gains_lie_between_floors_and_caps(seed, score):
    evidence = case(seed + 100, takers=1 + seed % 3)
    if not evidence.takers:
        return
    decision = step(qs.Rules(score=score, then=None), evidence)
    few, ahead = decision._few, decision._ahead
    caps = Caps(few.model, Chooser(few.model, few.takers), ahead, score)
    gains = decision._gains_of(ahead, score)
    for group in ahead.groups:
        mine = gains[:, group.batch.index]
        assert (mine >= caps.floors(group) - 1e-9).all()
        for roughly in (True, False):
            assert (mine <= caps.of(group, roughly) + 1e-9).all()


def test_questions_that_cannot_be_the_best_are_not_worked_out(monkeypatch):
    made = qs.load("fractions").widen(0.05)
    several = {name: 1 for name, question in made.questions.items() if len(question.skills) > 1 and name != "W2"}
    worked_out = []
    gains_of = qs.selection.step.Decision._gains_of
    monkeypatch.setattr(
        qs.selection.step.Decision,
        "_gains_of",
        lambda self, ahead, score: worked_out.extend(group.batch.skills for group in ahead.groups) or gains_of(self, ahead, score),
    )
    session = qs.Session(made)
    for name, given in several.items():
        session = session.answer(name, given)
    worked_out.clear()
    assert session.next is not None
    assert len(worked_out) < 4
