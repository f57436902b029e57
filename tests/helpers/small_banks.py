"""Small banks written by hand, and their numbers read off."""

import numpy as np

from quaestor.bankfile.bank import Bank

TWO = {"a": {}, "b": {"levels": ["low", "mid", "high"]}}


def bank(questions=None, skills=None, **fields):
    """A bank with one skill and one question unless told; P(right) of that question goes from 0.25 to 0.75."""
    asked = {"Q": {"skill": "a", "difficulty": 0.5, "discrimination": 0.5}}
    return Bank({"skills": skills or {"a": {}}, "questions": questions or asked, **fields})


def rights(made, question="Q"):
    """The bounds of P(best class), a pair for each combination of levels."""
    table = made.questions[question].table
    return np.stack([table.lower[..., -1].ravel(), table.upper[..., -1].ravel()], axis=1).round(12).tolist()


def prior(made, skill="a"):
    return np.stack([made.skills[skill].table.lower, made.skills[skill].table.upper], axis=-1).round(12).tolist()
