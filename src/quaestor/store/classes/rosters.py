"""Classes out of a school's own system, brought up to date: known by their ids there, pupils too, so that who moves there moves here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.formats.name_lists import refuse_formulas
from quaestor.formats.oneroster import RosterClass
from quaestor.store.classes.class_lists import make_class, move, pupils_in, put_pupils
from quaestor.store.models import Pupil, SchoolClass, Teacher
from quaestor.store.texts import line


@dataclass(frozen=True)
class Taken:
    """What became of one class: how many were added, moved here, and known before; `left`: who is here and not in the file, and stays."""

    found: SchoolClass
    added: int
    moved: int
    known: int
    left: tuple[str, ...] = ()


def take_classes(work: Work, teacher: Teacher, classes: Sequence[RosterClass]) -> list[Taken]:
    """Make these classes of a teacher, or bring them up to date; nobody is taken off a list."""
    there = {one.source: _class(work, teacher, one) for one in classes}
    listed = {(one.source, pupil.source) for one in classes for pupil in one.pupils}
    mine = select(Pupil, SchoolClass.source).join(SchoolClass, Pupil.class_id == SchoolClass.id)
    sources = {pupil.source for one in classes for pupil in one.pupils}
    free = {  # pupils of these classes who are in the file, but not in that class any more
        pupil.source: pupil
        for pupil, source in work.execute(mine.where(SchoolClass.id.in_([one.id for one in there.values()])))
        if pupil.source and (source, pupil.source) not in listed and pupil.source in sources
    }
    taken = [_take(work, there[one.source], one, free) for one in classes]
    return [replace(one, left=_left(work, one.found, listed)) for one in taken]


def _class(work: Work, teacher: Teacher, wanted: RosterClass) -> SchoolClass:
    mine = (SchoolClass.teacher_id == teacher.id, SchoolClass.source == wanted.source, SchoolClass.archived.is_(None))
    found = work.scalars(select(SchoolClass).where(*mine).order_by(SchoolClass.id.desc())).first()
    return found or make_class(work, teacher, wanted.title, wanted.source)


def _take(work: Work, found: SchoolClass, wanted: RosterClass, free: dict[str, Pupil]) -> Taken:
    refuse_formulas([pupil.name for pupil in wanted.pupils])
    by_source = {pupil.source: pupil for pupil in pupils_in(work, found.id) if pupil.source}
    by_name = {pupil.name.casefold(): pupil for pupil in pupils_in(work, found.id) if not pupil.source}
    fresh, moved, known = [], 0, 0
    for pupil in wanted.pupils:
        name = line(pupil.name, 200)
        if pupil.source in by_source:
            known += 1
        elif (namesake := by_name.pop(name.casefold(), None)) is not None:
            namesake.source = pupil.source
            known += 1
        elif pupil.source in free:
            move(work, free.pop(pupil.source), found)
            moved += 1
        else:
            fresh.append((pupil.source, name))
    for (source, _), made in zip(fresh, put_pupils(work, found, [name for _, name in fresh]), strict=True):
        made.source = source
    work.flush()
    return Taken(found, len(fresh), moved, known)


def _left(work: Work, found: SchoolClass, listed: set[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(pupil.name for pupil in pupils_in(work, found.id) if (found.source, pupil.source) not in listed)
