"""Where a teacher begins: their tests with what goes on in them, and the banks they write."""

from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import func, select

from quaestor.store import drafts, publishing, sharing
from quaestor.store.attempts import progress
from quaestor.store.clock import now
from quaestor.store.models import Published, Pupil
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, page
from quaestor.web.security.browsers import root
from quaestor.web.teacher.access import signed_in

PATH = "/teacher"
routes = APIRouter(route_class=Patient)
NEWEST = 5  # banks that are shown


@routes.get(PATH, name="tests")
def overview(request: Request) -> Response:
    """What a teacher sees first."""
    with database(request).read() as work:
        teacher = signed_in(request, work)
        tests = publishing.published_by(work, teacher)
        shared = sharing.lent_to(work, teacher, Published)
        borrowed = [one.thing for one in shared]
        takers = progress.counts(work, [*tests, *borrowed], now())
        listed = select(Published.id, func.count()).join(Pupil, Pupil.class_id == Published.class_id)
        pupils = dict(iter(work.execute(listed.where(sharing.within_reach(teacher, Published)).group_by(Published.id))))
        banks = drafts.drafts_of(work, teacher)
        readers = sharing.readers(work, teacher, Published)
    states = {test.id: state(test) for test in (*tests, *borrowed)}
    return page(
        request,
        "teacher/home.html",
        teacher=teacher,
        tests=tests,
        takers=takers,
        pupils=pupils,
        states=states,
        shared=shared,
        readers=readers,
        banks=banks[:NEWEST],
        more=len(banks) - NEWEST,
    )


@routes.get("/desk{rest:path}", name="earlier-address")
@routes.post("/desk{rest:path}", name="earlier-form")
def moved(request: Request, rest: str) -> Response:
    """Teachers' pages had other addresses once, which stand in bookmarks, messages and pages that are still open."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(root(request) + PATH + quote(rest) + query, 308)


def state(test: Published) -> str:
    """Whether a test is open, closed, or not open yet."""
    if test.closes is not None and test.closes <= now():
        return "closed"
    return "waiting" if test.opens is not None and test.opens > now() else "running"
