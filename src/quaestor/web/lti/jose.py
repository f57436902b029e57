"""Signed messages (JWT) and the keys behind them: the only place that knows the library.

Messages are signed with RS256 and nothing else: not without a signature, and never with a shared secret, for which somebody could pass off
a public key. The library is loaded when it is first needed: a server without platforms never does.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from quaestor.errors import QuaestorError

ALGORITHM = "RS256"
BITS = 2048  # of a key, ours and theirs, at least
MOST = 100_000  # letters of a message


class SignatureError(QuaestorError):
    """A message that cannot be read, or whose signature does not fit. `reason` is a word for the log."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"a message: signed with {ALGORITHM} by a key that is known, got {reason}")


def key_of(message: str) -> str:
    """The name of the key that a message says it is signed with; SignatureError if it is not signed as it must be."""
    import jwt

    try:
        header: dict[str, Any] = jwt.get_unverified_header(message) if len(message) <= MOST else {}
    except jwt.PyJWTError as error:
        raise SignatureError("malformed") from error
    if header.get("alg") != ALGORITHM:
        raise SignatureError("algorithm")
    if "crit" in header:
        raise SignatureError("extension")
    kid = header.get("kid")
    if not isinstance(kid, str) or not kid:
        raise SignatureError("no-kid")
    return kid


def verified(message: str, keys: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a message says, if its signature is that of the key it names; None if that key is not among these (a JWKS).

    Only the signature is looked at: what the message says about time and audience is the caller's to check.
    """
    import jwt

    kid = key_of(message)
    found = [one for one in _listed(keys) if one.get("kid") == kid and one.get("kty") == "RSA" and one.get("use", "sig") == "sig"]
    if not found:
        return None
    options: Any = dict.fromkeys(("verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss", "verify_sub", "verify_jti"), False)
    try:
        key: Any = jwt.PyJWK.from_dict(dict(found[0]), algorithm=ALGORITHM).key
        if not hasattr(key, "public_numbers") or key.key_size < BITS:
            raise SignatureError("weak-key")
        claims: dict[str, Any] = jwt.decode(message, key, algorithms=[ALGORITHM], options=options)
    except jwt.PyJWTError as error:
        raise SignatureError("signature") from error
    return claims


def _listed(keys: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    listed = keys.get("keys")
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def signed(private: str, kid: str, claims: Mapping[str, Any]) -> str:
    """A message of ours."""
    import jwt

    message: str = jwt.encode(dict(claims), private, algorithm=ALGORITHM, headers={"kid": kid})
    return message


def new_key() -> str:
    """A new private key, as PEM."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    made = rsa.generate_private_key(public_exponent=65537, key_size=BITS)
    plain = serialization.NoEncryption()
    text: bytes = made.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    return text.decode()


def public_part(private: str, kid: str) -> dict[str, Any]:
    """The public part of a key, as platforms read it (a JWK)."""
    from cryptography.hazmat.primitives import serialization
    from jwt.algorithms import RSAAlgorithm

    key: Any = serialization.load_pem_private_key(private.encode(), None)
    numbers: dict[str, Any] = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return {"kty": "RSA", "kid": kid, "use": "sig", "alg": ALGORITHM, "n": numbers["n"], "e": numbers["e"]}


def locked(secret: str, content: bytes) -> bytes:
    """Something that only the secret opens again."""
    from cryptography.fernet import Fernet

    sealed: bytes = Fernet(_fernet_key(secret)).encrypt(content)
    return sealed


def unlocked(secret: str, content: bytes) -> bytes:
    """What was locked with this secret; SignatureError if it was another."""
    from cryptography.fernet import Fernet, InvalidToken

    try:
        plain: bytes = Fernet(_fernet_key(secret)).decrypt(content)
    except InvalidToken as error:
        raise SignatureError("locked") from error
    return plain


def _fernet_key(secret: str) -> bytes:
    from base64 import urlsafe_b64encode
    from hashlib import sha256

    return urlsafe_b64encode(sha256(f"jar {secret}".encode()).digest())
