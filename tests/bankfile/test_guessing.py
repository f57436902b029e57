"""Difficulties in words know how many options there are: nobody is right less often than by chance, unless the author says so.

Files of format 1, and files that name no format, keep what they meant.
"""

import pytest

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError
from quaestor.formats.files import dump_bytes, load_bytes

HARD = {"difficulty": "very hard", "discrimination": "strong"}
YES_NO = {"options": ["yes", "no"], "correct": "no"}
OLD = """{head}title: Yes or no
skills: {{s: {{levels: [no, yes]}}}}
questions:
  Q1: {{text: "Is it?", options: [right, wrong], correct: right, skill: s, difficulty: very hard, discrimination: strong}}
  Q2: {{text: "Is it not?", options: [right, wrong], correct: wrong, skill: s, difficulty: hard}}
"""


def bank(fields, **document):
    return Bank({"quaestor": 2, **document, "skills": {"s": {}}, "questions": {"Q": {"skill": "s", "text": "?", **fields}}})


def rights(fields, **document):
    table = bank(fields, **document).questions["Q"].table
    assert table.lower.tolist() == table.upper.tolist()
    return table.lower[:, 1].round(9).tolist()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({**YES_NO, **HARD}, [0.5, 0.575]),
        ({"options": ["a", "b", "c", "d"], "correct": "a", **HARD}, [0.25, 0.575]),
        (
            {"options": {"a": "right", "b": "right", "c": "wrong", "d": "wrong"}, "difficulty": "medium", "discrimination": "strong"},
            [0.5, 0.775],
        ),
        ({**YES_NO, "difficulty": "very easy", "discrimination": "weak"}, [0.6, 0.8]),
        ({**YES_NO, "difficulty": 0.7, "discrimination": 0.55}, [0.025, 0.575]),  # numbers say what they say
        ({**YES_NO, "difficulty": "70%", "discrimination": "strong"}, [0.025, 0.575]),
        ({**YES_NO, **HARD, "guess": 0}, [0.025, 0.575]),
        ({**YES_NO, **HARD, "guess": 0.1}, [0.1, 0.575]),
        ({"kind": "number", "correct": 5, **HARD}, [0.025, 0.575]),
        ({"kind": "number", "correct": 5, **HARD, "guess": "very unlikely"}, [0.1, 0.575]),
        ({"kind": "choices", "options": ["a", "b"], "correct": ["a"], **HARD}, [0.025, 0.575]),
        (HARD, [0.025, 0.575]),  # a question for paper, without options
    ],
)
def test_words_keep_to_chance(fields, expected):
    assert rights(fields) == expected


def test_the_options_may_be_the_questions_and_the_words_the_templates():
    document = {"quaestor": 2, "skills": {"s": {}}, "templates": {"t": HARD}, "questions": {"Q": {"skill": "s", "template": "t", **YES_NO}}}
    assert Bank(document).questions["Q"].table.lower[:, 1].tolist() == [0.5, 0.575]


def test_a_guess_may_be_an_interval():
    table = bank({**YES_NO, **HARD, "guess": [0.1, 0.3]}).questions["Q"].table
    assert (table.lower[:, 1].round(9).tolist(), table.upper[:, 1].round(9).tolist()) == ([0.1, 0.575], [0.3, 0.575])


@pytest.mark.parametrize(("head", "version"), [("quaestor: 1\n", "b51c89ba35e9ce3c"), ("", "b51c89ba35e9ce3c")])
def test_an_old_file_means_what_it_meant(head, version):
    made = load_bytes(OLD.format(head=head).encode(), ".yaml")
    assert (made.version, made.model_version) == (version, "5dbc5e935f37d0ae")
    assert made.questions["Q1"].table.lower[:, 1].round(9).tolist() == [0.025, 0.575]
    for ending in (".yaml", ".json", ".csv", ".xlsx"):
        again = load_bytes(dump_bytes(Bank(made.document), ending), ending)
        assert (again.version, again.model_version) == (made.version, made.model_version)


def test_a_new_file_is_new_in_every_format():
    made = bank({**YES_NO, **HARD})
    assert [load_bytes(dump_bytes(made, ending), ending) for ending in (".yaml", ".json", ".csv", ".xlsx")] == [made] * 4


def test_a_sheet_that_names_no_format_is_old_unless_it_is_only_now_begun():
    sheet = b"id,text,options,correct,skill,difficulty,discrimination\nQ,?,yes | no,no,s,very hard,strong\n"
    old, new = load_bytes(sheet, ".csv"), load_bytes(sheet, ".csv", unmarked=2)
    assert [made.questions["Q"].table.lower[0, 1].round(9) for made in (old, new)] == [0.025, 0.5]


RARE = "questions.Q: with {count} options a guess is right in {guess} of cases; less than half of that is rare, got {share}"
TO_DO = " (in a file that begins with 'quaestor: 2' a difficulty in words is not below chance)"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({**YES_NO, "right": [0.2, 0.9]}, RARE.format(count=2, guess="50 %", share="20 %")),
        ({**YES_NO, "right": [[0.1, 0.24], 0.9]}, RARE.format(count=2, guess="50 %", share="24 %")),
        ({"options": ["a", "b", "c", "d"], "correct": "a", "right": [0.1, 0.9]}, RARE.format(count=4, guess="25 %", share="10 %")),
        ({**YES_NO, "table": {"no": [0.9, 0.1], "yes": [0.2, 0.8]}}, RARE.format(count=2, guess="50 %", share="10 %")),
        ({**YES_NO, **HARD, "guess": 0}, RARE.format(count=2, guess="50 %", share="2.5 %")),
        ({**YES_NO, **HARD}, ""),
        ({**YES_NO, "right": [0.25, 0.9]}, ""),
        ({**YES_NO, "right": [[0.1, 0.3], 0.9]}, ""),
        ({"options": ["a", "b", "c", "d"], "correct": "a", "right": [0.15, 0.9]}, ""),
        ({"kind": "number", "correct": 5, "right": [0.01, 0.9]}, ""),
    ],
)
def test_far_below_chance_is_a_warning(fields, said):
    assert [str(problem) for problem in bank(fields).warnings] == ([said] if said else [])


def test_the_warning_of_an_old_file_says_what_to_do():
    said = RARE.format(count=2, guess="50 %", share="2.5 %") + TO_DO
    assert [str(problem) for problem in bank({**YES_NO, **HARD}, quaestor=1).warnings] == [said]


def test_a_guess_goes_with_a_difficulty_or_with_needs():
    with pytest.raises(BankError, match="this field belongs to 'difficulty, needs'"):
        bank({**YES_NO, "right": [0.5, 0.9], "guess": 0.5})
