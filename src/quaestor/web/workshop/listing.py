"""All questions (or skills, or templates) of a draft: search, filter, a page at a time."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.model.entries import loose
from quaestor.web.lanes import Patient
from quaestor.web.workshop.bench import Bench, opened, shown, speaker
from quaestor.web.workshop.check import graph
from quaestor.web.workshop.entries import skills_of
from quaestor.web.workshop.parts import NEW, Section

routes = APIRouter(prefix="/desk/drafts/{draft}/{section}", route_class=Patient)
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
    with opened(request, draft) as bench:
        entries = bench.section(section)
        faulty = bench.checked.faulty(bench.document, section)
        wanted = {"skill": skill, "group": group, "tag": tag, "faults": faults}
        found = [name for name, entry in entries.items() if _fits(name, entry, q, wanted, faulty)]
        first = max(0, min(start, len(found) - 1)) // A_PAGE * A_PAGE
        return shown(
            request,
            "skills.html" if section is Section.skills else "questions.html",
            bench,
            section=section.value,
            found=found[first : first + A_PAGE],
            all_found=len(found),
            first=first,
            a_page=A_PAGE,
            asked={"q": q, **wanted},
            faulty=faulty,
            new=NEW,
            graph=graph(bench.document, speaker(request)) if section is Section.skills else "",
            groups=_used(bench, "group"),
            tags=_used(bench, "tags"),
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


def _used(bench: Bench, name: str) -> list[str]:
    """The groups or tags that questions have."""
    values = [entry.get(name) for entry in bench.section("questions").values() if isinstance(entry, Mapping)]
    flat = [one for value in values if value for one in (value if isinstance(value, list) else [value])]
    return sorted({str(one) for one in flat})
