"""The grades of a test: the scheme may be set, changed or dropped at any time; levels and points stay as they are."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.errors import QuaestorError
from quaestor.i18n import said
from quaestor.store.outcomes import grades
from quaestor.store.sharing import EDIT
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.browsers import field
from quaestor.web.teacher.access import Posted, reach_test

routes = APIRouter(prefix="/teacher/tests/{number}/grades", route_class=Patient)


@routes.get("", name="grades")
def show(request: Request, number: int) -> Response:
    """The scheme, to be changed."""
    with database(request).read() as work:
        _, test = reach_test(request, work, number, EDIT)
    scheme = grades.stored(test.grades)
    return _form(request, number, scheme.by if scheme is not None else grades.POINTS, scheme.text if scheme is not None else "")


def _form(request: Request, number: int, by: str, written: str, wrong: str = "") -> Response:
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number, EDIT)
    return page(request, "teacher/grades.html", 400 if wrong else 200, teacher=teacher, test=test, by=by, written=written, wrong=wrong)


@routes.post("", name="set-grades")
def put(request: Request, number: int, form: Posted) -> Response:
    """Set the scheme; an empty one means no grades."""
    by, written = field(form, "grades_by") or grades.POINTS, field(form, "grades")
    try:
        scheme = grades.read(written, by)
    except QuaestorError as error:
        return _form(request, number, by, written, said(error))
    with database(request).work() as work:
        reach_test(request, work, number, EDIT)[1].grades = scheme.document if scheme is not None else None
    return go(request, "results", number=number)
