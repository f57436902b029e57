"""Writing one question, template or skill: the form, what it means while one writes, and what happens when two write at once."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData

from quaestor.errors import Problem, QuaestorError, placed
from quaestor.i18n import say
from quaestor.store import drafts
from quaestor.store.models import Edition
from quaestor.store.parts import Document, moved, part, renamed, with_part
from quaestor.store.publishing import MissingError
from quaestor.store.texts import line
from quaestor.web import visits
from quaestor.web.lanes import Patient
from quaestor.web.pages import climbs
from quaestor.web.teacher.access import Posted
from quaestor.web.workshop import entries
from quaestor.web.workshop.bench import NO_CONFLICT, Bench, conflict, opened, saved, shown, speaker, whole
from quaestor.web.workshop.check import graph, meaning
from quaestor.web.workshop.options import classes_of
from quaestor.web.workshop.vocabulary import LEVELS, told
from quaestor.web.workshop.vocabulary import written as in_file

routes = APIRouter(prefix="/desk/drafts/{draft}/{section}", route_class=Patient)
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


@dataclass
class Written:
    """What a form said: the id, the entry, what cannot be read in it, and the form's fields as they were typed."""

    name: str
    entry: entries.Entry
    problems: list[Problem] = field(default_factory=list)
    typed: dict[str, Any] = field(default_factory=dict)


def _read(request: Request, bench: Bench, form: FormData, section: Section, old: str) -> Written:
    fields = {key: in_file(key, value) for key, value in form.items() if isinstance(value, str)}
    name = line(visits.field(form, "id"), 100)
    before = _before(bench, form, section, old)
    if section is Section.skills:
        parents = _texts(form, "parents")
        entry, problems = entries.read_skill(fields, parents, before)
        typed: dict[str, Any] = {**fields, "parents": parents}
    else:
        rows, skills, template = _rows(form), _texts(form, "skills"), _template(bench, fields.get("template", ""))
        entry, problems = entries.read_question(fields, rows, skills, template, before)
        typed = {**fields, "skills": skills, "pilot": bool(fields.get("pilot"))}
        typed["options"] = entries.typed_rows(rows, entry, template, before)
    if not name or name.startswith("~") or climbs(name):
        problems.append(Problem("id", say("each has a short name of its own"), f"'{name}'"))
    return Written(name, entry, problems, typed)


def _rows(form: FormData) -> list[tuple[str, str | bool]]:
    """Options as a form has them: with a class chosen for each, or with ticks at the right ones."""
    texts, groups, ticked = _texts(form, "option"), _texts(form, "group_of"), set(_texts(form, "is_right"))
    if groups:
        return list(zip(texts, groups, strict=False))
    return [(text, str(place) in ticked) for place, text in enumerate(texts)]


def _before(bench: Bench, form: FormData, section: Section, old: str) -> entries.Entry:
    """The entry that the form showed: as it was in the edition that was seen, or the one that a new one was copied from."""
    seen = drafts.seen_document(bench.work, bench.draft, whole(visits.field(form, "seen")))
    found = part(seen, (section, visits.field(form, "copy") if old == NEW else old))
    return found if isinstance(found, dict) else {}


def _template(bench: Bench, name: str) -> entries.Entry:
    found = part(bench.document, ("templates", name)) if name else None
    return found if isinstance(found, dict) else {}


def _texts(form: FormData, name: str) -> list[str]:
    return [value for value in form.getlist(name) if isinstance(value, str)]


@routes.get("/{name:path}", name="part")
def show(request: Request, draft: int, section: Section, name: str, copy: str = "") -> Response:
    """The form of an entry, of a new one, or of a copy."""
    with opened(request, draft) as bench:
        if name == NEW:
            copied = part(bench.document, (section, copy)) if copy else None
            entry = copied if isinstance(copied, dict) else _fresh(request, bench, section)
            return _form(request, bench, section, NEW, Written(_free_id(bench, section), entry), copy=copy)
        entry = part(bench.document, (section, name))
        if not isinstance(entry, dict) or climbs(name):  # the address of its form could be that of another one
            raise MissingError(say("there is no such entry"))
        return _form(request, bench, section, name, Written(name, entry))


def _fresh(request: Request, bench: Bench, section: Section) -> entries.Entry:
    skills = list(bench.section("skills"))
    if section is Section.skills:
        return {"levels": [speaker(request)(level) for level in LEVELS]}
    return {"difficulty": "medium", "discrimination": "fair", **({"skill": skills[0]} if len(skills) == 1 else {})}


def _free_id(bench: Bench, section: Section, wanted: str = "") -> str:
    """An id that is free: the wanted one with another number, or the next number of the questions; none for a first skill."""
    taken = bench.section(section)
    base = wanted.rstrip("0123456789") if wanted else "Q" if section is Section.questions else ""
    first = int(wanted[len(base) :][-6:] or 1) + 1 if wanted else len(taken) + 1
    return next(f"{base[:90]}{number}" for number in count(first) if f"{base[:90]}{number}" not in taken) if base or wanted else ""


def _form(request: Request, bench: Bench, section: Section, old: str, written: Written, status: int = 200, **values: Any) -> Response:
    seen = values.pop("seen", bench.edition.number)
    template = _template(bench, str(written.entry.get("template") or ""))
    form = entries.skill_form(written.entry) if section is Section.skills else entries.question_form(written.entry, template)
    names = list(bench.section(section))
    return shown(
        request,
        "skill.html" if section is Section.skills else "question.html",
        bench,
        status,
        section=section.value,
        old=old,
        new=NEW,
        id=written.name,
        form={**form, **{name: value for name, value in written.typed.items() if name in form}},
        is_unsaved=bool(written.typed),
        seen=seen,
        place=names.index(old) + 1 if old in names else None,
        count=len(names),
        classes=classes_of(written.entry, template),
        **{**NO_CONFLICT, "wrong": "", "copy": "", **_live(request, bench, section, old, written), **values},
    )


def _live(request: Request, bench: Bench, section: Section, old: str, written: Written) -> dict[str, Any]:
    """What the form means as it stands."""
    document = with_part(bench.document, (section, old), None) if old not in (NEW, written.name) else bench.document
    found = meaning(document, section, written.name or "?", written.entry)
    listed = told([*written.problems, *found.problems], speaker(request))
    picture = (
        graph(with_part(document, (section, written.name or "?"), written.entry), speaker(request)) if section is Section.skills else ""
    )
    return {"problems": listed, "meaning": found, "graph": picture, "media": bench.edition.media}


@routes.post("/~preview", name="preview")
def preview(request: Request, draft: int, section: Section, form: Posted) -> Response:
    """What a form means while it is being written; nothing is saved."""
    old = visits.field(form, "old") or NEW
    with opened(request, draft) as bench:  # nobody else makes us read a form
        written = _read(request, bench, form, section, old)
        live = _live(request, bench, section, old, written)
        return shown(request, "live.html", bench, section=section.value, id=written.name, **live)


@routes.post("/{name:path}", name="write-part")
def write(request: Request, draft: int, section: Section, name: str, form: Posted) -> Response:
    """Save an entry, move it or take it away.

    With faults it is saved too, and they are listed; only what cannot be read at all comes back unsaved.
    """
    if "drop" in form:
        return _drop(request, draft, section, name)
    if "to" in form:
        return _move(request, draft, section, name, visits.field(form, "to"))
    seen, copy = whole(visits.field(form, "seen")), visits.field(form, "copy")
    with opened(request, draft) as bench:  # nobody else makes us read a form
        written = _read(request, bench, form, section, name)
        if written.problems or "check" in form:
            return _form(request, bench, section, name, written, 400 if written.problems else 200, seen=seen, copy=copy)
    try:
        with opened(request, draft, writing=True) as bench:
            entry = entries.normal(bench.document, section, written.name, written.entry)
            made = _save(bench, section, name, Written(written.name, entry), seen)
    except TakenError:
        with opened(request, draft) as bench:
            return _taken(request, bench, section, name, written, seen=seen, copy=copy)
    except drafts.ChangedError as error:
        with opened(request, draft) as bench:
            return _form(request, bench, section, name, written, 409, copy=copy, **conflict(error, bench.teacher))
    return saved(request, bench, made, "part", section=section.value, name=NEW if "another" in form else written.name)


class TakenError(QuaestorError):
    """An id that another entry has."""


def _taken(request: Request, bench: Bench, section: Section, old: str, written: Written, **values: Any) -> Response:
    """The form with a free id in the place of the one that is taken."""
    free = _free_id(bench, section, written.name)
    words = say("this short name is taken: “{name}”; “{free}” is free and stands in the form now", name=written.name, free=free)
    return _form(request, bench, section, old, replace(written, name=free), 409, wrong=words, **values)


def _save(bench: Bench, section: Section, old: str, written: Written, seen: int) -> Edition:
    """One save: a new entry, a change, or a change with another id."""
    note, path = WROTE[section](written.name), (section, written.name)
    if old == written.name:
        return drafts.change(bench.work, bench.draft, bench.teacher, seen, path, written.entry, note)
    if old != NEW:
        return _rename(bench, section, old, written, seen)

    def add(document: Document, _: Edition) -> Document:
        if part(document, path) not in (None, written.entry):  # the same one may be sent twice
            raise TakenError(placed(".".join(path), say("this short name is taken")))
        return with_part(document, path, written.entry)

    return drafts.rewrite(bench.work, bench.draft, bench.teacher, add, note)


def _rename(bench: Bench, section: Section, old: str, written: Written, seen: int) -> Edition:
    """A change with another id: others that name it follow."""
    path = (section, written.name)
    before = part(drafts.document_of(drafts.edition(bench.work, bench.draft, seen)), (section, old))

    def put(document: Document, head: Edition) -> Document:
        if part(document, path) is not None:
            raise TakenError(placed(".".join(path), say("this short name is taken")))
        if (there := part(document, (section, old))) != before:
            latest = drafts.last_change(bench.work, bench.draft, seen, head, (section, old))
            raise drafts.ChangedError((section, old), before, there, written.entry, latest)
        return with_part(renamed(document, section, old, written.name), path, written.entry)

    return drafts.rewrite(bench.work, bench.draft, bench.teacher, put, say("{old} is now called {name}", old=old, name=written.name))


def _drop(request: Request, draft: int, section: Section, name: str) -> Response:
    """Take an entry away; an earlier version still has it."""
    with opened(request, draft, writing=True) as bench:
        if part(bench.document, (section, name)) is None:
            raise MissingError(say("there is no such entry"))
        note = say("{name} taken away", name=name)
        made = drafts.rewrite(bench.work, bench.draft, bench.teacher, lambda d, _: with_part(d, (section, name), None), note)
    return saved(request, bench, made, "list-parts", section=section.value)


def _move(request: Request, draft: int, section: Section, name: str, to: str) -> Response:
    """Put an entry at another place."""

    def put(document: Document, _: Edition) -> Document:
        return moved(document, section, name, max(0, whole(to) - 1)) if part(document, (section, name)) is not None else document

    with opened(request, draft, writing=True) as bench:
        if part(bench.document, (section, name)) is None:
            raise MissingError(say("there is no such entry"))
        made = drafts.rewrite(bench.work, bench.draft, bench.teacher, put, say("{name} moved to place {place}", name=name, place=to[:9]))
    return saved(request, bench, made, "part", section=section.value, name=name)
