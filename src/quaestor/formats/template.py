"""A small bank to fill in: example rows, and in a workbook a sheet that explains every column."""

from collections.abc import Callable

from quaestor.bankfile.bank import NEWEST, Bank
from quaestor.bankfile.schema import BANK_FIELDS
from quaestor.formats.files import dump_bytes
from quaestor.formats.sheets import SECTIONS, SHEETS, write_xlsx
from quaestor.i18n import say

EXAMPLE = {
    "quaestor": NEWEST,
    "title": "My first bank",
    "description": "Replace these rows by your own; empty columns may stay empty.",
    "skills": {
        "addition": {"title": "Adding", "levels": ["no", "yes"], "prior": [0.4, 0.6]},
        "carrying": {"title": "Adding with carrying", "levels": ["no", "partly", "yes"], "parents": ["addition"], "strength": 0.6},
    },
    "templates": {"standard": {"difficulty": "medium", "discrimination": "strong", "confidence": "fairly sure"}},
    "questions": {
        "A1": {"text": "What is $7 + 2$?", "options": ["8", "9", "10"], "correct": "9", "skill": "addition", "difficulty": "easy"},
        "A2": {"template": "standard", "text": "What is $38 + 25$?", "kind": "number", "correct": "63", "skill": "carrying", "minutes": 1},
        "A3": {"text": "What is $5 + 3$?", "options": ["7", "8", "9"], "correct": "8", "skill": "addition", "right": [0.4, 0.95]},
        "A4": {
            "text": "What is $19 + 4$?",
            "options": {"23": "right", "13": "half", "22": "wrong"},
            "skills": ["addition", "carrying"],
            "classes": ["wrong", "half", "right"],
            "table": {
                "no, no": [0.6, 0.2, 0.2],
                "no, partly": [0.5, 0.3, 0.2],
                "no, yes": [0.5, 0.2, 0.3],
                "yes, no": [0.3, 0.4, 0.3],
                "yes, partly": [0.2, 0.3, 0.5],
                "yes, yes": [0.05, 0.1, [0.8, 0.9]],
            },
        },
        "A5": {
            "text": "Which sum is which?",
            "kind": "matching",
            "pairs": {"$2 + 5$": "7", "$4 + 4$": "8", "$6 + 3$": "9"},
            "skill": "addition",
            "difficulty": "easy",
        },
        "A6": {
            "text": "3 + [[1]] = 8, and 8 is [[2]] than 7.",
            "kind": "gaps",
            "gaps": {"1": {"kind": "number", "correct": "5"}, "2": {"options": ["more", "less"], "correct": "more"}},
            "skill": "addition",
            "difficulty": "easy",
        },
    },
}
MEANINGS = {
    "quaestor": say("the version of this format; leave it as it is"),
    "title": say("a title for people"),
    "description": say("a few words for people"),
    "language": say("the language of the questions, such as en or de"),
    "author": say("who wrote it"),
    "licence": say("how others may use it"),
    "imprecision": say("how unsure all numbers are, from 0 to 0.5; empty: not at all"),
    "id": say("a short name of its own, without comma; other cells refer to it"),
    "link": say("where to practise the skill: an address that begins with https://; results name it"),
    "levels": say("the levels of the skill, lowest first, with | between them; empty: no | yes"),
    "abilities": say("only for questions with irt: a rising number for each level"),
    "parents": say("skills that this one builds on, with | between them"),
    "prior": say("how common each level is: a share for each, or a word such as even or mostly low"),
    "shares": say("instead of prior: how many pupils are at each level"),
    "strength": say("with parents: how closely the skill follows them, from 0 to 1"),
    "table": say("the general form: a row of shares for each combination of levels"),
    "confidence": say("how sure you are of these numbers: certain, sure, fairly sure, unsure, very unsure; or a number"),
    "template": say("a row of the sheet templates whose cells count here too"),
    "text": say("the question; Markdown, and formulas between dollar signs"),
    "kind": say("how it is answered: choice, choices (several), number, text, truefalse, matching, ordering or gaps; empty: choice"),
    "options": say("what can be chosen, with | between them; for ordering in the right order"),
    "pairs": say("for matching: what belongs to what, such as frog -> amphibian; cat -> mammal"),
    "gaps": say("for gaps: what belongs into each [[gap]] of the text, as in the example"),
    "correct": say("the right answer; of options exactly as it stands there"),
    "accept": say("other answers that are right too, with | between them"),
    "tolerance": say("for numbers: how far off is still right"),
    "skill": say("the skill that the question needs"),
    "skills": say("several skills, with | between them, instead of skill"),
    "classes": say("answer classes, worst first; empty: wrong | right"),
    "right": say("the share right at each level of the skill, lowest first; one way to say how hard it is"),
    "difficulty": say("how hard it is, another way: very easy, easy, medium, hard, very hard; or a number from 0 to 1"),
    "discrimination": say("with difficulty: how well it tells who can from who cannot: weak, fair, strong; empty: fair"),
    "needs": say("with several skills: all, or any one of them; goes with slip and guess"),
    "at_least": say("with needs: the level that is enough, such as addition -> partly"),
    "slip": say("with needs: the chance of a wrong answer all the same"),
    "guess": say("the chance of a lucky guess; with difficulty it may stay empty"),
    "irt": say("for those who know item response theory: a -> 1; b -> 0; c -> 0.2"),
    "gdina": say("for those who know cognitive diagnosis: the effects of skills, as JSON; docs/bank-format.md tells more"),
    "rrum": say("the reduced RUM: pi, and a penalty r for each skill, as JSON"),
    "explanation": say("shown after the answer in practice"),
    "media": say("the file name of an image, which is uploaded with the bank"),
    "alt": say("what the image shows, for those who cannot see it"),
    "minutes": say("how long it takes"),
    "group": say("questions of one group can be limited by rules"),
    "tags": say("words to find it by, with | between them"),
    "pilot": say("true: it is asked but does not count"),
}


def template(ending: str, translate: Callable[[str], str] = str) -> bytes:
    """The template as the content of a file with this ending; `translate` says sentences in the reader's language."""
    if ending != ".xlsx":
        return dump_bytes(Bank(EXAMPLE), ending)
    heads = [translate(word) for word in (say("sheet"), say("column"), say("meaning"))]
    fields = {"bank": [field for field in BANK_FIELDS if field not in SECTIONS], **{section: SHEETS[section] for section in SECTIONS}}
    rows = [[section, field, translate(MEANINGS[field])] for section in ("questions", "skills", "bank") for field in fields[section]]
    return write_xlsx(Bank(EXAMPLE).document, every_column=True, about=(translate(say("columns")), [heads, *rows]))
