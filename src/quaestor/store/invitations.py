"""What a code opens: a class code, a pupil's own code, or the personal code of an attempt."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.secrets import tidy


class EntryError(QuaestorError):
    """A code that opens nothing, a test that is closed, a name that is missing."""


class UnknownCodeError(EntryError):
    """A code that opens nothing: the failure that rate limits count."""


@dataclass(frozen=True)
class Invited:
    """What a code opens: a test; for a pupil's own code also the pupil; for a personal code also the attempt, to continue it."""

    test: Published
    pupil: Pupil | None = None
    attempt: Attempt | None = None

    @property
    def name(self) -> str:
        """Whose code it is; empty for a class code."""
        return self.attempt.name if self.attempt is not None else self.pupil.name if self.pupil is not None else ""

    @property
    def begun(self) -> bool:
        """Whether the code continues an attempt."""
        return self.attempt is not None

    @property
    def needs_name(self) -> bool:
        """Whether the taker has to enter a name."""
        return not self.name and not self.test.by_list


def invited(work: Work, written: str, lock: bool = False) -> Invited:
    """What a code opens; UnknownCodeError if nothing. `lock`: lock the pupil's row, so that of two posts with one code the second waits."""
    typed = tidy(written)
    attempt = work.scalar(select(Attempt).where(Attempt.code == typed))
    if attempt is not None:
        return Invited(attempt.test, attempt=attempt)
    own = select(Pupil).where(Pupil.code == typed)
    pupil = work.scalar(own.with_for_update() if lock else own)
    if pupil is not None:
        return Invited(work.get_one(Published, pupil.test_id), pupil)
    test = work.scalar(select(Published).where(Published.code == typed))
    if test is None:
        raise UnknownCodeError(say("this code opens no test; please check it"))
    return Invited(test)
