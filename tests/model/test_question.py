"""What a taker enters becomes an answer class: every kind of question, messy entries, and entries that are none."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import words
from quaestor.bankfile.bank import Bank
from quaestor.errors import AnswerError


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


# One choice


FRUIT = question(options=["Apple pie", "Pear", "Don't know", "½"], correct="Apple pie")


@pytest.mark.parametrize("entry", ["Apple pie", " Apple pie ", "apple PIE", "Apple  pie", "Apple\u00a0pie", "ＡＰＰＬＥ pie\n"])
def test_the_correct_option_is_right_however_it_is_typed(entry):
    assert FRUIT.classify(entry) == "right"


@pytest.mark.parametrize("entry", ["Pear", "PEAR", "Don’t know", "don't know", "1/2", "1⁄2"])
def test_another_option_is_wrong(entry):
    assert FRUIT.classify(entry) == "wrong"


@pytest.mark.parametrize("entry", ["Plum", "Apple", "Pear.", "Apple pie|Pear"])
def test_what_is_no_option_is_refused(entry):
    assert refusal(FRUIT, entry) == f"Q: one of Apple pie | Pear | Don't know | ½ is expected, got '{entry}'"


def test_a_map_gives_each_option_its_class():
    asked = question(options={"50": "right", "15": "wrong", "105": "half", "5 0": "right"}, classes=["wrong", "half", "right"])
    assert [asked.classify(entry) for entry in ("50", "15", "105", "5 0")] == ["right", "wrong", "half", "right"]
    assert asked.correct == ("50", "5 0")


def test_options_that_differ_only_in_case_are_told_apart_by_case():
    asked = question(options={"mm": "right", "Mm": "wrong", "km": "wrong"})
    assert [asked.classify("mm"), asked.classify("Mm")] == ["right", "wrong"]
    assert refusal(asked, "MM") == "Q: one of mm | Mm | km is expected, got 'MM'"


def test_options_are_kept_as_written():
    asked = question(options=["012", "1:30", "no", 50, True], correct=50)
    assert asked.options == ("012", "1:30", "no", "50", "true")
    assert [asked.classify("50"), asked.classify("012"), asked.classify("true")] == ["right", "wrong", "wrong"]
    assert refusal(asked, "12") == "Q: one of 012 | 1:30 | no | 50 | true is expected, got '12'"


@given(st.lists(words(), min_size=2, max_size=5, unique=True), st.data())
def test_every_option_as_written_has_its_own_class(options, data):
    correct = data.draw(st.sampled_from(options))
    asked = question(options=options, correct=correct)
    assert {option: asked.classify(option) for option in options} == {
        option: "right" if option == correct else "wrong" for option in options
    }


def test_a_question_without_options_takes_no_entries():
    asked = question(classes=["wrong", "half", "right"])
    assert not asked.takes_entries
    assert refusal(asked, "right") == "Q: has no options to choose from; its answer classes are wrong, half, right"
    assert FRUIT.takes_entries
    assert question(kind="text", correct="x").takes_entries


# Several choices


def several(classes):
    return question(kind="choices", options=["a", "b", "c", "d", "e"], correct=["a", "b", "c"], classes=classes)


@pytest.mark.parametrize(
    ("ticked", "two", "three", "four"),
    [
        ("abc", "right", "right", "right"),
        ("ab", "wrong", "half", "most"),
        ("a", "wrong", "wrong", "some"),
        ("abcd", "wrong", "half", "most"),
        ("abcde", "wrong", "wrong", "some"),
        ("abd", "wrong", "wrong", "some"),
        ("ad", "wrong", "wrong", "wrong"),
        ("de", "wrong", "wrong", "wrong"),
    ],
)
def test_hits_less_false_ticks_go_up_the_classes(ticked, two, three, four):
    assert several(["wrong", "right"]).classify(list(ticked)) == two
    assert several(["wrong", "half", "right"]).classify(list(ticked)) == three
    assert several(["wrong", "some", "most", "right"]).classify(list(ticked)) == four


@pytest.mark.parametrize("entry", ["a|b|c", " C | a | B ", "a|b|c|", "a|a|b|c", ["c", "b", "a"], ("a", "b", "c", "A"), {"a", "b", "c"}])
def test_several_choices_are_a_list_or_one_text(entry):
    assert several(["wrong", "right"]).classify(entry) == "right"


@pytest.mark.parametrize("entry", ["", " | ", [], [""]])
def test_nothing_ticked_is_no_entry(entry):
    assert refusal(several(["wrong", "right"]), entry) == "Q: the entry is empty"


def test_one_of_several_choices_that_is_no_option_is_refused():
    assert refusal(several(["wrong", "right"]), ["a", "z"]) == "Q: one of a | b | c | d | e is expected, got 'z'"


@pytest.mark.parametrize(("entry", "shown"), [(5, "[5]"), (None, "[None]"), (["a", 1], "['a', 1]")])
def test_several_choices_of_the_wrong_type_are_refused(entry, shown):
    assert refusal(several(["wrong", "right"]), entry) == f"Q: a list of options is expected, got {shown}"


@given(st.sets(st.sampled_from("abcde"), min_size=2), st.sampled_from("abcde"))
def test_a_correct_tick_more_never_lowers_the_class(ticked, tick):
    classes = ["wrong", "some", "most", "right"]
    asked = several(classes)
    before, after = (classes.index(asked.classify(list(chosen))) for chosen in (ticked - {tick}, ticked | {tick}))
    assert after >= before if tick in "abc" else after <= before


# Numbers


@pytest.mark.parametrize("entry", ["1.5", "1,5", " 1.50 ", "3/2", "1 1/2", "1½", "150 %", "15e-1", "+1.5"])
def test_a_number_is_right_in_every_way_of_writing_it(entry):
    assert question(kind="number", correct="1.5").classify(entry) == "right"


@pytest.mark.parametrize("entry", ["-1.5", "1.500001", "1.4999999999999999999", "15", "0"])
def test_another_number_is_wrong(entry):
    assert question(kind="number", correct=1.5).classify(entry) == "wrong"


@pytest.mark.parametrize(
    ("tolerance", "inside", "outside"),
    [
        ("0.1", ["0.2", "0.4", "0,3", "0.39999"], ["0.1999999999", "0.40000001", "-0.3"]),
        ("1/3", ["-1/30", "19/30"], ["0.6333334"]),
        (0, ["0.3", "3/10"], ["0.30000000000000001"]),
    ],
)
def test_the_tolerance_ends_exactly_where_it_says(tolerance, inside, outside):
    asked = question(kind="number", correct="0.3", tolerance=tolerance)
    assert {entry: asked.classify(entry) for entry in inside} == dict.fromkeys(inside, "right")
    assert {entry: asked.classify(entry) for entry in outside} == dict.fromkeys(outside, "wrong")
    assert asked.tolerance == Fraction(str(tolerance))


def test_accepted_numbers_have_their_classes_and_the_correct_one_goes_first():
    asked = question(
        kind="number",
        correct="10",
        accept={"10.5": "half", "-10": "half", "1e1": "wrong"},
        tolerance="0.5",
        classes=["wrong", "half", "right"],
    )
    answers = {"10": "right", "10.5": "right", "10.51": "half", "11": "half", "11.01": "wrong", "-9.5": "half", "9": "wrong"}
    assert {entry: asked.classify(entry) for entry in answers} == answers


def test_accepted_numbers_in_a_list_are_right():
    asked = question(kind="number", accept=["2", "-2"])
    assert [asked.classify(entry) for entry in ("2", "−2", "0")] == ["right", "right", "wrong"]


@pytest.mark.parametrize("entry", ["fifty", "5²", "1/0", "5 km", "9" * 61])
def test_an_entry_that_is_no_number_is_refused(entry):
    assert refusal(question(kind="number", correct=5), entry) == (f"Q: a number is expected, such as 12, 0.75, 3/4 or 1 1/2, got '{entry}'")


def test_a_long_entry_is_shown_cut():
    assert refusal(question(kind="number", correct=5), "x" * 10_000) == (
        f"Q: a number is expected, such as 12, 0.75, 3/4 or 1 1/2, got '{'x' * 76}..."
    )


# Short texts


TOWN = question(
    kind="text", correct="Saint-Étienne", accept={"St. Étienne": "right", "Etienne": "half"}, classes=["wrong", "half", "right"]
)


@pytest.mark.parametrize(
    "entry",
    ["Saint-Étienne", "saint-étienne", " SAINT-ÉTIENNE. ", "Saint–Étienne", "Saint-E\u0301tienne!", "st.   étienne", "St. Étienne ?"],
)
def test_case_typography_spaces_and_a_final_mark_do_not_count(entry):
    assert TOWN.classify(entry) == "right"


@pytest.mark.parametrize(("entry", "kind"), [("Etienne", "half"), ("ETIENNE...", "half"), ("Paris", "wrong"), ("Saint Étienne", "wrong")])
def test_other_texts_have_the_class_accepted_or_the_worst(entry, kind):
    assert TOWN.classify(entry) == kind


def test_typographic_quotes_are_like_plain_ones():
    asked = question(kind="text", correct='it\'s "so"')
    assert [asked.classify(entry) for entry in ("it’s “so”", "It‘s „so”", "its so")] == ["right", "right", "wrong"]


def test_an_answer_that_is_only_a_mark_is_not_taken_away():
    asked = question(kind="text", correct="!")
    assert [asked.classify(entry) for entry in ("!", " ! ", "?", ".")] == ["right", "right", "wrong", "wrong"]


def test_sharp_s_is_double_s_and_accents_count():
    asked = question(kind="text", correct="Straße")
    assert [asked.classify(entry) for entry in ("STRASSE", "strasse", "Strase")] == ["right", "right", "wrong"]


@given(st.text("abcxyzäéßÅΣ-' 12", min_size=1).filter(str.strip), st.sampled_from([str.upper, str.lower, str.swapcase, str.title]))
def test_case_and_what_stands_around_never_count(text, change):
    assert question(kind="text", correct=text).classify(f"  {change(text)} .") == "right"


# Entries that are none


@pytest.mark.parametrize("entry", ["", "   ", "\n", "\u00a0"])
@pytest.mark.parametrize("asked", [FRUIT, TOWN, question(kind="number", correct=5)], ids=["choice", "text", "number"])
def test_an_empty_entry_is_refused(asked, entry):
    assert refusal(asked, entry) == "Q: the entry is empty"


@pytest.mark.parametrize(("entry", "shown"), [(None, "None"), (["Pear"], "['Pear']"), (b"Pear", "b'Pear'"), (True, "True")])
@pytest.mark.parametrize("asked", [FRUIT, TOWN, question(kind="number", correct=5)], ids=["choice", "text", "number"])
def test_an_entry_of_the_wrong_type_is_refused(asked, entry, shown):
    assert refusal(asked, entry) == f"Q: one entry is expected, got {shown}"


@given(st.text(max_size=30))
@pytest.mark.parametrize(
    "asked", [FRUIT, TOWN, question(kind="number", correct=5), several(["wrong", "right"])], ids=lambda asked: asked.kind
)
def test_any_text_has_a_class_or_is_refused(asked, entry):
    try:
        found = asked.classify(entry)
    except AnswerError:
        return
    assert found in asked.classes


# The type itself


def test_questions_are_frozen_and_can_be_kept_in_sets():
    asked, same = (question(options={"a": "right", "b": "wrong"}) for _ in range(2))
    assert asked == same
    assert len({asked, same}) == 1
    with pytest.raises(AttributeError):
        asked.text = "other"
    with pytest.raises(TypeError):
        asked.option_classes["a"] = "wrong"
