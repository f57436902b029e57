"""What a code opens: a class code, a pupil's own code, or the personal code of an attempt."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, exists, or_, select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.attempts.state import deadline
from quaestor.store.clock import now
from quaestor.store.codes import OWN_CODE
from quaestor.store.models import Attempt, Published, Pupil, SchoolClass
from quaestor.store.publishing import CLOSED
from quaestor.store.secrets import tidy

UNKNOWN, NAMELESS = say("this code opens no test; please check it"), say("please enter a name")


class EntryError(QuaestorError):
    """A code that opens nothing, a test that is closed, a name that is missing."""


class ChoiceError(EntryError):
    """A pupil's own code, which opens several tests, or none at present; `choices`: what it opens, one after the other."""

    def __init__(self, pupil: Pupil, choices: "Sequence[Invited]") -> None:
        self.pupil, self.choices = pupil, choices
        words = say("your code opens several tests; please choose one") if choices else say("no test is open for you at present")
        super().__init__(words)


class UnknownCodeError(EntryError):
    """A code that opens nothing: the failure that rate limits count."""


@dataclass(frozen=True)
class Invited:
    """What a code opens: a test; for a pupil's own code also the pupil; for a personal code also the attempt, to continue it.

    `earlier`: the last attempt of the pupil that was not set aside, if there is one.
    """

    test: Published
    pupil: Pupil | None = None
    attempt: Attempt | None = None
    earlier: Attempt | None = None

    @property
    def name(self) -> str:
        """Whose code it is; empty for a class code."""
        return self.attempt.name if self.attempt is not None else self.pupil.name if self.pupil is not None else ""

    @property
    def present(self) -> Attempt | None:
        """The attempt of a personal code, or the last one of a pupil."""
        return self.attempt or self.earlier

    @property
    def over(self) -> bool:
        """Whether there is an attempt, and it is over."""
        return self.present is not None and (self.present.ended is not None or is_past(deadline(self.present)[0]))

    @property
    def begun(self) -> bool:
        """Whether the code continues an attempt that is under way."""
        return self.present is not None and not self.over

    @property
    def may_begin(self) -> bool:
        """Whether the code can begin an attempt: the first one, or another one."""
        if self.present is None:
            return not self.shut
        return self.over and self.attempt is None and self.test.retakes != "none" and not is_past(self.test.closes)

    @property
    def minutes(self) -> float | None:
        """How long it may take, with the extra time of a pupil; None: as long as one likes."""
        if self.test.minutes is None or self.pupil is None:
            return self.test.minutes
        return self.test.minutes * self.pupil.factor + self.pupil.extra

    @property
    def starts_from_earlier(self) -> bool:
        """Whether an attempt starts from what earlier tests told of the pupil."""
        return self.pupil is not None and self.test.half_life is not None

    @property
    def needs_own_code(self) -> bool:
        """Whether it is the code of a test for a class list, whose pupils enter with codes of their own."""
        return not self.name and self.test.by_list

    @property
    def needs_name(self) -> bool:
        """Whether the taker has to enter a name."""
        return not self.name and not self.test.by_list

    @property
    def shut(self) -> str:
        """Why nobody can begin with this code at present, in words; empty if it can be used."""
        if self.present is not None:
            return ""
        if self.test.opens is not None and now() < self.test.opens:
            return say("this test opens on {opens:moment}", opens=self.test.opens)
        return say("this test is closed") if is_past(self.test.closes) else ""


def holds_back(test: Published) -> bool:
    """Whether takers do not see their results yet: those of this test are told once it is closed."""
    return test.results == CLOSED and not is_past(test.closes)


def is_past(moment: datetime | None) -> bool:
    """Whether it is this time, or later; no time is never past."""
    return moment is not None and now() >= moment


def invited(work: Work, written: str, lock: bool = False, test: int | None = None) -> Invited:
    """What a code opens; UnknownCodeError if nothing, ChoiceError if a pupil has to choose. `test`: the number of the one that was chosen.

    `lock`: lock the pupil's row, so that of two posts with one code the second waits.
    A code opens one thing only, and its length tells what most probably: nearly always the first look finds it.
    """
    typed = tidy(written)
    for look in (_test, _attempt, _pupil) if len(typed) < OWN_CODE else (_attempt, _pupil, _test):
        found = look(work, typed, lock, test)
        if found is not None:
            return found
    raise UnknownCodeError(UNKNOWN)


def _test(work: Work, typed: str, _: bool, __: int | None) -> Invited | None:
    test = work.scalar(select(Published).where(Published.code == typed))
    return None if test is None else Invited(test)


def _attempt(work: Work, typed: str, _: bool, __: int | None) -> Invited | None:
    attempt = work.scalar(select(Attempt).where(Attempt.code == typed))
    return None if attempt is None else Invited(attempt.test, attempt=attempt)


def _pupil(work: Work, typed: str, lock: bool, test: int | None) -> Invited | None:
    own = select(Pupil).where(Pupil.code == typed)
    pupil = work.scalar(own.with_for_update() if lock else own)
    if pupil is None:
        return None
    found = choices_of(work, pupil)
    chosen = [one for one in found if one.test.id == test] or (found if len(found) == 1 else [])
    if not chosen:
        raise ChoiceError(pupil, found)
    return chosen[0]


def choices_of(work: Work, pupil: Pupil) -> list[Invited]:
    """What a pupil's own code opens: the tests that they took, and those of their class that are not closed, the newest first."""
    mine = select(Attempt).where(Attempt.pupil_id == pupil.id, Attempt.set_aside.is_(None)).order_by(Attempt.id)
    earlier = {attempt.test_id: attempt for attempt in work.scalars(mine)}
    active = exists().where(SchoolClass.id == Published.class_id, SchoolClass.archived.is_(None))
    of_class = and_(Published.class_id == pupil.class_id, active)
    found = select(Published).where(or_(of_class, Published.id.in_(list(earlier)))).order_by(Published.id.desc())
    tests = [test for test in work.scalars(found) if test.id in earlier or not is_past(test.closes)]
    if not tests:  # say of the last one that it is closed, rather than nothing
        tests = list(work.scalars(select(Published).where(of_class).order_by(Published.id.desc()).limit(1)))
    return [Invited(test, pupil, earlier=earlier.get(test.id)) for test in tests]
