"""JSON: the same document as in YAML, numbers in word fields as written, and hostile files refused."""

import json

import pytest

from helpers.bank_files import loaded, problems
from quaestor.formats.files import dump_bytes

SMALL = {"skills": {"m": {}}, "questions": {"Q1": {"skill": "m", "right": [0.3, 0.9]}}}


def small(**fields):
    """A bank of one question with these fields besides, as JSON."""
    return json.dumps({**SMALL, "questions": {"Q1": {**SMALL["questions"]["Q1"], **fields}}})


def test_numbers_keep_their_form_in_word_fields():
    text = small(options=["HERE"], correct="X").replace('"HERE"', "50, 50.0, 5e1, -0, 1e400").replace('"X"', "50.0")
    question = loaded(text, ".json").questions["Q1"]
    assert question.options == ("50", "50.0", "5e1", "-0", "1e400")
    assert question.correct == ("50.0",)


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_constant_is_a_word_but_no_number(constant):
    assert loaded(small(group="HERE").replace('"HERE"', constant), ".json").questions["Q1"].group == constant
    (problem,) = problems(small(minutes="HERE").replace('"HERE"', constant), ".json")
    assert problem == f"questions.Q1.minutes: a number is expected, got '{constant}'"


@pytest.mark.parametrize("digits", [400, 10_000, 1_000_000])
def test_a_huge_integer_is_refused_as_a_number(digits):
    (problem,) = problems(small(minutes="HERE").replace('"HERE"', "9" * digits), ".json")
    assert problem.startswith("questions.Q1.minutes: a number is expected, got ")
    assert len(problem) < 200


def test_null_is_a_field_left_out():
    assert loaded(small(text=None, tags=None), ".json") == loaded(small(), ".json")


def test_true_and_false_are_booleans_in_flags_and_words_elsewhere():
    question = loaded(small(pilot=True, options=[True, False], correct=True), ".json").questions["Q1"]
    assert question.pilot is True
    assert question.options == ("true", "false")


def test_repeated_keys_are_each_reported_once():
    text = '{"title": "a", "title": "b", "title": "c", "skills": {"m": {"prior": 1, "prior": 2}}}'
    assert problems(text, ".json") == ["file: each key is used once, got 'prior'", "file: each key is used once, got 'title'"]


def test_one_repeated_key_among_many_is_found_quickly():
    text = "{" + ", ".join(f'"k{number}": 1' for number in range(200_000)) + ', "k7": 2}'
    assert problems(text, ".json") == ["file: each key is used once, got 'k7'"]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "Expecting value", 1),
        ('{"title": "a",\n "skills": }', "Expecting value", 2),
        ('{"title": "a"\n\n "skills": {}}', "Expecting ',' delimiter", 3),
        ('{"title": "a"} {}', "Extra data", 1),
        ('{"title": "a\n"}', "Invalid control character at", 1),
    ],
)
def test_a_syntax_error_has_its_line(text, message, line):
    assert problems(text, ".json") == [f"file: the file is valid JSON, got {message} [line {line}]"]


@pytest.mark.parametrize("text", ["[" * 21 + "1" + "]" * 21, '{"a": ' * 21 + "1" + "}" * 21])
def test_deep_nesting_is_refused(text):
    assert problems(text, ".json") == ["file: values are nested at most 20 deep, got more"]


def test_nesting_up_to_the_limit_is_read():
    (problem,) = problems("[" * 20 + "1" + "]" * 20, ".json")
    assert "a map of fields is expected" in problem


def test_nesting_beyond_the_reader_is_refused():
    (problem,) = problems("[" * 100_000, ".json")
    assert problem.startswith("file: values are not nested so deeply, got ")


def test_half_a_character_is_refused():
    (problem,) = problems(small(text="HERE").replace("HERE", r"\ud800"), ".json")
    assert problem.startswith("questions.Q1.text: text has no control characters")


def test_letters_are_written_as_letters():
    bank = loaded(small(text="Größe 🎓"), ".json")
    written = dump_bytes(bank, ".json").decode()
    assert "Größe 🎓" in written
    assert json.loads(written) == bank.document
