"""Coming in: the front page, links and codes, and the language of the pages."""

from asyncio import Semaphore
from contextlib import suppress
from functools import partial
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from quaestor.i18n import said
from quaestor.selection.rules_file import read_rules
from quaestor.session.session import Session
from quaestor.store import limits
from quaestor.store.attempts.entry import Origin, enter, look_ahead
from quaestor.store.attempts.invitations import NAMELESS, UNKNOWN, ChoiceError, EntryError, Invited, UnknownCodeError, holds_back, invited
from quaestor.store.attempts.pace import is_quick
from quaestor.store.database import UnavailableError
from quaestor.store.models import Attempt, BankVersion, Published
from quaestor.store.publishing import open_bank
from quaestor.store.secrets import tidy
from quaestor.store.texts import line
from quaestor.web.jobs.execution import Patient, in_turn, quickly, seed
from quaestor.web.operations.installation import demo_code
from quaestor.web.render.language import LANGUAGES
from quaestor.web.render.pages import LANGUAGE, database, go, page, url
from quaestor.web.security.browsers import address, browser, posted, root, set_cookie
from quaestor.web.security.forms import Form, Id, read
from quaestor.web.taker.device import let_in

routes = APIRouter(route_class=Patient)
Posted = Annotated[FormData, Depends(posted)]
LONGEST = 40  # letters of a wrong code that are shown again


@routes.get("/", name="home")
def home(request: Request, code: str = "") -> Response:
    """A field for the code, what this is in one picture, and a test to try; `code`: a wrong one, which was refused and counted."""
    demo = None
    with suppress(UnavailableError), database(request).read() as work:  # the page is there when the database is not
        demo = demo_code(work)
    wrong = UNKNOWN if code else ""
    return page(request, "taker/front_page.html", code=code[:LONGEST], invited=None, asks_code=True, wrong=wrong, demo=demo)


@routes.get("/five-minutes", name="five-minutes")
def five_minutes(request: Request) -> Response:
    """The way from nothing to a first result, step by step."""
    return page(request, "five_minutes.html")


@routes.get("/c/{code}", name="code")
async def by_link(request: Request, code: str, nameless: bool = False, test: int | None = None) -> Response:
    """The same with the code filled in: what a link or a QR code opens; `nameless`: the form was sent without a name.

    `test`: the one that a pupil chose, whose own code opens several.
    """
    try:
        found = await _invitation(request, code, test)
    except ChoiceError as error:
        return page(request, "taker/tests.html", code=tidy(code), pupil=error.pupil, choices=error.choices)
    except UnknownCodeError as error:
        return page(request, "taker/home.html", 404, code=code, invited=None, asks_code=True, wrong=said(error))
    wrong = NAMELESS if nameless and found.needs_name else ""
    told_later = holds_back(found.test)
    return page(request, "taker/home.html", code=code, invited=found, asks_code=found.needs_own_code, wrong=wrong, told_later=told_later)


class Entering(Form):
    """A code and a name; `test`: the one that a pupil chose; `once`: the mark of the form."""

    code: str = ""
    name: str = ""
    test: Id = 0
    once: str = ""


class Speaking(Form):
    """A language, and the page to go back to."""

    language: str = ""
    back: str = ""


@routes.post("/enter", name="enter")
async def begin(request: Request, form: Posted) -> Response:
    """Begin a test, or go on with one."""
    asked = read(Entering, form)
    code, name, test = asked.code, asked.name, asked.test or None
    try:
        found = await _invitation(request, code, test)
        if "once" not in form and (found.may_begin or found.present is None):  # first say what it opens, before any clock starts
            return _again(request, code, test)
        if "see" in form and found.earlier is not None:
            return _open(request, found.earlier)
        first = await quickly(request, partial(_first, request, code, found.test))
        attempt = await in_turn(request, partial(_enter, request, code, name, asked.once, first, test))
    except UnknownCodeError:
        return RedirectResponse(f"{url(request, 'home')}?{urlencode({'code': code[:LONGEST]})}", 303)
    except ChoiceError:
        return _again(request, code, test)
    except EntryError:
        return RedirectResponse(url(request, "code", code=tidy(code)) + ("" if line(name) else "?nameless=yes"), 303)
    return _open(request, attempt)


def _again(request: Request, code: str, test: int | None) -> Response:
    """To what a code opens, before any clock starts."""
    return RedirectResponse(url(request, "code", code=tidy(code)) + (f"?test={test}" if test is not None else ""), 303)


async def _invitation(request: Request, code: str, test: int | None) -> Invited:
    """What a code opens; wrong codes are counted, and those that were looked at before that stay few.

    ChoiceError for a pupil's own code that opens several tests, or none; `test`: the one that was chosen.
    """
    looks: Semaphore = request.app.state.looks
    async with looks:
        is_calm, found = await quickly(request, partial(_look, request, code, test))
        if is_calm and found is None:
            found = await in_turn(request, partial(_count, request, code, test))
    if not is_calm:
        found = await in_turn(request, partial(_count, request, code, test))
    if found is None:
        raise UnknownCodeError(UNKNOWN)
    return found


def _look(request: Request, code: str, test: int | None) -> tuple[bool, Invited | None]:
    """Whether hardly any wrong codes came from there, and what a right one then opens: a class that comes in waits for no counter."""
    with database(request).glance() as work:
        if limits.refuse(work, "code", *browser(request), address=address(request)) >= limits.CALM:
            return False, None
        try:
            return True, invited(work, code, test=test)
        except UnknownCodeError:
            return True, None


def _count(request: Request, code: str, test: int | None, prompt: bool) -> Invited | None:
    """What a code opens, or None. The try is counted in the unit of work that looks; if the code is right, nothing of it is written."""
    with database(request).work(prompt=prompt) as work:
        limits.count(work, "code", *browser(request), address=address(request))
        try:
            found = invited(work, code, test=test)
        except UnknownCodeError:
            return None
        except ChoiceError:
            work.expunge_all()
            raise
        work.expunge_all()  # what was found outlives the roll-back
        work.rollback()
    return found


def _first(request: Request, code: str, test: Published) -> Session | None:
    """The session at the beginning of a test whose steps may take long; a quick one is worked out by the page that shows it."""
    with database(request).glance() as work:
        kept = work.get_one(BankVersion, test.bank_id)
        return None if is_quick(open_bank(kept), read_rules(test.rules)) else look_ahead(work, code, seed(request), test.id)


def _enter(request: Request, code: str, name: str, once: str, first: Session | None, test: int | None, prompt: bool) -> Attempt:
    with database(request).work(prompt=prompt) as work:
        return enter(work, code, name, once, first, Origin("".join(browser(request)), address(request)), test)


def _open(request: Request, attempt: Attempt) -> Response:
    response = go(request, "question", attempt=attempt.id)
    let_in(request, response, attempt, over=attempt.ended is not None)
    return response


@routes.post("/language", name="language")
def speak(request: Request, form: Posted) -> Response:
    """The language chosen by hand, and back to the same page."""
    asked = read(Speaking, form)
    back = asked.back
    local = back.startswith("/") and not back.startswith(("//", "/\\"))
    response = RedirectResponse(back if local else root(request) + "/", 303)
    if asked.language in LANGUAGES:
        set_cookie(request, response, LANGUAGE, asked.language)
    return response
