"""Questions of several parts, and true or false: what is entered becomes a class, and one text that reads back as the same entry."""

import json
import pickle
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import unique, words
from quaestor.bankfile.bank import Bank
from quaestor.errors import AnswerError
from quaestor.model.entries import PartsError

ANIMALS = {"kind": "matching", "pairs": {"frog": "amphibian", "cat": "mammal", "newt": "amphibian"}}
PLANETS = {"kind": "ordering", "options": ["Mercury", "Venus", "Earth", "Mars"]}
CLOZE = {
    "kind": "gaps",
    "text": "The [[animal]] sat on the [[ 2 ]]; it weighs [[3]] kg.",
    "gaps": {
        "2": {"kind": "text", "correct": "mat", "accept": ["rug"]},
        "3": {"kind": "number", "correct": 4, "tolerance": 0.5},
        "animal": {"options": ["cat", "dog"], "correct": "cat"},
    },
}
FOUR = ["wrong", "some", "most", "right"]


def question(**fields):
    """A question as a bank makes it; its table plays no part here."""
    classes = fields.get("classes", ["wrong", "right"])
    row = [1 / len(classes)] * len(classes)
    bank = Bank({"skills": {"skill": {}}, "questions": {"Q": {"skill": "skill", "table": {"no": row, "yes": row}, **fields}}})
    return bank.questions["Q"]


def refusal(asked, entry):
    """The words with which an entry is refused."""
    with pytest.raises(AnswerError) as caught:
        asked.classify(entry)
    return str(caught.value)


# True or false


@pytest.mark.parametrize(
    ("correct", "other"), [(True, False), ("false", "true"), ("WAHR", "falsch"), ("faux", "vrai"), ("Richtig", "Falsch")]
)
def test_true_or_false_is_a_choice_between_two(correct, other):
    asked = question(kind="truefalse", correct=correct)
    right = asked.correct[0]
    assert asked.options == ("true", "false")
    assert [asked.classify(entry) for entry in (right, right.upper(), right == "true", right != "true")] == ["right"] * 3 + ["wrong"]
    assert asked.classify(asked.written(right == "true")) == "right"
    assert question(kind="truefalse", correct=other).correct != asked.correct
    assert refusal(asked, "perhaps") == "Q: one of true | false is expected, got 'perhaps'"


def test_true_is_an_entry_of_true_or_false_only():
    assert refusal(question(options=["true", "false"], correct="true"), True) == "Q: one entry is expected, got True"


# Classes


@pytest.mark.parametrize("count", range(4))
def test_the_share_of_right_parts_gives_the_class(count):
    keys = {"frog": "amphibian", "cat": "mammal", "newt": "amphibian"}
    wrong = {"amphibian": "mammal", "mammal": "amphibian"}
    entry = {left: right if number < count else wrong[right] for number, (left, right) in enumerate(keys.items())}
    two, three, four = (question(**ANIMALS, classes=classes) for classes in (["wrong", "right"], ["wrong", "half", "right"], FOUR))
    assert two.classify(entry) == ("right" if count == 3 else "wrong")
    assert three.classify(entry) == ["wrong", "half", "right"][floor(2 * count / 3)]
    assert four.classify(entry) == FOUR[count]
    assert four.marks(entry) == (True,) * count + (False,) * (3 - count)


def test_an_order_is_right_place_by_place():
    asked = question(**PLANETS, classes=["none", "one", "two", "three", "all"])
    assert asked.classify(["Mercury", "Venus", "Earth", "Mars"]) == "all"
    assert asked.classify(("Venus", "Mercury", "Earth", "Mars")) == "two"
    assert asked.classify(["Mars", "Mercury", "Venus", "Earth"]) == "none"
    assert [part.name for part in asked.parts] == ["1", "2", "3", "4"]


def test_gaps_come_in_the_order_of_the_text_and_are_read_by_their_kind():
    asked = question(**CLOZE, classes=FOUR)
    assert [(part.name, part.kind) for part in asked.parts] == [("animal", "choice"), ("2", "text"), ("3", "number")]
    assert asked.classify({"2": "Rug.", "3": "4,4", "animal": "CAT"}) == "right"
    assert asked.classify(["dog", "mat", 3.5]) == "most"
    assert asked.classify(iter(["dog", "sofa", "1/2"])) == "wrong"


# One text for logs, tables and addresses


@pytest.mark.parametrize(
    ("fields", "entry", "written"),
    [
        (ANIMALS, ["amphibian", "Mammal", "mammal"], '{"frog": "amphibian", "cat": "mammal", "newt": "mammal"}'),
        (PLANETS, {"2": "venus", "1": "Mercury", "4": "mars", "3": "Earth"}, '["Mercury", "Venus", "Earth", "Mars"]'),
        (CLOZE, {"3": 4, "animal": "dog", "2": " the “mat”"}, '{"animal": "dog", "2": " the “mat”", "3": "4"}'),
    ],
)
def test_an_entry_is_written_in_one_way(fields, entry, written):
    asked = question(**fields)
    assert asked.written(entry) == written
    assert asked.written(written) == written
    assert asked.classify(written) == asked.classify(entry)


@given(unique(words(), 2, 5), st.data())
def test_whatever_the_texts_hold_the_text_form_reads_back(texts, data):
    order = question(kind="ordering", options=texts)
    pairs = question(kind="matching", pairs=dict(zip(texts, reversed(texts), strict=True)))
    names = {f"g{number}": {"kind": "text", "correct": text} for number, text in enumerate(texts)}
    gaps = question(kind="gaps", text=" ".join(f"[[{name}]]" for name in names), gaps=names)
    entered = data.draw(st.permutations(texts))
    for asked in (order, pairs, gaps):
        assert asked.entries(asked.written(entered)) == tuple(entered)
        assert asked.classify(asked.written([part.accept[0] for part in asked.parts])) == "right"


# Refusals


def test_every_part_that_is_missing_or_wrong_is_named():
    asked = question(**CLOZE)
    with pytest.raises(PartsError) as caught:
        asked.classify({"animal": "cow", "3": "heavy"})
    assert caught.value.faults == {
        "animal": "one of cat | dog is expected, got 'cow'",
        "2": "the entry is empty",
        "3": "a number is expected, such as 12, 0.75, 3/4 or 1 1/2, got 'heavy'",
    }
    assert str(caught.value) == "Q: " + "; ".join(f"{name}: {words}" for name, words in caught.value.faults.items())
    assert pickle.loads(pickle.dumps(caught.value)).faults == caught.value.faults


@pytest.mark.parametrize(
    ("fields", "entry", "words"),
    [
        (PLANETS, ["Mercury", "Venus", "Venus", "Mars"], "Q: 3: each is listed once, got 'Venus'"),
        (PLANETS, ["Mercury"], "Q: an entry for each of 1 | 2 | 3 | 4 is expected, as a list or map, got ['Mercury']"),
        (PLANETS, "Mercury", "Q: an entry for each of 1 | 2 | 3 | 4 is expected, as a list or map, got 'Mercury'"),
        (PLANETS, "", "Q: an entry for each of 1 | 2 | 3 | 4 is expected, as a list or map, got ''"),
        (PLANETS, 5, "Q: an entry for each of 1 | 2 | 3 | 4 is expected, as a list or map, got 5"),
        (PLANETS, None, "Q: an entry for each of 1 | 2 | 3 | 4 is expected, as a list or map, got None"),
        (PLANETS, "1" * 5000, "Q: an entry for each of 1 | 2 | 3 | 4 is expected, as a list or map, got '1111"),
        (PLANETS, "[" * 100_000, "Q: an entry for each of 1 | 2 | 3 | 4 is expected, as a list or map, got '[[[["),
        (PLANETS, [["Mercury"], {}, None, True], "Q: 1: one entry is expected, got ['Mercury']; 2: one entry is expected, got {}; 3: one"),
        (ANIMALS, {"frog": "amphibian", "dog": "mammal"}, "Q: one of frog | cat | newt is expected, got 'dog'"),
        (ANIMALS, {}, "Q: frog: the entry is empty; cat: the entry is empty; newt: the entry is empty"),
    ],
)
def test_what_is_no_entry_is_refused_with_its_place(fields, entry, words):
    assert refusal(question(**fields), entry).startswith(words)


@given(
    st.sampled_from([ANIMALS, PLANETS, CLOZE]),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(["frog", "cat", "1", "Mars"])),
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["frog", "cat", "newt", "1", "2"]), inner)),
        max_leaves=6,
    ),
)
def test_any_entry_has_a_class_or_is_refused(fields, entry):
    asked = question(**fields)
    for given_as in (entry, json.dumps(entry)):
        try:
            assert asked.classify(given_as) in asked.classes
        except AnswerError:
            continue


def test_a_copy_of_a_question_is_equal():
    for fields in (ANIMALS, PLANETS, CLOZE):
        asked = question(**fields)
        copy = pickle.loads(pickle.dumps(asked))
        assert (copy.parts, copy.kind, copy.options) == (asked.parts, asked.kind, asked.options)
