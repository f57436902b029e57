"""Which open tests a change of a bank does not reach: a published test keeps the version that it was published with."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session as Work

from quaestor.store.clock import now
from quaestor.store.models import Published, Teacher
from quaestor.store.publishing import open_bank
from quaestor.store.texts import line

MOST = 50  # tests that are looked at, the latest


def unreached(work: Work, teacher: Teacher, document: Mapping[str, Any]) -> Sequence[Published]:
    """The teacher's tests that are not closed and have a bank of this title, or a question with the id and text of one of this bank."""
    is_open = or_(Published.closes.is_(None), Published.closes > now())
    mine = select(Published).where(Published.teacher_id == teacher.id, is_open).order_by(Published.id.desc()).limit(MOST)
    title = line(str(document.get("title") or ""), 200)
    texts = {name: str(entry.get("text") or "") for name, entry in document["questions"].items() if isinstance(entry, Mapping)}
    return [test for test in work.scalars(mine) if (title and test.bank.title == title) or _shares(test, texts)]


def _shares(test: Published, texts: Mapping[str, str]) -> bool:
    return any(question.text and question.text == texts.get(name) for name, question in open_bank(test.bank).questions.items())
