"""Sharing: a test, a bank version, a draft or a class of one teacher that others may look at or edit.

Who may `LOOK` sees pages, results and files, and changes nothing. Who may `EDIT` does what its teacher does, but never deletes it, shares
it or hands it over: that needs `OWN`. A test that is shared opens the banks that it has (or had before a correction) to look at, as its
results quote them. The codes of a class open all its tests, so only who may edit the class, or every one of its tests, sees them
(`holds_codes`). What is not shared is not there: the same MissingError whether a thing is another teacher's or does not exist.

A unit of work that writes holds what it is allowed by until its end, so a share that is withdrawn ends at once: what was begun before is
done before, and what comes after is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import joinedload, undefer

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say
from quaestor.store.clock import now
from quaestor.store.inserts import insert
from quaestor.store.models import BankVersion, Correction, Draft, Published, SchoolClass, Share, Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.teachers import AccessError, hold

LOOK, EDIT, OWN = "look", "edit", "own"
EXTENTS = (LOOK, EDIT)  # how far a thing can be shared
_ORDER = ("", LOOK, EDIT, OWN)
_COLUMNS: dict[type[Any], Any] = {
    Draft: Share.draft_id,
    BankVersion: Share.bank_id,
    Published: Share.test_id,
    SchoolClass: Share.class_id,
}
NO_BANK, NO_TEST, NO_CLASS = say("there is no such bank"), say("there is no such test"), say("there is no such class")
Thing = Draft | BankVersion | Published | SchoolClass
T = TypeVar("T", Draft, BankVersion, Published, SchoolClass)


def published_for(work: Work, teacher: Teacher, number: int, needed: str = LOOK) -> Published:
    """A test that a teacher may look at, edit, or has."""
    return _allowed(work, teacher, work.get(Published, number), needed, NO_TEST)


def bank_for(work: Work, teacher: Teacher, number: int, needed: str = LOOK) -> BankVersion:
    """A bank version that a teacher may look at, edit (that is: try and publish), or has."""
    return _allowed(work, teacher, work.get(BankVersion, number, options=[undefer(BankVersion.content)]), needed, NO_BANK)


def draft_for(work: Work, teacher: Teacher, number: int, needed: str = LOOK) -> Draft:
    """A draft that a teacher may look at, edit, or has."""
    return _allowed(work, teacher, work.get(Draft, number), needed, NO_BANK)


def class_for(work: Work, teacher: Teacher, number: int, needed: str = LOOK) -> SchoolClass:
    """A class that a teacher may look at, edit (that is: keep its list, and give it tests of their own), or has."""
    return _allowed(work, teacher, work.get(SchoolClass, number), needed, NO_CLASS)


def holds_codes(work: Work, teacher: Teacher, test: Published) -> bool:
    """Whether a teacher may see the codes of the class that takes a test."""
    found = work.get(SchoolClass, test.class_id) if test.class_id is not None else None
    if found is None or extent_of(work, teacher, found) in (EDIT, OWN):
        return True
    tests = work.scalars(select(Published).where(Published.class_id == found.id)).all()
    return all(extent_of(work, teacher, one) in (EDIT, OWN) for one in tests)


def _allowed(work: Work, teacher: Teacher, thing: T | None, needed: str, missing: str) -> T:
    extent = extent_of(work, teacher, thing) if thing is not None else ""
    if thing is None or not extent:
        raise MissingError(missing)
    if _ORDER.index(extent) >= _ORDER.index(needed):
        return thing
    if needed == OWN:
        raise AccessError(say("only the teacher whose it is may do that; it is shared with you"))
    raise AccessError(say("this is shared with you to look at, not to change; please ask the teacher whose it is"))


def extent_of(work: Work, teacher: Teacher, thing: Thing) -> str:
    """What a teacher may do with a thing: `OWN`, `EDIT`, `LOOK`, or nothing (empty)."""
    if thing.teacher_id == teacher.id:
        return OWN
    asked = select(Share).where(_COLUMNS[type(thing)] == thing.id, Share.teacher_id == teacher.id)
    held = not work.info.get("reads") and work.get_bind().dialect.name != "sqlite"
    found = work.scalar(asked.with_for_update(read=True) if held else asked)
    if found is not None:
        return found.extent
    return LOOK if isinstance(thing, BankVersion) and work.scalar(_with_bank(thing, teacher)) is not None else ""


def _with_bank(kept: BankVersion, teacher: Teacher) -> Any:
    """A share of a test that has a bank version, or had it before a correction."""
    before = select(Correction.test_id).where(Correction.bank_id == kept.id)
    has_it = or_(Published.bank_id == kept.id, Published.id.in_(before))
    return select(Share.id).join(Published, Published.id == Share.test_id).where(Share.teacher_id == teacher.id, has_it).limit(1)


def share(work: Work, thing: Thing, teacher: Teacher, extent: str) -> None:
    """Share a thing with another teacher, or share it further or less far than before."""
    if extent not in EXTENTS:
        raise QuaestorError.at("extent", got(say("one of {words}", words=", ".join(EXTENTS)), f"'{extent}'"))
    if teacher.id == thing.teacher_id:
        raise QuaestorError(say("this is the teacher whose it is already"))
    if hold(work, teacher.id) is None:
        return
    column = _COLUMNS[type(thing)]
    row = insert(work, Share).values({column.key: thing.id, "teacher_id": teacher.id, "extent": extent, "created": now()})
    work.execute(row.on_conflict_do_update(index_elements=[column.key, "teacher_id"], set_={"extent": extent}))


def withdraw(work: Work, thing: Thing, teacher_id: int) -> None:
    """End a share; waits for what is being done by it at this moment."""
    work.execute(delete(Share).where(_COLUMNS[type(thing)] == thing.id, Share.teacher_id == teacher_id))


def shares_of(work: Work, thing: Thing) -> Sequence[Share]:
    """With whom a thing is shared, in the order in which it was."""
    asked = select(Share).where(_COLUMNS[type(thing)] == thing.id).options(joinedload(Share.teacher))
    return work.scalars(asked.order_by(Share.id)).all()


def within_reach(teacher: Teacher, kind: type[T]) -> ColumnElement[bool]:
    """The condition that a thing of this kind is a teacher's own or shared with them."""
    shared = select(_COLUMNS[kind]).where(Share.teacher_id == teacher.id, _COLUMNS[kind].is_not(None))
    return or_(kind.teacher_id == teacher.id, kind.id.in_(shared))


@dataclass(frozen=True)
class Lent(Generic[T]):
    """A thing that is shared with a teacher: whose it is, and how far."""

    thing: T
    whose: str
    extent: str


def lent_to(work: Work, teacher: Teacher, kind: type[T]) -> list[Lent[T]]:
    """The things of this kind that are shared with a teacher, the newest first."""
    mine = (
        select(kind, Teacher.name, Teacher.email, Share.extent).join(Share, _COLUMNS[kind] == kind.id).where(Share.teacher_id == teacher.id)
    )
    found = work.execute(mine.join(Teacher, Teacher.id == kind.teacher_id).order_by(kind.id.desc()))
    return [Lent(thing, name or email, extent) for thing, name, email, extent in found]


def readers(work: Work, teacher: Teacher, kind: type[T]) -> dict[int, list[str]]:
    """With whom a teacher shares things of this kind: names by the number of the thing."""
    column = _COLUMNS[kind]
    found: dict[int, list[str]] = {}
    asked = select(column, Teacher.name, Teacher.email).join(Teacher, Teacher.id == Share.teacher_id).join(kind, kind.id == column)
    for number, name, email in work.execute(asked.where(kind.teacher_id == teacher.id).order_by(Share.id)):
        found.setdefault(number, []).append(name or email)
    return found
