"""Classes: make one, read its pupils with their codes, how a pupil grows, and erase a child."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from sqlalchemy.orm import Session as Work
from starlette.responses import Response

from quaestor.store.classes import child, class_lists
from quaestor.store.classes.growth import Growth, growth_of
from quaestor.store.models import Pupil, SchoolClass, Token
from quaestor.web.api import PREFIX, class_shapes, fields
from quaestor.web.api.once import Key, Write, once
from quaestor.web.api.tokens import ForResults, ForTests, Route, reading
from quaestor.web.render.pages import public_url
from quaestor.web.render.problems import reply

routes = APIRouter(prefix=f"{PREFIX}/classes", tags=["classes"], route_class=Route)
Number = Annotated[int, Path(alias="class", ge=1, le=fields.MOST, description="the number of the class", examples=[1])]
PupilNumber = Annotated[int, Path(alias="pupil", ge=1, le=fields.MOST, description="the number of the pupil", examples=[7])]


@routes.post("", status_code=201, response_model=class_shapes.ClassShape, summary="Make a class")
def new(request: Request, body: class_shapes.NewClass, bearer: ForTests, key: Key) -> Response:
    """Make a class of names; each pupil gets a code, which opens all tests of the class."""

    def plan(work: Work, token: Token) -> Write:
        teacher = token.teacher
        if body.names:
            class_lists.sort_names(work, None, body.names)

        def write(work: Work) -> tuple[int, dict[str, Any]]:
            made = class_lists.make_class(work, teacher, body.title, body.source)
            if body.names:
                class_lists.add_names(work, made, body.names)
            return 201, _told(request, work, made)

        return write

    return once(request, bearer, key, body, plan)


@routes.get("", response_model=class_shapes.ClassList, summary="List the classes")
def index(request: Request, bearer: ForTests) -> Response:
    """All classes of the token's teacher by title, archived ones last."""
    with reading(request, bearer) as (work, token):
        found = [*class_lists.classes_of(work, token.teacher), *class_lists.classes_of(work, token.teacher, archived=True)]
        counts = class_lists.sizes(work, found)
    return reply({"classes": [{**_summary(one), "pupils": counts[one.id]} for one in found]})


@routes.get("/{class}", response_model=class_shapes.ClassShape, summary="Read a class")
def show(request: Request, number: Number, bearer: ForTests) -> Response:
    """A class with its pupils and their codes."""
    with reading(request, bearer) as (work, token):
        told = _told(request, work, class_lists.class_of(work, token.teacher, number))
    return reply(told)


@routes.get("/{class}/pupils/{pupil}/growth", response_model=class_shapes.GrowthShape, summary="Read how a pupil grows")
def growth(request: Request, number: Number, pupil: PupilNumber, bearer: ForResults) -> Response:
    """Each skill of a pupil over all tests that measured it; bounds are empty where there were too few answers to tell."""
    with reading(request, bearer) as (work, token):
        whom = _pupil(work, token, number, pupil)
        grown = [_grown(one) for one in growth_of(work, whom)]
    return reply({"pupil": pupil, "name": whom.name, "skills": grown})


@routes.delete("/{class}/pupils/{pupil}", status_code=204, response_class=Response, summary="Erase a child")
def erase(request: Request, number: Number, pupil: PupilNumber, bearer: ForResults, key: Key) -> Response:
    """Erase all that is kept of a child, in all classes and tests. It cannot be undone."""

    def plan(work: Work, token: Token) -> Write:
        _pupil(work, token, number, pupil)

        def write(work: Work) -> tuple[int, None]:
            child.erase_child(work, _pupil(work, token, number, pupil))
            return 204, None

        return write

    return once(request, bearer, key, None, plan)


def _pupil(work: Work, token: Token, number: int, pupil: int) -> Pupil:
    return class_lists.pupil_in(work, class_lists.class_of(work, token.teacher, number), pupil)


def _summary(found: SchoolClass) -> dict[str, Any]:
    return {
        "id": found.id,
        "title": found.title,
        "source": found.source,
        "created": fields.moment(found.created),
        "archived": fields.moment(found.archived),
    }


def _told(request: Request, work: Work, found: SchoolClass) -> dict[str, Any]:
    pupils = [
        {
            "id": pupil.id,
            "name": pupil.name,
            "code": pupil.code,
            "link": public_url(request, "code", code=pupil.code),
            "source": pupil.source,
            "time_factor": pupil.factor,
            "extra_minutes": pupil.extra,
        }
        for pupil in class_lists.pupils_in(work, found.id)
    ]
    return {**_summary(found), "pupils": pupils, "tests": [test.id for test in class_lists.tests_of(work, found)]}


def _grown(growth: Growth) -> dict[str, Any]:
    points = [
        {
            "test": point.test,
            "at": fields.moment(point.at),
            "answers": point.answers,
            "level": point.level or None,
            "lower": list(point.lows),
            "upper": list(point.highs),
            "sure": point.sure,
            "starts": point.starts,
        }
        for point in growth.points
    ]
    return {"skill": growth.skill, "title": growth.title, "levels": list(growth.levels), "points": points}
