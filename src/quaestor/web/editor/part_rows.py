"""The parts of a question as fields of a form, and as a bank file says them: true or false, pairs, items in their order, gaps.

A form shows what is there, also what is faulty; lists are texts with one item a line.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from quaestor.bankfile.document import merged
from quaestor.bankfile.keys import truth_of
from quaestor.errors import Problem, format_value
from quaestor.i18n import say
from quaestor.model.entries import GAP

FIELDS = {"truefalse": ("correct",), "matching": ("pairs", "options"), "ordering": ("options",), "gaps": ("gaps",)}
ROWS = 3  # rows of pairs and gaps that a new question has
Pair = tuple[str, str]


@dataclass(frozen=True)
class Gap:
    """A gap: its name in the text, how it is filled in, the right answers and the options, one a line, and the tolerance."""

    name: str = ""
    kind: str = "choice"
    right: str = ""
    options: str = ""
    tolerance: str = ""


@dataclass(frozen=True)
class Parts:
    """What a form has of the parts of a question; `others`: options that belong to nothing, `items`: those to be ordered."""

    truth: str = ""
    pairs: Sequence[Pair] = ()
    others: str = ""
    items: str = ""
    gaps: Sequence[Gap] = field(default_factory=tuple)

    def of(self, kind: str) -> object:
        """What counts for a kind of question."""
        filled = [(left.strip(), right.strip()) for left, right in self.pairs if left.strip() or right.strip()]
        named = [_tidy(gap) for gap in self.gaps if any((gap.name.strip(), gap.right.strip(), gap.options.strip()))]
        return {"truefalse": self.truth, "matching": (filled, _lines(self.others)), "ordering": _lines(self.items), "gaps": named}[kind]

    def with_empty_rows(self) -> "Parts":
        """With rows to be filled in, after those that are."""
        pairs = [*self.pairs, *[("", "")] * max(2, ROWS - len(self.pairs))]
        return Parts(self.truth, pairs, self.others, self.items, [*self.gaps, *[Gap()] * max(1, ROWS - len(self.gaps))])


def _tidy(gap: Gap) -> Gap:
    right, options = ("\n".join(_lines(text)) for text in (gap.right, gap.options))
    return Gap(gap.name.strip(), gap.kind, right, options, gap.tolerance.strip())


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _listed(value: Any) -> list[str]:
    return [str(one).strip() for one in value] if isinstance(value, list) else [] if value in (None, "") else [str(value).strip()]


def parts_of(fields: Mapping[str, Any]) -> Parts:
    """The parts that an entry has, its template's fields included."""
    stated = fields.get("pairs")
    pairs = [(str(left), str(right)) for left, right in stated.items()] if isinstance(stated, Mapping) else []
    options = _listed(fields.get("options"))
    kind = str(fields.get("kind", ""))
    others = [one for one in options if one not in [right for _, right in pairs]] if kind == "matching" else []
    return Parts(
        truth=truth_of(fields.get("correct", "")) if kind == "truefalse" else "",
        pairs=pairs,
        others="\n".join(others),
        items="\n".join(options) if kind == "ordering" else "",
        gaps=_gaps_of(fields) if kind == "gaps" else [],
    )


def _gaps_of(fields: Mapping[str, Any]) -> list[Gap]:
    """The gaps in the order of the text, also those that are in the text only; then those that are not in it."""
    stated = fields.get("gaps")
    found: Mapping[Any, Any] = stated if isinstance(stated, Mapping) else {}
    named = {str(name).strip(): said if isinstance(said, Mapping) else {} for name, said in found.items()}
    order = dict.fromkeys([name.strip() for name in GAP.findall(str(fields.get("text", "")))])
    made = []
    for name in (*order, *(name for name in named if name not in order)):
        said = named.get(name, {})
        right, options = "\n".join((*_listed(said.get("correct")), *_listed(said.get("accept")))), "\n".join(_listed(said.get("options")))
        made.append(Gap(name, str(said.get("kind", "choice")), right, options, str(said.get("tolerance", ""))))
    return made


def read_parts(
    parts: Parts, kind: str, entry: Mapping[str, Any], template: Mapping[str, Any], before: Mapping[str, Any], problems: list[Problem]
) -> dict[str, Any]:
    """The fields that say the parts: as they were where nothing was changed, without those that the template says."""
    whole = merged(before, template)
    same = str(whole.get("kind", "choice")) == kind and entry.get("template") == before.get("template")
    if same and parts.of(kind) == parts_of(whole).of(kind):
        return {name: before[name] for name in FIELDS[kind] if name in before}
    said = {"truefalse": _truth, "matching": _pairs, "ordering": _items, "gaps": _gaps}[kind](parts, problems)
    return {name: value for name, value in said.items() if name in before or value != template.get(name)}


def _truth(parts: Parts, problems: list[Problem]) -> dict[str, Any]:
    return {"correct": parts.truth} if parts.truth else {}


def _items(parts: Parts, problems: list[Problem]) -> dict[str, Any]:
    items = _lines(parts.items)
    return {"options": items} if items else {}


def _pairs(parts: Parts, problems: list[Problem]) -> dict[str, Any]:
    filled = [(left.strip(), right.strip()) for left, right in parts.pairs if left.strip() or right.strip()]
    pairs = [(left, right) for left, right in filled if left]
    _each_once("pairs", [left for left, _ in pairs], problems)
    others = [*(right for left, right in filled if not left), *_lines(parts.others)]
    offered = list(dict.fromkeys([*(right for _, right in pairs if right), *others]))
    return ({"pairs": dict(pairs)} if pairs else {}) | ({"options": offered} if others else {})


def _gaps(parts: Parts, problems: list[Problem]) -> dict[str, Any]:
    named = [gap for one in parts.gaps if (gap := _tidy(one)).name]
    _each_once("gaps", [gap.name for gap in named], problems)
    return {"gaps": {gap.name: _gap(gap) for gap in named}} if named else {}


def _gap(gap: Gap) -> dict[str, Any]:
    first, *more = _lines(gap.right) or [""]
    if gap.kind == "choice":
        said: dict[str, Any] = {"options": _lines(gap.options), "correct": first}
    else:
        said = {"kind": gap.kind, "correct": first, "accept": more, "tolerance": gap.tolerance}
    return {name: value for name, value in said.items() if value}


def _each_once(place: str, names: Sequence[str], problems: list[Problem]) -> None:
    again = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if again is not None:
        problems.append(Problem(place, say("each is listed once"), format_value(again)))
