"""Matching, ordering, gaps, true or false in a bank file: each rule broken once, what a guess is worth, every format."""

import pytest

from helpers.broken_banks import problems
from quaestor.bankfile.bank import Bank
from quaestor.formats.files import dump_bytes, load_bytes

ENDINGS = (".yaml", ".json", ".csv", ".xlsx")
MATCH = {"kind": "matching", "pairs": {"frog": "amphibian", "cat": "mammal"}, "options": ["amphibian", "mammal", "insect"]}
ORDER = {"kind": "ordering", "options": ["one", "two", "three"]}
GAPS = {
    "kind": "gaps",
    "text": "A [[1]] on a [[2]].",
    "gaps": {"1": {"options": ["cat", "dog"], "correct": "cat"}, "2": {"kind": "text", "correct": "mat", "accept": ["rug"]}},
}
TRUTH = {"kind": "truefalse", "text": "Whales are mammals.", "correct": True}
NUMBERS = "a number question accepts numbers, such as 12, 0.75, 3/4 or 1 1/2"


def document(fields, **more):
    return {"quaestor": 2, "skills": {"s": {}}, "questions": {"Q": {"skill": "s", "right": [0.5, 0.9], **fields}}, **more}


@pytest.mark.parametrize("fields", [MATCH, ORDER, GAPS, TRUTH])
def test_the_kinds_are_the_same_in_every_format(fields):
    bank = Bank(document(fields))
    assert [load_bytes(dump_bytes(bank, ending), ending) for ending in ENDINGS] == [bank] * 4
    for again in (load_bytes(dump_bytes(bank, ending), ending).questions["Q"] for ending in ENDINGS):
        asked = bank.questions["Q"]
        assert (again.parts, again.options, again.correct) == (asked.parts, asked.options, asked.correct)


def test_a_sheet_holds_pairs_as_a_map_and_true_as_a_spreadsheet_writes_it():
    sheet = (
        "id;skill;difficulty;text;kind;pairs;options;correct\n"
        'Q1;s;easy;What is what?;Zuordnung;"frog -> amphibian; cat -> mammal";;\n'
        "Q2;s;easy;Is it?;truefalse;;;WAHR\n"
        "Q3;s;easy;Sort!;ordering;;one | two | three;\n"
    )
    bank = load_bytes(sheet.encode(), ".csv")
    assert bank.questions["Q1"].parts[1].accept == ("mammal",)
    assert bank.questions["Q2"].correct == ("true",)
    assert bank.questions["Q3"].options == ("one", "two", "three")


def test_options_of_a_match_are_by_default_what_the_pairs_name():
    asked = Bank(document({"kind": "matching", "pairs": {"a": "x", "b": "y", "c": "x"}})).questions["Q"]
    assert asked.options == ("x", "y")


def test_fields_may_come_from_a_template():
    own = {"skill": "s", "template": "t", "text": "Is it [[a]]?"}
    template = {"kind": "gaps", "gaps": {"a": {"options": ["so", "not"], "correct": "so"}}, "difficulty": "easy"}
    asked = Bank({"skills": {"s": {}}, "templates": {"t": template}, "questions": {"Q": own}}).questions["Q"]
    assert [part.name for part in asked.parts] == ["a"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "truefalse"}, "correct: true or false is expected, got none"),
        ({**TRUTH, "correct": "perhaps"}, "correct: true or false is expected, got 'perhaps'"),
        ({**TRUTH, "options": ["true", "false"]}, "options: this field does not go with kind 'truefalse', got ['true', 'false']"),
        ({"kind": "matching"}, "pairs: a matching question has pairs: what stands on the left, and what belongs to it, got none"),
        ({**MATCH, "pairs": ["frog"]}, "pairs: a map is expected, got ['frog']"),
        ({**MATCH, "pairs": {"frog": ["x"]}}, "pairs.frog: text is expected, got ['x']"),
        ({**MATCH, "pairs": {"frog": "x", " frog": "x"}}, "pairs: each is listed once, got 'frog'"),
        (
            {**MATCH, "pairs": {"frog": "amphibia", "cat": "mammal"}},
            "pairs.frog: what belongs to it is one of the options, got 'amphibia' (did you mean 'amphibian'?)",
        ),
        ({"kind": "matching", "pairs": {"a": "x", "b": "x"}}, "options: there are at least two options, got ['x']"),
        ({**MATCH, "options": {"amphibian": "right", "mammal": "wrong"}}, "options: a list is expected, got a map"),
        ({**MATCH, "correct": "x"}, "correct: this field does not go with kind 'matching', got 'x'"),
        ({"kind": "ordering"}, "options: there are at least two options, got none"),
        ({"kind": "ordering", "options": ["x"]}, "options: there are at least two options, got ['x']"),
        ({"kind": "ordering", "options": ["x", "y", "x"]}, "options: each is listed once, got 'x'"),
        ({**ORDER, "pairs": {"a": "b"}}, "pairs: this field does not go with kind 'ordering', got {'a': 'b'}"),
        ({"kind": "gaps", "text": "A [[1]]."}, "gaps: a question with gaps says what belongs into each, got none"),
        ({**GAPS, "text": "A [[1]]."}, "text: each gap stands once in the text, as [[2]], got 0 times"),
        ({**GAPS, "text": "A [[1]] [[2]] [[1]]."}, "text: each gap stands once in the text, as [[1]], got 2 times"),
        ({**GAPS, "text": "A [[1]] [[2]] [[3]]."}, "text: each gap of the text is described in 'gaps', got '[[3]]'"),
        ({**GAPS, "text": ["x"]}, "text: text is expected, got ['x']"),
        ({**GAPS, "gaps": "1"}, "gaps: a map is expected, got '1'"),
        ({**GAPS, "gaps.2": 5}, "gaps.2: a map of fields is expected, got 5"),
        (
            {**GAPS, "gaps.2": {"kind": "choices"}},
            "gaps.2.kind: one of choice, number, text is expected, got 'choices' (did you mean 'choice'?)",
        ),
        (
            {**GAPS, "gaps.2": {"correct": "mat"}},
            "gaps.2.options: a gap has options, or says how it is filled: 'kind: text' or 'kind: number', got none",
        ),
        (
            {**GAPS, "gaps.2": {"options": ["mat", "rug"]}},
            "gaps.2.options: each option has a class: give 'correct', or a map from options to classes, got ['mat', 'rug']",
        ),
        (
            {**GAPS, "gaps.2": {"options": ["mat", "rug"], "correct": "cat"}},
            "gaps.2.correct: the correct option is one of the options, got 'cat' (did you mean 'mat'?)",
        ),
        ({**GAPS, "gaps.2": {"kind": "text"}}, "gaps.2.correct: a text question has a correct answer, or answers to accept, got none"),
        ({**GAPS, "gaps.2": {"kind": "number", "correct": "many"}}, f"gaps.2.correct: {NUMBERS}, got 'many'"),
        (
            {**GAPS, "gaps.2": {"kind": "number", "correct": 1, "tolerance": -1}},
            "gaps.2.tolerance: a tolerance is a number not below 0, got '-1'",
        ),
        (
            {**GAPS, "gaps.2": {"kind": "text", "correct": "mat", "tolerance": 1}},
            "gaps.2.tolerance: this field does not go with kind 'text', got '1'",
        ),
        ({"pairs": {"a": "b"}}, "pairs: this field does not go with kind 'choice', got {'a': 'b'}"),
    ],
)
def test_each_rule_is_told_with_its_place(fields, words):
    changed = {name: value for name, value in fields.items() if not name.startswith("gaps.")}
    inner = {name.removeprefix("gaps."): value for name, value in fields.items() if name.startswith("gaps.")}
    if inner:
        changed["gaps"] = {**changed["gaps"], **inner}
    assert problems(document(changed)) == [f"questions.Q.{words}"]


HARD = {"difficulty": "very hard", "discrimination": "strong"}


@pytest.mark.parametrize(
    ("fields", "guess"),
    [
        (TRUTH, 1 / 2),
        (ORDER, 1 / 6),
        (MATCH, 1 / 6),  # three options, two of them used, each once
        ({"kind": "matching", "pairs": {"a": "x", "b": "y", "c": "x"}}, 1 / 8),  # an option that belongs twice
        (GAPS, 0),  # one of them is typed
        ({"kind": "gaps", "text": "[[a]]", "gaps": {"a": {"options": ["x", "y", "z"], "correct": "x"}}}, 1 / 3),
    ],
)
def test_words_of_difficulty_know_what_a_guess_is_worth(fields, guess):
    stated = document({**fields, **HARD})
    del stated["questions"]["Q"]["right"]
    table = Bank(stated).questions["Q"].table
    assert table.lower[:, 1].round(9).tolist() == [round(max(guess, 0.025), 9), 0.575]
    low = Bank(document({**fields, "right": [0.01, 0.9]})).warnings
    assert bool([one for one in low if "a guess is right in" in one.rule]) == (guess > 0)


def test_what_differs_only_by_case_is_a_warning():
    gaps = {"kind": "gaps", "text": "[[a]]", "gaps": {"a": {"options": ["mm", "Mm"], "correct": "mm"}}}
    pairs = {"kind": "matching", "pairs": {"mm": "x", "Mm": "y"}}
    found = [[problem.place for problem in Bank(document(fields)).warnings] for fields in (gaps, pairs)]
    assert found == [["questions.Q.gaps.a.options"], ["questions.Q.pairs"]]


def test_a_key_is_seen_by_the_version_only():
    before, after = (Bank(document({**ORDER, "options": options})) for options in (["a", "b", "c"], ["b", "a", "c"]))
    assert before.version != after.version
    assert before.model_version == after.model_version
