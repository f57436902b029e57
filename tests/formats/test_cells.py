"""Cells: how lists, maps and tables are written into one cell of a sheet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import words
from quaestor.errors import BankError
from quaestor.formats.cells import read_cell, write_cell

GOLDEN = [
    ("options", "15 | 50 | 105", ["15", "50", "105"]),
    ("options", "15", ["15"]),
    ("options", "50 -> right; 15 -> wrong", {"50": "right", "15": "wrong"}),
    ("options", "50 -> right\n15 -> wrong\n", {"50": "right", "15": "wrong"}),
    ("accept", "3/4 -> right; 6/8 -> half", {"3/4": "right", "6/8": "half"}),
    ("correct", "50", "50"),
    ("correct", "a | b", ["a", "b"]),
    ("right", "0.3 | 0.9", ["0.3", "0.9"]),
    ("right", "0.35..0.45 | 1/3 .. 90%", [["0.35", "0.45"], ["1/3", "90%"]]),
    ("right", "unlikely | very likely", ["unlikely", "very likely"]),
    ("slip", "0.1..0.2", ["0.1", "0.2"]),
    ("guess", "0.1", "0.1"),
    ("prior", "mostly high", "mostly high"),
    ("prior", "0.4 | 0.6", ["0.4", "0.6"]),
    ("levels", "no | partly | yes", ["no", "partly", "yes"]),
    ("table", "no, no -> 0.9 | 0.1; no, yes -> 0.8 | 0.2", {"no, no": ["0.9", "0.1"], "no, yes": ["0.8", "0.2"]}),
    ("table", "no -> 0.9 | 0.05..0.15", {"no": ["0.9", ["0.05", "0.15"]]}),
    ("at_least", "a -> partly; b -> yes", {"a": "partly", "b": "yes"}),
    ("irt", "a -> 1.2; b -> -1 | 0.5", {"a": "1.2", "b": ["-1", "0.5"]}),
    ("text", "a | b -> c; [d]", "a | b -> c; [d]"),
    ("difficulty", "very easy", "very easy"),
]
JSON = [
    ("options", '["a | b", "c"]', ["a | b", "c"]),
    ("correct", '["a | b"]', ["a | b"]),
    ("table", '{"low": {"vertices": [[0.1, 0.9], [0.2, 0.8]]}}', {"low": {"vertices": [["0.1", "0.9"], ["0.2", "0.8"]]}}),
    ("options", "[no, 012]", ["no", "012"]),
]


@pytest.mark.parametrize(("field", "cell", "value"), GOLDEN + JSON)
def test_a_cell_reads_as_documented(field, cell, value):
    assert read_cell(field, cell) == value


@pytest.mark.parametrize(
    ("field", "value", "cell"),
    [
        ("options", ["15", "50"], "15 | 50"),
        ("options", {"50": "right", "15": "wrong"}, "50 -> right\n15 -> wrong"),
        ("options", ["a | b", "c"], '["a | b", "c"]'),
        ("options", ["a -> b", "c"], '["a -> b", "c"]'),
        ("options", {"a; b": "right"}, '{"a; b": "right"}'),
        ("correct", "50", "50"),
        ("correct", "a | 🎓", '["a | 🎓"]'),
        ("correct", "[0, 1]", '["[0, 1]"]'),
        ("right", [0.3, [0.85, 0.95]], "0.3 | 0.85..0.95"),
        ("slip", [0.1, 0.2], "0.1..0.2"),
        ("slip", 0.1, 0.1),
        ("table", {"no, no": [0.9, 0.1], "no, yes": [0.8, [0.1, 0.3]]}, "no, no -> 0.9 | 0.1\nno, yes -> 0.8 | 0.1..0.3"),
        ("table", {"low": {"vertices": [[0.1, 0.9]]}}, '{"low": {"vertices": [[0.1, 0.9]]}}'),
        ("irt", {"a": 1.2, "b": [-1, 0.5]}, "a -> 1.2; b -> -1 | 0.5"),
        ("irt", {"b": [0.5]}, '{"b": [0.5]}'),
        ("pilot", True, "true"),
        ("minutes", 1.5, 1.5),
        ("text", "a | b", "a | b"),
    ],
)
def test_a_value_is_written_in_the_short_form_when_that_can_say_it(field, value, cell):
    assert write_cell(field, value) == cell


@pytest.mark.parametrize(
    ("field", "cell", "problem"),
    [
        ("options", "a -> right; b", "options: an entry of a map is 'key -> value', got 'b'"),
        ("table", "0.9 | 0.1", "table: an entry of a map is 'key -> value', got '0.9 | 0.1'"),
        ("options", "a -> right; a -> wrong", "options: each key is used once, got 'a'"),
        ("options", '{"a": "right", "a": "wrong"}', "file: each key is used once, got 'a'"),
        ("options", "[a, b", "file: a cell that starts with [ or { is JSON, got did not find expected ',' or ']'"),
    ],
)
def test_a_cell_that_cannot_be_read_says_why(field, cell, problem):
    with pytest.raises(BankError) as caught:
        read_cell(field, cell)
    assert str(caught.value).startswith(problem)


def as_text(value):
    if isinstance(value, dict):
        return {key: as_text(entry) for key, entry in value.items()}
    return [as_text(item) for item in value] if isinstance(value, list) else str(value)


LISTS = st.lists(words(), min_size=1, max_size=4)
MAPS = st.dictionaries(words(), words(), min_size=1, max_size=3)
CHANCE = st.one_of(st.floats(0, 1), words(), st.lists(st.floats(0, 1), min_size=2, max_size=2))
ROW = st.one_of(st.lists(CHANCE, min_size=1, max_size=3), st.fixed_dictionaries({"vertices": st.lists(st.lists(st.floats(0, 1)))}))
VALUES = {
    "options": st.one_of(LISTS, MAPS),
    "accept": st.one_of(LISTS, MAPS),
    "tags": LISTS,
    "right": st.lists(CHANCE, min_size=1),
    "table": st.dictionaries(words(), ROW, min_size=1, max_size=3),
    "at_least": MAPS,
}


@pytest.mark.parametrize("field", VALUES)
@given(data=st.data())
def test_what_is_written_reads_back(field, data):
    value = data.draw(VALUES[field])
    assert read_cell(field, write_cell(field, value)) == as_text(value)


@given(words())
def test_a_key_reads_back_as_itself_or_as_a_list_of_it(word):
    assert read_cell("correct", write_cell("correct", word)) in (word, [word])
