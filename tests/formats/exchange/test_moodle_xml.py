"""Moodle XML: every type of question, what is lost of it, and what is refused."""

import base64

import pytest

from helpers.paths import SHARED
from quaestor.errors import BankError
from quaestor.formats.exchange import moodle_xml
from quaestor.formats.exchange.registry import read_questions, read_questions_bytes

HALVES = {"classes": ["wrong", "half", "right"]}
FOLDER = SHARED / "exchange" / "moodle-xml"
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 20
real = pytest.mark.skipif(not FOLDER.is_dir(), reason="the files of ../shared/exchange are not here")


def question(kind, inside="", text="What?", name="Q1"):
    head = f"<name><text>{name}</text></name><questiontext format='html'><text><![CDATA[{text}]]></text></questiontext>"
    return f"<question type='{kind}'>{head}{inside}</question>"


def answer(text, worth, more=""):
    return f"<answer fraction='{worth}' format='html'><text><![CDATA[{text}]]></text>{more}</answer>"


def read(*questions):
    return moodle_xml.read(f"<quiz>{''.join(questions)}</quiz>".encode(), "quiz.xml")


def only(kind, inside="", **given):
    """The fields of the one question, and what was noted."""
    found = read(question(kind, inside, **given))
    assert not found.refused, found.refused
    (fields,) = found.questions.values()
    return fields, [str(note.words) for note in found.notes]


def why(kind, inside="", **given):
    """Why the one question is refused."""
    found = read(question(kind, inside, **given))
    assert not found.questions
    (note,) = found.refused
    return f"{note.question}: {note.words} [{note.place}]"


def test_one_choice_of_several_with_what_is_lost():
    options = answer("<p>4</p>", 100) + answer("5", 50) + answer("6", -25, "<feedback><text>no</text></feedback>")
    rest = "<penalty>0.33</penalty><shuffleanswers>1</shuffleanswers><hint><text>think</text></hint><hidden>1</hidden>"
    fields, notes = only("multichoice", f"<single>true</single>{options}{rest}")
    assert fields == {"text": "What?", "options": {"4": "right", "5": "half", "6": "wrong"}, **HALVES}
    assert notes == [
        "negative marks were left out",
        "feedback to single answers was left out",
        "hints were left out",
        "the penalty for further tries was left out",
        "options stay in the order of the file; they were to be shuffled",
        "it was hidden in Moodle",
    ]


def test_several_right_options_where_one_is_chosen_each_count():
    fields, _ = only("multichoice", "<single>1</single>" + answer("a", 100) + answer("b", 100) + answer("c", 0))
    assert fields["options"] == {"a": "right", "b": "right", "c": "wrong"}


def test_several_choices():
    fields, notes = only("multichoice", "<single>false</single>" + answer("a", 33) + answer("b", "33.33333") + answer("c", -50))
    assert (fields["kind"], fields["correct"]) == ("choices", ["a", "b"])
    assert "the right options are worth 66.3333 % together, not 100 %; each of them counts as right" in notes
    assert "negative marks were left out" in notes


def test_true_or_false_typed_and_numbers():
    assert only("truefalse", answer("true", 0) + answer("false", 100))[0] == {"text": "What?", "kind": "truefalse", "correct": "false"}
    fields, notes = only("shortanswer", "<usecase>1</usecase>" + answer("frog", 100) + answer("a\\*b", 100) + answer("*", 0))
    assert (fields["correct"], fields["accept"]) == ("frog", ["a*b"])
    assert notes == ["small and capital letters were told apart; here they are not"]
    fields, notes = only("numerical", answer("6,25", 100, "<tolerance>0.05</tolerance>") + answer("6.25", 50, "<tolerance>1</tolerance>"))
    assert fields == {"text": "What?", "kind": "number", "correct": "6,25", "tolerance": "0.05"}
    assert notes == ["credit for partly right answers was left out: '6.25' 50 %"]


def test_pairs_orders_and_gaps():
    pair = "<subquestion><text>{}</text><answer><text>{}</text></answer></subquestion>"
    rows = pair.format("frog", "amphibian") + pair.format("cat", "mammal") + pair.format("", "insect")
    assert only("matching", rows)[0] == {
        **{"text": "What?", "kind": "matching", "pairs": {"frog": "amphibian", "cat": "mammal"}},
        "options": ["amphibian", "mammal", "insect"],
        **HALVES,
    }
    assert only("ordering", answer("one", 0) + answer("two", 0))[0] == {"text": "What?", "kind": "ordering", "options": ["one", "two"]}
    three = answer("one", 0) + answer("two", 0) + answer("three", 0)
    assert only("ordering", three)[0]["classes"] == HALVES["classes"]
    assert "classes" not in only("ordering", three + "<gradingtype>ALL_OR_NOTHING</gradingtype>")[0]
    words = "".join(
        f"<selectoption><text>{word}</text><group>{group}</group></selectoption>" for word, group in (("cat", 1), ("mat", 2), ("dog", 1))
    )
    assert only("gapselect", words, text="The [[1]] sat on the [[2]], [[1]]!")[0] == {
        "kind": "gaps",
        "text": "The [[1]] sat on the [[2]], [[3]]!",
        "gaps": {
            "1": {"options": ["cat", "dog"], "correct": "cat"},
            "2": {"options": ["mat"], "correct": "mat"},
            "3": {"options": ["cat", "dog"], "correct": "cat"},
        },
        **HALVES,
    }


def test_embedded_answers():
    text = "<p>{1:MC:=a &lt; b#yes~c} or {2:SHORTANSWER:%100%mat~=rug~*#no} of {:NM:=4:0.5~%50%4:1} kg, [[9]], {1:MRS:=x~=y~z}</p>"
    fields, notes = only("cloze", text=text)
    assert fields["text"] == "[[1]] or [[2]] of [[3]] kg, [\u200b[9]], x, y"
    assert fields["gaps"] == {
        "1": {"options": ["a < b", "c"], "correct": "a < b"},
        "2": {"kind": "text", "correct": "mat", "accept": ["rug"]},
        "3": {"kind": "number", "correct": "4", "tolerance": "0.5"},
    }
    assert "a gap takes several choices; its right ones are filled in: 'x, y'" in notes
    assert "the weights of gaps were left out" in notes
    assert "credit for partly right answers was left out: '4:1' 50 %" in notes


def test_embedded_answers_may_begin_and_end_with_a_separator():
    fields, _ = only("cloze", text="<p>{1:MC:~=a~b~ } or {1:SA:~=mat}</p>")
    assert fields["gaps"] == {"1": {"options": ["a", "b"], "correct": "a"}, "2": {"kind": "text", "correct": "mat"}}


@pytest.mark.parametrize(
    ("kind", "inside", "words"),
    [
        ("essay", "", "answers are written freely and marked by people"),
        ("calculated", "", "its numbers are drawn anew for everyone"),
        ("stack", "", "questions of type 'stack' cannot be marked here"),
        ("multichoice", "<single>1</single>" + answer("a", 90) + answer("b", 0), "no option is fully right"),
        ("multichoice", "<single>1</single>" + answer("a", 100), "a question has at least two options, got 1"),
        ("multichoice", answer("a", 0) + answer("b", 0), "no option is right"),
        ("multichoice", answer("a", "lots"), "what an answer is worth is a number, got 'lots'"),
        ("truefalse", answer("maybe", 100), "the answers are true and false, got 'maybe'"),
        ("shortanswer", answer("*", 100), "no answer is fully right, or any is"),
        ("shortanswer", answer("col*r", 100), "no answer is fully right, or any is"),
        ("numerical", answer("five", 100), "a number is expected, got 'five'"),
        ("numerical", answer("5", 100) + answer("9", 100, "<tolerance>1</tolerance>"), "the right numbers have different tolerances"),
        ("matching", "", "there are at least two pairs, got 0"),
        ("cloze", "", "there is no gap in the text that can be read"),
        ("gapselect", "", "there is no gap in the text that can be read"),
    ],
)
def test_what_cannot_be_a_question_is_refused_by_name_and_line(kind, inside, words):
    assert why(kind, inside) == f"Q1: {words} [line 1]"


def test_categories_tags_ids_and_words_for_numbers():
    category = "<question type='category'><category><text>$course$/top/Maths/Add//subtract</text></category></question>"
    choice = "<single>1</single>" + answer("a", 100) + answer("b", 0)
    tags = "<tags><tag><text>hard, really</text></tag><tag><text>2024</text></tag></tags>"
    found = read(
        category,
        question("multichoice", f"{choice}{tags}<defaultgrade>1</defaultgrade>"),
        question("multichoice", f"{choice}<idnumber>A-7</idnumber><defaultgrade>2.0000</defaultgrade>"),
        question("multichoice", f"{choice}<defaultgrade>1</defaultgrade><facility>0.31</facility>"),
    )
    assert [*found.questions] == ["Q1", "A-7", "Q1 (2)"]
    assert found.categories["A-7"] == ("Maths", "Add/subtract")
    assert found.tags["Q1"] == ("hard really", "2024")
    assert [fields.get("difficulty") for fields in found.questions.values()] == [None, "hard", "very hard"]
    assert "'hard' is guessed from its points: 2, where 1 is usual" in [str(note.words) for note in found.notes]
    assert "'very hard' is taken from the share that got it right, 31%" in [str(note.words) for note in found.notes]


def test_pictures_in_the_file_are_kept_and_scripts_are_not():
    file = f"<file name='my sign.png' path='/' encoding='base64'>{base64.b64encode(PNG).decode()}</file>"
    drawing = f"<file name='x.svg' encoding='base64'>{base64.b64encode(b'<svg onload=steal()>').decode()}</file>"
    text = '<![CDATA[<img src="@@PLUGINFILE@@/my%20sign.png" alt="Stop"><img src="@@PLUGINFILE@@/x.svg" alt="snail" onerror="steal()">]]>'
    stem = f"<questiontext format='html'><text>{text}</text>{file}{drawing}</questiontext>"
    found = read(f"<question type='numerical'><name><text>N</text></name>{stem}{answer('5', 100)}</question>")
    assert found.questions["N"]["text"] == "![Stop](my-sign.png)(snail)"
    assert found.media == {"my-sign.png": PNG}
    assert "the picture 'x.svg' is not in the file, or is of a kind that is not shown here" in str(found.notes[0].words)


def test_other_formats_of_text():
    for form, text, read_as in (
        ("plain_text", "2*3*4 <b>", "2\\*3\\*4 <b>"),
        ("markdown", "*so*", "*so*"),
        ("moodle_auto_format", "a\nb", "a  \nb"),
    ):
        stem = f"<questiontext format='{form}'><text><![CDATA[{text}]]></text></questiontext>"
        found = read(f"<question type='numerical'><name><text>N</text></name>{stem}{answer('5', 100)}</question>")
        assert found.questions["N"]["text"] == read_as


def test_a_file_is_known_by_its_outermost_element_whatever_its_name():
    choice = question("multichoice", "<single>1</single>" + answer("a", 100) + answer("b", 0))
    assert [*read_questions_bytes(f"<quiz>{choice}</quiz>".encode("utf-8-sig"), "x.txt").questions] == ["Q1"]
    utf16 = f'<?xml version="1.0" encoding="UTF-16"?><quiz>{choice}</quiz>'.encode("utf-16")
    assert [*read_questions_bytes(utf16, "x.xml").questions] == ["Q1"]
    with pytest.raises(BankError, match=r"broken\.xml:file: the file is well-formed XML, got mismatched tag \[line 2\]"):
        read_questions_bytes(b"<quiz>\n<question></quiz>", "broken.xml")


COUNTS = {  # questions and refused ones, by name of file
    **{
        "calculated": (0, 1),
        "cloze-all-types": (1, 0),
        "cloze-images": (1, 0),
        "cloze-latex": (28, 0),
        "ddwtos": (1, 0),
        "gapselect": (1, 0),
    },
    **{"invalid-grades": (1, 0), "latex-html-image": (1, 0), "latex-units": (1, 0), "matching": (1, 0), "multichoice-media": (1, 0)},
    **{"multichoice-several": (1, 0), "nested-categories": (4, 1), "numerical-tolerance": (1, 0), "shortanswer-wildcard": (1, 0)},
    **{"stack": (0, 1), "truefalse-images": (2, 0)},
}


def real_file(name):
    return moodle_xml.read((FOLDER / f"{name}.xml").read_bytes(), f"{name}.xml")


def first(name):
    return next(iter(real_file(name).questions.values()))


@real
@pytest.mark.parametrize("name", COUNTS)
def test_every_question_of_real_files_is_understood_or_refused(name):
    found = real_file(name)
    assert (len(found.questions), len(found.refused)) == COUNTS[name]
    assert all(note.place.startswith("line ") for note in (*found.notes, *found.refused))
    kept = read_questions(FOLDER / f"{name}.xml")  # as questions of a bank
    assert (len(kept.questions), len(kept.refused)) == COUNTS[name]


@real
def test_no_real_file_was_forgotten():
    assert {path.stem for path in FOLDER.glob("*.xml")} == set(COUNTS)


@real
@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("multichoice-media", "correct", "![French flag](flag-france.jpg) French"),
        ("multichoice-media", "media", "bonjour.mp3"),
        ("multichoice-several", "correct", ["London", "Paris"]),
        ("invalid-grades", "correct", ["2", "3", "5"]),
        ("numerical-tolerance", "tolerance", "0.05"),
        ("latex-units", "correct", "150"),
        ("latex-html-image", "correct", "This is the good underlined answer."),
        ("shortanswer-wildcard", "correct", "frog"),
        ("matching", "pairs", {"frog": "amphibian", "cat": "mammal", "newt": "amphibian"}),
        ("matching", "options", ["amphibian", "mammal", "insect"]),
        ("gapselect", "text", "The [[1]] [[2]] on the [[3]]."),
        ("ddwtos", "text", "Put these in order: [[1]], [[2]], [[3]]."),
    ],
)
def test_keys_of_real_files(name, field, value):
    assert first(name)[field] == value


@real
def test_gaps_of_real_files():
    assert [gap["correct"] for gap in first("gapselect")["gaps"].values()] == ["cat", "sat", "mat"]
    assert first("gapselect")["gaps"]["1"]["options"] == ["cat", "sat", "mat", "dog", "table"]
    assert [gap["correct"] for gap in first("ddwtos")["gaps"].values()] == ["Alpha", "Beta", "Gamma"]
    states = ["California", "Arizona", "California", "Arizona", "Paris"]
    assert [gap["correct"] for gap in first("cloze-images")["gaps"].values()] == states
    every = first("cloze-all-types")["gaps"]
    right = ["50 B.C.", "Obelix", "Australia", "Latin", "a Menhir", "59", "32", "212", "1701", "Fahrenheit", "H2O", "Whisky"]
    assert [gap["correct"] for gap in every.values()] == right
    arithmetic = real_file("cloze-latex").questions
    assert [gap["correct"] for gap in arithmetic["Arithmetic Quiz (3 2)"]["gaps"].values()] == ["5", "1", "6"]
    assert [gap["correct"] for gap in arithmetic["Arithmetic Quiz (8 4)"]["gaps"].values()] == ["12", "4", "32", "2"]
    assert "$3 \\cdot 2 =$ [[3]]" in arithmetic["Arithmetic Quiz (3 2)"]["text"]


@real
def test_true_and_false_and_categories_of_real_files():
    assert {name: fields["correct"] for name, fields in real_file("truefalse-images").questions.items()} == {
        **{"Moodle acronym (False)": "false", "Moodle acronym (True)": "true"},
    }
    nested = real_file("nested-categories")
    assert {fields["correct"] for fields in nested.questions.values()} == {"true"}
    assert set(nested.categories.values()) == {("Iota",), ("Iota", "Kappa"), ("Iota", "Kappa", "Lambda"), ("Iota", "Mu")}
    assert sum("the description of a category" in note.words for note in nested.notes) == 4
