"""The grades of a test as files for other systems: Moodle, Canvas, OneRoster, xAPI (`report.gradebooks`)."""

from collections.abc import Callable

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.i18n import say
from quaestor.report import gradebooks
from quaestor.store.models import Attempt, Published, Pupil, SchoolClass
from quaestor.store.outcomes import grades, results
from quaestor.store.publishing import MissingError
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, public_url
from quaestor.web.teacher.access import download, reach_test

routes = APIRouter(prefix="/teacher/tests/{number}/grades", route_class=Patient)
SYSTEMS: dict[str, tuple[Callable[[gradebooks.Sheet], bytes], str]] = {
    "moodle": (gradebooks.moodle, "csv"),
    "canvas": (gradebooks.canvas, "csv"),
    "oneroster": (gradebooks.oneroster, "zip"),
    "xapi": (gradebooks.xapi, "json"),
}


@routes.get("/{system}", name="gradebook-file")
def file(request: Request, number: int, system: str) -> Response:
    """The attempts that count, as a file for another system."""
    if system not in SYSTEMS:
        raise MissingError(say("there is no such file"))
    with database(request).read() as work:
        _, test = reach_test(request, work, number)
        sheet = _sheet(work, test, public_url(request, "test", number=number))
    write, ending = SYSTEMS[system]
    return download(write(sheet), f"{test.title} {system}", ending)


def _sheet(work: Work, test: Published, address: str) -> gradebooks.Sheet:
    scheme = grades.stored(test.grades)
    pupils = select(Attempt.id, Pupil.source).join(Pupil, Pupil.id == Attempt.pupil_id).where(Attempt.test_id == test.id)
    sources: dict[int, str] = {row[0]: row[1] for row in work.execute(pupils)}
    school_class = work.get(SchoolClass, test.class_id) if test.class_id is not None else None
    lines = [
        gradebooks.Line(
            one.name,
            sources.get(one.attempt_id, ""),
            grades.score_of(one, scheme),
            one.grade,
            one.ended if one.state == "over" else None,
            one.minutes,
            {skill: finding.level for skill, finding in one.skills.items() if finding.enough and len(finding.possible) == 1},
            str(one.attempt_id),
            test.revision,
        )
        for one in results.outcomes(work, test, every=False)
    ]
    return gradebooks.Sheet(test.title, address, lines, school_class.source if school_class is not None else "")
