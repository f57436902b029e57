"""Codes that people type, tokens that machines keep, and passwords."""

import hashlib
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # no 0 and O, no 1, I and L
_hasher = PasswordHasher()


def code(length: int = 6) -> str:
    """A code to be read out, typed and printed: 31 letters and digits that are not mixed up."""
    return "".join(secrets.choice(LETTERS) for _ in range(length))


def code_of(secret: str, length: int) -> str:
    """A code that a secret always gives, and nobody guesses without it."""
    number, letters = int(hashed(secret), 16), ""
    for _ in range(length):
        number, place = divmod(number, len(LETTERS))
        letters += LETTERS[place]
    return letters


def tidy(written: str) -> str:
    """A code as people type it, made alike: capitals, no spaces or hyphens, O for 0 and I or L for 1 cannot occur."""
    return "".join(letter for letter in written.upper() if letter.isalnum())[:32]


def token() -> str:
    """A long random token; only its hash is kept."""
    return secrets.token_urlsafe(32)


def hashed(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode(errors="backslashreplace")).hexdigest()


def password_hash(password: str) -> str:
    """What is kept of a password."""
    return _hasher.hash(password)


@cache
def _nobody() -> str:
    """The hash of a password that nobody has; made when it is first needed, since it takes its time."""
    return _hasher.hash("nobody has this password")


def password_fits(kept: str | None, password: str) -> bool:
    """Whether a password is the kept one; takes as long when there is none, so that nobody learns who exists."""
    try:
        return _hasher.verify(kept or _nobody(), password) and kept is not None
    except (VerificationError, InvalidHashError):
        return False
