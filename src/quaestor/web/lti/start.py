"""The first page inside a frame, choosing a test for an activity, and connecting an account.

A learner goes to the page that says what the test is; it begins, goes on, or shows the result, as with a personal code. A teacher sees the
test of the activity if it is theirs or shared with them. If it has none, they choose one; by deep linking the choice goes back to
the platform as a signed message.
"""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.formats.name_lists import MOST_NAMES
from quaestor.i18n import said, say
from quaestor.store import drafts, publishing, teachers
from quaestor.store.classes import class_lists
from quaestor.store.limits import counting
from quaestor.store.models import Published, Teacher
from quaestor.store.platform_tables import Frame, Placement, Platform, Seat
from quaestor.store.platforms import addresses, frames, instructors, seats
from quaestor.store.publishing import MissingError
from quaestor.store.secrets import token
from quaestor.web.jobs.execution import Patient
from quaestor.web.lti.framed import PREFIX, Jar, frame_of, policy
from quaestor.web.lti.message import CHOSEN, CLAIM, DEEP
from quaestor.web.lti.services import Client, sign
from quaestor.web.render import notes
from quaestor.web.render.pages import database, go, page, public_url, settings, url
from quaestor.web.security.browsers import TEACHER, address
from quaestor.web.security.forms import Form, Id, read
from quaestor.web.security.outgoing import inner_hosts
from quaestor.web.teacher.access import Posted, signed_in

routes = APIRouter(route_class=Patient)
OUTSIDE = say("please open this page from your learning platform")
CLOSED = say("This page cannot be opened here. Please open the activity again in your learning platform.")


def _frame(request: Request) -> Frame:
    found = frame_of(request)
    if found is None:
        raise teachers.AccessError(OUTSIDE)
    return found


def _teaching(request: Request) -> Frame:
    found = _frame(request)
    if not found.teaches:
        raise teachers.AccessError(say("this page is for teachers"))
    return found


@routes.get(PREFIX + "/{secret}/{rest:path}", name="framed")
def gone(request: Request, secret: str, rest: str) -> Response:
    """A page of a frame that cannot be opened: it is too old, of another browser, or not for this person."""
    with database(request).read() as work:
        found = frames.find(work, secret)
        origins = found.origins if found is not None else []
    response = page(
        request,
        "lti/refused.html",
        403,
        words=CLOSED,
    )
    response.headers["content-security-policy"] = policy(origins)
    return response


@routes.post(PREFIX + "/{secret}/{rest:path}", name="framed-form")
def gone_form(request: Request, secret: str, rest: str) -> Response:
    """The same of a form."""
    return gone(request, secret, rest)


@routes.get("/lti/start", name="lti-start")
def start(request: Request) -> Response:
    """Where a frame begins."""
    frame = _frame(request)
    with database(request).read() as work:
        if not frame.teaches:
            asked = select(Seat).where(Seat.placement_id == frame.placement_id, Seat.sub == frame.sub)
            seat = work.scalar(asked)
            if seat is None:
                raise MissingError(say("there is no such test"))
            return RedirectResponse(
                f"{url(request, 'code', code=seat.pupil.code)}?test={work.get_one(Placement, seat.placement_id).test_id}", 303
            )
        teacher = signed_in(request, work)
        placement = work.get(Placement, frame.placement_id) if frame.placement_id is not None else None
        if placement is None or placement.test is None:
            return go(request, "lti-choose")
        try:
            test = publishing.published(work, teacher, placement.test.id)
        except MissingError:
            return page(request, "lti/unshared.html", teacher=teacher, title=placement.test.title)
    return go(request, "test", number=test.id)


@routes.get("/lti/choose", name="lti-choose")
def choose(request: Request) -> Response:
    """Which test the activity is to have: one that is there, or a new one."""
    return _choose(request)


def _choose(request: Request, wrong: str = "", wrong_code: str = "") -> Response:
    frame = _teaching(request)
    with database(request).read() as work:
        teacher = signed_in(request, work)
        tests = publishing.published_by(work, teacher)
        banks = drafts.drafts_of(work, teacher)
        platform = work.get_one(Platform, frame.platform_id)
        placement = work.get(Placement, frame.placement_id) if frame.placement_id is not None else None
    values = {"tests": tests, "banks": banks, "platform": platform, "placement": placement, "wrong": wrong, "wrong_code": wrong_code}
    return page(request, "lti/choose.html", 400 if wrong or wrong_code else 200, teacher=teacher, **values)


class Choice(Form):
    """The test of an activity."""

    test: Id = 0


class Connection(Form):
    """A code of an account page."""

    code: str = ""


@routes.post("/lti/choose", name="lti-chosen")
def chosen(request: Request, form: Posted) -> Response:
    """Give the activity a test; by deep linking, send the choice to the platform."""
    frame = _teaching(request)
    number = read(Choice, form).test
    if not number:
        return _choose(request, say("please choose a test"))
    with database(request).work() as work:
        teacher = signed_in(request, work)
        test = publishing.published(work, teacher, number)
        platform = work.get_one(Platform, frame.platform_id)
        if frame.choosing is None:
            placement = work.get(Placement, frame.placement_id) if frame.placement_id is not None else None
            if placement is None:
                raise MissingError(say("there is no such test"))
            _refuse_taken(work, teacher, placement)
            placement.test_id = test.id
            return go(request, "lti-start")
        secret = seats.choose(work, platform, test)
    return _answer(request, platform, frame.choosing, _item(request, test, secret, bool(frame.choosing["takes_scores"])))


def _refuse_taken(work: Work, teacher: Teacher, placement: Placement) -> None:
    """Who teaches in a course may not take the test of another teacher out of an activity."""
    if placement.test_id is not None:
        publishing.published(work, teacher, placement.test_id)


@routes.post("/lti/none", name="lti-none")
def none(request: Request, form: Posted) -> Response:
    """Go back to the platform without a choice."""
    frame = _teaching(request)
    if frame.choosing is None:
        return go(request, "lti-start")
    with database(request).read() as work:
        platform = work.get_one(Platform, frame.platform_id)
    return _answer(request, platform, frame.choosing, None)


def _item(request: Request, test: Published, secret: str, takes_scores: bool) -> dict[str, Any]:
    item: dict[str, Any] = {
        "type": "ltiResourceLink",
        "title": test.title,
        "url": public_url(request, "lti-launch"),
        "custom": {CHOSEN: secret},
    }
    return {**item, "lineItem": {"scoreMaximum": 100, "label": test.title, "resourceId": f"test-{test.id}"}} if takes_scores else item


def _answer(request: Request, platform: Platform, asked: dict[str, Any], item: dict[str, Any] | None) -> Response:
    """A page whose form carries the signed choice to the platform, by itself or by a click."""
    claims = {
        "iss": platform.client_id,
        "aud": [platform.issuer],
        "azp": platform.client_id,
        "nonce": token(),
        f"{CLAIM}message_type": "LtiDeepLinkingResponse",
        f"{CLAIM}version": "1.3.0",
        f"{CLAIM}deployment_id": asked["deployment"],
        f"{DEEP}content_items": [] if item is None else [item],
        **({} if asked["data"] is None else {f"{DEEP}data": asked["data"]}),
    }
    message = sign(database(request), claims)
    with database(request).read() as work:
        teacher = signed_in(request, work)
    response = page(request, "lti/answer.html", teacher=teacher, message=message, to=asked["return_url"], platform=platform)
    frame = _frame(request)
    response.headers["content-security-policy"] = policy(frame.origins, form_action=addresses.origin(asked["return_url"]))
    return response


@routes.post("/lti/connect", name="lti-connect")
def connect(request: Request, form: Posted) -> Response:
    """Connect an account that somebody has here already, by a code of its account page."""
    frame = _teaching(request)
    secret = request.scope["root_path"].rpartition("/")[2]
    who = [f"lti {frame.platform_id} {frame.sub}"]
    kept = database(request)
    try:
        with counting(kept, "sign-in", who, teachers.AccessError, address(request)), kept.work() as work:
            teacher = instructors.connect(work, work.get_one(Platform, frame.platform_id), frame.sub, read(Connection, form).code)
            jar = Jar.opened(frame, secret)
            jar.cookies[TEACHER, "/"] = teachers.log_in(work, teacher)
            frames.fill(work, frame, jar.locked(secret))
    except teachers.AccessError as error:
        return _choose(request, wrong_code=said(error))
    return go(request, "lti-start")


@routes.post("/teacher/tests/{number}/members/{placement}", name="lti-members")
def members(request: Request, number: int, placement: int, form: Posted) -> Response:
    """Put the learners of a course on the class list, as the platform tells them."""
    with database(request).read() as work:
        test = publishing.published(work, signed_in(request, work), number)
        place = work.get(Placement, placement)
        if place is None or place.test_id != test.id:
            raise MissingError(say("there is no such activity"))
        platform = place.platform
    found = Client(database(request), platform, inner_hosts(settings(request))).members(place)
    with database(request).work() as work:
        test = publishing.published(work, signed_in(request, work), number)
        place = work.get_one(Placement, placement)
        before = len(class_lists.pupils_of(work, test))
        for one in found[: MOST_NAMES - before]:
            seats.seated(work, place, one.sub, one.name)
        added = len(class_lists.pupils_of(work, test)) - before
    response = go(request, "test", number=number)
    notes.leave(request, response, f"/teacher/tests/{number}", {"added": added, "known": len(found) - added, "some": []})
    return response
