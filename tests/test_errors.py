"""Messages: places, values and hints as people read them."""

import pickle

import pytest

from quaestor.errors import BankError, Problem, QuaestorError, StatementError, Words, format_place, format_value, located, nearest


def test_a_problem_says_place_rule_value_hint_and_line():
    assert str(Problem("skills.a", "a rule", "5")) == "skills.a: a rule, got 5"
    assert str(Problem("skills.a", "a rule", "5", "try 6", where="line 3")) == "skills.a: a rule, got 5 (try 6) [line 3]"


def test_a_bank_error_has_a_line_for_each_problem():
    found = [Problem("skills.a", "a rule", "5"), Problem("skills.b", "a rule", "6")]
    assert str(BankError(found)) == "skills.a: a rule, got 5\nskills.b: a rule, got 6"
    assert str(BankError(found, "bank.yaml")) == "bank.yaml:skills.a: a rule, got 5\nbank.yaml:skills.b: a rule, got 6"
    assert BankError(iter(found)).problems == tuple(found)
    assert isinstance(BankError(found), QuaestorError)


def test_a_statement_error_keeps_its_parts():
    error = StatementError("a rule", "5", "try 6")
    assert (str(error), error.rule, error.value, error.hint) == ("a rule, got 5 (try 6)", "a rule", "5", "try 6")
    assert str(StatementError("a rule", "5")) == "a rule, got 5"


def test_problems_are_located_where_nobody_knew_better():
    found = [Problem("a", "a rule", "5"), Problem("b", "a rule", "6", where="sheet x, row 2")]
    assert [problem.where for problem in located(found, lambda place: f"line of {place}")] == ["line of a", "sheet x, row 2"]
    assert located(found, None) == found


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ((), ""),
        (("title",), "title"),
        (("questions", "Q1", "right", 0), "questions.Q1.right[0]"),
        (("skills", "a", "table", "no, yes", "vertices", 1, 2), "skills.a.table.no, yes.vertices[1][2]"),
    ],
)
def test_a_place_is_a_path(place, text):
    assert format_place(place) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("no", "'no'"),
        (Words("3 skills"), "3 skills"),
        (0.5, "0.5"),
        (None, "None"),
        (["a", 1], "['a', 1]"),
        ("a\nb\tc\x1b[0m\ud800", "'a\\nb\\tc\\x1b[0m\\ud800'"),
        ("é数🎓", "'é数🎓'"),
        ("x" * 78, f"'{'x' * 78}'"),
        ("x" * 79, f"'{'x' * 76}..."),
        (10**5000, "a value too long to show"),
        ([10**5000], "a value too long to show"),
    ],
    ids=["word", "words", "number", "nothing", "list", "unprintable", "Unicode", "long", "too long", "huge number", "list of it"],
)
def test_a_value_is_shown_on_one_short_line(value, text):
    assert format_value(value) == text


def test_a_very_deep_value_is_not_shown():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert format_value(deep) == "a value too long to show"
    while deep:  # taken apart by hand: freeing it all at once is deep, too
        deep = deep[0]


def test_the_nearest_word_is_proposed():
    assert nearest("dificulty", ["difficulty", "right"]) == "did you mean 'difficulty'?"
    assert nearest("zzz", ["difficulty", "right"]) == ""
    assert nearest(5, ["5"]) == ""
    assert nearest("x", []) == ""
    assert nearest("x" * 100_000, ["x" * 99_999]) == ""  # to compare them would take for ever


@pytest.mark.parametrize(
    "error", [BankError([Problem("a", "b", "c")], "file"), StatementError("rule", "value", "hint"), QuaestorError("x")]
)
def test_an_error_travels_to_another_process(error):
    found = pickle.loads(pickle.dumps(error))
    assert (type(found), str(found), vars(found)) == (type(error), str(error), vars(error))
