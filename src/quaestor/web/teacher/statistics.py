"""What a test tells of its questions, and the report of a class to print."""

from dataclasses import replace

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.learn.arrivals import Arrival
from quaestor.learn.drift import ALARM, POINTS
from quaestor.report import flags
from quaestor.report.groups import Member, groups, next_skills, spread
from quaestor.report.statistics import LIKELY, Statistic, probabilities, statistics
from quaestor.report.watch import watch
from quaestor.selection.rules_file import read_rules
from quaestor.selection.sureness import sure_above
from quaestor.store.attempts import answers
from quaestor.store.classes.class_lists import pupils_of
from quaestor.store.clock import now
from quaestor.store.models import Published
from quaestor.store.outcomes import results
from quaestor.store.outcomes.outcome import Outcome
from quaestor.store.publishing import open_bank
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import class_colours
from quaestor.web.render.pages import database, page
from quaestor.web.teacher.access import reach_test
from quaestor.web.teacher.home import state

routes = APIRouter(prefix="/teacher/tests/{number}", route_class=Patient)
EACH = 50  # questions on a page
HINTS = 8  # questions that the report names


@routes.get("/questions", name="statistics")
def show(request: Request, number: int, sheet: int = 1) -> Response:
    """Question by question: those that somebody should look at first, then those asked most."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        bank = open_bank(test.bank)
        found = _statistics(work, test, bank, results.outcomes(work, test))
    asked = {one.question.id for one in found}
    sheets = max(1, -(-len(found) // EACH))
    at = min(max(sheet, 1), sheets)
    return page(
        request,
        "teacher/statistics.html",
        teacher=teacher,
        test=test,
        state=state(test),
        bank=bank,
        found=found[(at - 1) * EACH : at * EACH],
        asked=len(found),
        unasked=[question for name, question in bank.questions.items() if name not in asked],
        withdrawn=read_rules(test.rules).withdrawn,
        answers=sum(one.asked for one in found),
        flagged=sum(bool(one.flags) for one in found),
        never=len(bank.questions) - len(found),
        sheet=at,
        sheets=sheets,
        colours=class_colours,
        rules=flags,
        likely=LIKELY,
        alarm=round(1 / ALARM),
        drift=POINTS,
    )


def _statistics(work: Work, test: Published, bank: Bank, found: list[Outcome]) -> list[Statistic]:
    """The statistics, with what changed while answers came in among the flags."""
    lines = answers.in_time(work, test)
    moved, tried = watch(bank, [Arrival(line.attempt, line.question, str(line.answer)) for line in lines])
    listed = []
    for one in statistics(bank, answers.given(work, test), probabilities(found)):
        name = one.question.id
        more = (moved[name],) if name in moved else ()
        listed.append(replace(one, flags=(*more, *one.flags), tried=tried.get(name, "")))
    return sorted(listed, key=lambda one: (-len(one.flags), -one.asked))


@routes.get("/report", name="report")
def report(request: Request, number: int, pupils: bool = False) -> Response:
    """One page for the class; `pupils`: and a block for each pupil."""
    with database(request).read() as work:
        teacher, test = reach_test(request, work, number)
        bank = open_bank(test.bank)
        found = results.outcomes(work, test)
        listed = pupils_of(work, test)
        hints = [one for one in _statistics(work, test, bank, found) if one.flags]
    counted = [outcome for outcome in found if outcome.counts]
    over = sorted((outcome for outcome in counted if outcome.state == "over"), key=lambda outcome: outcome.name.casefold())
    members = {outcome.attempt_id: Member(outcome.name, outcome.skills) for outcome in over}
    return page(
        request,
        "teacher/report.html",
        teacher=teacher,
        test=test,
        state=state(test),
        bank=bank,
        over=over,
        running=len(counted) - len(over),
        absent=len({pupil.id for pupil in listed} - {outcome.pupil_id for outcome in found}),
        listed=len(listed),
        levels=spread(bank, members.values()),
        groups=groups(bank, members.values()),
        practise={number: next_skills(bank, member.skills) for number, member in members.items()},
        hints=hints[:HINTS],
        more=max(0, len(hints) - HINTS),
        pupils=pupils,
        above=sure_above(read_rules(test.rules)),
        now=now(),
        colours=class_colours,
    )
