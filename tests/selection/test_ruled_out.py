"""Gains where an earlier answer rules a later one out, and of questions that tell nothing: numbers, and the right ones."""

import numpy as np
import pytest

import quaestor as qs
from quaestor.inference.lookahead import lookahead

NEAR = 0.02  # bounds are certified to TOLERANCE = 5e-4, whose entropy is .006
RULING_OUT = qs.Bank(
    {
        "skills": {"A": {"levels": ["0", "1", "2"], "prior": [0.25, 0.25, 0.5]}, "B": {"prior": [[0.4, 0.6], [0.4, 0.6]]}},
        "questions": {
            "Q0": {"skill": "A", "right": [1, 1, 0]},
            "Q1": {
                "skills": ["A", "B"],
                "classes": ["wrong", "right"],
                "table": {f"{a}, {b}": [0.2, 0.8] if a == "2" else [1, 0] for a in "012" for b in ("no", "yes")},
            },
            "Q2": {"skill": "B", "right": [0.2, 0.8]},
        },
    }
)


@pytest.mark.parametrize("score", ["entropy", "gini", "mode", "right"])
@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_an_answer_that_is_ruled_out_does_not_stop_the_ranking(score, bound):
    found = qs.rank(RULING_OUT, {"Q0": "right"}, score=score, bound=bound)
    assert sorted(found.ids) == ["Q1", "Q2"]
    assert np.isfinite(found.gains).all()
    if score in ("entropy", "gini"):
        assert dict(zip(found.ids, found.gains, strict=True))["Q1"] == pytest.approx(0, abs=NEAR)  # it can only be wrong


@pytest.mark.parametrize("score", ["entropy", "gini", "mode"])
@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_session_goes_on_where_an_answer_is_ruled_out(score, bound):
    session = qs.Session(RULING_OUT, qs.Rules(score=score, bound=bound)).answer("Q0", "right")
    assert session.next is not None
    assert session.answer("Q1", "wrong").answer("Q2", "right").stopped is not None


def test_nothing_is_known_after_an_answer_that_cannot_be_given():
    ahead = lookahead(RULING_OUT, {"Q0": "right"}, "all")
    for group in ahead.groups:
        for target in group.targets:
            impossible = np.broadcast_to((group.answers[1] <= 0)[..., None], target.after[0].shape)
            assert (target.after[0][impossible] == 0).all()
            assert (target.after[1][impossible] == 1).all()
            assert (target.after[0] <= target.after[1]).all()


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("score", ["entropy", "gini", "mode"])
@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_a_question_on_two_skills_with_equal_precise_rows_gains_nothing(levels, linked, score, bound):
    names = [str(level) for level in range(levels)]
    lower = {"levels": names, "parents": ["A"], "strength": 0.6, "confidence": "unsure"}
    skills = {"A": {"levels": names, "prior": [[0.8 / levels, 1.2 / levels]] * levels}, "B": lower if linked else {"levels": names}}
    table = {f"{a}, {b}": [0.3, 0.7] for a in names for b in names}
    questions = {
        "silent": {"skills": ["A", "B"], "classes": ["wrong", "right"], "table": table},
        "other": {"skill": "A", "right": np.linspace(0.2, 0.8, levels).tolist()},
        "both": {"skill": "B", "right": np.linspace(0.1, 0.9, levels).tolist()},
    }
    if levels == 2:
        questions["both"] = {"skills": ["A", "B"], "needs": "all", "slip": [0.05, 0.15], "guess": [0.1, 0.2]}
    bank = qs.Bank({"skills": skills, "questions": questions})
    for answers in ({}, {"both": "right"}):
        found = qs.rank(bank, answers, score=score, bound=bound, target="all")
        assert dict(zip(found.ids, found.gains, strict=True))["silent"] == pytest.approx(0, abs=1e-12)
