"""With whom a test, class, bank version or draft is shared: its teacher lets colleagues look or edit, takes it back, or hands it over.

The kinds of things have the same pages, below the address of each. A colleague sees whose a thing is and what they may do with it,
and can leave it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store import handover, sharing, teachers
from quaestor.store.models import Teacher
from quaestor.store.publishing import MissingError
from quaestor.store.sharing import LOOK, OWN
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page, url
from quaestor.web.security.forms import CHOOSE, Filled, Form, Id, Needed, Sure, again, of_page, one_of, read
from quaestor.web.teacher.access import Posted, signed_in

routes = APIRouter(prefix="/teacher", route_class=Patient)
ADDRESS = say("please enter an e-mail address")


class Sharing(Form):
    """With whom a thing is shared, and how far."""

    email: Annotated[str, Needed(ADDRESS)]
    extent: Annotated[str, one_of(sharing.EXTENTS), Needed(CHOOSE)]


class Ended(Form):
    """With whom it is shared no longer."""

    teacher: Id = 0


class HandOver(Form):
    """To whom something is handed over."""

    email: Annotated[str, Needed(ADDRESS)]
    sure: Sure


@dataclass(frozen=True)
class Kind:
    """A kind of thing that can be shared. `at`: what its number is called in the address of its page; `listed`: the page that lists it."""

    name: str
    path: str
    at: str
    find: Callable[..., Any]
    listed: str
    hand_over: Callable[[Work, Any, Teacher], None] | None = None


KINDS = (
    Kind("test", "tests", "number", sharing.published_for, "tests", handover.hand_over_test),
    Kind("class", "classes", "number", sharing.class_for, "classes", handover.hand_over_class),
    Kind("bank", "banks", "number", sharing.bank_for, "banks"),
    Kind("draft", "drafts", "draft", sharing.draft_for, "banks", handover.hand_over_draft),
)


def _add(kind: Kind) -> None:
    """The pages of one kind of thing."""
    path = f"/{kind.path}/{{number}}/sharing"

    @routes.get(path, name=f"{kind.name}-sharing")
    def show(request: Request, number: int) -> Response:
        """With whom a thing is shared."""
        return _show(request, kind, number)

    @routes.post(path, name=f"share-{kind.name}")
    def share(request: Request, number: int, form: Posted) -> Response:
        """Share it with a colleague, or share it further or less far."""
        try:
            with database(request).work() as work:
                thing = kind.find(work, signed_in(request, work), number, OWN)
                asked = read(Sharing, form)
                sharing.share(work, thing, teachers.colleague(work, asked.email), asked.extent)
        except QuaestorError as error:
            return _show(request, kind, number, share=again(error, Sharing, form))
        return go(request, f"{kind.name}-sharing", number=number)

    @routes.post(f"{path}/end", name=f"end-sharing-{kind.name}")
    def end(request: Request, number: int, form: Posted) -> Response:
        """Take it back from a colleague; a colleague may leave it."""
        with database(request).work() as work:
            teacher = signed_in(request, work)
            whose = read(Ended, form).teacher
            leaves = whose == teacher.id
            sharing.withdraw(work, kind.find(work, teacher, number, LOOK if leaves else OWN), whose)
        return go(request, kind.listed) if leaves else go(request, f"{kind.name}-sharing", number=number)

    if kind.hand_over is not None:
        act = kind.hand_over

        @routes.post(f"{path}/hand-over", name=f"hand-over-{kind.name}")
        def hand_over(request: Request, number: int, form: Posted) -> Response:
            """Hand it over: from then on it is a colleague's alone."""
            try:
                with database(request).work() as work:
                    giver = signed_in(request, work)
                    thing = kind.find(work, giver, number, OWN)
                    act(work, thing, handover.receiver(work, giver, teachers.colleague(work, read(HandOver, form).email).id))
            except QuaestorError as error:
                return _show(request, kind, number, hand_over=again(error, HandOver, form))
            return go(request, kind.listed)


for _kind in KINDS:
    _add(_kind)


def _show(request: Request, kind: Kind, number: int, **back: Filled) -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
        thing = kind.find(work, teacher, number)
        extent = sharing.extent_of(work, teacher, thing)
        shares = sharing.shares_of(work, thing)
        whose = work.get(Teacher, thing.teacher_id)
    if whose is None:
        raise MissingError(say("there is no such teacher"))
    values = {"kind": kind, "thing": thing, "extent": extent, "shares": shares, "whose": whose, "back": of_page(back)}
    there = url(request, kind.name, **{kind.at: thing.id})
    return page(request, "teacher/sharing.html", 400 if back else 200, teacher=teacher, there=there, **values)
