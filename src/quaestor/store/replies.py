"""Replies of the API to writes with an idempotency key: a repeated request gets the same reply, and nothing is done twice.

The reply is stored in the unit of work that did the write, so either both are there or neither. After a day it does not count any more,
and is deleted by the clock within an hour.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from sqlalchemy import Table, bindparam, delete
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError, format_value
from quaestor.store.clock import now
from quaestor.store.erasure import erased
from quaestor.store.models import Reply, Token

HOURS = 24
LONGEST_KEY = 200
_REPLY = cast(Table, Reply.__table__)


def _insert(dialect: Any) -> Any:
    """An insert of a reply, unless there is one with this key of the last day; it waits for a concurrent insert."""
    row = dialect.insert(_REPLY)
    others = {column.name: row.excluded[column.name] for column in _REPLY.columns if not column.primary_key}
    is_old = _REPLY.c.created < bindparam("forgotten", type_=_REPLY.c.created.type)
    return row.on_conflict_do_update(index_elements=list(_REPLY.primary_key), set_=others, where=is_old).returning(_REPLY.c.status)


_INSERT = {"sqlite": _insert(sqlite), "postgresql": _insert(postgresql)}


class ReplayError(QuaestorError):
    """An idempotency key that is invalid, was used for another request, or is in use at this moment."""


@dataclass(frozen=True)
class Earlier:
    """An earlier reply."""

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
    """Store a reply, in the unit of work that did the write; of two equal concurrent requests one is rolled back by ReplayError.

    `attempt_id`: the attempt that the reply is about; it is deleted with the attempt.
    """
    _check(key)
    moment = now()
    row = {"token_id": token.id, "key": key, "route": route, "request": request_hash, "status": status, "body": body}
    row |= {"attempt_id": attempt_id, "created": moment, "forgotten": moment - timedelta(hours=HOURS)}
    if work.execute(_INSERT[work.get_bind().dialect.name], row).scalar() is None:
        raise ReplayError(
            f"a request with this idempotency key is being answered at this moment, got {format_value(key)} again; send it once more"
        )


def forget_old(work: Work, moment: datetime) -> None:
    """Delete replies older than a day: they may name takers."""
    if work.execute(delete(Reply).where(Reply.created < moment - timedelta(hours=HOURS))).rowcount:  # type: ignore[attr-defined]
        erased(work)


def _check(key: str) -> None:
    if not 0 < len(key) <= LONGEST_KEY or not key.isascii() or not key.isprintable():
        raise ReplayError(f"an idempotency key has 1 to {LONGEST_KEY} printable letters (ASCII), got {format_value(key)}")
