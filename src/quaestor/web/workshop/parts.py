"""Writing one question, template or skill: the form, what it means while one writes, and what happens when two write at once."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData

from quaestor.errors import Problem
from quaestor.saying import say
from quaestor.store import drafts
from quaestor.store.models import Edition
from quaestor.store.parts import Document, moved, part, renamed, with_part
from quaestor.store.publishing import MissingError
from quaestor.store.texts import line
from quaestor.web import visits
from quaestor.web.desk.access import Posted, signed_in
from quaestor.web.pages import climbs, database, go
from quaestor.web.workshop import entries
from quaestor.web.workshop.bench import Bench, opened, shown, speaker
from quaestor.web.workshop.check import graph, meaning
from quaestor.web.workshop.vocabulary import LEVELS, told
from quaestor.web.workshop.vocabulary import written as in_file

routes = APIRouter(prefix="/desk/drafts/{draft}/{section}")
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
    """What a form said: the id, the entry, what cannot be read in it."""

    name: str
    entry: entries.Entry
    problems: list[Problem] = field(default_factory=list)


def _read(request: Request, form: FormData, section: Section) -> Written:
    fields = {key: in_file(key, value, speaker(request)) for key, value in form.items() if isinstance(value, str)}
    name = line(visits.field(form, "id"), 100)
    if section is Section.skills:
        entry, problems = entries.read_skill(fields, _texts(form, "parents"))
    else:
        texts, groups, ticked = _texts(form, "option"), _texts(form, "group_of"), set(_texts(form, "is_right"))
        rows = [
            (text.strip(), groups[place] if groups else "right" if str(place) in ticked else "wrong")
            for place, text in enumerate(texts)
            if not groups or place < len(groups)
        ]
        entry, problems = entries.read_question(fields, rows, _texts(form, "skills"))
    if not name or name.startswith("~") or climbs(name):
        problems.append(Problem("id", say("each has a short name of its own"), f"'{name}'"))
    return Written(name, entry, problems)


def _texts(form: FormData, name: str) -> list[str]:
    return [value for value in form.getlist(name) if isinstance(value, str)]


@routes.get("/{name:path}", name="part")
def show(request: Request, draft: int, section: Section, name: str, copy: str = "") -> Response:
    """The form of an entry, of a new one, or of a copy."""
    with opened(request, draft) as bench:
        if name == NEW:
            entry = part(bench.document, (section, copy)) if copy else _fresh(request, bench, section)
            return _form(request, bench, section, NEW, Written(_free_id(bench, section), entry or {}))
        entry = part(bench.document, (section, name))
        if not isinstance(entry, dict) or climbs(name):  # the address of its form could be that of another one
            raise MissingError(say("there is no such entry"))
        return _form(request, bench, section, name, Written(name, entry))


def _fresh(request: Request, bench: Bench, section: Section) -> entries.Entry:
    skills = list(bench.section("skills"))
    if section is Section.skills:
        return {"levels": [speaker(request)(level) for level in LEVELS]}
    return {"difficulty": "medium", "discrimination": "fair", **({"skill": skills[0]} if len(skills) == 1 else {})}


def _free_id(bench: Bench, section: Section) -> str:
    if section is not Section.questions:
        return ""
    taken = bench.section("questions")
    return next(f"Q{number}" for number in range(len(taken) + 1, 2 * len(taken) + 3) if f"Q{number}" not in taken)


def _form(request: Request, bench: Bench, section: Section, old: str, written: Written, status: int = 200, **values: Any) -> Response:
    seen = values.pop("seen", bench.edition.number)
    form = entries.skill_form(written.entry) if section is Section.skills else entries.question_form(written.entry)
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
        form=form,
        seen=seen,
        place=names.index(old) + 1 if old in names else None,
        count=len(names),
        classes=_classes(bench, written.entry),
        **{"conflict": [], "by": None, **_live(request, bench, section, old, written), **values},
    )


def _classes(bench: Bench, entry: entries.Entry) -> list[str]:
    """The answer classes of an entry, its template's where it has none; worst first."""
    template = part(bench.document, ("templates", str(entry.get("template", ""))))
    found = entry.get("classes") or (template.get("classes") if isinstance(template, dict) else None)
    return [str(one) for one in found] if isinstance(found, list) and len(found) > 1 else ["wrong", "right"]


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
        written = _read(request, form, section)
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
    with database(request).read() as work:
        signed_in(request, work)  # nobody else makes us read a form
    written = _read(request, form, section)
    seen = _number(visits.field(form, "seen"))
    if written.problems or "check" in form:
        with opened(request, draft) as bench:
            return _form(request, bench, section, name, written, 400 if written.problems else 200, seen=seen)
    try:
        with opened(request, draft, writing=True) as bench:
            entry = entries.normal(bench.document, section, written.name, written.entry)
            _save(bench, section, name, Written(written.name, entry), seen)
    except drafts.ChangedError as error:
        with opened(request, draft) as bench:
            return _form(request, bench, section, name, written, 409, conflict=_conflict(error), by=error.by)
    if "another" in form:
        return go(request, "part", draft=draft, section=section.value, name=NEW)
    return go(request, "part", draft=draft, section=section.value, name=written.name)


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 9 else 0


def _save(bench: Bench, section: Section, old: str, written: Written, seen: int) -> Edition:
    """One save: a new entry, a change, or a change with another id."""
    note = WROTE[section](written.name)
    if old in (NEW, written.name):
        return drafts.change(bench.work, bench.draft, bench.teacher, seen, (section, written.name), written.entry, note)
    before = part(drafts.document_of(drafts.edition(bench.work, bench.draft, seen)), (section, old))

    def put(document: Document, head: Edition) -> Document:
        there, taken = part(document, (section, old)), part(document, (section, written.name))
        if there != before or taken is not None:
            raise drafts.ChangedError((section, written.name), before, taken if taken is not None else there, written.entry, head)
        return with_part(renamed(document, section, old, written.name), (section, written.name), written.entry)

    return drafts.rewrite(bench.work, bench.draft, bench.teacher, put, say("{old} is now called {name}", old=old, name=written.name))


def _conflict(error: drafts.ChangedError) -> list[tuple[str, Any, Any]]:
    """The fields in which what is there differs from what was to be written: the field, theirs, mine."""
    there, wanted = error.there or {}, error.wanted or {}
    return [(name, there.get(name), wanted.get(name)) for name in dict.fromkeys([*wanted, *there]) if there.get(name) != wanted.get(name)]


def _drop(request: Request, draft: int, section: Section, name: str) -> Response:
    """Take an entry away; an earlier version still has it."""
    with opened(request, draft, writing=True) as bench:
        if part(bench.document, (section, name)) is None:
            raise MissingError(say("there is no such entry"))
        drafts.rewrite(
            bench.work, bench.draft, bench.teacher, lambda d, _: with_part(d, (section, name), None), say("{name} taken away", name=name)
        )
    return go(request, "list-parts", draft=draft, section=section.value)


def _move(request: Request, draft: int, section: Section, name: str, to: str) -> Response:
    """Put an entry at another place."""

    def put(document: Document, _: Edition) -> Document:
        return moved(document, section, name, max(0, _number(to) - 1)) if part(document, (section, name)) is not None else document

    with opened(request, draft, writing=True) as bench:
        if part(bench.document, (section, name)) is None:
            raise MissingError(say("there is no such entry"))
        drafts.rewrite(bench.work, bench.draft, bench.teacher, put, say("{name} moved to place {place}", name=name, place=to[:9]))
    return go(request, "part", draft=draft, section=section.value, name=name)
