"""What each question would tell, as arrays: the only thing that scores see. `inference` fills it in.

Questions of one scope and number of classes form a `Group`; questions with equal tables are worked out once. A leading axis runs over
takers, one unless many are looked at together.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError
from quaestor.model.table import Array

Ends = tuple[Array, Array]


@dataclass(frozen=True)
class Asked:
    """Questions of one scope and class count. `index`: their places in the bank; `row`: for each the place of its table in `low`, `high`.

    `low`, `high`: P(class | configuration), shape (tables, classes, *levels of the scope), the scope in rising order.
    """

    scope: tuple[int, ...]
    skills: tuple[str, ...]
    index: NDArray[np.intp]
    row: NDArray[np.intp]
    low: Array
    high: Array


@dataclass(frozen=True)
class Target:
    """One skill that questions may tell about: bounds `now`, (takers, levels), and `after` each answer.

    Where both ends are one array the bank is precise.
    """

    skill: str
    now: Ends
    find_after: Callable[[], Ends] = field(repr=False)
    find_rows: Callable[[], Ends] = field(repr=False)
    weight: float = 1.0

    @cached_property
    def after(self) -> Ends:
        """Bounds after each answer, (takers, tables, classes, levels); in precise banks worked out when first asked for."""
        return self.find_after()

    @cached_property
    def rows(self) -> Ends:
        """Bounds of P(class | level of the skill, evidence), (takers, tables, classes, levels); worked out when first asked for."""
        return self.find_rows()


@dataclass(frozen=True)
class JointTarget:
    """All skills of a precise bank together, summed up for each configuration c of a scope: arrays of shape (takers, configurations).

    `mass`: P(c); `peak`: the largest P(s) of the joint states s with this configuration; `squares`: the sum of their P(s)^2. The last two
    are None where the joint does not fit. `states`: the number of joint states.
    """

    states: float
    mass: Array
    peak: Array | None
    squares: Array | None


@dataclass(frozen=True)
class Group:
    """Questions of one scope and class count. `answers`: bounds of P(class | evidence), (takers, tables, classes)."""

    batch: Asked
    answers: Ends
    targets: tuple[Target, ...]
    method: str
    gap: float
    joint: JointTarget | None = None


@dataclass(frozen=True)
class Lookahead:
    """All groups of a bank's questions; `open` tells which questions each taker has not answered, (takers, questions)."""

    ids: NDArray[np.object_]
    open: NDArray[np.bool_]
    groups: tuple[Group, ...]

    @property
    def gap(self) -> float:
        """The largest distance between an outer and an inner bound; 0.0 when exact."""
        return max((group.gap for group in self.groups), default=0.0)

    @property
    def exact(self) -> bool:
        """Whether all bounds are exact."""
        return self.gap == 0.0

    def only(self, skill: str) -> "Lookahead":
        """What questions tell about one of the targets alone."""
        groups = [replace(group, targets=tuple(t for t in group.targets if t.skill == skill), joint=None) for group in self.groups]
        return replace(self, groups=tuple(groups))

    def spread(self, of_group: Callable[[Group], Array]) -> Array:
        """One number a question, (takers, questions), from one a table, (takers, tables), in each group."""
        values = np.zeros(self.open.shape)
        for group in self.groups:
            values[:, group.batch.index] = of_group(group)[:, group.batch.row]
        if np.isnan(values).any():
            taker, place = np.argwhere(np.isnan(values))[0]
            raise QuaestorError(f"{self.ids[place]}: its gain is a number, got none (taker {taker})")
        return values
