"""From the statement of a skill or question to the rows of its table."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod
from typing import Any

import numpy as np

from quaestor.bankfile import elicit, response_models
from quaestor.bankfile.elicit import Interval
from quaestor.bankfile.readers import Report
from quaestor.errors import Place, StatementError, Words
from quaestor.i18n import say
from quaestor.model.table import Array, Table, interval_faults, reachable, vertex_faults, widened

Row = list[Interval] | list[list[float]]  # an interval for each state, or vertices
FieldPlace = Callable[[str], Place]


@dataclass(frozen=True)
class Draft:
    """A table as stated, not yet checked: its rows, the parent skills, the number of states, the half-width `epsilon`, and its place."""

    rows: Sequence[Row]
    scope: Sequence[Any]
    states: int
    epsilon: float
    place: Place

    @property
    def shape(self) -> tuple[int, ...]:
        """(*numbers of levels of the parent skills, states)."""
        return (*(len(skill.levels) for skill in self.scope), self.states)

    def row_place(self, number: int) -> Place:
        """The place of a row: its combination of levels below the place of the table."""
        if not self.scope:
            return self.place
        combination = list(product(*(skill.levels for skill in self.scope)))[number]
        return (*self.place, ", ".join(combination))


MOST_ROWS = 65_536
STATEMENTS: dict[str, tuple[str, ...]] = {
    "right": (),
    "table": (),
    "difficulty": ("discrimination", "guess"),
    "needs": ("at_least", "slip", "guess"),
    "irt": (),
    "gdina": ("at_least",),
    "rrum": ("at_least",),
}
STATEMENT_FIELDS = frozenset({*STATEMENTS, *(extra for extras in STATEMENTS.values() for extra in extras), "confidence"})


def draft_question(
    fields: Mapping[str, Any],
    scope: Sequence[Any],
    classes: Sequence[str],
    guess: float,
    imprecision: float,
    at: FieldPlace,
    report: Report,
) -> Draft | None:
    """The table that a question's fields state; `scope` holds its skills, `at` gives the place of a field.

    `guess`: P(right) of those who guess (with several classes their mean share of the points), below which a difficulty in words does not
    go, unless the fields state a `guess`.
    """
    made = [statement for statement in STATEMENTS if statement in fields]
    if len(made) != 1:
        rule = say("a question states its probabilities in one way: {ways}", ways=", ".join(STATEMENTS))
        report.error(at(""), rule, _all(made))
        return None
    statement = made[0]
    for extra in dict.fromkeys(extra for extras in STATEMENTS.values() for extra in extras):
        if extra in fields and extra not in STATEMENTS[statement]:
            owners = ", ".join(owner for owner, extras in STATEMENTS.items() if extra in extras)
            report.error(at(extra), say("this field belongs to '{field}'", field=owners), statement)
            return None
    sizes = [len(skill.levels) for skill in scope]
    if _too_large(sizes, at(statement), report):
        return None
    try:
        if statement == "table":
            rows = _table_rows(fields["table"], [skill.levels for skill in scope], len(classes), at("table"), report)
        elif statement == "irt":
            rows = _irt_rows(fields["irt"], scope, len(classes), at("irt"), report)
        else:
            rights = _rights(statement, fields, scope, sizes, guess, at, report)
            if rights is not None and statement == "difficulty" and len(classes) > 2:
                wide = _epsilon(fields, imprecision, at, report)
                rows = [elicit.graded(max(0.0, low - wide), min(1.0, high + wide), len(classes)) for low, high in rights]
            elif rights is not None and list(classes) != ["wrong", "right"]:
                report.error(
                    at("classes"),
                    say("'{field}' is for the classes wrong, right; use 'table' for others", field=statement),
                    list(classes),
                )
                return None
            else:
                rows = None if rights is None else [[(1 - high, 1 - low), (low, high)] for low, high in rights]
    except StatementError as error:
        report.fault(at(statement), error)
        return None
    epsilon = _epsilon(fields, imprecision, at, report)
    return None if rows is None else Draft(rows, scope, len(classes), epsilon, at(statement))


def draft_skill(
    fields: Mapping[str, Any],
    levels: Sequence[str],
    parents: Sequence[Any],
    imprecision: float,
    place: Place,
    report: Report,
) -> Draft | None:
    """The table that a skill's fields state: a prior for a root, rows or one strength for a skill with parents."""

    def at(field: str) -> Place:
        return (*place, field)

    allowed = ("table", "strength") if parents else ("prior", "shares")
    made = [statement for statement in ("prior", "shares", "table", "strength") if statement in fields]
    if len(made) > 1 or not set(made) <= set(allowed) or (parents and not made):
        rule = say("a skill with parents has table or strength") if parents else say("a skill without parents has prior or shares")
        report.error(place, rule, _all(made))
        return None
    statement = made[0] if made else "prior"
    size = len(levels)
    if _too_large([len(parent.levels) for parent in parents], at(statement), report):
        return None
    rows: Sequence[Row] | None
    try:
        if statement == "table":
            rows = _table_rows(fields["table"], [parent.levels for parent in parents], size, at("table"), report)
        elif statement == "strength":
            shape = [len(parent.levels) for parent in parents]
            rows = [[(p, p) for p in row] for row in elicit.by_strength(shape, size, fields["strength"])]
        elif statement == "shares":
            rows = [[(p, p) for p in elicit.by_shares(fields["shares"])]]
        elif isinstance(fields.get("prior", "even"), str):
            rows = [[(p, p) for p in elicit.by_prior_word(fields.get("prior", "even"), size)]]
        else:
            rows = [_row(fields["prior"])]
    except StatementError as error:
        report.fault(at(statement), error)
        return None
    if rows is not None and len(rows) == 1 and not _row_fits(rows[0], size, at(statement), report):
        return None
    epsilon = _epsilon(fields, imprecision, at, report)
    return None if rows is None else Draft(rows, parents, size, epsilon, at(statement))


def _all(made: Sequence[str]) -> str:
    if not made:
        return say("none of them")
    named: list[str] = [Words(name) for name in made]
    return reduce(lambda first, second: say("{first} and {second}", first=first, second=second), named)


def _too_large(sizes: Sequence[int], place: Place, report: Report) -> bool:
    """Refuse a table with too many rows before they are listed."""
    count = prod(sizes)
    if count > MOST_ROWS:
        report.error(place, say("a table has at most {most:,} rows", most=MOST_ROWS), say("{count:,} combinations of levels", count=count))
    return count > MOST_ROWS


def _epsilon(fields: Mapping[str, Any], imprecision: float, at: FieldPlace, report: Report) -> float:
    """The half-width by which single numbers are widened: the confidence of this table, else the bank's imprecision."""
    if "confidence" not in fields:
        return imprecision
    try:
        return elicit.by_confidence(fields["confidence"])
    except StatementError as error:
        report.fault(at("confidence"), error)
        return 0.0


def _rights(
    statement: str, fields: Mapping[str, Any], scope: Sequence[Any], sizes: Sequence[int], guess: float, at: FieldPlace, report: Report
) -> list[Interval] | None:
    """P(right) for each combination of levels, from `right`, `difficulty`, `needs`, `gdina` or `rrum`."""
    if statement in ("gdina", "rrum"):
        has = _enough(fields.get("at_least", {}), scope, at("at_least"), report)
        if has is None:
            return None
        return (_by_gdina if statement == "gdina" else _by_reduced_rum)(fields[statement], scope, has, at(statement), report)
    if statement == "needs":
        for extra in ("slip", "guess"):
            if extra not in fields:
                report.error(at(""), say("'needs' goes with slip and guess"), say("no {field}", field=extra))
                return None
        has = _enough(fields.get("at_least", {}), scope, at("at_least"), report)
        if has is None:
            return None
        return elicit.by_needs(has, fields["needs"], elicit.chance(fields["slip"]), elicit.chance(fields["guess"]))
    if len(scope) != 1:
        rule = say("'{field}' is for one skill; use 'table' or 'needs' for several", field=statement)
        report.error(at(statement), rule, say("{count} {count:skill|skills}", count=len(scope)))
        return None
    if statement == "right":
        if len(fields["right"]) != sizes[0]:
            rule = say("one probability for each of the {count} levels ({levels})", count=sizes[0], levels=", ".join(scope[0].levels))
            report.error(at("right"), rule, len(fields["right"]))
            return None
        return [elicit.chance(value) for value in fields["right"]]
    rights = elicit.by_difficulty(fields["difficulty"], fields.get("discrimination", "fair"), sizes[0])
    floor = (guess, guess) if elicit.is_word(fields["difficulty"]) else (0.0, 0.0)
    low, high = elicit.chance(fields["guess"]) if "guess" in fields else floor
    return [(max(p, low), max(p, high)) for p in rights]


def _enough(at_least: Mapping[str, str], scope: Sequence[Any], place: Place, report: Report) -> list[list[bool]] | None:
    """Whether a level is enough, for each skill and level: from the level named in `at_least` on, by default the highest."""
    for skill_id in at_least:
        if skill_id not in [skill.id for skill in scope]:
            report.error(place, say("at_least names skills of this question"), skill_id)
            return None
    has = []
    for skill in scope:
        wanted = at_least.get(skill.id, skill.levels[-1])
        if wanted not in skill.levels:
            rule = say("unknown level of {skill} ({levels})", skill=skill.id, levels=", ".join(skill.levels))
            report.error((*place, skill.id), rule, wanted)
            return None
        has.append([position >= skill.levels.index(wanted) for position in range(len(skill.levels))])
    return has


def _by_gdina(
    stated: Mapping[str, Any], scope: Sequence[Any], has: list[list[bool]], place: Place, report: Report
) -> list[Interval] | None:
    if "intercept" not in stated:
        report.error(place, say("'{field}' has {names}", field="gdina", names="intercept, effects"), say("no {field}", field="intercept"))
        return None
    number, effects = {skill.id: position for position, skill in enumerate(scope)}, {}
    for key, effect in stated.get("effects", {}).items():
        named = [part.strip() for part in key.split(",")]
        skills = tuple(sorted(number[name] for name in named if name in number))
        if len(skills) < len(named) or len(set(skills)) < len(skills) or skills in effects:
            rule = say("an effect names skills of this question, each set of them once")
            report.error((*place, "effects"), rule, key, say("the skills are {names}", names=", ".join(number)))
            return None
        effects[skills] = effect
    return [(p, p) for p in response_models.by_gdina(has, stated.get("link", "identity"), stated["intercept"], effects)]


def _by_reduced_rum(
    stated: Mapping[str, Any], scope: Sequence[Any], has: list[list[bool]], place: Place, report: Report
) -> list[Interval] | None:
    penalties = stated.get("r", {})
    for name in ("pi", "r"):
        if name not in stated:
            report.error(place, say("'{field}' has {names}", field="rrum", names="pi, r"), say("no {field}", field=name))
            return None
    if set(penalties) != {skill.id for skill in scope}:
        rule = say("a penalty r for each skill of the question: {names}", names=", ".join(skill.id for skill in scope))
        report.error((*place, "r"), rule, ", ".join(penalties))
        return None
    return response_models.by_reduced_rum(has, elicit.chance(stated["pi"]), [elicit.chance(penalties[skill.id]) for skill in scope])


def _irt_rows(irt: Mapping[str, Any], scope: Sequence[Any], classes: int, place: Place, report: Report) -> list[Row] | None:
    if len(scope) != 1:
        report.error(place, say("'irt' is for one skill"), say("{count} {count:skill|skills}", count=len(scope)))
        return None
    model, theta = irt.get("model", "graded"), scope[0].abilities
    if model == "nominal":
        wrong = [name for name in ("a", "c") if not isinstance(irt.get(name), list) or len(irt[name]) != classes]
        if wrong or "b" in irt:
            rule = say("the nominal model has a slope a and an intercept c for each of the {count} answer classes, and no b", count=classes)
            report.error(place if not wrong else (*place, wrong[0]), rule, irt.get(wrong[0], say("none")) if wrong else irt["b"])
            return None
        return [[(p, p) for p in row] for row in response_models.by_nominal(theta, irt["a"], irt["c"])]
    if "b" not in irt:
        report.error(place, say("'irt' has a difficulty b, or a list of thresholds"), say("none"))
        return None
    for name in ("a", "c"):
        if isinstance(irt.get(name), list):
            report.error((*place, name), say("one number; a list of them is for the nominal model"), irt[name])
            return None
    if model == "partial credit":
        if "c" in irt:
            report.error((*place, "c"), say("the partial credit model has no guessing parameter c"), irt["c"])
            return None
        rows = response_models.by_partial_credit(theta, irt.get("a", 1.0), irt["b"] if isinstance(irt["b"], list) else [irt["b"]])
    else:
        rows = elicit.by_irt(theta, irt.get("a", 1.0), irt["b"], irt.get("c", 0.0))
    if len(rows[0]) != classes:
        rule = say("{classes} answer classes have {thresholds} {thresholds:threshold|thresholds}", classes=classes, thresholds=classes - 1)
        report.error((*place, "b"), rule, len(rows[0]) - 1)
        return None
    return [[(p, p) for p in row] for row in rows]


def _table_rows(table: Mapping[str, Any], levels: Sequence[Sequence[str]], states: int, place: Place, report: Report) -> list[Row] | None:
    """The rows in the order of the combinations of levels; every combination is required, others are refused."""
    given: dict[str, tuple[str, Any]] = {}
    for key, value in table.items():
        combination = ", ".join(part.strip() for part in key.split(","))
        if given.setdefault(combination, (key, value))[0] != key:
            report.error(place, say("each is listed once"), combination)
            return None
    wanted = [", ".join(above) for above in product(*levels)]
    missing = [key for key in wanted if key not in given]
    extra = [key for key in given if key not in set(wanted)]
    if missing:
        rule = say("one row for each of the {count} combinations of levels", count=len(wanted))
        report.error(place, rule, say("no row '{row}'", row=missing[0]))
    if extra:
        rule = say("a row's key is the levels in order, joined by a comma")
        report.error(place, rule, extra[0], say("e.g. '{row}'", row=wanted[0]))
    if missing or extra:
        return None
    rows = [_row(given[key][1]) for key in wanted]
    fits = [_row_fits(row, states, (*place, given[key][0]), report) for key, row in zip(wanted, rows, strict=True)]
    return rows if all(fits) else None


def _row(value: Any) -> Row:
    if isinstance(value, Mapping):
        points: list[list[float]] = [
            [elicit.word_value(p, elicit.CHANCE, elicit.A_PROBABILITY) for p in point] for point in value.get("vertices", [])
        ]
        return points
    return [elicit.chance(p) for p in value]


def _is_interval(row: Row) -> bool:
    return bool(row) and isinstance(row[0], tuple)


def _row_fits(row: Row, states: int, place: Place, report: Report) -> bool:
    lengths = [len(row)] if _is_interval(row) else [len(point) for point in row]
    if lengths and all(length == states for length in lengths):
        return True
    found = next((length for length in lengths if length != states), 0)
    report.error(place, say("a row has {count} probabilities", count=states), found)
    return False


def build_tables(drafts: Sequence[Draft | None], report: Report) -> list[Table | None]:
    """Check the drafts' rows as stated, widen single numbers, and make the tables; faults are reported at their rows.

    Rows of equal length are checked and tightened in one array, so that ten thousand questions cost a few calls.
    """
    tables: list[Table | None] = [None] * len(drafts)
    together: dict[int, list[int]] = {}
    for number, draft in enumerate(drafts):
        if draft is not None and all(_is_interval(row) for row in draft.rows):
            together.setdefault(draft.states, []).append(number)
        elif draft is not None:
            tables[number] = _build_with_vertices(draft, report)
    for states, numbers in together.items():
        group = [draft for number in numbers if (draft := drafts[number]) is not None]
        counts = [len(draft.rows) for draft in group]
        starts = np.cumsum([0, *counts]).tolist()
        ends = np.array([row for draft in group for row in draft.rows]).reshape(-1, states, 2)
        lower, upper = ends[..., 0], ends[..., 1]
        faulty = set()
        for fault in interval_faults(lower, upper):
            position = bisect_right(starts, fault.row) - 1
            report.fault(group[position].row_place(fault.row - starts[position]), fault)
            faulty.add(position)
        if faulty:
            continue
        epsilon = np.repeat([draft.epsilon for draft in group], counts)[:, None]
        lower, upper = reachable(*_widened(lower, upper, epsilon))
        lower.setflags(write=False)
        upper.setflags(write=False)
        exact = np.array_equal(lower, upper)
        for number, draft, start, count in zip(numbers, group, starts, counts, strict=False):
            low = lower[start : start + count].reshape(draft.shape)
            tables[number] = Table.of_checked(low, low if exact else upper[start : start + count].reshape(draft.shape))
    return tables


def _widened(lower: Array, upper: Array, epsilon: Array | float) -> tuple[Array, Array]:
    """Widen single numbers by epsilon; intervals stay as they are."""
    return widened(lower, upper, np.where(lower == upper, epsilon, 0))


def _build_with_vertices(draft: Draft, report: Report) -> Table | None:
    vertices = {number: np.array(row) for number, row in enumerate(draft.rows) if not _is_interval(row)}
    ends = np.array([row if _is_interval(row) else [(0.0, 1.0)] * draft.states for row in draft.rows])
    lower, upper = ends[..., 0], ends[..., 1]
    faults = [(fault.row, fault) for fault in interval_faults(lower, upper)]
    faults += [(number, fault) for number, points in vertices.items() for fault in vertex_faults(points)]
    for number, fault in faults:
        report.fault(draft.row_place(number), fault)
    if faults:
        return None
    lower, upper = _widened(lower, upper, draft.epsilon)
    return Table(lower.reshape(draft.shape), upper.reshape(draft.shape), vertices)
