"""The versions of a bank: every save is one. Compare two, go back to one, download one as a file."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from quaestor.bankfile.bank import Bank
from quaestor.formats.files import dump_bytes
from quaestor.i18n import say
from quaestor.store import drafts
from quaestor.store.parts import differences
from quaestor.store.publishing import MissingError
from quaestor.web.lanes import Patient
from quaestor.web.teacher.access import FORMATS, Posted, download
from quaestor.web.visits import field
from quaestor.web.workshop.bench import opened, saved, shown, whole

routes = APIRouter(prefix="/desk/drafts/{draft}/versions", route_class=Patient)
A_PAGE = 100


@routes.get("", name="versions")
def show(request: Request, draft: int, start: int = 0) -> Response:
    """All versions, the latest first."""
    with opened(request, draft) as bench:
        listed = drafts.editions(bench.work, bench.draft)
        first = max(0, min(start, len(listed) - 1)) // A_PAGE * A_PAGE
        shown_now = listed[first : first + A_PAGE]
        names = {one.number: (one.by.name or one.by.email) if one.by is not None else "" for one in shown_now}
        notes = {one.number: drafts.note_of(one) for one in shown_now}
        return shown(
            request, "versions.html", bench, listed=shown_now, notes=notes, names=names, all_listed=len(listed), first=first, a_page=A_PAGE
        )


@routes.get("/compare", name="compare")
def compare(request: Request, draft: int, old: int = 0, new: int = 0) -> Response:
    """What differs between two versions, part by part and field by field."""
    with opened(request, draft) as bench:
        latest = drafts.edition(bench.work, bench.draft, new or None)
        before = drafts.edition(bench.work, bench.draft, old or max(1, latest.number - 1))
        found = differences(drafts.document_of(before), drafts.document_of(latest))
        return shown(request, "compare.html", bench, before=before, after=latest, differences=found)


@routes.post("/restore", name="restore-version")
def restore(request: Request, draft: int, form: Posted) -> Response:
    """Go back to a version: what it was becomes the latest; the ones between stay."""
    with opened(request, draft, writing=True) as bench:
        found = drafts.edition(bench.work, bench.draft, whole(field(form, "number")))
        document = drafts.document_of(found)
        note = say("back to version {number}", number=found.number)
        made = drafts.rewrite(bench.work, bench.draft, bench.teacher, lambda *_: document, note, found.media)
    return saved(request, bench, made, "draft")


@routes.get("/{number}/file.{ending}", name="version-file")
def file(request: Request, draft: int, number: int, ending: str) -> Response:
    """A version as a file that `quaestor check` accepts; one with faults cannot be one."""
    with opened(request, draft) as bench:
        document = drafts.document_of(drafts.edition(bench.work, bench.draft, number))
    if ending not in FORMATS:
        raise MissingError(say("there is no such file"))
    return download(dump_bytes(Bank(document), f".{ending}"), str(document.get("title") or "bank"), ending)
