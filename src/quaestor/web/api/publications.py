"""Tests: publish one, read it, read the results of all who took it."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from sqlalchemy.orm import Session as Work
from starlette.responses import Response

from quaestor.selection.rules_file import read_rules
from quaestor.store.corrections import corrections_of
from quaestor.store.models import Correction, Published, Token
from quaestor.store.outcomes import results
from quaestor.store.outcomes.outcome import Outcome
from quaestor.store.publishing import Conditions, bank_of, open_bank, publish, published, published_by
from quaestor.store.texts import line
from quaestor.web.api import PREFIX, fields, publication_shapes
from quaestor.web.api.once import Key, Write, once
from quaestor.web.api.tokens import ForResults, ForTests, Route, reading
from quaestor.web.render.pages import public_url
from quaestor.web.render.problems import reply

routes = APIRouter(prefix=f"{PREFIX}/tests", tags=["tests"], route_class=Route)
Number = Annotated[int, Path(alias="test", ge=1, le=fields.MOST, description="the number of the test", examples=[3])]
First = Annotated[int, Query(ge=0, le=fields.MOST, description="how many sessions to leave out at the beginning", examples=[0])]
Most = Annotated[
    int | None, Query(ge=1, le=fields.MOST, description="how many sessions to read at most; all, if it is not given", examples=[100])
]
Every = Annotated[bool, Query(description="sessions that do not count too", examples=[True])]
CONDITIONS = ("mode", "minutes", "opens", "closes", "retakes", "by_list", "keep_days", "results", "per_browser", "per_address")
OF_CLASS = ("class_id", "half_life")


@routes.post("", status_code=201, response_model=publication_shapes.PublishedShape, summary="Publish a test")
def new(request: Request, body: publication_shapes.NewTest, bearer: ForTests, key: Key) -> Response:
    """Publish a test: bank version, rules and conditions are frozen, and it gets a code for takers."""

    def plan(work: Work, token: Token) -> Write:
        teacher = token.teacher
        kept = bank_of(work, teacher, body.bank)
        rules = read_rules(body.rules)
        rules.check(open_bank(kept))
        conditions = Conditions(**{name: getattr(body, name) for name in (*CONDITIONS, *OF_CLASS)})

        def write(work: Work) -> tuple[int, dict[str, Any]]:
            made = publish(work, teacher, bank_of(work, teacher, kept.id), rules, conditions, line(body.title, 200))
            return 201, _told(request, work, made)

        return write

    return once(request, bearer, key, body, plan)


@routes.get("", response_model=publication_shapes.PublishedList, summary="List the tests")
def index(request: Request, bearer: ForTests) -> Response:
    """All tests of the token's teacher, the newest first."""
    with reading(request, bearer) as (work, token):
        told = [_told(request, work, test) for test in published_by(work, token.teacher)]
    return reply({"tests": told})


@routes.get("/{test}", response_model=publication_shapes.PublishedShape, summary="Read a test")
def show(request: Request, number: Number, bearer: ForTests) -> Response:
    """A test with its rules, its conditions and its code."""
    with reading(request, bearer) as (work, token):
        told = _told(request, work, published(work, token.teacher, number))
    return reply(told)


@routes.get("/{test}/results", response_model=publication_shapes.Results, summary="Read the results")
def found(request: Request, number: Number, bearer: ForResults, first: First = 0, most: Most = None) -> Response:
    """What every session of a test came to, the first one first; `counts` tells which of a pupil's sessions counts.

    A large test can be read in parts: `most` sessions from the place `first` on, until fewer come.
    """
    with reading(request, bearer) as (work, token):
        rows = results.outcomes(work, published(work, token.teacher, number), first=first, most=most)
    return reply({"test": number, "results": [_row(outcome) for outcome in rows]})


@routes.get("/{test}/results.csv", response_class=Response, summary="Download the results")
def sheet(request: Request, number: Number, bearer: ForResults, every: Every = False) -> Response:
    """The results as CSV, in UTF-8 with a mark that spreadsheets understand; no cell is taken for a formula.

    It is the file of the teacher's pages: the sessions that count, or all.
    """
    with reading(request, bearer) as (work, token):
        test = published(work, token.teacher, number)
        frame = results.table(results.outcomes(work, test, every), open_bank(test.bank))
    named = {"content-disposition": f'attachment; filename="results-{number}.csv"'}
    return Response(results.csv_bytes(frame), media_type="text/csv", headers=named)


def _told(request: Request, work: Work, test: Published) -> dict[str, Any]:
    return {
        "id": test.id,
        "title": test.title,
        "bank": test.bank_id,
        "bank_version": test.bank.version,
        "code": test.code,
        "link": public_url(request, "code", code=test.code),
        "rules": test.rules,
        "mode": test.mode,
        "minutes": test.minutes,
        "opens": fields.moment(test.opens),
        "closes": fields.moment(test.closes),
        "retakes": test.retakes,
        "by_list": test.by_list,
        "keep_days": test.keep_days,
        "results": test.results,
        "per_browser": test.per_browser,
        "per_address": test.per_address,
        "class_id": test.class_id,
        "half_life": test.half_life,
        "revision": test.revision,
        "corrections": [_correction(one) for one in corrections_of(work, test)] if test.revision else [],
        "created": fields.moment(test.created),
    }


def _correction(one: Correction) -> dict[str, Any]:
    return {"revision": one.revision, "kind": one.kind, "question": one.question, "note": one.note, "at": fields.moment(one.at)}


def _row(outcome: Outcome) -> dict[str, Any]:
    return {
        "session": outcome.attempt_id,
        "pupil": outcome.pupil_id,
        "counts": outcome.counts,
        "name": outcome.name,
        "code": outcome.code,
        "state": outcome.state,
        "started": fields.moment(outcome.started),
        "ended": fields.moment(outcome.ended),
        "minutes": round(outcome.minutes, 2),
        "questions": outcome.questions,
        "counted": outcome.counted,
        "right": outcome.right,
        "points": round(outcome.points, 4),
        "grade": outcome.grade or None,
        "reason": outcome.reason,
        "look": outcome.hint,
        "skills": [
            {
                "skill": skill,
                "answers": found.answers,
                "level": found.level if found.enough and not outcome.waits else None,
                "lower": found.lower if found.enough and not outcome.waits else None,
                "upper": found.upper if found.enough and not outcome.waits else None,
                "sure": found.sure and not outcome.waits,
            }
            for skill, found in outcome.skills.items()
        ],
    }
