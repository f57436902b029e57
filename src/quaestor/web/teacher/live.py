"""Watching a class: who is where, what is known of whom so far, and whom to put together.

The page stays as it is; only its rows are fetched again when the server tells that something changed. The stream that tells it holds no
connection to the database and no thread between two looks, so a hundred open pages cost little, and it works with any number of workers.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response, StreamingResponse
from sqlalchemy.orm import Session as Work
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from quaestor.errors import QuaestorError
from quaestor.report import classroom
from quaestor.report.groups import Member, groups
from quaestor.selection.rules_file import read_rules
from quaestor.selection.sureness import sure_above
from quaestor.store.attempts import answers
from quaestor.store.classes.class_lists import pupils_of
from quaestor.store.clock import now
from quaestor.store.database import UnavailableError
from quaestor.store.models import Published
from quaestor.store.outcomes import results
from quaestor.store.publishing import open_bank
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import class_colours
from quaestor.web.render.pages import database, page
from quaestor.web.teacher.access import reach_test
from quaestor.web.teacher.home import state

routes = APIRouter(prefix="/teacher/tests/{number}/live", route_class=Patient)
LOOK = 2.0  # seconds between two looks at the database
BEAT = 15.0  # seconds after which a silent stream says that it is there
LIFE = 600.0  # seconds after which a stream ends; the browser opens another one by itself


class Stream(StreamingResponse):
    """A stream without an end; when the server stops it is cancelled, and ends as if that was all."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve it."""
        try:
            await super().__call__(scope, receive, send)
        except asyncio.CancelledError:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


@routes.get("", name="live")
def show(request: Request, number: int) -> Response:
    """The live view."""
    return _page(request, number, "teacher/live.html")


@routes.get("/rows", name="live-rows")
def rows(request: Request, number: int, mark: str = "") -> Response:
    """The part of the live view that changes; nothing when it is still what the mark stands for."""
    if mark and mark == _mark(request, number):
        return Response(status_code=204)
    return _page(request, number, "teacher/live_rows.html")


def _page(request: Request, number: int, template: str) -> Response:
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        seen = _seen(work, test)
    return page(request, template, teacher=teacher, test=test, state=state(test), colours=class_colours, classroom=classroom, **seen)


def _seen(work: Work, test: Published) -> dict[str, Any]:
    mark = answers.pulse(work, test)
    found = classroom.present(results.outcomes(work, test))
    there = {outcome.pupil_id for outcome in found}
    absent = [pupil.name for pupil in pupils_of(work, test) if pupil.id not in there]
    seats = classroom.seats(found, answers.clocks(work, test), absent, now())
    bank = open_bank(test.bank)
    members = [Member(outcome.name, outcome.skills) for outcome in found]
    counted = {"counts": classroom.counts(seats), "groups": groups(bank, members)}
    return {"mark": mark, "seats": seats, "bank": bank, "above": sure_above(read_rules(test.rules)), **counted}


def _mark(request: Request, number: int) -> str:
    with database(request).read() as work:
        return answers.pulse(work, reach_test(request, work, number)[1])


@routes.get("/events", name="live-events")
async def events(request: Request, number: int, mark: str = "") -> Response:
    """A stream of server-sent events: one whenever the rows should be fetched again."""
    first = await run_in_threadpool(_mark, request, number)
    known = request.headers.get("last-event-id") or mark
    return Stream(_told(request, number, known, first), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


async def _told(request: Request, number: int, known: str, found: str) -> AsyncIterator[str]:
    began = spoke = time.monotonic()
    yield "retry: 5000\n\n"
    while True:
        if found != known:
            known, spoke = found, time.monotonic()
            yield f"id: {found}\nevent: changed\ndata: {found}\n\n"
        elif time.monotonic() - spoke >= BEAT:
            spoke = time.monotonic()
            yield ": still here\n\n"
        await asyncio.sleep(LOOK)
        if time.monotonic() - began > LIFE or await request.is_disconnected():
            return
        try:
            found = await run_in_threadpool(_mark, request, number)
        except UnavailableError:
            continue  # the database is away for a moment
        except QuaestorError:
            return  # signed out, or the test was deleted
