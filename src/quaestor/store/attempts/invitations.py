"""What a code opens: a class code, a pupil's own code, or the personal code of an attempt."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.attempts.state import deadline
from quaestor.store.clock import now
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.publishing import CLOSED
from quaestor.store.secrets import tidy

UNKNOWN, NAMELESS = say("this code opens no test; please check it"), say("please enter a name")


class EntryError(QuaestorError):
    """A code that opens nothing, a test that is closed, a name that is missing."""


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


def invited(work: Work, written: str, lock: bool = False) -> Invited:
    """What a code opens; UnknownCodeError if nothing. `lock`: lock the pupil's row, so that of two posts with one code the second waits."""
    typed = tidy(written)
    attempt = work.scalar(select(Attempt).where(Attempt.code == typed))
    if attempt is not None:
        return Invited(attempt.test, attempt=attempt)
    own = select(Pupil).where(Pupil.code == typed)
    pupil = work.scalar(own.with_for_update() if lock else own)
    if pupil is not None:
        mine = select(Attempt).where(Attempt.pupil_id == pupil.id, Attempt.set_aside.is_(None))
        earlier = work.scalars(mine.order_by(Attempt.id.desc()).limit(1)).first()
        return Invited(work.get_one(Published, pupil.test_id), pupil, earlier=earlier)
    test = work.scalar(select(Published).where(Published.code == typed))
    if test is None:
        raise UnknownCodeError(UNKNOWN)
    return Invited(test)
