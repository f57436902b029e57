"""Forms as Google's Forms API gives them: JSON with `items`; those with a `questionItem` are questions and may have a `grading`."""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from quaestor.formats import json_text
from quaestor.formats.exchange import keys, marking
from quaestor.formats.exchange.encoding import decoded
from quaestor.formats.exchange.imported import Collection, Fields, Imported
from quaestor.formats.exchange.json_forms import as_map, as_maps, parsed, word
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
    found = parsed(data, "items")
    return isinstance(found.get("items"), list) and bool({"formId", "info"} & found.keys())


def read(data: bytes, name: str) -> Imported:
    """The questions of a form."""
    form = json_text.parse(decoded(data)[0])
    found = Collection(str(as_map(form.get("info")).get("title") or PurePath(name).stem))
    for number, item in enumerate(form["items"], 1):
        place, notes = say("item {number}", number=number), list[str]()
        title = word(as_map(item), "title") or word(as_map(item), "itemId")
        try:
            fields = _question(as_map(item), notes)
        except Refused as refusal:
            found.refuse(title, place, said(refusal))
        else:
            found.add(title, fields, place, notes)
    return found.finished()


def _question(item: Mapping[str, Any], notes: list[str]) -> Fields:
    question = as_map(as_map(item.get("questionItem")).get("question"))
    other = next((words for key, words in {**_OTHER_ITEMS, **_OTHER_QUESTIONS}.items() if key in item or key in question), None)
    if other is not None or not question:
        raise Refused(say("{what} cannot be marked here", what=other or say("a text without a question")))
    parts = [word(item, "title"), word(item, "description")]
    text = line_starts(prose_of("\n\n".join(part for part in parts if part)))
    if not text:
        raise Refused(say("the question has no text"))
    grading = as_map(question.get("grading"))
    right = [word(answer, "value") for answer in as_maps(as_map(grading.get("correctAnswers")).get("answers"))]
    _tell_losses(item, question, grading, notes)
    return {"text": text, **_key(question, [value for value in right if value], notes)}


def _key(question: Mapping[str, Any], right: list[str], notes: list[str]) -> Fields:
    if "textQuestion" in question:
        if as_map(question["textQuestion"]).get("paragraph") is True:
            raise Refused(say("{what} cannot be marked here", what=say("an essay")))
        if not right:
            raise Refused(say("nothing tells which answer is right"))
        return marking.typed(right, notes)
    choice = as_map(question.get("choiceQuestion"))
    if not choice:
        names = ", ".join(key for key in question if key.endswith("Question"))
        raise Refused(say("{what} cannot be marked here", what=names or say("a text without a question")))
    if not right:
        raise Refused(say("nothing tells which answer is right"))
    options = as_maps(choice.get("options"))
    if any(option.get("isOther") for option in options):
        notes.append(say("the option to write something else was left out"))
    if choice.get("shuffle") is True:
        notes.append(keys.SHUFFLED)
    if any("image" in option for option in options):
        notes.append(say("pictures of options were left out"))
    texts = [word(option, "value") for option in options if not option.get("isOther")]
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
    if "image" in (shown := as_map(item.get("questionItem"))):
        name = word(as_map(shown["image"]), "sourceUri")[:80]
        notes.append(say("a picture that is only linked was left out: {name}", name=name))
