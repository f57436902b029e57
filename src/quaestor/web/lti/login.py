"""Coming from a platform: its browser is sent here, we send it back to the platform to sign in, and it returns with a signed message.

Both ways are as OpenID Connect has them (third-party initiated login). That the browser which returns is the one that was sent is shown by
a cookie; where the frame keeps none, by a value that the platform keeps for us (LTI platform storage); where neither is there, the person
confirms on a page of ours who they are, and only a form of that page counts.
"""

import logging
from hmac import compare_digest
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Depends, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from quaestor.i18n import said, say
from quaestor.store.clock import now
from quaestor.store.platform_tables import Platform, PlatformLogin
from quaestor.store.platforms import logins, registrations
from quaestor.store.platforms.logins import Begun
from quaestor.store.secrets import hashed
from quaestor.web.jobs.execution import Patient
from quaestor.web.lti import platform_keys
from quaestor.web.lti.framed import policy
from quaestor.web.lti.launch import entered
from quaestor.web.lti.message import AGAIN, LaunchError, Message, is_below, misfit, read
from quaestor.web.render.pages import database, page, public_url, settings
from quaestor.web.security import forms
from quaestor.web.security.browsers import root
from quaestor.web.security.forms import Form, Tick
from quaestor.web.security.outgoing import inner_hosts

routes = APIRouter(prefix="/lti", route_class=Patient)
COOKIE = "login"  # its name goes on with the first letters of the state's hash: several logins may be under way
MOST = 4000  # letters of a hint that is sent back
_log = logging.getLogger("quaestor.web")


async def _sent(request: Request) -> Any:
    """The fields of a form that a platform's page sent; they carry no token of ours."""
    form = await request.form(max_files=0, max_fields=50)
    try:
        yield form
    finally:
        await form.close()


Sent = Annotated[FormData, Depends(_sent)]


class Login(Form):
    """What a platform sends a browser with; `_check` looks at it."""

    iss: str = ""
    login_hint: str = ""
    target_link_uri: str = ""
    client_id: str = ""
    lti_message_hint: str = ""
    lti_deployment_id: str = ""
    lti_storage_target: str = ""


class Launch(Form):
    """What a browser returns with: the signed message, or an error; `browser` and `sure` come from our own page."""

    state: str = ""
    id_token: str = ""
    error: str = ""
    browser: str = ""
    sure: Tick = False


@routes.get("/login", name="lti-login")
def login_by_link(request: Request) -> Response:
    """The platform sends a browser, by a link."""
    return _login(request, Login.model_validate(dict(request.query_params)))


@routes.post("/login", name="lti-login-form")
async def login_by_form(request: Request, form: Sent) -> Response:
    """The same, by a form."""
    return await run_in_threadpool(_login, request, forms.read(Login, form))


def _login(request: Request, asked: Login) -> Response:
    with database(request).read() as work:
        platform = registrations.find(work, asked.iss, asked.client_id)
    try:
        if platform is None:
            words = say("This learning platform is not registered here. Whoever runs this server can add it on the page of platforms.")
            raise LaunchError("unknown-platform", words)
        _check(request, asked, platform)
    except LaunchError as error:
        return refused(request, error, platform)
    with database(request).work() as work:
        begun = logins.begin(work, platform, asked.lti_storage_target)
    answer = {
        "scope": "openid",
        "response_type": "id_token",
        "response_mode": "form_post",
        "prompt": "none",
        "client_id": platform.client_id,
        "redirect_uri": public_url(request, "lti-launch"),
        "login_hint": asked.login_hint,
        "state": begun.state,
        "nonce": begun.nonce,
        **({"lti_message_hint": asked.lti_message_hint} if asked.lti_message_hint else {}),
    }
    separator = "&" if urlsplit(platform.auth_url).query else "?"
    return _leave(request, platform, begun, f"{platform.auth_url}{separator}{urlencode(answer)}", asked.lti_storage_target)


def _check(request: Request, asked: Login, platform: Platform) -> None:
    if not asked.login_hint or max(map(len, asked.model_dump().values())) > MOST:
        raise LaunchError("login-hint", misfit("login_hint"))
    if not is_below(asked.target_link_uri, own_address(request)):
        raise LaunchError("target", misfit("target_link_uri"))
    if asked.lti_deployment_id and asked.lti_deployment_id not in platform.deployments:
        raise LaunchError("deployment", misfit("deployment_id"))
    if len(asked.lti_storage_target) > 200:
        raise LaunchError("storage", misfit("lti_storage_target"))


def _leave(request: Request, platform: Platform, begun: Begun, onward: str, storage: str) -> Response:
    """To the platform; where it keeps data for us, a page first asks it to."""
    if storage:
        values: dict[str, Any] = {"onward": onward, "storage": storage, "key": _storage_key(begun.state), "value": begun.browser}
        response: Response = page(request, "lti/leave.html", platform=platform, **values)
        response.headers["content-security-policy"] = policy(registrations.origins(platform))
    else:
        response = RedirectResponse(onward, 302, headers={"content-security-policy": policy(registrations.origins(platform))})
    cookie = f"{_cookie_name(begun.state)}={begun.browser}; Path={root(request)}/lti; Max-Age={logins.MINUTES * 60}"
    response.raw_headers.append((b"set-cookie", f"{cookie}; Secure; HttpOnly; SameSite=None; Partitioned".encode()))
    return response


def own_address(request: Request) -> str:
    """What all our addresses begin with, as a platform knows them."""
    return public_url(request, "home")


def _cookie_name(state: str) -> str:
    return f"{COOKIE}-{hashed(state)[:12]}"


def _storage_key(state: str) -> str:
    return f"quaestor_{hashed(state)[:12]}"


@routes.post("/launch", name="lti-launch")
async def launch(request: Request, form: Sent) -> Response:
    """The browser returns: with a signed message, or with the platform's refusal."""
    return await run_in_threadpool(_launch, request, forms.read(Launch, form))


@routes.get("/launch", name="lti-launched")
def launched(request: Request) -> Response:
    """Nothing is opened by a link: somebody loaded the page again, or came by a bookmark."""
    return refused(request, LaunchError("by-link", AGAIN), None)


def _launch(request: Request, sent: Launch) -> Response:
    with database(request).read() as work:
        login = logins.under_way(work, sent.state)
        platform = login.platform if login is not None else None
    try:
        if login is None or platform is None:
            raise LaunchError("state", AGAIN)
        if not sent.id_token:
            raise LaunchError("platform-error", _platform_error(sent))
        message = _believed(request, login, platform, sent.id_token)
        if not _is_same_browser(request, sent, login):
            return _confirm(request, sent, login, message)
        with database(request).work() as work:
            if not logins.use(work, login):
                raise LaunchError("used", AGAIN)
        return entered(request, platform, message)
    except LaunchError as error:
        return refused(request, error, platform)


def _platform_error(sent: Launch) -> str:
    if sent.error == "login_required":
        return say("You are not signed in to your learning platform any more. Please sign in there, then open the activity again.")
    return say("Your learning platform did not say who you are. Please open the activity again there.")


def _believed(request: Request, login: PlatformLogin, platform: Platform, token: str) -> Message:
    """The message, if the platform has signed it and it is meant for us, now."""
    claims = platform_keys.claims_of(database(request), platform, token, inner_hosts(settings(request)))
    return read(claims, platform, login.nonce, own_address(request), now())


def _is_same_browser(request: Request, sent: Launch, login: PlatformLogin) -> bool:
    """Whether the browser that returns is the one that we sent, or the person has confirmed who they are on our own page."""
    brought = (request.cookies.get(_cookie_name(sent.state), ""), sent.browser)
    if any(compare_digest(hashed(one), login.browser) for one in brought if one):
        return True
    own = urlsplit(own_address(request))
    return sent.sure and request.headers.get("origin", "") == f"{own.scheme}://{own.netloc}"


def _confirm(request: Request, sent: Launch, login: PlatformLogin, message: Message) -> Response:
    """The page on which the browser, or the person, shows that they are who the message is about."""
    values: dict[str, Any] = {"message": message, "platform": login.platform, "state": sent.state, "id_token": sent.id_token}
    response = page(request, "lti/confirm.html", **values, storage=login.storage, key=_storage_key(sent.state))
    response.headers["content-security-policy"] = policy([*registrations.origins(login.platform), *filter(None, [message.origin])])
    return response


def refused(request: Request, error: LaunchError, platform: Platform | None) -> Response:
    """A page with the words of a refusal, which the platform may show in its frame; the log has the reason, and nothing of the message."""
    _log.warning("platform %s: a launch was refused (%s)", platform.id if platform is not None else "?", error.reason)
    response = page(request, "lti/refused.html", 400, words=said(error))
    if platform is not None:
        response.headers["content-security-policy"] = policy(registrations.origins(platform))
    return response
