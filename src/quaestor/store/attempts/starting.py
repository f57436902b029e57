"""What an attempt starts from, where its test says so: what the pupil's earlier tests told, as it is at the moment of beginning.

Of each earlier test the pupil's last try that is over and was not set aside counts, corrected as it is now; the same test never counts
for itself. Days are counted whole. What it came to is stored with the attempt, so that its session needs no other one.
"""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.selection.rules_file import read_rules
from quaestor.session.log import Late
from quaestor.session.session import Session
from quaestor.session.start import Earlier, start, weight
from quaestor.store.attempts.progress import is_over
from quaestor.store.attempts.session_cache import corrected, line_of
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.store.publishing import open_bank

_LINES = (Event.question, Event.answer, Event.entry, Event.seconds)


def start_for(work: Work, test: Published, pupil: Pupil | None) -> dict[str, Any] | None:
    """What an attempt of a pupil starts from, as it is stored; None where the test starts from its bank alone, or nothing is known."""
    if test.half_life is None or pupil is None:
        return None
    bank, moment, found, named = open_bank(test.bank), now(), [], []
    for attempt in earlier_attempts(work, test, pupil):
        ended = attempt.ended or attempt.due or attempt.started
        one = Earlier(_session(work, attempt), max(0, (moment - ended).days))
        if start(bank, [one], test.half_life):
            found.append(one)
            counts = weight(one.days, test.half_life)
            named.append({"test": attempt.test_id, "title": attempt.test.title, "days": one.days, "counts": round(counts, 4)})
    lines = start(bank, found, test.half_life)
    return {"half_life": test.half_life, "tests": named, "lines": [_plain(line) for line in lines]} if lines else None


def earlier_attempts(work: Work, test: Published, pupil: Pupil) -> list[Attempt]:
    """The last try of a pupil at each other test that is over, the first one first."""
    mine = select(Attempt).where(Attempt.pupil_id == pupil.id, Attempt.test_id != test.id, Attempt.set_aside.is_(None), is_over(now()))
    last = {attempt.test_id: attempt for attempt in work.scalars(mine.order_by(Attempt.id))}
    return sorted(last.values(), key=lambda attempt: attempt.id)


def _session(work: Work, attempt: Attempt) -> Session:
    """The session of an attempt as its answers count now, without anything worked out."""
    anew = corrected(work, attempt.test)
    rows = work.execute(select(*_LINES).where(Event.attempt_id == attempt.id).order_by(Event.step))
    log = tuple(line_of(anew, *row) for row in rows)
    return Session(open_bank(attempt.test.bank), read_rules(attempt.test.rules), attempt.seed, log)


def _plain(line: Late) -> dict[str, Any]:
    return {"skill": line.skill, "likelihood": [list(one) if isinstance(one, tuple) else one for one in line.likelihood]}
