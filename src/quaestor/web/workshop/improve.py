"""Improve a bank from its answers: choose tests, see proposals beside the present tables, accept some, and there is a new version."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.errors import QuaestorError
from quaestor.saying import said, say, unpacked
from quaestor.store import drafts, jobs
from quaestor.store.models import Edition, Job
from quaestor.store.parts import Document, part, with_part
from quaestor.store.publishing import MissingError
from quaestor.web.desk.access import Posted
from quaestor.web.pages import go
from quaestor.web.visits import field
from quaestor.web.workshop.bench import Bench, opened, shown
from quaestor.web.workshop.improving import KIND, WEIGHTS, tests_of

routes = APIRouter(prefix="/desk/drafts/{draft}/improve")
SMALL = 0.02  # a change of less is not worth a look


@routes.get("", name="improve")
def ask(request: Request, draft: int) -> Response:
    """The tests whose answers can be used, and earlier proposals."""
    with opened(request, draft) as bench:
        return _form(request, bench)


def _form(request: Request, bench: Bench, status: int = 200, wrong: str = "") -> Response:
    bank = bench.checked.bank
    tests = tests_of(bench.work, bench.teacher.id, bank) if bank is not None else []
    earlier = jobs.jobs_of(bench.work, bench.teacher, KIND, f"draft {bench.draft.id}")
    return shown(request, "improve.html", bench, status, tests=tests, earlier=earlier, weights=list(WEIGHTS), wrong=wrong)


@routes.post("", name="improve-now")
def start(request: Request, draft: int, form: Posted) -> Response:
    """Learn from the chosen tests, in the background."""
    chosen = {int(value) for value in form.getlist("test") if isinstance(value, str) and value.isdecimal() and len(value) < 10}
    weight = field(form, "weight")
    try:
        with opened(request, draft, writing=True) as bench:
            if bench.checked.bank is None:
                return _form(request, bench, 400, say("a bank with faults cannot be learnt; mend what is listed first"))
            tests = [test.id for test, _ in tests_of(bench.work, bench.teacher.id, bench.checked.bank) if test.id in chosen]
            if not tests or weight not in WEIGHTS:
                return _form(request, bench, 400, say("please choose at least one test"))
            asked = {"draft": draft, "edition": bench.edition.number, "tests": tests, "weight": weight}
            made = jobs.ask(bench.work, bench.teacher, KIND, f"draft {draft}", {**asked, "intervals": bool(field(form, "intervals"))})
    except QuaestorError as error:
        if type(error) is not QuaestorError:
            raise
        with opened(request, draft) as bench:
            return _form(request, bench, 400, said(error))
    foreman = getattr(request.app.state, "foreman", None)
    if foreman is not None:
        foreman.wake()
    return go(request, "proposals", draft=draft, job=made.id)


@routes.get("/{job}", name="proposals")
def show(request: Request, draft: int, job: int) -> Response:
    """How far it is, or the proposals."""
    with opened(request, draft) as bench:
        found = _found(bench, job)
        return _proposals(request, bench, found)


def _found(bench: Bench, number: int) -> Job:
    """A job of this teacher about this draft."""
    found = jobs.job_of(bench.work, bench.teacher, number, KIND)
    if found.asked["draft"] != bench.draft.id:
        raise MissingError(say("there is no such trial"))
    return found


def _proposals(request: Request, bench: Bench, found: Job, status: int = 200, wrong: str = "") -> Response:
    told = found.found or {"proposals": [], "people": 0, "answers": 0, "warnings": []}
    before = drafts.document_of(drafts.edition(bench.work, bench.draft, found.asked["edition"]))
    listed = []
    for one in told["proposals"]:
        path = (one["section"], one["id"])
        there = part(bench.document, path)
        state = "accepted" if there == one["entry"] else "open" if there == part(before, path) else "changed"
        words = [unpacked(text) for text in one["words"]]
        listed.append({**one, "before": unpacked(one["before"]), "after": unpacked(one["after"]), "words": words, "state": state})
    listed.sort(key=lambda one: (one["section"] != "skills", not one["words"], -one["change"]))
    worth = [one for one in listed if one["change"] >= SMALL or one["words"]]
    failed = unpacked(found.words) if found.state == jobs.FAILED else ""
    small = len(listed) - len(worth)
    return shown(request, "proposals.html", bench, status, job=found, told=told, worth=worth, small=small, failed=failed, wrong=wrong)


@routes.post("/{job}", name="accept")
def accept(request: Request, draft: int, job: int, form: Posted) -> Response:
    """Accept the ticked proposals: one new version. What was edited meanwhile stays as it is."""
    ticked = {value for value in form.getlist("accept") if isinstance(value, str)}
    with opened(request, draft, writing=True) as bench:
        found = _found(bench, job)
        if found.found is None or not ticked:
            return _proposals(request, bench, found, 400, say("please tick at least one proposal"))
        before = drafts.document_of(drafts.edition(bench.work, bench.draft, found.asked["edition"]))
        wanted = [one for one in found.found["proposals"] if f"{one['section']}.{one['id']}" in ticked]

        def put(document: Document, _: Edition) -> Document:
            for one in wanted:
                path = (one["section"], one["id"])
                if part(document, path) == part(before, path):
                    document = with_part(document, path, one["entry"])
            return document

        drafts.rewrite(
            bench.work, bench.draft, bench.teacher, put, say("{count} {count:proposal|proposals} accepted from answers", count=len(wanted))
        )
    return go(request, "proposals", draft=draft, job=job)
