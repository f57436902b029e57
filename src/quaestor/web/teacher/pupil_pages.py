"""One pupil: how they grow, more time, another name, another class; what is kept of them, handed out or erased."""

import json
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store import sharing, timing
from quaestor.store.attempts.taking import state_of
from quaestor.store.classes import child, class_lists
from quaestor.store.classes.growth import growth_of
from quaestor.store.models import Pupil, SchoolClass, Teacher
from quaestor.store.sharing import EDIT, LOOK, OWN
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.forms import CHOOSE, Filled, Form, Id, Line, a_number, again, of_page, read
from quaestor.web.teacher.access import Posted, download
from quaestor.web.teacher.class_pages import reach_class

MINUTES = say("please enter a number of minutes from 0 to {most}", most=timing.MOST_EXTRA)
routes = APIRouter(prefix="/teacher/classes/{number}/pupils/{pupil}", route_class=Patient)


class NewName(Form):
    """Another name."""

    name: str = ""


class MoreTime(Form):
    """More time in every test: so many times the limit, and minutes more than that."""

    extra: Annotated[float, a_number(MINUTES, 0, timing.MOST_EXTRA)] = 0
    factor: Annotated[float, a_number(CHOOSE, min(timing.FACTORS), max(timing.FACTORS))] = 1


class Move(Form):
    """Another class."""

    to: Id = Field(0, alias="class")


class Erasure(Form):
    """The name, typed to be sure, and attempts without a code that are erased too."""

    name: Line = ""
    also: list[str] = Field(default_factory=list)


def _of(request: Request, work: Work, number: int, pupil: int, needed: str = LOOK) -> tuple[Teacher, SchoolClass, Pupil]:
    teacher, found = reach_class(request, work, number, needed)
    return teacher, found, class_lists.pupil_in(work, found, pupil)


@routes.get("", name="pupil")
def show(request: Request, number: int, pupil: int) -> Response:
    """All about one pupil."""
    return _show(request, number, pupil)


def _show(request: Request, number: int, pupil: int, **back: Filled) -> Response:
    """`back`: forms that come back."""
    with database(request).read() as work:
        teacher, found, whom = _of(request, work, number, pupil)
        others = [one for one in class_lists.classes_of(work, teacher) if one.id != found.id and found.teacher_id == teacher.id]
        done = [(attempt, attempt.test) for attempt in child.attempts_of(work, whom)]
        opened = {test.id for _, test in done if sharing.extent_of(work, teacher, test)}
        grown = growth_of(work, whom)
        also = child.lists_of(work, whom)[1:] if found.teacher_id == teacher.id else []
    known = {"also": also, "others": others, "done": done, "opened": opened, "grown": grown, "factors": timing.FACTORS}
    shown = {"time": Filled({"extra": f"{whom.extra:g}"}), "name": Filled({"name": whom.name}), **back}
    return page(request, "teacher/pupil.html", 400 if back else 200, teacher=teacher, found=found, pupil=whom, **known, back=of_page(shown))


@routes.post("/name", name="rename-pupil")
def rename(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Call a pupil otherwise."""
    try:
        with database(request).work() as work:
            class_lists.rename_pupil(work, _of(request, work, number, pupil, EDIT)[2], read(NewName, form).name)
    except QuaestorError as error:
        return _show(request, number, pupil, name=again(error, NewName, form))
    return go(request, "pupil", number=number, pupil=pupil)


@routes.post("/time", name="give-pupil-time")
def give_time(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Give a pupil more time, in all tests from now on and in those that are under way."""
    try:
        with database(request).work() as work:
            whom, asked = _of(request, work, number, pupil, EDIT)[2], read(MoreTime, form)
            timing.give_time(work, whom, asked.extra, asked.factor)
    except QuaestorError as error:
        return _show(request, number, pupil, time=again(error, MoreTime, form))
    return go(request, "pupil", number=number, pupil=pupil)


@routes.post("/move", name="move-pupil")
def move(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Move a pupil to another class."""
    try:
        with database(request).work() as work:
            teacher, _, whom = _of(request, work, number, pupil, OWN)
            to = sharing.class_for(work, teacher, read(Move, form).to, OWN)
            class_lists.move(work, whom, to)
    except QuaestorError as error:
        return _show(request, number, pupil, move=again(error, Move, form))
    return go(request, "pupil", number=to.id, pupil=pupil)


@routes.get("/data", name="child-data")
def data(request: Request, number: int, pupil: int) -> Response:
    """All that is kept of a child, to be read and printed."""
    with database(request).read() as work:
        teacher, found, whom = _of(request, work, number, pupil, OWN)
        kept = child.export_child(work, whom)
        attempts = [(attempt, state_of(work, attempt).session.bank) for attempt in child.kept_of(work, whom)]
    told = [(one, attempt, bank) for one, (attempt, bank) in zip(kept["attempts"], attempts, strict=True)]
    return page(request, "teacher/child.html", teacher=teacher, found=found, pupil=whom, kept=kept, told=told)


@routes.get("/data.json", name="child-file")
def file(request: Request, number: int, pupil: int) -> Response:
    """The same as a file for programs."""
    with database(request).read() as work:
        whom = _of(request, work, number, pupil, OWN)[2]
        kept = child.export_child(work, whom)
    return download(json.dumps(kept, ensure_ascii=False, indent=1).encode(), f"{whom.name} data", "json")


@routes.get("/erase", name="ask-erase-child")
def ask_erase(request: Request, number: int, pupil: int) -> Response:
    """What would be erased with a child."""
    return _ask_erase(request, number, pupil)


def _ask_erase(request: Request, number: int, pupil: int, wrong: str = "") -> Response:
    with database(request).read() as work:
        teacher, found, whom = _of(request, work, number, pupil, OWN)
        kept = [(attempt, attempt.test) for attempt in child.kept_of(work, whom)]
        also = child.lists_of(work, whom)[1:]
        loose = [(attempt, attempt.test) for attempt in child.namesakes(work, teacher, whom)]
    about = {"also": also, "kept": kept, "loose": loose, "wrong": wrong}
    return page(request, "teacher/erase_child.html", 400 if wrong else 200, teacher=teacher, found=found, pupil=whom, **about)


@routes.post("/erase", name="erase-child")
def erase(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Erase all that is kept of a child, once the name was typed; attempts without a code only where they were ticked."""
    asked = read(Erasure, form)
    with database(request).work() as work:
        teacher, _, whom = _of(request, work, number, pupil, OWN)
        sure = asked.name.casefold() == whom.name.casefold()
        if sure:
            child.erase_child(work, whom, [one for one in child.namesakes(work, teacher, whom) if str(one.id) in asked.also])
    if not sure:
        return _ask_erase(request, number, pupil, say("this is not the name of the pupil; nothing was erased"))
    return go(request, "class", number=number)
