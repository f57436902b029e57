"""Improve a bank from its answers: choose tests, see proposals beside the present tables, accept some, and there is a new version.

Those that were refused are kept in the job's record, apart from the others, and can be opened again.
"""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field

from quaestor.bankfile.statements import STATEMENT_FIELDS
from quaestor.errors import QuaestorError
from quaestor.i18n import said, say, unpacked
from quaestor.store import drafts, job_queue
from quaestor.store.models import Edition, Job
from quaestor.store.parts import Document, part, with_part
from quaestor.store.publishing import MissingError
from quaestor.store.sharing import EDIT
from quaestor.web.editor.opened_draft import EditedDraft, opened, shown
from quaestor.web.jobs.execution import Patient
from quaestor.web.jobs.learning import KIND, WEIGHTS, tests_of
from quaestor.web.render.pages import go
from quaestor.web.security.forms import Form, Id, Tick, read
from quaestor.web.teacher import job_progress
from quaestor.web.teacher.access import Posted

routes = APIRouter(prefix="/teacher/drafts/{draft}/improve", route_class=Patient)
STATED = {*STATEMENT_FIELDS, "prior", "shares", "strength"}
SMALL = 0.02  # a change of less is not worth a look


@routes.get("", name="improve")
def ask(request: Request, draft: int) -> Response:
    """The tests whose answers can be used, and earlier proposals."""
    with opened(request, draft, needed=EDIT) as edited:
        return _form(request, edited)


def _form(request: Request, edited: EditedDraft, status: int = 200, wrong: str = "") -> Response:
    bank = edited.checked.bank
    tests = tests_of(edited.work, edited.teacher.id, bank, edited.edition.media) if bank is not None else []
    earlier = job_queue.jobs_of(edited.work, edited.teacher, KIND, f"draft {edited.draft.id}")
    return shown(request, "improve.html", edited, status, tests=tests, earlier=earlier, weights=list(WEIGHTS), wrong=wrong)


class Learning(Form):
    """Tests to learn from, how much the author's own numbers count, and whether numbers become intervals."""

    test: list[Id] = Field(default_factory=list)
    weight: str = ""
    intervals: Tick = False


class Accepting(Form):
    """Proposals that were ticked, and what is to be done with them."""

    proposal: list[str] = Field(default_factory=list)
    act: str = ""


@routes.post("", name="improve-now")
def start(request: Request, draft: int, form: Posted) -> Response:
    """Learn from the chosen tests, in the background."""
    wanted = read(Learning, form)
    try:
        with opened(request, draft, writing=True) as edited:
            if edited.checked.bank is None:
                return _form(request, edited, 400, say("a bank with faults cannot be learnt; mend what is listed first"))
            known = tests_of(edited.work, edited.teacher.id, edited.checked.bank, edited.edition.media)
            tests = [test.id for test, count, _ in known if count and test.id in wanted.test]
            if not tests or wanted.weight not in WEIGHTS:
                return _form(request, edited, 400, say("please choose at least one test"))
            asked = {"draft": draft, "edition": edited.edition.number, "tests": tests, "weight": wanted.weight}
            made = job_queue.ask(edited.work, edited.teacher, KIND, f"draft {draft}", {**asked, "intervals": wanted.intervals})
    except QuaestorError as error:
        if type(error) is not QuaestorError:
            raise
        with opened(request, draft, needed=EDIT) as edited:
            return _form(request, edited, 400, said(error))
    job_progress.begin(request)
    return go(request, "proposals", draft=draft, job=made.id)


@routes.get("/{job}", name="proposals")
def show(request: Request, draft: int, job: int) -> Response:
    """How far it is, or the proposals."""
    with opened(request, draft, needed=EDIT) as edited:
        found = _found(edited, job)
        return _proposals(request, edited, found)


def _found(edited: EditedDraft, number: int) -> Job:
    """A job of this teacher about this draft."""
    found = job_queue.job_of(edited.work, edited.teacher, number, KIND)
    if found.asked["draft"] != edited.draft.id:
        raise MissingError(say("there is no such trial"))
    return found


def _proposals(request: Request, edited: EditedDraft, found: Job, status: int = 200, wrong: str = "") -> Response:
    told = found.found or {"proposals": [], "people": 0, "answers": 0, "warnings": []}
    listed = _listed(edited, found, told)
    groups: dict[str, list[dict[str, Any]]] = {"worth": [], "small": [], "refused": [], "same": []}
    for one in listed:
        is_worth = one["change"] >= SMALL or one["words"]
        group = "same" if one["state"] == "same" and not one["words"] else "worth" if is_worth else "small"
        groups["refused" if one["state"] == "refused" else group].append(one)
    failed = unpacked(found.words) if found.state == job_queue.FAILED else ""
    notes = {name: [unpacked(text) for text in told.get(name, ())] for name in ("warnings", "left_out", "fit")}
    choice = [{**one, "words": unpacked(one["words"])} for one in told.get("choice", ())]
    told_of = {"job": found, "told": told, "failed": failed, "wrong": wrong, "choice": choice}
    return shown(request, "proposals.html", edited, status, **told_of, **notes, **groups)


def _listed(edited: EditedDraft, found: Job, told: dict[str, Any]) -> list[dict[str, Any]]:
    """The proposals, each with what became of it: open, accepted, refused, or the bank has changed."""
    before, refused = _before(edited, found), told.get("refused", ())
    listed = []
    for one in told["proposals"]:
        path = (one["section"], one["id"])
        there = part(edited.document, path)
        was = part(before, path)
        state = "changed" if there not in (one["entry"], was) else "same" if was == one["entry"] else "accepted" if there != was else "open"
        state = "refused" if state == "open" and _key(one) in refused else state
        words = [unpacked(text) for text in one["words"]]
        stated = [_statement(was), _statement(one["entry"])]
        said_so = {"stated": stated, "before": unpacked(one["before"]), "after": unpacked(one["after"]), "words": words}
        listed.append({**one, **said_so, "state": state, "key": _key(one)})
    return sorted(listed, key=lambda one: (one["section"] != "skills", not one["words"], -one["change"]))


def _statement(entry: Any) -> dict[str, Any]:
    """The fields of an entry that state its table, or the template that does."""
    fields = entry if isinstance(entry, dict) else {}
    stated = {name: value for name, value in fields.items() if name in STATED}
    return stated or {name: value for name, value in fields.items() if name == "template"}


def _before(edited: EditedDraft, found: Job) -> Document:
    """The edition that was learnt from."""
    return drafts.document_of(drafts.edition(edited.work, edited.draft, found.asked["edition"]))


def _key(one: dict[str, Any]) -> str:
    return f"{one['section']}.{one['id']}"


@routes.post("/{job}", name="accept")
def accept(request: Request, draft: int, job: int, form: Posted) -> Response:
    """Accept the ticked proposals, refuse them, or open them again."""
    asked = read(Accepting, form)
    ticked = set(asked.proposal)
    with opened(request, draft, writing=True) as edited:
        found = _found(edited, job)
        if found.found is None or not ticked:
            return _proposals(request, edited, found, 400, say("please tick at least one proposal"))
        refused = set(found.found.get("refused", ()))
        if asked.act == "refuse":
            refused |= {_key(one) for one in found.found["proposals"]} & ticked
        else:
            refused -= ticked
            if asked.act != "open":
                _put(edited, found, ticked)
        found.found = {**found.found, "refused": sorted(refused)}
    return go(request, "proposals", draft=draft, job=job)


def _put(edited: EditedDraft, found: Job, ticked: set[str]) -> None:
    """One new version with the ticked proposals. What was edited meanwhile stays as it is, and does not count."""
    before = _before(edited, found)

    def fitting(document: Document) -> list[dict[str, Any]]:
        wanted = [one for one in found.found["proposals"] if _key(one) in ticked]
        there = {_key(one): part(document, (one["section"], one["id"])) for one in wanted}
        return [one for one in wanted if there[_key(one)] == part(before, (one["section"], one["id"])) != one["entry"]]

    def put(document: Document, _: Edition) -> Document:
        for one in fitting(document):
            document = with_part(document, (one["section"], one["id"]), one["entry"])
        return document

    count = len(fitting(edited.document))
    note = say("{count} {count:proposal|proposals} accepted from answers", count=count)
    drafts.rewrite(edited.work, edited.draft, edited.teacher, put, note)
