"""Letters of a test's results: one a taker, as a page that prints well and as PDF."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.bankfile.bank import Bank
from quaestor.report.letters import Letter, letter
from quaestor.selection.rules_file import read_rules
from quaestor.store.models import Published, Teacher
from quaestor.store.outcomes import results
from quaestor.store.publishing import open_bank
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, language, page
from quaestor.web.teacher.access import download, reach_test

routes = APIRouter(prefix="/teacher/tests/{number}", route_class=Patient)


@routes.get("/letters", name="letters")
def show(request: Request, number: int, attempt: int | None = None) -> Response:
    """The letters of all attempts that count and are over, by name, or of one attempt."""
    teacher, test, bank, written, waiting = _written(request, number, attempt)
    return page(request, "teacher/letters.html", teacher=teacher, test=test, bank=bank, written=written, waiting=waiting, only=attempt)


@routes.get("/letters.pdf", name="letters-file")
def file(request: Request, number: int, attempt: int | None = None) -> Response:
    """The same as PDF, a letter a page."""
    from quaestor.web.render import letter_pdf  # what draws it takes longer to load than most of the server

    _, test, _, written, _ = _written(request, number, attempt)
    return download(letter_pdf.made(written, test.title, language(request)), f"{test.title} letters", "pdf")


def _written(request: Request, number: int, attempt: int | None) -> tuple[Teacher, Published, Bank, list[Letter], int]:
    """What letters are made of, and the number of results that are still to be worked out."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        over = [one for one in results.outcomes(work, test) if one.state == "over"]
        bank, rules = open_bank(test.bank), read_rules(test.rules)
    chosen = [one for one in over if not one.waits and (one.counts if attempt is None else one.attempt_id == attempt)]
    chosen.sort(key=lambda one: (one.name.casefold(), one.attempt_id))
    return teacher, test, bank, [letter(bank, rules, one, test.grades is not None) for one in chosen], sum(one.waits for one in over)
