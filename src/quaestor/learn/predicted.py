"""The best answer to a question, predicted from a person's other answers."""

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.expect import batch, beliefs
from quaestor.learn.fit import Fit
from quaestor.learn.people import Patterns
from quaestor.model.table import Array


def predictions(fit: Fit, question: str) -> tuple[Array, NDArray[np.bool_]]:
    """P(best class | other answers) of all people who answered a question, and whether they gave it, (people,) both."""
    position = list(fit.bank.questions).index(question)
    number, group = next((number, group) for number, group in enumerate(fit.layout.groups) if position in group.positions)
    table = fit.tables.groups[number][group.positions.tolist().index(position)]
    classes = fit.people.patterns.classes(fit.layout)
    some = np.flatnonzero(classes[:, position] >= 0)
    others = classes[some]
    others[:, position] = -1
    step = batch(fit.layout)
    chances = np.empty(len(some))
    for start in range(0, len(some), step):
        part = Patterns(tuple(others[start : start + step, one.positions] for one in fit.layout.groups))
        chances[start : start + step] = beliefs(fit.layout, fit.tables, part)[1][:, group.block] @ table[:, -1]
    at = np.full(len(classes), -1)
    at[some] = np.arange(len(some))
    person = at[fit.people.pattern_of]
    person = person[person >= 0]
    right = classes[some, position] == group.classes - 1
    return chances[person], right[person]
