"""Signing in by a provider of OpenID Connect: the authorisation code flow with PKCE (OpenID Connect Core 1.0, RFC 7636, RFC 9207).

Whoever begins gets a random secret in a cookie. State, nonce and the verifier of PKCE are hashes of it, each under a name of its own, so
that the answer of the provider counts only in the browser that asked, and nothing of a sign-in that is under way is kept here. The protocol
is Authlib's, signatures are joserfc's; what an ID token must say is listed in `_claims`. Only signatures that need the provider's private
key are taken: never `none`, and never one made with the client's own secret.

What the provider tells of itself (its endpoints, its keys) is asked for when it is first needed, and again after an hour; keys also when a
token names one that is not known.
"""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.identities import Person
from quaestor.store.secrets import hashed
from quaestor.store.teachers import AccessError
from quaestor.store.texts import line
from quaestor.web.settings import Settings, is_here, is_https

PATIENCE = 5.0  # seconds that the provider may take to answer
HOUR = 3600.0
LEEWAY = 60  # seconds by which clocks may differ
SCOPE = "openid email profile"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA")
LONGEST = 255  # letters of a subject
T = TypeVar("T")
_log = logging.getLogger("quaestor.web")
_known: dict[str, tuple[float, Any]] = {}  # what was read at an address, and when


class AwayError(QuaestorError):
    """The provider does not answer, or not as a provider does; `why`: in words for those who run the server."""

    def __init__(self, words: str, why: str) -> None:
        self.why = why
        super().__init__(words)


class ForeignError(AccessError):
    """An answer that is not one to this browser's question, or cannot be trusted."""


@dataclass(frozen=True)
class Provider:
    """A provider, and us as its client. `name`: what people call it."""

    issuer: str
    client: str
    secret: str
    name: str

    def begin(self, secret: str, back: str) -> str:
        """The address to which a browser with this secret is sent; the provider sends it `back`."""
        asked = {"nonce": derived("nonce", secret), "code_verifier": derived("verifier", secret)}
        made, _ = self._client(back).create_authorization_url(self._endpoint("authorization"), state=derived("state", secret), **asked)
        return str(made)

    def finish(self, secret: str, back: str, answer: Mapping[str, str]) -> Person:
        """Whom the provider has seen, by the answer that a browser with this secret brings."""
        if not secret or answer.get("state") != derived("state", secret):
            raise ForeignError(say("this sign-in was begun in another browser, or too long ago; please begin again"))
        self._check_issuer(answer)
        if "error" in answer:
            why = line(answer["error"], 40)
            raise AccessError(say("{provider} did not let you in ({why}); nobody was signed in", provider=self.name, why=why))
        code = answer.get("code", "")
        if not code:
            raise self._distrusted(why="an answer without a code")
        token = self._fetch(code, secret, back)
        return self._person(str(token.get("id_token", "")), str(token.get("access_token", "")), derived("nonce", secret))

    def leave(self, back: str) -> str:
        """Where a browser signs out of the provider itself, which then shows the way `back`; empty where it has no such page."""
        try:
            there = str(self._metadata().get("end_session_endpoint") or "")
        except AwayError:
            return ""
        asked = urlencode({"client_id": self.client, "post_logout_redirect_uri": back})
        return f"{there}{'&' if '?' in there else '?'}{asked}" if self._is_safe(there) else ""

    def look(self) -> None:
        """Ask the provider for its endpoints and keys; AwayError says what is wrong with them."""
        for name in ("authorization", "token"):
            self._endpoint(name)
        self._keys(anew=True)

    def _check_issuer(self, answer: Mapping[str, str]) -> None:
        """An answer that names its issuer names ours; one that always names it never leaves it out."""
        named = answer.get("iss")
        if named is None and self._metadata().get("authorization_response_iss_parameter_supported") is not True:
            return
        if named != self.issuer:
            raise self._distrusted(why="an answer of another issuer")

    def _client(self, back: str) -> Any:
        from authlib.integrations.httpx_client import OAuth2Client

        set_up = {"scope": SCOPE, "code_challenge_method": "S256", "timeout": PATIENCE, "follow_redirects": False}
        return OAuth2Client(self.client, self.secret or None, redirect_uri=back, **set_up)

    def _fetch(self, code: str, secret: str, back: str) -> dict[str, Any]:
        """The tokens for a code."""
        from authlib.common.errors import AuthlibBaseError

        try:
            with self._client(back) as client:
                asked = {"grant_type": "authorization_code", "code": code, "code_verifier": derived("verifier", secret)}
                return dict(self._asked(lambda: client.fetch_token(self._endpoint("token"), **asked)))
        except AuthlibBaseError as error:
            raise self._distrusted(why=f"no token: {line(str(error), 200)}") from error

    def _person(self, written: str, access: str, nonce: str) -> Person:
        from joserfc.errors import InvalidKeyIdError, JoseError

        try:
            try:
                claims = self._claims(written, access, nonce, anew=False)
            except InvalidKeyIdError:  # keys are exchanged now and then
                claims = self._claims(written, access, nonce, anew=True)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise self._distrusted(why=f"{type(error).__name__}: {line(str(error), 200)}") from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST or not subject.isascii() or not subject.isprintable():
            raise self._distrusted(why="a subject that is none")
        email, name = (found if isinstance(found := claims.get(said), str) else "" for said in ("email", "name"))
        return Person(self.issuer, subject, email, claims.get("email_verified") is True, name)

    def _claims(self, written: str, access: str, nonce: str, anew: bool) -> dict[str, Any]:
        """What an ID token says, once all of it is as it must be: signature, issuer, audience, times, nonce, access token."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.jwk import KeySet
        from joserfc.jws import JWSRegistry

        stated = self._metadata().get("id_token_signing_alg_values_supported")
        taken = [name for name in ALGORITHMS if name in stated] if isinstance(stated, list) else ["RS256"]
        keys = KeySet.import_key_set(self._keys(anew))
        token = jwt.decode(written, keys, registry=JWSRegistry(algorithms=taken, strict_check_header=False))
        must: dict[str, Any] = {name: {"essential": True} for name in ("sub", "exp", "iat")}
        must |= {"iss": {"essential": True, "value": self.issuer}, "aud": {"essential": True, "value": self.client}}
        must |= {"nonce": {"essential": True, "value": nonce}}
        found = CodeIDToken(token.claims, token.header, must, {"nonce": nonce, "client_id": self.client, "access_token": access})
        found.validate(leeway=LEEWAY)
        return dict(found)

    def _metadata(self) -> dict[str, Any]:
        """What the provider tells of itself."""
        found = self._read(f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self.issuer:
            raise self._away(why=f"it calls itself {line(str(found.get('issuer')), 200)!r}")
        return found

    def _endpoint(self, name: str) -> str:
        found = self._metadata().get(f"{name}_endpoint")
        if not isinstance(found, str) or not self._is_safe(found):
            raise self._away(why=f"its {name} endpoint is {line(str(found), 200)!r}")
        return found

    def _keys(self, anew: bool) -> Any:
        where = self._metadata().get("jwks_uri")
        if not isinstance(where, str) or not self._is_safe(where):
            raise self._away(why=f"its keys are at {line(str(where), 200)!r}")
        return self._read(where, anew)

    def _is_safe(self, there: str) -> bool:
        """Whether an address is asked by https, or is on the machine of a provider that is tried out here."""
        return is_https(there) or (is_here(self.issuer) and is_here(there))

    def _read(self, where: str, anew: bool = False) -> dict[str, Any]:
        """The JSON object at an address of the provider, as of the last hour."""
        import httpx2

        at, found = _known.get(where, (0.0, None))
        if found is None or anew or time.monotonic() - at > HOUR:
            with httpx2.Client(timeout=PATIENCE, follow_redirects=False) as client:
                response = self._asked(lambda: client.get(where).raise_for_status())
            try:
                found = response.json()
            except ValueError as error:
                raise self._away(why=f"no JSON at {where}") from error
            if not isinstance(found, dict):
                raise self._away(why=f"no JSON object at {where}")
            _known[where] = time.monotonic(), found
        return dict(found)

    def _asked(self, ask: Callable[[], T]) -> T:
        """What the provider answers."""
        import httpx2

        try:
            return ask()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._away(why=line(str(error), 200) or type(error).__name__) from error

    def _away(self, why: str) -> AwayError:
        _log.warning("openid: %s cannot be asked, got %s", self.issuer, why)
        words = say("{provider} cannot be reached at the moment; please try again later, or sign in with your password", provider=self.name)
        return AwayError(words, why)

    def _distrusted(self, why: str) -> ForeignError:
        _log.warning("openid: an answer of %s is not trusted, got %s", self.issuer, why)
        words = say("what {provider} says of you cannot be trusted, so nobody was signed in; please begin again", provider=self.name)
        return ForeignError(words)


def derived(name: str, secret: str) -> str:
    """State, nonce or verifier of the browser with a secret: 64 letters and digits."""
    return hashed(f"openid {name} {secret}")


def provider_of(settings: Settings) -> Provider | None:
    """The provider of the settings, if there is one; QuaestorError if it cannot be used as they say."""
    if not settings.openid:
        return None
    name = settings.openid_name or urlsplit(settings.openid).netloc
    return Provider(settings.openid, settings.openid_client, settings.client_secret(), name)
