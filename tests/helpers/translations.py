"""`make translations`: every message of the sources, and the catalogues of all languages brought up to date with them.

A message is the pattern of a `say`, the text of a `t` in a template, or a name of the bank file that forms and lists show; those that are
numbers, names and signs alone need no other words, and words that authors write into bank files have theirs in `bankfile/words.py`. Babel
finds and writes them. A message whose English was changed keeps its translation,
marked as fuzzy, until somebody has looked at it; one that nobody says any more is taken out. `LANGUAGE=it` begins another language.
"""

import ast
import re
import string
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from helpers.paths import SOURCE
from quaestor.bankfile.schema import BANK_FIELDS, QUESTION_FIELDS, SKILL_FIELDS
from quaestor.bankfile.words import ELSEWHERE
from quaestor.web.editor.vocabulary import LEVELS
from quaestor.web.render.language import LANGUAGES

WEB = SOURCE / "web"
FOLDER = WEB / "locale"
TEMPLATE = FOLDER / "quaestor.pot"
OURS = ("api/", "cat/", "operations/", "settings.py", "render/problems.py")  # programs and who starts the server read English
CALLS = {"say": 0, "translate": 1}  # functions, and which of their arguments is the message
HEADER = """\
Quaestor in {language}; read by src/quaestor/web/render/language.py, brought up to date by `make translations`.
How to add a language, and what to know: docs/how-to/add-a-language.md"""
CHANGING = re.compile(r'^"(?:POT-Creation-Date|PO-Revision-Date|Report-Msgid|Last-Translator|Language-Team|Generated-By)\b.*\n', re.M)


def sentences(file: Any, keywords: Any, comment_tags: Any, options: Any) -> Iterator[tuple[int, str, str, list[str]]]:
    """An extractor for Babel: what `say` says, wherever it stands. (Babel's own does not look into calls inside of calls.)"""
    for call in ast.walk(ast.parse(file.read())):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in CALLS:
            for said in call.args[CALLS[call.func.id] :][:1]:
                if isinstance(said, ast.Constant) and isinstance(said.value, str):
                    yield call.lineno, call.func.id, said.value, []


def sources() -> list[Path]:
    """The Python files and templates whose words people read in their own language."""
    python = [path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[:1] != ("web",) or not _is_ours(path)]
    return sorted([*python, *(WEB / "templates").rglob("*.html")])


def _is_ours(path: Path) -> bool:
    return path.relative_to(WEB).as_posix().startswith(OURS)


@cache
def messages() -> dict[str, list[str]]:
    """Every message, with the files in which it stands."""
    found: dict[str, list[str]] = {}
    for path in sources():
        place = path.relative_to(SOURCE).as_posix()
        way, keywords = (babel_extract, ("t",)) if path.suffix == ".html" else (sentences, tuple(CALLS))
        for _, text, _, _ in extract(way, BytesIO(path.read_bytes()), dict.fromkeys(keywords), (), {}):
            _note(found, str(text), place)
    for name in (*BANK_FIELDS, *QUESTION_FIELDS, *SKILL_FIELDS, *LEVELS):
        _note(found, name, "bankfile/schema.py")
    written = {word for words in ELSEWHERE.values() for word in words}
    ordered = sorted(found, key=lambda text: (found[text][0], text.casefold(), text))
    return {text: found[text] for text in ordered if has_words(text) and text not in written}


def _note(found: dict[str, list[str]], text: str, place: str) -> None:
    places = found.setdefault(text, [])
    if place not in places:
        places.append(place)


def has_words(pattern: str) -> bool:
    """Whether a pattern has anything that another language says in another way: letters or quotes, also in the forms of a plural."""
    shown = [words + (form if "|" in (form or "") else "") for words, _, form, _ in string.Formatter().parse(pattern)]
    return any(letter.isalpha() or letter in "“”'" for letter in "".join(shown))


def names(pattern: str) -> set[tuple[str, str, str | None]]:
    """The names of a pattern with their formats; where a plural stands is each language's own matter."""
    parts = [part[1:] for part in string.Formatter().parse(pattern) if part[1] is not None]
    return {(name or "", form or "", change) for name, form, change in parts if "|" not in (form or "")}


def plurals(pattern: str) -> list[tuple[str, list[str]]]:
    """The words of a pattern that go with a number: its name, and their forms."""
    return [(name or "", form.split("|")) for _, name, form, _ in string.Formatter().parse(pattern) if "|" in (form or "")]


def catalogue_file(language: str) -> Path:
    """The catalogue of a language."""
    return FOLDER / language / "LC_MESSAGES" / "quaestor.po"


def template() -> Catalog:
    """An empty catalogue of all messages."""
    made = Catalog(project="Quaestor", version="0", copyright_holder="The Quaestor authors", charset="utf-8", fuzzy=False)
    made.header_comment = "# " + HEADER.format(language="no language yet").replace("\n", "\n# ")
    for text, places in messages().items():
        made.add(text, locations=[(place, 0) for place in places])
    return made


def read(language: str) -> Catalog:
    """The catalogue of a language as it is kept; an empty one where there is none yet."""
    if not catalogue_file(language).is_file():
        return Catalog(locale=language)
    with catalogue_file(language).open("rb") as content:
        return read_po(content, locale=language)


def brought_up_to_date(language: str) -> Catalog:
    """The catalogue of a language with exactly the messages of the sources; what is like a former one is fuzzy."""
    kept, wanted = read(language), template()
    kept.update(wanted)
    kept.project, kept.version, kept.fuzzy = wanted.project, wanted.version, False
    kept.header_comment = "# " + HEADER.format(language=kept.locale.english_name if kept.locale else language).replace("\n", "\n# ")
    return kept


def missing(kept: Catalog) -> list[str]:
    """The messages that have no words."""
    return [str(one.id) for one in kept if one.id and not one.string]


def fuzzy(kept: Catalog) -> list[str]:
    """The messages whose English was changed since."""
    return [str(one.id) for one in kept if one.id and one.string and one.fuzzy]


def unused(kept: Catalog, wanted: Iterable[str]) -> list[str]:
    """The messages that no source says."""
    known = set(wanted)
    return [str(one.id) for one in kept if one.id and one.id not in known]


def write(made: Catalog, file: Path) -> None:
    """A catalogue as a file, a message a line, without what would change every time."""
    buffer = BytesIO()
    write_po(buffer, made, width=0, include_lineno=False, ignore_obsolete=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CHANGING.sub("", buffer.getvalue().decode("utf-8")), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Write the template and the catalogues, and say what is left to do."""
    write(template(), TEMPLATE)
    print(f"{len(messages())} messages")  # noqa: T201
    for language in dict.fromkeys([*(one for one in LANGUAGES if one != "en"), *arguments]):
        before, kept = read(language), brought_up_to_date(language)
        gone = unused(before, messages())
        write(kept, catalogue_file(language))
        for what, found in (("missing", missing(kept)), ("fuzzy", fuzzy(kept)), ("no longer used, taken out", gone)):
            print(f"{language}: {len(found)} {what}", *(f"    {text}" for text in found), sep="\n")  # noqa: T201
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
