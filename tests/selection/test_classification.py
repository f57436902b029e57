"""Stops of classification against their definitions: likelihoods multiplied by hand, every set of answers by its posterior."""

from itertools import product
from math import comb, log

import numpy as np
import pytest

import quaestor as qs
from oracles.students import check_same, students_of
from quaestor.selection import same_decision as module
from quaestor.selection.rules_file import read_rules
from quaestor.selection.stopping.classification import LossBelow, SameDecisionAbove, Sprt

TWO = {
    "skills": {"a": {"prior": [0.45, 0.55]}, "b": {"parents": ["a"], "strength": 0.4}},
    "questions": {
        "a1": {"skill": "a", "right": [0.2, 0.8]},
        "a2": {"skill": "a", "right": [0.2, 0.8]},
        "a3": {"skill": "a", "right": [0.3, 0.7]},
        "b1": {"skill": "b", "right": [0.25, 0.85]},
        "b2": {"skill": "b", "classes": ["none", "half", "full"], "table": {"no": [0.6, 0.3, 0.1], "yes": [0.1, 0.3, 0.6]}},
        "ab": {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2},
    },
}
LEVELS = {"s": {"levels": ["low", "mid", "high"], "prior": [0.2, 0.5, 0.3]}}
RIGHT = {f"Q{number}": {"skill": "s", "right": [0.2, 0.5, 0.85]} for number in range(8)}


def levels_of(bank, answers):
    return [max(range(len(p.lower)), key=lambda k, p=p: (round(p.lower[k], 9), -k)) for p in qs.posterior(bank, answers).values()]


def chance_of(bank, answers):
    """P(answers) to questions on one skill each, from posteriors one after another."""
    total, given = 1.0, {}
    for question, answer in answers.items():
        asked = bank.questions[question]
        p = qs.posterior(bank, given)[asked.skills[0]].lower @ asked.table.lower
        total *= p[asked.classes.index(answer)]
        given[question] = answer
    return total


def test_same_decision_probability_by_every_set_of_answers():
    """The definition: all answers to the open questions on one skill each, their probability, and the result after them."""
    document = {**TWO, "questions": {name: question for name, question in TWO["questions"].items() if name != "ab"}}
    bank = qs.Bank(document)
    for answers in ({}, {"a1": "right"}, {"a1": "wrong", "b2": "full"}):
        session = qs.Session(bank, qs.Rules())
        for question, answer in answers.items():
            session = session.answer(question, answer)
        still_open = [question for question in bank.questions if question not in answers]
        before, same, by_skill = levels_of(bank, answers), 0.0, np.zeros(2)
        for given in product(*(bank.questions[question].classes for question in still_open)):
            every = {**answers, **dict(zip(still_open, given, strict=True))}
            chance = chance_of(bank, every) / chance_of(bank, answers)
            after = levels_of(bank, every)
            same += chance * (after == before)
            by_skill += chance * (np.array(after) == before)
        found = qs.explain(session, future=True).future
        assert found.probability == pytest.approx(same, abs=1e-12)
        assert list(found.by_skill.values()) == pytest.approx(by_skill, abs=1e-12)
        assert (found.error, found.draws, found.questions) == (0.0, 0, len(still_open))


def test_equal_questions_are_binomial():
    """From even odds with n questions of P(right) 1 - e: the result changes where the majority is the other one."""
    count, right = 11, 0.7
    questions = {f"Q{number}": {"skill": "s", "right": [1 - right, right]} for number in range(count + 1)}
    session = qs.Session(qs.Bank({"skills": {"s": {}}, "questions": questions}), qs.Rules()).answer("Q0", "right")
    stays = sum(  # after one right answer: at least 5 of 11 more right ones leave the level `yes` ahead (6 of 12 is a tie: the lowest)
        comb(count, k) * (0.7 * right**k * (1 - right) ** (count - k) + 0.3 * (1 - right) ** k * right ** (count - k))
        for k in range(6, count + 1)
    )
    assert qs.explain(session, future=True).future.probability == pytest.approx(stays, abs=1e-12)


def test_drawn_answers_come_near_the_exact_probability(monkeypatch):
    session = qs.Session(qs.Bank(TWO), qs.Rules()).answer("a1", "right")
    exact = session.decision.future()
    monkeypatch.setattr(module, "MOST", 40)
    monkeypatch.setattr(module, "_FEWEST", 4000)
    found = qs.Session(qs.Bank(TWO), qs.Rules()).answer("a1", "right").decision.future()
    assert exact.draws == 0
    assert found.draws == 4000
    assert 0 < found.error < 0.01
    assert abs(found.probability - exact.probability) < 4 * found.error
    assert found == qs.Session(qs.Bank(TWO), qs.Rules()).answer("a1", "right").decision.future()


def test_where_the_rules_allow_fewer_the_best_ones_count():
    bank = qs.Bank(TWO)
    session = qs.Session(bank, qs.Rules(score="entropy", stop=qs.max_questions(2))).answer("a1", "right")
    best = session.ranking.ids[0]
    only = qs.Session(qs.Bank({**TWO, "questions": {name: TWO["questions"][name] for name in ("a1", best)}}), qs.Rules())
    found = session.decision.future()
    assert found.questions == 1
    assert found.probability == pytest.approx(only.answer("a1", "right").decision.future().probability, abs=1e-12)


def test_a_test_stops_when_the_result_is_as_good_as_fixed():
    bank = qs.load("single-skill")
    rules = qs.Rules(stop=qs.same_decision(0.95))
    session = qs.Session(bank, rules)
    while session.stopped is None:
        assert session.decision.future().probability < 0.95
        session = session.answer(session.next.id, "right")
    found = session.decision.future()
    assert found.probability >= 0.95
    assert session.stopped.rule == "same_decision"
    share = f"{100 * (1 - found.probability):.1f}"
    words = f"{found.questions} more questions would change the result with a probability of {share} %."
    assert session.stopped.reason == words
    assert words in qs.explain(session, future=True).text
    assert "would change" not in qs.explain(session).text.replace(words, "")
    again = qs.Session.from_json(bank, session.to_json())
    assert again.stopped == session.stopped
    every = qs.Session(bank, qs.Rules())
    for question in bank.questions:
        every = every.answer(question, "right")
    assert qs.explain(every, future=True).more == "No question is left that could change the result."


def test_of_credal_and_of_large_banks_it_is_not_said():
    wide = qs.load("single-skill").widen(0.05)
    assert qs.explain(qs.Session(wide, qs.Rules()), future=True).more.startswith(
        "Whether more questions would change the result is not said"
    )
    with pytest.raises(qs.RulesError, match="whether more questions would change the result is known for precise banks, got a credal bank"):
        qs.Session(wide, qs.Rules(stop=qs.same_decision(0.9)))
    with pytest.raises(qs.QuaestorError, match="same-decision probability is for precise banks"):
        qs.Session(wide, qs.Rules()).decision.future()
    skills = {f"s{number}": {} for number in range(13)}
    large = qs.Bank({"skills": skills, "questions": {"Q": {"skill": "s0", "right": [0.2, 0.8]}}})
    with pytest.raises(qs.QuaestorError, match=r"is for at most 4096 joint states, got 8\.19e"):
        qs.Session(large, qs.Rules()).decision.future()


def sprt_oracle(bank, answers, cut):
    """log P(answers | cut) - log P(answers | the level below), question by question."""
    return sum(
        log(bank.questions[name].table.lower[cut][answer] / bank.questions[name].table.lower[cut - 1][answer])
        for name, answer in answers.items()
    )


@pytest.mark.parametrize(("level", "cut"), [("", 2), ("mid", 1)])
def test_the_likelihood_ratio_is_that_of_the_answers_and_its_limits_are_those_of_wald(level, cut):
    bank = qs.Bank({"skills": LEVELS, "questions": RIGHT})
    upper, lower = log(0.9 / 0.05), log(0.1 / 0.95)
    for pattern in product([0, 1], repeat=4):
        session, answers = qs.Session(bank, qs.Rules(stop=qs.sprt(0.05, 0.1, level=level))), {}
        for answer in pattern:
            ratio = sprt_oracle(bank, answers, cut)
            now = session.decision.situation.of_taker(0)
            assert Sprt(0.05, 0.1, level=level).ratio(now, "s")[0] == pytest.approx(ratio, abs=1e-9)
            assert (session.stopped is not None) == (ratio >= upper or ratio <= lower)
            if session.stopped:
                assert session.stopped.rule == "sprt"
                break
            answers[session.next.id] = answer
            session = session.answer(session.next.id, answer)


def test_error_rates_of_the_sequential_test_are_those_that_were_asked_for():
    """Wald's bounds: of students just below the cut at most alpha / (1 - beta) pass, of those at it at most beta / (1 - alpha) fail."""
    questions = {f"Q{number}": {"skill": "s", "right": [0.3, 0.7]} for number in range(60)}
    bank = qs.Bank({"skills": {"s": {}}, "questions": questions})
    found = qs.simulate(bank, qs.Rules(stop=qs.sprt(0.1, 0.1)), students=2000, seed=3)
    assert found.stops == {"sprt": 2000}
    assert 1 - found.accuracy[-1] < 0.1 / 0.9
    assert found.length < 8


def test_in_credal_banks_the_whole_interval_of_the_ratio_must_lie_beyond_a_limit():
    bank = qs.Bank({"skills": LEVELS, "questions": RIGHT})
    wide = bank.widen(0.02)
    answers = {f"Q{number}": 1 for number in range(4)}
    exact, session = sprt_oracle(bank, answers, 2), qs.Session(wide, qs.Rules(stop=qs.sprt()))
    for question, answer in answers.items():
        session = session.answer(question, answer)
    low, high = Sprt().ratio(session.decision.situation.of_taker(0), "s")
    assert low < exact < high
    assert qs.Session(bank.widen(0.1), qs.Rules(stop=qs.sprt())).answer("Q0", 1).stopped is None


def test_the_expected_loss_of_the_better_decision():
    bank = qs.Bank({"skills": LEVELS, "questions": RIGHT})
    now = qs.Session(bank, qs.Rules()).decision.situation.of_taker(0)
    assert LossBelow(0.1).loss(now, "s") == pytest.approx(min(0.7, 0.3))
    assert LossBelow(0.1, level="mid", false_pass=3).loss(now, "s") == pytest.approx(min(3 * 0.2, 0.8))
    assert LossBelow(0.1, level="mid", false_pass=9).loss(now, "s") == pytest.approx(0.8)
    wide = qs.Session(bank.widen(0.05), qs.Rules()).decision.situation.of_taker(0)
    assert LossBelow(0.1).loss(wide, "s") == pytest.approx(0.35)
    session = qs.Session(bank, qs.Rules(stop=qs.loss_below(0.1, level="mid")))
    while session.stopped is None:
        session = session.answer(session.next.id, "right")
    below = session.beliefs["s"].lower[0]
    assert below < 0.1
    assert session.stopped.reason == f"To decide at the cut now has an expected loss of at most {below:.4f}, below 0.1."


def test_the_gain_of_the_mode_score_is_the_fall_of_the_loss_of_a_wrong_level():
    """A loss of 1 for a wrong level is expected to be 1 - max p = M (m - 1) / m: gain_below is the rule of Bayes one question ahead."""
    bank = qs.Bank({"skills": LEVELS, "questions": RIGHT})
    prior, right = np.array([0.2, 0.5, 0.3]), np.array([0.2, 0.5, 0.85])
    after = (prior * right).max() + (prior * (1 - right)).max()
    assert qs.rank(bank, score="mode").gains[0] * 2 / 3 == pytest.approx(after - prior.max(), abs=1e-12)


@pytest.mark.parametrize("stop", [qs.sprt(0.1, 0.2), qs.loss_below(0.2, false_fail=2.0), qs.same_decision(0.8)])
def test_many_students_stop_where_each_would(stop):
    bank = qs.Bank(TWO)
    check_same(bank, qs.Rules(score="entropy", stop=stop), students_of(bank, 12))
    plain = qs.Bank({"skills": {"s": {}}, "questions": {f"Q{number}": {"skill": "s", "right": [0.3, 0.8]} for number in range(9)}})
    check_same(plain, qs.Rules(score="entropy", stop=stop), students_of(plain, 12))
    if not isinstance(stop, SameDecisionAbove):
        check_same(plain.widen(0.03), qs.Rules(score="entropy", stop=stop), students_of(plain.widen(0.03), 8))


def test_files_name_them():
    for stop, document in (
        (qs.sprt(), "sprt"),
        (qs.sprt(0.01, skill="a", level="yes"), {"sprt": {"alpha": 0.01, "skill": "a", "level": "yes"}}),
        (qs.loss_below(0.1), {"loss_below": 0.1}),
        (qs.same_decision(0.9), {"same_decision": 0.9}),
    ):
        rules = qs.Rules(stop=stop)
        assert rules.document["stop"] == document
        assert read_rules(rules.document) == rules


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: qs.sprt(0.0), "sprt: error rates above 0 that sum to less than 1, got 0.0"),
        (lambda: qs.sprt(0.5, 0.6), "sprt: error rates above 0 that sum to less than 1, got 0.5"),
        (lambda: qs.loss_below(0), "loss_below: losses above 0, got 0"),
        (lambda: qs.loss_below(0.1, false_pass=float("inf")), "loss_below: losses above 0, got inf"),
        (lambda: qs.same_decision(1), "same_decision: a probability above 0 and below 1, got 1"),
        (lambda: qs.same_decision(0.9, seed=-1), "same_decision: a whole number of at least 0, got -1"),
        (lambda: qs.Rules(stop=qs.sprt(level="no")).check(qs.Bank(TWO)), "stop: a cut is a level of a above the lowest: yes, got 'no'"),
        (lambda: qs.Rules(stop=qs.loss_below(0.1, skill="c")).check(qs.Bank(TWO)), "stop: a skill of the bank, or each, got 'c'"),
    ],
)
def test_what_they_cannot_be_is_refused(make, words):
    with pytest.raises(qs.QuaestorError, match=words):
        make()
