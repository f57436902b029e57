"""What all pages of the editor know: the draft, who is writing, the latest edition with its document, and what is wrong with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.store.drafts import ChangedError, document_of, edition
from quaestor.store.models import Draft, Edition, Teacher
from quaestor.store.parts import Document
from quaestor.store.sharing import EDIT, LOOK, draft_for
from quaestor.web.editor.check import Checked, checked, part_of
from quaestor.web.editor.open_tests import unreached
from quaestor.web.editor.vocabulary import WORDS, readable, spoken, told
from quaestor.web.render.language import translate
from quaestor.web.render.pages import database, go, language, page, url
from quaestor.web.security.browsers import drop_cookie, set_cookie, whole
from quaestor.web.teacher.access import note_extent, signed_in

SAVED = "saved"  # the cookie that tells the next page of a save


@dataclass(frozen=True)
class EditedDraft:
    """A draft that is being edited."""

    work: Work
    teacher: Teacher
    draft: Draft
    edition: Edition
    document: Document

    @property
    def checked(self) -> Checked:
        """What is wrong with the edition."""
        return checked(self.edition, self.document)

    def section(self, name: str) -> dict[str, Any]:
        """The skills, templates or questions; empty when there are none."""
        found = self.document.get(name)
        return found if isinstance(found, dict) else {}


@contextmanager
def opened(request: Request, number: int, *, writing: bool = False, needed: str = "") -> Iterator[EditedDraft]:
    """A draft that the teacher of this browser may look at, or may write at, or may do with what is `needed`."""
    kept = database(request)
    with kept.work() if writing else kept.read() as work:
        teacher = signed_in(request, work)
        draft = draft_for(work, teacher, number, needed or (EDIT if writing else LOOK))
        note_extent(request, work, teacher, draft)
        head = edition(work, draft)
        yield EditedDraft(work, teacher, draft, head, document_of(head))


def shown(request: Request, template: str, edited: EditedDraft, status: int = 200, **values: object) -> Response:
    """A page of the editor."""
    found = edited.checked
    translate = speaker(request)
    made = page(
        request,
        f"editor/{template}",
        status,
        teacher=edited.teacher,
        draft=edited.draft,
        edition=edited.edition,
        picture=lambda name: url(request, "draft-media", draft=edited.draft.id, name=name) if name in edited.edition.media else "",
        document=edited.document,
        checked=replace(found, problems=told(found.problems, translate), warnings=told(found.warnings, translate)),
        skills=edited.section("skills"),
        questions=edited.section("questions"),
        templates=edited.section("templates"),
        words_of=WORDS,
        spoken=partial(spoken, translate=translate),
        readable=partial(readable, translate=translate),
        tongue=str(edited.document.get("language") or "") or language(request),
        saved=_just_saved(request, edited.draft),
        part_of=partial(part_of, document=edited.document),
        unreached=partial(unreached, edited.work, edited.teacher, {**edited.document, "questions": edited.section("questions")}),
        **values,
    )
    if SAVED in request.cookies:
        drop_cookie(request, made, SAVED, _path(edited.draft))
    return made


def saved(request: Request, edited: EditedDraft, made: Edition, name: str, /, **places: object) -> Response:
    """After a save: to a page of the draft, which says once which version it made. A cookie tells it, so addresses stay as they are."""
    response = go(request, name, draft=edited.draft.id, **places)
    changed = "new" if made.number > edited.edition.number else "same"
    set_cookie(request, response, SAVED, f"{edited.draft.id}.{made.number}.{changed}", _path(edited.draft), seconds=60)
    return response


def _just_saved(request: Request, draft: Draft) -> tuple[int, bool] | None:
    """The version that was saved a moment ago, and whether it is a new one."""
    told = request.cookies.get(SAVED, "").split(".")
    if len(told) != 3 or told[0] != str(draft.id) or not 0 < whole(told[1]) <= draft.head:
        return None
    return whole(told[1]), told[2] == "new"


def _path(draft: Draft) -> str:
    return f"/teacher/drafts/{draft.id}"


NO_CONFLICT: dict[str, Any] = {"conflict": [], "by": "", "by_me": False}


def conflict(error: ChangedError, teacher: Teacher) -> dict[str, Any]:
    """What a page says of two who wrote at once: the fields that differ, each with theirs and mine, and who the other one was."""
    there, wanted = error.there or {}, error.wanted or {}
    names = [name for name in dict.fromkeys([*wanted, *there]) if there.get(name) != wanted.get(name)]
    differing = [(name, there.get(name), wanted.get(name)) for name in names]
    return {"conflict": differing, "by": error.by, "by_me": error.by_id == teacher.id}


def speaker(request: Request) -> partial[str]:
    """How sentences are said in the language of this browser."""
    return partial(translate, language(request))
