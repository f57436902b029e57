"""Items of QTI 1.2, as Canvas, Respondus and text2qti write them.

There is no declared key: what is right follows from the conditions that score responses. A response is a choice (`response_lid`) or
something typed (`response_str`, `response_num`); several choices in one item are a matching question or gaps in a text, in which Canvas
writes a gap as `[name]`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from quaestor.errors import format_value
from quaestor.formats.exchange import keys, marking
from quaestor.formats.exchange.credit import PARTS, in_halves
from quaestor.formats.exchange.html import Keep, Prose, from_html
from quaestor.formats.exchange.imported import Fields
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.markdown import line_starts, prose_of
from quaestor.formats.exchange.qti.conditions import Scoring, is_endless, named, ranges, score, scorings
from quaestor.formats.exchange.xml import Element
from quaestor.i18n import say

_UNKEPT = {
    "essay_question": say("an essay"),
    "file_upload_question": say("a file to hand in"),
    "text_only_question": say("a text without a question"),
    "calculated_question": say("a formula with numbers drawn at random"),
    "cc.essay.v0p1": say("an essay"),
}
_MATCHING = ("matching_question",)
_TYPED_GAPS = ("fill_in_multiple_blanks_question",)
_RESPONSES = ("response_lid", "response_str", "response_num")
_OTHER_RESPONSES = ("response_xy", "response_grp", "response_extension")
_OTHER_RENDERING = ("render_hotspot", "render_slider", "render_extension")
MOST_STEPS = 1_000_000  # conditions times options
_NUMBERS = ("decimal", "integer", "scientific")


@dataclass(frozen=True)
class Response:
    """One thing to answer: its name, whether it is typed, several may be chosen or it is a number; the texts of its labels by name."""

    name: str
    is_typed: bool
    is_several: bool
    is_number: bool
    title: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class _Reader:
    """What an item needs to be read: where pictures are kept, and the notes so far."""

    keep: Keep
    notes: list[str]
    sounds: list[str]

    def prose(self, materials: list[Element], is_line: bool) -> str:
        """The texts and pictures of materials."""
        parts = []
        for material in (one for each in materials for one in each.walk()):
            if material.tag == "mattext":
                is_html = "html" in material.attributes.get("texttype", "text/plain").lower()
                parts.append(self._told(from_html(material.text, self.keep, is_line)) if is_html else _plain(material.text, is_line))
            elif material.tag in ("matimage", "mataudio"):
                address = material.attributes.get("uri", "")
                tag = "img" if material.tag == "matimage" else "audio"
                parts.append(self._told(from_html(f'<{tag} src="{_attribute(address)}">', self.keep, is_line)))
            elif material.tag in ("matvideo", "matapplet", "matapplication", "matemtext"):
                self.notes.append(say("{what} cannot be kept: it was left out", what=f"<{material.tag}>"))
        return (" " if is_line else "\n\n").join(part for part in parts if part)

    def _told(self, prose: Prose) -> str:
        text = str(prose)
        self.notes.extend(prose.notes)
        self.sounds.extend(prose.sounds)
        return text


def _plain(text: str, is_line: bool) -> str:
    return prose_of(" ".join(text.split())) if is_line else line_starts(prose_of(text.strip()))


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


def read_item(item: Element, keep: Keep, notes: list[str]) -> Fields:
    """The fields of an item; a Refused where it cannot be a question. `notes` gets what is lost."""
    kind = metadata(item).get("question_type") or metadata(item).get("cc_profile", "")
    if kind in _UNKEPT:
        raise Refused(say("{what} cannot be marked here", what=_UNKEPT[kind]))
    presentation = item.first("presentation")
    if presentation is None:
        raise Refused(say("{what} cannot be marked here", what=_UNKEPT["text_only_question"]))
    reader = _Reader(keep, notes, [])
    for one in presentation.walk():
        if one.tag in (*_OTHER_RESPONSES, *_OTHER_RENDERING):
            raise Refused(say("{what} cannot be marked here", what=f"<{one.tag}>"))
    text, responses = _presented(presentation, reader)
    fields = _key(item, kind, text, responses, reader)
    fields = {"text": text, **fields} if text or "text" in fields else fields
    _tell_losses(item, presentation, fields, reader)
    return fields


def metadata(element: Element) -> dict[str, str]:
    """The labelled fields of an item or a test."""
    found = {}
    for holder in (element, element.first("itemmetadata")):
        for one in holder.all("qtimetadata") if holder is not None else []:
            for entry in one.all("qtimetadatafield"):
                found[entry.words("fieldlabel")] = entry.words("fieldentry")
    return found


def _presented(presentation: Element, reader: _Reader) -> tuple[str, list[Response]]:
    """The text of an item and what is to be answered; where several things are typed in a text, each stands there as a gap."""
    pieces: list[str] = []
    responses: list[Response] = []
    waiting = list(presentation.children)
    while waiting:
        part = waiting.pop(0)
        if part.tag == "material":
            pieces.append(reader.prose([part], is_line=False))
        elif part.tag in _RESPONSES:
            responses.append(_response(part, reader))
            pieces.append(f"[[{len(responses)}]]" if responses[-1].is_typed else "")
        elif part.tag.startswith("flow"):
            waiting = part.children + waiting
    text = "\n\n".join(piece for piece in pieces if piece)
    if len(responses) == 1:
        text = text.replace("[[1]]", "").strip()
    return text, responses


def _response(element: Element, reader: _Reader) -> Response:
    several = element.attributes.get("rcardinality", "Single").lower() == "multiple"
    typing = element.first("render_fib") or next((one for one in element.walk() if one.tag == "render_fib"), None)
    labels = {}
    for label in (one for one in element.walk() if one.tag == "response_label"):
        name = label.attributes.get("ident", "")
        if name in labels:
            raise Refused(say("two options have the name {name}", name=format_value(name)))
        labels[name] = "" if typing is not None else reader.prose(label.children, is_line=True)
        if len(labels) > marking.MOST_OPTIONS:
            raise Refused(say("a question has at most {most} options, got {count:,}", most=marking.MOST_OPTIONS, count=len(labels)))
    is_number = element.tag == "response_num" or (typing is not None and typing.attributes.get("fibtype", "").lower() in _NUMBERS)
    title = reader.prose(element.all("material"), is_line=True)
    return Response(element.attributes.get("ident", ""), typing is not None, several, is_number, title, labels)


def _key(item: Element, kind: str, text: str, responses: list[Response], reader: _Reader) -> Fields:
    """The fields that say what is right."""
    found = scorings(item)
    if not responses:
        raise Refused(say("{what} cannot be marked here", what=_UNKEPT["text_only_question"]))
    if not found:
        raise Refused(say("nothing tells which answer is right"))
    steps = sum(1 for scoring in found for _ in scoring.condition.walk()) * max(len(response.labels) for response in responses)
    if steps > MOST_STEPS:
        raise Refused(say("its scoring has more than {most:,} steps", most=MOST_STEPS))
    if kind in _MATCHING:
        return _matching(responses, found, reader)
    if len(responses) > 1 or kind in (*_TYPED_GAPS, "multiple_dropdowns_question"):
        return _gaps(kind, text, responses, found, reader)
    only = responses[0]
    if only.is_typed:
        return _typed(only, found, reader)
    return _several(only, found, reader) if only.is_several else _choice(only, found, reader)


def _choice(only: Response, found: list[Scoring], reader: _Reader) -> Fields:
    points = {name: score(found, {only.name: frozenset({name})}) for name in only.labels}
    best = max(points.values(), default=Fraction(0))
    if best <= 0:
        raise Refused(say("no option is right"))
    if any(one < 0 for one in points.values()):
        reader.notes.append(keys.NEGATIVE)
    partly = {only.labels[name]: float(100 * points[name] / best) for name in only.labels if 0 < points[name] < best}
    return marking.choice([(only.labels[name], points[name] == best) for name in only.labels], False, reader.notes, partly)


def _several(only: Response, found: list[Scoring], reader: _Reader) -> Fields:
    """The set that scores best, of those that a condition asks for and of all that score alone; leaving one of it out is worse, and adding
    one no better.
    """
    alone = {name: score(found, {only.name: frozenset({name})}) for name in only.labels}
    candidates = [frozenset(value for response, value in named(one.condition) if response == only.name) for one in found]
    candidates.append(frozenset(name for name, points in alone.items() if points > 0))

    def points_of(chosen: frozenset[str]) -> Fraction:
        return score(found, {only.name: chosen})

    right = max(candidates, key=points_of)
    best = points_of(right)
    less = [points_of(right - {name}) for name in right]
    more = [points_of(right | {name}) for name in only.labels if name not in right]
    if best <= 0 or not right <= only.labels.keys() or any(points >= best for points in less) or any(points > best for points in more):
        raise Refused(say("its scoring is not understood: {words}", words="respcondition"))
    by_some = any(0 < points < best for points in (*less, *alone.values()))
    if any(points < 0 for points in alone.values()):
        reader.notes.append(keys.NEGATIVE)
    return marking.choice([(text, name in right) for name, text in only.labels.items()], True, reader.notes, by_some=by_some)


def _typed(only: Response, found: list[Scoring], reader: _Reader) -> Fields:
    best = max(one.points for one in found)
    full = [one for one in found if one.points == best]
    if best <= 0:
        raise Refused(say("no answer is right"))
    others = [one for one in found if 0 < one.points < best]
    if only.is_number:
        right = [one for scoring in full for one in ranges(scoring.condition, reader.notes)]
        less = [(one, float(100 * other.points / best)) for other in others for one in ranges(other.condition, reader.notes)]
        if any(is_endless(one) for one in (*right, *(one for one, _ in less))):
            raise Refused(say("the right numbers have no end"))
        return marking.number(right, reader.notes, less)
    partly = {value: float(100 * one.points / best) for one in others for _, value in named(one.condition)}
    for scoring in (one for one in found if one.points > 0):
        for part in scoring.condition.walk():
            if part.tag not in ("conditionvar", "varequal", "or"):
                raise Refused(say("its scoring is not understood: {words}", words=part.tag))
    return marking.typed([value for scoring in full for _, value in named(scoring.condition)], reader.notes, partly)


def _keyed(responses: list[Response], found: list[Scoring]) -> dict[str, list[str]]:
    """The values that score, for each response."""
    values: dict[str, list[str]] = {response.name: [] for response in responses}
    for scoring in found:
        if scoring.points > 0:
            for name, value in named(scoring.condition):
                if name in values:
                    values[name].append(value)
    return values


def _matching(responses: list[Response], found: list[Scoring], reader: _Reader) -> Fields:
    right = _keyed(responses, found)
    pairs = []
    for response in responses:
        values = list(dict.fromkeys(right[response.name]))
        if len(values) != 1 or values[0] not in response.labels:
            raise Refused(say("one thing belongs to {left}, got {count}", left=format_value(response.title), count=len(values)))
        pairs.append((response.title, response.labels[values[0]]))
    fields = marking.matching(pairs, [text for response in responses for text in response.labels.values()], reader.notes)
    return {**fields, **in_halves(len(fields["pairs"]), reader.notes, PARTS)}


def _gaps(kind: str, text: str, responses: list[Response], found: list[Scoring], reader: _Reader) -> Fields:
    """Gaps in the text, numbered; Canvas writes them as `[name]`, others where they stand."""
    right = _keyed(responses, found)
    gaps: dict[str, Fields] = {}
    for number, response in enumerate(responses, 1):
        own = f"[[{number}]]"
        if own not in text:
            canvas = re.compile(re.escape(f"[{response.title}]"))
            if len(canvas.findall(text)) != 1:
                raise Refused(say("each gap stands once in the text, as {name}", name=format_value(f"[{response.title}]")))
            text = canvas.sub(own, text)
        if response.is_typed or kind in _TYPED_GAPS:
            answers = right[response.name] if response.is_typed else _typed_options(response, right[response.name])
            numbers = [(value, value) for value in map(marking.as_number, answers)] if response.is_number else []
            gaps[str(number)] = marking.number(numbers, reader.notes) if response.is_number else marking.typed(answers, reader.notes)
        else:
            judged = [(label, name in right[response.name]) for name, label in response.labels.items()]
            gaps[str(number)] = marking.listed_choice(judged, reader.notes)
    return {"kind": "gaps", "text": text, "gaps": gaps, **in_halves(len(gaps), reader.notes, PARTS)}


def _typed_options(response: Response, right: list[str]) -> list[str]:
    """The texts that fill a gap of Canvas: all that it lists are right, the one that scores comes first."""
    first = [response.labels[name] for name in right if name in response.labels]
    return [*first, *response.labels.values()] if first else []


def _tell_losses(item: Element, presentation: Element, fields: Fields, reader: _Reader) -> None:
    """Note what an item has that a question here has not; general feedback becomes the explanation."""
    others = 0
    for feedback in item.all("itemfeedback"):
        told = reader.prose([feedback], is_line=False)
        if feedback.attributes.get("ident") == "general_fb" and told:
            fields["explanation"] = told
        else:
            others += 1
    if others:
        reader.notes.append(keys.FEEDBACK)
    if any(one.attributes.get("shuffle", "").lower() == "yes" for one in presentation.walk() if one.tag == "render_choice"):
        reader.notes.append(keys.SHUFFLED)
    if reader.sounds:
        fields["media"] = reader.sounds[0]
    if len(reader.sounds) > 1:
        reader.notes.append(say("only the first of {count} sounds was kept", count=len(reader.sounds)))
