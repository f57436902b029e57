"""Looking further ahead: the definition by plain recursion, the optimal test at its end, sessions and simulations, and what is refused."""

import numpy as np
import pytest

import quaestor as qs
from helpers.sessions import random_bank
from quaestor.selection.rules import RulesError
from quaestor.selection.rules_file import read_rules


def uncertainty(p, score):
    m = len(p)
    if score == "entropy":
        return float(-(p[p > 0] * np.log(p[p > 0])).sum() / np.log(m))
    return m * (1 - p.max()) / (m - 1) if score == "mode" else m / (m - 1) * (1 - (p**2).sum())


def total(bank, answers, score):
    beliefs = qs.posterior(bank, answers)
    return np.mean([uncertainty(beliefs[skill].lower, score) for skill in bank.skills])


def chance(bank, question, answer, answers):
    """P(answer | answers): the ratio of two sums over all profiles."""
    skills = list(bank.skills)

    def weight(given):
        found = 0.0
        for profile in np.ndindex(*(len(bank.skills[skill].levels) for skill in skills)):
            level = dict(zip(skills, profile, strict=True))
            p = 1.0
            for skill in skills:
                p *= bank.skills[skill].table.lower[(*(level[one] for one in bank.skills[skill].parents), level[skill])]
            for name, cls in given.items():
                asked = bank.questions[name]
                p *= asked.table.lower[(*(level[one] for one in asked.skills), asked.classes.index(cls))]
            found += p
        return found

    return weight({**answers, question: answer}) / weight(answers)


def deep_gain(bank, question, answers, score, steps):
    """The definition: what is expected to be known after the best further questions."""
    found = total(bank, answers, score)
    for answer in bank.questions[question].classes:
        p = chance(bank, question, answer, answers)
        if p <= 1e-12:
            continue
        then = {**answers, question: answer}
        left = [one.id for one in bank.questions.values() if one.id not in then and not one.pilot]
        further = max((deep_gain(bank, one, then, score, steps - 1) for one in left), default=0.0) if steps > 1 else 0.0
        found -= p * (total(bank, then, score) - further)
    return found


@pytest.mark.parametrize("score", ["entropy", "mode", "gini"])
@pytest.mark.parametrize("seed", [1, 4])
def test_gains_are_those_of_the_definition(seed, score):
    bank = random_bank(np.random.default_rng(seed), skills=2, questions=4, zeros=0.2 * (seed == 4))
    for steps in (2, 3):
        ranking = qs.Session(bank, qs.Rules(score=score, then=None, target="all", ahead=steps)).ranking
        for question, gain in zip(ranking.ids, ranking.gains, strict=True):
            assert gain == pytest.approx(deep_gain(bank, question, {}, score, min(steps, len(ranking.ids))), abs=1e-9)


def test_looking_to_the_end_is_the_optimal_test():
    bank = qs.load("single-skill-as-run")
    best = qs.optimal(bank, 4).values
    one, four = (qs.expected(bank, qs.Rules(score="mode", target="all", ahead=n, stop=qs.max_questions(4))).accuracy for n in (1, 4))
    assert four[4] == pytest.approx(best[4], abs=1e-12)
    assert one[4] < best[4] - 0.005


def test_no_further_than_the_test_goes():
    bank = qs.load("four-skills")
    plain, ahead = (qs.Session(bank, qs.Rules(target="all", ahead=n, stop=qs.max_questions(1))) for n in (1, 3))
    assert plain.ranking.gains == pytest.approx(ahead.ranking.gains, abs=1e-12)


def test_sessions_and_simulations_ask_the_same():
    bank, rules = qs.load("four-skills"), qs.Rules(score="entropy", target="all", ahead=2, stop=qs.max_questions(5))
    found = qs.simulate(bank, rules, students=6, seed=2)
    for asked, answers in zip(found.asked, found.answers, strict=True):
        session = qs.Session(bank, rules)
        for question, answer in zip(asked, answers, strict=True):
            assert session.next.id == question
            session = session.answer(question, int(answer))
        assert qs.Session.from_json(bank, session.to_json()).rules == rules


def test_a_file_says_it():
    rules = qs.Rules(target="all", ahead=2, shadow=True, stop=qs.max_questions(5))
    assert rules.document["ahead"] == 2
    assert read_rules(rules.document) == rules


def test_it_says_that_it_looks_ahead():
    session = qs.Session(qs.load("fractions"), qs.Rules(score="entropy", target="all", ahead=2))
    assert "looking 2 questions ahead" in qs.explain(session).question.text
    assert session.ranking[0].by_skill == {}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ahead": 0}, "ahead: a whole number of at least 1, got 0"),
        ({"ahead": 2.5, "target": "all"}, "ahead: a whole number of at least 1, got 2.5"),
        ({"ahead": 2}, "ahead: for a target that is the same for all questions: all, joint, or skills, got 'scope'"),
        ({"ahead": 2, "target": "all", "score": "kl"}, "ahead: for the scores entropy, mode, gini, variance, whose gains add up, got 'kl'"),
        ({"ahead": 2, "target": "all", "per": "minute"}, "ahead: for gains of questions, not of minutes, got 'per: minute'"),
    ],
)
def test_rules_that_cannot_look_ahead(fields, words):
    with pytest.raises(RulesError) as refused:
        qs.Rules(**fields)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("bank", "ahead", "words"),
    [
        (qs.load("four-skills").widen(0.05), 2, "ahead: looking further ahead is for precise banks, got a credal bank"),
        (qs.load("four-skills"), 5, "a step looks at no more than 40000 sets of answers (here there are 32 answers), got 5"),
    ],
)
def test_banks_that_do_not_fit(bank, ahead, words):
    with pytest.raises(RulesError) as refused:
        qs.Session(bank, qs.Rules(target="all", ahead=ahead))
    assert words in str(refused.value)
