"""A bank as arrays for learning: skills in topological order, questions grouped by scope and number of classes.

The tables being learnt are plain arrays, `Tables`: for each skill (rows, levels), a row for each combination of its parents' levels; for
each group of questions (questions, configurations, classes). A configuration is a combination of levels of the skills of a scope; they are
numbered in C order, the skills of a scope by their numbers in the topological order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.inference.layout import layout_of as inference_layout
from quaestor.inference.model import Model, Scope
from quaestor.model.table import Array, Table


@dataclass(frozen=True)
class Group:
    """Questions with the same scope and number of classes: their `positions` in the bank, and the `block` of the scope."""

    scope: Scope
    sizes: tuple[int, ...]
    classes: int
    positions: NDArray[np.intp]
    block: slice

    @property
    def configurations(self) -> int:
        """The number of combinations of levels of the scope."""
        return int(self.block.stop - self.block.start)

    @property
    def heights(self) -> Array:
        """The mean relative level of each configuration, (configurations,), from 0 to 1."""
        grids = np.meshgrid(*(np.linspace(0, 1, size) for size in self.sizes), indexing="ij")
        return np.asarray(np.mean(grids, axis=0)).reshape(-1)


@dataclass(frozen=True)
class Tables:
    """Precise tables in the shape of a layout: `skills` (rows, levels) each, `groups` (questions, configurations, classes) each."""

    skills: tuple[Array, ...]
    groups: tuple[Array, ...]


@dataclass(frozen=True)
class Layout:
    """The structure of a bank; plain data, so that it can be sent to workers.

    `blocks`: the distinct scopes, each with its slice among the `width` configurations of all scopes together.
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[Scope, ...]
    groups: tuple[Group, ...]
    blocks: Mapping[Scope, slice]
    width: int
    questions: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of levels of each skill."""
        return tuple(len(states) for states in self.states)

    @property
    def profiles(self) -> float:
        """The number of combinations of levels of all skills, as a float since it may be huge."""
        return float(np.prod(self.sizes, dtype=float))

    def family(self, skill: int) -> Scope:
        """The scope of the skill's table: its parents and itself."""
        return (*self.parents[skill], skill)

    def model(self, tables: Tables) -> Model:
        """The skill network with these tables, for inference."""
        made = []
        for parents, table in zip(self.parents, tables.skills, strict=True):
            shaped = table.reshape(*(self.sizes[parent] for parent in parents), -1)
            made.append(Table.of_checked(shaped, shaped))
        return Model(self.names, self.states, self.parents, tuple(made))


def layout_of(bank: Bank) -> Layout:
    """The layout of a bank for learning."""
    laid = inference_layout(bank)
    model = laid.model
    blocks: dict[Scope, slice] = {}
    width = 0
    for scope in model.scopes:
        size = int(np.prod([model.sizes[skill] for skill in scope]))
        blocks[scope] = slice(width, width + size)
        width += size
    groups = tuple(Group(b.scope, b.low.shape[2:], b.low.shape[1], b.index, blocks[b.scope]) for b in laid.batches)
    return Layout(model.names, model.states, model.parents, groups, blocks, width, len(bank.questions))


def tables_of(bank: Bank, layout: Layout) -> Tables:
    """The bank's tables as arrays; the centres of credal ones."""
    centre = inference_layout(bank.centre())
    skills = tuple(table.lower.reshape(-1, table.shape[-1]) for table in centre.model.tables)
    tables = [batch.low.reshape(*batch.low.shape[:2], -1)[batch.row] for batch in centre.batches]  # (questions, classes, configurations)
    return Tables(skills, tuple(np.ascontiguousarray(np.swapaxes(table, 1, 2)) for table in tables))


def answered(counts: Tables) -> tuple[NDArray[np.bool_], ...]:
    """For each group which of its questions have answers, (questions,), by their expected counts."""
    return tuple(count.sum(axis=(1, 2)) > 0 for count in counts.groups)


def as_tables(
    bank: Bank, layout: Layout, lower: Tables, upper: Tables | None = None, chosen: Sequence[NDArray[np.bool_]] | None = None
) -> dict[str, Table]:
    """Tables by id, in the shapes of the bank, the skills of a question in the order that it states; precise if there is no `upper`.

    `chosen`: for each group which of its questions are wanted, (questions,); all without it.
    """
    upper = upper or lower
    ends = [by_id(bank, layout, end, chosen) for end in (lower, upper)]
    return {name: Table(ends[0][name], ends[1][name]) for name in ends[0]}


def by_id(bank: Bank, layout: Layout, numbers: Tables, chosen: Sequence[NDArray[np.bool_]] | None = None) -> dict[str, Array]:
    """Numbers in the shape of tables, by id of skills and questions, in the shapes of the bank; `chosen` as in `as_tables`."""
    chosen = chosen or [np.ones(len(group.positions), bool) for group in layout.groups]
    found = {name: numbers.skills[skill].reshape(bank.skills[name].table.shape) for skill, name in enumerate(layout.names)}
    listed = list(bank.questions.values())
    for group, table, some in zip(layout.groups, numbers.groups, chosen, strict=True):
        for position, one in zip(group.positions[some].tolist(), table[some], strict=True):
            question = listed[position]
            axes = np.argsort(np.argsort([layout.names.index(skill) for skill in question.skills]))
            found[question.id] = np.transpose(one.reshape(*group.sizes, group.classes), (*axes, len(axes)))
    return found
