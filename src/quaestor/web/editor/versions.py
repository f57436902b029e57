"""The versions of a bank: every save is one. Compare two, go back to one, download one as a file."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say
from quaestor.store import drafts
from quaestor.store.parts import differences
from quaestor.web.editor.opened_draft import opened, saved, shown
from quaestor.web.jobs.execution import Patient
from quaestor.web.security.forms import Form, Id, read
from quaestor.web.teacher.access import ELSEWHERE, Posted, as_file, download

routes = APIRouter(prefix="/teacher/drafts/{draft}/versions", route_class=Patient)
A_PAGE = 100


class Restored(Form):
    """The version to go back to."""

    number: Id = 0


@routes.get("", name="versions")
def show(request: Request, draft: int, start: int = 0) -> Response:
    """All versions, the latest first."""
    with opened(request, draft) as edited:
        listed = drafts.editions(edited.work, edited.draft)
        first = max(0, min(start, len(listed) - 1)) // A_PAGE * A_PAGE
        shown_now = listed[first : first + A_PAGE]
        names = {one.number: (one.by.name or one.by.email) if one.by is not None else "" for one in shown_now}
        notes = {one.number: drafts.note_of(one) for one in shown_now}
        return shown(
            request,
            "versions.html",
            edited,
            listed=shown_now,
            notes=notes,
            names=names,
            all_listed=len(listed),
            first=first,
            a_page=A_PAGE,
            formats={"yaml": "YAML", "xlsx": "XLSX"} | ELSEWHERE,
        )


@routes.get("/compare", name="compare")
def compare(request: Request, draft: int, old: int = 0, new: int = 0) -> Response:
    """What differs between two versions, part by part and field by field."""
    with opened(request, draft) as edited:
        latest = drafts.edition(edited.work, edited.draft, new or None)
        before = drafts.edition(edited.work, edited.draft, old or max(1, latest.number - 1))
        found = differences(drafts.document_of(before), drafts.document_of(latest))
        return shown(request, "compare.html", edited, before=before, after=latest, differences=found)


@routes.post("/restore", name="restore-version")
def restore(request: Request, draft: int, form: Posted) -> Response:
    """Go back to a version: what it was becomes the latest; the ones between stay."""
    with opened(request, draft, writing=True) as edited:
        found = drafts.edition(edited.work, edited.draft, read(Restored, form).number)
        document = drafts.document_of(found)
        note = say("back to version {number}", number=found.number)
        made = drafts.rewrite(edited.work, edited.draft, edited.teacher, lambda *_: document, note, found.media)
    return saved(request, edited, made, "draft")


@routes.get("/{number}/file.{ending}", name="version-file")
def file(request: Request, draft: int, number: int, ending: str) -> Response:
    """A version as a file that `quaestor check` accepts; one with faults cannot be one."""
    with opened(request, draft) as edited:
        found = drafts.edition(edited.work, edited.draft, number)
        document = drafts.document_of(found)
        content = as_file(Bank(document), ending, lambda: drafts.images_of(edited.work, found))
    return download(content, str(document.get("title") or "bank"), ending)
