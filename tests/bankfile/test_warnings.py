"""What may be meant, but often is not: questions that tell nothing, that get harder for the better, options that look alike."""

import pytest

from helpers.broken_banks import problems, with_changes
from quaestor.bankfile.bank import Bank


def warnings(changes):
    return [str(problem) for problem in Bank(with_changes(changes)).warnings]


NOTHING = "a question tells something: its rows differ between levels, got the same row for every level"


@pytest.mark.parametrize(
    "stated",
    [
        {"skill": "a", "right": [0.5, 0.5]},
        {"skill": "a", "right": [[0.3, 0.5], [0.3, 0.5]]},
        {"skill": "b", "difficulty": 0.5, "discrimination": 0},
        {"skills": ["a", "b"], "needs": "all", "slip": 0.5, "guess": 0.5},
    ],
)
def test_a_question_that_tells_nothing_is_a_warning(stated):
    assert warnings({"questions.Q": stated}) == [f"questions.Q: {NOTHING}"]


def check_the_key(skill):
    return f"questions.Q: the best answer is not less likely at a higher level of {skill}: check the key, got a falling probability"


@pytest.mark.parametrize(
    ("stated", "skills"),
    [
        ({"skill": "a", "right": [0.9, 0.3]}, "a"),
        ({"skill": "a", "right": [[0.5, 0.6], [0.5, 0.55]]}, "a"),
        ({"skill": "b", "right": [0.2, 0.6, 0.5]}, "b"),
        ({"skills": ["a", "b"], "needs": "all", "slip": 0.8, "guess": 0.5}, "ab"),
        ({"skills": ["b", "a"], "needs": "all", "slip": 0.8, "guess": 0.5}, "ba"),
        ({"skill": "a", "classes": ["x", "y", "z"], "table": {"no": [0.2, 0.2, 0.6], "yes": [0.2, 0.5, 0.3]}}, "a"),
    ],
)
def test_a_right_answer_less_likely_at_a_higher_level_is_a_warning(stated, skills):
    assert warnings({"questions.Q": stated}) == [check_the_key(skill) for skill in skills]


@pytest.mark.parametrize(
    "stated",
    [
        {"skill": "a", "right": [[0.4, 0.6], [0.3, 0.7]]},  # one end falls, the other rises: nothing is sure
        {"skill": "b", "right": [0.2, 0.2, 0.3]},
        {"skill": "a", "classes": ["x", "y", "z"], "table": {"no": [0.2, 0.5, 0.3], "yes": [0.4, 0.2, 0.4]}},
        {
            "skill": "a",
            "classes": ["x", "y", "z"],
            "table": {level: {"vertices": [[0.6, 0.2, 0.2], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]]} for level in ("no", "yes")},
        },
    ],
)
def test_what_may_well_be_meant_is_no_warning(stated):
    assert warnings({"questions.Q": stated}) == []


RULED_OUT = "an answer is possible at every level: one that the answers before rule out is refused, which tells the key"


@pytest.mark.parametrize(
    ("stated", "warned"),
    [
        ({"skill": "a", "right": [0, 0.9]}, True),
        ({"skill": "a", "right": [0.2, 1]}, True),
        ({"skill": "a", "right": [[0, 0.1], [0.5, 1]]}, False),  # it may be impossible, but need not
        ({"skill": "a", "right": [0.01, 0.99]}, False),
        ({"skill": "a", "classes": ["x", "y", "z"], "table": {"no": [0.5, 0.5, 0], "yes": [0.1, 0.2, 0.7]}}, True),
        ({"skills": ["a", "b"], "needs": "all", "slip": 0, "guess": 0.2}, True),
    ],
)
def test_an_answer_that_a_level_rules_out_is_a_warning(stated, warned):
    assert warnings({"questions.Q": stated}) == [f"questions.Q: {RULED_OUT}, got a probability of 0"] * warned


@pytest.mark.parametrize(
    ("options", "twins"),
    [
        (["x", "X", "y"], "x | X"),
        (["½", "a b", "1/2", "A  b"], "½ | a b | 1/2 | A  b"),
    ],
)
def test_options_that_look_alike_are_a_warning(options, twins):
    assert warnings({"questions.O.options": options, "questions.O.correct": options[0]}) == [
        f"questions.O.options: options differ by more than case and spaces, got '{twins}'"
    ]


def test_warnings_say_that_they_are():
    assert [problem.severity for problem in Bank(with_changes({"questions.Q.right": [0.5, 0.5]})).warnings] == ["warning"]


def test_errors_come_without_warnings():
    assert problems(with_changes({"questions.Q.right": [0.5, 0.5], "questions.O.correct": "z"})) == [
        "questions.O.correct: the correct option is one of the options, got 'z'"
    ]
