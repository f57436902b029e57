"""The bundled banks: without problems, with the numbers of the studies, with the right keys, and what issue 2 asks of each."""

import re
from collections import Counter
from fractions import Fraction
from itertools import chain, combinations, permutations, product
from math import gcd, lcm

import numpy as np
import pytest

from quaestor import bundled_banks, dump, load
from quaestor.bankfile.schema import KINDS
from quaestor.numerals import read_number

NAMES = ["animals", "four-skills", "fractions", "german", "multiplication", "single-skill", "single-skill-as-run"]
TAKEN_BY_PEOPLE = ["fractions", "german", "multiplication"]
QUESTIONS = [pytest.param(question, id=f"{name}-{question.id}") for name in TAKEN_BY_PEOPLE for question in load(name).questions.values()]


def test_the_bundle_is_complete():
    assert bundled_banks() == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_bank_has_no_problems(name):
    assert load(name).warnings == ()


@pytest.mark.parametrize("ending", [".yaml", ".json", ".csv", ".xlsx"])
@pytest.mark.parametrize("name", NAMES)
def test_a_bundled_bank_survives_a_file(tmp_path, name, ending):
    bank = load(name)
    for version in (bank, bank.widen(0.05)):
        dump(version, tmp_path / f"copy{ending}")
        assert load(tmp_path / f"copy{ending}").document == version.document


# The studies of the paper: docs/mathematics.md, what the paper gets wrong


def rights(bank):
    """P(right | level) of every question, shape (questions, levels)."""
    return np.array([question.table.lower[:, 1] for question in bank.questions.values()])


AS_RUN = [(0.40, 0.80), (0.35, 0.85), (0.30, 0.90), (0.30, 0.70), (0.25, 0.75), (0.20, 0.80), (0.40, 0.60), (0.15, 0.65), (0.10, 0.70)]


@pytest.mark.parametrize(("name", "seventh"), [("single-skill-as-run", (0.40, 0.60)), ("single-skill", (0.20, 0.60))])
def test_the_first_study_has_the_numbers_of_the_paper(name, seventh):
    bank = load(name)
    templates = [*AS_RUN[:6], seventh, *AS_RUN[7:]]
    assert list(bank.questions) == [f"Q{number}" for number in range(1, 19)]
    assert rights(bank).tolist() == [list(pair) for pair in templates * 2]
    (skill,) = bank.skills.values()
    assert (skill.levels, skill.table.lower.tolist()) == (("0", "1"), [0.5, 0.5])
    assert bank.is_precise


def test_the_first_study_as_written_crosses_difficulty_and_discrimination():
    settings = [(delta, kappa) for delta in (0.4, 0.5, 0.6) for kappa in (0.4, 0.5, 0.6)]
    expected = [(1 - delta - kappa / 2, 1 - delta + kappa / 2) for delta, kappa in settings]
    np.testing.assert_allclose(rights(load("single-skill")), expected * 2, rtol=0, atol=1e-12)  # decimals against their sums


def test_the_second_study_has_the_numbers_of_the_paper():
    bank = load("four-skills")
    assert list(bank.skills) == ["S1", "S2", "S3", "S4"]
    assert [skill.parents for skill in bank.skills.values()] == [(), ("S1",), ("S2",), ("S3",)]
    assert bank.skills["S1"].table.lower.tolist() == [0.5, 0.5]
    for name in ("S2", "S3", "S4"):
        assert bank.skills[name].table.lower.tolist() == [[0.8, 0.2], [0.2, 0.8]]
    assert [question.skills for question in bank.questions.values()] == [(name,) for name in bank.skills for _ in range(16)]
    settings = [(0.6, 0.9), (0.4, 0.9), (0.1, 0.7), (0.1, 0.6)]
    assert rights(bank).tolist() == [list(pair) for _ in range(4) for pair in settings for _ in range(4)]
    assert bank.is_precise


def test_the_example_of_figure_1_has_its_numbers():
    bank = load("multiplication")
    assert rights(bank).tolist() == [[0.3, 0.9], [0.4, 0.6]]
    assert {question.correct for question in bank.questions.values()} == {(str(10 * 5),), (str(13 * 14),)}


# What issue 2 asks of the tests that people take


def test_fractions_is_a_test_that_a_pupil_could_take():
    bank = load("fractions")
    questions = bank.questions.values()
    assert len(bank.skills) >= 4
    assert all(skill.parents for skill in list(bank.skills.values())[1:]), "each skill but the first builds on another"
    assert max(len(skill.levels) for skill in bank.skills.values()) == 3
    assert len(questions) >= 40
    assert {question.kind for question in questions} == {"choice", "choices", "number", "text"}
    assert {len(question.classes) for question in questions} == {2, 3}
    assert sum(len(question.skills) == 2 for question in questions) >= 4
    assert sum(r"\frac" in question.text + " ".join(question.options) for question in questions) >= 20
    assert set(bank.skills) == {skill for question in questions for skill in question.skills}


def test_german_has_the_shape_of_the_paper():
    bank = load("german")
    names = list(bank.skills)
    assert [skill.parents for skill in bank.skills.values()] == [(), *((name,) for name in names[:-1])]
    assert Counter(question.skills for question in bank.questions.values()) == {(name,): 16 for name in names}
    assert len(names) == 4
    settings = Counter((question.skills, tuple(question.table.lower[:, 1])) for question in bank.questions.values())
    assert set(settings.values()) == {4}
    assert len({right for _, right in settings}) == 4
    levels = Counter((question.skills, question.tags[-1]) for question in bank.questions.values())
    assert levels == {((name,), level): 4 for name in names for level in ("A1", "A2", "B1", "B2")}
    assert {question.kind for question in bank.questions.values()} == {"choice", "choices", "text"}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_for_people_is_complete(question):
    assert question.text
    assert question.explanation
    assert question.minutes
    assert question.kind != "choice" or len(question.options) >= 3


# Keys


def subsets(options):
    return chain.from_iterable(combinations(options, size) for size in range(1, len(options) + 1))


def entries(question):
    """Entries that are right, and entries that are not."""
    if question.kind == "choice":
        return [[key] for key in question.correct], [[option] for option in question.options if option not in question.correct]
    if question.kind == "choices":
        return [question.correct], [ticked for ticked in subsets(question.options) if set(ticked) != set(question.correct)]
    if question.kind == "number":
        return [[question.correct[0]]], [[str(read_number(question.correct[0]) + Fraction(step, 100))] for step in (-100, -1, 1, 100)]
    return [[answer] for answer in question.accept], [[f"{answer} {answer}"] for answer in question.accept]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_key_is_right_and_nothing_else_is(question):
    right, wrong = entries(question)
    assert right
    assert wrong
    for entered in right:
        assert question.classify(entered if question.kind == "choices" else entered[0]) == question.classes[-1]
    for entered in wrong:
        assert question.classify(entered if question.kind == "choices" else entered[0]) != question.classes[-1]


@pytest.mark.parametrize("question", [param for param in QUESTIONS if len(param.values[0].classes) == 3])
def test_a_question_of_three_classes_can_end_in_each(question):
    assert {question.classify(option) for option in question.options} == set(question.classes)


@pytest.mark.parametrize("question", [one for one in load("animals").questions.values() if one.parts], ids=lambda one: one.id)
def test_each_part_has_a_key_and_every_class_can_be_reached(question):
    keys = [part.accept[0] for part in question.parts]
    assert question.classify(keys) == question.classes[-1]
    entered = (
        permutations(keys) if question.kind == "ordering" else product(*(part.options or ("0", *part.accept) for part in question.parts))
    )
    found = [(question.classify(entry), list(entry)) for entry in entered]
    assert {answer for answer, _ in found} == set(question.classes)
    assert [entry for answer, entry in found if answer == question.classes[-1]] == [keys]


def test_animals_has_every_kind_of_question():
    assert {question.kind for question in load("animals").questions.values()} == set(KINDS)


# The arithmetic of `fractions`, done again

ANSWERS = {
    "P1": Fraction(8 - 3, 8),
    "P2": Fraction(2, 2 + 3),
    "P4": 2 * Fraction(1, 5),
    "P7": Fraction(3) / 4,
    "E1": Fraction(2, 3),
    "E2": Fraction(3, 5) * 20,
    "E3": 2 + Fraction(3, 4),
    "E4": Fraction(18, 42),
    "E5": Fraction(24, 36),
    "E6": max(Fraction(3, 4), Fraction(11, 16), Fraction(5, 8), Fraction(7, 9)),
    "A1": Fraction(2, 7) + Fraction(3, 7),
    "A2": Fraction(7, 9) - Fraction(2, 9),
    "A3": Fraction(1, 2) + Fraction(1, 3),
    "A4": 1 - Fraction(3, 8),
    "A5": Fraction(1, 4) + Fraction(3, 8),
    "A6": Fraction(3, 4) - Fraction(1, 3),
    "A7": Fraction(1, 6) + Fraction(3, 10),
    "A8": Fraction(lcm(6, 8)),
    "A10": (4 + Fraction(1, 5)) - (1 + Fraction(3, 5)),
    "A11": Fraction(11, 12) - Fraction(2, 3),
    "M1": Fraction(2, 3) * Fraction(4, 5),
    "M2": Fraction(3, 4) * 20,
    "M3": 5 * Fraction(2, 9),
    "M5": Fraction(5, 6) * Fraction(3, 10),
    "M6": (1 + Fraction(1, 2)) * (2 + Fraction(1, 2)),
    "D1": 3 / Fraction(1, 4),
    "D2": Fraction(3, 4) / Fraction(2, 5),
    "D3": Fraction(3, 5) / 2,
    "D6": (1 + Fraction(1, 2)) / Fraction(3, 8),
    "W1": 1 - Fraction(1, 3) - Fraction(1, 4),
    "W2": Fraction(1, 3) * (1 - Fraction(2, 5)),
    "W3": 4 * Fraction(3, 4) / Fraction(1, 5),
}
LOWEST_TERMS = {"E4", "E5", "A7", "M5"}


def value(formula):
    r"""What a formula such as `$2\frac{3}{4} \times 5$` comes to; a comparison gives True or False."""
    plain = formula.replace("$", "").replace(r"\times", "*").replace(r"\div", "/")
    plain = re.sub(r"(\d+)?\\frac\{(\d+)\}\{(\d+)\}", lambda m: f"({m[1] or 0} + Fraction({m[2]}, {m[3]}))", plain)
    plain = re.sub(r"(?<![\w(, ])(\d+)|(?<=[ (])(\d+)(?=[ )]|$)", lambda m: f"Fraction({m[0]})", plain)
    return eval(plain, {"Fraction": Fraction})


def test_formulas_are_understood():
    assert value(r"$2\frac{3}{4}$") == Fraction(11, 4)
    assert value(r"$(8 \div 3) \times 2$") == Fraction(16, 3)
    assert value(r"$\frac{2}{3} \div 8$") == Fraction(1, 12)
    assert value("24") == 24
    assert value(r"$\frac{1}{2} < \frac{3}{4} < \frac{2}{5}$") is False


@pytest.mark.parametrize("name", ANSWERS)
def test_a_key_is_what_the_arithmetic_gives(name):
    question = load("fractions").questions[name]
    if question.kind == "choice":
        equal = {option for option in question.options if value(option) == ANSWERS[name]}
        assert {question.option_classes[option] for option in equal} <= {"half", "right"}
        assert [option for option in equal if question.option_classes[option] == "right"] == list(question.correct)
    else:
        assert {read_number(answer) for answer in question.accept} == {ANSWERS[name]}


@pytest.mark.parametrize("name", sorted(LOWEST_TERMS))
def test_a_key_in_lowest_terms_is(name):
    question = load("fractions").questions[name]
    keys = question.correct or [answer for answer in question.accept if answer.isascii()]
    for key in keys:
        top, bottom = map(int, re.findall(r"\d+", key))
        assert gcd(top, bottom) == 1


def ticked(name, holds):
    question = load("fractions").questions[name]
    assert {option for option in question.options if holds(value(option))} == set(question.correct)


def test_several_choices_are_what_the_arithmetic_gives():
    ticked("P5", lambda found: found > 1)
    ticked("E8", lambda found: found == Fraction(6, 8))
    ticked("D5", lambda found: found == 8 / Fraction(2, 3))


def test_comparisons_are_what_the_arithmetic_gives():
    bank = load("fractions")
    assert [option for option in bank.questions["E9"].options if value(option)] == list(bank.questions["E9"].correct)
    between = [option for option in bank.questions["E10"].options if "$" in option and Fraction(1, 3) < value(option) < Fraction(1, 2)]
    assert between == list(bank.questions["E10"].correct)
    assert Fraction(5, 8) - Fraction(7, 12) == Fraction(1, 24)
    assert bank.questions["W4"].correct == (r"Kim, by $\frac{1}{24}$",)
