"""Own banks as packages of QTI and back: nothing is lost, and what others see is the same question."""

import io
import re
import zipfile
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings

from helpers.strategies import documents
from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError
from quaestor.formats.exchange.checking import checked
from quaestor.formats.exchange.imported import to_document
from quaestor.formats.exchange.qti import packages, writer
from quaestor.formats.files import bundled_banks, load

PNG, MP3 = b"\x89PNG\r\n\x1a\n" + b"0" * 20, b"ID3" + b"0" * 20
MEDIA = {"pictures/sign.png": PNG, "other/sign.png": PNG + b"1", "hello.mp3": MP3}
USUAL = {"skill": "a", "right": [0.1, 0.9]}
GRADED = {"skill": "a", "classes": ["wrong", "half", "right"], "table": {"no": [0.7, 0.2, 0.1], "yes": [0.1, 0.2, 0.7]}}
EVERY_KIND = {
    "quaestor": 2,
    "title": "Every kind & more",
    "language": "en",
    "skills": {"a": {"prior": [0.4, 0.6]}, "b/c": {"parents": ["a"], "strength": 0.5}},
    "templates": {"plain": {"skill": "a", "right": [0.2, [0.7, 0.9]]}},
    "questions": {
        "one": {
            "template": "plain",
            "text": "*Which* is $\\frac{1}{2}$ of 4 < 5 & 6?",
            "options": ["2", "3", "$x_1$ {~=#:}"],
            "correct": "2",
        },
        "map + graded": {**GRADED, "options": {"x": "right", "y": "half", "z": "wrong"}},
        "several": {**USUAL, "kind": "choices", "options": ["**p**", "q", "r"], "correct": ["**p**", "r"], "explanation": "So:\n\n- it is"},
        "several graded": {**GRADED, "kind": "choices", "options": ["p", "q", "r"], "correct": ["p", "r"]},
        "number": {
            "skill": "b/c",
            "difficulty": "hard",
            "kind": "number",
            "correct": "1 1/2",
            "accept": ["-3"],
            "tolerance": "0,05",
            "tags": ["t u"],
        },
        "graded number": {**GRADED, "kind": "number", "correct": "1/3", "accept": {"0.5": "half"}},
        "typed": {"skill": "b/c", "difficulty": 0.4, "kind": "text", "correct": 'a*b = {c} "d"', "accept": ["ü: ~ <&>"]},
        "truth": {
            "skills": ["a", "b/c"],
            "needs": "all",
            "slip": 0.1,
            "guess": 0.2,
            "kind": "truefalse",
            "text": "Is $1$ < 2?",
            "correct": False,
        },
        "pairs": {**USUAL, "kind": "matching", "pairs": {"frog": "wet", "cat": "dry"}, "options": ["dry", "wet", "odd"]},
        "graded pairs": {**GRADED, "kind": "matching", "pairs": {"frog": "wet", "cat": "dry", "newt": "wet"}},
        "order": {**USUAL, "kind": "ordering", "options": ["first", "second", "third"]},
        "gaps": {
            **{**USUAL, "kind": "gaps", "text": "The [[1]] sat on *the* [[m]]; [[3]] kg $x$."},
            "gaps": {
                "1": {"options": ["cat", "dog}", "$\\sqrt{2}$"], "correct": "cat"},
                "m": {"kind": "text", "correct": "mat#1", "accept": ["rug <b>"]},
                "3": {"kind": "number", "correct": 4, "tolerance": 0.5},
            },
        },
        "paper": {**USUAL, "text": "On paper"},
        "test": {**USUAL, "kind": "ordering", "options": ["a", "b"], "text": "A name that the package has a use for"},
        "seen": {
            **USUAL,
            "kind": "number",
            "correct": 3,
            "media": "pictures/sign.png",
            "alt": 'A "sign"',
            "text": "See ![it](other/sign.png)",
        },
        "heard": {**USUAL, "kind": "number", "correct": 3, "media": "hello.mp3"},
    },
}
BOTH = pytest.mark.parametrize("version", writer.VERSIONS)


def back(data):
    return checked(packages.read(data, "quiz.zip"))


def files(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(data, change):
    """A package whose files were changed: `change` gets the name and content of each."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files(data).items():
            archive.writestr(name, change(name, content))
    return made.getvalue()


def bare(data):
    """A package as another program leaves it: without our elements."""
    return changed(data, lambda _, content: re.sub(rb"<quaestor .*?</quaestor>", b"", content, flags=re.S))


@BOTH
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(document=documents())
def test_a_bank_that_is_written_and_read_is_the_same(version, document):
    bank = Bank(document)
    found = back(writer.write(bank, {}, version).data)
    assert not found.refused
    assert not [note for note in found.notes if note.question]
    again = Bank(to_document(found))
    assert again.document == bank.document
    assert again.version == bank.version


@pytest.mark.long
@BOTH
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much], deadline=None)
@given(document=documents())
def test_many_banks_that_are_written_and_read_are_the_same(version, document):
    bank = Bank(document)
    found = back(writer.write(bank, {}, version).data)
    assert Bank(to_document(found)).document == bank.document


@pytest.mark.parametrize("name", bundled_banks())
def test_bundled_banks_are_the_same(name):
    bank = load(name)
    assert Bank(to_document(back(writer.write(bank, {}).data))).version == bank.version


@BOTH
def test_every_kind_is_the_same_with_its_pictures(version):
    bank = Bank(EVERY_KIND)
    exported = writer.write(bank, MEDIA, version)
    found = back(exported.data)
    assert Bank(to_document(found)).document == bank.document
    assert {name: found.media[name] for name in MEDIA} == MEDIA
    assert exported == writer.write(bank, MEDIA, version), "the same bank gives the same bytes"


def test_a_bank_of_more_questions_than_a_package_has_files_is_refused(monkeypatch):
    monkeypatch.setattr(writer, "MOST_FILES", 10)
    with pytest.raises(BankError, match="a package has at most 10 files, got 16 questions"):
        writer.write(Bank(EVERY_KIND), {})


def key(question):
    """What decides whether an answer is right, whatever its marks look like."""
    if question.parts:
        return [(part.kind, part.options.index(part.accept[0]) if part.kind == "choice" else part.accept) for part in question.parts]
    if question.kind in ("choice", "choices", "truefalse"):
        return [its == question.classes[-1] or option in question.correct for option, its in question.option_classes.items()]
    return [text for text, its in question.accept.items() if its == question.classes[-1]]


@BOTH
def test_what_other_programs_see_is_the_same_question(version):
    bank = Bank(EVERY_KIND)
    exported = writer.write(bank, MEDIA, version)
    assert [note.question for note in exported.notes if "only Quaestor" in note.words] == ["paper"]
    found = back(bare(exported.data))
    assert [note.question for note in found.refused] == ["paper"]
    again = Bank(to_document(found))
    for one, other in zip(again.questions.values(), (q for q in bank.questions.values() if q.id != "paper"), strict=True):
        if one.kind == "number":
            near = [Fraction for Fraction in other.accept if other.accept[Fraction] == other.classes[-1]]
            assert [float(one.tolerance), len(key(one))] == [float(other.tolerance), len(near)]
        else:
            assert (one.kind, key(one)) == (other.kind, key(other)), other.id
    assert again.questions["one"].text == "*Which* is $\\frac{1}{2}$ of 4 < 5 & 6?"
    assert again.questions["one"].options == ("2", "3", "$x_1$ {~=#:}")
    assert again.questions["gaps"].text == "The [[1]] sat on *the* [[2]]; [[3]] kg $x$."
    assert again.questions["typed"].accept.keys() == bank.questions["typed"].accept.keys()
    assert found.questions["seen"]["text"] == 'See ![it](sign-2.png)\n\n![A "sign"](sign.png)'
    assert found.questions["heard"]["media"] == "hello.mp3"
    assert found.categories["truth"] == ("a and b/c",)


@BOTH
def test_a_package_is_well_formed_and_names_all_its_files(version):
    there = files(writer.write(Bank(EVERY_KIND), MEDIA, version).data)
    manifest = ElementTree.fromstring(there["imsmanifest.xml"])
    named = {one.get("href") for one in manifest.iter() if one.tag.endswith("}file")}
    assert named | {"imsmanifest.xml"} == there.keys()
    identifiers = [one.get("identifier") for one in manifest.iter() if one.tag.endswith("}resource")]
    assert len(identifiers) == len(set(identifiers))
    old, new = (
        "{http://www.imsglobal.org/xsd/imsqti_v2p1}assessmentItem",
        "{http://www.imsglobal.org/xsd/imsqtiasi_v3p0}qti-assessment-item",
    )
    tag = new if version == "3.0" else old
    for name, content in there.items():
        if name.startswith("items/"):
            item = ElementTree.fromstring(content)
            assert item.tag == tag
            order = [re.sub(r"^(qti-)?", "", child.tag.partition("}")[2]).replace("-", "").lower() for child in item]
            places = ["responsedeclaration", "outcomedeclaration", "itembody", "responseprocessing", "modalfeedback"]
            assert [places.index(tag) for tag in order] == sorted(places.index(tag) for tag in order), "the order of the schema"


@BOTH
def test_what_was_changed_elsewhere_stands_and_our_numbers_stay(version):
    bank = Bank(EVERY_KIND)
    data = changed(writer.write(bank, MEDIA, version).data, lambda _, content: content.replace(b"Is \\(1\\)", b"Was \\(1\\)"))
    found = back(data)
    again = Bank(to_document(found))
    assert again.questions["truth"].text == "Was $1$ < 2?"
    assert again.model_version == bank.model_version
    assert [(note.question, str(note.words)[:43]) for note in found.notes] == [("truth", "it was changed since Quaestor wrote it: its")]


@pytest.mark.parametrize(
    "ours",
    [
        "quaestor: {",
        "",
        'quaestor: {"bank": 3, "media": 7}',
        'quaestor: {"fields": "x", "id": 7}',
        'quaestor: {"media": {"../x": "../../y"}}',
    ],
)
def test_an_element_that_is_not_ours_after_all_is_passed_over(ours):
    bank = Bank(EVERY_KIND)
    data = changed(
        writer.write(bank, {}).data,
        lambda _, content: re.sub(
            rb"(<quaestor [^>]*>).*?</quaestor>", lambda m: m[1] + ours.encode() + b"</quaestor>", content, flags=re.S
        ),
    )
    found = back(data)
    assert len(found.questions) == len(EVERY_KIND["questions"]) - 1
    assert not found.media
