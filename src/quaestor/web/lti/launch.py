"""After a message is believed: an own browser inside the frame, for a learner at their test, for a teacher at what is theirs."""

from typing import Any

from fastapi import Request
from fastapi.responses import RedirectResponse, Response
from sqlalchemy.orm import Session as Work

from quaestor.i18n import say
from quaestor.store import teachers
from quaestor.store.platform_tables import Frame, Placement, Platform
from quaestor.store.platforms import frames, instructors, registrations, seats
from quaestor.store.platforms.seats import Activity
from quaestor.store.secrets import token
from quaestor.web.lti.framed import PREFIX, new_frame
from quaestor.web.lti.message import CHOOSE, LaunchError, Message
from quaestor.web.render.language import LANGUAGES
from quaestor.web.render.pages import LANGUAGE, database
from quaestor.web.security.browsers import BROWSER, TEACHER, site_root

Cookies = dict[tuple[str, str], str]
NOBODY = say("Your learning platform does not say who you are, so that your answers could not be kept for you.")
NEITHER = say("This page is for teachers and learners of a course. Your learning platform says that you are neither.")


def entered(request: Request, platform: Platform, message: Message) -> Response:
    """Let somebody in, and send them to their page inside the frame."""
    if not message.sub:
        raise LaunchError("anonymous", NOBODY)
    cookies: Cookies = {(BROWSER, "/"): token()}
    if message.locale[:2].lower() in LANGUAGES:
        cookies[LANGUAGE, "/"] = message.locale[:2].lower()
    with database(request).work() as work:
        frame = Frame(platform_id=platform.id, placement_id=None, sub=message.sub, teaches=message.teaches, choosing=None)
        if message.teaches:
            _teach(work, platform, message, frame, cookies)
        elif message.learns and message.kind != CHOOSE:
            _learn(work, platform, message, frame)
        else:
            raise LaunchError("role", NEITHER)
        frame.origins = list(dict.fromkeys([*registrations.origins(platform), *filter(None, [message.origin])]))
        secret, browser, frame.jar, header = new_frame(site_root(request), cookies)
        frames.keep(work, secret, browser, frame)
    response = RedirectResponse(f"{site_root(request)}{PREFIX}/{secret}/", 303)
    response.raw_headers.append(header)
    return response


def _teach(work: Work, platform: Platform, message: Message, frame: Frame, cookies: Cookies) -> None:
    """A teacher: in the account of their own, at the activity that they opened or at the choice that they are asked for."""
    teacher = instructors.teacher_of(work, platform, message.sub, message.name)
    try:
        cookies[TEACHER, "/"] = teachers.log_in(work, teacher)
    except teachers.AccessError as error:
        raise LaunchError("locked", say("Your account at this server is locked; please ask whoever runs it.")) from error
    if message.choosing is None:
        frame.placement_id = _placed(work, platform, message).id
        return
    if not message.choosing.takes_links:
        raise LaunchError("accept-types", say("Your learning platform does not take links to tests at this place."))
    asked: dict[str, Any] = {"deployment": message.deployment, **vars(message.choosing)}
    frame.choosing = asked


def _learn(work: Work, platform: Platform, message: Message, frame: Frame) -> None:
    """A learner: in their seat at the test of the activity."""
    placement = _placed(work, platform, message)
    if placement.test_id is None:
        raise LaunchError("no-test", say("There is no test here yet. Your teacher can choose one by opening this activity."))
    seats.seated(work, placement, message.sub, message.name)
    frame.placement_id = placement.id


def _placed(work: Work, platform: Platform, message: Message) -> Placement:
    """The activity that was opened, with the test that was picked for it."""
    test_id = seats.chosen(work, platform, message.chosen) if message.chosen else None
    if message.chosen and test_id is None:
        raise LaunchError("choice", say("The test of this activity is not there any more, or the link to it was not made by this server."))
    activity = Activity(
        deployment=message.deployment,
        context=message.context,
        link=message.link,
        title=message.title,
        course=message.course,
        **vars(message.services),
    )
    return seats.placed(work, platform, activity, test_id)
