"""Questions that are answered alike: sums against a slow oracle, planted copies are found, and sound banks raise no alarm."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

import quaestor as qs
from oracles.learning import SMALL, draw, likelihood, profiles, rows_of, school
from quaestor.learn import dependence
from quaestor.learn.dependence import all_pairs, dependences, relearnt, spare
from quaestor.learn.diagnose import diagnose
from quaestor.report.learning import findings


def by_hand(bank, frame, first, second):
    """People, size and z of a pair: for each person all profiles, and all pairs of answers, are listed."""
    one, other = bank.questions[first], bank.questions[second]
    people, excess, variance, own, others = 0, 0.0, 0.0, 0.0, 0.0
    for answers in rows_of(frame):
        if first not in answers or second not in answers:
            continue
        left = {name: answer for name, answer in answers.items() if name not in (first, second)}
        chance = {}
        for profile in profiles(bank):
            for x, a in enumerate(one.classes):
                for y, b in enumerate(other.classes):
                    both = likelihood(bank, profile, {**left, first: a, second: b})
                    chance[x, y] = chance.get((x, y), 0) + both
        total = sum(chance.values())
        shares = [(x / (len(one.classes) - 1), y / (len(other.classes) - 1), p / total) for (x, y), p in chance.items()]
        m, n = sum(x * p for x, _, p in shares), sum(y * p for _, y, p in shares)
        c = sum((x - m) * (y - n) * p for x, y, p in shares)
        x = one.classes.index(answers[first]) / (len(one.classes) - 1)
        y = other.classes.index(answers[second]) / (len(other.classes) - 1)
        people += 1
        excess += (x - m) * (y - n) - c
        variance += sum(((x - m) * (y - n) - c) ** 2 * p for x, y, p in shares)
        own += sum((x - m) ** 2 * p for x, _, p in shares)
        others += sum((y - n) ** 2 * p for _, y, p in shares)
    return people, excess / np.sqrt(own * others), excess / np.sqrt(variance)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("name", list(SMALL))
def test_pairs_by_hand(name, whole, monkeypatch):
    """Also with three classes, two skills, missing answers; with many profiles only pairs on the same skills."""
    bank = SMALL[name]
    frame = draw(bank, 45, missing=0.1)
    fit = qs.learn(bank, frame, iterations=2)
    if not whole:
        monkeypatch.setattr(dependence, "WHOLE", 1)
    found = {(one.first, one.second): one for one in all_pairs(fit)}
    assert len(found) == len(all_pairs(fit))
    for first, second in combinations(bank.questions, 2):
        people, size, z = by_hand(fit.bank, frame, first, second)
        is_same = set(bank.questions[first].skills) == set(bank.questions[second].skills)
        if people < dependence.FEWEST or not (whole or is_same):
            assert (first, second) not in found
            continue
        one = found.get((first, second)) or found[second, first]
        assert one.people == people
        assert one.size == pytest.approx(size, abs=1e-7)
        assert -norm.ppf(one.chance) == pytest.approx(z, abs=1e-6)


def one_skill(levels, seed):
    right = np.sort(np.random.default_rng(seed).uniform(0.1, 0.9, (20, levels)), axis=1).round(3).tolist()
    skills = {"a": {"levels": [str(level) for level in range(levels)]}}
    return qs.Bank({"skills": skills, "questions": {f"Q{n}": {"skill": "a", "right": right[n]} for n in range(20)}})


MODELS = {"two levels": lambda seed: one_skill(2, seed), "five levels": lambda seed: one_skill(5, seed), "two skills": school}


@pytest.mark.parametrize("model", list(MODELS))
def test_copies_are_found_and_no_others_are_blamed(model):
    """Of ten copies at least nine; without a copy at most two in ten banks name any pair (5 % are expected)."""
    found, others, alarms, misfits = 0, 0, 0, 0
    for seed in range(10):
        bank = MODELS[model](seed)
        frame = draw(bank, 300, seed)
        alarms += bool(dependences(qs.learn(bank, frame)))
        frame["Q8"] = frame["Q3"]
        diagnoses = diagnose(qs.learn(bank, frame))
        pairs = {(pair.first, pair.second) for one in diagnoses for pair in one.pairs}
        found += ("Q3", "Q8") in pairs
        others += len(pairs - {("Q3", "Q8")})
        misfits += sum("misfit" in one.flags for one in diagnoses)
    assert found >= 9
    assert others <= 2
    assert alarms <= 2
    assert misfits <= 4  # of 200 to 240 questions


def test_a_copy_that_has_become_the_skill_is_found():
    """Other questions tell so little that the levels become the answers to the pair, which then explain it."""
    bank = qs.Bank({"skills": {"a": {}}, "questions": {f"Q{n}": {"skill": "a", "right": [0.4, 0.6]} for n in range(12)}})
    frame = draw(bank, 400)
    frame["Q8"] = frame["Q3"]
    fit = qs.learn(bank, frame)
    pair = next(one for one in all_pairs(fit) if (one.first, one.second) == ("Q3", "Q8"))
    assert pair.size < dependence.SIZE
    assert [(one.first, one.second) for one in dependences(fit)] == [("Q3", "Q8")]


def test_a_pair_is_told_once_with_what_to_do():
    bank = school()
    frame = draw(bank, 300)
    frame["Q8"] = frame["Q3"]
    fit = qs.learn(bank, frame)
    diagnoses = {one.question: one for one in diagnose(fit)}
    assert diagnoses["Q3"].flags == diagnoses["Q8"].flags == ("alike",)
    told = [sentence for sentence in findings(fit, list(diagnoses.values()), (), emptied=False) if "alike" in sentence]
    assert len(told) == 1
    assert told[0].startswith("Q3 and Q8 are answered alike far more often than the skills explain (residual correlation ")
    assert told[0].endswith("Drop one of them, or let them exclude one another.")


def test_what_can_be_spared():
    fit = qs.learn(school(), draw(school(), 40), iterations=1)

    def pair(first, second):
        return dependence.Dependence(first, second, 40, 0.5, 0.0)

    assert spare(fit, []) == ()
    assert spare(fit, [pair("Q3", "Q8")]) == ("Q8",)
    assert spare(fit, [pair("Q3", "Q8"), pair("Q3", "Q9"), pair("Q1", "Q2")]) == ("Q3", "Q2")
    assert len(spare(fit, [pair(f"Q{n}", f"Q{n + 1}") for n in range(0, 12, 2)])) == 6
    assert spare(fit, [pair(f"Q{n}", f"Q{n + 1}") for n in range(0, 14, 2)]) == ()


@pytest.mark.parametrize("is_sparse", [False, True])
def test_learnt_without_a_question_is_learnt_without_its_column(is_sparse):
    bank, frame = school(), draw(school(), 80, missing=0.3)
    table = frame.reset_index(names="person").melt("person", var_name="question", value_name="answer").dropna() if is_sparse else frame
    fit = qs.learn(bank, table)
    found = relearnt(fit, ["Q8"])
    same = qs.learn(bank, frame.drop(columns="Q8"), tolerance=dependence.TOLERANCE, iterations=dependence.ITERATIONS)
    for name in bank.questions:
        np.testing.assert_allclose(found.bank.questions[name].table.lower, same.bank.questions[name].table.lower, atol=1e-8)
