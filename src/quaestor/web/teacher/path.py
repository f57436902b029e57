"""One taker's path through a test: every question with its reason and what its answer changed; their data to export or to delete."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say, together
from quaestor.model.question import Question
from quaestor.report.advice import findings
from quaestor.report.letters import letter
from quaestor.report.marking import worth
from quaestor.session.explain.changes import changes
from quaestor.session.explain.reasons import Change, WhyQuestion
from quaestor.session.explain.why import explain, why_question
from quaestor.session.limited import PATH, WHY, Path
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.store import privacy
from quaestor.store.attempts import pace
from quaestor.store.attempts.pace import is_quick
from quaestor.store.attempts.state import attempt_of
from quaestor.store.attempts.taking import state_of
from quaestor.store.models import Attempt, Teacher
from quaestor.store.outcomes.changes import changes_of
from quaestor.store.outcomes.results import outcome_of
from quaestor.store.publishing import MissingError
from quaestor.store.sharing import EDIT, LOOK
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import addresses, database, go, page
from quaestor.web.teacher.access import Posted, download, may_edit, reach_test

routes = APIRouter(prefix="/teacher/tests/{number}/takers/{attempt}", route_class=Patient)
QUICK = 5000  # questions of the bank times answers: up to these the page says why each was asked, else each has a page of its own


@dataclass(frozen=True)
class Station:
    """A question on the path. `value`: right, partly, wrong or skipped; `why`: why it was asked, where that is quickly told.

    What its answer changed: `changes` of the question's own skills, `elsewhere` of others.
    """

    question: Question
    line: Answer
    value: str
    why: WhyQuestion | None
    changes: Sequence[Change]
    elsewhere: Sequence[Change]


def stations(session: Session, changed_by: Sequence[Sequence[Change]]) -> list[Station]:
    """The path of a session, in order. In a credal bank a reason takes a second to work out, so each has a page of its own.

    `changed_by`: what each answer changed.
    """
    found = []
    quick = session.bank.is_precise and len(session.bank.questions) * len(session.log) <= QUICK
    for before, line, changed in zip(session.so_far, session.log, changed_by, strict=False):
        if isinstance(line, Answer):
            question = session.bank.questions[line.question]
            own = [change for change in changed if change.skill in question.skills]
            others = [change for change in changed if change.skill not in question.skills]
            found.append(Station(question, line, worth(question, line), _why(before, question) if quick else None, own, others))
    return found


def _why(before: Session, question: Question) -> WhyQuestion | None:
    try:
        why = why_question(before) if is_quick(before.bank, before.rules) else pace.found(WHY, before)
    except QuaestorError:
        return None  # a reason that cannot be worked out must not hide the path
    return why if why is not None and why.question.id == question.id else None


def _of(request: Request, work: Work, number: int, attempt: int, needed: str = LOOK) -> tuple[Teacher, Attempt]:
    teacher, test = reach_test(request, work, number, needed)
    return teacher, attempt_of(work, test, attempt)


@routes.get("", name="path")
def show(request: Request, number: int, attempt: int) -> Response:
    """The path, what was found, and which answers made it so."""
    with database(request).read() as work:
        teacher, found = _of(request, work, number, attempt)
        stands = state_of(work, found)
        changes, outcome = changes_of(work, found), outcome_of(work, found)
        found.test.bank  # noqa: B018  the page asks for its images; a session that is remembered has not read it
    session, known = stands.session, findings(stands.session)
    path = _path(session, fits=outcome.hint is False)
    told = path.explanation if path is not None else None
    numbers = [told.results[one.skill].numbers for one in known if one.enough] if told is not None else []
    return page(
        request,
        "teacher/path.html",
        teacher=teacher,
        test=found.test,
        attempt=found,
        stands=stands,
        bank=session.bank,
        findings=known,
        numbers=together([one for one in numbers if one], "\n\n"),
        letter=letter(session.bank, session.rules, outcome, found.test.grades is not None),
        stations=stations(session, path.changes if path is not None else [()] * len(session.log)),
        told=told,
        changes=changes,
        picture=addresses(request, found.test.bank),
    )


def _path(session: Session, fits: bool) -> Path | None:
    """How a session got where it is; None where that takes too long."""
    if is_quick(session.bank, session.rules):
        return Path(changes(session), [then.beliefs for then in session.so_far], explain(session, fits=fits))
    found: Path | None = pace.found(PATH, session)
    return found


@routes.get("/why/{step}", name="why")
def why(request: Request, number: int, attempt: int, step: int) -> Response:
    """Why the question of a step was asked."""
    with database(request).read() as work:
        teacher, found = _of(request, work, number, attempt)
        session = state_of(work, found).session
    if not 1 <= step <= len(session.log):
        raise MissingError(say("there is no such question"))
    before, line = session.so_far[step - 1], session.log[step - 1]
    assert isinstance(line, Answer)  # an attempt's log holds nothing else
    question = session.bank.questions[line.question]
    told = _why(before, question)
    slow = told is None and not is_quick(session.bank, session.rules)
    return page(
        request,
        "teacher/why.html",
        teacher=teacher,
        test=found.test,
        attempt=found,
        bank=session.bank,
        question=question,
        why=told,
        slow=slow,
    )


@routes.get("/export.json", name="export-taker")
def export(request: Request, number: int, attempt: int) -> Response:
    """All that is kept of one taker."""
    with database(request).read() as work:
        _, found = _of(request, work, number, attempt)
        content = privacy.export(work, found, codes=may_edit(request))
    return download(json.dumps(content, ensure_ascii=False, indent=1).encode(), f"{found.test.title} {found.name}", "json")


@routes.get("/delete", name="ask-drop-taker")
def ask_drop(request: Request, number: int, attempt: int) -> Response:
    """Whether a taker's data should really go."""
    with database(request).read() as work:
        teacher, found = _of(request, work, number, attempt, EDIT)
        asked = len(state_of(work, found).session.asked)
    return page(request, "teacher/drop_taker.html", teacher=teacher, test=found.test, attempt=found, asked=asked)


@routes.post("/delete", name="drop-taker")
def drop(request: Request, number: int, attempt: int, form: Posted) -> Response:
    """Delete a taker's data: name, answers, result."""
    with database(request).work() as work:
        _, found = _of(request, work, number, attempt, EDIT)
        privacy.delete(work, found)
    return go(request, "results", number=number)
