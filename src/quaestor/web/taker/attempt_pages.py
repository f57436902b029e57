"""The taker's pages: one question a page, what an answer taught in practice mode, and the result."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work
from starlette.datastructures import FormData

from quaestor.bankfile.bank import Bank
from quaestor.errors import AnswerError
from quaestor.report.advice import SURE, ending, findings
from quaestor.report.letters import ENDED, Letter, letter
from quaestor.report.marking import worth
from quaestor.session.explain.wording import progress
from quaestor.session.log import Answer, SessionError
from quaestor.store.attempts import taking
from quaestor.store.attempts.invitations import holds_back
from quaestor.store.attempts.shown_images import image_of, shown, with_images
from quaestor.store.attempts.taking import EntryError, Ready, StaleError, State, end, mark, prepare, state_of
from quaestor.store.models import Attempt
from quaestor.store.outcomes.changes import changes_of
from quaestor.store.outcomes.results import outcome_of
from quaestor.web.jobs.execution import Patient, came, in_turn, quickly
from quaestor.web.render import notes
from quaestor.web.render.pages import database, go, page, url
from quaestor.web.security.browsers import posted
from quaestor.web.taker.device import let_in, own, path_of
from quaestor.web.taker.refusals import Tried, faults_of, missed, sent, tried, wrong_with

routes = APIRouter(prefix="/take/{attempt}", route_class=Patient)
Posted = Annotated[FormData, Depends(posted)]
DIGITS = re.compile(r"\d+([.,]\d+)?")
LONG = 100  # options from which on a page takes too long to make where others wait


@routes.get("", name="question")
async def question(request: Request, attempt: int) -> Response:
    """The question to answer now."""
    now = await quickly(request, partial(_now, request, attempt))
    if now is None:
        return await run_in_threadpool(_finish, request, attempt)
    asked = now.stands.session.next
    is_long = asked is not None and len(asked.options) > LONG
    return await run_in_threadpool(_ask, request, now) if is_long else _ask(request, now)


@dataclass(frozen=True)
class Shown:
    """What the page of a question shows: what is wrong with an answer to it, and that one before did not count."""

    stands: State
    wrong: str = ""
    answer: Tried | None = None
    lost: str = ""


def _now(request: Request, attempt: int) -> Shown | None:
    """The present question, with what is to be said of the answer before it; None when the test is over."""
    answer = tried(request)
    with database(request).glance() as work:
        stands = _standing(request, work, attempt)
        if stands.over:
            return None
        mine = answer if answer is not None and answer.is_for(stands) else None
        wrong = wrong_with(work, stands, mine) if mine is not None else ""
    return Shown(stands, wrong, mine, missed(stands, answer))


def _standing(request: Request, work: Work, attempt: int) -> State:
    """Where an attempt of this browser stands; if its question has an image, the attempt knows it."""
    stands = state_of(work, own(request, work, attempt))
    if stands.session.next is not None and stands.session.next.files:
        with_images(stands.attempt)
    return stands


def _finish(request: Request, attempt: int) -> Response:
    with database(request).work() as work:
        mine = own(request, work, attempt)
        end(work, state_of(work, mine))
    response = go(request, "result", attempt=attempt)
    let_in(request, response, mine, over=True)
    return response


def _ask(request: Request, shown: Shown, status: int = 200) -> Response:
    stands, answer = shown.stands, shown.answer
    asked = stands.session.next
    assert asked is not None
    found = findings(stands.session) if stands.attempt.test.mode == "practice" else []  # in an exam it would give the key away
    return page(
        request,
        "taker/question.html",
        status,
        stands=stands,
        question=asked,
        mark=mark(asked),
        image=image_of(stands.attempt, asked),
        picture=_addresses(request, stands.attempt) if asked.files else None,
        options=stands.options(asked),
        entries=(answer.entries if answer is not None else None) or (),
        places=answer.places if answer is not None else {},
        faults=faults_of(asked, answer),
        wrong=shown.wrong,
        lost=shown.lost,
        shares=[_sureness(one.low, len(one.bounds.states)) for one in found],
        sure=sum(one.sure for one in found),
        progress=progress(stands.step, stands.session.at_most),
        may_skip=stands.session.rules.may_skip,
        digits=asked.kind == "number" and in_digits(stands.session.bank),
    )


def in_digits(bank: Bank) -> bool:
    """Whether the pad of digits of a phone, which has no minus and no stroke, is enough for every number of a bank: so it tells of none."""
    asked = [one for one in bank.questions.values() if one.kind == "number"]
    return all(DIGITS.fullmatch(value) for one in asked for value in one.accept)


def _addresses(request: Request, attempt: Attempt) -> Callable[[str], str]:
    """Where a taker finds the pictures in texts and options: by what is in them, since a file name may give the answer away."""
    media = attempt.test.bank.media
    return lambda name: url(request, "media", attempt=attempt.id, image=media[name]) if name in media else ""


def _sureness(low: float, levels: int) -> float:
    """How far above a mere guess: 0 at 1 / levels, 1 when certain."""
    return max(0.0, (low - 1 / levels) / (1 - 1 / levels))


@routes.post("/answer", name="answer")
async def put(request: Request, attempt: int, form: Posted) -> Response:
    """An answer or a skip; whatever happens, the page after it shows where the test stands."""
    answer = sent(form)
    try:
        ready = await quickly(request, partial(_prepared, request, attempt, answer))
        after = await in_turn(request, partial(taking.put, database(request), ready))
    except StaleError:
        twice = await quickly(request, partial(_twice, request, attempt, answer))
        if twice is None:
            return _lost(request, "question", attempt, answer)
        after = twice
    except EntryError:
        return _lost(request, "result", attempt, answer)
    except (AnswerError, SessionError):
        response = go(request, "question", attempt=attempt)
        fits = notes.leave(request, response, path_of(attempt), vars(answer))
        return response if fits else await run_in_threadpool(_again, request, attempt, answer)
    name = "feedback" if after.attempt.test.mode == "practice" else "result" if after.over else "question"
    response = go(request, name, attempt=attempt, **({"step": answer.step} if name == "feedback" else {}))
    notes.drop(request, response, path_of(attempt))
    if after.over:
        let_in(request, response, after.attempt, over=True)
    return response


def _prepared(request: Request, attempt: int, answer: Tried) -> Ready:
    with database(request).glance() as work:
        return prepare(work, own(request, work, attempt), answer.step, answer.given, answer.asked, came(request))


def _twice(request: Request, attempt: int, answer: Tried) -> State | None:
    """Where the test stands, if this very answer was taken before: a double click, or a form that was sent again."""
    with database(request).glance() as work:
        stands = state_of(work, own(request, work, attempt))
    return stands if answer.is_in(stands) else None


def _lost(request: Request, name: str, attempt: int, answer: Tried) -> Response:
    """To the page that says that an answer did not count."""
    response = go(request, name, attempt=attempt)
    notes.leave(request, response, path_of(attempt), vars(answer.mark))
    return response


def _again(request: Request, attempt: int, answer: Tried) -> Response:
    """The same question, with what is wrong with the entry; where the test has gone on meanwhile, the page where it stands."""
    with database(request).read() as work:
        stands = _standing(request, work, attempt)
        if stands.over or stands.step != answer.step:
            return _lost(request, "question", attempt, answer)
        wrong = wrong_with(work, stands, answer)
    return _ask(request, Shown(stands, wrong, answer), status=400)


@routes.get("/feedback/{step}", name="feedback")
async def feedback(request: Request, attempt: int, step: int) -> Response:
    """Practice mode: what an answer was worth, and why."""
    return await quickly(request, partial(_feedback, request, attempt, step))


def _feedback(request: Request, attempt: int, step: int) -> Response:
    with database(request).glance() as work:
        mine = own(request, work, attempt)
        stands = state_of(work, with_images(mine))
    lines = [line for line in stands.session.log if isinstance(line, Answer)]
    if mine.test.mode != "practice" or not 1 <= step <= len(lines):
        return go(request, "question", attempt=attempt)
    line = lines[step - 1]
    asked = stands.session.bank.questions[line.question]
    image, value = image_of(mine, asked), worth(asked, line)
    return page(
        request,
        "taker/feedback.html",
        stands=stands,
        question=asked,
        image=image,
        line=line,
        value=value,
        step=step,
        picture=_addresses(request, mine),
    )


@routes.get("/result", name="result")
async def result(request: Request, attempt: int) -> Response:
    """What was found, in words for the taker and those at home."""
    return await quickly(request, partial(_result, request, attempt))


def _result(request: Request, attempt: int) -> Response:
    with database(request).read() as work:
        stands = state_of(work, with_images(own(request, work, attempt)))
        outcome, changes = outcome_of(work, stands.attempt), changes_of(work, stands.attempt)
    if not stands.over or stands.attempt.ended is None:  # the page of the question writes that it is over
        return go(request, "question", attempt=attempt)
    if holds_back(stands.attempt.test):
        return page(request, "taker/held.html", stands=stands, lost=missed(stands, tried(request)))
    bank = stands.session.bank
    outcome = replace(outcome, anew=outcome.anew and not changes)  # the page says itself what has changed
    told = letter(bank, stands.session.rules, outcome, stands.attempt.test.grades is not None)
    practised = stands.attempt.test.mode == "practice"
    lines = [line for line in stands.session.log if isinstance(line, Answer)] if practised else []
    answered = [(bank.questions[line.question], line, worth(bank.questions[line.question], line)) for line in lines]
    shown: dict[str, Any] = {"letter": told, "answered": answered, "changes": changes, "picture": _addresses(request, stands.attempt)}
    return page(request, "taker/result.html", stands=stands, ending=_ending(stands, told), lost=missed(stands, tried(request)), **shown)


def _ending(stands: State, told: Letter) -> str:
    """Why the test is over, in words for the taker; that it was sure is said only where it is."""
    stopped = stands.session.stopped
    if stopped is None or stopped.reason != stands.over:
        return "" if stands.over in ENDED else stands.over  # the letter says so
    words = ending(stopped)
    return "" if words == SURE and not (told.parts and all(part.sure for part in told.parts)) else words


@routes.get("/media/{image}", name="media")
def media(request: Request, attempt: int, image: str) -> Response:
    """An image of a question that was put."""
    with database(request).read() as work:
        kind, content = shown(work, state_of(work, own(request, work, attempt)), image)
    return Response(content, media_type=kind, headers={"cache-control": "no-store"})
