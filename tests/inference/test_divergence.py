"""The information of questions: the definition, a fine scale against Fisher's, several skills, and what is refused."""

import numpy as np
import pytest

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.inference.divergence import information


def jeffreys(p, q):
    return sum((a - b) * np.log(a / b) for a, b in zip(p, q, strict=True))


def test_one_skill_is_the_definition():
    bank = qs.load("single-skill-as-run")
    found = information(bank, "S")
    assert found.shape == (18, 1)
    for row, question in zip(found, bank.questions.values(), strict=True):
        assert row[0] == pytest.approx(jeffreys(*question.table.lower), abs=1e-12)


def test_a_fine_scale_gives_fishers_information():
    levels, step, slope = 9, 0.01, 1.7
    ability = step * (np.arange(levels) - 4)
    right = 1 / (1 + np.exp(-slope * ability))
    names = [f"l{number}" for number in range(levels)]
    bank = qs.Bank({"skills": {"s": {"levels": names}}, "questions": {"q": {"skill": "s", "right": right.tolist()}}})
    middle = 1 / (1 + np.exp(-slope * (ability[:-1] + step / 2)))
    assert information(bank, "s")[0] / step**2 == pytest.approx(slope**2 * middle * (1 - middle), rel=1e-4)


def test_other_skills_are_averaged_as_the_bank_expects_them():
    skills = {"a": {"prior": [0.3, 0.7]}, "b": {"parents": ["a"], "table": {"no": [0.9, 0.1], "yes": [0.2, 0.8]}}}
    table = {"no, no": [0.9, 0.1], "no, yes": [0.7, 0.3], "yes, no": [0.6, 0.4], "yes, yes": [0.2, 0.8]}
    questions = {"both": {"skills": ["a", "b"], "table": table}, "own": {"skill": "b", "right": [0.2, 0.9]}}
    bank = qs.Bank({"skills": skills, "questions": questions})
    no, yes = 0.9 * 0.1 + 0.1 * 0.3, 0.2 * 0.4 + 0.8 * 0.8  # P(right | a)
    assert information(bank, "a") == pytest.approx(np.array([[jeffreys([1 - no, no], [1 - yes, yes])], [0.0]]), abs=1e-12)
    assert information(bank.widen(0.05), "a") == pytest.approx(information(bank.widen(0.05).centre(), "a"), abs=1e-12)


def test_an_answer_that_only_one_level_can_give():
    bank = qs.Bank({"skills": {"s": {}}, "questions": {"q": {"skill": "s", "right": [0.0, 0.5]}, "r": {"skill": "s", "right": [0.0, 0.0]}}})
    assert information(bank, "s").tolist() == [[np.inf], [0.0]]


@pytest.mark.parametrize(("skill", "words"), [("multiplicatio", "got 'multiplicatio' (did you mean 'multiplication'?)"), (3, "got 3")])
def test_a_skill_that_is_not_there(skill, words):
    with pytest.raises(QuaestorError) as refused:
        information(qs.load("fractions"), skill)
    assert words in str(refused.value)
