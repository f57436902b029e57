"""Surveys, quiz sheets, forms and Word documents in small files of our own, also broken ones."""

import datetime
import io
import json
import random
import zipfile

import pytest
from openpyxl import Workbook

from quaestor.errors import BankError
from quaestor.formats.exchange import quiz_sheets
from quaestor.formats.exchange.registry import read_questions_bytes

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def read(data, name):
    return read_questions_bytes(data if isinstance(data, bytes) else data.encode(), name)


def refused(found):
    return {note.question: str(note.words) for note in found.refused}


def book(**sheets):
    made, file = Workbook(), io.BytesIO()
    made.remove(made.active)
    for title, rows in sheets.items():
        page = made.create_sheet(title)
        for row in rows:
            page.append(row)
    made.save(file)
    return file.getvalue()


# Quiz sheets

KAHOOT = "Question - max 120 characters,Answer 1 - max 5 characters,Answer 2,Time limit (sec),Correct answer(s) - choose at least one\n"


@pytest.mark.parametrize(
    ("row", "right"),
    [
        ("Which?,1,2,,2", "2"),  # a number is the place of an option, even where options are numbers
        ("Which?,2,3,,2", "3"),
        ("Which?,cat,dog,,B", "dog"),
        ("Which?,cat,dog,,dog", "dog"),
        ('Which?,cat,dog,,"1,2"', ["cat", "dog"]),
    ],
)
def test_the_right_answer_of_a_sheet_is_a_place_a_letter_or_a_text(row, right):
    assert next(iter(read(KAHOOT + row, "quiz.csv").questions.values()))["correct"] == right


def test_a_number_that_is_a_place_and_also_another_option_is_told():
    found = read(KAHOOT + "Which?,2,3,,2\nWhat?,1,2,,2\nWho?,7,8,,1", "quiz.csv")
    assert [note.sentence for note in found.notes] == [
        "Which: the right answer '2' was read as the number of an option, not as its text [row 2]"
    ]


def test_a_fraction_that_became_a_date_is_refused_and_not_an_option():
    rows = [
        ["Question", "Answer 1", "Answer 2", "Correct answer"],
        ["Half of 3/2?", datetime.datetime(2026, 4, 3), "1/4", 1],
        ["What?", "a", "b", 1],
    ]
    found = read(book(Quiz=rows), "quiz.xlsx")
    assert [*found.questions] == ["What"]
    assert refused(found) == {"Half of 3 2": "a cell holds text or a number, got a date, 2026-04-03 00:00:00 (format the column as text)"}


def test_rows_beyond_the_limit_are_told(monkeypatch):
    monkeypatch.setattr(quiz_sheets, "MOST_ROWS", 3)
    found = read(KAHOOT + "Which?,a,b,,2\nWhat?,a,b,,2\nWho?,a,b,,1", "quiz.csv")
    assert len(found.questions) == 2
    assert "of a sheet the first 3 rows were read" in found.notes[0].sentence


def test_a_row_of_a_sheet_that_is_no_question_says_why():
    rows = ["Which?,cat,dog,,3", ",cat,dog,,1", "Why?,cat,,,1", "What?,cat,cat,,1", "Who?,elephant,dog,20,1"]
    found = read(KAHOOT + "\n".join(rows), "quiz.csv")
    assert refused(found) == {
        "Which": "the right answer is the number or the text of an option, got '3'",
        "": "the question has no text",
        "Why": "a question has at least two options, got 1",
        "What": "the option 'cat' is right and wrong",
    }
    assert [str(note.sentence) for note in found.notes] == [
        "Who: the time limit was left out [row 6]",
        "Who: a text is longer than the 5 characters that its system takes [row 6]",
    ]


# AdapQuest

SURVEY = {
    "survey": {"accessCode": "mine", "language": "en", "questionTotalMax": 3},
    "skills": [{"name": "A", "states": [{"name": "low"}, {"name": "high"}]}, {"name": "B", "states": [{"name": "low"}, {"name": "high"}]}],
    "questions": [
        {"name": "Q", "question": "Both?", "weight": 2, "answers": [{"text": "yes", "state": 1}, {"text": "no", "state": 0}]},
    ],
    "model": {
        "variables": [
            {"name": "A", "states": 2, "data": [0.3, 0.7]},
            {"name": "B", "states": 2, "parents": ["A"], "data": [0.9, 0.2, 0.1, 0.8]},
            {"name": "Q", "states": 2, "parents": ["B", "A"], "data": [0.9, 0.8, 0.7, 0.1, 0.1, 0.2, 0.3, 0.9]},
        ]
    },
}


def changed(**parts):
    return json.dumps({**SURVEY, **parts})


def test_the_first_variable_of_a_survey_runs_fastest():
    found = read(changed(), "survey.json")
    assert found.bank["skills"]["B"] == {"levels": ["low", "high"], "parents": ["A"], "table": {"low": [0.9, 0.1], "high": [0.2, 0.8]}}
    question = found.questions["Q"]
    assert question["skills"] == ["A", "B"]
    assert question["table"] == {"low, low": [0.9, 0.1], "low, high": [0.7, 0.3], "high, low": [0.8, 0.2], "high, high": [0.1, 0.9]}
    assert question["options"] == {"yes": "yes", "no": "no"}
    assert question["classes"] == ["no", "yes"]
    told = " ".join(str(note.sentence) for note in found.notes)
    assert "settings of the survey were left out: questionTotalMax" in told
    assert "Q: settings of the question were left out: weight" in told


def answers(variable, *states):
    return [{"text": f"answer {number}", "state": state, "variable": variable} for number, state in enumerate(states)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "all answers of a question are states of one variable, got 0"),
        (answers("Q", 0), "each state of a question has one answer, got 0"),
        (answers("Q", 0, 0), "each state of a question has one answer, got 0, 0"),
        (answers("Q", 0, "x"), "a number is expected, got 'x'"),
        (answers("A", 0, 1), "a question depends on skills, got none"),
        (answers("Z", 0, 1), "the model has no table for 'Z'"),
        (answers("Q", 0) + answers("A", 1), "all answers of a question are states of one variable, got 2"),
    ],
)
def test_a_question_of_a_survey_that_cannot_be_one_says_why(given, said):
    good = SURVEY["questions"][0]
    found = read(changed(questions=[good, {"name": "R", "question": "?", "answers": given}]), "survey.json")
    assert list(found.questions) == ["Q"]
    assert said in refused(found)["R"]


@pytest.mark.parametrize("parts", [{"model": {}}, {"modelData": "MARKOV 1"}, {"skills": [{"name": "A"}]}])
def test_a_survey_without_a_model_is_refused(parts):
    with pytest.raises(BankError):
        read(changed(**parts), "survey.json")


def survey_book(cells, settings=()):
    head = ["QUESTION_ID", "Mandatory", "Questions_Text", "Yes_Only", "ANSWER_ID", "Answer_Text", None, None]
    rows = [head, [None] * 6 + ["S1", "S2"]]
    for number, row in enumerate(cells, 1):
        rows.append([1 if number == 1 else None, 1, "What?", 1, number, "so", *row])
    return book(Settings=[["Key", "Value"], *settings], Questions=rows, Profiles=[["SKILLS"]])


def test_a_cell_of_a_survey_is_an_inhibition():
    own = [["INHIBITOR_OVERRIDE_VALUE_WITH_DEFAULT", False]]
    found = read(survey_book([[0.9, 0.3], [0.6, "KO"], [0, 0], [2, 0]], own), "survey.xlsx")
    assert found.questions["Q1 A1"]["table"] == {
        "no, no": [1.0, 0.0],
        "no, yes": [0.8, pytest.approx(0.2)],
        "yes, no": [0.2, 0.8],
        "yes, yes": [pytest.approx(0.16), pytest.approx(0.84)],
    }
    assert found.questions["Q1 A2"]["table"] == {"no": [1.0, 0.0], "yes": [0.5, 0.5]}
    assert refused(found) == {
        "Q1 A3": "it depends on no skill: nobody would tick it",
        "Q1 A4": "a cell of a skill lies between 0 and 1, got '2'",
    }
    assert read(survey_book([[0.9, 0]]), "survey.xlsx").questions["Q1 A1"]["table"]["yes"] == [0.6, 0.4], "by default all count alike"
    with pytest.raises(BankError, match="the numbers of the settings lie between 0 and 1"):
        read(survey_book([[0.9, 0]], [["EPS", "much"]]), "survey.xlsx")


# Forms and documents


def form(*items):
    return json.dumps({"formId": "x", "info": {"title": "T"}, "items": list(items)})


def asked(question, **grading):
    return {"title": "Which?", "questionItem": {"question": {**question, **({"grading": grading} if grading else {})}}}


def test_forms_that_have_no_key_or_another_one_are_refused():
    options = {"choiceQuestion": {"type": "RADIO", "options": [{"value": "a"}, {"value": "b"}, {"isOther": True}]}}
    right = {"answers": [{"value": "b"}]}
    found = read(
        form(
            asked(options, correctAnswers=right),
            asked(options),
            asked(options, correctAnswers={"answers": [{"value": "z"}]}),
            asked({"dateQuestion": {}}),
            {"title": "x", "textItem": {}},
            {"questionItem": 3},
            [],
        ),
        "form.json",
    )
    assert found.questions == {"Which": {"text": "Which?", "options": ["a", "b"], "correct": "b"}}
    assert [str(note.words) for note in found.refused] == [
        "nothing tells which answer is right",
        'the right answer "z" is none of the options',
        "a date cannot be marked here",
        *["a text without a question cannot be marked here"] * 3,
    ]


def document(*paragraphs):
    body = "".join(f"<w:p><w:pPr>{style}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>" for style, text in paragraphs)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{WORD}"><w:body>{body}</w:body></w:document>')
    return made.getvalue()


def test_options_that_word_numbers_are_lettered_list_by_list():
    item = "<w:numPr/>"
    lines = [("", "One?"), (item, "a"), (item, "b"), ("", "ANSWER: B"), ("", ""), ("", "Two?"), (item, "c"), (item, "d"), ("", "ANSWER: A")]
    assert {name: fields["correct"] for name, fields in read(document(*lines), "x.docx").questions.items()} == {"One": "b", "Two": "c"}


def test_broken_files_give_what_is_documented_and_nothing_else():
    rng = random.Random(21)
    key = {"answers": [{"value": "b"}]}
    choice = asked({"choiceQuestion": {"options": [{"value": "a"}, {"value": "b"}]}}, correctAnswers=key)
    files = {
        "survey.json": changed().encode(),
        "quiz.csv": (KAHOOT + "Which?,cat,dog,20,2\n").encode(),
        "form.json": form(choice).encode(),
        "quiz.docx": document(("", "One?"), ("", "A. a"), ("", "B. b"), ("", "ANSWER: B")),
        "survey.xlsx": survey_book([[0.9, 0.3], [0.6, "KO"]]),
    }
    for number in range(150):
        name = [*files][number % len(files)]
        data = bytearray(files[name])
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data))
            data[at : at + rng.randint(0, 5)] = rng.choice((b"", b"0", b"-1", b"[", b'"', b"null", bytes([rng.randrange(256)])))
        try:
            found = read(bytes(data), name)
        except BankError:
            continue
        assert all(note.words for note in (*found.notes, *found.refused))
