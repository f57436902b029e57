"""Answers to questions on two skills that contradict each other by the thousand: real bounds, where products of plain numbers are zero."""

import numpy as np
import pytest

import quaestor as qs
from quaestor.inference.evidence import Evidence
from quaestor.inference.partition import underflows

LEVELS = ["no", "yes"]


def bank(count, width, skill_width=0.0):
    """Three skills in a loop of two-skill questions, so many on each pair; those with s1 say almost for certain whether it is known."""

    def row(p, width):
        low, high = max(p - width, 0.0), min(p + width, 1.0)
        return [[1 - high, 1 - low], [low, high]]

    def rows(chances, width):
        return {name: row(p, width) for name, p in chances.items()}

    skills = {
        "s0": {"levels": LEVELS, "prior": row(0.5, skill_width)},
        "s1": {"levels": LEVELS, "parents": ["s0"], "table": rows({"no": 0.3, "yes": 0.7}, skill_width)},
        "s2": {"levels": LEVELS, "parents": ["s0"], "table": rows({"no": 0.4, "yes": 0.6}, skill_width)},
    }
    pairs = [("s0", "s1"), ("s1", "s2"), ("s0", "s2")]
    right = {
        ("s0", "s1"): {"no, no": 0.05, "no, yes": 0.94, "yes, no": 0.06, "yes, yes": 0.95},
        ("s1", "s2"): {"no, no": 0.05, "no, yes": 0.06, "yes, no": 0.94, "yes, yes": 0.95},
        ("s0", "s2"): {"no, no": 0.48, "no, yes": 0.5, "yes, no": 0.49, "yes, yes": 0.51},
    }
    questions = {
        f"q{number}_{'_'.join(pair)}": {"skills": list(pair), "classes": ["wrong", "right"], "table": rows(right[pair], width)}
        for pair in pairs
        for number in range(count)
    }
    return qs.Bank({"skills": skills, "questions": questions})


def contradicting(made):
    """All answers about one pair are wrong, all about another are right, about the third half and half."""
    answers = {}
    for number, name in enumerate(made.questions):
        answers[name] = 0 if name.endswith("s0_s1") else 1 if name.endswith("s1_s2") else number % 2
    return answers


@pytest.mark.parametrize("count", [700, 2000])
def test_two_thousand_contradicting_answers_give_real_bounds(count):
    made = bank(count, 1e-5)
    answers = contradicting(made)
    model = Evidence.of(made, answers).model
    assert underflows(model, 1).any()
    assert not underflows(model.levelled(), 1).any()
    truth = qs.posterior(made, answers, method="enumeration")
    for method in ("auto", "branch", "separators"):
        found = qs.posterior(made, answers, method=method)
        for skill in made.skills:
            np.testing.assert_allclose(found[skill].lower, truth[skill].lower, atol=1e-8)
            np.testing.assert_allclose(found[skill].upper, truth[skill].upper, atol=1e-8)


def test_levelling_leaves_every_product_as_it_is():
    made = bank(300, 0.02)
    model = Evidence.of(made, contradicting(made)).model
    level = model.levelled()
    for end in (0, 1):
        before, after = (
            model_end.boxes[0, 1][end][0][:, :, None] + model_end.boxes[1, 2][end][0][None] + model_end.boxes[0, 2][end][0][:, None, :]
            for model_end in (model, level)
        )
        np.testing.assert_allclose(after, before, rtol=1e-12)
        assert np.ptp([box[end].max() for box in level.boxes.values()]) < np.ptp([box[end].max() for box in model.boxes.values()])


def test_credal_skills_too():
    made = bank(800, 1e-4, 0.05)
    answers = contradicting(made)
    found = qs.posterior(made, answers)
    precise = qs.posterior(made.centre(), answers)
    for skill in made.skills:
        assert (found[skill].lower <= precise[skill].lower + 1e-9).all()
        assert (found[skill].upper >= precise[skill].upper - 1e-9).all()
        assert found[skill].upper.sum() - found[skill].lower.sum() < 1.9  # not nothing


def test_an_end_of_zero_does_not_hide_a_tiny_upper_end():
    """130 answers of which one level allows at most a thousandth: the network in which only that level is possible must not be lost."""
    rows = {"a": [[0.999, 1.0], [0.0, 0.001]], "b": [0.5, 0.5], "c": [0.4, 0.6]}
    questions = {f"q{number}": {"skill": "s", "classes": ["wrong", "right"], "table": rows} for number in range(130)}
    made = qs.Bank(
        {"skills": {"s": {"levels": ["a", "b", "c"], "prior": {"vertices": [[1, 0, 0], [0, 0.5, 0.5]]}}}, "questions": questions}
    )
    answers = dict.fromkeys(questions, "right")
    truth = qs.posterior(made, answers, method="enumeration")["s"]
    found = qs.posterior(made, answers)["s"]
    np.testing.assert_allclose(found.lower, truth.lower, atol=1e-9)
    np.testing.assert_allclose(found.upper, truth.upper, atol=1e-9)
    assert found.upper[0] == pytest.approx(1)
