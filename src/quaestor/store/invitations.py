"""What a code opens, before anything is begun: a class code, a pupil's own code, or the personal code of a test that was begun."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.saying import say
from quaestor.store.entry import UnknownCodeError
from quaestor.store.models import Attempt, Published, Pupil
from quaestor.store.secrets import tidy


@dataclass(frozen=True)
class Invited:
    """The test that a code opens. `name`: whose code it is; empty for a class code. `begun`: the code goes on with a test."""

    test: Published
    name: str
    begun: bool

    @property
    def needs_name(self) -> bool:
        """Whether the taker has to say who they are."""
        return not self.name and not self.test.by_list


def invited(work: Work, written: str) -> Invited:
    """What a code opens; UnknownCodeError when it opens nothing."""
    typed = tidy(written)
    attempt = work.scalar(select(Attempt).where(Attempt.code == typed))
    if attempt is not None:
        return Invited(attempt.test, attempt.name, True)
    pupil = work.scalar(select(Pupil).where(Pupil.code == typed))
    if pupil is not None:
        return Invited(work.get_one(Published, pupil.test_id), pupil.name, False)
    test = work.scalar(select(Published).where(Published.code == typed))
    if test is None:
        raise UnknownCodeError(say("this code opens no test; please check it"))
    return Invited(test, "", False)
