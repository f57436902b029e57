"""A draft as a whole: what is in it, what is wrong with it, its title and other fields, its images, who else may write at it."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import UploadFile

from quaestor.i18n import said, say
from quaestor.store import drafts, sharing
from quaestor.store.media import MediaError
from quaestor.store.models import Media
from quaestor.store.publishing import MissingError
from quaestor.web.editor.check import graph
from quaestor.web.editor.opened_draft import NO_CONFLICT, EditedDraft, conflict, opened, saved, shown, speaker
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import go
from quaestor.web.security.forms import Form, Id, Tick, read, with_texts
from quaestor.web.security.uploads import draw_anew
from quaestor.web.teacher.access import Posted
from quaestor.web.teacher.cost import cost_of

routes = APIRouter(prefix="/teacher/drafts/{draft}", route_class=Patient)


FIELDS = ("title", "description", "language", "author", "licence", "imprecision")


class Change(Form):
    """The version of a bank that was seen; its own fields are texts, checked with the bank."""

    seen: Id = 0


BankFields = with_texts(Change, FIELDS)


class Deletion(Form):
    """Whether a bank should really go."""

    sure: Tick = False


@routes.get("", name="draft")
def overview(request: Request, draft: int) -> Response:
    """What is in a bank, and what to do next."""
    with opened(request, draft) as edited:
        return _page(request, edited)


def _page(request: Request, edited: EditedDraft, status: int = 200, wrong: str = "", **values: Any) -> Response:
    others = sharing.shares_of(edited.work, edited.draft)
    picture = graph(edited.document, speaker(request))
    filled = {name: drafts.plain(edited.document, name) for name in FIELDS} | values.pop("typed", {})
    bank = edited.checked.bank
    cost = cost_of(request, bank) if bank is not None else ""
    told = {**NO_CONFLICT, "is_unsaved": False, "wrong": wrong, "cost": cost, **values}
    return shown(request, "draft.html", edited, status, graph=picture, shares=others, filled=filled, **told)


@routes.post("/fields", name="draft-fields")
def write(request: Request, draft: int, form: Posted) -> Response:
    """The title and the other fields of the bank itself; what a colleague changed meanwhile is shown, not overwritten."""
    asked = read(BankFields, form)
    seen, wanted = asked.seen, asked.model_dump(include=set(FIELDS))
    try:
        with opened(request, draft, writing=True) as edited:
            made = drafts.change_fields(edited.work, edited.draft, edited.teacher, seen, wanted, say("title and description"))
    except drafts.ChangedError as error:
        with opened(request, draft) as edited:
            before = drafts.seen_document(edited.work, edited.draft, seen)
            typed = {name: text for name, text in wanted.items() if text != drafts.plain(before, name)}
            return _page(request, edited, 409, typed=typed, is_unsaved=True, **conflict(error, edited.teacher))
    return saved(request, edited, made, "draft")


@routes.post("/images", name="draft-images")
def add_images(request: Request, draft: int, form: Posted) -> Response:
    """Images that questions can show."""
    files = [file for file in form.getlist("images") if isinstance(file, UploadFile) and file.filename]
    images = {str(file.filename).replace("\\", "/").rpartition("/")[2][:100]: file.file.read() for file in files}
    try:
        with opened(request, draft):  # before anything is decoded
            pass
        drawn = draw_anew(images)
        with opened(request, draft, writing=True) as edited:
            made = drafts.add_images(edited.work, edited.draft, edited.teacher, drawn)
    except MediaError as error:
        with opened(request, draft) as edited:
            return _page(request, edited, 400, said(error))
    return saved(request, edited, made, "draft")


@routes.get("/media/{name:path}", name="draft-media")
def media(request: Request, draft: int, name: str) -> Response:
    """An image of a draft."""
    with opened(request, draft) as edited:
        kept = edited.work.get(Media, edited.edition.media.get(name, ""))
        if kept is None:
            raise MissingError(say("there is no such image"))
        return Response(kept.content, media_type=kept.kind, headers={"cache-control": "private, max-age=3600"})


@routes.post("/delete", name="drop-draft")
def drop(request: Request, draft: int, form: Posted) -> Response:
    """Delete a bank with all its versions; tests that were published stay as they are."""
    with opened(request, draft, writing=True, needed=sharing.OWN) as edited:
        if not read(Deletion, form).sure:
            return _page(request, edited, 400, say("please tick that you are sure"))
        drafts.drop(edited.work, edited.draft)
    return go(request, "banks")


@routes.post("/publish", name="publish-draft")
def publish(request: Request, draft: int, form: Posted) -> Response:
    """Freeze the latest version, and on to the form by which a test is published."""
    with opened(request, draft, writing=True) as edited:
        if edited.checked.bank is None:
            return _page(request, edited, 400, say("a test is made of a bank without faults; mend what is listed first"))
        kept = drafts.freeze(edited.work, edited.teacher, edited.edition)
    return go(request, "publish", number=kept.id)
