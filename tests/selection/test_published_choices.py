"""The published single-skill study, as run: gains from its printed numbers, and the questions that it asked."""

from itertools import product

import numpy as np
import pytest

from oracles.scores import BOUNDS, UNCERTAINTY, gain_on, index_bound, left, pieces_of, remaining, theorem_one
from quaestor import Table, load, rank

AS_RUN = load("single-skill-as-run")
WIDE = AS_RUN.widen(0.05)
RIGHT = {f"Q{number + 1}": pair for number, pair in enumerate(2 * [
    *((0.40, 0.80), (0.35, 0.85), (0.30, 0.90), (0.30, 0.70), (0.25, 0.75), (0.20, 0.80), (0.40, 0.60), (0.15, 0.65), (0.10, 0.70))
])}  # fmt: skip


def by_enumeration(asked, question, width=0.05):
    """All P(level, class | answers), (networks, 2, 2), from the numbers of the page: prior one half, every number `width` off at most."""
    ends = (-width, width) if width else (0.0,)
    found = []
    for prior, *off in product((0.5 + end for end in ends), *([ends] * (2 * len(asked) + 2))):
        weight = np.array([1 - prior, prior])
        for number, (name, answer) in enumerate(asked.items()):
            right = np.array(RIGHT[name]) + off[2 * number : 2 * number + 2]
            weight = weight * (right if answer == "right" else 1 - right)
        right = np.array(RIGHT[question]) + off[-2:]
        joint = weight[:, None] * np.stack([1 - right, right], axis=1)
        found.append(joint / joint.sum())
    return np.array(found)


def defined_gain(name, bound, asked, question):
    """The gain by its definition, from bounds over all networks."""
    joints = by_enumeration(asked, question)
    skill, answer = joints.sum(axis=2), joints.sum(axis=1)
    now = index_bound(name, bound, skill.min(axis=0), skill.max(axis=0))
    if name == "mode":
        rows = np.swapaxes(joints / skill[:, :, None], 1, 2)
        return now - theorem_one(skill.min(axis=0), skill.max(axis=0), rows.min(axis=0), rows.max(axis=0))[bound]
    after = np.swapaxes(joints / answer[:, None], 1, 2)
    values = [index_bound(name, bound, low, high) for low, high in zip(after.min(axis=0), after.max(axis=0), strict=True)]
    low, high = answer.min(axis=0)[1], answer.max(axis=0)[1]
    sums = [(1 - p) * values[0] + p * values[1] for p in (low, high)]  # linear in P(right)
    return now - (max(sums) if bound == "upper" else min(sums))


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("name", UNCERTAINTY)
def test_the_first_two_questions_of_the_credal_study(name, bound):
    """All gains, the first question and the second after each answer; of equal templates the lower number comes first."""
    first = None
    for asked in ({}, "wrong", "right"):
        asked = {first: asked} if asked else {}
        expected = {question: defined_gain(name, bound, asked, question) for question in list(RIGHT)[:9]}
        every = {question: expected[f"Q{(int(question[1:]) - 1) % 9 + 1}"] for question in RIGHT if question not in asked}
        ranking = rank(WIDE, asked, score=name, bound=bound, then=None)
        assert dict(zip(ranking.ids, ranking.gains, strict=True)) == pytest.approx(every, abs=1e-9)
        best = [question for question in every if every[question] >= max(every.values()) - 1e-9]
        assert ranking.ids[0] == best[0]
        first = first or str(ranking.ids[0])


def test_the_published_choices():
    """Precise entropy asks Q3 first, for .2958; the raw credal-mode choices began with question 9: best for the lower M, with Q3."""
    ranking = rank(AS_RUN, score="entropy")
    assert ranking.ids[0] == "Q3"
    assert ranking.gains[0] == pytest.approx(0.2958, abs=5e-5)
    joint = by_enumeration({}, "Q3", 0.0)
    assert ranking.gains[0] == pytest.approx(float(1 - left("entropy", joint)[0]), abs=1e-12)
    lower = rank(WIDE, score="mode", bound="lower", then=None)
    assert lower.ids[:4].tolist() == ["Q3", "Q9", "Q12", "Q18"]
    assert np.ptp(lower.gains[:4]) < 1e-9
    assert rank(WIDE, score="mode", bound="upper", then=None).ids[0] == "Q6"


def test_the_oracle_knows_the_study():
    """Both ways to enumerate agree: the one of the page's numbers and the one of the bank's tables."""
    for name, bound in product(UNCERTAINTY, BOUNDS):
        pieces = pieces_of(WIDE, {"Q3": 1}, "Q9")
        assert gain_on(name, bound, pieces, "S") == pytest.approx(defined_gain(name, bound, {"Q3": "right"}, "Q9"), abs=1e-9)
        assert remaining(name, bound, pieces, "S") >= 0
    assert Table([0.45, 0.45], [0.55, 0.55]) == WIDE.skills["S"].table
