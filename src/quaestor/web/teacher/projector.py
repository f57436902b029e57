"""For the wall of a classroom: a large code, a QR code, and how many are in. What changes is fetched anew as in the live view."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.store.attempts import answers, progress
from quaestor.store.classes.class_lists import pupils_of
from quaestor.store.clock import now
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import qr
from quaestor.web.render.pages import database, page, public_url
from quaestor.web.teacher.access import reach_test

routes = APIRouter(prefix="/teacher/tests/{number}/projector", route_class=Patient)


@routes.get("", name="projector")
def show(request: Request, number: int) -> Response:
    """The page for the wall."""
    seen = _seen(request, number)
    link = public_url(request, "code", code=seen["test"].code)
    return page(request, "teacher/projector.html", link=link, address=public_url(request, "home"), picture=qr.inline(link), **seen)


@routes.get("/count", name="projector-count")
def count(request: Request, number: int, mark: str = "") -> Response:
    """The part that changes; nothing when it is still what the mark stands for."""
    seen = _seen(request, number)
    return Response(status_code=204) if mark == seen["mark"] else page(request, "teacher/projector_count.html", **seen)


def _seen(request: Request, number: int) -> dict[str, Any]:
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        running, over = progress.counts(work, [test], now()).get(test.id, (0, 0))
        listed = len(pupils_of(work, test))
        return {"teacher": teacher, "test": test, "running": running, "over": over, "listed": listed, "mark": answers.pulse(work, test)}
