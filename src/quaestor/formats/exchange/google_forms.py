"""Forms as Google's Forms API gives them: JSON with `items`; those with a `questionItem` are questions and may have a `grading`."""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from quaestor.errors import BankError
from quaestor.formats import json_text
from quaestor.formats.exchange import keys, marking
from quaestor.formats.exchange.encoding import decoded
from quaestor.formats.exchange.imported import Collection, Fields, Imported
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.i18n import said, say

_OTHER_ITEMS = {
    "questionGroupItem": say("a grid of questions"),
    "pageBreakItem": say("a page break"),
    "textItem": say("a text without a question"),
    "imageItem": say("a picture without a question"),
    "videoItem": say("a video"),
}
_OTHER_QUESTIONS = {
    "scaleQuestion": say("a scale"),
    "ratingQuestion": say("a scale"),
    "dateQuestion": say("a date"),
    "timeQuestion": say("a time"),
    "fileUploadQuestion": say("a file to hand in"),
}


def recognise(data: bytes, name: str) -> bool:
    """Whether this is JSON with the items of a form."""
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or b'"items"' not in data:
        return False
    try:
        found = json_text.parse(decoded(data)[0])
    except BankError:
        return False
    return isinstance(found, dict) and isinstance(found.get("items"), list) and bool({"formId", "info"} & found.keys())


def read(data: bytes, name: str) -> Imported:
    """The questions of a form."""
    form = json_text.parse(decoded(data)[0])
    found = Collection(str(_map(form.get("info")).get("title") or PurePath(name).stem))
    for number, item in enumerate(form["items"], 1):
        place, notes = say("item {number}", number=number), list[str]()
        title = _word(_map(item), "title") or _word(_map(item), "itemId")
        try:
            fields = _question(_map(item), notes)
        except Refused as refusal:
            found.refuse(title, place, said(refusal))
        else:
            found.add(title, fields, place, notes)
    return found.finished()


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [_map(one) for one in value] if isinstance(value, list) else []


def _word(holder: Mapping[str, Any], name: str) -> str:
    value = holder.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def _question(item: Mapping[str, Any], notes: list[str]) -> Fields:
    question = _map(_map(item.get("questionItem")).get("question"))
    other = next((words for key, words in {**_OTHER_ITEMS, **_OTHER_QUESTIONS}.items() if key in item or key in question), None)
    if other is not None or not question:
        raise Refused(say("{what} cannot be marked here", what=other or say("a text without a question")))
    parts = [_word(item, "title"), _word(item, "description")]
    text = line_starts(prose_of("\n\n".join(part for part in parts if part)))
    if not text:
        raise Refused(say("the question has no text"))
    grading = _map(question.get("grading"))
    right = [_word(answer, "value") for answer in _list(_map(grading.get("correctAnswers")).get("answers"))]
    _tell_losses(item, question, grading, notes)
    return {"text": text, **_key(question, [value for value in right if value], notes)}


def _key(question: Mapping[str, Any], right: list[str], notes: list[str]) -> Fields:
    if "textQuestion" in question:
        if _map(question["textQuestion"]).get("paragraph") is True:
            raise Refused(say("{what} cannot be marked here", what=say("an essay")))
        if not right:
            raise Refused(say("nothing tells which answer is right"))
        return marking.typed(right, notes)
    choice = _map(question.get("choiceQuestion"))
    if not choice:
        names = ", ".join(key for key in question if key.endswith("Question"))
        raise Refused(say("{what} cannot be marked here", what=names or say("a text without a question")))
    if not right:
        raise Refused(say("nothing tells which answer is right"))
    options = _list(choice.get("options"))
    if any(option.get("isOther") for option in options):
        notes.append(say("the option to write something else was left out"))
    if choice.get("shuffle") is True:
        notes.append(keys.SHUFFLED)
    if any("image" in option for option in options):
        notes.append(say("pictures of options were left out"))
    texts = [_word(option, "value") for option in options if not option.get("isOther")]
    missing = next((value for value in right if value not in texts), None)
    if missing is not None:
        raise Refused(say("the right answer {value} is none of the options", value=json.dumps(missing, ensure_ascii=False)))
    return marking.choice([(prose_of(text), text in right) for text in texts], choice.get("type") == "CHECKBOX", notes)


def _tell_losses(item: Mapping[str, Any], question: Mapping[str, Any], grading: Mapping[str, Any], notes: list[str]) -> None:
    points = str(grading.get("pointValue", "1"))
    if points != "1":
        notes.append(say("it counts {points} points there; here all questions count alike", points=points[:20]))
    if {"whenRight", "whenWrong", "generalFeedback"} & grading.keys():
        notes.append(keys.FEEDBACK)
    if "image" in _map(item.get("questionItem")):
        notes.append(
            say("a picture that is only linked was left out: {name}", name=_word(_map(item["questionItem"].get("image")), "sourceUri")[:80])
        )
