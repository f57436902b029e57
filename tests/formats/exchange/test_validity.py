"""Files for other systems keep the rules of their standards, as far as these are written down here.

The official schemas are not in any package that can be installed, so the rules are listed below, from the information model of QTI 2.1
(https://www.imsglobal.org/question/qtiv2p1/imsqti_infov2p1.html; QTI 3.0 has the same under names with hyphens) and from Moodle's page on
its XML format: which attributes an element must have, what stands in it and in which order, that every name that is used is declared once,
and that a manifest and its package name the same files.
"""

import io
import re
import zipfile
from pathlib import PurePosixPath
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange import moodle_writer
from quaestor.formats.exchange.qti import writer
from quaestor.formats.files import load

PNG, MP3 = b"\x89PNG\r\n\x1a\n" + b"0" * 20, b"ID3" + b"0" * 20
HALVES = ["wrong", "half", "right"]
KINDS = {
    "a choice": {"options": ["$x_1$", "*b* & <c>", "![a pie](pie.png)"], "correct": "$x_1$", "explanation": "Since\n\n- so"},
    "credit": {"options": {"x": "right", "y": "half", "z": "wrong"}, "classes": HALVES},
    "several": {"kind": "choices", "options": ["p", "q", "r"], "correct": ["p", "r"]},
    "some": {"kind": "choices", "options": ["p", "q", "r"], "correct": ["p", "r"], "classes": HALVES},
    "number": {"kind": "number", "correct": "1 1/2", "accept": ["-3"], "tolerance": "0.05"},
    "exactly": {"kind": "number", "correct": "4", "accept": {"5": "half"}, "classes": HALVES},
    "typed": {"kind": "text", "correct": "a*b", "accept": ["c & d"], "media": "hello.mp3"},
    "truth": {"kind": "truefalse", "correct": "true", "media": "pie.png", "alt": "A pie"},
    "pairs": {"kind": "matching", "pairs": {"frog": "wet", "cat": "dry"}, "options": ["wet", "dry", "odd"]},
    "in halves": {"kind": "matching", "pairs": {"frog": "wet", "cat": "dry"}, "classes": HALVES},
    "order": {"kind": "ordering", "options": ["one", "two", "three"]},
    "by place": {"kind": "ordering", "options": ["one", "two", "three"], "classes": HALVES},
    "paper": {},
}
GAPS = {"1": {"options": ["cat", "dog"], "correct": "cat"}, "m": {"kind": "text", "correct": "mat"}, "n": {"kind": "number", "correct": 4}}
QUESTIONS = {name: {"text": f"What is *{name}*?", **fields} for name, fields in KINDS.items()}
for name, classes in (("gaps", {}), ("some gaps", {"classes": HALVES})):
    QUESTIONS[name] = {"kind": "gaps", "text": "The [[1]] sat on the [[m]] of [[n]] kg.", "gaps": GAPS, **classes}
BANKS = {
    "every kind": Bank(
        {"quaestor": 2, "title": "K & K", "language": "de", "skills": {"a": {}, "b/ü": {}}}
        | {"questions": {name: {"skill": "b/ü", "difficulty": "easy", **fields} for name, fields in QUESTIONS.items()}}
    ),
    "fractions": load("fractions"),
}
MEDIA = {"pie.png": PNG, "hello.mp3": MP3}

EXPRESSIONS = ["variable", "correct", "baseValue", "mapResponse", "match", "equal", "and", "or", "not", "isNull", "sum", "divide", "index"]
REQUIRED = {
    "assessmentItem": "identifier title adaptive timeDependent",
    "responseDeclaration": "identifier cardinality baseType",
    "outcomeDeclaration": "identifier cardinality baseType",
    "mapping": "defaultValue",
    "mapEntry": "mapKey mappedValue",
    "choiceInteraction": "responseIdentifier shuffle maxChoices",
    "orderInteraction": "responseIdentifier shuffle",
    "matchInteraction": "responseIdentifier shuffle maxAssociations",
    "inlineChoiceInteraction": "responseIdentifier shuffle",
    "textEntryInteraction": "responseIdentifier",
    "extendedTextInteraction": "responseIdentifier",
    "simpleChoice": "identifier",
    "inlineChoice": "identifier",
    "simpleAssociableChoice": "identifier matchMax",
    "modalFeedback": "outcomeIdentifier identifier showHide",
    "setOutcomeValue": "identifier",
    "variable": "identifier",
    "correct": "identifier",
    "mapResponse": "identifier",
    "baseValue": "baseType",
    "equal": "toleranceMode",
    "index": "n",
    "img": "src alt",
    "object": "data type",
    "audio": "src",
    "assessmentTest": "identifier title",
    "testPart": "identifier navigationMode submissionMode",
    "assessmentSection": "identifier title visible",
    "assessmentItemRef": "identifier href",
}
_ONE = f"({'|'.join(EXPRESSIONS)})"
_BRANCH = f"{_ONE} (setOutcomeValue )+"
CONTENT = {  # children as words, each with a space after it
    "assessmentItem": "(responseDeclaration )*(outcomeDeclaration )*(itemBody )?(responseProcessing )?(modalFeedback )*",
    "responseDeclaration": "(correctResponse )?(mapping )?",
    "outcomeDeclaration": "(defaultValue )?",
    "correctResponse": "(value )+",
    "defaultValue": "(value )+",
    "mapping": "(mapEntry )+",
    "choiceInteraction": "(prompt )?(simpleChoice )+",
    "orderInteraction": "(prompt )?(simpleChoice ){2,}",
    "matchInteraction": "(prompt )?simpleMatchSet simpleMatchSet ",
    "simpleMatchSet": "(simpleAssociableChoice )+",
    "inlineChoiceInteraction": "(inlineChoice )+",
    "textEntryInteraction": "",
    "responseProcessing": "((responseCondition|setOutcomeValue) )*",
    "responseCondition": "responseIf (responseElseIf )*(responseElse )?",
    "responseIf": _BRANCH,
    "responseElseIf": _BRANCH,
    "setOutcomeValue": f"{_ONE} ",
    "match": f"({_ONE} ){{2}}",
    "equal": f"({_ONE} ){{2}}",
    "divide": f"({_ONE} ){{2}}",
    "sum": f"({_ONE} )+",
    "or": f"({_ONE} )+",
    "index": f"{_ONE} ",
    "assessmentTest": "(testPart )+",
    "testPart": "(assessmentSection )+",
    "assessmentSection": "(assessmentItemRef )*",
}
VALUES = {
    ("", "cardinality"): {"single", "multiple", "ordered"},
    ("", "baseType"): {"identifier", "directedPair", "string", "float", "integer"},
    ("equal", "toleranceMode"): {"exact", "absolute"},
    ("modalFeedback", "showHide"): {"show"},
    ("outcomeDeclaration", "externalScored"): {"human"},
    ("testPart", "navigationMode"): {"linear", "nonlinear"},
    ("testPart", "submissionMode"): {"individual", "simultaneous"},
}
BLOCKS = {"p", "div", "ul", "ol", "dl", "pre", "blockquote", "table", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "object"}
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def plain(name):
    """A name as QTI 2.1 has it."""
    first, *rest = name.rpartition("}")[2].removeprefix("qti-").split("-")
    return first + "".join(part.capitalize() for part in rest)


def attributes(element):
    return {plain(name) if ":" not in name else name: value for name, value in element.attrib.items()}


def faults(root):
    """What an item or a test breaks of the rules above."""
    declared = [one.attrib["identifier"] for one in root.iter() if plain(one.tag).endswith("Declaration")]
    found = ["declared twice"] if len(declared) > len(set(declared)) else []
    for one in root.iter():
        kind, given = plain(one.tag), attributes(one)
        found += [f"{kind} without {name}" for name in REQUIRED.get(kind, "").split() if name not in given]
        children = "".join(f"{plain(child.tag)} " for child in one)
        if kind in CONTENT and not re.fullmatch(CONTENT[kind], children):
            found.append(f"{kind} with {children}")
        for (holder, name), allowed in VALUES.items():
            if holder in ("", kind) and name in given and given[name] not in allowed:
                found.append(f"{kind} {name} {given[name]}")
        for name in ("responseIdentifier", "outcomeIdentifier", "identifier"):
            refers = name != "identifier" or kind in ("variable", "correct", "mapResponse", "setOutcomeValue")
            if name in given and refers and given[name] not in declared:
                found.append(f"{kind} names {given[name]}, which is not declared")
            if name in given and not IDENTIFIER.fullmatch(given[name]):
                found.append(f"{kind} has the name {given[name]}")
        options = [child.attrib["identifier"] for child in one.iter() if plain(child.tag) in ("simpleChoice", "simpleAssociableChoice")]
        if kind.endswith("Interaction") and len(options) > len(set(options)):
            found.append(f"{kind} has a name twice")
        if kind == "itemBody":
            found += [
                f"{plain(child.tag)} in a body" for child in one if plain(child.tag) not in BLOCKS and "Interaction" not in plain(child.tag)
            ]
            found += ["text in a body"] * bool((one.text or "").strip() or any((child.tail or "").strip() for child in one))
    return found


@pytest.mark.parametrize("version", writer.VERSIONS)
@pytest.mark.parametrize("name", BANKS)
def test_packages_of_qti_keep_the_rules_of_the_standard(name, version):
    with zipfile.ZipFile(io.BytesIO(writer.write(BANKS[name], MEDIA, version).data)) as archive:
        files = {one: archive.read(one) for one in archive.namelist()}
    assert next(iter(files)) == "imsmanifest.xml"
    manifest = ElementTree.fromstring(files.pop("imsmanifest.xml"))
    space = manifest.tag.partition("}")[0] + "}"
    assert [one.tag.removeprefix(space) for one in manifest] == ["metadata", "organizations", "resources"]
    resources = manifest.findall(f".//{space}resource")
    names = [one.attrib["identifier"] for one in resources]
    assert len(names) == len(set(names))
    assert all(IDENTIFIER.fullmatch(one) for one in names)
    listed = [unquote(one.attrib["href"]) for one in manifest.iter(f"{space}file")]
    assert set(listed) == set(files)
    assert {unquote(one.attrib["href"]) for one in resources} <= set(listed)
    assert {one.attrib["identifierref"] for one in manifest.iter(f"{space}dependency")} <= set(names)
    for one in resources:
        inside = [child.tag.removeprefix(space) for child in one]
        assert inside == sorted(inside, key=["metadata", "file", "dependency"].index)
    for path, content in files.items():
        if path.endswith(".xml"):
            root = ElementTree.fromstring(content)
            found = faults(root)
            assert not found, (path, found)
            for one in root.iter():
                for address in (one.attrib.get(field) for field in ("src", "data", "href") if plain(one.tag) != "a"):
                    if address is not None:
                        where = PurePosixPath(path).parent / unquote(address)
                        assert str(PurePosixPath(*_walked(where.parts))) in files, address


def _walked(parts):
    """A path without steps upwards."""
    made = []
    for part in parts:
        made = made[:-1] if part == ".." else [*made, part]
    return made


def test_the_rules_can_fail():
    inside = "<itemBody>x<b/></itemBody><responseDeclaration/>"
    item = f'<assessmentItem identifier="1" title="" adaptive="false" timeDependent="false">{inside}</assessmentItem>'
    with pytest.raises(KeyError):
        faults(ElementTree.fromstring(item))
    found = faults(ElementTree.fromstring(item.replace("<responseDeclaration/>", '<choiceInteraction responseIdentifier="R"/>')))
    assert {"assessmentItem has the name 1", "b in a body", "text in a body", "choiceInteraction without shuffle"} <= set(found)
    assert "choiceInteraction names R, which is not declared" in found


MOODLE = {  # what a question of a type has, besides its name and text
    "multichoice": ["single", "shuffleanswers", "answer"],
    "truefalse": ["answer"],
    "shortanswer": ["answer"],
    "numerical": ["answer"],
    "matching": ["subquestion"],
    "ordering": ["gradingtype", "answer"],
    "cloze": [],
    "essay": [],
}
FRACTIONS = {round(100 / n, 5) for n in range(1, 11)} | {
    0,
    20,
    40,
    60,
    70,
    80,
    90,
    30,
    75,
    66.66667,
    83.33333,
    5,
}  # those that Moodle knows


@pytest.mark.parametrize("name", BANKS)
def test_moodle_xml_has_what_moodle_reads(name):
    root = ElementTree.fromstring(moodle_writer.write(BANKS[name], MEDIA).data)
    assert root.tag == "quiz"
    for question in root:
        kind = question.attrib["type"]
        if kind == "category":
            assert question.findtext("category/text").startswith("$course$/top/")
            continue
        assert question.findtext("name/text")
        assert question.find("questiontext").attrib["format"] == "html"
        assert question.findtext("questiontext/text")
        assert not [part for part in MOODLE[kind] if question.find(part) is None], kind
        assert len(question.findtext("idnumber")) <= 100
        for answer in question.findall("answer"):
            worth = float(answer.attrib["fraction"])
            assert kind == "ordering" or abs(round(worth, 5)) in FRACTIONS, worth
        for holder in question.iter():
            html = holder.findtext("text") or ""
            for address in re.findall(r'@@PLUGINFILE@@/([^"]+)"', html):
                assert unquote(address) in [file.attrib["path"].lstrip("/") + file.attrib["name"] for file in holder.findall("file")]
