"""Answers as they come in, one line an answer: what the other answers of the same taker say of the levels behind each of them.

The log-likelihoods of a taker's answers are added up for each configuration (combination of levels) of each scope; those of the answer in
question are taken away again, so one pass gives the posterior without it for all lines. Answers to pilot questions are no evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.learn.expect import JOINT, members, prior
from quaestor.learn.layout import Group, layout_of, tables_of
from quaestor.model.table import Array

ROWS = 4096  # lines that are worked out together
_LEAST = 1e-12


class Arrival(NamedTuple):
    """An answer: whose, to which question, of which class; lines are in the order in which they came in."""

    taker: int
    question: str
    answer: str


@dataclass(frozen=True)
class Watched:
    """The answers to one question, in the order in which they came in. `best`: whether each is of the best class, (answers,).

    `levels`: P(configuration | the taker's other answers), (answers, configurations); `chance`: P(best class | configuration) by the bank's
    table, (configurations,).
    """

    question: str
    best: NDArray[np.bool_]
    levels: Array
    chance: Array
    group: Group

    @property
    def predicted(self) -> Array:
        """P(best class | the taker's other answers), (answers,)."""
        return np.asarray(self.levels @ self.chance)


def watched(bank: Bank, lines: Sequence[Arrival]) -> dict[str, Watched]:
    """All questions of a bank with answers; none for banks with too many combinations of levels."""
    layout = layout_of(bank)
    lines = [line for line in lines if line.question in bank.questions and line.answer in bank.questions[line.question].classes]
    if not lines or layout.profiles > JOINT:
        return {}
    tables, names = tables_of(bank, layout), list(bank.questions)
    home = {names[position]: (group, table[number]) for group, table in zip(layout.groups, tables.groups, strict=True)
            for number, position in enumerate(group.positions.tolist())}  # fmt: skip
    classes = {name: {word: number for number, word in enumerate(bank.questions[name].classes)} for name in home}
    own = np.zeros((len(lines), layout.width))
    for row, line in enumerate(lines):
        if not bank.questions[line.question].pilot:
            group, table = home[line.question]
            own[row, group.block] = np.log(np.maximum(table[:, classes[line.question][line.answer]], _LEAST))
    takers, of_taker = np.unique([line.taker for line in lines], return_inverse=True)
    total = np.zeros((len(takers), layout.width))
    np.add.at(total, of_taker, own)
    member = members(layout)
    with np.errstate(divide="ignore"):
        start = np.log(prior(layout, tables))
    levels = np.empty((len(lines), layout.width))
    for begin in range(0, len(lines), ROWS):
        part = slice(begin, begin + ROWS)
        joint = (total[of_taker[part]] - own[part]) @ member + start
        joint = np.exp(joint - joint.max(axis=1, keepdims=True))
        levels[part] = (joint / joint.sum(axis=1, keepdims=True)) @ member.T
    rows: dict[str, list[int]] = {}
    for row, line in enumerate(lines):
        rows.setdefault(line.question, []).append(row)
    found = {}
    for name, mine in rows.items():
        group, table = home[name]
        best = np.array([classes[name][lines[row].answer] == group.classes - 1 for row in mine])
        found[name] = Watched(name, best, levels[mine][:, group.block], table[:, -1], group)
    return found
