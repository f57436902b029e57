"""Trying a bank on simulated students: the form, the progress of a trial, and what came of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session as Work

from quaestor import __version__
from quaestor.bankfile.bank import Bank
from quaestor.errors import Problem, QuaestorError
from quaestor.formats import yaml_text
from quaestor.i18n import unpacked
from quaestor.report.trial import compared, told_of, verdict
from quaestor.selection.rules_file import read_rules
from quaestor.store import drafts, job_queue, sharing
from quaestor.store.models import Job, Teacher
from quaestor.store.parts import SECTIONS
from quaestor.store.publishing import open_bank
from quaestor.store.sharing import EDIT
from quaestor.web.editor.check import checked
from quaestor.web.editor.vocabulary import told as words_of_forms
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.histogram import histogram
from quaestor.web.render.language import translate
from quaestor.web.render.pages import database, go, language, page, url
from quaestor.web.security.forms import Form, read, wrong_in
from quaestor.web.teacher import job_progress
from quaestor.web.teacher.access import Posted, signed_in
from quaestor.web.teacher.rules_form import PACE_LENGTHS, length, named
from quaestor.web.teacher.trial_form import FEWEST, KIND, MOST, Trial, TrialFields, blank, rules_of, sent

routes = APIRouter(prefix="/teacher", route_class=Patient)


class Side(Form):
    """Which of two sets of rules that were compared."""

    side: str = "0"


@dataclass(frozen=True)
class Source:
    """What is tried: a draft's latest edition (with its problems when it has some) or a kept bank.

    `action`: where the form is sent; `frame`: what the editor's frame around the form shows of a draft.
    """

    subject: str
    place: dict[str, int]
    title: str
    back: str
    action: str
    bank: Bank | None
    problems: tuple[Problem, ...] = ()
    frame: dict[str, Any] | None = None


@routes.get("/drafts/{draft}/try", name="try")
def ask_draft(request: Request, draft: int) -> Response:
    """The form for a draft, and earlier trials."""
    return _form(request, *_of(request, _draft, draft))


@routes.post("/drafts/{draft}/try", name="try-now")
def put_draft(request: Request, draft: int, form: Posted) -> Response:
    """Start a trial of a draft."""
    return _start(request, *_of(request, _draft, draft), form)


@routes.get("/banks/{number}/try", name="try-bank")
def ask_bank(request: Request, number: int) -> Response:
    """The form for a kept bank, and earlier trials."""
    return _form(request, *_of(request, _kept, number))


@routes.post("/banks/{number}/try", name="try-bank-now")
def put_bank(request: Request, number: int, form: Posted) -> Response:
    """Start a trial of a kept bank."""
    return _start(request, *_of(request, _kept, number), form)


Find = Callable[[Request, Work, Teacher, int], tuple[Source, list[Job]]]


def _of(request: Request, find: Find, number: int) -> tuple[Teacher, Source, list[Job]]:
    """Who asks, what is to be tried, and earlier trials of it."""
    with database(request).read() as work:
        teacher = signed_in(request, work)
        return teacher, *find(request, work, teacher, number)


def _draft(request: Request, work: Work, teacher: Teacher, number: int) -> tuple[Source, list[Job]]:
    draft = sharing.draft_for(work, teacher, number, EDIT)
    head = drafts.edition(work, draft)
    document = drafts.document_of(head)
    found = checked(head, document)
    place, action = {"draft": draft.id, "edition": head.number}, url(request, "try", draft=draft.id)
    problems = words_of_forms(found.problems, partial(translate, language(request)))
    frame = {"draft": draft, **{section: document.get(section) or {} for section in SECTIONS}}
    source = Source(f"draft {draft.id}", place, draft.title, url(request, "draft", draft=draft.id), action, found.bank, problems, frame)
    return source, list(job_queue.jobs_of(work, teacher, KIND, source.subject))


def _kept(request: Request, work: Work, teacher: Teacher, number: int) -> tuple[Source, list[Job]]:
    kept = sharing.bank_for(work, teacher, number, EDIT)
    back, action = url(request, "bank", number=kept.id), url(request, "try-bank", number=kept.id)
    source = Source(f"bank {kept.id}", {"bank": kept.id}, kept.title, back, action, open_bank(kept))
    return source, list(job_queue.jobs_of(work, teacher, KIND, source.subject))


def _form(request: Request, teacher: Teacher, source: Source, earlier: list[Job], form: Trial | None = None, status: int = 200) -> Response:
    if form is None and source.bank is not None:
        form = blank(source.bank)
    names = {job.id: [named(one["filled"]) for one in job.asked["sets"]] for job in earlier}
    template = "editor/trial_form.html" if source.frame is None else "editor/try.html"
    values = {
        "source": source,
        "form": form,
        "bank": source.bank,
        "earlier": earlier,
        "names": names,
        "students": (FEWEST, MOST),
        "paces": PACE_LENGTHS,
    }
    return page(request, template, status, teacher=teacher, **values, **(source.frame or {}))


def _start(request: Request, teacher: Teacher, source: Source, earlier: list[Job], posted: Any) -> Response:
    if source.bank is None:
        return _form(request, teacher, source, earlier, status=400)
    form, asked = sent(posted, source.bank)
    if not asked:
        return _form(request, teacher, source, earlier, form, 400)
    try:
        with database(request).work() as work:
            by = signed_in(request, work)
            _still_allowed(work, by, source.place)
            made = job_queue.ask(work, by, KIND, source.subject, {"title": source.title, "source": source.place, **asked})
    except QuaestorError as error:
        form.first.wrong |= wrong_in(error, TrialFields)
        return _form(request, teacher, source, earlier, form, 400)
    job_progress.begin(request)
    return go(request, "trial", job=made.id)


def _still_allowed(work: Work, teacher: Teacher, place: Mapping[str, int]) -> None:
    if "draft" in place:
        sharing.draft_for(work, teacher, place["draft"], EDIT)
    else:
        sharing.bank_for(work, teacher, place["bank"], EDIT)


@routes.get("/trials/{job}", name="trial")
def show(request: Request, job: int) -> Response:
    """How far a trial is, or what came of it."""
    with database(request).read() as work:
        teacher = signed_in(request, work)
        found = job_queue.job_of(work, teacher, job, KIND)
    asked, source = found.asked, found.asked["source"]
    sets = [read_rules(one["rules"]) for one in asked["sets"]]
    values: dict[str, Any] = {
        "names": [named(one["filled"]) for one in asked["sets"]],
        "lengths": [length(rules) for rules in sets],
        "written": [yaml_text.write(one["rules"]) if one["rules"] else "" for one in asked["sets"]],
        "again": url(request, "try", draft=source["draft"]) if "draft" in source else url(request, "try-bank", number=source["bank"]),
        "back": url(request, "draft", draft=source["draft"]) if "draft" in source else url(request, "bank", number=source["bank"]),
        "version": __version__,
        "failed": unpacked(found.words) if found.state == job_queue.FAILED else "",
    }
    if found.state == job_queue.DONE:
        sides = told_of(found.found)
        values["verdicts"] = [verdict(found.found, number) for number in range(len(sides))]
        values |= {"sides": sides, "compared": compared(found.found, sides), "pictures_of": [histogram(side.lengths) for side in sides]}
    return page(request, "editor/trial.html", teacher=teacher, job=found, asked=asked, found=found.found, **values)


@routes.post("/trials/{job}/delete", name="drop-trial")
def drop(request: Request, job: int, form: Posted) -> Response:
    """Cancel a trial, or forget what came of it."""
    with database(request).work() as work:
        found = job_queue.job_of(work, signed_in(request, work), job, KIND)
        source = found.asked["source"]
        job_queue.drop(work, found)
    return go(request, "try", draft=source["draft"]) if "draft" in source else go(request, "try-bank", number=source["bank"])


@routes.post("/trials/{job}/publish", name="publish-tried")
def publish_tried(request: Request, job: int, form: Posted) -> Response:
    """Freeze the bank as it was tried, and go to the form for publishing with these rules filled in."""
    side = int(read(Side, form).side == "1")
    with database(request).work() as work:
        teacher = signed_in(request, work)
        source = job_queue.job_of(work, teacher, job, KIND).asked["source"]
        rules_of(work, teacher, job, side)  # before anything is kept
        number = source.get("bank")
        if number is None:
            draft = sharing.draft_for(work, teacher, source["draft"], EDIT)
            number = drafts.freeze(work, teacher, drafts.edition(work, draft, source["edition"])).id
    return RedirectResponse(f"{url(request, 'publish', number=number)}?trial={job}&side={side}", 303)
