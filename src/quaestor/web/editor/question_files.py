"""Questions of other systems: a file is sent, what was understood of it is looked at, some of it is chosen, and kept in a bank.

Nothing is stored in between: the page that shows what was understood holds the file, packed, and sends it again with what was chosen.
"""

import base64
import binascii
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import Field
from starlette.datastructures import UploadFile

from quaestor.errors import BankError, format_value
from quaestor.formats.exchange.checking import only
from quaestor.formats.exchange.imported import Imported, to_document
from quaestor.formats.exchange.joining import joined, renamed_media
from quaestor.formats.exchange.names import clean_name
from quaestor.formats.exchange.registry import READERS
from quaestor.i18n import said, say
from quaestor.store import drafts
from quaestor.store.media import MediaError, kind_of
from quaestor.web.editor.opened_draft import opened
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import database, go, page
from quaestor.web.security.forms import Form, Id, Line, read
from quaestor.web.security.uploads import draw_anew, read_questions
from quaestor.web.teacher.access import Held, Posted, signed_in

routes = APIRouter(prefix="/teacher/import", route_class=Patient)
MOST_SHOWN = 300  # questions of a file; the others are kept too
MOST_UNPACKED = 50_000_000


class Keeping(Form):
    """Questions that were chosen of a file, which the page held (`packed`); their skills, and where they are kept."""

    name: str = ""
    packed: str = ""
    question: list[str] = Field(default_factory=list)
    skills_by: str = ""
    one: str = ""
    into: Id = 0
    title: Line = ""


@routes.get("", name="questions-from-elsewhere")
def ask(request: Request) -> Response:
    """Which file."""
    return _ask(request)


def _ask(request: Request, status: int = 200, **values: object) -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
    shown = {"name": "", "problems": (), "wrong": "", **values}
    return page(request, "editor/question_file.html", status, teacher=teacher, formats=[reader.name for reader in READERS], **shown)


@routes.post("", name="look-at-questions")
def look(request: Request, form: Posted) -> Response:
    """What was understood of a file: questions, what was lost of them, what was refused."""
    with database(request).read() as work:
        signed_in(request, work)  # before anything is read
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return _ask(request, 400, wrong=say("please choose a file"))
    name = PurePath(file.filename.replace("\\", "/")).name[:200]
    content = file.file.read()
    try:
        return _look(request, name, content, read_questions(content, name))
    except BankError as error:
        return _ask(request, 400, problems=error.problems, name=name)


def _look(request: Request, name: str, content: bytes, found: Imported, status: int = 200, **values: object) -> Response:
    with database(request).read() as work:
        teacher = signed_in(request, work)
        mine = drafts.drafts_of(work, teacher)
    notes: dict[str, list[str]] = {}
    for note in found.notes:
        notes.setdefault(note.question, []).append(note.words)
    shown = {
        "title": found.bank.get("title") or found.title,
        "chosen": None,
        "skills_by": "category" if any(found.categories.values()) else "one",
        "one": clean_name(found.title),
        "into": 0,
        "wrong": "",
        **values,
    }
    return page(
        request,
        "editor/questions_understood.html",
        status,
        teacher=teacher,
        drafts=mine,
        name=name,
        packed=base64.b64encode(zlib.compress(content, 6)).decode(),
        found=found,
        rows=[_row(own, fields) for own, fields in list(found.questions.items())[:MOST_SHOWN]],
        more=max(0, len(found.questions) - MOST_SHOWN),
        notes=notes,
        unshown=sorted(found.media.keys() - _shown(found.media).keys()),
        has_categories=any(found.categories.values()),
        has_tags=any(found.tags.values()),
        **shown,
    )


class Row(NamedTuple):
    """A question as the page lists it; `key`: what is right, as short texts, `partly`: what is worth a part of the points."""

    id: str
    kind: str
    text: str
    key: list[str]
    partly: list[str]


def _row(own: str, fields: Mapping[str, Any]) -> Row:
    return Row(own, fields.get("kind", "choice"), fields.get("text", ""), _key(fields), _partly(fields))


def _partly(fields: Mapping[str, Any]) -> list[str]:
    between = (fields.get("classes") or [])[1:-1]
    judged = fields.get("accept") if fields.get("kind") in ("text", "number") else fields.get("options")
    return [str(one) for one, its in judged.items() if its in between] if isinstance(judged, dict) else []


def _key(fields: Mapping[str, Any]) -> list[str]:
    if "pairs" in fields:
        return [f"{left} → {right}" for left, right in fields["pairs"].items()]
    if "gaps" in fields:
        return [str(gap["correct"]) for gap in fields["gaps"].values() if "correct" in gap]
    if fields.get("kind") == "ordering":
        return list(fields["options"])
    options = fields.get("options")
    if isinstance(options, dict):
        best = (fields.get("classes") or ["right"])[-1]
        return [option for option, its in options.items() if its == best]
    correct = fields.get("correct", [])
    right = list(correct) if isinstance(correct, list) else [str(correct)]
    accept = fields.get("accept", [])
    if isinstance(accept, dict):  # by class
        accept = [one for one, its in accept.items() if its == (fields.get("classes") or ["right"])[-1]]
    if fields.get("tolerance"):
        right = [f"{one} ± {fields['tolerance']}" for one in right]
    return [*right, *(str(one) for one in accept)]


@routes.post("/keep", name="keep-questions")
def keep(request: Request, form: Held) -> Response:
    """Keep the chosen questions, in a new bank or in one that is there."""
    with database(request).read() as work:
        signed_in(request, work)  # before anything is read
    asked = read(Keeping, form)
    name, content = asked.name[:200], _unpacked(asked.packed)
    if content is None:
        return _ask(request, 400, wrong=say("please choose the file again"))
    try:
        found = read_questions(content, name)
    except BankError as error:
        return _ask(request, 400, problems=error.problems, name=name)
    shown = list(found.questions)[:MOST_SHOWN]
    ticked = set(asked.question)
    chosen = [own for own in found.questions if own in ticked or own not in shown]
    by, one, into = asked.skills_by, clean_name(asked.one), asked.into
    values = {"chosen": set(chosen), "skills_by": by, "one": one, "into": into, "title": asked.title}
    if not chosen:
        return _look(request, name, content, found, 400, wrong=say("please choose at least one question"), **values)
    if by == "one" and not one:
        return _look(request, name, content, found, 400, wrong=say("please name the skill"), **values)
    try:
        return _keep(request, name, only(found, chosen), by if by in ("category", "tag") else one, into, asked.title)
    except MediaError as error:
        return _look(request, name, content, found, 400, wrong=said(error), **values)


def _keep(request: Request, name: str, found: Imported, skills_by: str, into: int, title: str) -> Response:
    media = draw_anew(_shown(found.media))
    if title and not found.bank:
        found = replace(found, title=title)
    document = to_document(found, skills_by)
    for question in document["questions"].values():
        if question.get("media") in found.media and question["media"] not in media:
            del question["media"]
    note = say("questions from {name}", name=format_value(name))
    if not into:
        with database(request).work() as work:
            made = drafts.begin_draft(work, signed_in(request, work), {**document, **({"title": title} if title else {})}, note, media)
        return go(request, "draft", draft=made.id)
    with opened(request, into, writing=True) as edited:
        document, media = renamed_media(document, media, edited.edition.media)
        kept = drafts.kept_images(edited.work, media)
        drafts.rewrite(edited.work, edited.draft, edited.teacher, lambda there, _: joined(there, document), note, kept)
    return go(request, "draft", draft=into)


def _shown(media: Mapping[str, bytes]) -> dict[str, bytes]:
    """Those of some pictures and sounds that this server can show or play."""
    return {name: content for name, content in media.items() if kind_of(content)}


def _unpacked(packed: str) -> bytes | None:
    """The file that the page held; None where it is damaged or too large."""
    try:
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(base64.b64decode(packed, validate=True), MOST_UNPACKED)
    except (binascii.Error, zlib.error, ValueError):
        return None
    return content if unpacker.eof else None
