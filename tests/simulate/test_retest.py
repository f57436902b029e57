"""Reliability of a test: exact values by enumeration of all answers, what must be 0 or 1, and what is refused."""

from itertools import product

import numpy as np
import pytest

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.simulate.retest import reliability

ALL = qs.Rules(score="order")


def exact(bank):
    """Accuracy, consistency and the correlation of two takings of all questions of one skill, by enumeration."""
    (skill,) = bank.skills
    prior = bank.skills[skill].table.lower
    numbers = np.arange(len(prior))
    right, decided, means = 0.0, np.zeros((len(prior), len(prior))), [[] for _ in prior]
    for answers in product(*(range(len(q.classes)) for q in bank.questions.values())):
        chances = np.prod([q.table.lower[:, a] for q, a in zip(bank.questions.values(), answers, strict=True)], axis=0)  # given the level
        posterior = prior * chances / (prior @ chances)
        level = int(posterior.argmax())
        right += (prior * chances)[level]
        decided[:, level] += chances
        for true in numbers:
            means[true].append((chances[true], posterior @ numbers))
    of_level = np.array([sum(p * m for p, m in rows) for rows in means])
    square = sum(prior[true] * sum(p * m * m for p, m in rows) for true, rows in enumerate(means))
    between = prior @ of_level**2 - (prior @ of_level) ** 2
    return right, prior @ (decided**2).sum(axis=1), between / (square - (prior @ of_level) ** 2)


def small(levels):
    names = [f"l{number}" for number in range(levels)]
    rows = [np.linspace(0.15 + 0.05 * n, 0.9 - 0.03 * n, levels).round(3).tolist() for n in range(6)]
    asked = {f"Q{number}": {"skill": "s", "right": row} for number, row in enumerate(rows)}
    return qs.Bank({"skills": {"s": {"levels": names}}, "questions": asked})


@pytest.mark.parametrize("levels", [2, 3])
def test_it_is_what_enumeration_finds(levels):
    bank = small(levels)
    accuracy, consistency, together = exact(bank)
    found = reliability(bank, ALL, students=4000, seed=3)
    assert abs(found.accuracy[0] - accuracy) < 4 * found.accuracy_error[0] < 0.04
    assert abs(found.consistency[0] - consistency) < 4 * found.consistency_error[0] < 0.04
    assert abs(found.reliability[0] - together) < 4 * found.reliability_error[0] < 0.06
    assert found.consistency[0] < found.accuracy[0]
    assert 0 < found.kappa[0] < found.consistency[0]


def test_a_perfect_test_and_one_that_tells_nothing():
    questions = {"Q1": {"skill": "s", "right": [0.0, 1.0]}}
    perfect = reliability(qs.Bank({"skills": {"s": {}}, "questions": questions}), students=200)
    for name in ("accuracy", "consistency", "kappa", "reliability"):
        assert getattr(perfect, name)[0] == pytest.approx(1.0)
    assert perfect.error[0] == 0
    idle = qs.Bank({"skills": {"s": {"prior": [0.3, 0.7]}}, "questions": {"Q1": {"skill": "s", "right": [0.5, 0.5]}}})
    nothing = reliability(idle, students=200)
    assert nothing.consistency[0] == 1.0  # everybody ends with the same level ...
    assert np.isnan(nothing.kappa[0])  # ... which says nothing
    assert np.isnan(nothing.reliability[0])


def test_more_questions_are_more_reliable_and_the_table_has_a_row_a_skill():
    bank = qs.load("four-skills")
    short, long = (reliability(bank, qs.Rules(score="entropy", stop=qs.max_questions(n)), students=1500) for n in (8, 24))
    assert (long.reliability > short.reliability + 0.05).all()
    assert (long.error < short.error).all()
    table = long.table()
    assert list(table.index) == list(bank.skills)
    assert table["consistency"].tolist() == long.consistency.tolist()


def test_credal_banks_count_by_the_centre():
    found = reliability(small(2).widen(0.05), ALL, students=500, truth=small(2))
    assert 0.7 < found.accuracy[0] < 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"truth": "random"}, "truth: a bank is expected, since the same students come twice, got 'random'"),
        ({"students": 1}, "students: at least 2 are compared, got 1"),
        ({"students": 0}, "a simulation has at least 1 student, got 0"),
    ],
)
def test_what_is_refused(changes, words):
    with pytest.raises(QuaestorError) as refused:
        reliability(small(2), **changes)
    assert words in str(refused.value)
