"""Publishing a test: the form, and what comes of it."""

from collections.abc import Mapping, Sequence
from functools import cache

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.formats.files import bundled_banks, load
from quaestor.i18n import say
from quaestor.store.classes.class_lists import classes_of
from quaestor.store.models import BankVersion, Published, SchoolClass, Teacher
from quaestor.store.publishing import open_bank, open_with, publish
from quaestor.store.sharing import EDIT, lent_to
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.forms import Filled, again, read
from quaestor.web.teacher.access import Posted, reach_bank
from quaestor.web.teacher.cost import cost_of
from quaestor.web.teacher.publish_form import Publishing, blank
from quaestor.web.teacher.rules_form import PACE_LENGTHS
from quaestor.web.teacher.trial_form import rules_of

routes = APIRouter(prefix="/teacher/banks/{number}/publish", route_class=Patient)
MOST_NAMED = 3  # other tests of the same bank that are named


@routes.get("", name="publish")
def ask(request: Request, number: int, trial: int | None = None, side: int = 0) -> Response:
    """The form with defaults that are right for most, or with the rules of a trial; `side`: which of two that were compared."""
    with database(request).read() as work:
        teacher, kept, bank = _found(request, work, number)
        others = open_with(work, teacher, kept)
        tried = rules_of(work, teacher, trial, side) if trial is not None else {}
        classes = _classes(work, teacher)
    return _show(request, teacher, kept, bank, others, classes, Filled({**blank(bank, kept.title), **tried}))


@routes.post("", name="publish-now")
def put(request: Request, number: int, form: Posted) -> Response:
    """Publish, or the form again with what is wrong beside each field."""
    with database(request).read() as work:
        teacher, kept, bank = _found(request, work, number)
        others, classes = open_with(work, teacher, kept), _classes(work, teacher)
    try:
        asked = read(Publishing, form, bank=bank, classes=classes)
        rules, scheme = asked.rules_of(bank), asked.scheme
        with database(request).work() as work:
            by, of, _ = _found(request, work, number)
            made = publish(work, by, of, rules, asked.conditions, asked.title, asked.once)
            made.grades = scheme.document if scheme is not None else None
    except QuaestorError as error:
        return _show(request, teacher, kept, bank, others, classes, again(error, Publishing, form), 400)
    return go(request, "test", number=made.id)


def _classes(work: Work, teacher: Teacher) -> dict[str, str]:
    """The classes that a test can be for: their titles by number."""
    lent = [one for one in lent_to(work, teacher, SchoolClass) if one.extent == EDIT and one.thing.archived is None]
    shared = {str(one.thing.id): say("{title} (shared by {name})", title=one.thing.title, name=one.whose) for one in lent}
    return {str(one.id): one.title for one in classes_of(work, teacher)} | shared


def _found(request: Request, work: Work, number: int) -> tuple[Teacher, BankVersion, Bank]:
    teacher, kept = reach_bank(request, work, number, EDIT)
    return teacher, kept, open_bank(kept)


def _show(
    request: Request,
    teacher: Teacher,
    kept: BankVersion,
    bank: Bank,
    others: Sequence[Published],
    classes: Mapping[str, str],
    form: Filled,
    status: int = 200,
) -> Response:
    known = {
        "classes": classes,
        "paces": PACE_LENGTHS,
        "ruling": _ruling_out(bank),
        "cost": cost_of(request, bank),
        "shown_by": [test.title for test in others if test.mode == "practice"][:MOST_NAMED],
        "spoilt": [test.title for test in others if test.mode == "exam"][:MOST_NAMED],
        "bundled": bank.model_version in _bundled(),
    }
    return page(request, "teacher/publish.html", status, teacher=teacher, kept=kept, bank=bank, form=form, **known)


@cache
def _bundled() -> frozenset[str]:
    """The banks that come with this software, whose keys everybody can read, by their skills and tables: titles and words may differ."""
    return frozenset(load(name).model_version for name in bundled_banks())


def _ruling_out(bank: Bank) -> str:
    """The first question that rules an answer out at some level; empty where there is none."""
    return next((question.id for question in bank.questions.values() if not question.table.upper.all()), "")
