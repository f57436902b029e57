"""What all pages of the workshop know: the draft, who is writing, the latest edition with its document, and what is wrong with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.responses import Response
from sqlalchemy.orm import Session as Work

from quaestor.store.drafts import document_of, draft_of, edition
from quaestor.store.models import Draft, Edition, Teacher
from quaestor.store.parts import Document
from quaestor.web.desk.access import signed_in
from quaestor.web.language import translate
from quaestor.web.pages import database, language, page
from quaestor.web.workshop.check import Checked, checked
from quaestor.web.workshop.vocabulary import WORDS, spoken, told


@dataclass(frozen=True)
class Bench:
    """A draft on the bench."""

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
def opened(request: Request, number: int, *, writing: bool = False) -> Iterator[Bench]:
    """A draft of the teacher of this browser, to look at or to write."""
    kept = database(request)
    with kept.work() if writing else kept.read() as work:
        teacher = signed_in(request, work)
        draft = draft_of(work, teacher, number)
        head = edition(work, draft)
        yield Bench(work, teacher, draft, head, document_of(head))


def shown(request: Request, template: str, bench: Bench, status: int = 200, **values: object) -> Response:
    """A page of the workshop."""
    found = bench.checked
    translate = speaker(request)
    return page(
        request,
        f"workshop/{template}",
        status,
        teacher=bench.teacher,
        draft=bench.draft,
        edition=bench.edition,
        document=bench.document,
        checked=replace(found, problems=told(found.problems, translate), warnings=told(found.warnings, translate)),
        skills=bench.section("skills"),
        questions=bench.section("questions"),
        templates=bench.section("templates"),
        words_of=WORDS,
        spoken=partial(spoken, translate=translate),
        tongue=str(bench.document.get("language") or "") or language(request),
        **values,
    )


def speaker(request: Request) -> partial[str]:
    """How sentences are said in the language of this browser."""
    return partial(translate, language(request))
