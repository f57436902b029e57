"""Which group each person of a fit belongs to, from labels such as a column of the table of answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.errors import QuaestorError, format_value
from quaestor.learn.people import People

FEWEST = 30  # people of a group
MOST = 20  # groups


@dataclass(frozen=True)
class Membership:
    """The `labels` of groups, sorted, and the number of the group of each person, (people,), -1 for those left out.

    `notes`: who was left out, in words.
    """

    labels: tuple[str, ...]
    group: NDArray[np.intp]
    notes: tuple[str, ...]


def membership(people: People, groups: Iterable[Any]) -> Membership:
    """The groups of the people of a fit.

    A pandas Series whose index has the name of every person, once, is matched by it; anything else has a label for each row of the answers,
    those of people without answers included.
    """
    return grouped(_matched(people, groups))


def grouped(given: Sequence[Any]) -> Membership:
    """The groups of people by the label of each: strings, numbers or truth values; empty, None or NaN for none.

    Groups of fewer than `FEWEST` people are left out.
    """
    labels = np.array([_label(one) for one in given], dtype=object)
    named, counts = np.unique(labels[labels != ""].astype(str), return_counts=True)
    notes = []
    if (labels == "").any():
        count = int((labels == "").sum())
        notes.append("1 person without a group was left out." if count == 1 else f"{count} people without a group were left out.")
    if len(named) < 2:
        shown = f"{format_value(str(named[0]))} only" if len(named) else "none"
        raise QuaestorError(f"groups: people belong to at least two groups, got {shown}")
    if len(named) > MOST:
        listed = ", ".join(format_value(str(one)) for one in named[:3])
        raise QuaestorError(f"groups: at most {MOST} groups, got {len(named)} ({listed} and more); numbers are put into ranges first")
    small = counts < FEWEST
    if small.any():
        listed = ", ".join(f"{name} ({count})" for name, count in zip(named[small], counts[small], strict=True))
        notes.append(f"Groups of fewer than {FEWEST} people were left out: {listed}.")
    if (~small).sum() < 2:
        listed = ", ".join(f"{name} {count}" for name, count in zip(named, counts, strict=True))
        raise QuaestorError(f"groups: at least two groups have {FEWEST} people with answers, got {listed}")
    kept = named[~small]
    number = {str(name): place for place, name in enumerate(kept)}
    group = np.array([number.get(label, -1) for label in labels], dtype=np.intp)
    return Membership(tuple(number), group, tuple(notes))


def _matched(people: People, groups: Iterable[Any]) -> Sequence[Any]:
    """The label of each person of a fit."""
    if isinstance(groups, str | bytes) or not isinstance(groups, Iterable) or hasattr(groups, "columns"):
        raise QuaestorError(f"groups: a column with a label for each person, got {type(groups).__name__}")
    index: Any = getattr(groups, "index", None)
    if hasattr(index, "is_unique") and index.is_unique and index.isin(people.names).sum() == len(set(people.names)) == len(people):
        return list(groups.reindex(people.names))  # type: ignore[attr-defined]
    listed = list(groups)
    if len(listed) != people.table_rows:
        raise QuaestorError(f"groups: a label for each of the {people.table_rows} rows of the answers, got {len(listed)}")
    return [listed[row] for row in people.rows.tolist()]


def _label(value: Any) -> str:
    """A label as text; '' for none."""
    if value is None or value != value or str(value) in ("<NA>", "NaT"):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        value = int(value)  # a column of whole numbers with empty cells holds 1.0
    if not isinstance(value, str | bool | np.bool_ | int | np.integer | float | np.floating):
        raise QuaestorError(f"groups: a label is a string or a number, got {format_value(value)}")
    return str(value).strip()
