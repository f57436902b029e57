"""Answers that do not fit together: how often chance alone is pointed at, and whether contradictions are."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import quaestor as qs
from helpers import sessions
from quaestor.inference.layout import layout_of
from quaestor.inference.misfit import ALARM, draw, misfit

LONG = sessions.long_bank("a", each=12)


def chances(bank):
    """P(answers) of every combination of answers of a small precise bank, by enumeration of the levels."""
    skills = list(bank.skills.values())
    found = {}
    for answers in product(*(question.classes for question in bank.questions.values())):
        total = 0.0
        for levels in product(*(range(len(skill.levels)) for skill in skills)):
            at = {skill.id: level for skill, level in zip(skills, levels, strict=True)}
            p = np.prod([skill.table.lower[(*(at[parent] for parent in skill.parents), at[skill.id])] for skill in skills])
            for question, answer in zip(bank.questions.values(), answers, strict=True):
                p *= question.table.lower[(*(at[skill] for skill in question.skills), question.classes.index(answer))]
            total += p
        found[answers] = total
    return found


def conflicts(bank):
    """The conflict of every combination of answers, by enumeration."""
    table = chances(bank)
    alone = [{c: sum(p for a, p in table.items() if a[n] == c) for c in q.classes} for n, q in enumerate(bank.questions.values())]
    return {a: float(np.log(np.prod([alone[n][c] for n, c in enumerate(a)]) / p)) for a, p in table.items()}, table


def strangeness(bank):
    """The strangeness of every combination of answers, from its definition."""
    found = {}
    for answers in chances(bank):
        beliefs = qs.posterior(bank, dict(zip(bank.questions, answers, strict=True)))
        at = {skill: int(bounds.lower.argmax()) for skill, bounds in beliefs.items()}
        rows = [question.table.lower[tuple(at[skill] for skill in question.skills)] for question in bank.questions.values()]
        bits = [-np.log(np.maximum(row, 1e-9)) for row in rows]
        seen = [bit[q.classes.index(c)] for bit, q, c in zip(bits, bank.questions.values(), answers, strict=True)]
        mean = [row @ bit for row, bit in zip(rows, bits, strict=True)]
        variance = sum(row @ (bit - m) ** 2 for row, bit, m in zip(rows, bits, mean, strict=True))
        found[answers] = (sum(seen) - sum(mean)) / np.sqrt(max(variance, 1e-9))
    return found


def share(measure, table, answers):
    """How often a measure is at least as large."""
    return sum(p for other, p in table.items() if measure[other] >= measure[answers] - 1e-9)


def test_easy_questions_wrong_and_hard_ones_right_are_pointed_at():
    bank = qs.load("four-skills")
    answers = {f"Q{n}": "wrong" if n < 5 else "right" for n in range(1, 17)}
    found = misfit(bank, answers)
    assert found.is_hint
    assert found.conflict < 0  # the answers agree on the level: it is the strangeness that tells


@pytest.mark.parametrize("seed", range(6))
def test_conflict_share_and_surprises_are_those_of_enumeration(seed):
    rng = np.random.default_rng(seed)
    bank = sessions.random_bank(rng, questions=5)
    bank = bank.subset([name for name, question in bank.questions.items() if not question.pilot])
    conflict, table = conflicts(bank)
    strange = strangeness(bank)
    for place in rng.permutation(len(table))[:6]:
        answers = list(table)[place]
        found = misfit(bank, dict(zip(bank.questions, answers, strict=True)))
        assert found.conflict == pytest.approx(conflict[answers], abs=1e-9)
        assert found.strangeness == pytest.approx(strange[answers], abs=1e-6)
        rare = {other: min(share(measure, table, other) for measure in (conflict, strange)) for other in table}
        exact = sum(p for other, p in table.items() if rare[other] <= rare[answers] + 1e-9)
        near = sum(p for other, p in table.items() if abs(rare[other] - rare[answers]) < 0.06)  # draws may swap what is about as rare
        assert abs(found.share - exact) <= near + 4 * np.sqrt(exact * max(0.0, 1 - exact) / 2000) + 1e-9
        for number, name in enumerate(bank.questions):
            others = sum(
                p for other, p in table.items() if other[:number] + other[number + 1 :] == answers[:number] + answers[number + 1 :]
            )
            assert found.surprises[name] == pytest.approx(table[answers] / others)


@pytest.mark.parametrize(
    "bank", [LONG, sessions.long_bank("ab", each=8), qs.load("fractions").widen(0.03)], ids=["one", "two", "fractions"]
)
def test_about_one_in_twenty_takers_who_follow_the_bank_is_pointed_at(bank):
    centre = bank.centre()
    names = list(bank.questions)[:16]
    takers = 400
    drawn = draw(layout_of(centre), np.arange(len(names)), takers, np.random.default_rng(12))
    hints = sum(misfit(bank, dict(zip(names, row.tolist(), strict=True)), draws=500, seed=9).is_hint for row in drawn)
    low, high = binom.ppf([0.0005, 0.9995], takers, 0.05)
    assert low <= hints <= high


def test_draws_follow_the_bank():
    bank = sessions.bank()
    drawn = draw(layout_of(bank), np.arange(len(bank.questions)), 20_000, np.random.default_rng(3))
    expected = chances(bank)
    for answers, p in expected.items():
        row = [question.classes.index(c) for question, c in zip(bank.questions.values(), answers, strict=True)]
        assert abs((drawn == row).all(axis=1).mean() - p) < 4.5 * np.sqrt(p * (1 - p) / 20_000)


def test_contradictory_answers_are_flagged_and_the_odd_one_is_named():
    questions = {f"q{n}": {"skill": "a", "right": [0.05, 0.95]} for n in range(6)}
    bank = qs.Bank({"skills": {"a": {}}, "questions": questions})
    answers = {**dict.fromkeys(questions, "right"), "q3": "wrong", "q5": "wrong"}
    found = misfit(bank, answers)
    assert found.is_hint
    assert found.share <= ALARM
    assert found.conflict > misfit(bank, dict.fromkeys(questions, "right")).conflict
    one = misfit(bank, {**dict.fromkeys(questions, "right"), "q3": "wrong"})
    assert min(one.surprises, key=one.surprises.get) == "q3"
    assert one.surprises["q3"] == pytest.approx(0.05, abs=1e-4)


@pytest.mark.parametrize("answer", ["right", "wrong"])
def test_answers_that_support_one_another_are_not_flagged(answer):
    found = misfit(LONG, dict.fromkeys(LONG.questions, answer))
    assert found.conflict < 0
    assert not found.is_hint


def test_the_same_answers_and_seed_give_the_same_share():
    answers = dict.fromkeys(LONG.questions, "right") | {"a3": "wrong"}
    assert misfit(LONG, answers, seed=4) == misfit(LONG, answers, seed=4)


def test_there_is_nothing_to_say_of_fewer_than_two_answers_that_count():
    bank = sessions.bank(pilots=2)
    assert misfit(bank, {}) is None
    assert misfit(bank, {"a1": "right"}) is None
    assert misfit(bank, {"a1": "right", "p1": "wrong", "p2": "right"}) is None
    found = misfit(bank, {"a1": "right", "p1": "wrong", "b1": "right"})
    assert found == misfit(bank, {"a1": "right", "b1": "right"})
    assert set(found.surprises) == {"a1", "b1"}


def test_there_is_nothing_to_say_of_answers_that_cannot_be_given():
    rights = {"x": [0, 0.5], "y": [0.5, 1], "z": [0, 0]}
    bank = qs.Bank({"skills": {"a": {}}, "questions": {name: {"skill": "a", "right": right} for name, right in rights.items()}})
    assert misfit(bank, {"x": "right", "y": "wrong"}) is None
    assert misfit(bank, {"x": "right", "z": "right"}) is None


def test_the_hint_reaches_the_explanation():
    questions = {f"q{n}": {"skill": "a", "right": [0.05, 0.95]} for n in range(6)}
    session = qs.Session(qs.Bank({"skills": {"a": {}}, "questions": questions}))
    for name in questions:
        session = session.answer(name, "wrong" if name in ("q3", "q5") else "right")
    assert qs.explain(session).hint.startswith("A hint, no more:")
    assert qs.explain(sessions.played(qs.Session(LONG))).hint == ""
