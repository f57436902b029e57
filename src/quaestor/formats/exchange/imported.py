"""What was understood of a file: each of its items is a question, perhaps with notes of what was lost, or refused with a reason.

A reader collects what it finds in a `Collection`, which gives every question an id of its own, the same each time the file is read, and
keeps pictures and sounds under names of their own. What comes out, an `Imported`, holds the fields of a bank file and becomes the document
of a bank (`to_document`), which is read and checked as any other is.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from quaestor.bankfile.bank import NEWEST, Bank
from quaestor.bankfile.statements import STATEMENTS
from quaestor.errors import BankError, Problem
from quaestor.formats.exchange.names import clean_name, unique
from quaestor.i18n import Said, say

Fields = dict[str, Any]
_UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff\u2028\u2029]")
_WORD = re.compile(r"[\w.]+")
UNKNOWN = {"difficulty": "medium", "confidence": "unsure"}  # of a question without numbers: honestly credal


@dataclass(frozen=True)
class Note:
    """What was lost of a question, or why an item was refused: `place` is where it stands (`line 12`), `question` its id, or its name."""

    place: str
    question: str
    words: str

    @property
    def sentence(self) -> Said:
        """All of it in one sentence."""
        if not self.question:
            return say("{words} [{where}]", words=self.words, where=self.place) if self.place else say("{words}", words=self.words)
        words = say("{place}: {words}", place=self.question, words=self.words)
        return say("{words} [{where}]", words=words, where=self.place) if self.place else words


@dataclass(frozen=True)
class Imported:
    """A file of questions as it was understood.

    `questions`: fields of a bank file by id, without skills. `notes` may be of the whole file (`question` is empty). `media`: contents of
    pictures and sounds by the names that questions use. `categories` (a path each), `tags` and `places` are by the ids of questions.
    `bank`: the fields of the bank itself where Quaestor wrote the file.
    """

    title: str = ""
    questions: dict[str, Fields] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    refused: tuple[Note, ...] = ()
    media: dict[str, bytes] = field(default_factory=dict)
    categories: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tags: dict[str, tuple[str, ...]] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    bank: Fields = field(default_factory=dict)

    def to_bank(self, skills_by: str = "category") -> Bank:
        """The bank of these questions (`to_document`); BankError where there is none."""
        if not self.questions:
            first = self.refused[0].sentence if self.refused else ""
            found = say("{count} refused", count=len(self.refused)) if self.refused else say("none")
            raise BankError([Problem("file", say("at least one question can be kept"), found, first)])
        return Bank(to_document(self, skills_by))

    @property
    def summary(self) -> Said:
        """How many questions were understood, how many of them with notes, and how many refused."""
        noted = len({note.question for note in self.notes if note.question})
        said = say("{count} {count:question|questions} understood", count=len(self.questions))
        if noted:
            said = say("{words}, {count} of them not in every respect", words=said, count=noted)
        return say("{words}; {count} refused", words=said, count=len(self.refused)) if self.refused else said

    @property
    def count(self) -> int:
        """The number of items in the file: those understood and those refused."""
        return len(self.questions) + len(self.refused)


class Collection:
    """What a reader has found so far."""

    def __init__(self, title: str = "") -> None:
        self.title, self.bank = " ".join(_UNPRINTED.sub(" ", title).split())[:200].strip(), Fields()
        self.notes: list[Note] = []
        self.refused: list[Note] = []
        self.media: dict[str, bytes] = {}
        self._questions: dict[str, Fields] = {}
        self._last: dict[str, int] = {}  # the last number of names that stand more than once
        self._categories: dict[str, tuple[str, ...]] = {}
        self._tags: dict[str, tuple[str, ...]] = {}
        self._places: dict[str, str] = {}

    def add(
        self,
        name: str,
        fields: Mapping[str, Any],
        place: str,
        notes: Iterable[str] = (),
        category: tuple[str, ...] = (),
        tags: Iterable[str] = (),
        is_ours: bool = False,
    ) -> str:
        """Keep a question and what was lost of it; its id is made of its name. Its tags are kept as its field `tags` too.

        `is_ours`: Quaestor wrote it; the name is its id and the fields are complete.
        """
        own = unique(name if is_ours else clean_name(name), self._questions, last=self._last)
        kept = tuple(dict.fromkeys(tag for tag in map(clean_name, tags) if tag))
        self._questions[own] = {**fields, **({"tags": list(kept)} if kept and not is_ours else {})}
        self._categories[own], self._tags[own], self._places[own] = category, kept, place
        self.notes += [Note(place, own, words) for words in dict.fromkeys(notes)]
        return own

    def refuse(self, name: str, place: str, words: str) -> None:
        """Tell why an item is no question here."""
        self.refused.append(Note(place, clean_name(name), words))

    def note(self, place: str, words: str) -> None:
        """Tell something of the whole file."""
        self.notes.append(Note(place, "", words))

    def keep(self, name: str, content: bytes) -> str:
        """Keep a picture or sound; returns the name that it has in the bank: the same content once, another content under another name."""
        stem, dot, ending = clean_name(name.replace("\\", "/").rpartition("/")[2]).rpartition(".")
        stem, ending = (stem, f".{ending}") if dot else (ending, "")
        known = next((kept for kept, there in self.media.items() if there == content and kept.endswith(ending)), None)
        if known is None:
            known = (
                unique("-".join(_WORD.findall(stem)) or "file", [kept.rpartition(".")[0] or kept for kept in self.media], "-{number}")
                + ending
            )
            self.media[known] = content
        return known

    def finished(self) -> Imported:
        """All of it."""
        notes, refused = tuple(self.notes), tuple(self.refused)
        return Imported(self.title, self._questions, notes, refused, self.media, self._categories, self._tags, self._places, self.bank)


def to_document(imported: Imported, skills_by: str = "category") -> Fields:
    """The document of a bank: what was understood, and a skill for each question by its `category`, its (first) `tag`, or one of this name.

    A question without numbers is `medium`, `unsure`. Where Quaestor wrote the file, its own skills and numbers stand.
    """
    bank = {name: value for name, value in imported.bank.items() if name != "questions"}
    skills: Fields = dict(bank.get("skills", {}))
    questions: dict[str, Fields] = {}
    names: dict[tuple[str, ...], str] = {(skill,): skill for skill in skills}
    for own, fields in imported.questions.items():
        stated = {} if "template" in fields or any(statement in fields for statement in STATEMENTS) else UNKNOWN
        scope: Fields = {}
        if not {"skill", "skills", "template"} & fields.keys():
            path = _path(imported, own, skills_by)
            if path not in names:
                names[path] = unique(clean_name(path[-1]), [*skills, *imported.questions])
                skills[names[path]] = {}
            scope = {"skill": names[path]}
        questions[own] = {**fields, **scope, **{name: value for name, value in stated.items() if name not in fields}}
    title = {"title": imported.title} if imported.title and not bank else {}
    return {"quaestor": NEWEST, **title, **bank, "skills": skills, "questions": questions}


def _path(imported: Imported, own: str, skills_by: str) -> tuple[str, ...]:
    if skills_by not in ("category", "tag"):
        return (clean_name(skills_by) or "skill",)
    path = imported.categories.get(own, ()) if skills_by == "category" else imported.tags.get(own, ())[:1]
    return path or (clean_name(imported.title) or "skill",)
