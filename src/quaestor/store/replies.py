"""Replies of the API to writes with an idempotency key: the same request again gets the same reply, and nothing is done twice.

The reply is kept in the unit of work that did the writing, so either both are there or neither. After a day it is forgotten.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, format_value
from quaestor.store.clock import now
from quaestor.store.inserts import insert
from quaestor.store.models import Reply, Token

HOURS = 24
LONGEST_KEY = 200


class ReplayError(QuaestorError):
    """An idempotency key that cannot be used so: it came with another request before, or comes twice at this moment."""


@dataclass(frozen=True)
class Earlier:
    """What was replied before."""

    status: int
    body: Any


def earlier(work: Work, token: Token, key: str, route: str, request_hash: str) -> Earlier | None:
    """The reply to the same request with the same key within a day, if there was one."""
    _check(key)
    found = work.get(Reply, (token.id, key))
    if found is None or found.created < now() - timedelta(hours=HOURS):
        return None
    if (found.route, found.request) != (route, request_hash):
        raise ReplayError(f"an idempotency key is used for one request, got {format_value(key)} with another one within {HOURS} hours")
    return Earlier(found.status, found.body)


def keep(work: Work, token: Token, key: str, route: str, request_hash: str, status: int, body: Any, attempt_id: int | None = None) -> None:
    """Keep a reply, in the unit of work that did what was asked; of two equal requests at once one is undone by ReplayError.

    One that tells of an attempt is deleted with it.
    """
    _check(key)
    moment = now()
    work.execute(delete(Reply).where(Reply.created < moment - timedelta(hours=HOURS)))
    row = insert(work, Reply).values(
        token_id=token.id, key=key, route=route, request=request_hash, status=status, body=body, attempt_id=attempt_id, created=moment
    )
    if work.execute(row.on_conflict_do_nothing().returning(Reply.status)).scalar() is None:
        raise ReplayError(
            f"a request with this idempotency key is being answered at this moment, got {format_value(key)} again; send it once more"
        )


def _check(key: str) -> None:
    if not 0 < len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise ReplayError(f"an idempotency key has 1 to {LONGEST_KEY} printable letters (ASCII), got {format_value(key)}")
