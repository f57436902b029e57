"""GIFT: every form of answers, names, categories, escapes, and what is refused."""

from collections import Counter

import pytest

from helpers.paths import SHARED
from quaestor.formats.exchange import gift
from quaestor.formats.exchange.registry import read_questions_bytes

HALVES = {"classes": ["wrong", "half", "right"]}
FOLDER = SHARED / "exchange" / "gift"
real = pytest.mark.skipif(not FOLDER.is_dir(), reason="the files of ../shared/exchange are not here")


def read(text):
    return gift.read(text.encode(), "quiz.gift")


def only(text):
    found = read(text)
    assert not found.refused, found.refused
    (fields,) = found.questions.values()
    return fields


def why(text):
    found = read(text)
    assert not found.questions
    return [f"{note.question}: {note.words} [{note.place}]" for note in found.refused]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Who?{~Grant ~Jefferson =no one}", {"text": "Who?", "options": ["Grant", "Jefferson", "no one"], "correct": "no one"}),
        (
            "Grant is {~buried =entombed} there.",
            {"text": "Grant is _____ there.", "options": ["buried", "entombed"], "correct": "entombed"},
        ),
        (
            "[html]<b>Q</b>{~%50%a ~%50%[plain]<b> ~c}",
            {"text": "**Q**", "kind": "choices", "options": ["a", "<b>", "c"], "correct": ["a", "<b>"], **HALVES},
        ),
        ("Two?{=two =2}", {"text": "Two?", "kind": "text", "correct": "two", "accept": ["2"]}),
        ("Sun.{T}", {"text": "Sun.", "kind": "truefalse", "correct": "true"}),
        ("Sun.{FALSE#no#yes####Because.}", {"text": "Sun.", "kind": "truefalse", "correct": "false", "explanation": "Because."}),
        ("When?{#1822:1}", {"text": "When?", "kind": "number", "correct": "1822", "tolerance": "1"}),
        ("Pi?{#3.141..3.142}", {"text": "Pi?", "kind": "number", "correct": "3.1415", "tolerance": "0.0005"}),
        ("x?{#=%100%-7:0#yes =4:0 ~#no}", {"text": "x?", "kind": "number", "correct": "-7", "accept": ["4"]}),
        (
            "M{=a -> 1 =b -> 2 = -> 3}",
            {"text": "M", "kind": "matching", "pairs": {"a": "1", "b": "2"}, "options": ["1", "2", "3"], **HALVES},
        ),
        ("F{~toad ~%50%newt =frog}", {"text": "F", "options": {"toad": "wrong", "newt": "half", "frog": "right"}, **HALVES}),
        ("F{=frog =%50%newt}", {"text": "F", "kind": "text", "correct": "frog", "accept": {"newt": "half"}, **HALVES}),
        ("F{#=4:1 =%50%9:1}", {"text": "F", "kind": "number", "correct": "4", "accept": {"9": "half"}, "tolerance": "1", **HALVES}),
        ("Which\\: \\{\\}?{~\\~ =\\\\ ~\\=}", {"text": "Which: {}?", "options": ["~", "\\", "="], "correct": "\\"}),
        ("$$\\\\frac\\{1\\}\\{2\\}$$?{#0.5}", {"text": "$$\\frac{1}{2}$$?", "kind": "number", "correct": "0.5"}),
    ],
)
def test_every_form_of_answers(text, fields):
    assert only(text) == fields


def test_names_categories_ids_tags_and_lines():
    found = read(
        "// a comment\n$CATEGORY: $course$/top/Maths\n::Sum\\: 1::1+1?{#2}\n\n"
        "// [id:A7] [tag:hard] [tag:new]\n::Sum::2+2?\n{#4}\n\n::Sum::3+3?{#6}\n"
    )
    assert [*found.questions] == ["Sum 1", "A7", "Sum"]
    assert found.tags["A7"] == ("hard", "new")
    assert found.places == {"Sum 1": "line 3", "A7": "line 6", "Sum": "line 9"}
    assert set(found.categories.values()) == {("Maths",)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("::E::How are you? {}", "E: answers are written freely and marked by people [line 1]"),
        ("Just a text", "Just a text: it is a text without a question [line 1]"),
        ("Q{=a", "Q: the answers end with a closing brace [line 1]"),
        ("Q{what}", "Q: answers begin with =, ~ or #, or are TRUE or FALSE, got 'what' [line 1]"),
        ("Q{=a -> b =c}", "Q: a pair has an arrow -> in it, got 'c' [line 1]"),
        ("Q{#5..1}", "Q: a range of numbers is expected, got '5..1' [line 1]"),
    ],
)
def test_what_is_no_question_is_told_with_its_line(text, words):
    assert why(text) == [words]


def kind(fields):
    return fields.get("kind", "choice")


def real_file(name):
    return gift.read((FOLDER / name).read_bytes(), name)


@real
def test_the_examples_of_moodle():
    found = real_file("examples.txt")
    questions = [*found.questions.values()]
    assert Counter(map(kind, questions)) == {"choice": 16, "choices": 2, "text": 9, "truefalse": 5, "matching": 3, "number": 8}
    assert questions[0]["correct"] == "no one"
    assert (questions[1]["text"], questions[1]["correct"]) == ("Grant is _____ in Grant's tomb.", "entombed")
    assert (questions[4]["correct"], questions[4]["tolerance"]) == ("1822", "1")
    assert (questions[17]["correct"], questions[17]["tolerance"]) == ("3.1415", "0.0005")
    assert questions[29]["correct"] == ["Grant", "Grant's wife"]
    assert (questions[31]["correct"], questions[32]["correct"]) == ("= 2 + 3", "\\")
    numbers = {own: number for number, own in enumerate(found.questions, 1)}
    left_out = {numbers[note.question] for note in found.notes if "partly right answers was left out" in note.words}
    credited = {
        numbers[own] for own, fields in found.questions.items() if "classes" in fields and kind(fields) not in ("matching", "choices")
    }
    assert left_out | credited == {19, 27, 28, 29, 41, 42, 43}
    stems = [fields["text"] for fields in questions]
    assert stems.count("Who's buried in Grant's tomb?") == 7


@real
@pytest.mark.parametrize(
    ("name", "kinds", "refused"),
    [
        ("questions.gift.txt", {"matching": 1, "choice": 1, "choices": 1, "number": 1, "text": 1, "truefalse": 3}, 1),
        ("questions_in_category.gift.txt", {"matching": 1, "choice": 1, "text": 1, "truefalse": 1}, 0),
        ("all.gift", {"truefalse": 4, "number": 4, "choice": 3, "matching": 2, "text": 4, "choices": 2}, 3),
        ("html-comment.gift", {"choice": 1}, 0),
        ("windows-1252.gift.txt", {}, 3),
    ],
)
def test_real_files_are_understood_or_refused(name, kinds, refused):
    found = real_file(name)
    assert Counter(map(kind, found.questions.values())) == kinds
    assert len(found.refused) == refused
    assert [*read_questions_bytes((FOLDER / name).read_bytes(), name).questions] == [*found.questions]  # as questions of a bank


@real
def test_keys_of_real_files():
    mixed = real_file("questions.gift.txt").questions
    assert [*mixed][-2:] == ["2-08 TSL", "2-08 TSL (2)"]
    assert (mixed["Q2"]["correct"], mixed["colours"]["correct"]) == ("yellow", ["yellow", "off-beige"])
    assert (mixed["Q5"]["correct"], mixed["Q5"]["tolerance"], mixed["Shortanswer"]["correct"]) == ("3", "2", "Frog")
    assert mixed["Q1"]["correct"] == "false"
    category = real_file("questions_in_category.gift.txt").questions
    assert [category[name]["correct"] for name in ("Greeting", "Moodle user", "Moodle acronym")] == ["French", "Moodler", "true"]
    every = real_file("all.gift")
    assert (every.questions["Numeric 2"]["correct"], every.questions["Numeric 2"]["accept"]) == ("-7", ["4"])
    assert (every.questions["Numeric 4"]["correct"], every.questions["Numeric 4"]["tolerance"]) == ("3", "2")
    assert every.questions["Short Answer 1"]["correct"] == "manually"
    assert every.questions["Multichoice2"]["correct"] == "Teaching with Moodle"
    assert len(every.questions["Multichoice4"]["correct"]) == 3
    assert len(set(every.categories.values())) == 6
    assert "Nunca." in real_file("html-comment.gift").questions["EE_mod_05_T39_P079"]["correct"]


@real
def test_a_file_of_windows_is_told_and_never_garbled():
    data = (FOLDER / "windows-1252.gift.txt").read_bytes()
    found = read_questions_bytes(data, "x.txt")
    assert "it was read as Windows-1252" in found.notes[0].words
    assert found.notes[0].place == "line 15"
    own = data.replace(b"=<p>asdf<br></p> -> asdf\r\n", b"", 1).replace(b"=<p>asdf<br></p> -> asdf", b"=<p>b</p> -> c")
    pairs = [fields["pairs"] for fields in gift.read(own, "x").questions.values()]
    assert pairs == [] or "aödf" in pairs[0]
