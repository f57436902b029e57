"""Real files of QTI: what is understood equals what ../shared/exchange/README.md tells of them, and the rest is reported."""

import pytest

from helpers.paths import SHARED
from quaestor.formats.exchange.registry import read_questions

FOLDER = SHARED / "exchange"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the files of ../shared/exchange are not here")

WATER = ("choices", ["Hydrogen", "Oxygen"])
BAHRAIN = ["Michael Schumacher", "Rubens Barrichello", "Jenson Button"]
PLAYS = {"Capulet": "Romeo and Juliet", "Demetrius": "A Midsummer-Night's Dream", "Lysander": "A Midsummer-Night's Dream"}
LUGGAGE = ("choice", "You must stay with your luggage at all times.")
POSTING = ["Poses a question or ", "Expresses an opinion", "Adds information, id", "Responds positively "]


def key(fields):
    """The kind of a question, and what is right; long options are cut."""
    kind = fields.get("kind", "choice")
    if kind == "gaps":
        return kind, [gap["correct"] for gap in fields["gaps"].values()]
    if kind == "choices":
        return kind, [option[:20] for option in fields["correct"]]
    right = {"matching": fields.get("pairs"), "ordering": fields.get("options")}.get(kind, fields.get("correct"))
    return (kind, right, fields["tolerance"]) if "tolerance" in fields else (kind, right)


FILES = {
    "qti2/choice.xml": (1, {"choice": LUGGAGE}, "the picture 'images/sign.png' is not in the file"),
    "qti2/choice_multiple.xml": (1, {"choiceMultiple": WATER}, "negative marks"),
    "qti2/text_entry.xml": (1, {"textEntry": ("text", "York")}, "small and capital letters"),
    "qti2/inline_choice.xml": (1, {"inlineChoice": ("choice", "York")}, ""),
    "qti2/order.xml": (1, {"order": ("ordering", BAHRAIN)}, ""),
    "qti2/match.xml": (1, {"match": ("matching", {**PLAYS, "Prospero": "TheTempest"})}, "points of the parts"),
    "qti2/numeric-gap.xml": (1, {"new": ("number", "300", "2")}, ""),
    "qti2/numeric-relative.xml": (1, {"TextEntrynumeric_770468849": ("number", "4.136", "0.2068")}, "feedback"),
    "qti2/text-gap-vendor.xml": (1, {"tgo": ("text", "more")}, "mapTolResponse (http://bps-system.de/xsd/imsqti_ext_maptolresponse)"),
    "qti2/choice-points.xml": (1, {"Choicemultiple_871212949": ("choices", ["Erzgebirge", "Lausitz", "Vogtland"])}, "negative marks"),
    "qti2/package-2p2.zip": (
        5,
        {"choice": LUGGAGE, "multiple-answer": WATER, "Example01-modalFeedback": ("truefalse", "true")},
        "rules of the test were left out: testFeedback",
    ),
    "qti3/examples-package.zip": (
        17,
        {
            "ITM-choice": LUGGAGE,
            "ITM-choice_multiple": WATER,
            "ITM-math": ("choice", "Einstein"),
            "ITM-inline_choice": ("choice", "York"),
            "ITM-text_entry": ("text", "York"),
            "ITM-slider": ("number", "16", "2"),
            "ITM-match": ("matching", {**PLAYS, "Prospero": "The Tempest"}),
            "ITM-order": ("ordering", BAHRAIN),
            "ITM-gap_match": ("gaps", ["winter", "summer"]),
        },
        "a slider became a number",
    ),
    "qti3/kennisnet-package.zip": (
        10,
        {
            "ITEM001": ("choices", ["Dit", "tekst"]),
            "ITEM003": ("matching", {"Kalf": "Koe", "Kuiken": "Kip", "Kitten": "Kat"}),
            "ITEM004": ("gaps", ["plank", "haring", "knaagt", "vlecht", "eiland"]),
            "ITEM006": ("gaps", ["kat", "muizen"]),
            "ITEM007": ("choices", ["L", "C", "M"]),
            "ITEM009": ("ordering", ["Opstaan", "Aankleden", "Ontbijten", "Naar school gaan", "Naar bed gaan"]),
        },
        "the package does not hold the file 'resources/6252e5ce8e58323a85f41570136c191d.png'",
    ),
    "qti3/tao-choice.xml": (1, {"aqti_tmh_sample_1": ("choice", "About 200")}, "catalogInfo"),
    "qti12/canvas-all-types.xml": (
        10,
        {
            "Question 1": ("choice", "C"),
            "Question 2": ("truefalse", "true"),
            "Question 3": ("text", "Blank"),
            "Question 4": ("gaps", ["Multiple", "Blanks"]),
            "Question 5": ("choices", ["A", "B", "C"]),
            "Question 6": ("gaps", ["C"]),
            "Question 7": ("matching", {"A": "1", "B": "2"}),
        },
        "3 empty options were left out",
    ),
    "qti12/canvas-quiz-export.zip": (
        4,
        {"Question 1": ("truefalse", "true"), "Question": ("choice", "True"), "Question (2)": ("choices", ["ssdsd", "asdsad"])},
        "",
    ),
    "qti12/canvas-all.imscc": (
        11,
        {
            "Question": ("choice", "3"),
            "Question (2)": ("truefalse", "false"),
            "Question (3)": ("choices", ["A", "B", "C"]),
            "Question (4)": ("gaps", ["RED", "BLUE"]),
            "Yo match this": ("matching", {"Toyota": "Corolla", "Honda": "Civic", "Mitsubishi": "Lancer"}),
            "Guess the answer": ("number", "33.33", "0.01"),
        },
        "it holds less of the quiz that is in non_cc_assessments/iaa8f9f400b29e514ea8d28fd7ed067f4.xml.qti, which was read",
    ),
    "qti12/numeric-exact.xml": (2, {"Question1": ("number", "1234"), "Question2": ("number", "4321")}, ""),
    "qti12/numeric-margin-percent.xml": (1, {"Question": ("number", "200", "40")}, ""),
    "qti12/question-group.xml": (
        10,
        {"Question": ("truefalse", "true"), **{f"Question ({number})": ("truefalse", "true") for number in range(2, 11)}},
        "questions of another bank are drawn there",
    ),
    "qti12/respondus-package.zip": (
        3,
        {"QUE_1003": ("truefalse", "false"), "QUE_1007": ("choice", "At least 3 hours"), "QUE_1022": ("choices", POSTING)},
        "negative marks",
    ),
    "qti12/text2qti.zip": (
        12,
        {
            "One half": ("choice", "$\\frac{2}{4}$"),
            "Question": ("choices", ["3", "4", "6"]),
            "Question (2)": ("truefalse", "true"),
            "Question (3)": ("text", "triangle"),
            "Question (4)": ("number", "56"),
            "Question (5)": ("number", "1.414", "0.001"),
            "Question (6)": ("number", "3", "2"),
            "Question (7)": ("choice", "4"),
            "Question (8)": ("choice", "6"),
        },
        "1 of the questions of this group is drawn there",
    ),
}


@pytest.mark.parametrize("file", FILES)
def test_what_is_understood_is_what_the_file_holds(file):
    found = read_questions(FOLDER / file)
    count, keys, note = FILES[file]
    assert found.count == count
    assert {name: key(fields) for name, fields in found.questions.items()} == keys
    assert note in " ".join(str(one.sentence) for one in found.notes)
    assert all(one.place and one.words for one in (*found.notes, *found.refused))


def test_every_file_of_qti_is_looked_at():
    there = {
        path.relative_to(FOLDER).as_posix()
        for folder in ("qti2", "qti3", "qti12")
        for path in (FOLDER / folder).iterdir()
        if path.is_file()
    }
    assert there == set(FILES)


REFUSED = {
    "qti2/package-2p2.zip": {"Example05-feedbackBlock-adaptive": "adaptive", "essay": "an essay"},
    "qti3/examples-package.zip": {
        "ITM-info_start": "without a question",
        "ITM-extended_text": "an essay",
        "ITM-graphic_associate": "graphicAssociateInteraction",
        "ITM-graphic_gap_match": "graphicGapMatchInteraction",
        "ITM-hotspot": "hotspotInteraction",
        "ITM-position_object": "positionObjectInteraction",
        "ITM-select_point": "selectPointInteraction",
        "ITM-info_end": "without a question",
    },
    "qti3/kennisnet-package.zip": {
        "INTRODUCTION": "without a question",
        "ITEM002": "no text",
        "ITEM005": "selectPointInteraction",
        "ITEM008": "an essay",
    },
    "qti12/canvas-all-types.xml": {"Question 8": "got 0, 41.5..42.5", "Question 9": "drawn at random", "Question 10": "an essay"},
    "qti12/canvas-all.imscc": {
        "simple": "drawn at random",
        "A bit complex": "drawn at random",
        "Tell me what you think": "an essay",
        "JUST TEXT": "without a question",
        "FILEZ": "a file to hand in",
    },
}


@pytest.mark.parametrize("file", REFUSED)
def test_what_cannot_be_a_question_is_refused_by_name(file):
    refused = {note.question: note.words for note in read_questions(FOLDER / file).refused}
    assert refused.keys() == REFUSED[file].keys()
    assert all(REFUSED[file][name] in words for name, words in refused.items())


def test_texts_gaps_and_pictures_stand_where_they_stood():
    found = read_questions(FOLDER / "qti3/examples-package.zip")
    assert "![NEVER LEAVE LUGGAGE UNATTENDED](sign.png)" in found.questions["ITM-choice"]["text"]
    assert found.media.keys() == {"sign.png"}
    assert "the equation $E=mc^{2}$" in found.questions["ITM-math"]["text"]
    assert "Now is the [[1]] of our discontent  \nMade glorious [[2]] by" in found.questions["ITM-gap_match"]["text"]
    assert "by this sun of \\_\\_\\_\\_;" in found.questions["ITM-text_entry"]["text"]
    assert found.categories["ITM-slider"] == ("examples-a2",)
    assert len(read_questions(FOLDER / "qti12/respondus-package.zip").media) == 2
    formula = read_questions(FOLDER / "qti12/text2qti.zip").questions["One half"]
    assert formula["options"] == ["$\\frac{1}{3}$", "$\\frac{2}{4}$", "$\\frac{3}{5}$"]
    assert formula["explanation"] == "Simplify each fraction first."
