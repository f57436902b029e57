"""Connecting a platform: the owner enters what the platform says of itself, or gives it a one-time link and it registers itself."""

import json
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as Work
from starlette.datastructures import FormData

from quaestor.errors import QuaestorError
from quaestor.i18n import said, say, unpacked
from quaestor.store import teachers
from quaestor.store.clock import now
from quaestor.store.models import Link, Teacher
from quaestor.store.platform_tables import Placement, Seat
from quaestor.store.platforms import addresses, keys, registrations
from quaestor.store.platforms.registrations import Registration
from quaestor.web.jobs.execution import Patient
from quaestor.web.lti import jose
from quaestor.web.lti.framed import policy
from quaestor.web.lti.login import own_address
from quaestor.web.lti.message import CHOOSE
from quaestor.web.lti.services import SCOPES, make_key
from quaestor.web.render import notes
from quaestor.web.render.pages import database, go, page, public_url, settings
from quaestor.web.render.problems import reply
from quaestor.web.security import outgoing
from quaestor.web.security.forms import Filled, Form, again, read
from quaestor.web.security.outgoing import OutgoingError, inner_hosts
from quaestor.web.teacher.access import Posted, signed_in

PATH = "/teacher/platforms"
routes = APIRouter(route_class=Patient)


class PlatformFields(Form):
    """What a platform says of itself; checked by its `Registration`."""

    name: str = ""
    issuer: str = ""
    client_id: str = ""
    deployments: str = ""
    auth_url: str = ""
    token_url: str = ""
    jwks_url: str = ""
    frames: str = ""


class OwnRegistration(Form):
    """Where a platform describes itself, and the token with which it lets itself be asked."""

    openid_configuration: str = ""
    registration_token: str = ""


TOOL = "https://purl.imsglobal.org/spec/lti-tool-configuration"
PLATFORM = "https://purl.imsglobal.org/spec/lti-platform-configuration"


def _owner(request: Request, work: Work) -> Teacher:
    found = signed_in(request, work)
    if not found.is_owner:
        raise teachers.AccessError(say("only the owner of this server may do that"))
    return found


@routes.get("/lti/keys", name="lti-keys")
def own_keys(request: Request) -> Response:
    """Our public keys, for platforms."""
    with database(request).read() as work:
        listed = [jose.public_part(key.private, key.kid) for key in keys.published(work)]
    response = reply({"keys": listed})
    response.headers["cache-control"] = "public, max-age=600"
    return response


@routes.get(PATH, name="platforms")
def index(request: Request) -> Response:
    """All platforms, our addresses to copy, and two ways to add one."""
    return _index(request, secret=str(notes.read(request).get("link", "")))


def _index(request: Request, back: Filled | None = None, secret: str = "") -> Response:
    with database(request).read() as work:
        owner = _owner(request, work)
        listed = registrations.all_platforms(work)
        try:
            link = public_url(request, "lti-register", secret=secret) if secret and registrations.opened_link(work, secret) else ""
        except teachers.AccessError:
            link = ""
        owed = select(Placement.platform_id, func.count()).join(Seat).where(Seat.due.is_not(None)).group_by(Placement.platform_id)
        waiting = dict(iter(work.execute(owed)))
    values = {"platforms": listed, "waiting": waiting, "form": back or Filled(), "ours": _ours(request), "link": link}
    response = page(request, "lti/platforms.html", 400 if back else 200, teacher=owner, hours=registrations.HOURS, **values)
    notes.drop(request, response, PATH)
    return response


def _ours(request: Request) -> dict[str, str]:
    names = {"login": "lti-login", "launch": "lti-launch", "keys": "lti-keys"}
    return {name: public_url(request, route) for name, route in names.items()}


@routes.post(PATH, name="add-platform")
def add(request: Request, form: Posted) -> Response:
    """Add a platform by hand."""
    try:
        with database(request).work() as work:
            _owner(request, work)
            found = registrations.register(work, Registration.read(read(PlatformFields, form).model_dump()))
    except QuaestorError as error:
        return _index(request, again(error, PlatformFields, form))
    make_key(database(request))
    return go(request, "platform", number=found.id)


@routes.post(f"{PATH}/link", name="platform-link")
def link(request: Request, form: Posted) -> Response:
    """A one-time link with which a platform registers itself."""
    with database(request).work() as work:
        secret = registrations.self_registration(work, _owner(request, work))
    response = go(request, "platforms")
    notes.leave(request, response, PATH, {"link": secret})
    return response


@routes.get(f"{PATH}/{{number}}", name="platform")
def show(request: Request, number: int) -> Response:
    """One platform: its addresses, to be compared and changed, and what it is owed."""
    return _show(request, number)


def _show(request: Request, number: int, back: Filled | None = None) -> Response:
    with database(request).read() as work:
        owner = _owner(request, work)
        found = registrations.by_number(work, number)
        of_it = select(func.count()).select_from(Seat).join(Placement).where(Placement.platform_id == number)
        counts = work.scalar(of_it) or 0, work.scalar(of_it.where(Seat.due.is_not(None))) or 0
        problem = work.scalar(select(Seat.problem).join(Placement).where(Placement.platform_id == number, Seat.problem != "").limit(1))
    written = back or Filled({name: _shown(getattr(found, name)) for name in PlatformFields.model_fields})
    values = {"platform": found, "form": written, "counts": counts, "problem": _words(problem), "ours": _ours(request)}
    return page(request, "lti/platform.html", 400 if back else 200, teacher=owner, **values)


def _words(problem: str | None) -> str:
    return unpacked(problem) if problem else ""


def _shown(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list) else str(value)


@routes.post(f"{PATH}/{{number}}", name="change-platform")
def change(request: Request, number: int, form: Posted) -> Response:
    """Other addresses, deployments or origins; issuer and client id stay, as they name the platform."""
    with database(request).read() as work:
        _owner(request, work)
        found = registrations.by_number(work, number)
    fields = {**read(PlatformFields, form).model_dump(), "issuer": found.issuer, "client_id": found.client_id}
    try:
        with database(request).work() as work:
            _owner(request, work)
            registrations.register(work, Registration.read(fields))
    except QuaestorError as error:
        return _show(request, number, again(error, PlatformFields, form))
    return go(request, "platform", number=number)


@routes.post(f"{PATH}/{{number}}/remove", name="remove-platform")
def remove(request: Request, number: int, form: Posted) -> Response:
    """Remove a platform."""
    with database(request).work() as work:
        _owner(request, work)
        registrations.remove(work, registrations.by_number(work, number))
    return go(request, "platforms")


async def _sent(request: Request) -> Any:
    form = await request.form(max_files=0, max_fields=10)
    try:
        yield form
    finally:
        await form.close()


@routes.get("/lti/register/{secret}", name="lti-register")
def ask(request: Request, secret: str, openid_configuration: str = "", registration_token: str = "") -> Response:
    """A platform opens the owner's link: who it says it is, and a button to connect it."""
    return _ask(request, secret, openid_configuration, registration_token)


def _ask(request: Request, secret: str, configuration: str, token: str, wrong: str = "") -> Response:
    with database(request).read() as work:
        registrations.opened_link(work, secret)
    found = addresses.parts(configuration)
    host = found.hostname if found is not None else ""
    values: dict[str, Any] = {"secret": secret, "configuration": configuration, "token": token, "host": host}
    response = page(request, "lti/register.html", 400 if wrong else 200, **values, wrong=wrong, done=False)
    return _openable(response, configuration)


def _openable(response: Response, configuration: str) -> Response:
    """A page that the platform may show in its frame, or in a window that it closes."""
    response.headers["content-security-policy"] = policy(filter(None, [addresses.origin(configuration)]))
    response.headers["cross-origin-opener-policy"] = "unsafe-none"
    return response


@routes.post("/lti/register/{secret}", name="lti-registered")
async def register(request: Request, secret: str, form: Annotated[FormData, Depends(_sent)]) -> Response:
    """Ask the platform to register us, and keep what it says."""
    asked = read(OwnRegistration, form)
    return await run_in_threadpool(_register, request, secret, asked.openid_configuration, asked.registration_token)


def _register(request: Request, secret: str, configuration: str, token: str) -> Response:
    with database(request).read() as work:
        registrations.opened_link(work, secret)
    try:
        make_key(database(request))  # the platform may ask for it at once
        made = _agreed(request, configuration, token)
        with database(request).work() as work:
            opened = registrations.opened_link(work, secret)
            use = update(Link).where(Link.token == opened.token, Link.used.is_(None)).values(used=now())
            if work.execute(use).rowcount:  # type: ignore[attr-defined]
                registrations.register(work, made)
    except QuaestorError as error:
        return _ask(request, secret, configuration, token, said(error))
    values: dict[str, Any] = {"secret": secret, "configuration": configuration, "token": "", "host": made.name}
    return _openable(page(request, "lti/register.html", **values, wrong="", done=True), configuration)


def _agreed(request: Request, configuration: str, token: str) -> Registration:
    """What a platform and we agree on: it tells its addresses, we tell ours, and it answers with our name there."""
    inner = inner_hosts(settings(request))
    if addresses.parts(configuration) is None:
        raise QuaestorError(say("the platform did not say where it describes itself"))
    told = _object(outgoing.ask(configuration, inner, headers={"accept": "application/json"}))
    issuer, endpoint = _text(told, "issuer"), _text(told, "registration_endpoint")
    if urlsplit(issuer).hostname != urlsplit(configuration).hostname:
        raise QuaestorError(say("the description of the platform lies elsewhere than the platform; it is not believed"))
    headers = {"content-type": "application/json", "accept": "application/json"}
    if token.isascii() and token.isprintable() and token:
        headers["authorization"] = f"Bearer {token}"
    answer = _object(outgoing.ask(endpoint, inner, "POST", json.dumps(_tool(request)).encode(), headers))
    tool = answer.get(TOOL)
    deployment = tool.get("deployment_id") if isinstance(tool, dict) else None
    about = told.get(PLATFORM)
    family = about.get("product_family_code") if isinstance(about, dict) else None
    fields = {
        "name": f"{family if isinstance(family, str) else 'LTI'} {urlsplit(issuer).hostname}"[:200],
        "issuer": issuer,
        "client_id": _text(answer, "client_id"),
        "deployments": deployment if isinstance(deployment, str) else "",
        "auth_url": _text(told, "authorization_endpoint"),
        "token_url": _text(told, "token_endpoint"),
        "jwks_url": _text(told, "jwks_uri"),
    }
    return Registration.read(fields)


def _object(reply: outgoing.Reply) -> dict[str, Any]:
    found = reply.json() if reply.status in (200, 201) else None
    if not isinstance(found, dict):
        raise OutgoingError(say("the platform did not answer as it should (it answered with {status})", status=reply.status))
    return found


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _tool(request: Request) -> dict[str, Any]:
    """What we say of ourselves."""
    ours = _ours(request)
    return {
        "application_type": "web",
        "response_types": ["id_token"],
        "grant_types": ["implicit", "client_credentials"],
        "initiate_login_uri": ours["login"],
        "redirect_uris": [ours["launch"]],
        "client_name": "Quaestor",
        "jwks_uri": ours["keys"],
        "token_endpoint_auth_method": "private_key_jwt",
        "scope": " ".join(SCOPES),
        TOOL: {
            "domain": urlsplit(own_address(request)).netloc,
            "description": "Adaptive tests",
            "target_link_uri": ours["launch"],
            "claims": ["iss", "sub", "name", "given_name", "family_name"],
            "messages": [{"type": CHOOSE, "target_link_uri": ours["launch"], "label": "Quaestor"}],
        },
    }
