"""Entering a test: by the class code and a name, by a pupil's own code, or by the personal code of an attempt to continue it."""

from dataclasses import dataclass
from secrets import randbelow

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.selection.rules_file import read_rules
from quaestor.session.session import Session
from quaestor.store import limits
from quaestor.store.attempts.invitations import NAMELESS, EntryError, invited, is_past
from quaestor.store.attempts.pace import is_quick, work_out
from quaestor.store.attempts.scoring import keep
from quaestor.store.attempts.session_cache import begun, remember, start_of
from quaestor.store.attempts.starting import start_for
from quaestor.store.attempts.state import by_key, deadline, end, state_of
from quaestor.store.clock import now
from quaestor.store.codes import OWN_CODE, free_codes
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.secrets import hashed, token
from quaestor.store.texts import line

_TRIES = 5


def look_ahead(work: Work, written: str, seed: int, test: int | None = None) -> Session | None:
    """Do for `enter` what needs no writing, so that no writer waits for the engine: load the bank and compute the first question.

    Returns the session of a new attempt with this seed; None if an earlier attempt will be continued, whose session is then in the cache.
    """
    found = invited(work, written, test=test)
    earlier = found.attempt or found.earlier
    if earlier is not None:
        over = state_of(work, earlier).over
        if not over or found.test.retakes == "none":
            return None
    first = begun(found.test, seed, start_of(start_for(work, found.test, found.pupil)))
    work_out(first)
    return first


@dataclass(frozen=True)
class Origin:
    """Where a request to begin comes from, as the limits of a test count it: a browser (empty where it keeps no cookies), an address."""

    browser: str
    address: str


def enter(
    work: Work,
    written: str,
    name: str = "",
    form: str = "",
    first: Session | None = None,
    origin: Origin | None = None,
    test: int | None = None,
) -> Attempt:
    """Begin or continue a test; `test`: which one, where a pupil's own code opens several.

    A running attempt of a pupil is continued; if it is over, a new one begins where retakes are allowed, else the finished attempt is
    returned, also after the test was closed. `form`: a random value of the submitted form, so that submitting it twice begins one attempt.
    `first`: the result of `look_ahead`. `origin`: who begins, for the limits that the teacher set for those who enter with the code of the
    test; LimitError if there were too many.
    """
    found = invited(work, written, lock=True, test=test)
    if found.attempt is not None:
        return found.attempt
    pupil = found.pupil
    if found.earlier is not None and _is_kept(work, found.earlier):
        return found.earlier
    if found.shut:
        raise EntryError(found.shut)
    if pupil is None and found.test.by_list:
        raise EntryError(say("this test is for pupils of a class list: please enter your own code"))
    called = found.name or line(name, 200)
    if not called:
        raise EntryError(NAMELESS)
    key = hashed(f"{form}\n{found.test.code}\n{called}")[:32] if form and pupil is None else ""
    made = _begin(work, found.test, pupil, called, key, new_seed() if first is None else first.seed, origin)
    if first is not None and made.seed == first.seed and _is_present(first, found.test) and start_of(made.start) == first.start:
        remember(made, first, made.started)
        if not is_quick(first.bank, first.rules):
            keep(work, made, first, made.started)
    return made


def _count(work: Work, test: Published, origin: Origin) -> None:
    """Count an attempt that begins, for its browser and its address; LimitError, which undoes the attempt, if it is one too many."""
    if test.per_browser is not None and origin.browser:
        words = say(
            "this test was begun {count} {count:time|times} on this device within a day, and that is the limit. If you have begun it,"
            " go on with your personal code; if not, please tell your teacher",
            count=test.per_browser,
        )
        limits.admit(work, "begun", f"{test.id} {origin.browser}", test.per_browser, words)
    if test.per_address is not None:
        words = say(
            "this test was begun {count} {count:time|times} from your school or home within a day, and that is the limit. If you have begun"
            " it, go on with your personal code; if not, please tell your teacher",
            count=test.per_address,
        )
        limits.admit(work, "begun by address", f"{test.id} {origin.address}", test.per_address, words)


def _is_present(first: Session, test: Published) -> bool:
    """Whether a session has the bank and the rules of the test: it may have been corrected since."""
    return first.bank.version == test.bank.version and first.rules == read_rules(test.rules)


def _is_kept(work: Work, earlier: Attempt) -> bool:
    """Whether a pupil continues or returns to an earlier attempt; else a new one is to begin."""
    if earlier.test.retakes == "none":
        return True
    state = state_of(work, earlier)
    end(work, state)
    return not state.over or is_past(earlier.test.closes)


def new_seed() -> int:
    """The seed of an attempt that begins."""
    return randbelow(2**31)


def _begin(work: Work, test: Published, pupil: Pupil | None, name: str, key: str, seed: int, origin: Origin | None) -> Attempt:
    for _ in range(_TRIES):
        if key and (there := by_key(work, key)) is not None:
            return there
        made = Attempt(
            key=key or token()[:32],
            code=free_codes(work, 1, OWN_CODE)[0],
            pupil_id=pupil.id if pupil is not None else None,
            name=name,
            seed=seed,
            started=now(),
            ended=None,
            reason="",
            extra=pupil.extra if pupil is not None else 0.0,
            factor=pupil.factor if pupil is not None else 1.0,
            start=start_for(work, test, pupil),
            test=test,
        )
        made.due = deadline(made)[0]
        try:
            with work.begin_nested():
                work.add(made)
                work.flush()
        except IntegrityError:  # the same form, or the same code, from another process at this moment
            continue
        if pupil is None and origin is not None:
            _count(work, test, origin)
        return made
    raise QuaestorError(say("no free code was found for the attempt, got {count} that are taken", count=_TRIES))
