"""Writing one question, template or skill: the form, what it means while one writes, and what happens when two write at once."""

import re
from collections.abc import Container
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count, starmap
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import AfterValidator, Field
from starlette.datastructures import FormData, UploadFile

from quaestor.bankfile.statements import STATEMENT_FIELDS
from quaestor.errors import Problem, QuaestorError
from quaestor.i18n import said, say
from quaestor.model.entries import GAP
from quaestor.store import drafts
from quaestor.store.media import MediaError
from quaestor.store.models import Edition
from quaestor.store.parts import Document, moved, part, renamed, with_part
from quaestor.store.publishing import MissingError
from quaestor.store.texts import line
from quaestor.web.editor import part_form
from quaestor.web.editor.check import graph, meaning
from quaestor.web.editor.opened_draft import NO_CONFLICT, EditedDraft, conflict, opened, saved, shown, speaker
from quaestor.web.editor.option_rows import classes_of
from quaestor.web.editor.part_rows import Gap, Parts
from quaestor.web.editor.vocabulary import LEVELS, told
from quaestor.web.editor.vocabulary import written as in_file
from quaestor.web.jobs.execution import Patient
from quaestor.web.render.pages import climbs
from quaestor.web.security.forms import AsTyped, Form, Id, Tick, read, with_texts
from quaestor.web.security.uploads import draw_anew
from quaestor.web.teacher.access import Posted

routes = APIRouter(prefix="/teacher/drafts/{draft}/{section}", route_class=Patient)
NEW = "~new"  # stands for an entry that has no id yet: no id contains a tilde at its start


class Section(StrEnum):
    """The parts of a bank that have a form."""

    skills = "skills"
    templates = "templates"
    questions = "questions"


WROTE = {
    Section.skills: lambda name: say("skill {name}", name=name),
    Section.templates: lambda name: say("template {name}", name=name),
    Section.questions: lambda name: say("question {name}", name=name),
}


FIRST_LETTER = {Section.skills: "S", Section.templates: "T", Section.questions: "Q"}


class Rows(Form):
    """An entry as its form has it: rows, ticks and what was seen. Its further fields are texts of the bank file, checked with the bank."""

    id: Annotated[str, AfterValidator(lambda text: line(text, 100))] = ""
    seen: Id = 0
    old: str = ""
    copied: str = Field("", alias="copy")
    check: Tick = False
    another: Tick = False
    pilot: Tick = False
    statement: Annotated[str, AsTyped()] = ""
    level: list[str] = Field(default_factory=list)
    parents: list[str] = Field(default_factory=list)
    skills: list[str] = Field(default_factory=list)
    option: list[str] = Field(default_factory=list)
    group_of: list[str] = Field(default_factory=list)
    is_right: list[str] = Field(default_factory=list)
    truth: str = ""
    left: list[str] = Field(default_factory=list)
    belongs: list[str] = Field(default_factory=list)
    others: str = ""
    items: str = ""
    gap_name: list[str] = Field(default_factory=list)
    gap_kind: list[str] = Field(default_factory=list)
    gap_right: list[str] = Field(default_factory=list)
    gap_options: list[str] = Field(default_factory=list)
    gap_tolerance: list[str] = Field(default_factory=list)


TEXTS = tuple(dict.fromkeys((*part_form.PLAIN, *STATEMENT_FIELDS, *part_form.SKILL_PLAIN, "way")))
PartFields = with_texts(Rows, TEXTS)


class Place(Form):
    """Where an entry is to stand."""

    to: Id = 0


@dataclass
class Written:
    """What a form said: the id, the entry, what cannot be read in it, and the form's fields as they were typed."""

    name: str
    entry: part_form.Entry
    problems: list[Problem] = field(default_factory=list)
    typed: dict[str, Any] = field(default_factory=dict)


def _read(edited: EditedDraft, asked: Rows, image: str | None, section: Section, old: str) -> Written:
    sent = asked.model_dump(include={*TEXTS, "statement"})
    fields = {key: in_file(key, value) for key, value in sent.items() if value}
    if levels := [one.strip() for one in asked.level if one.strip()]:
        fields["levels"] = " | ".join(levels)
    name = asked.id or (old if old != NEW else _named(edited, section, fields.get("title", "")))
    if image is not None:
        fields["media"] = image
    if asked.pilot:
        fields["pilot"] = "yes"
    before = _before(edited, asked, section, old)
    if section is Section.skills:
        entry, problems = part_form.read_skill(fields, asked.parents, before)
        typed: dict[str, Any] = {**fields, "parents": asked.parents}
    else:
        rows, template, parts = _rows(asked), _template(edited, fields.get("template", "")), _parts(asked, fields)
        entry, problems = part_form.read_question(fields, rows, asked.skills, template, before, parts)
        typed = {**fields, "skills": asked.skills, "pilot": asked.pilot, "parts": parts.with_empty_rows()}
        typed["options"] = part_form.typed_rows(rows, entry, template, before)
    if not name or name.startswith("~") or climbs(name):
        problems.append(Problem("id", say("each has a short name of its own"), f"'{name}'"))
    return Written(name, entry, problems, typed)


def _named(edited: EditedDraft, section: Section, title: str) -> str:
    """The id of an entry that was given none: the first word of its title where that is free, else one with a number."""
    word = re.sub(r"[^\w-]+", "-", title.strip().casefold()).strip("-_")[:40]
    return word if word and word not in edited.section(section) else _free_id(edited, section, word)


def _image(form: FormData) -> UploadFile | None:
    found = form.get("image")
    return found if isinstance(found, UploadFile) and found.filename else None


def _image_name(form: FormData, taken: Container[str]) -> str | None:
    """The name of the image that was sent with a question: a free one, as phones call every photograph the same."""
    sent = _image(form)
    if sent is None:
        return None
    name = str(sent.filename).replace("\\", "/").rpartition("/")[2][-90:]
    stem, dot, ending = name.rpartition(".")
    return next(one for number in count(1) if (one := name if number == 1 else f"{stem}-{number}{dot}{ending}") not in taken)


def _rows(asked: Rows) -> list[tuple[str, str | bool]]:
    """Options as a form has them: with a class chosen for each, or with ticks at the right ones."""
    if asked.group_of:
        return list(zip(asked.option, asked.group_of, strict=False))
    return [(text, str(place) in asked.is_right) for place, text in enumerate(asked.option)]


def _parts(asked: Rows, fields: dict[str, str]) -> Parts:
    """Pairs, items and gaps as a form has them; rows that are empty are left out."""
    pairs = [pair for pair in zip(asked.left, asked.belongs, strict=False) if any(one.strip() for one in pair)]
    columns = (asked.gap_name, asked.gap_kind, asked.gap_right, asked.gap_options, asked.gap_tolerance)
    gaps = [gap for gap in starmap(Gap, zip(*columns, strict=False)) if gap.name.strip() or gap.right.strip() or gap.options.strip()]
    named = {gap.name.strip() for gap in gaps}
    found = dict.fromkeys(name.strip() for name in GAP.findall(fields.get("text", "")))
    gaps += [Gap(name) for name in found if name not in named and fields.get("kind") == "gaps"]
    return Parts(asked.truth, pairs, asked.others, asked.items, gaps)


def _before(edited: EditedDraft, asked: Rows, section: Section, old: str) -> part_form.Entry:
    """The entry that the form showed: as it was in the edition that was seen, or the one that a new one was copied from."""
    seen = drafts.seen_document(edited.work, edited.draft, asked.seen)
    found = part(seen, (section, asked.copied if old == NEW else old))
    return found if isinstance(found, dict) else {}


def _template(edited: EditedDraft, name: str) -> part_form.Entry:
    found = part(edited.document, ("templates", name)) if name else None
    return found if isinstance(found, dict) else {}


@routes.get("/{name:path}", name="part")
def show(request: Request, draft: int, section: Section, name: str, copy: str = "") -> Response:
    """The form of an entry, of a new one, or of a copy."""
    with opened(request, draft) as edited:
        if name == NEW:
            copied = part(edited.document, (section, copy)) if copy else None
            entry = copied if isinstance(copied, dict) else _fresh(request, edited, section)
            values = {"copy": copy} if copy else {"problems": ()}  # nothing is wrong with what nobody has written yet
            id_ = "" if section is Section.skills else _free_id(edited, section)  # that of a skill is made of its title
            return _form(request, edited, section, NEW, Written(id_, entry), **values)
        entry = part(edited.document, (section, name))
        if not isinstance(entry, dict) or climbs(name):  # the address of its form could be that of another one
            raise MissingError(say("there is no such entry"))
        return _form(request, edited, section, name, Written(name, entry))


def _fresh(request: Request, edited: EditedDraft, section: Section) -> part_form.Entry:
    skills = list(edited.section("skills"))
    if section is Section.skills:
        return {"levels": [speaker(request)(level) for level in LEVELS]}
    latest: Any = next(reversed(edited.section("questions").values()), {})
    named = part_form.skills_of(latest) if isinstance(latest, dict) and latest else skills if len(skills) == 1 else []
    there = [name for name in named if name in skills]
    return {"difficulty": "medium", "discrimination": "fair", **({"skill": there[0]} if there else {})}


def _free_id(edited: EditedDraft, section: Section, wanted: str = "") -> str:
    """An id that is free: the wanted one with another number, or a letter and the next number."""
    taken = edited.section(section)
    base = wanted.rstrip("0123456789") if wanted else FIRST_LETTER[section]
    first = int(wanted[len(base) :][-6:] or 1) + 1 if wanted else len(taken) + 1
    return next(f"{base[:90]}{number}" for number in count(first) if f"{base[:90]}{number}" not in taken)


def _form(
    request: Request, edited: EditedDraft, section: Section, old: str, written: Written, status: int = 200, **values: Any
) -> Response:
    seen = values.pop("seen", edited.edition.number)
    template = _template(edited, str(written.entry.get("template") or ""))
    form = part_form.skill_form(written.entry) if section is Section.skills else part_form.question_form(written.entry, template)
    names = list(edited.section(section))
    return shown(
        request,
        "skill.html" if section is Section.skills else "question.html",
        edited,
        status,
        section=section.value,
        old=old,
        new=NEW,
        id=written.name,
        levels=_level_rows(written.typed.get("levels", form["levels"])) if section is Section.skills else (),
        form={**form, **{name: value for name, value in written.typed.items() if name in form}},
        is_unsaved=bool(written.typed),
        seen=seen,
        place=names.index(old) + 1 if old in names else None,
        count=len(names),
        classes=classes_of(written.entry, template),
        **{**NO_CONFLICT, "wrong": "", "copy": "", **_live(request, edited, section, old, written), **values},
    )


def _level_rows(levels: str) -> list[str]:
    """The levels of a skill with two rows for more."""
    return [*(one.strip() for one in str(levels).split("|") if one.strip()), "", ""]


def _live(request: Request, edited: EditedDraft, section: Section, old: str, written: Written) -> dict[str, Any]:
    """What the form means as it stands."""
    document = with_part(edited.document, (section, old), None) if old not in (NEW, written.name) else edited.document
    found = meaning(document, section, written.name or "?", written.entry)
    listed = told([*written.problems, *found.problems], speaker(request))
    picture = (
        graph(with_part(document, (section, written.name or "?"), written.entry), speaker(request)) if section is Section.skills else ""
    )
    return {"problems": listed, "meaning": found, "graph": picture, "media": edited.edition.media}


@routes.post("/~preview", name="preview")
def preview(request: Request, draft: int, section: Section, form: Posted) -> Response:
    """What a form means while it is being written; nothing is saved."""
    asked = read(PartFields, form)
    old = asked.old or NEW
    with opened(request, draft) as edited:  # nobody else makes us read a form
        written = _read(edited, asked, _image_name(form, edited.edition.media), section, old)
        live = _live(request, edited, section, old, written)
        return shown(request, "live.html", edited, section=section.value, id=written.name, **live)


@routes.post("/{name:path}", name="write-part")
def write(request: Request, draft: int, section: Section, name: str, form: Posted) -> Response:
    """Save an entry, move it or take it away.

    With faults it is saved too, and they are listed; only what cannot be read at all comes back unsaved.
    """
    if "drop" in form:
        return _drop(request, draft, section, name)
    if "to" in form:
        return _move(request, draft, section, name, read(Place, form).to)
    asked = read(PartFields, form)
    seen, copy = asked.seen, asked.copied
    with opened(request, draft) as edited:  # nobody else makes us read a form
        written = _read(edited, asked, _image_name(form, edited.edition.media), section, name)
        if written.problems or asked.check:
            return _form(request, edited, section, name, written, 400 if written.problems else 200, seen=seen, copy=copy)
    try:
        sent = _image(form)
        drawn = draw_anew({str(written.entry.get("media")): sent.file.read()}) if sent is not None else {}
        with opened(request, draft, writing=True) as edited:
            if drawn:
                drafts.add_images(edited.work, edited.draft, edited.teacher, drawn)
            entry = part_form.normal(edited.document, section, written.name, written.entry)
            made = _save(edited, section, name, Written(written.name, entry), seen)
    except MediaError as error:
        with opened(request, draft) as edited:
            return _form(request, edited, section, name, written, 400, seen=seen, copy=copy, wrong=said(error))
    except TakenError:
        with opened(request, draft) as edited:
            return _taken(request, edited, section, name, written, seen=seen, copy=copy)
    except drafts.ChangedError as error:
        with opened(request, draft) as edited:
            return _form(request, edited, section, name, written, 409, copy=copy, **conflict(error, edited.teacher))
    return saved(request, edited, made, "part", section=section.value, name=NEW if asked.another else written.name)


class TakenError(QuaestorError):
    """An id that another entry has."""


def _taken(request: Request, edited: EditedDraft, section: Section, old: str, written: Written, **values: Any) -> Response:
    """The form with a free id in the place of the one that is taken."""
    free = _free_id(edited, section, written.name)
    words = say("this short name is taken: “{name}”; “{free}” is free and stands in the form now", name=written.name, free=free)
    return _form(request, edited, section, old, replace(written, name=free), 409, wrong=words, **values)


def _save(edited: EditedDraft, section: Section, old: str, written: Written, seen: int) -> Edition:
    """One save: a new entry, a change, or a change with another id."""
    note, path = WROTE[section](written.name), (section, written.name)
    if old == written.name:
        return drafts.change(edited.work, edited.draft, edited.teacher, seen, path, written.entry, note)
    if old != NEW:
        return _rename(edited, section, old, written, seen)

    def add(document: Document, _: Edition) -> Document:
        if part(document, path) not in (None, written.entry):  # the same one may be sent twice
            raise TakenError.at(".".join(path), say("this short name is taken"))
        return with_part(document, path, written.entry)

    return drafts.rewrite(edited.work, edited.draft, edited.teacher, add, note)


def _rename(edited: EditedDraft, section: Section, old: str, written: Written, seen: int) -> Edition:
    """A change with another id: others that name it follow."""
    path = (section, written.name)
    before = part(drafts.document_of(drafts.edition(edited.work, edited.draft, seen)), (section, old))

    def put(document: Document, head: Edition) -> Document:
        if part(document, path) is not None:
            raise TakenError.at(".".join(path), say("this short name is taken"))
        if (there := part(document, (section, old))) != before:
            latest = drafts.last_change(edited.work, edited.draft, seen, head, (section, old))
            raise drafts.ChangedError((section, old), before, there, written.entry, latest)
        return with_part(renamed(document, section, old, written.name), path, written.entry)

    return drafts.rewrite(edited.work, edited.draft, edited.teacher, put, say("{old} is now called {name}", old=old, name=written.name))


def _drop(request: Request, draft: int, section: Section, name: str) -> Response:
    """Take an entry away; an earlier version still has it."""
    with opened(request, draft, writing=True) as edited:
        if part(edited.document, (section, name)) is None:
            raise MissingError(say("there is no such entry"))
        note = say("{name} taken away", name=name)
        made = drafts.rewrite(edited.work, edited.draft, edited.teacher, lambda d, _: with_part(d, (section, name), None), note)
    return saved(request, edited, made, "list-parts", section=section.value)


def _move(request: Request, draft: int, section: Section, name: str, to: int) -> Response:
    """Put an entry at another place."""

    def put(document: Document, _: Edition) -> Document:
        return moved(document, section, name, max(0, to - 1)) if part(document, (section, name)) is not None else document

    with opened(request, draft, writing=True) as edited:
        if part(edited.document, (section, name)) is None:
            raise MissingError(say("there is no such entry"))
        made = drafts.rewrite(edited.work, edited.draft, edited.teacher, put, say("{name} moved to place {place}", name=name, place=to))
    return saved(request, edited, made, "part", section=section.value, name=name)
