"""What each question would tell, as arrays with a leading axis over takers: the only thing that scores see.

Questions of one scope and number of classes form a `Group`; questions with equal tables are worked out once. What a score does not read
is not worked out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, StatementError, Words, is_among, nearest, placed
from quaestor.i18n import say
from quaestor.inference.chooser import NODES, TOLERANCE, Chooser
from quaestor.inference.conflict import refuse_conflict
from quaestor.inference.engine import Bracket, Ends, JointTarget
from quaestor.inference.evidence import Evidence, Stated
from quaestor.inference.layout import Answers, Batch, Layout
from quaestor.lazy import lazy
from quaestor.model.table import Array

Targets = str | Sequence[str] | Mapping[str, float]


class TargetError(StatementError):
    """A target that is none, or that a bank does not have."""


@dataclass(frozen=True, eq=False)
class Target:
    """One skill that questions may tell about: what is known of it `now`, and `after` each answer.

    Where both ends are one array the bank is precise.
    """

    skill: str
    find_now: Callable[[], Bracket] = field(repr=False)
    find_after: Callable[[], Bracket] = field(repr=False)
    find_rows: Callable[[], Ends] = field(repr=False)
    weight: float = 1.0

    @lazy
    def before(self) -> Bracket:
        """Bounds before the answer with those that are attained."""
        return self.find_now()

    @property
    def now(self) -> Ends:
        """Bounds before the answer, (takers, levels)."""
        return self.before.ends

    @lazy
    def bracket(self) -> Bracket:
        """Bounds after each answer with those that are attained."""
        return self.find_after()

    @property
    def after(self) -> Ends:
        """Bounds after each answer, (takers, tables, classes, levels)."""
        return self.bracket.ends

    @lazy
    def rows(self) -> Ends:
        """Bounds of P(class | level of the skill, evidence), (takers, tables, classes, levels)."""
        return self.find_rows()


@dataclass(frozen=True, eq=False)
class Group:
    """Questions of one scope and class count, and what they would tell of the targets."""

    batch: Batch
    find_answers: Callable[[], Bracket] = field(repr=False)
    targets: tuple[Target, ...]
    joint: JointTarget | None = None

    @lazy
    def bracket(self) -> Bracket:
        """Bounds of P(class | evidence) with those that are attained."""
        return self.find_answers()

    @property
    def answers(self) -> Ends:
        """Bounds of P(class | evidence), (takers, tables, classes)."""
        return self.bracket.ends

    @property
    def gap(self) -> float:
        """The largest distance between an outer and an inner bound, now, of the answers and after each; 0.0 when exact."""
        return max([self.bracket.gap, *(gap for target in self.targets for gap in (target.before.gap, target.bracket.gap))])


class SpreadError(QuaestorError):
    """What a score makes of a group is no number for each taker and table."""


@dataclass(frozen=True, eq=False)
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
            found = of_group(group)
            shape, wanted = np.shape(found), (len(self.open), len(group.batch.low))
            if shape != wanted:
                raise SpreadError(f"one number for each taker and table, shape (takers, tables) = {wanted}, got an array of shape {shape}")
            values[:, group.batch.columns] = found if group.batch.are_different else found[:, group.batch.row]
        if np.isnan(values).any():
            taker, place = np.argwhere(np.isnan(values))[0]
            raise SpreadError(f"a finite gain for every question, got nan for {self.ids[place]} (taker {taker})")
        return values


def lookahead(
    bank: Bank,
    answers: Answers | None = None,
    targets: Targets = "scope",
    tolerance: float = TOLERANCE,
    limit: int = NODES,
    stated: Stated | None = None,
    asked: Iterable[str] = (),
) -> Lookahead:
    """Look one question ahead for one taker.

    `targets`: `scope` (each question's own skills), `all`, `joint` (all skills together, precise banks), skills by id, or weights by
    skill. `stated`: what is known of skills otherwise, see `posterior`; `asked`: questions that are closed though not answered.
    Where only branch and bound can tell (loops), it stops when outer and inner bounds are within the tolerance, or at the limit of nodes.
    """
    evidence = Evidence.of(bank, answers or {}, stated)
    refuse_conflict(evidence, stated, answers)
    is_open = evidence.is_open.copy()
    is_open[0, [evidence.layout.question_number(question) for question in asked]] = False
    chooser = Chooser(evidence.model, evidence.takers, tolerance=tolerance, limit=limit)
    return look(evidence.layout, chooser, is_open, targets)


def look(layout: Layout, chooser: Chooser, is_open: NDArray[np.bool_], targets: Targets = "scope") -> Lookahead:
    """What every open question would tell many takers; `is_open`: (takers, questions). Groups in which none is open are left out."""
    weights = wanted(layout, targets)
    groups = []
    for_anyone = np.asarray(is_open.any(axis=0))
    for batch in layout.batches:
        if not for_anyone[batch.index].any():
            continue
        skills = dict.fromkeys(batch.scope, 1.0) if weights is None else weights
        found = tuple(_target(layout, chooser, batch, skill, weight) for skill, weight in skills.items())
        joint = chooser.precise.joint(batch) if targets == "joint" else None
        groups.append(Group(batch, partial(chooser.answers, batch), found, joint))
    return Lookahead(layout.ids, is_open, tuple(groups))


def _target(layout: Layout, chooser: Chooser, batch: Batch, skill: int, weight: float) -> Target:
    now, after, rows = partial(chooser.now, skill), partial(chooser.after, batch, skill), partial(chooser.rows, batch, skill)
    return Target(layout.model.names[skill], now, after, rows, weight)


def wanted(layout: Layout, targets: Targets) -> dict[int, float] | None:
    """The targets' numbers and weights; None for each question's own skills."""
    if is_among(targets, ("scope",)):
        return None
    if is_among(targets, ("joint",)):
        if not layout.is_precise:
            raise TargetError(say("target 'joint' is for precise banks"), say("a credal one; use 'scope', 'all' or skills"))
        return {}
    if is_among(targets, ("all",)):
        return {layout.position[skill]: 1.0 for skill in layout.bank.skills}
    if isinstance(targets, str):
        hint = nearest(targets, ["scope", "all", "joint"]) or say("a list of skills is written ['a', 'b']")
        raise TargetError(say("a target is 'scope', 'all', 'joint', a list of skills or weights by skill"), Words(f"'{targets}'"), hint)
    if not isinstance(targets, Mapping | Sequence):
        raise TargetError(say("a target is 'scope', 'all', 'joint', a list of skills or weights by skill"), Words(repr(targets)))
    if not isinstance(targets, Mapping):
        for name in (name for name in targets if not is_among(name, layout.position)):
            raise TargetError(say("unknown skill"), Words(f"'{name}'"), nearest(name, layout.position))
    weights = dict(targets) if isinstance(targets, Mapping) else dict.fromkeys(targets, 1.0)
    if not weights:
        raise TargetError(say("a target names at least one skill"), say("none"))
    for name, weight in weights.items():
        if name not in layout.position:
            raise TargetError(say("unknown skill"), Words(f"'{name}'"), nearest(name, layout.position))
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < float("inf"):
            raise TargetError(placed(name, say("the weight of a target is a number above 0")), Words(repr(weight)))
    return {layout.position[name]: float(weight) for name, weight in weights.items()}
