"""Codes that people type, tokens of programs and browsers, and passwords."""

import hashlib
import hmac
import os
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from quaestor.store.clock import now

SECRET = "QUAESTOR_SECRET"  # the environment variable with which the processes of a server share one secret
LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # no 0 and O, no 1, I and L
_hasher = PasswordHasher()


def code(length: int = 6) -> str:
    """A random code to be read out, typed and printed, of 31 letters and digits that are not easily confused."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def code_of(secret: str, length: int) -> str:
    """A code derived from a secret: always the same, and not to be guessed without it."""
    number, letters = int(hashed(secret), 16), ""
    for _ in range(length):
        number, index = divmod(number, len(LETTERS))
        letters += LETTERS[index]
    return letters


def tidy(written: str) -> str:
    """A typed code in normal form: capitals, without spaces and hyphens."""
    return "".join(letter for letter in written.upper() if letter.isalnum())[:32]


def token() -> str:
    """A long random token, of which only the hash is stored."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """The hash under which a token is stored."""
    return hashlib.sha256(secret.encode(errors="backslashreplace")).hexdigest()


def share_secret() -> None:
    """Make the secret of `keyed` for this process and those that it starts, unless there is one; it is in no file."""
    os.environ.setdefault(SECRET, token())


def keyed(text: str) -> str:
    """A hash of something that can be guessed, such as an address: it cannot be tried out without a secret, and is another one each day."""
    share_secret()
    key = f"{os.environ[SECRET]}\n{now():%Y-%m-%d}"
    return hmac.new(key.encode(errors="surrogateescape"), text.encode(errors="backslashreplace"), hashlib.sha256).hexdigest()


def password_hash(password: str) -> str:
    """The hash under which a password is stored."""
    return _hasher.hash(password)


@cache
def _nobody() -> str:
    """A hash to compare with if there is no account; computed when it is first needed, since that is slow by design."""
    return _hasher.hash("nobody has this password")


def password_fits(kept: str | None, password: str) -> bool:
    """Whether a password matches its hash; takes the same time without one, so that the time does not reveal whether an account exists."""
    try:
        return _hasher.verify(kept or _nobody(), password) and kept is not None
    except (VerificationError, InvalidHashError):
        return False
