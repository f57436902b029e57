"""Drafts of banks: every save is an immutable edition; several teachers may edit one draft (optimistic concurrency).

A change concerns one part of the document (a question, a skill) as it was seen in some edition. If that part is unchanged in the latest
edition, the change is applied there, whatever happened to other parts; if not, nothing is written, and `ChangedError` has all three values.
"""

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session as Work
from sqlalchemy.orm import undefer

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, placed
from quaestor.i18n import packed, say, unpacked
from quaestor.store.clock import now
from quaestor.store.erasure import erased
from quaestor.store.media import check_image, drop_unused, keep_images
from quaestor.store.models import BankVersion, Draft, Edition, Job, Media, Teacher
from quaestor.store.parts import Document, Path, part, with_part
from quaestor.store.publishing import MissingError, keep_bank
from quaestor.store.sharing import within_reach
from quaestor.store.texts import line

UNTITLED = "A bank without a title"
_TRIES = 10


class ChangedError(QuaestorError):
    """An edit conflict: a part as it was `seen`, as it is now (`there`), as it was to be written (`wanted`), and the edition between."""

    def __init__(self, path: Path, seen: Any, there: Any, wanted: Any, edition: Edition) -> None:
        self.path, self.seen, self.there, self.wanted, self.number = path, seen, there, wanted, edition.number
        self.by_id, self.by = edition.by_id, (edition.by.name or edition.by.email) if edition.by is not None else ""
        words = say("it was changed since you opened it, in edition {number}", number=edition.number)
        super().__init__(placed(".".join(path), words))


def begin_draft(work: Work, teacher: Teacher, document: Mapping[str, Any], note: str, images: Mapping[str, bytes] | None = None) -> Draft:
    """A new draft with its first edition."""
    made = Draft(teacher_id=teacher.id, title=_title(document), head=1, created=now(), changed=now())
    work.add(made)
    work.flush()
    media = kept_images(work, images or {})
    _add(work, made, 1, document, media, teacher, note)
    return made


def drafts_of(work: Work, teacher: Teacher) -> Sequence[Draft]:
    """The drafts that a teacher has or may look at or edit, last changed first."""
    return work.scalars(select(Draft).where(within_reach(teacher, Draft)).order_by(Draft.changed.desc(), Draft.id.desc())).all()


def edition(work: Work, draft: Draft, number: int | None = None) -> Edition:
    """One edition of a draft, with its document; by default the latest."""
    wanted = (draft.id, draft.head if number is None else number)
    found = work.get(Edition, wanted, options=[undefer(Edition.document)])
    if found is None:
        raise MissingError(say("there is no such version"))
    return found


def editions(work: Work, draft: Draft) -> Sequence[Edition]:
    """All editions, the latest first, without their documents."""
    return work.scalars(select(Edition).where(Edition.draft_id == draft.id).order_by(Edition.number.desc())).all()


def document_of(found: Edition) -> Document:
    """The document of an edition."""
    made: Document = json.loads(zlib.decompress(found.document))
    return made


def seen_document(work: Work, draft: Draft, number: int) -> Document:
    """The document of edition `number`; of the latest one if there is no such edition."""
    return document_of(edition(work, draft, number if 0 < number <= draft.head else None))


def note_of(found: Edition) -> str:
    """The note of an edition: what was changed, in words."""
    return unpacked(found.note)


def change(work: Work, draft: Draft, by: Teacher, seen: int, path: Path, value: Any, note: str) -> Edition:
    """Write one part, based on edition `seen`; None removes it."""
    before = part(document_of(edition(work, draft, seen)), path)

    def put(document: Document, head: Edition) -> Document:
        there = part(document, path)
        if there not in (before, value):
            raise ChangedError(path, before, there, value, last_change(work, draft, seen, head, path))
        return with_part(document, path, value)

    return rewrite(work, draft, by, put, note)


def change_fields(work: Work, draft: Draft, by: Teacher, seen: int, wanted: Mapping[str, str], note: str) -> Edition:
    """Write plain fields such as the title, based on edition `seen`; empty ones are removed, unchanged ones keep the values of others."""
    before = document_of(edition(work, draft, seen))
    touched = {name: text for name, text in wanted.items() if text != plain(before, name)}

    def put(document: Document, head: Edition) -> Document:
        clash = [name for name, text in touched.items() if plain(document, name) not in (plain(before, name), text)]
        if clash:
            was, there, mine = ({name: fields.get(name) for name in clash} for fields in (before, document, touched))
            raise ChangedError((clash[0],), was, there, mine, last_change(work, draft, seen, head, (clash[0],)))
        made = {**{name: document.get(name) for name in wanted}, **touched}
        kept = {name: value for name, value in document.items() if name not in wanted and name != "quaestor"}
        marked = {"quaestor": document.get("quaestor", 1)}
        return {**marked, **{name: value for name, value in made.items() if value}, **kept} if touched else document

    return rewrite(work, draft, by, put, note)


def plain(document: Mapping[str, Any], name: str) -> str:
    """A plain field as a form shows it."""
    found = document.get(name)
    return "" if found is None else str(found)


def last_change(work: Work, draft: Draft, seen: int, head: Edition, path: Path) -> Edition:
    """The edition after `seen` that made a part what it is at the head."""
    found, there = head, part(document_of(head), path)
    for number in range(head.number - 1, seen, -1):
        earlier = edition(work, draft, number)
        if part(document_of(earlier), path) != there:
            break
        found = earlier
    return found


def rewrite(
    work: Work, draft: Draft, by: Teacher, put: Callable[[Document, Edition], Document], note: str, media: Mapping[str, str] | None = None
) -> Edition:
    """Save the result of `put` on the latest document; without a change nothing is saved.

    `put` is called again if another save comes first, so it must depend only on the document and edition it is given.
    """
    for _ in range(_TRIES):
        head = edition(work, draft)
        before = document_of(head)
        after = put(before, head)
        images = {**head.media, **(media or {})}
        if json.dumps(after) == json.dumps(before) and images == head.media:  # as text: == would ignore the order of the questions
            return head
        moment = now()
        taken = update(Draft).where(Draft.id == draft.id, Draft.head == head.number)
        if work.execute(taken.values(head=head.number + 1, changed=moment, title=_title(after))).rowcount:  # type: ignore[attr-defined]
            return _add(work, draft, head.number + 1, after, images, by, note, moment)
        work.refresh(draft)
    raise QuaestorError(say("the bank was saved by others all the time, got {count} tries; please try again", count=_TRIES))


def add_images(work: Work, draft: Draft, by: Teacher, images: Mapping[str, bytes]) -> Edition:
    """Add images, by the names that questions give them."""
    kept = kept_images(work, images)
    return rewrite(work, draft, by, lambda document, _: document, say("images added: {names}", names=", ".join(sorted(kept))), kept)


def freeze(work: Work, teacher: Teacher, found: Edition) -> BankVersion:
    """The bank of an edition as a frozen version for a test; BankError with all problems if it has any."""
    bank = Bank(document_of(found))
    named = {name for question in bank.questions.values() for name in question.files}
    images = {name: content for name, content in images_of(work, found).items() if name in named}
    return keep_bank(work, teacher, bank, images)


def images_of(work: Work, found: Edition) -> dict[str, bytes]:
    """The images of an edition by name."""
    return {name: work.get_one(Media, content, options=[undefer(Media.content)]).content for name, content in found.media.items()}


def drop(work: Work, draft: Draft) -> None:
    """Delete a draft with all its editions, their images and what was tried with it."""
    work.execute(delete(Job).where(Job.subject == f"draft {draft.id}"))  # another draft may get its number
    work.delete(draft)
    work.flush()
    drop_unused(work)
    erased(work)


def kept_images(work: Work, images: Mapping[str, bytes]) -> dict[str, str]:
    """Check and store images; returns their hashes by name."""
    for name, content in images.items():
        check_image("images", name, content)
    return keep_images(work, images)


def _title(document: Mapping[str, Any]) -> str:
    return line(str(document.get("title") or ""), 200) or UNTITLED


def _add(
    work: Work,
    draft: Draft,
    number: int,
    document: Mapping[str, Any],
    media: Mapping[str, str],
    by: Teacher,
    note: str,
    moment: datetime | None = None,
) -> Edition:
    content = zlib.compress(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"), 6)
    made = Edition(
        draft_id=draft.id, number=number, document=content, media=dict(media), note=packed(note), by_id=by.id, at=moment or now()
    )
    work.add(made)
    work.flush()
    return made
