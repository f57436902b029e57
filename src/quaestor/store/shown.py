"""The images that a taker may see: those of the questions put so far.

They are asked for by the hash of their content, as the name that an author gave to a file may tell the answer.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.i18n import say
from quaestor.model.question import Question
from quaestor.store.models import Attempt, Media
from quaestor.store.publishing import MissingError
from quaestor.store.sittings import Sitting


def with_images(attempt: Attempt) -> Attempt:
    """The same attempt, which knows its images also when the unit of work is over."""
    attempt.test.bank.media  # noqa: B018  reads it
    return attempt


def image_of(attempt: Attempt, question: Question) -> str:
    """By what a taker asks for the image of a question; empty where it has none."""
    return attempt.test.bank.media.get(question.media, "") if question.media else ""


def shown(work: Work, stands: Sitting, image: str) -> tuple[str, bytes]:
    """The kind (such as image/png) and the content of an image of a question that was put."""
    session = stands.session
    put = [session.bank.questions[name] for name in session.asked] + [one for one in (session.next,) if one is not None]
    known = {image_of(stands.attempt, question) for question in put} - {""}
    found = work.execute(select(Media.kind, Media.content).where(Media.hash == image)).first() if image in known else None
    if found is None:
        raise MissingError(say("there is no such image"))
    return found[0], found[1]
