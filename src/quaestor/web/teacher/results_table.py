"""The results of a test: a table for the eye, files for spreadsheets and programs, and what each column means."""

from dataclasses import replace

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.i18n import say
from quaestor.selection.rules_file import read_rules
from quaestor.selection.sureness import sure_above
from quaestor.store.outcomes import rescoring, results
from quaestor.store.outcomes.sheets import described
from quaestor.store.publishing import MissingError, open_bank
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, page
from quaestor.web.teacher.access import download, may_edit, reach_test
from quaestor.web.teacher.home import state

routes = APIRouter(prefix="/teacher/tests/{number}", route_class=Patient)
EACH = 100  # takers on a page


@routes.get("/results", name="results")
def show(request: Request, number: int, sheet: int = 1) -> Response:
    """Each taker with the level found of each skill, by name."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        sheets = max(1, -(-results.number(work, test) // EACH))
        at = min(max(sheet, 1), sheets)
        found = results.some(work, test, (at - 1) * EACH, EACH)
        left = len(rescoring.waiting(work, test))
        bank, above = open_bank(test.bank), sure_above(read_rules(test.rules))
    return page(
        request,
        "teacher/results.html",
        teacher=teacher,
        test=test,
        state=state(test),
        outcomes=found,
        bank=bank,
        sheet=at,
        sheets=sheets,
        left=left,
        above=above,
    )


@routes.get("/results.{ending}", name="results-file")
def file(request: Request, number: int, ending: str, every: bool = False) -> Response:
    """The results as a file: CSV, or XLSX with the meanings of the columns on a second sheet. `every`: attempts that do not count too."""
    with database(request).read() as work:
        _, test = reach_test(request, work, number)
        if ending not in ("csv", "xlsx"):
            raise MissingError(say("there is no such file"))
        bank, above = open_bank(test.bank), sure_above(read_rules(test.rules))
        found = results.outcomes(work, test, every)
    if not may_edit(request):
        found = [replace(one, code="") for one in found]  # who may look does not answer in a taker's place
    rows = results.table(found, bank)
    content = results.csv_bytes(rows) if ending == "csv" else results.xlsx_bytes(rows, results.dictionary(bank, above))
    return download(content, f"{test.title} results", ending)


@routes.get("/results/columns", name="columns")
def columns(request: Request, number: int) -> Response:
    """What each column of the files means."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        meanings = described(open_bank(test.bank), sure_above(read_rules(test.rules)))
    return page(request, "teacher/columns.html", teacher=teacher, test=test, meanings=meanings)
