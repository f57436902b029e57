"""The message with which a platform opens us: every check of the standard that is not the signature, and what the message says.

Nothing in it is believed before `read` has returned: the platform, the audience, the time, the nonce, the deployment, the version, the kind
of message and the address that it is meant for. A refusal says in words what to do about it; its `reason` is for the log, and neither
repeats what the message holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hmac import compare_digest
from typing import Any
from urllib.parse import urlsplit

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.platform_tables import NAME, Platform
from quaestor.store.platforms import addresses
from quaestor.store.secrets import hashed
from quaestor.store.texts import line

SKEW = 60  # seconds by which clocks may differ
OLDEST = 600  # seconds that a message may be on its way
CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
OPEN, CHOOSE = "LtiResourceLinkRequest", "LtiDeepLinkingRequest"
CHOSEN = "quaestor_test"  # the custom parameter that tells the test which was picked
_IN_COURSE = "http://purl.imsglobal.org/vocab/lis/v2/membership"
_TEACHES = ("Instructor", "ContentDeveloper", "Administrator")


class LaunchError(QuaestorError):
    """A message that is refused."""

    def __init__(self, reason: str, words: str) -> None:
        self.reason = reason
        super().__init__(words)


AGAIN = say("This page was open for too long, or was opened a second time. Please open the activity again in your learning platform.")
FORGED = say(
    "The message of your learning platform could not be confirmed: it is signed by a key that the platform does not publish."
    " Please open the activity again; if that does not help, tell whoever runs the platform."
)


def misfit(what: str) -> str:
    """That both sides do not agree on how they are connected."""
    return say(
        "The learning platform and this server do not agree on how they are connected ({what})."
        " Whoever runs this server can compare both on the page of the platform.",
        what=what,
    )


def not_understood(what: str) -> str:
    """That the platform asks for something that we do not know."""
    return say("This server does not understand what the learning platform asks for ({what}).", what=what)


def _clocks(seconds: float) -> str:
    return say(
        "The clocks of the learning platform and of this server differ by {minutes} {minutes:minute|minutes}, or the page was open for too"
        " long. Please open the activity again; if that does not help, tell whoever runs the platform.",
        minutes=max(1, round(abs(seconds) / 60)),
    )


@dataclass(frozen=True)
class Services:
    """Where the platform takes grades and tells the members of the course; empty where it does not."""

    scopes: tuple[str, ...] = ()
    lineitem: str = ""
    lineitems: str = ""
    members: str = ""


@dataclass(frozen=True)
class Choosing:
    """A platform that asks for tests to be picked: where the answer goes, and what is sent back unchanged."""

    return_url: str
    data: str | None
    takes_links: bool
    takes_scores: bool


@dataclass(frozen=True)
class Message:
    """What a platform says, once it is believed. `sub`: the person, empty if it does not tell; `teaches`, `learns`: by their roles in the
    course; `origin`: of the page around us, if it is told.
    """

    kind: str
    deployment: str
    sub: str
    name: str
    teaches: bool
    learns: bool
    context: str = ""
    course: str = ""
    link: str = ""
    title: str = ""
    chosen: str = ""
    locale: str = ""
    origin: str = ""
    services: Services = field(default_factory=Services)
    choosing: Choosing | None = None


def read(claims: Mapping[str, Any], platform: Platform, nonce: str, ours: str, moment: datetime) -> Message:
    """Check a message whose signature fits, and read it. `nonce`: the hash of the one that we sent; `ours`: the address that our own begin
    with; `moment`: now, in UTC.
    """
    _check_parties(claims, platform)
    _check_time(claims, moment.replace(tzinfo=UTC).timestamp())
    sent = claims.get("nonce")
    if not isinstance(sent, str) or not compare_digest(hashed(sent), nonce):
        raise LaunchError("nonce", AGAIN)
    if claims.get(f"{CLAIM}version") != "1.3.0":
        raise LaunchError("version", not_understood("version"))
    deployment = claims.get(f"{CLAIM}deployment_id")
    if not isinstance(deployment, str) or deployment not in platform.deployments:
        raise LaunchError("deployment", misfit("deployment_id"))
    kind = claims.get(f"{CLAIM}message_type")
    if kind not in (OPEN, CHOOSE):
        raise LaunchError("message-type", not_understood("message_type"))
    if not is_below(claims.get(f"{CLAIM}target_link_uri"), ours):
        raise LaunchError("target", misfit("target_link_uri"))
    return _read(claims, str(kind), deployment)


def _check_parties(claims: Mapping[str, Any], platform: Platform) -> None:
    if claims.get("iss") != platform.issuer:
        raise LaunchError("issuer", misfit("iss"))
    audience = claims.get("aud")
    listed = [audience] if isinstance(audience, str) else audience
    if not isinstance(listed, list) or platform.client_id not in listed:
        raise LaunchError("audience", misfit("aud"))
    party = claims.get("azp")
    if (party is not None or len(listed) > 1) and party != platform.client_id:
        raise LaunchError("azp", misfit("azp"))


def _check_time(claims: Mapping[str, Any], moment: float) -> None:
    expires, issued, begins = (_time(claims.get(name)) for name in ("exp", "iat", "nbf"))
    if expires is None or issued is None or (begins is None and "nbf" in claims):
        raise LaunchError("time", misfit("exp, iat"))
    late = max(moment - expires, moment - issued - OLDEST)
    early = max(issued, begins or issued) - moment
    if late > SKEW or early > SKEW:
        raise LaunchError("expired" if late > SKEW else "too-early", _clocks(moment - issued))


def _time(value: object) -> float | None:
    """A time in seconds; None if it is none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e11 else None


def is_below(written: object, ours: str) -> bool:
    """Whether an address is one of ours: the same scheme, host and port, and a path below ours."""
    if not isinstance(written, str):
        return False
    found, own = addresses.parts(written), urlsplit(ours)
    if found is None or (found.scheme, found.netloc.lower()) != (own.scheme, own.netloc.lower()):
        return False
    return found.path.startswith(own.path)


def _read(claims: Mapping[str, Any], kind: str, deployment: str) -> Message:
    link, context, custom = (_map(claims, f"{CLAIM}{name}") for name in ("resource_link", "context", "custom"))
    shown = _map(claims, f"{CLAIM}launch_presentation")
    if kind == OPEN and not _text(link, "id"):
        raise LaunchError("link", not_understood("resource_link"))
    roles = claims.get(f"{CLAIM}roles")
    teaches, learns = roles_in_course(roles if isinstance(roles, list) else [])
    return Message(
        kind=kind,
        deployment=deployment,
        sub=_text(claims, "sub"),
        name=called(claims),
        teaches=teaches,
        learns=learns,
        context=_text(context, "id"),
        course=_text(context, "title") or _text(context, "label"),
        link=_text(link, "id"),
        title=_text(link, "title"),
        chosen=_text(custom, CHOSEN),
        locale=_text(shown, "locale"),
        origin=addresses.origin(_text(shown, "return_url", 1000)),
        services=_services(claims),
        choosing=_choosing(claims) if kind == CHOOSE else None,
    )


def called(claims: Mapping[str, Any]) -> str:
    """What a person is called, as far as the platform tells."""
    parts = f"{_text(claims, 'given_name')} {_text(claims, 'family_name')}"
    return line(_text(claims, "name") or parts, 200)


def roles_in_course(roles: Sequence[object]) -> tuple[bool, bool]:
    """Whether somebody teaches in the course, and whether they learn in it. What they are elsewhere in the institution does not count."""
    names = set()
    for role in roles:
        if not isinstance(role, str):
            continue
        vocabulary, _, name = role.rpartition("#")
        if vocabulary in ("", _IN_COURSE):  # "" is the short form, which the standard still allows
            names.add(name)
        elif vocabulary.startswith(f"{_IN_COURSE}/"):  # such as membership/Instructor#TeachingAssistant
            names.add(vocabulary.rpartition("/")[2])
    return any(name in names for name in _TEACHES), "Learner" in names


def _services(claims: Mapping[str, Any]) -> Services:
    grades, members = _map(claims, GRADES), _map(claims, MEMBERS)
    scopes = grades.get("scope")
    return Services(
        scopes=tuple(one for one in scopes if isinstance(one, str))[:20] if isinstance(scopes, list) else (),
        lineitem=_address(grades, "lineitem"),
        lineitems=_address(grades, "lineitems"),
        members=_address(members, "context_memberships_url"),
    )


def _choosing(claims: Mapping[str, Any]) -> Choosing:
    asked = _map(claims, f"{DEEP}deep_linking_settings")
    return_url, kinds, data = _address(asked, "deep_link_return_url"), asked.get("accept_types"), asked.get("data")
    if not return_url:
        raise LaunchError("return-url", not_understood("deep_link_return_url"))
    takes_links = isinstance(kinds, list) and "ltiResourceLink" in kinds
    return Choosing(return_url, data if isinstance(data, str) else None, takes_links, asked.get("accept_lineitem") is not False)


def _map(claims: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = claims.get(name)
    return found if isinstance(found, dict) else {}


def _text(claims: Mapping[str, Any], name: str, most: int = NAME) -> str:
    """A text that is stored as it is; one that is too long is none, as it would mean something else."""
    found = claims.get(name)
    return found if isinstance(found, str) and len(found) <= most and found.isprintable() else ""


def _address(claims: Mapping[str, Any], name: str) -> str:
    found = _text(claims, name, 1000)
    return found if addresses.parts(found) is not None else ""
