"""A provider of OpenID Connect, written from the standard (Core 1.0, Discovery 1.0, RFC 6749, RFC 7636, RFC 9207): it signs in whoever is
named by `person`, at once, and is strict about its client. `fault` makes it misbehave in one way.
"""

import base64
import json
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT, SECRET = "quaestor", "a secret of the client: with a colon & more"
ADA = {"sub": "248289761001", "email": "ada@school.example", "email_verified": True, "name": "Ada Lovelace"}
# What each fault changes in the claims of an ID token.
CLAIMS = {
    "another nonce": {"nonce": "n-0S6_WzA2Mj"},
    "no nonce": {"nonce": None},
    "another audience": {"aud": "another-client"},
    "another audience that names us as its party": {"aud": "another-client", "azp": CLIENT},
    "two audiences for another party": {"aud": [CLIENT, "another-client"], "azp": "another-client"},
    "no audience": {"aud": None},
    "expired": {"exp": 1_000_000_000},
    "no end": {"exp": None},
    "from the future": {"iat": 5_000_000_000},
    "another issuer": {"iss": "https://another.example"},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "another access token": {"at_hash": "77QmUPtjPfzWtF2AnpK9RQ"},
}
HEADERS = (
    "no signature",
    "signed with the secret of the client",
    "signed by another key",
    "signed by a key of that name",
    "changed after it was signed",
)
ANSWERS = ("no token", "an error for a token", "no code", "another issuer in the answer", "no issuer in the answer")
FAULTS = (*CLAIMS, *HEADERS, *ANSWERS)


@dataclass
class Provider:
    """What a provider knows. `codes`: what each code that was not used yet stands for."""

    issuer: str = ""
    fault: str = ""
    person: dict = field(default_factory=lambda: dict(ADA))
    secret: str = SECRET
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"}))
    codes: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)

    def metadata(self):
        paths = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys", "end_session_endpoint": "/leave"}
        told = {name: self.issuer + path for name, path in paths.items()}
        told |= {"issuer": self.issuer, "response_types_supported": ["code"], "subject_types_supported": ["public"]}
        told |= {"id_token_signing_alg_values_supported": ["RS256", "none", "HS256"], "code_challenge_methods_supported": ["S256"]}
        told |= {"authorization_response_iss_parameter_supported": True}
        if self.fault == "calls itself something else":
            told["issuer"] = "https://another.example"
        if self.fault == "a token endpoint elsewhere":
            told["token_endpoint"] = "http://elsewhere.example/token"
        return told

    def authorize(self, asked):
        """Where the browser is sent after somebody has signed in here."""
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert "openid" in asked["scope"].split()
        assert asked["code_challenge_method"] == "S256"
        answer = {"state": asked["state"], "iss": self.issuer}
        if self.fault == "refused":
            answer |= {"error": "access_denied", "error_description": "<script>"}
        else:
            answer["code"] = secrets.token_urlsafe(16)
            self.codes[answer["code"]] = asked
        if self.fault == "no code":
            del answer["code"]
        if self.fault == "another issuer in the answer":
            answer["iss"] = "https://another.example"
        if self.fault == "no issuer in the answer":
            del answer["iss"]
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def token(self, sent, authorization):
        """The status and the body of an answer to a request for a token."""
        expected = base64.b64encode(f"{CLIENT}:{self.secret}".encode()).decode()
        if self.fault == "an error for a token" or authorization != f"Basic {expected}":
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(sent.get("code"), None)
        digest = base64.urlsafe_b64encode(sha256(sent.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if asked is None or asked["code_challenge"] != digest or asked["redirect_uri"] != sent.get("redirect_uri"):
            return 400, {"error": "invalid_grant"}
        access = secrets.token_urlsafe(16)
        told = {"access_token": access, "token_type": "Bearer", "expires_in": 300, "id_token": self.id_token(asked, access)}
        if self.fault == "no token":
            del told["id_token"]
        return 200, told

    def id_token(self, asked, access):
        half = base64.urlsafe_b64encode(sha256(access.encode()).digest()[:16]).rstrip(b"=").decode()
        claims = {**self.person, "iss": self.issuer, "aud": CLIENT, "iat": int(time.time()), "exp": int(time.time()) + 300}
        claims |= {"nonce": asked["nonce"], "at_hash": half, **CLAIMS.get(self.fault, {})}
        claims = {name: value for name, value in claims.items() if value is not None}
        kid = self.key.kid
        if self.fault == "no signature":
            parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in ({"alg": "none"}, claims)]
            return ".".join([*parts, ""])
        if self.fault == "signed with the secret of the client":
            return jwt.encode({"alg": "HS256", "kid": kid}, claims, OctKey.import_key(self.secret.ljust(32)), algorithms=["HS256"])
        if self.fault in ("signed by another key", "signed by a key of that name"):
            name = "stranger" if self.fault == "signed by another key" else kid
            return jwt.encode({"alg": "RS256", "kid": name}, claims, RSAKey.generate_key(2048, {"kid": name}))
        made = jwt.encode({"alg": "RS256", "kid": kid}, claims, self.key)
        if self.fault != "changed after it was signed":
            return made
        head, _, signature = made.split(".")
        changed = base64.urlsafe_b64encode(json.dumps({**claims, "sub": "somebody else"}).encode()).rstrip(b"=").decode()
        return f"{head}.{changed}.{signature}"


class _Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self):
        there = urlsplit(self.path)
        self.provider.asked.append(there.path)
        if self.provider.fault == "no JSON":
            return self._send(200, b"<html>", "text/html")
        if there.path == "/.well-known/openid-configuration":
            return self._send(200, json.dumps(self.provider.metadata()).encode())
        if there.path == "/keys":
            return self._send(200, json.dumps({"keys": [self.provider.key.as_dict(private=False)]}).encode())
        if there.path == "/authorize":
            return self._send(302, b"", location=self.provider.authorize({name: value[0] for name, value in parse_qs(there.query).items()}))
        return self._send(200 if there.path == "/leave" else 404, b"{}")

    def do_POST(self):
        self.provider.asked.append(self.path)
        sent = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        status, told = self.provider.token({name: value[0] for name, value in sent.items()}, self.headers.get("authorization", ""))
        self._send(status, json.dumps(told).encode())

    def _send(self, status, body, kind="application/json", location=""):
        self.send_response(status)
        for name, value in (("content-type", kind), ("content-length", str(len(body))), *([("location", location)] if location else [])):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def running():
    """A provider that answers at an address of this machine."""
    made = Provider()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"provider": made}))
    made.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
