"""A published practice test as one file that needs no server (`web.offline`), to be saved."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.i18n import say
from quaestor.selection.rules_file import read_rules
from quaestor.store.media import image
from quaestor.store.publishing import MissingError, open_bank
from quaestor.web.jobs.execution import Patient
from quaestor.web.offline.file import html_of
from quaestor.web.render.pages import database, language
from quaestor.web.teacher.access import download, reach_test

routes = APIRouter(prefix="/teacher/tests/{number}", route_class=Patient)


@routes.get("/offline.html", name="offline-file")
def file(request: Request, number: int) -> Response:
    """The file, in the language of the page; there is none of an exam, since the key is in it."""
    with database(request).read() as work:
        _, test = reach_test(request, work, number)
        if test.mode == "exam":
            raise MissingError(say("an exam is not given without a server: the key would be in the file"))
        bank, rules = open_bank(test.bank), read_rules(test.rules)
        images = {name: image(work, test.bank, name)[1] for name in test.bank.media}
    return download(html_of(bank, rules, language(request), images, with_graph=False).encode(), test.title, "html")
