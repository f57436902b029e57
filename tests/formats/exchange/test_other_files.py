"""Real files of AdapQuest, and sheets, forms and documents: what is understood equals what ../shared/exchange tells of them."""

import pytest

import quaestor as qs
from helpers.paths import SHARED
from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange.imported import to_document
from quaestor.formats.exchange.registry import read_questions

FOLDER = SHARED / "exchange"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the files of ../shared/exchange are not here")


def right(found):
    return {name: fields.get("correct") for name, fields in found.questions.items()}


def told(found):
    return " ".join(str(note.sentence) for note in (*found.notes, *found.refused))


def posterior(found, answers):
    return qs.posterior(Bank(to_document(found)), answers)


def test_a_small_survey():
    found = read_questions(FOLDER / "adapquest/AdaptiveSimpleSurvey.json")
    assert (found.count, len(found.questions)) == (10, 10)
    assert found.bank["skills"] == {"A": {"levels": ["low", "high"], "prior": [0.4, 0.6]}}
    assert found.questions["Q1"]["table"] == {"low": [0.2, 0.8], "high": [0.7, 0.3]}
    assert posterior(found, {"Q1": "yes"})["A"].lower[1] == pytest.approx(0.84)
    assert posterior(found, {"Q3": "yes"})["A"].lower[1] == pytest.approx(0.36)
    assert set(right(found).values()) == {None}
    assert "a survey has no right answers" in told(found)


def test_a_survey_whose_tables_do_not_sum_to_one():
    found = read_questions(FOLDER / "adapquest/NonAdaptiveSimpleSurvey.json")
    assert (found.count, list(found.questions)) == (3, ["M"])
    assert found.questions["M"]["table"] == {"low": [0.4, 0.6], "high": [0.6, 0.4]}
    assert {note.question: note.words for note in found.refused} == {
        "L": "the model has no table for 'L' that sums to one",
        "H": "the model has no table for 'H' that sums to one",
    }
    assert "L: row 0: a row sums to 1 within 1e-06, got 1.5" in told(found)


def test_a_survey_with_a_model_in_uai():
    found = read_questions(FOLDER / "adapquest/AlloyAdaptiveQuestionary.json")
    assert (found.count, len(found.questions)) == (48, 48)
    assert found.bank["skills"]["target"]["levels"] == ["000", "001", "010", "011", "100", "101", "110", "111"]
    assert "intended to be an example" in found.bank["description"]
    bank = Bank(to_document(found))
    assert bank.skills["target"].table.lower[0] == pytest.approx(0.8789519478, abs=1e-9)
    low = bank.questions["education_level"].classes[0]
    first = qs.posterior(bank, {"women": "Woman"})["target"].lower
    assert first[:2] == pytest.approx([0.856375, 0.084655], abs=1e-6)
    second = qs.posterior(bank, {"women": "Woman", "education_level": low})["target"].lower
    assert second[:2] == pytest.approx([0.759922, 0.174307], abs=1e-6)
    assert sorted({len(question.classes) for question in bank.questions.values()}) == [2, 3, 4, 5, 7, 11]


def test_a_workbook_with_a_survey():
    found = read_questions(FOLDER / "adapquest/adaptive.questionnaire.template.xlsx")
    assert list(found.bank["skills"]) == [f"S{number}" for number in range(1, 18)]
    answers = [9, 4, 10, 3, 4, 8, 5, 5, 7, 7, 6, 3, 3, 14, 5, 6, 6, 9]
    names = {*found.questions, *(note.question for note in found.refused)}
    assert names == {f"Q{question} A{answer}" for question, most in enumerate(answers, 1) for answer in range(1, most + 1)}
    assert found.count == 114
    assert len(found.questions) == 86
    refused = {note.question: note.words for note in found.refused}
    assert refused.pop("Q14 A14") == "it depends on no skill: nobody would tick it"
    assert all("whose table would have" in words for words in refused.values())
    assert any("it depends on 16 skills, whose table would have 65,536 rows" in words for words in refused.values())
    assert "ticking it rules out S6, S13 there (KO)" in told(found)
    assert "ticking it rules out S4, S5, S6, S7 there (KO)" in told(found)
    assert "ticking it rules out S12 there (KO), which was left out [Questions, row 45]" in told(found)
    out = [note.words for note in found.notes if "(KO)" in note.words]
    assert sum(words.partition(" there")[0].count("S") for words in out) == 27
    assert "as the settings call it (inhibition)" in told(found)
    assert found.questions["Q5 A1"]["skills"] == ["S4", "S5", "S6", "S7"]
    ticked = posterior(found, {"Q5 A1": "ticked"})
    assert ticked["S4"].lower[1] == pytest.approx(0.586721, abs=1e-6)  # with the override, as an inhibition
    table = found.questions["Q5 A1"]["table"]
    assert sum(row[1] for row in table.values()) / len(table) == pytest.approx(0.5904)


def test_kahoot():
    found = read_questions(FOLDER / "sheets/kahoot.xlsx")
    assert list(right(found).values()) == ["29", ["4", "10"], "true", "56"]
    assert not found.refused
    assert "the time limit was left out" in told(found)


def test_quizizz():
    found = read_questions(FOLDER / "sheets/quizizz.xlsx")
    assert found.count == 7
    assert list(right(found).values()) == ["2/4", ["3", "4", "6"], "equilateral triangle", "5"]
    assert found.questions["Name a regular polygon with at most four sides"]["accept"] == ["square"]
    assert [note.words for note in found.refused] == [f"'{kind}' cannot be marked here" for kind in ("Open-Ended", "Poll", "Draw")]
    assert "a picture that is only linked was left out: 'https://example.org/nine.png'" in told(found)


def test_google_forms():
    found = read_questions(FOLDER / "sheets/google-forms-api.json")
    assert (found.title, found.count) == ("Fractions and angles", 9)
    assert list(right(found).values()) == ["2/4", ["3", "4", "6"], "90", "56"]
    assert found.questions["What is 7 8"]["accept"] == ["fifty-six"]
    reasons = ["an essay", "a scale", "a grid of questions", "a page break", "nothing tells which answer is right"]
    assert all(reason in note.words for reason, note in zip(reasons, found.refused, strict=True))


def test_word():
    found = read_questions(FOLDER / "sheets/aiken-like.docx")
    assert list(right(found).values()) == ["90°", "30°", "180"]
    assert found.questions["A reflex angle is larger than how many degrees"]["options"] == ["90", "180", "360"]
    assert [str(note.sentence) for note in found.refused] == [
        "A question with no answer line: there is no line that begins with 'ANSWER:' [paragraph 19]"
    ]
    assert "a heading is no question: Questions on angles [paragraph 1]" in told(found)


def test_every_file_is_looked_at():
    there = {path.name for folder in ("adapquest", "sheets") for path in (FOLDER / folder).iterdir()}
    surveys = {"AdaptiveSimpleSurvey.json", "NonAdaptiveSimpleSurvey.json", "AlloyAdaptiveQuestionary.json"}
    sheets = {"kahoot.xlsx", "quizizz.xlsx", "google-forms-api.json", "aiken-like.docx", "adaptive.questionnaire.template.xlsx"}
    assert there == surveys | sheets
