"""Criteria combined: `any_of` and `all_of`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError, got
from quaestor.i18n import Said, say, together
from quaestor.model.beliefs import Bounds
from quaestor.selection.stopping.criterion import Criterion, ManyBounds, Situation, Truth, named_where, where_all


@dataclass(frozen=True)
class AnyOf(Criterion):
    """One criterion is enough."""

    parts: tuple[Criterion, ...]
    name = "any_of"

    @property
    def words(self) -> Said:
        """The criterion in words."""
        return reduce(lambda first, second: say("{first} or {second}", first=first, second=second), [part.words for part in self.parts])

    def holds(self, now: Situation) -> Truth:
        """Whether one of them holds; the later ones are looked at only where they matter."""
        found: Truth = np.asarray(False)
        for part in self.parts:
            if np.all(found):
                break
            found = found | part.holds(now)
        return found

    def reason(self, now: Situation) -> Said:
        """The first reason."""
        return next(part.reason(now) for part in self.parts if part.holds(now))

    def rule(self, now: Situation) -> NDArray[np.object_]:
        """The name of the first criterion that says stop, for each taker."""
        found = np.asarray("", dtype=object)
        for part in self.parts:
            if (found != "").all():
                break
            found = np.where(found == "", part.rule(now), found)
        return found

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether one of them decides."""
        return ~where_all(~np.asarray(part.decides(bounds)) for part in self.parts)

    def simple(self) -> Iterator[Criterion]:
        """The parts, taken apart."""
        return (simple for part in self.parts for simple in part.simple())

    def limits(self) -> Iterator[Criterion]:
        """The limits of the parts: each ends a test by itself."""
        return (limit for part in self.parts for limit in part.limits())

    def most_questions(self) -> int | None:
        """The smallest limit of the parts."""
        return min((most for part in self.parts if (most := part.most_questions()) is not None), default=None)

    @property
    def document(self) -> Any:
        """As it stands in a file."""
        self._refuse_disguise()
        return {self.name: [part.document for part in self.parts]}


@dataclass(frozen=True)
class AllOf(Criterion):
    """All criteria are needed."""

    parts: tuple[Criterion, ...]
    name = "all_of"

    @property
    def words(self) -> Said:
        """The criterion in words; a combination inside stands in brackets."""
        parts = [together(("(", part.words, ")"), "") if len(list(part.simple())) > 1 else part.words for part in self.parts]
        return reduce(lambda first, second: say("{first} and {second}", first=first, second=second), parts)

    def holds(self, now: Situation) -> Truth:
        """Whether all of them hold; the later ones are looked at only where they matter."""
        found: Truth = np.asarray(True)
        for part in self.parts:
            if not np.any(found):
                break
            found = found & part.holds(now)
        return found

    def reason(self, now: Situation) -> Said:
        """All reasons."""
        return together(part.reason(now) for part in self.parts)

    def rule(self, now: Situation) -> NDArray[np.object_]:
        """The names of all parts: which of them became true last is not to be seen from where a test stands."""
        holds = self.holds(now)
        if not np.any(holds):
            return named_where(holds, "")
        names = [np.broadcast_to(part.rule(now), np.shape(holds)) for part in self.parts]
        found = named_where(holds, "")
        for taker in np.argwhere(holds):
            each = [name for row in names for name in str(row[tuple(taker)]).split(" and ")]
            found[tuple(taker)] = " and ".join(dict.fromkeys(each))
        return found

    def decides(self, bounds: Bounds | ManyBounds) -> Truth:
        """Whether all of them decide."""
        return where_all(part.decides(bounds) for part in self.parts)

    def simple(self) -> Iterator[Criterion]:
        """The parts, taken apart."""
        return (simple for part in self.parts for simple in part.simple())

    @property
    def document(self) -> Any:
        """As it stands in a file."""
        self._refuse_disguise()
        return {self.name: [part.document for part in self.parts]}


def any_of(*parts: Criterion) -> AnyOf:
    """Stop when one of these says so."""
    return AnyOf(_criteria("any_of", parts))


def all_of(*parts: Criterion) -> AllOf:
    """Stop when all of these say so."""
    return AllOf(_criteria("all_of", parts))


def _criteria(name: str, parts: Iterable[Criterion]) -> tuple[Criterion, ...]:
    listed = tuple(parts)
    wrong = [part for part in listed if not isinstance(part, Criterion)]
    if wrong or not listed:
        found = str(wrong[0]) if wrong else say("none")
        raise QuaestorError.at(name, got(say("one or more criteria are expected"), found))
    return listed


COMBINED: dict[str, Callable[..., Criterion]] = {"any_of": any_of, "all_of": all_of}
