"""What a form for names holds, as it was sent, and what is told of the names that were taken."""

from typing import Any

from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from quaestor.errors import QuaestorError
from quaestor.formats.name_lists import from_file, pasted
from quaestor.formats.oneroster import Roster
from quaestor.i18n import listed, say, together
from quaestor.store.classes.class_lists import sort_names
from quaestor.web.render.pages import database
from quaestor.web.security import uploads
from quaestor.web.security.forms import Filled, Form, read, wrong_in
from quaestor.web.teacher import access


class Names(Form):
    """Names, one a line."""

    names: str = ""


def sent(form: FormData) -> list[str] | Roster:
    """The names of a form, pasted and of a file; or the classes of a OneRoster file."""
    names, file = pasted(read(Names, form).names), form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return names
    ending, content = file.filename.lower().rpartition(".")[2], file.file.read()
    if ending == "zip":
        return uploads.read_classes(content)
    return names + (uploads.read_names(content) if ending == "xlsx" else from_file(file.filename, content))


def names_in(form: FormData) -> list[str]:
    """The names of a form for one class."""
    found = sent(form)
    if isinstance(found, Roster):
        raise QuaestorError(say("a OneRoster file has several classes; send it on the page of all classes"))
    return found


def tried(request: Request, number: int, names: str) -> Filled:
    """Names, one a line, that a test did not take, and why, found by trying once more."""
    with database(request).read() as work:
        _, test = access.reach_test(request, work, number)
        try:
            sort_names(work, test.class_id, pasted(names))
        except QuaestorError as error:
            return Filled({"names": names}, wrong_in(error, Names, "names"))
    return Filled({"names": names})


def told(note: dict[str, Any]) -> str:
    """What became of names that were taken."""
    added, known, some = note.get("added"), note.get("known"), note.get("some")
    if not isinstance(added, int) or not isinstance(known, int) or not isinstance(some, list):
        return ""
    words = [say("{count} {count:name was|names were} added to the class list.", count=added)]
    if known:
        named = [str(one) for one in some] + ([say("{count} more", count=known - len(some))] if known > len(some) else [])
        words.append(
            say(
                "{count} {count:name was|names were} on the list already and {count:was|were} not added again: {names}.",
                count=known,
                names=listed(named),
            )
        )
    return together(words)
