"""Standard errors: shapes, the closed form where levels are known, and the spread over repeated samples."""

import numpy as np
import pytest

import quaestor as qs
from oracles.learning import SMALL, draw, school
from quaestor.learn.standard_errors import standard_errors


def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("name", list(SMALL))
def test_every_number_has_an_error_in_the_shape_of_its_table(name, monkeypatch):
    monkeypatch.setattr("quaestor.learn.augmentation.DRAWS", 20)
    monkeypatch.setattr("quaestor.learn.augmentation.BURN", 5)
    bank = SMALL[name]
    found = standard_errors(qs.learn(bank, draw(bank, 60)), rng())
    assert set(found) == {*bank.skills, *bank.questions}
    for name, errors in found.items():
        assert errors.shape == (bank.skills.get(name) or bank.questions[name]).table.shape
        assert (errors > 0).all()
        assert (errors < 0.5).all()


def test_with_intervals_the_same_draws_are_used():
    bank = SMALL["one skill"]
    fit = qs.learn(bank, draw(bank, 60), intervals=0.9)
    found = standard_errors(fit, rng())
    assert found["a"] == pytest.approx(np.std([one.skills[0][0] for one in fit.draws], axis=0, ddof=1))


def test_where_levels_are_known_errors_are_those_of_shares():
    """One question tells the level for certain: the others' errors are sqrt(p (1 - p) / n)."""
    known = {f"Q{n}": {"skill": "a", "right": [0.001, 0.999]} for n in range(4)}
    bank = qs.Bank({"skills": {"a": {}}, "questions": {**known, "Q4": {"skill": "a", "right": [0.3, 0.8]}}})
    frame = draw(bank, 400)
    fit = qs.learn(bank, frame, fixed=list(known))
    share, people = fit.bank.questions["Q4"].table.lower[:, 1], fit.expected.counts.skills[0][0]
    found = standard_errors(fit, rng())["Q4"][:, 1]
    assert found == pytest.approx(np.sqrt(share * (1 - share) / people), rel=0.15)
    assert standard_errors(fit, rng())["Q0"] == pytest.approx(0)


def test_questions_without_answers_have_none():
    frame = draw(school(), 60).drop(columns="Q3")
    assert "Q3" not in standard_errors(qs.learn(school(), frame, iterations=3), rng())


@pytest.mark.long
def test_errors_are_the_spread_over_samples():
    learnt, errors = [], []
    for seed in range(40):
        fit = qs.learn(school(), draw(school(), 400, seed))
        learnt.append([question.table.lower[:, 1] for question in fit.bank.questions.values()])
        if seed < 8:
            found = standard_errors(fit, rng())
            errors.append([found[name][:, 1] for name in fit.bank.questions])
    spread = np.std(learnt, axis=0, ddof=1)
    assert np.sqrt(np.mean(np.square(errors)) / np.mean(spread**2)) == pytest.approx(1, abs=0.12)
