"""Classes and their pupils: a list is made once and used by many tests, and the list of a single test is a class like any other.

A pupil is in one class at a time and has one code for all its tests. Who moves to another class takes along what they did.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, got
from quaestor.formats.name_lists import MOST_NAMES, refuse_formulas
from quaestor.i18n import listed, say
from quaestor.store.clock import now
from quaestor.store.codes import OWN_CODE, free_codes
from quaestor.store.models import Published, Pupil, SchoolClass, Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.texts import line

MOST_CLASSES = 1000  # of one teacher
MOST_NAMED = 10  # names in one sentence


def make_class(work: Work, teacher: Teacher, title: str, source: str = "") -> SchoolClass:
    """A new class of a teacher."""
    if (work.scalar(select(func.count()).where(SchoolClass.teacher_id == teacher.id)) or 0) >= MOST_CLASSES:
        raise QuaestorError(got(say("a teacher has at most {most} classes", most=MOST_CLASSES), say("one more")))
    made = SchoolClass(teacher_id=teacher.id, title=_title(title), source=line(source, 200), created=now(), archived=None)
    work.add(made)
    work.flush()
    return made


def _title(written: str) -> str:
    title = line(written, 200)
    if not title:
        raise QuaestorError.at("title", say("please enter what the class is called"))
    return title


def class_of(work: Work, teacher: Teacher, number: int) -> SchoolClass:
    """A teacher's own class, for programs; the same MissingError whether it is another teacher's or does not exist."""
    found = work.get(SchoolClass, number)
    if found is None or found.teacher_id != teacher.id:
        raise MissingError(say("there is no such class"))
    return found


def classes_of(work: Work, teacher: Teacher, archived: bool = False) -> Sequence[SchoolClass]:
    """A teacher's classes by title, or those that are archived."""
    is_over = SchoolClass.archived.is_not(None) if archived else SchoolClass.archived.is_(None)
    mine = select(SchoolClass).where(SchoolClass.teacher_id == teacher.id, is_over)
    return work.scalars(mine.order_by(func.lower(SchoolClass.title), SchoolClass.id)).all()


def sizes(work: Work, classes: Sequence[SchoolClass]) -> Mapping[int, int]:
    """How many pupils each class has."""
    numbers = [one.id for one in classes]
    counted = select(Pupil.class_id, func.count()).where(Pupil.class_id.in_(numbers)).group_by(Pupil.class_id)
    return dict.fromkeys(numbers, 0) | {number: count for number, count in work.execute(counted) if number is not None}


def tests_of(work: Work, found: SchoolClass) -> Sequence[Published]:
    """The tests of a class, the newest first."""
    return work.scalars(select(Published).where(Published.class_id == found.id).order_by(Published.id.desc())).all()


def rename_class(found: SchoolClass, title: str) -> None:
    """Call a class otherwise."""
    found.title = _title(title)


def archive(found: SchoolClass, is_over: bool = True) -> None:
    """Put a class away at the end of the year, or take it up again: nothing is deleted, but no pupil begins another test by it."""
    found.archived = (found.archived or now()) if is_over else None


# Pupils


def pupils_in(work: Work, number: int | None) -> Sequence[Pupil]:
    """The pupils of a class, by name."""
    return work.scalars(select(Pupil).where(Pupil.class_id == number).order_by(func.lower(Pupil.name), Pupil.id)).all() if number else []


def pupil_in(work: Work, found: SchoolClass, number: int) -> Pupil:
    """A pupil of a class."""
    pupil = work.get(Pupil, number)
    if pupil is None or pupil.class_id != found.id:
        raise MissingError(say("there is no such pupil"))
    return pupil


def add_names(work: Work, found: SchoolClass, names: Sequence[str]) -> list[Pupil]:
    """Add names to a class, each with a personal code. Concurrent calls wait for one another, so that no name is added twice."""
    hold_class(work, found)
    fresh, _ = sort_names(work, found.id, names)
    return put_pupils(work, found, fresh)


def hold_class(work: Work, found: SchoolClass) -> None:
    """Let nobody else change the list of a class before the unit of work ends."""
    if work.scalar(select(SchoolClass.id).where(SchoolClass.id == found.id).with_for_update()) is None:
        raise MissingError(say("there is no such class"))


def put_pupils(work: Work, found: SchoolClass, names: Sequence[str]) -> list[Pupil]:
    """Pupils of these names, which were checked, each with a code."""
    codes = free_codes(work, len(names), OWN_CODE)
    made = [Pupil(class_id=found.id, name=name, code=code) for name, code in zip(names, codes, strict=True)]
    work.add_all(made)
    work.flush()
    return made


def sort_names(work: Work, number: int | None, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names that would be added to a class, and those that are in it already; upper and lower case are alike.

    QuaestorError if there are none, if they are too many, if one is a formula, or if one stands there twice: nobody but the teacher knows
    whether these are two pupils. Its message counts the names as lines, from 1.
    """
    clean = [line(name, 200) for name in names]
    refuse_formulas(clean)
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(clean, 1):
        if name:
            places[name.casefold()].append(place)
    if not places:
        raise QuaestorError(say("please enter names, or choose a file that has some"))
    known = {name.casefold() for name in work.scalars(select(Pupil.name).where(Pupil.class_id == number))} if number else set()
    count = len(known) + sum(map(len, places.values()))
    if count > MOST_NAMES:
        raise QuaestorError(got(say("a class list has at most {most} names", most=MOST_NAMES), str(count)))
    if twice := [lines for lines in places.values() if len(lines) > 1]:
        raise QuaestorError(_standing_twice([(clean[lines[0] - 1], lines) for lines in twice]))
    written = [clean[lines[0] - 1] for lines in places.values()]
    return [one for one in written if one.casefold() not in known], [one for one in written if one.casefold() in known]


def _standing_twice(twice: Sequence[tuple[str, list[int]]]) -> str:
    found = [say("{name} (lines {lines})", name=name, lines=listed([str(one) for one in lines])) for name, lines in twice]
    more = [say("{count} more", count=len(found) - MOST_NAMED)] if len(found) > MOST_NAMED else []
    told = {"count": len(found), "names": listed([*found[:MOST_NAMED], *more])}
    return say("{count:this name stands|these names stand} there more than once: {names}; add what tells them apart", **told)


def rename_pupil(work: Work, pupil: Pupil, name: str) -> None:
    """Call a pupil otherwise; what they did before keeps the name that it was done under."""
    called = line(name, 200)
    if not called:
        raise QuaestorError.at("name", say("please enter a name"))
    refuse_formulas([called])
    _refuse_namesake(work, pupil, pupil.class_id, called)
    pupil.name = called


def move(work: Work, pupil: Pupil, to: SchoolClass) -> None:
    """Move a pupil to another class: what they did and their code stay theirs."""
    hold_class(work, to)
    if to.archived is not None:
        raise QuaestorError.at("class", say("this class is archived; take it up again first, or choose another one"))
    _refuse_namesake(work, pupil, to.id, pupil.name)
    if (work.scalar(select(func.count()).where(Pupil.class_id == to.id)) or 0) >= MOST_NAMES:
        raise QuaestorError.at("class", got(say("a class list has at most {most} names", most=MOST_NAMES), say("one more")))
    pupil.class_id = to.id


def _refuse_namesake(work: Work, pupil: Pupil, number: int | None, name: str) -> None:
    others = work.scalars(select(Pupil.name).where(Pupil.class_id == number, Pupil.id != pupil.id))
    if name.casefold() in {other.casefold() for other in others}:
        raise QuaestorError.at("name", say("there is a pupil called {name} in this class already; add what tells them apart", name=name))


# The class of a test


def give_class(test: Published, found: SchoolClass) -> None:
    """Let the pupils of a class take a test that has none yet."""
    if found.archived is not None:
        raise QuaestorError.at("class", say("this class is archived; take it up again first, or choose another one"))
    if test.class_id is not None:
        raise QuaestorError.at("class", say("this test has a class already"))
    test.class_id = found.id


def pupils_of(work: Work, test: Published) -> Sequence[Pupil]:
    """The class list of a test, by name."""
    return pupils_in(work, test.class_id)


def add_pupils(work: Work, test: Published, names: Sequence[str]) -> list[Pupil]:
    """Add names to the class list of a test; a test without a class gets one of its own title."""
    held = work.get(Published, test.id, with_for_update=True, populate_existing=True)
    if held is None:
        raise MissingError(say("there is no such test"))
    sort_names(work, held.class_id, names)  # raises before a class is made
    return add_names(work, class_for(work, held), names)


def class_for(work: Work, test: Published) -> SchoolClass:
    """The class of a test; one of its title is made where it has none."""
    if test.class_id is None:
        test.class_id = make_class(work, test.teacher, test.title).id
        work.flush()
    return work.get_one(SchoolClass, test.class_id)
