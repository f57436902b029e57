"""Progressive and proportional selection against their formulas, draw by draw."""

import numpy as np
import pytest

import quaestor as qs
from oracles.students import check_same, students_of
from quaestor.selection.progressive import progress
from quaestor.selection.rules_file import read_rules

BANK = {
    "skills": {"s": {}},
    "questions": {
        "strong": {"skill": "s", "right": [0.1, 0.9]},
        "fair": {"skill": "s", "right": [0.3, 0.7]},
        "weak": {"skill": "s", "right": [0.4, 0.6]},
        "nothing": {"skill": "s", "right": [0.5, 0.5]},
    },
}


@pytest.mark.parametrize("acceleration", [0, 0.5, 1, 2])
def test_the_weight_is_that_of_the_formula(acceleration):
    length = 6
    total = sum((f - 1) ** acceleration for f in range(2, length + 1))
    expected = [sum((f - 1) ** acceleration for f in range(2, q + 1)) / total for q in range(1, length + 1)]
    found = progress(np.arange(length), length, acceleration)
    assert found == pytest.approx(expected, abs=1e-15)
    assert (found[0], found[-1]) == (0, 1)
    assert progress(np.array([0, 3]), 1, acceleration).tolist() == [0, 0]  # a test of one question


def asked_first(rules, seeds, answered=0):
    """The next question of many sessions after so many questions answered."""
    bank = qs.Bank({**BANK, "questions": {**{f"x{n}": {"skill": "s", "right": [0.5, 0.5]} for n in range(answered)}, **BANK["questions"]}})
    found = []
    for seed in seeds:
        session = qs.Session(bank, rules, seed=seed)
        for number in range(answered):
            session = session.answer(f"x{number}", "right")
        found.append(session.next.id)
    return found


def test_progressive_is_chance_first_and_the_best_last():
    rules = qs.Rules(score="entropy", progressive=1, stop=qs.max_questions(4))
    first = asked_first(rules, range(300))
    shares = {name: first.count(name) / 300 for name in BANK["questions"]}
    assert all(abs(share - 0.25) < 0.08 for share in shares.values())
    assert set(asked_first(rules, range(20), answered=3)) == {"strong"}


def test_progressive_takes_the_largest_of_the_weighed_sum():
    """(1 - W) R + W I with the numbers that the session draws: R between 0 and the largest I."""
    bank = qs.Bank(BANK)
    rules = qs.Rules(score="gini", progressive=1, stop=qs.max_questions(4))
    for seed in range(30):
        session = qs.Session(bank, rules, seed=seed).answer("nothing", "right")
        left = ["strong", "fair", "weak"]
        gains = {one.question.id: one.gain for one in qs.rank(bank, {"nothing": "right"}, score="gini")}
        luck = dict(zip(bank.questions, np.random.default_rng([seed, 1, 4]).random(4), strict=True))
        weight = 1 / 6
        wanted = max(left, key=lambda name: (1 - weight) * luck[name] * max(gains.values()) + weight * gains[name])
        assert session.next.id == wanted


def test_proportional_draws_by_the_power_of_the_gains():
    rules = qs.Rules(score="gini", proportional=1, stop=qs.max_questions(3))
    bank = qs.Bank(BANK)
    gains = {one.question.id: one.gain for one in qs.rank(bank, score="gini")}
    power = 3 * 1 / 3  # Q W at the second of three questions
    total = sum(gain**power for gain in gains.values())
    count = 600
    found = asked_first(rules, range(count), answered=1)
    for name, gain in gains.items():
        p = gain**power / total
        assert abs(found.count(name) / count - p) < 4 * np.sqrt(p * (1 - p) / count) + 1e-9
    first = asked_first(rules, range(300))
    assert all(abs(first.count(name) / 300 - 0.25) < 0.08 for name in gains)


@pytest.mark.parametrize("rule", [{"progressive": 2}, {"proportional": 1}])
def test_many_students_are_asked_what_each_would_be(rule):
    bank = qs.load("single-skill").widen(0.02)  # negative gains count as none
    for one in (bank, qs.load("single-skill")):
        check_same(one, qs.Rules(score="entropy", stop=qs.max_questions(4), **rule), students_of(one, 10))


def test_questions_are_spread_for_little_loss():
    bank = qs.load("four-skills")
    shares, accuracy = [], []
    for rule in ({}, {"progressive": 1}, {"proportional": 1}):
        found = qs.simulate(bank, qs.Rules(score="entropy", stop=qs.max_questions(12), **rule), students=120, seed=4)
        asked = set(np.unique(found.asked).tolist()) & set(bank.questions)
        shares.append(len(asked) / len(bank.questions))
        accuracy.append(found.accuracy[-1])
    assert shares[1] > 1.3 * shares[0]
    assert shares[2] > 1.3 * shares[0]
    assert min(accuracy[1:]) > accuracy[0] - 0.12


def test_files_keep_them_and_sessions_say_them():
    rules = read_rules({"progressive": 1.5, "stop": {"max_questions": 4}})
    assert rules == qs.Rules(progressive=1.5, stop=qs.max_questions(4))
    assert read_rules(rules.document) == rules
    assert rules.is_random
    session = qs.Session(qs.Bank(BANK), rules, seed=3)
    assert "weighed against chance" in qs.explain(session).question.text
    again = qs.Session.from_json(session.bank, session.to_json())
    assert again.next.id == session.next.id


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"progressive": 1}, "progressive: a limit on the questions of the test is needed, such as max_questions, got none"),
        ({"progressive": -1, "stop": qs.max_questions(3)}, "progressive: an acceleration of at least 0, got -1"),
        ({"proportional": "fast", "stop": qs.max_questions(3)}, "proportional: an acceleration of at least 0, got 'fast'"),
        ({"progressive": 1, "proportional": 1, "stop": qs.max_questions(3)}, "progressive: one way to draw a question, got .*proportional"),
        ({"progressive": 1, "among": 3, "stop": qs.max_questions(3)}, "progressive: one way to draw a question, got .*among"),
    ],
)
def test_what_they_cannot_be_is_refused(rules, words):
    with pytest.raises(qs.RulesError, match=words):
        qs.Session(qs.Bank(BANK), qs.Rules(**rules))


def test_a_policy_and_exact_expectations_refuse_them():
    rules, bank = qs.Rules(progressive=1, stop=qs.max_questions(3)), qs.Bank(BANK)
    with pytest.raises(qs.QuaestorError, match="progressive"):
        qs.policy(bank, rules, depth=2)
    with pytest.raises(qs.QuaestorError, match="the rule 'progressive'"):
        qs.expected(bank, rules)
