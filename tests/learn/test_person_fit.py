"""People whose answers do not fit: the statistic against an oracle, uniform p-values, and planted people who are found."""

import numpy as np
import pytest
from scipy.stats import kstest

import quaestor as qs
from oracles.learning import SMALL, draw, likelihood, profiles, rows_of, school
from quaestor.learn.person_fit import Stranger, person_fit, strangers, tails


def rng(seed=5):
    return np.random.default_rng(seed)


def by_hand(bank, answers):
    """Minus the mean of log-likelihood less its mean, over the square root of the mean variance, by P(profile | answers)."""
    shares = np.array([likelihood(bank, profile, answers) for profile in profiles(bank)])
    apart, variance = [], []
    for profile in profiles(bank):
        rows = {name: bank.questions[name].table.lower[tuple(profile[skill] for skill in bank.questions[name].skills)] for name in answers}
        apart.append(
            sum(
                np.log(rows[name][bank.questions[name].classes.index(answer)]) - rows[name] @ np.log(rows[name])
                for name, answer in answers.items()
            )
        )
        variance.append(sum(row @ np.log(row) ** 2 - (row @ np.log(row)) ** 2 for row in rows.values()))
    shares /= shares.sum()
    return -(shares @ apart) / np.sqrt(shares @ variance)


@pytest.mark.parametrize("name", list(SMALL))
def test_strangeness_by_hand(name, monkeypatch):
    monkeypatch.setattr("quaestor.learn.person_fit.FEWEST", 2)
    bank = SMALL[name]
    frame = draw(bank, 40, missing=0.2)
    fit = qs.learn(bank, frame)
    sizes, chances = person_fit(fit, rng())
    for size, chance, answers in zip(sizes, chances, rows_of(frame), strict=True):
        assert (np.isnan(size) and np.isnan(chance)) == (len(answers) < 2)
        if len(answers) >= 2:
            assert size == pytest.approx(by_hand(fit.bank, answers), abs=1e-3)
            assert 0 < chance <= 1


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_p_values_are_uniform_if_the_bank_is_right(missing):
    """Of 2,400 people the largest distance to the uniform distribution is below .04 (1.36 / sqrt(2400) = .028 is 5 %), nobody is blamed."""
    found = []
    for seed in range(4):
        fit = qs.learn(school(seed), draw(school(seed), 600, seed, missing))
        found.append(person_fit(fit, rng(seed))[1])
        assert len(strangers(fit, rng(seed))) <= 2
    chances = np.concatenate(found)
    assert kstest(chances, "uniform").statistic < 0.04
    assert 0.03 < (chances < 0.05).mean() < 0.07


def ladder(questions=30, levels=5):
    """One skill; questions from easy to hard, each steep at its own place."""
    middle = np.linspace(-1, levels, questions)
    right = 1 / (1 + np.exp(-1.8 * (np.arange(levels) - middle[:, None])))
    skills = {"a": {"levels": [str(level) for level in range(levels)]}}
    return qs.Bank(
        {
            "skills": skills,
            "questions": {f"Q{n}": {"skill": "a", "right": (0.05 + 0.9 * right[n]).round(3).tolist()} for n in range(questions)},
        }
    )


def test_reversed_people_and_guessers_are_found():
    bank = ladder()
    frame = draw(bank, 300)
    frame.iloc[:5, :15], frame.iloc[:5, 15:] = "wrong", "right"
    frame.iloc[5:15] = rng().choice(["wrong", "right"], (10, 30))
    frame.index = [f"P{n}" for n in range(300)]
    found = strangers(qs.learn(bank, frame), rng())
    names = [one.person for one in found]
    assert set(names[:5]) == {"P0", "P1", "P2", "P3", "P4"}
    assert sum(one.row in range(5, 15) for one in found) >= 5
    assert sum(one.row >= 15 for one in found) <= 2
    assert [one.chance for one in found] == sorted(one.chance for one in found)
    first = found[0]
    assert first.answers == 30
    assert len(first.missed) + len(first.solved) >= 5
    assert set(first.missed) <= {f"Q{n}" for n in range(15)}
    assert set(first.solved) <= {f"Q{n}" for n in range(15, 30)}


def test_words_say_what_is_odd():
    one = Stranger("Ada", 3, 20, 4.0, 1e-5, ("Q1", "Q2", "Q3", "Q4", "Q5", "Q6"), ("Q19",))
    assert one.words == (
        "Ada: of 20 answers 6 are wrong where people with such answers are mostly right (Q1, Q2, Q3, Q4, Q5, ...), and 1 is right where"
        " they are mostly wrong (Q19)."
    )
    assert "mostly right, and 0 are right where they are mostly wrong." in Stranger("Ada", 3, 20, 4.0, 1e-5, (), ()).words


def test_people_with_few_answers_are_not_looked_at():
    frame = draw(school(), 60)
    frame.iloc[:, 4:] = None
    fit = qs.learn(school(), frame)
    assert np.isnan(person_fit(fit, rng())[1]).all()
    assert strangers(fit, rng()) == ()


def test_tails_are_shares_and_fall_beyond_what_was_drawn():
    null = rng().exponential(size=40_000)
    sizes = np.array([0.0, 1.0, 3.0, 6.0, 12.0])
    assert tails(sizes, null) == pytest.approx(np.exp(-sizes), rel=0.3)
    assert (np.diff(tails(np.linspace(0, 20, 200), null)) <= 0).all()


def test_sparse_answers_and_the_same_draws_give_the_same():
    frame = draw(school(), 80, missing=0.4)
    long = (
        frame.reset_index(names="person")
        .melt("person", var_name="question", value_name="answer")
        .dropna()
        .sort_values("person", kind="stable")
    )
    dense, sparse = (person_fit(qs.learn(school(), table), rng()) for table in (frame, long))
    assert sparse[0] == pytest.approx(dense[0], abs=1e-6)
    assert person_fit(qs.learn(school(), frame), rng())[1].tolist() == dense[1].tolist()
