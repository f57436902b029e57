"""A question as an item of QTI 3.0 or 2.1: what is declared, the body with its interactions, and the rules that score them.

An answer class is worth a part of the score: with k classes, the class with index i is worth i/(k - 1).
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from html import escape
from urllib.parse import quote

from quaestor.formats.exchange.exported import only_ours, plain_number
from quaestor.formats.exchange.html import SOUNDS
from quaestor.formats.exchange.prose_html import html_of
from quaestor.formats.exchange.qti.names import kebab
from quaestor.i18n import say
from quaestor.model.entries import GAP, Part
from quaestor.model.question import Question

_SCHEMA = "http://www.w3.org/2001/XMLSchema-instance"
_TYPES = {".mp3": "audio/mpeg", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".wav": "audio/wav", ".m4a": "audio/mp4"}


class Version:
    """How a version of QTI names things."""

    def __init__(self, is_new: bool) -> None:
        self.is_new = is_new
        self.namespace = "http://www.imsglobal.org/xsd/imsqtiasi_v3p0" if is_new else "http://www.imsglobal.org/xsd/imsqti_v2p1"
        old, new = "http://www.imsglobal.org/xsd/qti/qtiv2p1/imsqti_v2p1.xsd", "https://purl.imsglobal.org/spec/qti/v3p0/schema/xsd"
        self.schema = f"{self.namespace} {new}/imsqti_asiv3p0_v1p0.xsd" if is_new else f"{self.namespace} {old}"
        self.manifest = "http://www.imsglobal.org/xsd/qti/qtiv3p0/imscp_v1p1" if is_new else "http://www.imsglobal.org/xsd/imscp_v1p1"
        self.about = ("QTI Package", "3.0.0") if is_new else ("QTIv2.1 Package", "1.0.0")
        self.kind = "xmlv3p0" if is_new else "xmlv2p1"

    def template(self, name: str) -> str:
        """The address of a template of scoring."""
        if self.is_new:
            return f"https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/{name}.xml"
        return f"http://www.imsglobal.org/question/qti_v2p1/rptemplates/{name}"

    def element(self, name: str, *inside: str, **attributes: object) -> str:
        """An element of QTI, by the names of 2.1."""
        tag = f"qti-{kebab(name)}" if self.is_new else name
        return element(tag, *inside, **{kebab(key) if self.is_new else key: value for key, value in attributes.items()})

    def root(self, name: str, *inside: str, **attributes: object) -> str:
        """A file with this outermost element."""
        spaces = {"xmlns": self.namespace, "xmlns:xsi": _SCHEMA, "xsi:schemaLocation": self.schema}
        tag = f"qti-{kebab(name)}" if self.is_new else name
        named = {kebab(key) if self.is_new else key: value for key, value in attributes.items()}
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{element(tag, *inside, **spaces, **named)}\n'


def element(tag: str, *inside: str, **attributes: object) -> str:
    """An element of XML; attributes without a value are left out."""
    shown = "".join(f' {name}="{escape(str(value))}"' for name, value in attributes.items() if value is not None)
    return f"<{tag}{shown}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{shown}/>"


class ItemWriter:
    """One question as an item."""

    def __init__(self, question: Question, names: dict[str, str], version: Version) -> None:
        self._question, self._names = question, names
        self._make, self._version = version.element, version
        self.notes: list[str] = []
        self.used: list[str] = []  # the files of pictures and sounds

    def item(self, identifier: str, language: str) -> str:
        """The whole file."""
        declarations, body, scoring = _KINDS[self._question.kind](self)
        human = "human" if not self._question.takes_entries else None
        outcomes = [self._outcome("SCORE", "float", "0", human)]
        feedback = []
        if self._question.explanation:
            outcomes.append(self._outcome("FEEDBACK", "identifier", "explanation"))
            told = html_of(self._question.explanation, self._address)
            told = self._make("contentBody", told) if self._version.is_new else told
            feedback.append(self._make("modalFeedback", told, outcomeIdentifier="FEEDBACK", identifier="explanation", showHide="show"))
        attributes = {"identifier": identifier, "title": self._question.id, "xml:lang": language or None, "adaptive": "false"}
        inside = (*declarations, *outcomes, self._make("itemBody", body), scoring, *feedback)
        return self._version.root("assessmentItem", *(f"\n{part}" for part in inside if part), "\n", **attributes, timeDependent="false")

    def _outcome(self, name: str, kind: str, value: str, scored: str | None = None) -> str:
        default = self._make("defaultValue", self._make("value", value))
        return self._make("outcomeDeclaration", default, identifier=name, cardinality="single", baseType=kind, externalScored=scored)

    def _address(self, name: str) -> str:
        if name not in self._names:
            self.notes.append(say("the file {name} was not there to be written", name=name))
            return ""
        self.used += [file for file in [f"media/{self._names[name]}"] if file not in self.used]
        return f"../media/{quote(self._names[name])}"

    def _stem(self, html: str | None = None) -> str:
        """The text and the picture or sound that goes with it."""
        question = self._question
        text = html_of(question.text, self._address) if html is None else html
        if not question.media or not (address := self._address(question.media)):
            return text
        if not question.media.lower().endswith(SOUNDS):
            return f"{text}<p>{element('img', src=address, alt=question.alt)}</p>"
        if self._version.is_new:
            return f"{text}<p>{element('audio', '', src=address, controls='controls')}</p>"
        kind = _TYPES["." + question.media.lower().rpartition(".")[2]]
        return f"{text}<p>{element('object', '', data=address, type=kind)}</p>"

    def _line(self, prose: str) -> str:
        return html_of(prose, self._address, is_line=True)

    def _worth(self, given: str) -> str:
        place = Fraction(self._question.classes.index(given), len(self._question.classes) - 1)
        return f"{float(place):.6g}"

    def _response(self, name: str, cardinality: str, kind: str, correct: Iterable[str], mapping: str = "") -> str:
        values = [self._make("value", escape(one, quote=False)) for one in correct]
        declared = self._make("correctResponse", *values) if values else ""
        return self._make("responseDeclaration", declared + mapping, identifier=name, cardinality=cardinality, baseType=kind)

    def _mapping(self, points: Iterable[tuple[str, str]], lower: str | None = None, default: str = "0", case: str | None = None) -> str:
        entries = [self._make("mapEntry", mapKey=key, mappedValue=worth, caseSensitive=case) for key, worth in points]
        return self._make("mapping", *entries, defaultValue=default, lowerBound=lower)

    def _by(self, template: str) -> str:
        return self._make("responseProcessing", template=self._version.template(template))

    def _set(self, name: str, value: str) -> str:
        return self._make("setOutcomeValue", value, identifier=name)

    def _number(self, value: str) -> str:
        return self._make("baseValue", value, baseType="float")

    def _one_response(self, kind: str) -> str:
        return self._make("variable", identifier=kind)

    def choice(self) -> tuple[list[str], str, str]:
        """One of several options."""
        question = self._question
        if not question.options:
            self.notes.append(only_ours(question.kind))
            written = self._make("extendedTextInteraction", responseIdentifier="RESPONSE")
            return [self._response("RESPONSE", "single", "string", ())], self._stem() + written, ""
        names = {option: f"A{number}" for number, option in enumerate(question.options, 1)}
        if question.kind == "truefalse":
            names = {option: option for option in question.options}
        best = [names[option] for option, its in question.option_classes.items() if its == question.classes[-1]]
        is_plain = len(best) == 1 and set(question.option_classes.values()) <= {question.classes[0], question.classes[-1]}
        points = [(names[option], self._worth(its)) for option, its in question.option_classes.items()]
        declared = self._response("RESPONSE", "single", "identifier", best[:1], "" if is_plain else self._mapping(points))
        return [declared], self._stem() + self._choices(names, "1"), self._by("match_correct" if is_plain else "map_response")

    def _choices(self, names: dict[str, str], most: str) -> str:
        shown = {"true": "True", "false": "False"} if self._question.kind == "truefalse" else {}
        made = [self._make("simpleChoice", shown.get(option) or self._line(option), identifier=name) for option, name in names.items()]
        return self._make("choiceInteraction", *made, responseIdentifier="RESPONSE", shuffle="false", maxChoices=most)

    def choices(self) -> tuple[list[str], str, str]:
        """Several of several options."""
        question = self._question
        names = {option: f"A{number}" for number, option in enumerate(question.options, 1)}
        is_plain = len(question.classes) == 2
        share = f"{1 / len(question.correct):.6g}"
        points = [(name, share if option in question.correct else f"-{share}") for option, name in names.items()]
        mapping = "" if is_plain else self._mapping(points, lower="0")
        declared = self._response("RESPONSE", "multiple", "identifier", [names[option] for option in question.correct], mapping)
        return [declared], self._stem() + self._choices(names, "0"), self._by("match_correct" if is_plain else "map_response")

    def number(self) -> tuple[list[str], str, str]:
        """A number that is typed."""
        question = self._question
        tolerance, _ = plain_number(str(question.tolerance))
        values = [(self._plain(written), its) for written, its in question.accept.items()]
        branches = []
        for place, (value, its) in enumerate(values):
            test = self._equal("RESPONSE", self._number(value), tolerance)
            score = self._set("SCORE", self._number(self._worth(its)))
            branches.append(self._make("responseElseIf" if place else "responseIf", test, score))
        scoring = self._make("responseProcessing", self._make("responseCondition", *branches))
        best = next((value for value, its in values if its == question.classes[-1]), values[0][0])
        return [self._response("RESPONSE", "single", "float", [best])], self._stem() + self._entry("RESPONSE"), scoring

    def _plain(self, written: str) -> str:
        value, is_exact = plain_number(written)
        if not is_exact:
            self.notes.append(say("other programs read {number} as {decimal}", number=written, decimal=value))
        return value

    def _equal(self, name: str, value: str, tolerance: str) -> str:
        mode = {"toleranceMode": "absolute", "tolerance": f"{tolerance} {tolerance}"} if tolerance != "0" else {"toleranceMode": "exact"}
        return self._make("equal", self._one_response(name), value, **mode)

    def _entry(self, name: str) -> str:
        return f"<p>{self._make('textEntryInteraction', responseIdentifier=name)}</p>"

    def typed(self) -> tuple[list[str], str, str]:
        """A text that is typed."""
        question = self._question
        mapping = self._mapping([(text, self._worth(its)) for text, its in question.accept.items()], case="false")
        best = next((text for text, its in question.accept.items() if its == question.classes[-1]), "")
        declared = self._response("RESPONSE", "single", "string", [best] if best else [], mapping)
        return [declared], self._stem() + self._entry("RESPONSE"), self._by("map_response")

    def matching(self) -> tuple[list[str], str, str]:
        """Pairs."""
        parts = self._question.parts
        left = {part.name: f"L{number}" for number, part in enumerate(parts, 1)}
        right = {option: f"R{number}" for number, option in enumerate(parts[0].options, 1)}
        pairs = [f"{left[part.name]} {right[part.accept[0]]}" for part in parts]
        sets = [self._match_set(left, "1"), self._match_set(right, "0")]
        shown = self._make("matchInteraction", *sets, responseIdentifier="RESPONSE", shuffle="false", maxAssociations=str(len(parts)))
        mapping, template = self._shares(pairs)
        return [self._response("RESPONSE", "multiple", "directedPair", pairs, mapping)], self._stem() + shown, self._by(template)

    def _match_set(self, names: dict[str, str], most: str) -> str:
        make = self._make
        return make(
            "simpleMatchSet",
            *(make("simpleAssociableChoice", self._line(text), identifier=name, matchMax=most) for text, name in names.items()),
        )

    def _shares(self, parts: list[str]) -> tuple[str, str]:
        """The mapping that gives every part its share where some right parts are worth something, and the template that goes with it."""
        if len(self._question.classes) == 2:
            return "", "match_correct"
        return self._mapping([(part, f"{1 / len(parts):.6g}") for part in parts]), "map_response"

    def ordering(self) -> tuple[list[str], str, str]:
        """Things to be put in order."""
        options = [part.accept[0] for part in self._question.parts]
        made = [self._make("simpleChoice", self._line(option), identifier=f"A{number}") for number, option in enumerate(options, 1)]
        body = self._stem() + self._make("orderInteraction", *made, responseIdentifier="RESPONSE", shuffle="true")
        right = [f"A{number}" for number in range(1, len(options) + 1)]
        scoring = self._by("match_correct") if len(self._question.classes) == 2 else self._by_place(len(options))
        return [self._response("RESPONSE", "ordered", "identifier", right)], body, scoring

    def _by_place(self, count: int) -> str:
        """Scoring of an order that gives every place its share."""
        share = self._make("sum", self._one_response("SCORE"), self._number(f"{1 / count:.6g}"))
        rules = []
        for number in range(1, count + 1):
            given = self._make("index", self._one_response("RESPONSE"), n=number)
            wanted = self._make("index", self._make("correct", identifier="RESPONSE"), n=number)
            branch = self._make("responseIf", self._make("match", given, wanted), self._set("SCORE", share))
            rules.append(self._make("responseCondition", branch))
        return self._make("responseProcessing", *rules)

    def gaps(self) -> tuple[list[str], str, str]:
        """A text with gaps; a gap is put in after the Markdown round it was read."""
        parts = {part.name: part for part in self._question.parts}
        html = html_of(GAP.sub(lambda found: f"\ue000{found[1].strip()}\ue001", self._question.text), self._address)
        declared, rules, scores = [], [], []
        for number, (name, part) in enumerate(parts.items(), 1):
            response = f"RESPONSE_{number}"
            declaration, shown, points = self._gap(response, part)
            declared.append(declaration)
            rules.append(self._set(f"SCORE_{number}", points) if part.kind == "text" else self._if(points, f"SCORE_{number}"))
            scores.append(f"SCORE_{number}")
            html = html.replace(f"\ue000{escape(name)}\ue001", shown)
        declared += [self._outcome(one, "float", "0") for one in scores]
        total = self._make("sum", *(self._one_response(one) for one in scores))
        if len(self._question.classes) == 2:
            whole = self._make("equal", total, self._number(str(len(scores))), toleranceMode="exact")
            rules.append(self._if(whole, "SCORE"))
        else:
            rules.append(self._set("SCORE", self._make("divide", total, self._number(str(len(scores))))))
        return declared, self._stem(html), self._make("responseProcessing", *rules)

    def _if(self, test: str, outcome: str) -> str:
        return self._make("responseCondition", self._make("responseIf", test, self._set(outcome, self._number("1"))))

    def _gap(self, response: str, part: Part) -> tuple[str, str, str]:
        """A gap: its declaration, what stands in the text, and what is right (of a text: its points)."""
        if part.kind == "choice":
            names = {option: f"A{number}" for number, option in enumerate(part.options, 1)}
            shown = [self._make("inlineChoice", self._line(option), identifier=name) for option, name in names.items()]
            declared = self._response(response, "single", "identifier", [names[part.accept[0]]])
            test = self._make("match", self._one_response(response), self._make("correct", identifier=response))
            return declared, self._make("inlineChoiceInteraction", *shown, responseIdentifier=response, shuffle="false"), test
        entry = self._make("textEntryInteraction", responseIdentifier=response)
        if part.kind == "number":
            tolerance, _ = plain_number(str(part.tolerance))
            values = [self._plain(written) for written in part.accept]
            tests = [self._equal(response, self._number(value), tolerance) for value in values]
            return self._response(response, "single", "float", values[:1]), entry, tests[0] if len(tests) == 1 else self._make("or", *tests)
        mapping = self._mapping([(text, "1") for text in part.accept], case="false")
        points = self._make("mapResponse", identifier=response)
        return self._response(response, "single", "string", part.accept[:1], mapping), entry, points


_KINDS: dict[str, Callable[[ItemWriter], tuple[list[str], str, str]]] = {
    "choice": ItemWriter.choice,
    "choices": ItemWriter.choices,
    "truefalse": ItemWriter.choice,
    "number": ItemWriter.number,
    "text": ItemWriter.typed,
    "matching": ItemWriter.matching,
    "ordering": ItemWriter.ordering,
    "gaps": ItemWriter.gaps,
}
