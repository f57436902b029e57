"""After publishing: another time for all, extra time for one, another try."""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.store import timing
from quaestor.store.attempts.state import attempt_of
from quaestor.store.attempts.taking import state_of
from quaestor.store.models import Attempt, Published, Teacher
from quaestor.store.sharing import EDIT
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page, url
from quaestor.web.security.forms import Filled, Form, FormError, a_number, again, read
from quaestor.web.teacher.access import Posted, reach_test
from quaestor.web.teacher.home import state
from quaestor.web.teacher.published import shown
from quaestor.web.teacher.pupil_pages import MINUTES
from quaestor.web.teacher.time_form import TimeFields

routes = APIRouter(prefix="/teacher/tests/{number}", route_class=Patient)
TAKER = "/takers/{attempt}"


class ExtraTime(Form):
    """Minutes more."""

    extra: Annotated[float, a_number(MINUTES, 0, timing.MOST_EXTRA)] = 0


def _of(request: Request, work: Work, number: int) -> tuple[Teacher, Published]:
    return reach_test(request, work, number, EDIT)


@routes.post("/time", name="change-time")
def change(request: Request, number: int, form: Posted) -> Response:
    """Give a test another time limit and another moment of closing, or its page again with what is wrong."""
    with database(request).work() as work:
        _, test = _of(request, work, number)
        try:
            asked = read(TimeFields, form, test=test)
        except FormError as error:
            return shown(request, number, status=400, time=again(error, TimeFields, form))
        timing.change_time(work, test, asked.minutes, asked.closes)
        timing.change_limits(test, asked.per_browser, asked.per_address)
    return go(request, "test", number=number)


@routes.get(f"{TAKER}/time", name="taker-time")
def ask_time(request: Request, number: int, attempt: int) -> Response:
    """How much more time one attempt has."""
    with database(request).read() as work:
        teacher, test = _of(request, work, number)
        whom = attempt_of(work, test, attempt)
    return _ask_time(request, teacher, test, whom)


@routes.post(f"{TAKER}/time", name="give-taker-time")
def give_time(request: Request, number: int, attempt: int, form: Posted) -> Response:
    """Give one attempt more time."""
    with database(request).work() as work:
        teacher, test = _of(request, work, number)
        whom = attempt_of(work, test, attempt)
        try:
            timing.give_time(work, whom, read(ExtraTime, form).extra, whom.factor)
        except FormError as error:
            return _ask_time(request, teacher, test, whom, again(error, ExtraTime, form))
    return go(request, "path", number=number, attempt=attempt)


def _ask_time(request: Request, teacher: Teacher, test: Published, whom: Attempt, back: Filled | None = None) -> Response:
    places = {"number": test.id, "attempt": whom.id}
    return page(
        request,
        "teacher/extra_time.html",
        400 if back else 200,
        teacher=teacher,
        test=test,
        whom=whom,
        form=back or Filled({"extra": f"{whom.extra:g}"}),
        action=url(request, "give-taker-time", **places),
        back=url(request, "path", **places),
    )


@routes.get(f"{TAKER}/again", name="ask-again")
def ask_again(request: Request, number: int, attempt: int) -> Response:
    """Whether somebody should really have another try."""
    with database(request).read() as work:
        teacher, test = _of(request, work, number)
        found = attempt_of(work, test, attempt)
        stands = state_of(work, found)
    known: dict[str, Any] = {
        "attempt": found,
        "asked": len(stands.session.asked),
        "runs": not stands.over,
        "closed": state(test) == "closed",
    }
    return page(request, "teacher/again.html", teacher=teacher, test=test, **known)


@routes.post(f"{TAKER}/again", name="again")
def try_again(request: Request, number: int, attempt: int, form: Posted) -> Response:
    """Set an attempt aside, so that its taker can begin another one."""
    with database(request).work() as work:
        _, test = _of(request, work, number)
        found = attempt_of(work, test, attempt)
        if found.set_aside is None:
            timing.set_aside(work, found)
    return go(request, "path", number=number, attempt=attempt)


@routes.post(f"{TAKER}/count", name="count-again")
def count_again(request: Request, number: int, attempt: int, form: Posted) -> Response:
    """Let an attempt count again that was set aside."""
    with database(request).work() as work:
        _, test = _of(request, work, number)
        timing.count_again(work, attempt_of(work, test, attempt))
    return go(request, "path", number=number, attempt=attempt)
