"""Own banks as files of other systems and back: nothing is lost, and what others see is still the same question."""

import re

import pytest
from hypothesis import HealthCheck, given, settings

from helpers.strategies import documents
from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange import gift, gift_writer, moodle_writer, moodle_xml
from quaestor.formats.exchange.checking import checked
from quaestor.formats.exchange.imported import to_document
from quaestor.formats.files import bundled_banks, load

FORMATS = {"moodle": (moodle_writer.write, moodle_xml.read), "gift": (gift_writer.write, gift.read)}
PNG, MP3 = b"\x89PNG\r\n\x1a\n" + b"0" * 20, b"ID3" + b"0" * 20
EVERY_KIND = {
    "quaestor": 2,
    "title": "Every kind",
    "skills": {"a": {"levels": ["no", "yes"], "prior": [0.4, 0.6]}, "b/c": {"parents": ["a"], "strength": 0.5}},
    "templates": {"plain": {"skill": "a", "right": [0.2, [0.7, 0.9]]}},
    "questions": {
        "one": {
            "template": "plain",
            "text": "*Which* is $\\frac{1}{2}$ of 4 < 5 & 6?",
            "options": ["2", "3", "$x_1$ {~=#:}"],
            "correct": "2",
        },
        "map": {"skill": "a", "right": [0.1, 0.9], "options": {"x": "right", "y": "right", "z": "wrong"}},
        "several": {"skill": "a", "right": [0.1, 0.9], "kind": "choices", "options": ["**p**", "q", "r"], "correct": ["**p**", "r"]},
        "number": {
            "skill": "b/c",
            "difficulty": "hard",
            "kind": "number",
            "correct": "1 1/2",
            "accept": ["-3"],
            "tolerance": "0,05",
            "tags": ["t u"],
        },
        "typed": {
            "skill": "b/c",
            "difficulty": 0.4,
            "kind": "text",
            "correct": "a*b = {c}",
            "accept": ["ü: ~"],
            "explanation": "So:\n\n- it is",
        },
        "truth": {
            "skills": ["a", "b/c"],
            "needs": "all",
            "slip": 0.1,
            "guess": 0.2,
            "kind": "truefalse",
            "text": "Is $1$ < 2?",
            "correct": False,
        },
        "pairs": {
            "skill": "a",
            "right": [0.1, 0.9],
            "kind": "matching",
            "pairs": {"frog": "wet -> dry", "cat": "dry"},
            "options": ["dry", "wet -> dry", "odd"],
        },
        "order": {"skill": "a", "right": [0.1, 0.9], "kind": "ordering", "options": ["first", "second", "third"]},
        "gaps": {
            **{"skill": "a", "right": [0.1, 0.9], "kind": "gaps", "text": "The [[1]] sat on *the* [[m]]; [[3]] kg $x$."},
            "gaps": {
                "1": {"options": ["=cat~", "100% dog}", "$\\sqrt{2}$"], "correct": "=cat~"},
                "m": {"kind": "text", "correct": "mat#1", "accept": ["rug <b>"]},
                "3": {"kind": "number", "correct": 4, "tolerance": 0.5},
            },
        },
        "paper": {"skill": "a", "right": [0.1, 0.9], "text": "On paper"},
        "seen": {
            "skill": "a",
            "right": [0.1, 0.9],
            "kind": "number",
            "correct": 3,
            "media": "pictures/sign.png",
            "alt": 'A "sign"',
            "text": "See ![it](a.png)",
        },
        "heard": {"skill": "a", "right": [0.1, 0.9], "kind": "number", "correct": 3, "media": "hello.mp3"},
    },
}
MEDIA = {"pictures/sign.png": PNG, "a.png": PNG + b"1", "hello.mp3": MP3}


def back(exported, form):
    return checked(FORMATS[form][1](exported.data, "quiz.x"))


def bare(data):
    """A file as another program leaves it: without comments."""
    return re.sub(r"^// quaestor:.*\n", "", re.sub(r"<!--.*?-->", "", data.decode(), flags=re.S), flags=re.M).encode()


SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=8, suppress_health_check=SLOW, deadline=None)
@given(document=documents())
def test_a_bank_that_is_written_and_read_is_the_same(form, document):
    is_the_same(form, document)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMATS)
@settings(max_examples=500, suppress_health_check=SLOW, deadline=None)
@given(document=documents())
def test_many_banks_that_are_written_and_read_are_the_same(form, document):
    is_the_same(form, document)


def is_the_same(form, document):
    bank = Bank(document)
    found = back(FORMATS[form][0](bank, {}), form)
    assert not found.refused
    again = Bank(to_document(found))
    assert again.document == bank.document
    assert again.version == bank.version
    assert not [note for note in found.notes if note.question]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", bundled_banks())
def test_bundled_banks_are_the_same(form, name):
    bank = load(name)
    assert Bank(to_document(back(FORMATS[form][0](bank, {}), form))).version == bank.version


def key(question):
    """What decides whether an answer is right, whatever its marks look like."""
    if question.kind == "matching":
        return {part.name: part.accept for part in question.parts}, set(question.parts[0].options)
    if question.parts:
        return [(part.kind, part.options.index(part.accept[0]) if part.kind == "choice" else part.accept) for part in question.parts]
    if question.kind in ("choice", "choices", "truefalse"):
        return [its == question.classes[-1] or option in question.correct for option, its in question.option_classes.items()]
    return [*question.accept.values()]


@pytest.mark.parametrize("form", FORMATS)
def test_what_other_programs_see_is_the_same_question(form):
    bank = Bank(EVERY_KIND)
    exported = FORMATS[form][0](bank, MEDIA)
    found = checked(FORMATS[form][1](bare(exported.data), "quiz.x"))
    ours = {"moodle": {"paper"}, "gift": {"paper", "order", "gaps"}}[form]
    assert {note.question for note in exported.notes if "only Quaestor" in note.words} == ours
    assert {note.question for note in found.refused} == ours
    again = Bank(to_document(found))
    for own, question in again.questions.items():
        assert (question.kind, key(question)) == (bank.questions[own].kind, key(bank.questions[own])), own
    assert [*again.skills] == ["a", "b c", "a and b c"]
    assert again.questions["typed"].accept == bank.questions["typed"].accept
    assert again.questions["one"].text == "*Which* is $\\frac{1}{2}$ of 4 < 5 & 6?"
    assert again.questions["one"].options == ("2", "3", "$x_1$ {~=#:}")
    assert again.questions["number"].tags == ("t u",)
    assert again.questions["typed"].explanation == "So:\n\n- it is"


def test_pictures_and_sounds_go_with_moodle_xml_and_gift_tells_that_they_do_not():
    bank = Bank(EVERY_KIND)
    found = back(moodle_writer.write(bank, MEDIA), "moodle")
    assert Bank(to_document(found)).version == bank.version
    seen = moodle_xml.read(bare(moodle_writer.write(bank, MEDIA).data), "x")
    assert seen.media == {"sign.png": PNG, "a.png": PNG + b"1", "hello.mp3": MP3}
    assert seen.questions["seen"]["text"] == 'See ![it](a.png)\n\n![A "sign"](sign.png)'
    assert seen.questions["heard"]["media"] == "hello.mp3"
    missing = [note.words for note in moodle_writer.write(bank, {}).notes if "was not there to be written" in note.words]
    assert len(missing) == 3
    left_out = [note.question for note in gift_writer.write(bank, MEDIA).notes if "no room for pictures" in note.words]
    assert left_out == ["seen", "seen", "heard"]


@pytest.mark.parametrize("form", FORMATS)
def test_what_was_changed_elsewhere_stands_and_our_numbers_stay(form):
    bank = Bank(EVERY_KIND)
    data = FORMATS[form][0](bank, MEDIA).data.replace(b"Is \\(1\\)", b"Was \\(1\\)").replace(b"Is \\\\(1\\\\)", b"Was \\\\(1\\\\)")
    found = checked(FORMATS[form][1](data, "quiz.x"))
    again = Bank(to_document(found))
    assert again.questions["truth"].text == "Was $1$ < 2?"
    assert again.model_version == bank.model_version
    assert [(note.question, str(note.words)[:43]) for note in found.notes] == [("truth", "it was changed since Quaestor wrote it: its")]


@pytest.mark.parametrize(
    "comment", ["quaestor: {", "quaestor: []", 'quaestor: {"bank": 3}', 'quaestor: {"fields": "x", "id": 7}', "quaestor:" + "[" * 9000]
)
def test_a_comment_that_is_not_ours_after_all_is_passed_over(comment):
    data = f"<quiz><!-- {comment} --><question type='truefalse'><!-- {comment} --><name><text>T</text></name>"
    data += "<questiontext><text>?</text></questiontext>"
    data += "<answer fraction='100'><text>true</text></answer></question></quiz>"
    assert [*Bank(to_document(moodle_xml.read(data.encode(), "x.xml"))).questions] == ["T"]
