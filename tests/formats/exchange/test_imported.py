"""The frame of all readers: ids, media, notes, and the document that comes out."""

import pytest

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError
from quaestor.formats.exchange.checking import checked
from quaestor.formats.exchange.encoding import decoded
from quaestor.formats.exchange.imported import Collection, Imported, Note, to_document
from quaestor.formats.exchange.registry import read_questions_bytes

CHOICE = {"text": "?", "options": ["a", "b"], "correct": "a"}


def test_ids_are_names_without_what_banks_forbid_and_each_stands_once():
    found = Collection()
    names = ["What is 2 = 1 + 1, please?", "What is 2 = 1 + 1, please?", "", "x" * 1000, "../../etc/passwd", "Ü\u202e\x00<b>"]
    assert [found.add(name, CHOICE, "line 1") for name in names] == [
        *("What is 2 1 + 1 please", "What is 2 1 + 1 please (2)", "Q1", "x" * 80, "etc passwd", "Ü b"),
    ]


def test_pictures_of_one_name_and_other_content_have_other_names():
    found = Collection()
    given = [("a/logo.png", b"1"), ("logo.png", b"1"), ("logo.png", b"2"), ("../my (logo).png", b"3"), ("noending", b"4")]
    assert [found.keep(name, content) for name, content in given] == ["logo.png", "logo.png", "logo-2.png", "my-logo.png", "noending"]


def imported(**given):
    questions = given.pop("questions", {"one": CHOICE, "two": CHOICE, "three": CHOICE})
    return Imported("My quiz", questions, places=dict.fromkeys(questions, "line 7"), **given)


def test_skills_are_those_of_categories_tags_or_one_name():
    found = imported(categories={"one": ("top", "Fractions"), "two": ("top", "one")}, tags={"two": ("hard", "x"), "three": ("hard",)})
    by_category = Bank(to_document(found))
    assert [q.skills for q in by_category.questions.values()] == [("Fractions",), ("one (2)",), ("My quiz",)]  # ids of questions are taken
    assert [q.skills for q in Bank(to_document(found, "tag")).questions.values()] == [("My quiz",), ("hard",), ("hard",)]
    assert [*Bank(to_document(found, "arithmetic")).skills] == ["arithmetic"]


def test_two_categories_of_one_name_are_two_skills():
    document = to_document(imported(categories={"one": ("a", "x"), "two": ("b", "x"), "three": ("a", "x")}))
    assert [fields["skill"] for fields in document["questions"].values()] == ["x", "x (2)", "x"]


def test_questions_without_numbers_are_medium_and_unsure_hence_credal():
    bank = Bank(to_document(imported(questions={"one": CHOICE, "two": {**CHOICE, "right": [0.2, 0.9]}})))
    document = bank.document["questions"]
    assert (document["one"]["difficulty"], document["one"]["confidence"]) == ("medium", "unsure")
    assert not bank.questions["one"].table.is_precise
    assert bank.questions["two"].table.is_precise


def test_a_question_that_breaks_a_rule_of_banks_is_refused_with_it_and_the_others_stay():
    questions = {"one": CHOICE, "two.5": {**CHOICE, "options": ["a", "a"]}, "three": {**CHOICE, "correct": "c"}}
    found = checked(imported(questions=questions, notes=(Note("line 7", "three", "x"),)))
    assert [*found.questions] == ["one"]
    assert found.count == 3
    assert not found.notes
    assert [str(note.sentence) for note in found.refused] == [
        "two.5: it breaks a rule of banks: each is listed once, got 'a' [line 7]",
        "three: it breaks a rule of banks: the correct option is one of the options, got 'c' [line 7]",
    ]


@pytest.mark.parametrize(
    ("data", "text", "line"),
    [
        ("größer\r\nx".encode(), "größer\nx", 0),
        ("größer".encode("utf-8-sig"), "größer", 0),
        ("größer".encode("utf-16"), "größer", 0),
        (b"\xfe\xff" + "größer".encode("utf-16-be"), "größer", 0),
        ("a\n“größer”".encode("cp1252"), "a\n“größer”", 2),
    ],
)
def test_texts_of_all_usual_encodings_are_read(data, text, line):
    assert decoded(data) == (text, line)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("größer\nx".encode() + b"\xe4", "the text is encoded as UTF-8, got other bytes (save the file as UTF-8) [line 2]"),
        (b"a\n\x81\xe4", "the text is encoded as UTF-8 or Windows-1252, got other bytes (save the file as UTF-8) [line 2]"),
        ("größer".encode("utf-16")[:-1], "the text is encoded as UTF-16-LE"),
        ("größer".encode("utf-16-le"), "the file is text, got control character 0x00 (save the file as UTF-8) [line 1]"),
    ],
)
def test_a_text_of_another_encoding_is_refused_with_its_line_and_never_garbled(data, words):
    with pytest.raises(BankError) as caught:
        decoded(data)
    assert words in str(caught.value)


def test_a_file_of_no_known_format_is_refused_by_what_is_known():
    words = r"notes.txt:file: questions are read from one of these formats: Moodle XML, .*Aiken, GIFT, got a file of none of them"
    with pytest.raises(BankError, match=words):
        read_questions_bytes(b"Dear diary", "notes.txt")


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (b" \n", "quiz.gift", "got an empty file"),
        (b"no package", "quiz.docx", r"got a file of none of them \(its name ends in .docx, its content is something else\)"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_told_so(data, name, words):
    with pytest.raises(BankError, match=words):
        read_questions_bytes(data, name)


def test_a_gift_file_that_begins_with_a_brace_is_one_and_its_faults_have_places():
    found = read_questions_bytes(b"{#}\n\n::Sun::It rises.{T}", "odd.gift")
    assert [*found.questions] == ["Sun"]
    assert [one.sentence.endswith("[line 1]") for one in found.refused] == [True]
