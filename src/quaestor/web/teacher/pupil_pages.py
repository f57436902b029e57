"""One pupil: how they grow, more time, another name, another class; what is kept of them, handed out or erased."""

import json

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, format_value, got
from quaestor.i18n import say
from quaestor.store import timing
from quaestor.store.classes import child, class_lists
from quaestor.store.classes.growth import growth_of
from quaestor.store.models import Pupil, SchoolClass, Teacher
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.browsers import field
from quaestor.web.teacher.access import Posted, download, told
from quaestor.web.teacher.class_pages import own_class

routes = APIRouter(prefix="/teacher/classes/{number}/pupils/{pupil}", route_class=Patient)


def _of(request: Request, work: Work, number: int, pupil: int) -> tuple[Teacher, SchoolClass, Pupil]:
    teacher, found = own_class(request, work, number)
    return teacher, found, class_lists.pupil_in(work, found, pupil)


@routes.get("", name="pupil")
def show(request: Request, number: int, pupil: int) -> Response:
    """All about one pupil."""
    return _show(request, number, pupil)


def _show(request: Request, number: int, pupil: int, wrong: dict[str, str] | None = None, extra: str | None = None) -> Response:
    """`wrong`: by form, what is wrong with what was sent; `extra`: minutes that were sent."""
    with database(request).read() as work:
        teacher, found, whom = _of(request, work, number, pupil)
        others = [one for one in class_lists.classes_of(work, teacher) if one.id != found.id]
        done = [(attempt, attempt.test) for attempt in child.attempts_of(work, whom)]
        grown = growth_of(work, whom)
    known = {"others": others, "done": done, "grown": grown, "factors": timing.FACTORS}
    filled = {"wrong": wrong or {}, "extra": f"{whom.extra:g}" if extra is None else extra}
    return page(request, "teacher/pupil.html", 400 if wrong else 200, teacher=teacher, found=found, pupil=whom, **known, **filled)


@routes.post("/name", name="rename-pupil")
def rename(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Call a pupil otherwise."""
    try:
        with database(request).work() as work:
            class_lists.rename_pupil(work, _of(request, work, number, pupil)[2], field(form, "name"))
    except QuaestorError as error:
        return _show(request, number, pupil, {"name": told(error)})
    return go(request, "pupil", number=number, pupil=pupil)


@routes.post("/time", name="give-pupil-time")
def give_time(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Give a pupil more time, in all tests from now on and in those that are under way."""
    extra, factor = field(form, "extra"), field(form, "factor")
    try:
        with database(request).work() as work:
            timing.give_time(work, _of(request, work, number, pupil)[2], _number("extra", extra or "0"), _number("factor", factor or "1"))
    except QuaestorError as error:
        return _show(request, number, pupil, {"time": told(error)}, extra)
    return go(request, "pupil", number=number, pupil=pupil)


def _number(place: str, written: str) -> float:
    try:
        return float(written.replace(",", "."))
    except ValueError as error:
        raise QuaestorError.at(place, got(say("a number is expected"), format_value(written))) from error


@routes.post("/move", name="move-pupil")
def move(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Move a pupil to another class."""
    chosen = field(form, "class")
    try:
        with database(request).work() as work:
            teacher, _, whom = _of(request, work, number, pupil)
            to = class_lists.class_of(work, teacher, int(chosen) if chosen.isdecimal() and len(chosen) < 10 else 0)
            class_lists.move(work, whom, to)
    except QuaestorError as error:
        return _show(request, number, pupil, {"move": told(error)})
    return go(request, "pupil", number=to.id, pupil=pupil)


@routes.get("/data", name="child-data")
def data(request: Request, number: int, pupil: int) -> Response:
    """All that is kept of a child, to be read and printed."""
    with database(request).read() as work:
        teacher, found, whom = _of(request, work, number, pupil)
        kept = child.export_child(work, whom)
    return page(request, "teacher/child.html", teacher=teacher, found=found, pupil=whom, kept=kept)


@routes.get("/data.json", name="child-file")
def file(request: Request, number: int, pupil: int) -> Response:
    """The same as a file for programs."""
    with database(request).read() as work:
        whom = _of(request, work, number, pupil)[2]
        kept = child.export_child(work, whom)
    return download(json.dumps(kept, ensure_ascii=False, indent=1).encode(), f"{whom.name} data", "json")


@routes.get("/erase", name="ask-erase-child")
def ask_erase(request: Request, number: int, pupil: int) -> Response:
    """What would be erased with a child."""
    return _ask_erase(request, number, pupil)


def _ask_erase(request: Request, number: int, pupil: int, wrong: str = "") -> Response:
    with database(request).read() as work:
        teacher, found, whom = _of(request, work, number, pupil)
        kept = [(attempt, attempt.test) for attempt in child.attempts_of(work, whom)]
        loose = [(attempt, attempt.test) for attempt in child.namesakes(work, teacher, whom)]
    about = {"kept": kept, "loose": loose, "wrong": wrong}
    return page(request, "teacher/erase_child.html", 400 if wrong else 200, teacher=teacher, found=found, pupil=whom, **about)


@routes.post("/erase", name="erase-child")
def erase(request: Request, number: int, pupil: int, form: Posted) -> Response:
    """Erase all that is kept of a child, once the name was typed; attempts without a code only where they were ticked."""
    ticked = {value for value in form.getlist("also") if isinstance(value, str)}
    with database(request).work() as work:
        teacher, _, whom = _of(request, work, number, pupil)
        sure = " ".join(field(form, "name").split()).casefold() == whom.name.casefold()
        if sure:
            child.erase_child(work, whom, [one for one in child.namesakes(work, teacher, whom) if str(one.id) in ticked])
    if not sure:
        return _ask_erase(request, number, pupil, say("this is not the name of the pupil; nothing was erased"))
    return go(request, "class", number=number)
