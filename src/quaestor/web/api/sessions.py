"""Sessions: begin one, answer its questions, read where it stands and what was found.

A session is named by its number; only the tokens of the teacher whose test it is see it. The answer to a step that was answered already
is refused with where the session stands, so a program that lost its place finds it again.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from sqlalchemy import select
from sqlalchemy.orm import Session as Work
from starlette.responses import Response

from quaestor.errors import QuaestorError
from quaestor.report.advice import findings
from quaestor.session.log import Answer
from quaestor.store import privacy
from quaestor.store.attempts.entry import Origin, look_ahead
from quaestor.store.attempts.invitations import holds_back
from quaestor.store.attempts.shown_images import shown, with_images
from quaestor.store.attempts.state import by_number
from quaestor.store.attempts.taking import OverError, StaleError, State, Written, end, enter, prepare, state_of, write
from quaestor.store.models import Attempt, Published, Pupil, Token
from quaestor.store.outcomes.results import outcome_of
from quaestor.store.publishing import MissingError, published
from quaestor.store.secrets import tidy
from quaestor.web.api import PREFIX, fields, session_shapes
from quaestor.web.api.history import history
from quaestor.web.api.once import Key, Write, once
from quaestor.web.api.questions import feedback, result, state
from quaestor.web.api.tokens import Bearer, ForResults, ForSessions, ForSessionsOrResults, Route, reading
from quaestor.web.jobs.execution import came, seed
from quaestor.web.render.pages import database, public_url
from quaestor.web.render.problems import KINDS, Kind, problem, reply
from quaestor.web.security.browsers import address

routes = APIRouter(prefix=f"{PREFIX}/sessions", tags=["sessions"], route_class=Route)
Number = Annotated[int, Path(alias="session", ge=1, le=fields.MOST, description="the number of the session", examples=[12])]
RUNNING = Kind(409, "running", "The session is not over")
HELD = Kind(409, "held", "The result is told when the test is closed")


def own(work: Work, token: Token, number: int) -> Attempt:
    """A session of a test of the token's teacher; anybody else's is not there."""
    found = by_number(work, number)
    if found is None or found.test.teacher_id != token.teacher_id:
        raise MissingError("there is no such session")
    return found


@routes.post("", status_code=201, response_model=session_shapes.Begun, summary="Begin a session")
def begin(request: Request, body: session_shapes.NewSession, bearer: ForSessions, key: Key) -> Response:
    """Begin a test, or go on with it where a pupil's own code is given; the reply has the first question."""

    def plan(work: Work, token: Token) -> Write:
        code = _code(work, published(work, token.teacher, body.test), body)
        first = look_ahead(work, code, seed(request), body.test)
        origin = Origin(body.taker or "", body.address or address(request))

        def write(work: Work) -> tuple[int, dict[str, Any]]:
            stands = state_of(work, enter(work, code, body.name or "", first=first, origin=origin, test=body.test))
            return 201, {**state(request, stands), **_begun(request, stands.attempt)}

        return write

    return once(request, bearer, key, body, plan)


def _code(work: Work, test: Published, body: session_shapes.NewSession) -> str:
    """The code that opens the test: that of the class, or the pupil's own one."""
    if (body.name is None) == (body.code is None):
        raise QuaestorError("name, code: one of the two is given, got " + ("both" if body.name is not None else "none"))
    if body.code is None:
        return test.code
    typed = tidy(body.code)
    if work.scalar(select(Pupil.id).where(Pupil.code == typed, Pupil.class_id == test.class_id)) is None:
        raise QuaestorError("code: the code of a pupil on the class list of this test, got another one")
    return typed


def _begun(request: Request, attempt: Attempt) -> dict[str, Any]:
    return {"test": attempt.test_id, "code": attempt.own_code, "link": public_url(request, "code", code=attempt.own_code)}


def _standing(request: Request, bearer: Bearer, number: int) -> State:
    """Where a session stands; that it is over is noted when that is first seen."""
    with reading(request, bearer) as (work, token):
        stands = state_of(work, with_images(own(work, token, number)))
    if stands.over and stands.attempt.ended is None:
        with database(request).work() as work:
            stands = state_of(work, with_images(own(work, token, number)))
            end(work, stands)
    return stands


@routes.get("/{session}", response_model=session_shapes.SessionShape, summary="Read a session")
def show(request: Request, number: Number, bearer: ForSessions) -> Response:
    """A session, with its present question and of how many skills the level is sure."""
    stands = _standing(request, bearer, number)
    attempt = stands.attempt
    found = findings(stands.session)
    is_told = attempt.test.mode == "practice" or (bool(stands.over) and not holds_back(attempt.test))
    more = {
        "name": attempt.name,
        "mode": attempt.test.mode,
        "started": fields.moment(attempt.started),
        "ended": fields.moment(attempt.ended),
        "asked": len(stands.session.log),
        "skills": len(found),
        "sure": sum(one.sure for one in found) if is_told else None,
    }
    return reply({**state(request, stands), **_begun(request, attempt), **more})


@routes.get("/{session}/next", response_model=session_shapes.State, summary="Read the next question")
def following(request: Request, number: Number, bearer: ForSessions) -> Response:
    """The step and the question to answer now, or why the session is over."""
    return reply(state(request, _standing(request, bearer, number)))


@routes.post("/{session}/answers", response_model=session_shapes.Answered, summary="Answer a question")
def put(request: Request, number: Number, body: session_shapes.NewAnswer, bearer: ForSessions, key: Key) -> Response:
    """Answer the question of a step; the reply has the next question, or the result when the session is over."""
    return _step(request, number, bearer, key, body, body.entry)


@routes.post("/{session}/skips", response_model=session_shapes.Answered, summary="Skip a question")
def leave(request: Request, number: Number, body: session_shapes.NewSkip, bearer: ForSessions, key: Key) -> Response:
    """Skip the question of a step, where the rules allow it; it is not asked again."""
    return _step(request, number, bearer, key, body, None)


def _step(
    request: Request, number: int, bearer: Bearer, key: str, body: session_shapes.NewAnswer | session_shapes.NewSkip, entry: Written | None
) -> Response:
    """An answer or a skip; when it comes too late, the problem tells where the session stands."""

    def plan(work: Work, token: Token) -> Write:
        asked = body.question if isinstance(body, session_shapes.NewAnswer) else ""
        ready = prepare(work, with_images(own(work, token, number)), body.step, entry, asked, came(request))
        return lambda work: _after(request, write(work, ready))

    try:
        return once(request, bearer, key, body, plan)
    except (StaleError, OverError) as error:
        stands = _standing(request, bearer, number)
        return problem(KINDS[type(error)], str(error), step=stands.step, state=state(request, stands))


def _after(request: Request, stands: State) -> tuple[int, dict[str, Any]]:
    line = stands.session.log[-1]
    assert isinstance(line, Answer)
    asked = stands.session.bank.questions[line.question]
    told = feedback(asked, line) if stands.attempt.test.mode == "practice" else None
    is_told = stands.over and not holds_back(stands.attempt.test)
    return 200, {**state(request, stands), "feedback": told, "result": result(stands) if is_told else None}


@routes.get("/{session}/result", response_model=session_shapes.Result, summary="Read the result")
def found(request: Request, number: Number, bearer: ForSessionsOrResults) -> Response:
    """What was found. A token with the scope `sessions` reads it when it may be told to takers, one with `results` at any time."""
    stands = _standing(request, bearer, number)
    if not stands.over or holds_back(stands.attempt.test):
        with reading(request, bearer) as (_, token):
            if "results" not in token.scopes:
                if not stands.over:
                    return problem(RUNNING, "the result is read after the end, or with the scope 'results'; got a session that is running")
                return problem(HELD, "the result is read once the test is closed, or with the scope 'results'; got a test that is open")
    with reading(request, bearer) as (work, token):
        outcome = outcome_of(work, own(work, token, number))
    return reply(result(stands, outcome if stands.over and not outcome.waits else None))


@routes.get("/{session}/history", response_model=session_shapes.History, summary="Read what happened")
def told(request: Request, number: Number, bearer: ForResults) -> Response:
    """Each question that was put, the answer, why it was asked, and what was known before and after."""
    with reading(request, bearer) as (work, token):
        attempt = own(work, token, number)
        lines = history(work, attempt)
    return reply({"session": number, "lines": lines})


@routes.get("/{session}/images/{image}", name="api-image", response_class=Response, summary="Read an image")
def picture(request: Request, number: Number, image: str, bearer: ForSessions) -> Response:
    """An image of a question that was put; the question has its path."""
    with reading(request, bearer) as (work, token):
        kind, content = shown(work, state_of(work, own(work, token, number)), image)
    return Response(content, media_type=kind, headers={"cache-control": "private, max-age=86400"})


@routes.delete("/{session}", status_code=204, response_class=Response, summary="Delete a session")
def forget(request: Request, number: Number, bearer: ForResults, key: Key) -> Response:
    """Delete a session with its answers; nothing of it is kept."""

    def plan(work: Work, token: Token) -> Write:
        own(work, token, number)

        def write(work: Work) -> tuple[int, None]:
            privacy.delete(work, own(work, token, number))
            return 204, None

        return write

    return once(request, bearer, key, None, plan)
