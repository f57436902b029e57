"""Teachers of this installation: the owner invites them, makes them new sign-in links, locks and removes them.

A link is shown once: after the redirect, from a note in a cookie, so that loading the page again makes no second one.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store import handover, leaving, teachers
from quaestor.store.models import Attempt, Published, Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.texts import tidy_email
from quaestor.web.jobs.execution import Patient
from quaestor.web.render import notes
from quaestor.web.render.pages import database, go, page, public_url
from quaestor.web.security.forms import Filled, Form, Needed, again, of_page, read
from quaestor.web.teacher.access import Posted, signed_in
from quaestor.web.teacher.colleagues import ADDRESS

PATH = "/teacher/people"
routes = APIRouter(prefix=PATH, route_class=Patient)


class Invitation(Form):
    """An address that is invited."""

    email: Annotated[str, Needed(ADDRESS)]


class Receiver(Form):
    """Who gets what a teacher has here."""

    to: Annotated[str, Needed(ADDRESS)]


class Removal(Form):
    """The address of a teacher who is removed, and of whoever gets what they had; the owner unless one is named."""

    email: str = ""
    to: str = ""


def _owner(request: Request, work: Work) -> Teacher:
    found = signed_in(request, work)
    if not found.is_owner:
        raise teachers.AccessError(say("only the owner of this server may do that"))
    return found


@routes.get("", name="people")
def people(request: Request) -> Response:
    """All teachers, and a form to invite another."""
    return _show(request, notes.read(request))


@routes.post("", name="invite")
def invite(request: Request, form: Posted) -> Response:
    """An invitation for an address."""
    try:
        with database(request).work() as work:
            secret = teachers.invitation(work, _owner(request, work), read(Invitation, form).email)
    except QuaestorError as error:
        return _show(request, {}, again(error, Invitation, form))
    return _after(request, {"link": secret})


@routes.post("/{number}/link", name="link-for")
def link_for(request: Request, number: int, form: Posted) -> Response:
    """A new sign-in link for a teacher who lost their password."""
    with database(request).work() as work:
        _owner(request, work)
        found = teachers.hold(work, number)
        if found is None:
            raise MissingError(say("there is no such teacher"))
        secret = teachers.sign_in_link(work, found)
    return _after(request, {"link": secret})


@routes.get("/{number}", name="person")
def person(request: Request, number: int) -> Response:
    """One teacher: what they have here, and what locking or removing them would do."""
    return _person(request, number)


@routes.post("/{number}/lock", name="lock")
def lock(request: Request, number: int, form: Posted) -> Response:
    """Lock a teacher."""
    with database(request).work() as work:
        _owner(request, work)
        leaving.lock(work, number)
    return go(request, "person", number=number)


@routes.post("/{number}/unlock", name="unlock")
def unlock(request: Request, number: int, form: Posted) -> Response:
    """Let a teacher in again."""
    with database(request).work() as work:
        _owner(request, work)
        leaving.unlock(work, number)
    return go(request, "person", number=number)


@routes.post("/{number}/hand-over", name="hand-over-of")
def hand_over(request: Request, number: int, form: Posted) -> Response:
    """Hand all that a teacher has here over to another one; the account stays."""
    try:
        with database(request).work() as work:
            _owner(request, work)
            giver = teachers.hold(work, number)
            if giver is None:
                raise MissingError(say("there is no such teacher"))
            to = _receiver(work, giver, read(Receiver, form).to)
            handover.hand_over_all(work, giver, to)
    except QuaestorError as error:
        return _person(request, number, hand_over=again(error, Receiver, form))
    return _after(request, {"handed": giver.name or giver.email, "to": to.name or to.email})


@routes.post("/{number}/remove", name="remove")
def remove(request: Request, number: int, form: Posted) -> Response:
    """Remove a teacher, once their address was typed; what they had here is another's from then on, the owner's unless one is named."""
    try:
        with database(request).work() as work:
            owner = _owner(request, work)
            found = work.get(Teacher, number)
            asked = read(Removal, form)
            if found is None or tidy_email(asked.email) != found.email:
                raise QuaestorError.at("email", say("this is not the address of the teacher; nobody was removed"))
            to = _receiver(work, found, asked.to) if asked.to else owner
            leaving.remove(work, number, to)
    except QuaestorError as error:
        return _person(request, number, remove=again(error, Removal, form))
    return _after(request, {"removed": found.name or found.email, "to": to.name or to.email})


def _receiver(work: Work, giver: Teacher, email: str) -> Teacher:
    return handover.receiver(work, giver, teachers.colleague(work, email, "to").id)


def _after(request: Request, note: dict[str, str]) -> Response:
    """To the page of all teachers, which says once what was done."""
    response = go(request, "people")
    notes.leave(request, response, PATH, note)
    return response


def _show(request: Request, note: dict[str, Any], invite: Filled | None = None) -> Response:
    with database(request).read() as work:
        owner = _owner(request, work)
        all_of_them = work.scalars(select(Teacher).order_by(Teacher.email)).all()
        link, of = _made(request, work, str(note.get("link", "")))
    values = {"people": all_of_them, "link": link, "of": of, "invite": invite or Filled(), "hours": teachers.LINK_HOURS}
    response = page(request, "teacher/people.html", 400 if invite else 200, teacher=owner, note=note, **values)
    notes.drop(request, response, PATH)
    return response


def _made(request: Request, work: Work, secret: str) -> tuple[str, str]:
    """The link of a secret and for whom it is; nothing where it opens nothing: whatever a note says, it is a link of ours."""
    try:
        found = teachers.open_link(work, secret)
    except teachers.AccessError:
        return "", ""
    email = found.email or work.get_one(Teacher, found.teacher_id).email
    return public_url(request, "use-link", secret=secret), email


def _person(request: Request, number: int, **back: Filled) -> Response:
    with database(request).read() as work:
        owner = _owner(request, work)
        found = work.get(Teacher, number)
        if found is None:
            raise MissingError(say("there is no such teacher"))
        tests = work.scalar(select(func.count()).where(Published.teacher_id == number)) or 0
        takers = work.scalar(select(func.count(Attempt.id)).join(Published).where(Published.teacher_id == number)) or 0
        others = work.scalars(select(Teacher).where(Teacher.id != number, Teacher.locked.is_(None)).order_by(Teacher.email)).all()
    values = {"person": found, "tests": tests, "takers": takers, "back": of_page(back), "others": others}
    return page(request, "teacher/person.html", 400 if back else 200, teacher=owner, **values)
