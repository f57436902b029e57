"""The grades of a test: the scheme may be set, changed or dropped at any time; levels and points stay as they are."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.store.outcomes import grades
from quaestor.store.sharing import EDIT
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.forms import Filled, FormError, again, read
from quaestor.web.teacher.access import Posted, reach_test
from quaestor.web.teacher.grades_form import Grading

routes = APIRouter(prefix="/teacher/tests/{number}/grades", route_class=Patient)


@routes.get("", name="grades")
def show(request: Request, number: int) -> Response:
    """The scheme, to be changed."""
    with database(request).read() as work:
        _, test = reach_test(request, work, number, EDIT)
    scheme = grades.stored(test.grades)
    by, written = (scheme.by, scheme.text) if scheme is not None else (grades.POINTS, "")
    return _form(request, number, Filled({"grades_by": by, "grades": written}))


def _form(request: Request, number: int, form: Filled) -> Response:
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number, EDIT)
    return page(request, "teacher/grades.html", 400 if form.wrong else 200, teacher=teacher, test=test, form=form)


@routes.post("", name="set-grades")
def put(request: Request, number: int, form: Posted) -> Response:
    """Set the scheme; an empty one means no grades."""
    try:
        scheme = read(Grading, form).scheme
    except FormError as error:
        return _form(request, number, again(error, Grading, form))
    with database(request).work() as work:
        reach_test(request, work, number, EDIT)[1].grades = scheme.document if scheme is not None else None
    return go(request, "results", number=number)
