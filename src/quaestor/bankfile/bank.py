"""Question banks: skills, questions and the tables between them, frozen and checked.

A bank is made from its *document*: the plain data of a bank file (see docs/bank-format.md). Making it checks every rule and reports all
violations together. The document keeps what the author stated (`difficulty: easy`); the bank's tables hold what it means.
"""

import hashlib
import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import FrozenInstanceError
from itertools import product
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from quaestor.bankfile.document import read_questions, read_skills, warn_of_questions
from quaestor.bankfile.readers import Report, fields, without_arrays
from quaestor.bankfile.schema import BANK_FIELDS
from quaestor.bankfile.statements import STATEMENT_FIELDS
from quaestor.errors import (
    BankError,
    Locate,
    Problem,
    QuaestorError,
    UnknownNameError,
    expect,
    format_value,
    got,
    is_among,
    located,
    nearest,
    several,
)
from quaestor.html_tables import html_table
from quaestor.i18n import say
from quaestor.lazy import lazy
from quaestor.model.network import Network, Variable
from quaestor.model.question import Question
from quaestor.model.skill import Skill
from quaestor.model.table import Table, check_rng

FORMATS = (1, 2)  # in format 2, words know how many options a question has; a document that names none has format 1
NEWEST = FORMATS[-1]
_PART = 200  # questions that are pickled together
_SMALL = 1e-9  # probabilities below this keep all their digits

Thing = TypeVar("Thing")


class Bank:
    """A checked bank: `Bank(document)` raises BankError with every problem; `warnings` holds what may be a mistake.

    `source`: the text of the file that the document was read from, which is kept so that an unchanged bank is dumped with its comments.
    `locate`: a function from a problem's place in the document to its line or row in that file.
    """

    _document: dict[str, Any]
    _warned: tuple[list[Problem], Locate | None]
    skills: Mapping[str, Skill]
    questions: Mapping[str, Question]
    source: str

    def __init__(self, document: Mapping[str, Any], source: str = "", locate: Locate | None = None) -> None:
        report = Report()
        document = without_arrays(document)
        normal = {"quaestor": FORMATS[0], **(fields(BANK_FIELDS)(document, (), report) or {})}
        if normal["quaestor"] not in FORMATS:
            first, last = FORMATS
            report.error(("quaestor",), say("this version reads formats {first} and {last}", first=first, last=last), normal["quaestor"])
        knows_chance = normal["quaestor"] != FORMATS[0]
        imprecision = normal.get("imprecision", 0)
        if not 0 <= imprecision <= 0.5:
            report.error(("imprecision",), say("imprecision lies between 0 and 0.5"), imprecision)
            imprecision = 0
        if report.errors and _unread_sections(document, normal):
            raise BankError(located(report.errors, locate))
        skills = read_skills(normal.get("skills"), imprecision, report)
        questions = read_questions(normal.get("questions"), normal.get("templates", {}), skills, imprecision, knows_chance, report)
        if report.errors:
            raise BankError(located(report.errors, locate))
        warn_of_questions(questions, knows_chance, report)
        self.__dict__.update(
            _document=normal,
            skills=MappingProxyType(_ById({skill.id: skill for skill in skills.values() if skill is not None})),
            questions=MappingProxyType(_ById({question.id: question for question in questions})),
            _warned=(report.warnings, locate),
            source=source,
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"a bank does not change, got a new {name}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"a bank does not change, got no {name}")

    def __eq__(self, other: object) -> bool:
        return self.version == other.version if isinstance(other, Bank) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.version)

    def __repr__(self) -> str:
        return f"<Bank {self.title!r}: {len(self.skills)} skills, {len(self.questions)} questions, version {self.version}>"

    def _repr_html_(self) -> str:
        skills = [
            (skill.title or name, ", ".join(skill.levels), ", ".join(skill.parents), sum(name in q.skills for q in self.questions.values()))
            for name, skill in self.skills.items()
        ]
        numbers = "exact numbers" if self.is_precise else "intervals"
        title = f"{self.title or 'Bank'}: {len(self.questions)} questions, {numbers}, version {self.version}"
        return html_table(title, ("skill", "levels, lowest first", "builds on", "questions"), skills, len(skills))

    def __reduce__(self) -> tuple[Any, ...]:
        return put_together, (take_apart(self),)

    @lazy
    def warnings(self) -> tuple[Problem, ...]:
        """What may be a mistake, with its line or row; these are looked up only here, as that takes as long as reading the file."""
        return tuple(located(*self._warned))

    @property
    def document(self) -> dict[str, Any]:
        """A copy of the plain data that the bank was made from, in normal form."""
        return deepcopy(self._document)

    @property
    def title(self) -> str:
        """The bank's title, or an empty text."""
        return str(self._document.get("title", ""))

    @property
    def language(self) -> str:
        """The language of the bank's texts, such as `en`, or an empty text."""
        return str(self._document.get("language", ""))

    @lazy
    def is_precise(self) -> bool:
        """Whether every table of the bank holds exact numbers only."""
        return all(skill.table.is_precise for skill in self.skills.values()) and all(
            question.table.is_precise for question in self.questions.values()
        )

    @lazy
    def pilots(self) -> frozenset[str]:
        """The ids of the questions that are only tried out."""
        return frozenset(question.id for question in self.questions.values() if question.pilot)

    @lazy
    def version(self) -> str:
        """A hash of everything in the bank: texts, options, statements, tables."""
        return _digest(json.dumps(self._document, ensure_ascii=True, separators=(",", ":")).encode())

    @lazy
    def model_version(self) -> str:
        """A hash of what inference sees: ids, levels, classes and tables, in order. Correcting a text does not change it."""
        parts: list[bytes] = []
        for skill in self.skills.values():
            parts += [json.dumps([skill.id, skill.levels, skill.parents]).encode(), *_table_bytes(skill.table)]
        for question in self.questions.values():
            shape = [question.id, question.skills, question.classes, question.pilot]
            parts += [json.dumps(shape).encode(), *_table_bytes(question.table)]
        return _digest(b"\n".join(parts))

    @lazy
    def network(self) -> Network:
        """The bank as one credal network: the skills, then the questions as leaves below their skills."""
        skills = (Variable(skill.id, skill.levels, skill.parents, skill.table) for skill in self.skills.values())
        leaves = (Variable(q.id, q.classes, q.skills, q.table) for q in self.questions.values())
        return Network((*skills, *leaves))

    def widen(self, epsilon: float) -> "Bank":
        """The bank with every bound of every table moved outwards by epsilon; its statements become explicit tables."""
        return self._changed(lambda table: table.widen(epsilon))

    def centre(self) -> "Bank":
        """A precise bank inside this one, made of the centres of all rows; a precise bank is its own centre."""
        return self if self.is_precise else self._changed(Table.centre)

    def vertex(self, rng: np.random.Generator) -> "Bank":
        """A precise bank of the set: one vertex of every row, drawn at random."""
        check_rng(rng)
        return self if self.is_precise else self._changed(lambda table: table.vertex(rng))

    def subset(self, questions: Iterable[str]) -> "Bank":
        """The bank with only these questions, in the order of the bank; all skills stay."""
        wanted = several("questions", questions, "a list of ids is expected")
        for question_id in wanted:
            if not is_among(question_id, self.questions):
                raise QuaestorError(got(say("unknown question"), format_value(question_id), nearest(question_id, self.questions)))
        kept = {name: fields for name, fields in self._document["questions"].items() if name in wanted}
        return Bank({**self._document, "questions": kept})

    def with_tables(self, tables: Mapping[str, Table]) -> "Bank":
        """The bank with new tables of some skills and questions, by id; explicit rows replace their statements.

        All other statements stay, unless the bank has an `imprecision`: it would widen the new tables too, so then all tables become
        explicit and the imprecision is dropped.
        """
        expect("tables", tables, Mapping, "a map from ids to tables is expected")
        for name, table in tables.items():
            if name not in self.skills and name not in self.questions:
                hint = nearest(name, [*self.skills, *self.questions])
                raise QuaestorError(got(say("unknown skill or question"), format_value(name), hint))
            expect(f"tables.{name}", table, Table, "a Table is expected")
            shape = (self.skills[name] if name in self.skills else self.questions[name]).table.shape
            if table.shape != shape:
                rule = f"a table of shape {shape} is expected"
                raise QuaestorError.at(f"tables.{name}", got(rule, f"one of shape {table.shape}"))
        if self._document.get("imprecision"):
            tables = {**{variable.name: variable.table for variable in self.network.variables}, **tables}
        document = {**self._document, "skills": {**self._document["skills"]}, "questions": {**self._document["questions"]}}
        document.pop("imprecision", None)
        for skill in self.skills.values():
            if skill.id in tables:
                stated = {k: v for k, v in self._document["skills"][skill.id].items() if k not in _SKILL_STATEMENTS}
                levels = [self.skills[parent].levels for parent in skill.parents]
                rows = table_rows(tables[skill.id], levels)
                document["skills"][skill.id] = {**stated, **({"table": rows} if levels else {"prior": rows[""]})}
        for question in self.questions.values():
            if question.id in tables:
                own = {k: v for k, v in self._document["questions"][question.id].items() if k not in STATEMENT_FIELDS}
                levels = [self.skills[name].levels for name in question.skills]
                document["questions"][question.id] = {**own, "table": table_rows(tables[question.id], levels)}
        return Bank(document)

    def _changed(self, change: Callable[[Table], Table]) -> "Bank":
        return self.with_tables({variable.name: change(variable.table) for variable in self.network.variables})


def check_bank(bank: object, place: str = "bank", error: type[QuaestorError] = QuaestorError) -> None:
    """Refuse what is no bank."""
    expect(place, bank, Bank, "a bank is expected, as qs.load gives it", error)


def take_apart(bank: Bank, between: Callable[[], object] = lambda: None) -> tuple[Any, ...]:
    """A bank as it was made, to be pickled, its questions in parts; `between` two of them others may have their turn."""
    stated, made = list(bank._document.get("questions", {}).items()), list(bank.questions.values())
    parts = []
    for at in range(0, len(made), _PART):
        parts.append(pickle.dumps((stated[at : at + _PART], made[at : at + _PART])))
        between()
    known = {name: bank.__dict__[name] for name in ("version", "model_version") if name in bank.__dict__}
    return {**bank._document, "questions": {}}, tuple(bank.skills.values()), parts, bank._warned[0], bank.source, known


def put_together(apart: tuple[Any, ...], between: Callable[[], object] = lambda: None) -> Bank:
    """A bank as `take_apart` gave it, not to be checked again; `between` two parts others may have their turn."""
    document, skills, parts, warned, source, known = apart
    questions: dict[str, Question] = {}
    for part in parts:
        stated, made = pickle.loads(part)
        document["questions"].update(stated)
        questions.update((question.id, question) for question in made)
        between()
    found = object.__new__(Bank)
    named = MappingProxyType(_ById({skill.id: skill for skill in skills}))
    found.__dict__.update(_document=document, skills=named, questions=MappingProxyType(_ById(questions)), _warned=(warned, None))
    found.__dict__.update(source=source, **known)
    return found


def _unread_sections(document: object, normal: Mapping[str, Any]) -> bool:
    """Whether a section was written but nothing of it could be read, so that references to it cannot be checked."""
    if not isinstance(document, Mapping):
        return True
    written = [name for name in ("skills", "templates", "questions") if not _is_nothing(document.get(name))]
    return any(not normal.get(name) for name in written)


def _is_nothing(value: object) -> bool:
    return is_among(value, (None, "")) or (isinstance(value, Mapping) and not value)


class _ById(dict[str, Thing]):
    """What a bank has, by id; an unknown one is refused with a proposal."""

    def __missing__(self, name: object) -> Thing:
        kind = next((type(one).__name__.lower() for one in self.values()), "id")
        raise UnknownNameError(f"unknown {kind}, got {format_value(name)}", nearest(name, self))


_SKILL_STATEMENTS = {"prior", "shares", "strength", "table", "confidence"}


def table_rows(table: Table, levels: Iterable[Iterable[str]]) -> dict[str, Any]:
    """A table in the form of a bank file: a map from combinations of levels to rows."""
    states = table.shape[-1]
    lower, upper = table.lower.reshape(-1, states).tolist(), table.upper.reshape(-1, states).tolist()
    rows: dict[str, Any] = {}
    for number, combination in enumerate(product(*levels)):
        if number in table.vertices:
            rows[", ".join(combination)] = {"vertices": table.vertices[number].tolist()}
        else:
            pairs = zip(lower[number], upper[number], strict=True)
            ends = ((_plain(low), _plain(high)) for low, high in pairs)
            rows[", ".join(combination)] = [low if low == high else [low, high] for low, high in ends]
    return rows


def _plain(p: float) -> float:
    """0.65, not 0.6499999999999999; small numbers as they are: 1e-16 is no zero."""
    return round(p, 15) if p >= _SMALL else p


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def _table_bytes(table: Table) -> list[bytes]:
    """The table's numbers to 12 decimals, so that another machine's last bit does not make another version.

    Of numbers that this makes a zero, or nearly, the order of magnitude counts as well: 1e-13 is possible, 0 is not.
    """
    rows = sorted(table.vertices)
    arrays = [table.lower, table.upper, *(table.vertices[row] for row in rows), *([np.array(rows)] if rows else [])]
    small = [np.frexp(np.where(array < _SMALL, array, 0))[1] for array in arrays]
    rounded = [(np.round(array, 12) + 0.0).astype("<f8").tobytes() for array in arrays]
    return rounded + [orders.astype("<i4").tobytes() for orders in small if orders.any()]
