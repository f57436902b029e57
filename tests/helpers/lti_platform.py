"""A learning platform for tests, written from the standard (LTI 1.3, grades, names and roles, deep linking, registration) and not from the
tool: it answers over HTTP, keeps what it is sent, complains about what the standard forbids, and can misbehave where a test asks it to.
"""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit
from urllib.request import urlopen
from warnings import catch_warnings, simplefilter

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
DEEP = "https://purl.imsglobal.org/spec/lti-dl/claim/"
AGS = "https://purl.imsglobal.org/spec/lti-ags/"
NRPS = "https://purl.imsglobal.org/spec/lti-nrps/"
IN_COURSE = "http://purl.imsglobal.org/vocab/lis/v2/membership#"
SCOPES = [f"{AGS}scope/lineitem", f"{AGS}scope/score", f"{NRPS}scope/contextmembership.readonly"]
CLIENT, DEPLOYMENT = "client-of-quaestor", "7"


class Key:
    """A key pair of the platform."""

    def __init__(self, bits: int = 2048) -> None:
        self.kid = token_urlsafe(6)
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=bits)

    @property
    def public(self) -> dict[str, Any]:
        numbers = self.private.public_key().public_numbers()
        return {"kty": "RSA", "kid": self.kid, "use": "sig", "alg": "RS256", "n": _number(numbers.n), "e": _number(numbers.e)}

    @property
    def pem(self) -> bytes:
        return self.private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def _number(value: int) -> str:
    return _encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def unsigned(claims: dict[str, Any], kid: str) -> str:
    """A message without a signature (`alg: none`)."""
    return ".".join(_encoded(json.dumps(one).encode()) for one in ({"alg": "none", "typ": "JWT", "kid": kid}, claims)) + "."


def with_shared_secret(claims: dict[str, Any], kid: str, secret: bytes) -> str:
    """A message whose HMAC has the public key for its secret: an old trick."""
    body = ".".join(_encoded(json.dumps(one).encode()) for one in ({"alg": "HS256", "typ": "JWT", "kid": kid}, claims))
    return f"{body}.{_encoded(hmac.new(secret, body.encode(), hashlib.sha256).digest())}"


@dataclass
class User:
    """Somebody at the platform."""

    sub: str
    name: str = ""
    roles: tuple[str, ...] = ("Learner",)
    status: str = "Active"

    @property
    def role_uris(self) -> list[str]:
        return [role if ":" in role else IN_COURSE + role for role in self.roles]


@dataclass
class Placed:
    """An activity in the course: `custom` as the tool gave it by deep linking."""

    id: str
    title: str = "A test"
    custom: dict[str, str] = field(default_factory=dict)
    lineitem: bool = True


class Platform:
    """The platform: its pages and services at `origin`, its users, activities and grades."""

    def __init__(self, tool: str, host: str = "localhost") -> None:
        self.tool = tool  # the address of the tool, without a final slash
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        self.home = f"http://{host}:{self.server.server_port}"
        self.lock = threading.Lock()
        self.reset()
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def reset(self) -> None:
        """Forget everything but the address."""
        self.origin = self.home
        for lie in ("claims", "signed"):
            self.__dict__.pop(lie, None)
        self.keys = [_shared_key()]
        self.users = {"ada": User("ada", "Ada Lovelace"), "tess": User("tess", "Tess Teacher", ("Instructor",))}
        self.links: dict[str, Placed] = {}
        self.codes: dict[str, dict[str, Any]] = {}  # what was asked at the authorisation endpoint, by state
        self.tokens: dict[str, list[str]] = {}
        self.items: dict[str, dict[str, Any]] = {}
        self.grades: dict[tuple[str, str], dict[str, Any]] = {}
        self.received: list[dict[str, Any]] = []  # every score that was sent here, taken or not
        self.taken: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.away = False  # answers with 503
        self.forgets = False  # takes a score, then breaks off before it says so
        self.page_size = 2
        self.responses: list[dict[str, Any]] = []  # of deep linking
        self.registrations: list[dict[str, Any]] = []
        self.storage = True
        self.tool_keys: Callable[[], dict[str, Any]] = self.fetched

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    @property
    def registration(self) -> dict[str, str]:
        """What an owner copies by hand."""
        urls = {"auth_url": "auth", "token_url": "token", "jwks_url": "jwks"}
        told = {"name": "Our platform", "issuer": self.origin, "client_id": CLIENT, "deployments": DEPLOYMENT, "frames": ""}
        return told | {name: f"{self.origin}/{path}" for name, path in urls.items()}

    def login(self, user: str, link: str = "", **more: str) -> dict[str, str]:
        """The parameters with which the platform sends a browser; `link` empty: deep linking."""
        hint = json.dumps({"link": link, "id": token_urlsafe(4)})
        asked = {"iss": self.origin, "login_hint": user, "target_link_uri": f"{self.tool}/lti/launch", "client_id": CLIENT}
        return {**asked, "lti_message_hint": hint, "lti_deployment_id": DEPLOYMENT, **more}

    def authorise(self, asked: dict[str, str]) -> dict[str, str]:
        """What the authorisation endpoint answers: the fields of the form for the redirect URI. Complains of what the standard forbids."""
        want = {"scope": "openid", "response_type": "id_token", "response_mode": "form_post", "prompt": "none", "client_id": CLIENT}
        for name, value in want.items():
            if asked.get(name) != value:
                self.complaints.append(f"{name} = {asked.get(name)}")
        if asked.get("redirect_uri") != f"{self.tool}/lti/launch":
            self.complaints.append(f"redirect_uri {asked.get('redirect_uri')} is not registered")
        if len(asked.get("nonce", "")) < 16 or len(asked.get("state", "")) < 16:
            self.complaints.append("nonce and state are too short")
        link = json.loads(asked["lti_message_hint"])["link"]
        claims = self.claims(self.users[asked["login_hint"]], link, asked["nonce"])
        return {"id_token": self.signed(claims), "state": asked["state"]}

    def claims(self, user: User, link: str, nonce: str) -> dict[str, Any]:
        """A message as it should be."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.origin,
            "aud": CLIENT,
            "sub": user.sub,
            "iat": now,
            "exp": now + 60,
            "nonce": nonce,
            f"{CLAIM}version": "1.3.0",
            f"{CLAIM}deployment_id": DEPLOYMENT,
            f"{CLAIM}target_link_uri": f"{self.tool}/lti/launch",
            f"{CLAIM}roles": user.role_uris,
            f"{CLAIM}context": {"id": "course-1", "title": "Mathematics 7b", "type": ["CourseSection"]},
            f"{CLAIM}launch_presentation": {"document_target": "iframe", "locale": "en", "return_url": f"{self.origin}/course"},
            f"{NRPS}claim/namesroleservice": {"context_memberships_url": f"{self.origin}/members?type_id=3", "service_versions": ["2.0"]},
        }
        if user.name:
            claims["name"] = user.name
        if not link:
            settings = {
                "deep_link_return_url": f"{self.origin}/deep-return?course=1",
                "accept_types": ["ltiResourceLink", "link"],
                "accept_presentation_document_targets": ["iframe", "window"],
                "data": "opaque & unchanged",
            }
            return {**claims, f"{CLAIM}message_type": "LtiDeepLinkingRequest", f"{DEEP}deep_linking_settings": settings}
        placed = self.links[link]
        endpoint: dict[str, Any] = {"scope": SCOPES[:2], "lineitems": f"{self.origin}/lineitems?type_id=3"}
        if placed.lineitem:
            endpoint["lineitem"] = f"{self.origin}/lineitems/{link}/lineitem?type_id=3"
        return {
            **claims,
            f"{CLAIM}message_type": "LtiResourceLinkRequest",
            f"{CLAIM}resource_link": {"id": link, "title": placed.title},
            f"{CLAIM}custom": placed.custom,
            f"{AGS}claim/endpoint": endpoint,
        }

    def signed(self, claims: dict[str, Any], key: Key | None = None, **header: Any) -> str:
        one = key or self.keys[-1]
        named = {name: value for name, value in {"kid": one.kid, **header}.items() if value is not None}
        with catch_warnings():
            simplefilter("ignore")  # of weak keys
            return jwt.encode(claims, one.private, algorithm="RS256", headers=named)

    def rotate(self) -> None:
        """A new key; the old one is not published any more."""
        self.keys = [Key()]

    def place(self, link: str, item: dict[str, Any] | None = None, **more: Any) -> None:
        """Make an activity, from a content item of deep linking or by hand."""
        custom = dict((item or {}).get("custom", {}))
        self.links[link] = Placed(link, (item or {}).get("title", "A test"), custom, **more)

    def fetched(self) -> dict[str, Any]:
        """The public keys of the tool; a test without a real server gives them in another way."""
        with urlopen(f"{self.tool}/lti/keys", timeout=20) as response:
            return json.load(response)

    def read(self, message: str, audience: str) -> dict[str, Any]:
        """A message of the tool, checked as a platform does."""
        kid = jwt.get_unverified_header(message)["kid"]
        (found,) = [key for key in self.tool_keys()["keys"] if key["kid"] == kid]
        assert {"kty", "kid", "use", "alg", "n", "e"} <= set(found)
        return jwt.decode(
            message, jwt.PyJWK(found).key, algorithms=["RS256"], audience=audience, options={"require": ["exp", "iat", "iss"]}
        )

    def deep_response(self, message: str) -> dict[str, Any]:
        """The choice that the tool sent by deep linking."""
        claims = self.read(message, self.origin)
        assert claims["iss"] == CLIENT
        assert claims[f"{CLAIM}message_type"] == "LtiDeepLinkingResponse"
        assert claims[f"{CLAIM}version"] == "1.3.0"
        assert claims[f"{CLAIM}deployment_id"] == DEPLOYMENT
        assert claims["nonce"]
        assert claims[f"{DEEP}data"] == "opaque & unchanged"
        self.responses.append(claims)
        return claims


_kept: list[Key] = []


def _shared_key() -> Key:
    """One key for all platforms of a test run: making one takes a while."""
    if not _kept:
        _kept.append(Key())
    return _kept[0]


@contextmanager
def platform_for(tool: str, host: str = "localhost") -> Any:
    made = Platform(tool, host)
    try:
        yield made
    finally:
        made.close()


def _handler(platform: Platform) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def reply(self, status: int, content: object = None, kind: str = "application/json", **headers: str) -> None:
            body = content.encode() if isinstance(content, str) else b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"content-type": kind, "content-length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.handle_one()

        def do_POST(self) -> None:
            self.handle_one()

        def handle_one(self) -> None:
            url = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            with platform.lock:
                platform.asked.append(f"{self.command} {url.path}")
            browser = url.path in ("/course", "/auth", "/deep-return", "/register")
            if platform.away and not browser:
                self.reply(503, {})
                return
            name = "do_" + url.path.strip("/").split("/")[0].replace("-", "_")
            getattr(self, name, self.nothing)(url.path, query, body)

        def nothing(self, path: str, query: dict[str, str], body: bytes) -> None:
            self.reply(404, {})

        # what browsers see

        def do_course(self, path: str, query: dict[str, str], body: bytes) -> None:
            """A page with the tool in a frame, by a login that the page begins; it keeps data for the tool where that asks for it."""
            more = {"lti_storage_target": "_parent"} if platform.storage else {}
            asked = platform.login(query["user"], query.get("link", ""), **more)
            src = f"{platform.tool}/lti/login?{urlencode(asked)}"
            script = f"""
              const kept = {{}};
              addEventListener("message", (event) => {{
                if (event.origin !== {json.dumps(platform.tool)}) return;
                const {{subject, message_id, key, value}} = event.data;
                if (subject === "lti.put_data") kept[key] = value;
                if (subject === "lti.put_data" || subject === "lti.get_data")
                  event.source.postMessage({{subject: subject + ".response", message_id, key, value: kept[key]}}, event.origin);
              }});"""
            frame = f'<iframe name="tool" width="900" height="800" src="{escape(src)}"></iframe>'
            page = f"<!doctype html><title>Course</title><h1>Course</h1><script>{script if platform.storage else ''}</script>{frame}"
            self.reply(200, page, "text/html")

        def do_auth(self, path: str, query: dict[str, str], body: bytes) -> None:
            fields = platform.authorise(query)
            inputs = "".join(f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in fields.items())
            to = escape(query["redirect_uri"])
            form = f'<form method="post" action="{to}">{inputs}</form><script>document.forms[0].submit()</script>'
            self.reply(200, f"<!doctype html><title>Sign-in</title>{form}", "text/html")

        def do_deep_return(self, path: str, query: dict[str, str], body: bytes) -> None:
            claims = platform.deep_response(parse_qs(body.decode())["JWT"][0])
            count = len(claims[f"{DEEP}content_items"])
            self.reply(200, f"<!doctype html><title>Back</title><p>{count} items were taken</p>", "text/html")

        # services

        def do_jwks(self, path: str, query: dict[str, str], body: bytes) -> None:
            self.reply(200, {"keys": [key.public for key in platform.keys]})

        def do_token(self, path: str, query: dict[str, str], body: bytes) -> None:
            form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            claims = platform.read(form["client_assertion"], f"{platform.origin}/token")
            assert form["grant_type"] == "client_credentials"
            assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            assert claims["iss"] == claims["sub"] == CLIENT
            assert claims["jti"]
            made = token_urlsafe(8)
            platform.tokens[made] = form["scope"].split()
            self.reply(200, {"access_token": made, "token_type": "Bearer", "expires_in": 3600, "scope": form["scope"]})

        def may(self, scope: str) -> bool:
            given = self.headers.get("authorization", "").removeprefix("Bearer ")
            found = scope in platform.tokens.get(given, [])
            if not found:
                self.reply(401, {})
            return found

        def do_lineitems(self, path: str, query: dict[str, str], body: bytes) -> None:
            parts = path.strip("/").split("/")
            assert query["type_id"] == "3", "the query of an address was lost"
            if len(parts) == 1:
                self.columns(query, body)
            elif parts[-1] == "scores" and self.command == "POST":
                self.score(parts[1], body)
            else:
                self.reply(405, {})

        def columns(self, query: dict[str, str], body: bytes) -> None:
            if not self.may(f"{AGS}scope/lineitem"):
                return
            if self.command == "GET":
                wanted = [item for item in platform.items.values() if item["resourceLinkId"] == query["resource_link_id"]]
                self.reply(200, wanted, "application/vnd.ims.lis.v2.lineitemcontainer+json")
                return
            assert self.headers["content-type"] == "application/vnd.ims.lis.v2.lineitem+json"
            item = json.loads(body)
            assert item["scoreMaximum"] > 0
            assert item["label"]
            number = f"new-{len(platform.items)}"
            platform.items[number] = {**item, "id": f"{platform.origin}/lineitems/{number}/lineitem?type_id=3"}
            self.reply(201, platform.items[number], "application/vnd.ims.lis.v2.lineitem+json")

        def score(self, column: str, body: bytes) -> None:
            if not self.may(f"{AGS}scope/score"):
                return
            if self.headers["content-type"] != "application/vnd.ims.lis.v1.score+json":
                platform.complaints.append(f"content-type {self.headers['content-type']}")
            sent = {**json.loads(body), "column": column}
            with platform.lock:
                platform.received.append(sent)
                key = column, sent["userId"]
                lacking = [name for name in ("userId", "timestamp", "activityProgress", "gradingProgress") if not sent.get(name)]
                if lacking or ("scoreGiven" in sent) != ("scoreMaximum" in sent):
                    platform.complaints.append(f"a score without {lacking or 'scoreMaximum'}")
                    self.reply(400, {})
                    return
                if key in platform.grades and sent["timestamp"] <= platform.grades[key]["timestamp"]:
                    self.reply(409, {})
                    return
                platform.grades[key] = sent
                platform.taken.append(sent)
                if platform.forgets:
                    platform.forgets = False
                    self.close_connection = True
                    self.connection.close()
                    return
            self.reply(200, {})

        def do_members(self, path: str, query: dict[str, str], body: bytes) -> None:
            if not self.may(f"{NRPS}scope/contextmembership.readonly"):
                return
            assert query["type_id"] == "3"
            assert self.headers["accept"] == "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
            first = int(query.get("from", "0"))
            listed = list(platform.users.values())
            page = listed[first : first + platform.page_size]
            members = [{"user_id": one.sub, "roles": one.role_uris, "status": one.status, "name": one.name} for one in page]
            more = {}
            if first + platform.page_size < len(listed):
                more["link"] = f'<{platform.origin}/members?type_id=3&from={first + platform.page_size}>; rel="next"'
            self.reply(
                200,
                {"id": path, "context": {"id": "course-1"}, "members": members},
                "application/vnd.ims.lti-nrps.v2.membershipcontainer+json",
                **more,
            )

        # dynamic registration

        def do_configuration(self, path: str, query: dict[str, str], body: bytes) -> None:
            told = {
                "issuer": platform.origin,
                "authorization_endpoint": f"{platform.origin}/auth",
                "token_endpoint": f"{platform.origin}/token",
            }
            told |= {"jwks_uri": f"{platform.origin}/jwks", "registration_endpoint": f"{platform.origin}/registrations"}
            self.reply(200, {**told, "https://purl.imsglobal.org/spec/lti-platform-configuration": {"product_family_code": "test"}})

        def do_registrations(self, path: str, query: dict[str, str], body: bytes) -> None:
            if self.headers.get("authorization") != "Bearer let-it-in":
                self.reply(401, {})
                return
            told = json.loads(body)
            platform.registrations.append(told)
            tool = "https://purl.imsglobal.org/spec/lti-tool-configuration"
            assert told["application_type"] == "web"
            assert told["response_types"] == ["id_token"]
            assert set(told["grant_types"]) == {"implicit", "client_credentials"}
            assert told["token_endpoint_auth_method"] == "private_key_jwt"
            assert told[tool]["domain"] == urlsplit(told[tool]["target_link_uri"]).netloc
            self.reply(201, {**told, "client_id": CLIENT, tool: {**told[tool], "deployment_id": DEPLOYMENT}})

    return Handler
