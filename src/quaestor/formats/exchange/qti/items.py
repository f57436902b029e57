"""Items of QTI 2.1, 2.2 and 3.0: a body with interactions, what is declared of their responses, and rules that score them.

Elements and attributes have other names in 3.0 (`qti-choice-interaction` for `choiceInteraction`), and some programs mix both: names are
told as 2.x writes them. One interaction is a question of its kind; several are one question with gaps where all stand in the text.
"""

from collections.abc import Callable
from dataclasses import dataclass

from quaestor.errors import format_value
from quaestor.formats.exchange import keys, marking
from quaestor.formats.exchange.credit import PARTS, in_halves
from quaestor.formats.exchange.html import Keep, from_element
from quaestor.formats.exchange.imported import Fields
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.markdown import formula
from quaestor.formats.exchange.qti.declarations import NUMBERS, Declaration, Scoring, declared, scoring, shares
from quaestor.formats.exchange.qti.mathml import latex
from quaestor.formats.exchange.qti.names import attribute, kind
from quaestor.formats.exchange.xml import Element
from quaestor.i18n import say

ROOTS = ("assessmentItem", "qti-assessment-item")
_INLINE = ("textEntryInteraction", "inlineChoiceInteraction")
_HIDDEN = {"feedbackBlock", "feedbackInline", "modalFeedback"}
_IN_PICTURES = say("something to be found or drawn in a picture")
_OTHERS = {  # in words, those that people may know
    **dict.fromkeys(("hotspotInteraction", "selectPointInteraction", "positionObjectInteraction", "drawingInteraction"), _IN_PICTURES),
    **dict.fromkeys(("graphicAssociateInteraction", "graphicGapMatchInteraction", "graphicOrderInteraction"), _IN_PICTURES),
    "associateInteraction": say("pairs to be found within one set"),
    "uploadInteraction": say("a file to hand in"),
}
_BLANK = "\\_\\_\\_\\_"  # where something is to be filled in


@dataclass(frozen=True)
class _Item:
    """What of an item is needed to read an interaction."""

    responses: dict[str, Declaration]
    scoring: Scoring
    keep: Keep
    notes: list[str]
    sounds: list[str]

    def response(self, interaction: Element) -> Declaration:
        """What is declared of the response of an interaction."""
        name = attribute(interaction, "responseIdentifier")
        if name not in self.responses:
            raise Refused(say("nothing is declared of the response {name}", name=format_value(name)))
        return self.responses[name]

    def prose(self, element: Element, is_line: bool, instead: Callable[[Element], str | None] | None = None) -> str:
        """What an element holds as prose, formulas as LaTeX."""

        def given(part: Element) -> str | None:
            if part.tag == "math":
                return formula(latex(part))
            return instead(part) if instead is not None else None

        made = from_element(element, self.keep, is_line, given)
        text = str(made)
        self.notes.extend(made.notes)
        self.sounds.extend(made.sounds)
        return text

    def choices(self, interaction: Element, *kinds: str) -> dict[str, str]:
        """The texts of choices by their identifiers."""
        found: dict[str, str] = {}
        for one in interaction.walk():
            if kind(one) in kinds:
                name = attribute(one, "identifier")
                if name in found:
                    raise Refused(say("two options have the name {name}", name=format_value(name)))
                found[name] = self.prose(one, is_line=True)
                if len(found) > marking.MOST_OPTIONS:
                    raise Refused(say("a question has at most {most} options, got {count:,}", most=marking.MOST_OPTIONS, count=len(found)))
        if attribute(interaction, "shuffle") == "true" and kind(interaction) != "orderInteraction":
            self.notes.append(keys.SHUFFLED)
        return found


def read_item(item: Element, keep: Keep, notes: list[str]) -> Fields:
    """The fields of an item; a Refused where it cannot be a question. `notes` gets what is lost."""
    if attribute(item, "adaptive") == "true":
        raise Refused(say("{what} cannot be marked here", what=say("an adaptive item, which changes while it is answered,")))
    drawn = next((kind(one) for one in item.children if kind(one) in ("templateDeclaration", "templateProcessing")), "")
    if drawn:
        raise Refused(say("{what} cannot be marked here", what=say("an item with values drawn at random ({name})", name=drawn)))
    body = next((one for one in item.children if kind(one) == "itemBody"), None)
    interactions = [one for one in body.walk() if kind(one).endswith("Interaction")] if body is not None else []
    if body is None or not interactions:
        raise Refused(say("{what} cannot be marked here", what=say("a text without a question")))
    names = [kind(one) for one in interactions]
    inline = all(name in _INLINE for name in names)
    if len(names) > marking.MOST_OPTIONS or (len(names) > 1 and not inline):
        shown = ", ".join(dict.fromkeys(names))
        raise Refused(say("{count} interactions in one item cannot be one question: {names}", count=len(names), names=shown))
    if names[0] not in _KINDS:
        what = say("{what} ({name})", what=_OTHERS[names[0]], name=names[0]) if names[0] in _OTHERS else names[0]
        raise Refused(say("{what} cannot be marked here", what=what))
    made = _Item(declared(item), scoring(item, notes), keep, notes, [])
    fields = _gaps(body, interactions, made) if len(interactions) > 1 else _KINDS[names[0]](body, interactions[0], made)
    _tell_losses(item, fields, made)
    return fields


def _tell_losses(item: Element, fields: Fields, made: _Item) -> None:
    used = {kind(one) for one in item.walk()}
    if used & _HIDDEN:
        made.notes.append(keys.FEEDBACK)
    if "catalogInfo" in used:
        made.notes.append(say("a glossary or other help was left out: {name}", name="catalogInfo"))
    if "companionMaterialsInfo" in used:
        made.notes.append(say("a glossary or other help was left out: {name}", name="companionMaterialsInfo"))
    if made.sounds:
        fields["media"] = made.sounds[0]
    if len(made.sounds) > 1:
        made.notes.append(say("only the first of {count} sounds was kept", count=len(made.sounds)))


def _text(body: Element, made: _Item, marks: dict[int, str]) -> str:
    """The text of a body: `marks` are what stands for an element, by its identity; of other interactions the prompt is shown, or what they
    are drawn on; feedback is not.
    """

    def copied(element: Element) -> Element:
        made_of = Element(element.tag, element.namespace, element.attributes, element.line)
        for part in element.content:
            if isinstance(part, str) or id(part) in marks:
                made_of.content.append(part)
            elif kind(part).endswith("Interaction") and kind(part) not in ("gapMatchInteraction", "hottextInteraction"):
                made_of.content += [copied(_block(one)) for one in part.children if kind(one) == "prompt"]
            elif kind(part) == "rubricBlock" and "candidate" not in attribute(part, "view", "candidate"):
                made.notes.append(say("notes for who marks it were left out"))
            elif kind(part) not in (*_HIDDEN, "gapText", "gapImg", "stylesheet"):
                made_of.content.append(copied(_block(part) if kind(part) in ("prompt", "contentBody", "rubricBlock") else part))
        return made_of

    return made.prose(copied(body), is_line=False, instead=lambda part: marks.get(id(part)))


def _block(element: Element) -> Element:
    made = Element("div", element.namespace, {}, element.line)
    made.content = element.content
    return made


def _chosen(right: list[str], options: dict[str, str]) -> list[str]:
    for value in right:
        if value not in options:
            raise Refused(say("the right answer {value} is none of the options", value=format_value(value)))
    return right


def _judged(response: Declaration, options: dict[str, str], several: bool, made: _Item) -> Fields:
    right = _chosen(response.right(made.scoring.by_points), options)
    points = response.points if made.scoring.by_points else {}
    if any(worth < 0 for worth in points.values()):
        made.notes.append(keys.NEGATIVE)
    partly = {options[name]: worth for name, worth in shares(points, right).items() if name in options}
    judged = [(text, name in right) for name, text in options.items()]
    return marking.choice(judged, several, made.notes, partly, by_some=bool(points))


def _choice(body: Element, interaction: Element, made: _Item) -> Fields:
    response = made.response(interaction)
    several = response.cardinality == "multiple" and attribute(interaction, "maxChoices", "1") != "1"
    options = made.choices(interaction, "simpleChoice")
    return {"text": _text(body, made, {}), **_judged(response, options, several, made)}


def _hottext(body: Element, interaction: Element, made: _Item) -> Fields:
    response = made.response(interaction)
    options = made.choices(interaction, "hottext")
    made.notes.append(say("words to be marked in the text are options here"))
    several = response.cardinality == "multiple" and attribute(interaction, "maxChoices", "1") != "1"
    return {"text": _text(body, made, {}), **_judged(response, options, several, made)}


def _order(body: Element, interaction: Element, made: _Item) -> Fields:
    response = made.response(interaction)
    options = made.choices(interaction, "simpleChoice")
    right = _chosen(response.correct, options)
    texts = [options[name] for name in right]
    if sorted(right) != sorted(options) or len(set(texts)) < len(texts) or "" in texts:
        raise Refused(say("an order has each option once, got {count} of {all}", count=len(set(texts) - {""}), all=len(options)))
    marking.check_options(texts)
    classes = in_halves(len(texts), made.notes, PARTS) if made.scoring.adds and len(texts) > 2 else {}
    return {"kind": "ordering", "text": _text(body, made, {}), "options": texts, **classes}


def _pairs(response: Declaration) -> list[tuple[str, str]]:
    found = []
    for value in response.right(by_points=True):
        parts = value.split()
        if len(parts) != 2:
            raise Refused(say("a right answer is a pair of names, got {value}", value=format_value(value)))
        found.append((parts[0], parts[1]))
    return found


def _match(body: Element, interaction: Element, made: _Item) -> Fields:
    """Every choice of one side has one partner: of the first side, or else of the second."""
    response = made.response(interaction)
    sets = [one for one in interaction.children if kind(one) == "simpleMatchSet"]
    if len(sets) != 2:
        raise Refused(say("a matching question has two sides, got {count}", count=len(sets)))
    left, right = (made.choices(one, "simpleAssociableChoice") for one in sets)
    pairs = _pairs(response)
    for one, other in pairs:
        _chosen([one], left)
        _chosen([other], right)
    if sorted(one for one, _ in pairs) != sorted(left):
        left, right, pairs = right, left, [(other, one) for one, other in pairs]
        if sorted(one for one, _ in pairs) != sorted(left):
            raise Refused(say("each thing of one side has one partner"))
    if response.points and len(set(response.points.values())) > 1:
        made.notes.append(say("points of the parts were left out: all count alike"))
    fields = marking.matching([(left[one], right[other]) for one, other in pairs], right.values(), made.notes)
    classes = in_halves(len(fields["pairs"]), made.notes, PARTS) if made.scoring.by_points and response.points else {}
    return {"text": _text(body, made, {}), **fields, **classes}


def _gap_match(body: Element, interaction: Element, made: _Item) -> Fields:
    """Words to be put into gaps: every gap has all words to choose from."""
    response = made.response(interaction)
    words = made.choices(interaction, "gapText", "gapImg")
    holes = [one for one in interaction.walk() if kind(one) == "gap"]
    right: dict[str, str] = {}
    for word, place in _pairs(response):
        _chosen([word], words)
        if right.setdefault(place, word) != word:
            raise Refused(say("one option of a gap is right, got several"))
    gaps = {}
    for number, hole in enumerate(holes, 1):
        name = attribute(hole, "identifier")
        if name not in right:
            raise Refused(say("nothing belongs into the gap {name}", name=format_value(name)))
        judged = [(text, key == right[name]) for key, text in words.items()]
        gaps[str(number)] = marking.listed_choice(judged, made.notes if number == 1 else [])
    classes = in_halves(len(gaps), made.notes, PARTS) if made.scoring.by_points else {}
    text = _text(body, made, {id(hole): f"[[{number}]]" for number, hole in enumerate(holes, 1)})
    return {"kind": "gaps", "text": text, "gaps": gaps, **classes}


def _typed(response: Declaration, made: _Item, is_part: bool = False) -> Fields:
    if not response.correct and not response.points:
        raise Refused(say("{what} cannot be marked here", what=say("an essay")))
    if response.type in NUMBERS:
        right_ranges, others = made.scoring.ranges(response, made.notes)
        if is_part and others:
            made.notes.append(keys.partly_right([marking.written((low + high) / 2) for (low, high), _ in others]))
        return marking.number(right_ranges, made.notes, [] if is_part else others)
    best = max(response.points.values(), default=0)
    right = [*response.correct, *(value for value, points in response.points.items() if points == best > 0)]
    partly = shares(response.points, right)
    if is_part and partly:
        made.notes.append(keys.partly_right(list(partly)))
    if not response.ignores_case:
        made.notes.append(keys.CASE)
    return marking.typed(right, made.notes, {} if is_part else partly)


def _inline_options(interaction: Element, made: _Item) -> list[tuple[str, bool]]:
    response = made.response(interaction)
    options = made.choices(interaction, "inlineChoice")
    right = _chosen(response.right(made.scoring.by_points), options)
    return [(text, name in right) for name, text in options.items()]


def _entry(body: Element, interaction: Element, made: _Item) -> Fields:
    fields = _typed(made.response(interaction), made)
    return {"text": _text(body, made, _marked(body, interaction)), **fields}


def _inline(body: Element, interaction: Element, made: _Item) -> Fields:
    fields = _judged(made.response(interaction), made.choices(interaction, "inlineChoice"), False, made)
    return {"text": _text(body, made, _marked(body, interaction)), **fields}


def _marked(body: Element, interaction: Element) -> dict[int, str]:
    """A blank for an interaction that stands in a sentence; nothing for one that stands alone."""
    holder = next(one for one in body.walk() if interaction in one.content)
    others = [part for part in holder.content if part is not interaction and (not isinstance(part, str) or part.strip())]
    return {id(interaction): _BLANK if others and holder is not body else ""}


def _slider(body: Element, interaction: Element, made: _Item) -> Fields:
    made.notes.append(say("a slider became a number to be typed"))
    fields = _typed(made.response(interaction), made)
    return {"text": _text(body, made, {}), **fields}


def _extended(body: Element, interaction: Element, made: _Item) -> Fields:
    raise Refused(say("{what} cannot be marked here", what=say("an essay")))


def _gaps(body: Element, interactions: list[Element], made: _Item) -> Fields:
    """Several things to be filled in, each where it stands in the text."""
    gaps: dict[str, Fields] = {}
    for number, interaction in enumerate(interactions, 1):
        if kind(interaction) == "inlineChoiceInteraction":
            gaps[str(number)] = marking.listed_choice(_inline_options(interaction, made), made.notes)
        else:
            gaps[str(number)] = _typed(made.response(interaction), made, is_part=True)
    classes = in_halves(len(gaps), made.notes, PARTS) if made.scoring.adds else {}
    text = _text(body, made, {id(one): f"[[{number}]]" for number, one in enumerate(interactions, 1)})
    return {"kind": "gaps", "text": text, "gaps": gaps, **classes}


_KINDS: dict[str, Callable[[Element, Element, _Item], Fields]] = {
    "choiceInteraction": _choice,
    "hottextInteraction": _hottext,
    "orderInteraction": _order,
    "matchInteraction": _match,
    "gapMatchInteraction": _gap_match,
    "textEntryInteraction": _entry,
    "inlineChoiceInteraction": _inline,
    "sliderInteraction": _slider,
    "extendedTextInteraction": _extended,
}
