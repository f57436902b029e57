"""All questions (or skills, or templates) of a draft: search, filter, a page at a time."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.model.entries import loose
from quaestor.web.editor.check import graph
from quaestor.web.editor.opened_draft import EditedDraft, opened, shown, speaker
from quaestor.web.editor.part_form import skills_of
from quaestor.web.editor.part_pages import NEW, Section
from quaestor.web.jobs.execution import Patient

routes = APIRouter(prefix="/teacher/drafts/{draft}/{section}", route_class=Patient)
A_PAGE = 50


@routes.get("", name="list-parts")
def show(
    request: Request,
    draft: int,
    section: Section,
    q: str = "",
    skill: str = "",
    group: str = "",
    tag: str = "",
    faults: str = "",
    start: int = 0,
) -> Response:
    """The entries that fit, a page of them."""
    with opened(request, draft) as edited:
        entries = edited.section(section)
        faulty = edited.checked.faulty(edited.document, section)
        wanted = {"skill": skill, "group": group, "tag": tag, "faults": faults}
        found = [name for name, entry in entries.items() if _fits(name, entry, q, wanted, faulty)]
        first = max(0, min(start, len(found) - 1)) // A_PAGE * A_PAGE
        return shown(
            request,
            "skills.html" if section is Section.skills else "questions.html",
            edited,
            section=section.value,
            found=found[first : first + A_PAGE],
            all_found=len(found),
            first=first,
            a_page=A_PAGE,
            asked={"q": q, **wanted},
            faulty=faulty,
            new=NEW,
            graph=graph(edited.document, speaker(request)) if section is Section.skills else "",
            groups=_used(edited, "group"),
            tags=_used(edited, "tags"),
            skills_of=skills_of,
        )


def _fits(name: str, entry: Any, q: str, wanted: Mapping[str, str], faulty: set[str]) -> bool:
    fields = entry if isinstance(entry, Mapping) else {}
    if wanted["faults"] and name not in faulty:
        return False
    if wanted["skill"] and wanted["skill"] not in skills_of(fields):
        return False
    if wanted["group"] and fields.get("group") != wanted["group"]:
        return False
    if wanted["tag"] and wanted["tag"] not in (fields.get("tags") or []):
        return False
    if not q:
        return True
    words = [name, fields.get("text"), fields.get("title"), *_listed(fields.get("options")), *_listed(fields.get("tags"))]
    return loose(q) in loose(" ".join(str(word) for word in words if word))


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | Mapping) else []


def _used(edited: EditedDraft, name: str) -> list[str]:
    """The groups or tags that questions have."""
    values = [entry.get(name) for entry in edited.section("questions").values() if isinstance(entry, Mapping)]
    flat = [one for value in values if value for one in (value if isinstance(value, list) else [value])]
    return sorted({str(one) for one in flat})
