"""Results of a test without a server, read into the test from its page: files that takers saved, and codes that were scanned."""

from collections.abc import Iterator
from pathlib import PurePath

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData, UploadFile

from quaestor.errors import QuaestorError
from quaestor.formats.limits import read_text
from quaestor.i18n import say
from quaestor.store.publishing import MissingError
from quaestor.store.sharing import EDIT
from quaestor.web.jobs.execution import Patient
from quaestor.web.offline.collecting import Collected, Result, checked, collect, conditions_of, summary
from quaestor.web.offline.handed_in import HandedInError, results_in
from quaestor.web.render.pages import database, page
from quaestor.web.security.forms import Form, Text, read
from quaestor.web.teacher.access import Posted, reach_test

routes = APIRouter(prefix="/teacher/tests/{number}", route_class=Patient)


class HandedIn(Form):
    """Codes that were scanned, one a line; files come beside them."""

    codes: Text = ""


@routes.get("/collect", name="ask-collect")
def ask(request: Request, number: int) -> Response:
    """Which files, or codes."""
    return _shown(request, number)


@routes.post("/collect", name="collect")
def take(request: Request, number: int, form: Posted) -> Response:
    """Read results into the test, and tell what became of each."""
    with database(request).read() as work:
        _, test = reach_test(request, work, number, EDIT)  # before anything is read
        unread: list[str] = []
        sent = list(_sent(form, unread))
        found, report = checked(work, test, sent)
    if not sent and not unread:
        return _shown(request, number, wrong=say("please choose a file, or paste a code"))
    with database(request).work() as work:
        _, test = reach_test(request, work, number, EDIT)
        report = collect(work, test, found, report)
    report.refused[:0] = unread
    return _shown(request, number, report)


def _sent(form: FormData, unread: list[str]) -> Iterator[Result]:
    """The results of a form; `unread` gets what is wrong with files that hold none."""
    codes = read(HandedIn, form).codes
    texts = [(str(say("Scanned codes")), codes.encode())] if codes else []
    files = [file for file in form.getlist("results") if isinstance(file, UploadFile) and file.filename]
    for name, content in [*texts, *((PurePath(str(file.filename)).name[:200], file.file.read()) for file in files)]:
        try:
            yield from results_in(read_text(content), name)
        except HandedInError as error:
            unread.append(error.args[0])
        except QuaestorError as error:
            unread.append(say("{place}: {words}", place=name, words=error.args[0]))


def _shown(request: Request, number: int, report: Collected | None = None, wrong: str = "") -> Response:
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number, EDIT)
        try:
            conditions_of(test)
        except QuaestorError as error:
            raise MissingError(error.args[0]) from error
    told = summary(report) if report is not None else ""
    return page(request, "teacher/collect.html", 400 if wrong else 200, teacher=teacher, test=test, report=report, told=told, wrong=wrong)
