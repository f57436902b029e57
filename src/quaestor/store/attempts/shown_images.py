"""The images and sounds that a taker may see: those of the questions shown so far.

They are requested by the hash of their content, since the author's file name may give the answer away.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.i18n import say
from quaestor.model.question import Question
from quaestor.store.attempts.state import State
from quaestor.store.models import Attempt, Media
from quaestor.store.publishing import MissingError


def with_images(attempt: Attempt) -> Attempt:
    """The attempt with its images loaded, so that they are available after the unit of work."""
    attempt.test.bank.media  # noqa: B018  loads it
    return attempt


def image_of(attempt: Attempt, question: Question) -> str:
    """The hash by which a taker requests the image of a question; empty if it has none."""
    return attempt.test.bank.media.get(question.media, "") if question.media else ""


def shown(work: Work, state: State, image: str) -> tuple[str, bytes]:
    """The media type (such as image/png) and the content of an image of a question that was shown; MissingError for all others."""
    session = state.session
    put = [session.bank.questions[name] for name in session.asked] + [one for one in (session.next,) if one is not None]
    media = state.attempt.test.bank.media
    known = {media[name] for question in put for name in question.files if name in media}
    found = work.execute(select(Media.kind, Media.content).where(Media.hash == image)).first() if image in known else None
    if found is None:
        raise MissingError(say("there is no such image"))
    return found[0], found[1]
