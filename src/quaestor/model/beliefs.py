"""Beliefs: bounds on the posterior probabilities of the skills' levels, and the method that computed them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from quaestor.errors import UnknownNameError, expect, format_value, is_among, nearest
from quaestor.html_tables import html_table, interval
from quaestor.model.table import Array, centre, numbers

MOST = 8  # skills that a short text names


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds on the probability of each state of one variable, arrays of shape (states,).

    `lower` and `upper` are always safe (outer): no network of the set lies outside. `inner_lower` and `inner_upper` are attained by
    networks of the set; where they meet the outer ones the bounds are exact.
    """

    states: tuple[str, ...]
    lower: Array
    upper: Array
    inner_lower: Array
    inner_upper: Array
    method: str

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "inner_lower", "inner_upper"):
            array = numbers(name, getattr(self, name))
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __reduce__(self) -> tuple[Any, ...]:  # pickled arrays are writable again; __init__ makes them read-only
        return Bounds, (self.states, self.lower, self.upper, self.inner_lower, self.inner_upper, self.method)

    @property
    def gap(self) -> float:
        """The largest distance between an outer and an inner bound; 0.0 when exact."""
        return float(max(np.max(self.inner_lower - self.lower), np.max(self.upper - self.inner_upper), 0.0))

    @property
    def exact(self) -> bool:
        """Whether the outer and inner bounds are the same."""
        return self.gap == 0.0

    @property
    def width(self) -> float:
        """The largest distance between a lower and an upper bound; 0.0 for precise beliefs."""
        return float(np.max(self.upper - self.lower))

    @property
    def centre(self) -> Array:
        """One distribution inside the bounds, `l + t (u - l)` with the t that makes it sum to one."""
        return centre(self.lower, self.upper)


@dataclass(frozen=True, eq=False)
class Beliefs(Mapping[str, Bounds]):
    """The bounds of every skill, by its id."""

    skills: Mapping[str, Bounds] = field(default_factory=dict)

    def __post_init__(self) -> None:
        expect("skills", self.skills, Mapping, "a map from skills to their Bounds is expected")
        object.__setattr__(self, "skills", MappingProxyType(dict(self.skills)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Beliefs, (dict(self.skills),)

    def __repr__(self) -> str:
        known = "exact" if self.exact else f"within {self.gap:.2g}"
        told = (f"{name} {interval(bounds.lower[-1], bounds.upper[-1])}" for name, bounds in list(self.skills.items())[:MOST])
        more = ", ..." if len(self.skills) > MOST else ""
        return f"<Beliefs, {known}: P(highest level) of {', '.join(told)}{more}>"

    def _repr_html_(self) -> str:
        rows = [
            (name, level, interval(low, high))
            for name, bounds in self.skills.items()
            for level, low, high in zip(bounds.states, bounds.lower, bounds.upper, strict=True)
        ]
        known = "exact" if self.exact else f"certified within {self.gap:.2g}"
        return html_table(f"Beliefs, {known} ({self.method})", ("skill", "level", "probability"), rows, len(rows))

    def __getitem__(self, skill: str) -> Bounds:
        if not is_among(skill, self.skills):
            raise UnknownNameError(f"unknown skill, got {format_value(skill)}", nearest(skill, self.skills))
        return self.skills[skill]

    def __iter__(self) -> Iterator[str]:
        return iter(self.skills)

    def __len__(self) -> int:
        return len(self.skills)

    @property
    def gap(self) -> float:
        """The largest gap of any skill; 0.0 when all are exact."""
        return max(bounds.gap for bounds in self.skills.values())

    @property
    def exact(self) -> bool:
        """Whether the bounds of all skills are exact."""
        return self.gap == 0.0

    @property
    def method(self) -> str:
        """The inference method; if it differs between skills, the methods joined by ` + `."""
        return " + ".join(dict.fromkeys(bounds.method for bounds in self.skills.values()))
