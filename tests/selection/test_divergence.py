"""The scores of cognitive diagnosis against their definitions, network by network, and what they have in common."""

from itertools import product
from math import log

import numpy as np
import pytest

import quaestor as qs
from helpers.score_banks import looked, open_questions, random_bank
from oracles.scores import interval_set, pieces_of
from quaestor.selection.scores.divergence_bounds import BOUNDS_OF, bounds_of
from quaestor.selection.scores.known import SCORES

NAMES = ("mutual_information", "jensen_shannon", "gdi", "kl", "pwkl", "mpwkl")
LEAST = log(1e-300)


def divergence(one, other):
    """KL, class by class; the logarithm of 0 is a large number."""
    return sum(p * ((log(p) if p else LEAST) - (log(q) if q else LEAST)) for p, q in zip(one, other, strict=True) if p)


def entropy(p):
    return -sum(x * log(x) for x in p if x > 0)


def value(name, joint):
    """The definition, from P(latent class, answer), (latent classes, answers), one sum after another."""
    p = joint.sum(axis=1)
    held = [c for c in range(len(p)) if p[c] > 0]
    w = {c: joint[c] / p[c] for c in held}
    estimate = next(c for c in held if p[c] >= p.max() - 1e-9)
    if name == "kl":
        return sum(divergence(w[estimate], w[c]) for c in held)
    if name == "pwkl":
        return sum(p[c] * divergence(w[estimate], w[c]) for c in held)
    if name == "mpwkl":
        return sum(p[d] * p[c] * divergence(w[d], w[c]) for d in held for c in held)
    mean = sum(p[c] * w[c] for c in held)
    if name == "gdi":
        return sum(p[c] * ((w[c] - mean) ** 2).sum() for c in held) / 2
    return (entropy(mean) - sum(p[c] * entropy(w[c]) for c in held)) / log(len(p))


@pytest.mark.parametrize("seed", [1, 2, 4, 5, 7])
def test_in_precise_banks_they_are_their_definitions(seed):
    bank, answers = random_bank("precise", seed)
    targets = {"scope": None, "all": list(bank.skills), "joint": None}
    for target, name in product(targets, NAMES):
        found = SCORES[name](looked(bank, answers, target), "upper", [])[0]
        for place, question in open_questions(bank, answers):
            pieces = pieces_of(bank, answers, question)
            if target == "joint":
                expected = value(name, pieces.everything()[0])
            else:
                skills = targets[target] or bank.questions[question].skills
                expected = np.mean([value(name, pieces.of(skill)[0]) for skill in skills])
            assert found[place] == pytest.approx(expected, abs=1e-10), (target, name)


@pytest.mark.parametrize(("kind", "seed"), [*(("odds", seed) for seed in (1, 2, 4, 5)), ("hulls", 1), ("hulls", 2), ("two skills", 1)])
def test_in_credal_banks_no_network_lies_outside_the_bounds(kind, seed):
    bank, answers = random_bank(kind, seed, most=400)
    ahead = looked(bank, answers)
    for name in NAMES:
        cautious, optimistic = (SCORES[name](ahead, bound, [])[0] for bound in ("upper", "lower"))
        for place, question in open_questions(bank, answers):
            pieces = pieces_of(bank, answers, question)
            skills = bank.questions[question].skills
            each = np.mean([[value(name, joint) for joint in pieces.of(skill)] for skill in skills], axis=0)
            if name == "kl":  # every level counts, however unlikely: what one that cannot be would answer is not among the pieces
                each = each[np.all([(pieces.of(skill).sum(axis=2) > 0).all(axis=1) for skill in skills], axis=0)]
            assert cautious[place] <= each.min() + 1e-7
            assert each.max() <= optimistic[place] + 1e-7


@pytest.mark.parametrize("name", NAMES[1:])
def test_bounds_of_two_levels_and_two_classes_are_attained(name):
    rng = np.random.default_rng(len(name))
    grid = np.linspace(0, 1, 25)
    for _ in range(6):
        (low, high), rows = interval_set(rng, 2, "some"), [interval_set(rng, 2, "some") for _ in range(2)]
        ends = tuple(np.stack([row[end] for row in rows], axis=1)[None, None] for end in (0, 1))
        least, most = (float(end[0, 0]) for end in bounds_of(name, (low[None], high[None]), ends))
        values = []
        near = np.clip([0.5 - 1e-7, 0.5 + 1e-7], low[1], high[1])  # where the most probable level changes
        for p in (*near, *(low[1] + grid * (high[1] - low[1]))):
            for a, b in product(*(row[0][1] + grid[::4] * (row[1][1] - row[0][1]) for row in rows)):
                values.append(value(name, np.array([[(1 - p) * (1 - a), (1 - p) * a], [p * (1 - b), p * b]])))
        assert least - 1e-9 <= min(values)
        assert max(values) <= most + 1e-9
        assert min(values) < least + 0.02 * (1 + most)
        assert max(values) > most - 0.02 * (1 + most)
        wide = BOUNDS_OF[name]((low[None], high[None]), ends)  # what is found for any number of levels holds them too
        assert wide[0][0, 0] <= least + 1e-9
        assert wide[1][0, 0] >= most - 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_bounds_of_several_levels_and_classes_hold_every_network_and_narrow_to_the_value(name):
    rng = np.random.default_rng(5)
    for reach, room in ((0.2, None), (1e-8, 1e-5)):
        p, rows = rng.dirichlet(np.ones(3), 20), rng.dirichlet(3 * np.ones(3), (20, 4, 3))  # rows: (takers, tables, levels, classes)
        now = np.maximum(p - reach * rng.random(p.shape), 0), np.minimum(p + reach * rng.random(p.shape), 1)
        ends = np.maximum(rows - reach * rng.random(rows.shape), 0), np.minimum(rows + reach * rng.random(rows.shape), 1)
        least, most = BOUNDS_OF[name](now, tuple(np.swapaxes(end, 2, 3) for end in ends))
        expected = np.array([[value(name, p[t][:, None] * rows[t, q]) for q in range(4)] for t in range(20)])
        assert (least <= expected + 1e-9).all()
        assert (expected <= most + 1e-9).all()
        if room is not None:
            assert (most - least < room).all()


def test_jensen_shannon_and_mutual_information_are_one_score_and_in_precise_banks_that_of_entropy():
    bank = qs.load("fractions")
    for target in ("scope", "all", "joint"):
        found = [qs.rank(bank, {"M3": "right"}, score=name, target=target) for name in ("entropy", *NAMES[:2])]
        for other in found[1:]:
            assert other.ids.tolist() == found[0].ids.tolist()
            np.testing.assert_array_equal(other.gains, found[0].gains)
    assert SCORES["jensen_shannon"] is SCORES["mutual_information"]
    wide = bank.widen(0.02)
    least, most = (
        dict(zip(found.ids, found.gains, strict=True))
        for found in (qs.rank(wide, score="mutual_information", bound=bound) for bound in ("upper", "lower"))
    )
    for one in qs.rank(bank, score="entropy"):
        assert least[one.question.id] <= one.gain <= most[one.question.id]


def test_in_closed_form_for_two_levels():
    """With p and 1 - p, P(right) b and a: gdi is p (1 - p) (b - a)^2, mpwkl p (1 - p) times both divergences; pwkl 1 - p times one."""
    p, a, b = 0.7, 0.2, 0.9
    questions = {"Q": {"skill": "s", "right": [a, b]}}
    bank = qs.Bank({"skills": {"s": {"prior": [1 - p, p]}}, "questions": questions})
    there, back = divergence([1 - b, b], [1 - a, a]), divergence([1 - a, a], [1 - b, b])
    expected = {"gdi": p * (1 - p) * (b - a) ** 2, "mpwkl": p * (1 - p) * (there + back), "pwkl": (1 - p) * there, "kl": there}
    for name, wanted in expected.items():
        assert qs.rank(bank, score=name).gains[0] == pytest.approx(wanted, abs=1e-14)


def test_a_worked_example_of_two_attributes():
    """DINA, slip .1, guess .2, the first question right: the profiles 00, 01, 10, 11 have 1/11, 1/11, 9/22, 9/22; by hand for Q2 and Q3."""
    asked = {"Q1": ["a"], "Q2": ["b"], "Q3": ["a", "b"]}
    questions = {name: {"skills": skills, "needs": "all", "slip": 0.1, "guess": 0.2} for name, skills in asked.items()}
    bank = qs.Bank({"skills": {"a": {}, "b": {}}, "questions": questions})
    there, back = 0.9 * log(0.9 / 0.2) + 0.1 * log(0.1 / 0.8), 0.2 * log(0.2 / 0.9) + 0.8 * log(0.8 / 0.1)
    able = 9 / 22  # of Q3; the most probable profile is 10, the first of two
    expected = {
        "gdi": {"Q2": 0.25 * 0.49, "Q3": able * (1 - able) * 0.49},
        "mpwkl": {"Q2": 0.25 * (there + back), "Q3": able * (1 - able) * (there + back)},
        "pwkl": {"Q2": 0.5 * back, "Q3": able * back},
        "kl": {"Q2": 2 * back, "Q3": back},
    }
    for name, wanted in expected.items():
        found = qs.rank(bank, {"Q1": "right"}, score=name, target="joint")
        assert dict(zip(found.ids, found.gains, strict=True)) == pytest.approx(wanted, abs=1e-12), name


def test_a_ranking_says_what_falls_to_which_skill():
    bank = qs.load("fractions")
    first = qs.rank(bank, score="mpwkl", target="all")[0]
    assert set(first.by_skill) == set(bank.skills)
    assert np.mean(list(first.by_skill.values())) == pytest.approx(first.gain, abs=1e-12)


def test_the_expected_fall_of_the_variance():
    """Of two levels that of gini; of three by its definition; upper and lower variance hold every point of a set and are attained."""
    bank = qs.load("four-skills").widen(0.05)
    for bound in ("upper", "lower"):
        np.testing.assert_allclose(*(qs.rank(bank, score=name, bound=bound).gains for name in ("variance", "gini")), atol=1e-12)
    right, prior = [0.1, 0.5, 0.7], np.array([0.2, 0.5, 0.3])
    one = {"levels": ["low", "mid", "high"], "prior": prior.tolist()}
    bank = qs.Bank({"skills": {"s": one}, "questions": {"Q": {"skill": "s", "right": right}}})

    def variance(p):
        return (p * np.arange(3) ** 2).sum() - (p * np.arange(3)).sum() ** 2

    joint = prior * np.array([1 - np.array(right), right])
    left = sum(part.sum() * variance(part / part.sum()) for part in joint)
    assert qs.rank(bank, score="variance").gains[0] == pytest.approx(variance(prior) - left, abs=1e-12)
    with pytest.raises(qs.QuaestorError, match="score variance is for skills, whose levels have numbers, got the target 'joint'"):
        qs.rank(qs.load("four-skills"), score="variance", target="joint")


def test_mutual_information_of_skills_with_many_levels_is_refused_in_credal_banks():
    levels = [f"l{number}" for number in range(9)]
    bank = qs.Bank({"skills": {"s": {"levels": levels}}, "questions": {"Q": {"skill": "s", "irt": {"b": 0}}}})
    assert qs.rank(bank, score="mutual_information").gains[0] > 0
    with pytest.raises(qs.QuaestorError, match="is for skills of at most 8 levels in credal banks, got 9; use entropy or mpwkl"):
        qs.rank(bank.widen(0.02), score="mutual_information")
    assert qs.rank(bank.widen(0.02), score="mpwkl").gains[0] > 0
