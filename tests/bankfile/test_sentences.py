"""Tables said back to their author: the texts that authors read, word for word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import documents
from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import YES_NO, has_or_not, percent, question_sentence, skill_sentence, times
from quaestor.web.render.language import LANGUAGES, translate

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
        (1 / 3, 1 / 3, "about 33 times in 100", "about 33 in 100"),
        (0.0672, 0.0672, "about 7 times in 100", "about 7 in 100"),
        (0.0123, 0.0123, "about 1 time in 100", "about 1 in 100"),
        (0.125, 0.125, "12.5 times in 100", "12.5 in 100"),
        (0.3333, 0.4567, "about 33 to 46 times in 100", "about 33 to 46 in 100"),
        (0.9961, 0.9961, "about 99.6 times in 100", "about 99.6 in 100"),
        (0.00672, 0.00672, "about 0.7 times in 100", "about 0.7 in 100"),
        (0.001, 0.001, "0.1 times in 100", "0.1 in 100"),
        (1e-17, 1e-17, "0 times in 10", "0 in 10"),
        (0.00001, 0.00001, "about 0.001 times in 100", "about 0.001 in 100"),
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
        (1 / 3, 1 / 3, "33 %"),
        (0.125, 0.125, "12.5 %"),
        (0.0012, 0.9981, "0.1 to 99.8 %"),
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
        == "Right 9 times in 10 at level “high”, 3 in 10 otherwise."
    )


def test_three_levels():
    assert sentence({"skill": "a", "right": [0.1, 0.5, 0.95]}, a=THREE) == (
        "Right 1 time in 10 at level “low”; 5 in 10 at level “middle”; 19 in 20 at level “high”."
    )


def test_three_levels_of_which_only_the_highest_is_enough():
    assert sentence({"skill": "a", "needs": "all", "slip": 0.1, "guess": 0.25}, a=THREE) == (
        "Right 9 times in 10 at level “high”, 1 in 4 otherwise."
    )


def test_two_skills_that_are_both_needed():
    assert sentence({"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2}, a={}, b={}) == (
        "Right 9 times in 10 with “a” and with “b”, 2 in 10 otherwise."
    )


def test_two_skills_of_which_one_is_enough():
    assert sentence({"skills": ["a", "b"], "needs": "any", "slip": 0.1, "guess": [0.2, 0.3]}, a={}, b={}) == (
        "Right 2 to 3 times in 10 without “a” and without “b”; "
        "9 in 10 without “a” and with “b”; 9 in 10 with “a” and without “b”; 9 in 10 with “a” and with “b”."
    )


def test_three_classes():
    asked = {"skill": "a", "classes": ["wrong", "half", "right"], "table": {"no": [0.7, 0.2, 0.1], "yes": [0.1, [0.2, 0.3], [0.6, 0.7]]}}
    assert sentence(asked) == "Without “a”: wrong 70 %, half 20 %, right 10 %; with “a”: wrong 10 %, half 20 to 30 %, right 60 to 70 %."


def test_a_question_that_tells_nothing():
    assert sentence({"skill": "a", "right": [0.5, 0.5, 0.5]}, a=THREE) == (
        "Right 5 times in 10 at level “low”; 5 in 10 at level “middle”; 5 in 10 at level “high”."
    )


def test_skills_have_their_titles_and_levels_of_several_skills_are_told_apart():
    skills = {"a": {"title": "Adding numbers", "levels": ["low", "high"]}, "b": {"title": "Counting"}}
    made = sentence({"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2}, **skills)
    assert made == "Right 9 times in 10 at level “high” in “Adding numbers” and with “Counting”, 2 in 10 otherwise."
    assert translate("de", made) == "Richtig in 9 von 10 Fällen auf Stufe „high“ in „Adding numbers“ und mit „Counting“, sonst in 2 von 10."


@pytest.mark.parametrize("levels", [["nein", "ja"], ["Nein", "Ja"], ["No", "Yes"]])
def test_yes_and_no_of_every_language_are_a_skill_that_one_has_or_has_not(levels):
    made = sentence({"skill": "addieren", "right": [0.4, 0.8]}, addieren={"levels": levels})
    assert made == "Someone who has the skill gets it right 8 times in 10, someone who has not, 4 in 10."
    assert translate("de", made) == "Wer die Fähigkeit hat, antwortet in 8 von 10 Fällen richtig, wer sie nicht hat, in 4 von 10."


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_levels_that_a_new_skill_gets_are_known_as_yes_and_no(language):
    assert tuple(translate(language, level) for level in ("no", "yes")) in YES_NO


def test_numbers_are_written_in_the_way_of_the_language():
    made = sentence({"skill": "a", "right": [0.333, 0.975]})
    assert "in 97,5 von 100 Fällen richtig, wer sie nicht hat, in 33,3 von 100." in translate("de", made)


# Skills


def test_a_prior():
    assert said_of_skill("a", a={"levels": ["no", "yes"], "prior": [0.25, 0.75]}) == "Before any answer: 75 % have the skill."


def test_a_prior_of_intervals():
    assert said_of_skill("a", a={**THREE, "prior": [[0.1, 0.2], [0.3, 0.5], 0.4]}) == (
        "Before any answer: low 10 to 20 %, middle 40 to 50 %, high 40 %."
    )


def test_a_skill_with_a_parent():
    assert said_of_skill("b", a={}, b={"levels": ["no", "yes"], "parents": ["a"], "strength": 0.6}) == (
        "Without “a”: 20 % have the skill; with “a”: 80 % have the skill."
    )


def test_a_parent_with_levels_of_its_own_is_named_once():
    made = said_of_skill("b", a={**THREE, "title": "First"}, b={"levels": ["no", "yes"], "parents": ["a"], "strength": 1})
    assert made == (
        "At level “low” in “First”: 0 % have the skill; at level “middle”: 50 % have the skill; at level “high”: 100 % have the skill."
    )


def test_a_skill_with_two_parents():
    assert said_of_skill("c", a={}, b={}, c={"levels": ["no", "yes"], "parents": ["a", "b"], "strength": 1}) == (
        "Without “a” and without “b”: 0 % have the skill; without “a” and with “b”: 50 % have the skill; "
        "with “a” and without “b”: 50 % have the skill; with “a” and with “b”: 100 % have the skill."
    )


@given(documents(most_skills=3, most_questions=2))
def test_every_level_and_class_is_named_in_what_is_said(document):
    bank = Bank(document)
    for skill in bank.skills.values():
        said = skill_sentence(skill, bank.skills)
        assert "have the skill" in said if has_or_not(skill.levels) else all(f"{level} " in said for level in skill.levels)
    for question in bank.questions.values():
        said = question_sentence(question, bank.skills)
        assert said.endswith(".")
        assert question.classes == ("wrong", "right") or all(f"{name} " in said for name in question.classes)
