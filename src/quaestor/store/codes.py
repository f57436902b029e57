"""Codes of tests, pupils and attempts; all of them are different, so that a code opens one thing only."""

from sqlalchemy import select, union_all
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.secrets import code

OWN_CODE = 8  # characters of a personal code, of a pupil or an attempt
_TRIES = 20


def free_codes(work: Work, count: int, length: int) -> list[str]:
    """Random codes that are not in use."""
    found: dict[str, None] = {}
    for _ in range(_TRIES):
        drawn = [code(length) for _ in range(count - len(found))]
        if not drawn:
            break
        taken = set(work.scalars(union_all(*(select(table.code).where(table.code.in_(drawn)) for table in (Published, Pupil, Attempt)))))
        found.update(dict.fromkeys(one for one in drawn if one not in taken))
    if len(found) < count:
        tried = {"letters": length, "count": _TRIES}
        raise QuaestorError(say("no free code of {letters} letters was found, got {count} draws of codes that are taken", **tried))
    return list(found)
