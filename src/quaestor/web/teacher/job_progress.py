"""Waiting for work in the background: a page asks how far its job is, with a script every moment, without one by loading itself again."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from quaestor.store import job_queue
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database
from quaestor.web.teacher.access import signed_in

routes = APIRouter(prefix="/teacher/jobs", route_class=Patient)


@routes.get("/{job}/progress", name="progress")
def progress(request: Request, job: int) -> Response:
    """How far a job is, for the page's own script."""
    with database(request).read() as work:
        found = job_queue.job_of(work, signed_in(request, work), job)
    return JSONResponse({"state": found.state, "share": found.share})


def begin(request: Request) -> None:
    """Tell whoever does the jobs that there is one; at once, if it is this very server."""
    for foreman in getattr(request.app.state, "foremen", ()):
        foreman.wake()
