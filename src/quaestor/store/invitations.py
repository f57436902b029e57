"""What a code opens, before anything is begun: a class code, a pupil's own code, or the personal code of a test that was begun."""

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
    """What a code opens: a test; with a pupil's own code also the pupil; with the code of an attempt that attempt, which goes on."""

    test: Published
    pupil: Pupil | None = None
    attempt: Attempt | None = None

    @property
    def name(self) -> str:
        """Whose code it is; empty for a class code."""
        return self.attempt.name if self.attempt is not None else self.pupil.name if self.pupil is not None else ""

    @property
    def begun(self) -> bool:
        """Whether the code goes on with a test."""
        return self.attempt is not None

    @property
    def needs_name(self) -> bool:
        """Whether the taker has to say who they are."""
        return not self.name and not self.test.by_list


def invited(work: Work, written: str, lock: bool = False) -> Invited:
    """What a code opens; UnknownCodeError when it opens nothing. `lock`: of two posts with one pupil's code the second waits."""
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
