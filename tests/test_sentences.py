"""Tables said back to their author: the texts that authors read, word for word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import documents

from quaestor.bank import Bank
from quaestor.sentences import percent, question_sentence, skill_sentence, times

THREE = {"levels": ["low", "middle", "high"]}


def sentence(question, **skills):
    """What is said of a question on these skills; `a` has the levels no and yes unless told."""
    bank = Bank({"skills": skills or {"a": {}}, "questions": {"Q": question}})
    return question_sentence(bank.questions["Q"], bank.skills)


def said_of_skill(name, **skills):
    bank = Bank({"skills": skills, "questions": {"Q": {"skill": name, "table": {level: [0.5, 0.5] for level in skills[name]["levels"]}}}})
    return skill_sentence(bank.skills[name], bank.skills)


@pytest.mark.parametrize(
    ("low", "high", "long", "short"),
    [
        (0, 0, "never", "never"),
        (1, 1, "always", "always"),
        (0.9, 0.9, "9 times in 10", "9 in 10"),
        (0.1, 0.1, "1 time in 10", "1 in 10"),
        (1 - 0.9, 1 - 0.9, "1 time in 10", "1 in 10"),
        (0.05, 0.05, "1 time in 20", "1 in 20"),
        (0.35, 0.45, "7 to 9 times in 20", "7 to 9 in 20"),
        (0.1, 0.2, "1 to 2 times in 10", "1 to 2 in 10"),
        (0, 0.5, "0 to 5 times in 10", "0 to 5 in 10"),
        (0, 1, "0 to 10 times in 10", "0 to 10 in 10"),
        (0.93, 0.93, "93 times in 100", "93 in 100"),
        (0.3, 0.33, "30 to 33 times in 100", "30 to 33 in 100"),
        (1 / 3, 1 / 3, "33.3 times in 100", "33.3 in 100"),
        (0.001, 0.001, "0.1 times in 100", "0.1 in 100"),
        (1e-17, 1e-17, "0 times in 10", "0 in 10"),
        (0.00001, 0.00001, "0.001 times in 100", "0.001 in 100"),
    ],
)
def test_a_probability_as_a_frequency(low, high, long, short):
    assert times(low, high) == long
    assert times(low, high, short=True) == short


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.3, 0.3, "30 %"),
        (0.25, 0.35, "25 to 35 %"),
        (0, 1, "0 to 100 %"),
        (1 / 3, 1 / 3, "33.3 %"),
        (0.005, 0.005, "0.5 %"),
        (0, 1e-17, "0 %"),
    ],
)
def test_a_probability_in_per_cent(low, high, text):
    assert percent(low, high) == text


@given(st.floats(0, 1), st.floats(0, 1))
def test_no_probability_is_said_in_powers_of_ten(low, high):
    assert "e-" not in times(low, high) + percent(low, high)


# Questions


def test_two_levels_no_and_yes():
    assert sentence({"skill": "a", "right": [0.3, 0.9]}) == (
        "Someone who has the skill gets it right 9 times in 10, someone who has not, 3 in 10."
    )


def test_two_levels_with_intervals():
    assert sentence({"skill": "a", "right": [[0.35, 0.45], [0.55, 0.65]]}) == (
        "Someone who has the skill gets it right 11 to 13 times in 20, someone who has not, 7 to 9 in 20."
    )


def test_certainty_in_words():
    assert sentence({"skill": "a", "right": [0, 1]}) == "Someone who has the skill gets it right always, someone who has not, never."


def test_two_levels_of_other_names():
    assert (
        sentence({"skill": "a", "right": [0.3, 0.9]}, a={"levels": ["low", "high"]})
        == "Right 9 times in 10 with a high, 3 in 10 otherwise."
    )


def test_three_levels():
    assert sentence({"skill": "a", "right": [0.1, 0.5, 0.95]}, a=THREE) == (
        "Right 1 time in 10 with a low; 5 in 10 with a middle; 19 in 20 with a high."
    )


def test_three_levels_of_which_only_the_highest_is_enough():
    assert sentence({"skill": "a", "needs": "all", "slip": 0.1, "guess": 0.25}, a=THREE) == (
        "Right 9 times in 10 with a high, 1 in 4 otherwise."
    )


def test_two_skills_that_are_both_needed():
    assert sentence({"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2}, a={}, b={}) == (
        "Right 9 times in 10 with a yes and b yes, 2 in 10 otherwise."
    )


def test_two_skills_of_which_one_is_enough():
    assert sentence({"skills": ["a", "b"], "needs": "any", "slip": 0.1, "guess": [0.2, 0.3]}, a={}, b={}) == (
        "Right 2 to 3 times in 10 with a no and b no; "
        "9 in 10 with a no and b yes; 9 in 10 with a yes and b no; 9 in 10 with a yes and b yes."
    )


def test_three_classes():
    asked = {"skill": "a", "classes": ["wrong", "half", "right"], "table": {"no": [0.7, 0.2, 0.1], "yes": [0.1, [0.2, 0.3], [0.6, 0.7]]}}
    assert sentence(asked) == "With a no: wrong 70 %, half 20 %, right 10 %; with a yes: wrong 10 %, half 20 to 30 %, right 60 to 70 %."


def test_a_question_that_tells_nothing():
    assert sentence({"skill": "a", "right": [0.5, 0.5, 0.5]}, a=THREE) == (
        "Right 5 times in 10 with a low; 5 in 10 with a middle; 5 in 10 with a high."
    )


# Skills


def test_a_prior():
    assert said_of_skill("a", a={"levels": ["no", "yes"], "prior": [0.25, 0.75]}) == "Before any answer: no 25 %, yes 75 %."


def test_a_prior_of_intervals():
    assert said_of_skill("a", a={**THREE, "prior": [[0.1, 0.2], [0.3, 0.5], 0.4]}) == (
        "Before any answer: low 10 to 20 %, middle 40 to 50 %, high 40 %."
    )


def test_a_skill_with_a_parent():
    assert said_of_skill("b", a={}, b={"levels": ["no", "yes"], "parents": ["a"], "strength": 0.6}) == (
        "With a no: no 80 %, yes 20 %; with a yes: no 20 %, yes 80 %."
    )


def test_a_skill_with_two_parents():
    assert said_of_skill("c", a={}, b={}, c={"levels": ["no", "yes"], "parents": ["a", "b"], "strength": 1}) == (
        "With a no and b no: no 100 %, yes 0 %; with a no and b yes: no 50 %, yes 50 %; "
        "with a yes and b no: no 50 %, yes 50 %; with a yes and b yes: no 0 %, yes 100 %."
    )


@given(documents(most_skills=3, most_questions=2))
def test_every_level_and_class_is_named_in_what_is_said(document):
    bank = Bank(document)
    for skill in bank.skills.values():
        assert all(f"{level} " in skill_sentence(skill, bank.skills) for level in skill.levels)
    for question in bank.questions.values():
        said = question_sentence(question, bank.skills)
        assert said.endswith(".")
        assert question.classes == ("wrong", "right") or all(f"{name} " in said for name in question.classes)
