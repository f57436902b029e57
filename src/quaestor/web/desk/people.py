"""Teachers of this installation: the owner invites them and makes them new sign-in links. Links are shown once."""

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store import teachers
from quaestor.store.models import Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.texts import tidy_email
from quaestor.web.lanes import Patient
from quaestor.web.pages import database, page, public_url
from quaestor.web.teacher.access import Posted, signed_in, told
from quaestor.web.visits import field

routes = APIRouter(prefix="/desk/people", route_class=Patient)


def _owner(request: Request, work: Work) -> Teacher:
    found = signed_in(request, work)
    if not found.is_owner:
        raise teachers.AccessError(say("only the owner may invite teachers"))
    return found


@routes.get("", name="people")
def people(request: Request) -> Response:
    """All teachers, and a form to invite another."""
    return _show(request)


@routes.post("", name="invite")
def invite(request: Request, form: Posted) -> Response:
    """An invitation for an address."""
    email = field(form, "email")
    try:
        with database(request).work() as work:
            secret = teachers.invitation(work, _owner(request, work), email)
    except QuaestorError as error:
        return _show(request, wrong=told(error), email=email)
    return _show(request, link=public_url(request, "use-link", secret=secret), of=tidy_email(email))


@routes.post("/{number}/link", name="link-for")
def link_for(request: Request, number: int, form: Posted) -> Response:
    """A new sign-in link for a teacher who lost their password."""
    with database(request).work() as work:
        _owner(request, work)
        found = work.get(Teacher, number)
        if found is None:
            raise MissingError(say("there is no such teacher"))
        secret = teachers.sign_in_link(work, found)
    return _show(request, link=public_url(request, "use-link", secret=secret), of=found.email)


def _show(request: Request, link: str = "", of: str = "", wrong: str = "", email: str = "") -> Response:
    with database(request).read() as work:
        owner = _owner(request, work)
        all_of_them = work.scalars(select(Teacher).order_by(Teacher.email)).all()
    status = 400 if wrong else 200
    hours = teachers.LINK_HOURS
    values = {"people": all_of_them, "link": link, "of": of, "wrong": wrong, "email": email, "hours": hours}
    return page(request, "desk/people.html", status, teacher=owner, **values)
