"""A teacher's classes: lists that are made once and used by many tests, brought in from a school's own system, archived in the end."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field, TypeAdapter, ValidationError
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.formats.oneroster import Roster, RosterClass
from quaestor.i18n import say, together
from quaestor.store import sharing
from quaestor.store.attempts import progress
from quaestor.store.classes import child, class_lists
from quaestor.store.classes.growth import class_growth
from quaestor.store.classes.rosters import Taken, take_classes
from quaestor.store.clock import now
from quaestor.store.models import Attempt, SchoolClass, Teacher
from quaestor.store.sharing import EDIT, LOOK, OWN
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import notes, qr
from quaestor.web.render.pages import database, go, page, public_url, url
from quaestor.web.security.forms import Filled, Form, Line, again, of_page, read, wrong_in
from quaestor.web.teacher import class_list
from quaestor.web.teacher.access import Held, Posted, note_extent, signed_in
from quaestor.web.teacher.home import state

routes = APIRouter(prefix="/teacher/classes", route_class=Patient)
HERE = "/teacher/classes"
MOST_PICTURES = 200  # QR codes on a page of cards
_CLASSES = TypeAdapter(list[RosterClass])


class NewClass(Form):
    """What a class is called; its names may come as a file too."""

    title: str = ""
    names: str = ""


class Chosen(Form):
    """Classes of a file that were chosen, and what the page held of the file."""

    roster: str = ""
    chosen: list[str] = Field(default_factory=list, alias="class")


class Title(Form):
    """What a class is called."""

    title: Line = ""


class Archiving(Form):
    """Whether a class is over."""

    over: str = "yes"


def reach_class(request: Request, work: Work, number: int, needed: str = LOOK) -> tuple[Teacher, SchoolClass]:
    """Who is signed in, and a class that they may look at, or may do with what is `needed`; the page knows what they may."""
    teacher = signed_in(request, work)
    found = sharing.class_for(work, teacher, number, needed)
    note_extent(request, work, teacher, found)
    return teacher, found


@routes.get("", name="classes")
def index(request: Request) -> Response:
    """All classes, and a form for another one; after a file was taken, what came of it."""
    note = notes.read(request)
    response = _index(request, notice=_taken(note))
    if note:
        notes.drop(request, response, HERE)
    return response


def _index(request: Request, notice: str = "", back: Filled | None = None) -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
        classes, over = class_lists.classes_of(work, teacher), class_lists.classes_of(work, teacher, archived=True)
        lent = sharing.lent_to(work, teacher, SchoolClass)
        listed = [*classes, *over, *(one.thing for one in lent)]
        known = {"classes": classes, "over": over, "lent": lent, "sizes": class_lists.sizes(work, listed)}
        known["readers"] = sharing.readers(work, teacher, SchoolClass)
    return page(request, "teacher/classes.html", 400 if back else 200, teacher=teacher, **known, notice=notice, form=back or Filled())


@routes.post("", name="make-class")
def make(request: Request, form: Posted) -> Response:
    """A class of names that were pasted or sent as a file; the classes of a OneRoster file are shown first."""
    with database(request).read() as work:
        teacher = signed_in(request, work)  # before anything is read
    try:
        title, sent = read(NewClass, form).title, class_list.sent(form)
        if isinstance(sent, Roster):
            return _choose(request, teacher, sent)
        with database(request).work() as work:
            made = class_lists.make_class(work, signed_in(request, work), title)
            if sent:
                class_lists.add_names(work, made, sent)
        return go(request, "class", number=made.id)
    except QuaestorError as error:
        return _index(request, back=again(error, NewClass, form, "names"))


def _choose(request: Request, teacher: Teacher, roster: Roster) -> Response:
    """The classes of a file, to choose from: the file itself is not kept."""
    carried = _CLASSES.dump_json(list(roster.classes)).decode()
    found = Counter(pupil for one in roster.classes for pupil in one.pupils)
    several = [pupil.name for pupil, count in found.items() if count > 1]
    return page(request, "teacher/roster.html", teacher=teacher, roster=roster, carried=carried, several=several)


@routes.post("/roster", name="take-roster")
def take(request: Request, form: Held) -> Response:
    """Make the classes that were chosen, or bring them up to date."""
    with database(request).read() as work:
        signed_in(request, work)
    asked = read(Chosen, form)
    try:
        classes = [one for one in _CLASSES.validate_json(asked.roster) if one.source in asked.chosen]
    except ValidationError:
        return _index(request, back=Filled(wrong={"file": say("the list of classes did not arrive whole; please send the file again")}))
    try:
        with database(request).work() as work:
            done = take_classes(work, signed_in(request, work), classes)
    except QuaestorError as error:
        return _index(request, back=Filled(wrong=wrong_in(error, NewClass, "file")))
    response = go(request, "classes")
    notes.leave(request, response, HERE, _sums(done))
    return response


def _sums(done: Sequence[Taken]) -> dict[str, int]:
    sums = {name: sum(getattr(one, name) for one in done) for name in ("added", "moved", "known")}
    return {"classes": len(done), **sums, "left": sum(len(one.left) for one in done)}


def _taken(note: dict[str, Any]) -> str:
    """What became of a file of classes."""
    if set(note) != {"classes", "added", "moved", "known", "left"} or not all(isinstance(one, int) for one in note.values()):
        return ""
    words = [say("{classes} {classes:class is|classes are} up to date: {added} {added:pupil was|pupils were} added.", **note)]
    if note["moved"]:
        words.append(say("{moved} {moved:pupil was|pupils were} moved from one of these classes to another.", **note))
    if note["left"]:
        words.append(
            say("{left} {left:pupil is|pupils are} on these lists and not in the file; they stay until you move or erase them.", **note)
        )
    return together(words)


@routes.get("/{number}", name="class")
def show(request: Request, number: int) -> Response:
    """A class: its pupils, its tests, and what can be done with it; after names were sent, also what came of them."""
    note = notes.read(request)
    response = _show(request, number, class_list.told(note))
    if note:
        notes.drop(request, response, f"{HERE}/{number}")
    return response


def _show(request: Request, number: int, notice: str = "", **back: Filled) -> Response:
    with database(request).read() as work:
        teacher, found = reach_class(request, work, number)
        pupils, tests = class_lists.pupils_in(work, found.id), class_lists.tests_of(work, found)
        takers = progress.counts(work, tests, now())
        opened = {test.id for test in tests if sharing.extent_of(work, teacher, test)}
        done = select(Attempt.pupil_id, func.count(Attempt.test_id.distinct())).where(Attempt.pupil_id.in_([one.id for one in pupils]))
        counts = dict(iter(work.execute(done.group_by(Attempt.pupil_id))))
    states = {test.id: state(test) for test in tests}
    known = {"pupils": pupils, "counts": counts, "tests": tests, "takers": takers, "states": states, "opened": opened}
    shown = of_page({"title": Filled({"title": found.title}), **back})
    return page(request, "teacher/class.html", 400 if back else 200, teacher=teacher, found=found, **known, notice=notice, back=shown)


@routes.post("/{number}/pupils", name="add-to-class")
def add(request: Request, number: int, form: Posted) -> Response:
    """Put names on the list: those that were pasted, and those of a file."""
    with database(request).read() as work:
        reach_class(request, work, number, EDIT)  # before anything is read
    try:
        listed = class_list.names_in(form)
        with database(request).work() as work:
            _, found = reach_class(request, work, number, EDIT)
            _, known = class_lists.sort_names(work, found.id, listed)
            added = class_lists.add_names(work, found, listed)
    except QuaestorError as error:
        return _show(request, number, names=again(error, class_list.Names, form, "names"))
    response = RedirectResponse(url(request, "class", number=number), 303)
    some = known[: class_lists.MOST_NAMED]
    notes.leave(request, response, f"{HERE}/{number}", {"added": len(added), "known": len(known), "some": some})
    return response


@routes.post("/{number}/title", name="rename-class")
def rename(request: Request, number: int, form: Posted) -> Response:
    """Call a class otherwise."""
    try:
        with database(request).work() as work:
            class_lists.rename_class(reach_class(request, work, number, EDIT)[1], read(Title, form).title)
    except QuaestorError as error:
        return _show(request, number, title=again(error, Title, form))
    return go(request, "class", number=number)


@routes.post("/{number}/archive", name="archive-class")
def archive(request: Request, number: int, form: Posted) -> Response:
    """Put a class away, or take it up again."""
    with database(request).work() as work:
        class_lists.archive(reach_class(request, work, number, EDIT)[1], read(Archiving, form).over != "no")
    return go(request, "class", number=number)


@routes.get("/{number}/cards", name="class-cards")
def cards(request: Request, number: int) -> Response:
    """A card for each pupil, to print and cut; the code on it opens all tests of the class."""
    with database(request).read() as work:
        teacher, found = reach_class(request, work, number, EDIT)
        pupils = class_lists.pupils_in(work, found.id)
    drawn = pupils if len(pupils) <= MOST_PICTURES else []
    pictures = {pupil.id: qr.inline(public_url(request, "code", code=pupil.code)) for pupil in drawn}
    way = (url(request, "classes"), say("Classes"), url(request, "class", number=number), found.title)
    about: dict[str, Any] = {"title": found.title, "way": way, "pupils": pupils, "qrs": pictures, "address": public_url(request, "home")}
    return page(request, "teacher/cards.html", teacher=teacher, **about)


@routes.get("/{number}/growth", name="class-growth")
def growth(request: Request, number: int) -> Response:
    """Each skill of a class over all its tests."""
    with database(request).read() as work:
        teacher, found = reach_class(request, work, number)
        grown = class_growth(work, found)
    return page(request, "teacher/class_growth.html", teacher=teacher, found=found, grown=grown)


@routes.get("/{number}/delete", name="ask-erase-class")
def ask_erase(request: Request, number: int) -> Response:
    """Whether a class should really go, with all that is kept of its pupils."""
    return _ask_erase(request, number)


def _ask_erase(request: Request, number: int, wrong: str = "") -> Response:
    with database(request).read() as work:
        teacher, found = reach_class(request, work, number, OWN)
        count = class_lists.sizes(work, [found])[found.id]
    return page(request, "teacher/erase_class.html", 400 if wrong else 200, teacher=teacher, found=found, count=count, wrong=wrong)


@routes.post("/{number}/delete", name="erase-class")
def erase(request: Request, number: int, form: Posted) -> Response:
    """Erase a class with all that is kept of its pupils, once its name was typed."""
    with database(request).work() as work:
        _, found = reach_class(request, work, number, OWN)
        sure = read(Title, form).title.casefold() == found.title.casefold()
        if sure:
            child.erase_class(work, found)
    return go(request, "classes") if sure else _ask_erase(request, number, say("this is not the name of the class; nothing was erased"))
