"""What we ask platforms for: an access token, a column of the grade book, a score in it, the members of a course.

A token is asked for with a message that we sign, and kept in this process while it is good. A reply that says that the token is not good
makes us ask for another, once.
"""

import json
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.database import Database
from quaestor.store.platform_tables import NAME, Placement, Platform
from quaestor.store.platforms import addresses, keys
from quaestor.store.secrets import hashed, token
from quaestor.store.texts import line
from quaestor.web.lti import jose
from quaestor.web.lti.message import called, roles_in_course
from quaestor.web.security import outgoing

SCOPE = "https://purl.imsglobal.org/spec/lti-ags/scope/"
MEMBERS_SCOPE = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
SCOPES = (f"{SCOPE}lineitem", f"{SCOPE}lineitem.readonly", f"{SCOPE}score", MEMBERS_SCOPE)
COLUMN = "application/vnd.ims.lis.v2.lineitem+json"
COLUMNS = "application/vnd.ims.lis.v2.lineitemcontainer+json"
SCORE_TYPE = "application/vnd.ims.lis.v1.score+json"
MEMBERS_TYPE = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
MINUTE, MARGIN = 60, 30  # seconds: that a signed message of ours is good; before its end that a token is not used any more
PAGES, PEOPLE = 50, 5000  # of a list of members at most


class ServiceError(QuaestorError):
    """A platform that did not do what we asked. `for_good`: asking again would not help."""

    def __init__(self, words: str, for_good: bool = False) -> None:
        self.for_good = for_good
        super().__init__(words)


@dataclass(frozen=True)
class Member:
    """A learner of a course."""

    sub: str
    name: str


_tokens: dict[tuple[int, str, str], tuple[str, float]] = {}
_lock = Lock()


def sign(database: Database, claims: Mapping[str, Any]) -> str:
    """A message of ours, signed by our key; the first one is made when it is first needed."""
    make_key(database)
    with database.read() as work:
        key = keys.signing(work)
    assert key is not None
    now = int(time.time())
    return jose.signed(key.private, key.kid, {"iat": now, "exp": now + 5 * MINUTE, **claims})


def make_key(database: Database) -> None:
    """Make a key of our own if one is needed: outside of units of work, as it takes a while."""
    with database.read() as work:
        is_needed = keys.is_needed(work)
    if is_needed:
        made = jose.new_key()
        with database.work() as work:
            if keys.is_needed(work):
                keys.keep(work, hashed(made)[:16], made)


class Client:
    """What we ask one platform for."""

    def __init__(self, database: Database, platform: Platform, inner: Collection[str]) -> None:
        self._database, self._platform, self._inner = database, platform, inner

    def _token(self, scope: str, anew: bool = False) -> str:
        key = (self._platform.id, self._platform.token_url, scope)
        with _lock:
            kept = _tokens.get(key)
        if kept is not None and kept[1] > time.monotonic() and not anew:
            return kept[0]
        client = self._platform.client_id
        claims = {"iss": client, "sub": client, "aud": self._platform.token_url, "jti": token()}
        form = {
            "grant_type": "client_credentials",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            "client_assertion": sign(self._database, claims),
            "scope": scope,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        reply = outgoing.ask(self._platform.token_url, self._inner, "POST", urlencode(form).encode(), headers)
        found = reply.json() if reply.status == 200 else {}
        secret = found.get("access_token") if isinstance(found, dict) else None
        if not isinstance(secret, str) or not secret or not secret.isascii() or not secret.isprintable():
            raise ServiceError(say("the platform gave no access token (it answered with {status})", status=reply.status))
        granted = found.get("scope")
        if isinstance(granted, str) and scope not in granted.split():
            raise ServiceError(say("the platform does not allow this tool to do that ({scope})", scope=scope.rpartition("/")[2]))
        seconds = found.get("expires_in")
        good = float(seconds) if isinstance(seconds, int | float) and 0 < seconds < 1e6 else MINUTE
        with _lock:
            _tokens[key] = secret, time.monotonic() + good - MARGIN
        return secret

    def _ask(self, scope: str, url: str, method: str = "GET", kind: str = "", body: Mapping[str, Any] | None = None) -> outgoing.Reply:
        """A request with a token; once more with a new one where the platform does not take it."""
        content = None if body is None else json.dumps(body).encode()
        for anew in (False, True):
            headers = {"authorization": f"Bearer {self._token(scope, anew)}", "accept": "*/*" if body is not None else kind}
            if body is not None:
                headers["content-type"] = kind
            reply = outgoing.ask(url, self._inner, method, content, headers)
            if reply.status != 401:
                break
        return reply

    def send(self, placement: Placement, column: str, sub: str, score: Mapping[str, Any], stamp: datetime) -> None:
        """Send a score; nothing is raised if the platform has one of this time, or a later one, already."""
        body = {**score, "userId": sub, "timestamp": f"{stamp.isoformat(timespec='milliseconds')}Z"}
        reply = self._ask(f"{SCOPE}score", below(column, "scores"), "POST", SCORE_TYPE, body)
        if reply.status in (200, 201, 202, 204, 409):
            return
        words = say("the platform did not take the score (it answered with {status})", status=reply.status)
        raise ServiceError(words, for_good=reply.status in (400, 404, 410, 422))

    def column(self, placement: Placement, label: str) -> str:
        """The column of the grade book for an activity: the one that the platform named, one that it has for it, or a new one."""
        if placement.lineitem:
            return placement.lineitem
        if not placement.lineitems or f"{SCOPE}lineitem" not in placement.scopes:
            raise ServiceError(say("the platform takes no grades for this activity"), for_good=True)
        asked = with_query(placement.lineitems, resource_link_id=placement.link, limit="10")
        reply = self._ask(f"{SCOPE}lineitem", asked, kind=COLUMNS)
        listed = reply.json() if reply.status == 200 else []
        found = [one for one in listed if isinstance(one, dict) and one.get("resourceLinkId") == placement.link] if listed else []
        if not found:
            named = {"resourceLinkId": placement.link, "resourceId": f"test-{placement.test_id}"}
            body = {"scoreMaximum": 100, "label": label or "Quaestor", **named}
            made = self._ask(f"{SCOPE}lineitem", placement.lineitems, "POST", COLUMN, body)
            found = [made.json()] if made.status in (200, 201) else []
        address = found[0].get("id") if found and isinstance(found[0], dict) else None
        if not isinstance(address, str) or addresses.parts(address) is None:
            raise ServiceError(say("the platform gave no column of its grade book for this activity"))
        return address

    def members(self, placement: Placement) -> list[Member]:
        """The learners of a course who are active in it."""
        if not placement.members:
            raise ServiceError(say("the platform does not tell who is in this course"), for_good=True)
        found = {}
        for page in self._pages(with_query(placement.members, limit="200")):
            for one in page:
                sub = one.get("user_id") if isinstance(one, dict) else None
                roles = one.get("roles") if isinstance(one, dict) else None
                if not isinstance(sub, str) or not 0 < len(sub) <= NAME or one.get("status", "Active") != "Active":
                    continue
                teaches, learns = roles_in_course(roles if isinstance(roles, list) else [])
                if learns and not teaches:
                    found[sub] = Member(sub, line(called(one), 200))
        return list(found.values())[:PEOPLE]

    def _pages(self, url: str) -> Iterator[list[Any]]:
        """The pages of a list of members, as each names the next one; all of them at the same place."""
        home = addresses.origin(url)
        for _ in range(PAGES):
            reply = self._ask(MEMBERS_SCOPE, url, kind=MEMBERS_TYPE)
            listed = reply.json() if reply.status == 200 else None
            if not isinstance(listed, dict) or not isinstance(listed.get("members"), list):
                raise ServiceError(say("the platform did not tell who is in this course (it answered with {status})", status=reply.status))
            yield listed["members"]
            following = re.search(r'<([^>]*)>\s*;[^,]*rel="?next"?', reply.headers.get("link", ""))
            if following is None:
                return
            url = urljoin(url, following[1])
            if addresses.origin(url) != home:
                raise ServiceError(say("the platform sends us to another address, which we do not follow"))


def below(address: str, name: str) -> str:
    """An address with one more step at the end of its path, before its query."""
    found = urlsplit(address)
    return urlunsplit(found._replace(path=f"{found.path.rstrip('/')}/{name}"))


def with_query(address: str, **more: str) -> str:
    """An address with further parameters."""
    found = urlsplit(address)
    return urlunsplit(found._replace(query=urlencode([*parse_qsl(found.query, keep_blank_values=True), *more.items()])))
