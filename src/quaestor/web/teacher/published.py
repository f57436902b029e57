"""A published test: its code, link and QR code, its class list with codes to print, closing and deleting it."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import Field
from sqlalchemy import func, select

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.selection.rules_file import read_rules
from quaestor.store import job_queue, privacy, timing
from quaestor.store.attempts import progress
from quaestor.store.classes import child
from quaestor.store.classes.class_lists import (
    MOST_NAMED,
    add_pupils,
    classes_of,
    give_class,
    pupils_of,
    sort_names,
    tests_of,
)
from quaestor.store.clock import now
from quaestor.store.corrections import corrections_of
from quaestor.store.models import Attempt, Published, SchoolClass, Teacher
from quaestor.store.outcomes import changes, rescoring
from quaestor.store.platforms.seats import placements_of
from quaestor.store.sharing import EDIT, OWN, class_for, extent_of, holds_codes
from quaestor.store.teachers import AccessError
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import notes, qr
from quaestor.web.render.pages import database, go, page, public_url, url
from quaestor.web.security.forms import Filled, Form, Id, Tick, again, read, wrong_in
from quaestor.web.teacher import class_list
from quaestor.web.teacher.access import KINDS, Posted, reach_test
from quaestor.web.teacher.home import state
from quaestor.web.teacher.rules_form import length
from quaestor.web.teacher.time_form import blank_time

routes = APIRouter(prefix="/teacher/tests/{number}", route_class=Patient)
MOST_PICTURES = 200  # QR codes on a page of cards


class Chosen(Form):
    """The class of a test."""

    number: Id = Field(0, alias="class")


class Deletion(Form):
    """The code, typed to be sure; whether the class goes too."""

    code: str = ""
    with_class: Tick = Field(False, alias="class")


@routes.get("", name="test")
def show(request: Request, number: int) -> Response:
    """Everything about one test; after names were sent, also what came of them."""
    note = notes.read(request)
    names = note.get("names")
    tried = class_list.tried(request, number, names) if isinstance(names, str) else None
    response = shown(request, number, tried, class_list.told(note))
    if "added" in note:
        notes.drop(request, response, _path(number))  # told once
    return response


def shown(
    request: Request,
    number: int,
    names: Filled | None = None,
    notice: str = "",
    status: int = 200,
    time: Filled | None = None,
) -> Response:
    """The page of a test; `names`: names that were sent, but not taken; `time`: a form for its time that came back."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        of_class = work.get(SchoolClass, test.class_id) if test.class_id is not None else None
        others = classes_of(work, teacher) if of_class is None and test.teacher_id == teacher.id else []
        bank = test.bank
        of_class_extent = extent_of(work, teacher, of_class) if of_class is not None else ""
        codes = holds_codes(work, teacher, test)
        pupils = pupils_of(work, test)
        running, over = progress.counts(work, [test], now()).get(test.id, (0, 0))
        corrected = corrections_of(work, test) if test.revision else []
        done = changes.effects(work, test)
        left = changes.left(work, test) if corrected else 0
        scoring = job_queue.jobs_of(work, teacher, rescoring.KIND, f"test {test.id}", 1) if left else []
        placements = placements_of(work, test)
        there = {one for one in work.scalars(select(Attempt.pupil_id).where(Attempt.test_id == test.id)) if one is not None}
    link = public_url(request, "code", code=test.code)
    return page(
        request,
        "teacher/test.html",
        status,
        teacher=teacher,
        test=test,
        bank=bank,
        state=state(test),
        rules=read_rules(test.rules),
        link=link,
        picture=qr.inline(link),
        pupils=pupils,
        of_class=of_class,
        of_class_extent=of_class_extent,
        codes=codes,
        classes=others,
        there=there,
        placements=placements,
        running=running,
        over=over,
        names=names or Filled(),
        notice=notice,
        length=length(read_rules(test.rules)),
        time=time if time is not None else Filled(blank_time(test)),
        corrections=corrected,
        effects=done,
        left=left,
        job=next((one for one in scoring if one.state in (job_queue.WAITING, job_queue.RUNNING)), None),
    )


@routes.get("/qr.svg", name="qr")
def picture(request: Request, number: int) -> Response:
    """The QR code as a picture, for slides."""
    with database(request).read() as work:
        _, test = reach_test(request, work, number)
    return Response(qr.image(public_url(request, "code", code=test.code)), media_type=KINDS["svg"])


@routes.post("/pupils", name="add-pupils")
def add(request: Request, number: int, form: Posted) -> Response:
    """Put names on the class list: those that were pasted, and those of a file."""
    with database(request).read() as work:
        reach_test(request, work, number, EDIT)  # before anything is read
    response = RedirectResponse(url(request, "test", number=number) + "#class-list", 303)
    try:
        listed = class_list.names_in(form)
    except QuaestorError as error:
        return shown(request, number, again(error, class_list.Names, form, "names"), status=400)
    try:
        with database(request).work() as work:
            _, test = reach_test(request, work, number, EDIT)
            _, known = sort_names(work, test.class_id, listed)
            added = add_pupils(work, test, listed)
    except QuaestorError as error:
        wrong, names = wrong_in(error, class_list.Names, "names"), "\n".join(listed)
        fits = notes.leave(request, response, _path(number), {"names": names})
        return response if fits else shown(request, number, Filled({"names": names}, wrong), status=400)
    notes.leave(request, response, _path(number), {"added": len(added), "known": len(known), "some": known[:MOST_NAMED]})
    return response


def _path(number: int) -> str:
    return f"/teacher/tests/{number}"


@routes.post("/class", name="choose-class")
def choose(request: Request, number: int, form: Posted) -> Response:
    """Give a test without a class one."""
    with database(request).work() as work:
        teacher, test = reach_test(request, work, number, OWN)
        give_class(test, class_for(work, teacher, read(Chosen, form).number, OWN))
    return RedirectResponse(url(request, "test", number=number) + "#class-list", 303)


@routes.get("/cards", name="cards")
def cards(request: Request, number: int) -> Response:
    """A card for each pupil, to print and cut."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number, EDIT)
        if not holds_codes(work, teacher, test):
            raise AccessError(say("these codes open all tests of the class; please ask the teacher whose class it is to share it with you"))
        pupils = pupils_of(work, test)
    drawn = pupils if len(pupils) <= MOST_PICTURES else []
    pictures = {pupil.id: qr.inline(public_url(request, "code", code=pupil.code)) for pupil in drawn}
    way = (url(request, "tests"), say("Tests"), url(request, "test", number=number), test.title)
    about: dict[str, Any] = {"title": test.title, "way": way, "pupils": pupils, "qrs": pictures, "address": public_url(request, "home")}
    return page(request, "teacher/cards.html", teacher=teacher, **about)


@routes.post("/close", name="close")
def close(request: Request, number: int, form: Posted) -> Response:
    """Close a test now."""
    with database(request).work() as work:
        timing.close(work, reach_test(request, work, number, EDIT)[1])
    return go(request, "test", number=number)


@routes.get("/delete", name="ask-drop-test")
def ask_drop(request: Request, number: int) -> Response:
    """Whether a test and all its results should really go."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number, OWN)
    return _ask_drop(request, teacher, test)


def _ask_drop(request: Request, teacher: Teacher, test: Published, wrong: str = "") -> Response:
    with database(request).read() as work:
        count = work.scalar(select(func.count()).where(Attempt.test_id == test.id)) or 0
        of_class = work.get(SchoolClass, test.class_id) if test.class_id is not None else None
        is_only = of_class is not None and len(tests_of(work, of_class)) == 1
    known = {"count": count, "of_class": of_class, "is_only": is_only, "wrong": wrong}
    return page(request, "teacher/drop_test.html", 400 if wrong else 200, teacher=teacher, test=test, **known)


@routes.post("/delete", name="drop-test")
def drop(request: Request, number: int, form: Posted) -> Response:
    """Delete a test with all its results, once its code was typed."""
    with database(request).work() as work:
        teacher, test = reach_test(request, work, number, OWN)
        asked = read(Deletion, form)
        sure = "".join(asked.code.split()).upper() == test.code
        of_class = work.get(SchoolClass, test.class_id) if asked.with_class and test.class_id is not None else None
        if sure and of_class is not None and len(tests_of(work, of_class)) == 1:
            child.erase_class(work, of_class)
        if sure:
            privacy.delete_test(work, test)
    if not sure:
        return _ask_drop(request, teacher, test, say("this is not the code of the test; nothing was deleted"))
    return go(request, "tests")
