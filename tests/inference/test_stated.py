"""What is stated of skills beside the answers: likelihoods multiply into the posterior, and every fault is told in words."""

import numpy as np
import pytest

import quaestor as qs
from quaestor.errors import AnswerError

BANK = qs.Bank(
    {
        "skills": {"a": {"prior": [0.5, 0.5]}, "b": {"levels": ["low", "mid", "high"], "parents": ["a"], "strength": 0.5}},
        "questions": {"q": {"skill": "a", "right": [0.3, 0.9]}},
    }
)
CREDAL = BANK.widen(0.05)


def test_stated_likelihoods_multiply_into_the_posterior():
    found = qs.posterior(BANK, {}, stated={"a": ([0.2, 0.6], [0.2, 0.6])})["a"]
    assert found.lower == pytest.approx([0.25, 0.75])
    credal = qs.posterior(CREDAL, {}, stated={"a": ([0.2, 0.5], [0.3, 0.6])})["a"]
    ends = [(0.45 * 0.5, 0.55 * 0.3), (0.55 * 0.6, 0.45 * 0.2)]
    assert (credal.lower[1], credal.upper[1]) == pytest.approx([yes / (yes + no) for yes, no in ends])
    assert qs.posterior(BANK, {}, stated={"b": (np.array([1, 2, 3.0]), (1, 2, 3))}).exact  # any sequence of numbers


@pytest.mark.parametrize(
    ("bank", "stated", "words"),
    [
        (BANK, {"c": ([1, 1], [1, 1])}, "unknown skill, got 'c'"),
        (BANK, {"aa": ([1, 1], [1, 1])}, "unknown skill, got 'aa' (did you mean 'a'?)"),
        (BANK, {3: ([1, 1], [1, 1])}, "unknown skill, got 3"),
        (BANK, [("a", 1)], "what is stated is a map from skills to lower and upper likelihoods, got [('a', 1)]"),
        (BANK, {"a": 0.5}, "a: a lower and an upper likelihood for each of no, yes, got 0.5"),
        (BANK, {"a": (0.5, 0.5)}, "a: a lower and an upper likelihood for each of no, yes, got [0.5, 0.5]"),
        (BANK, {"a": ([0.5], [0.5])}, "a: a lower and an upper likelihood for each of no, yes, got [[0.5], [0.5]]"),
        (BANK, {"a": ([1, 2, 3],) * 2}, "a: a lower and an upper likelihood for each of no, yes, got [[1, 2, 3], [1, 2, 3]]"),
        (BANK, {"b": ([0.1, 0.2],) * 2}, "b: a lower and an upper likelihood for each of low, mid, high, got [[0.1, 0.2], [0.1, 0.2]]"),
        (BANK, {"a": "no"}, "a: a lower and an upper likelihood for each of no, yes, got 'no'"),
        (BANK, {"a": (["x", 1], ["x", 1])}, "a: likelihoods are numbers, got [['x', 1], ['x', 1]]"),
        (BANK, {"a": ([True, 1], [True, 1])}, "a: likelihoods are numbers, got [[True, 1], [True, 1]]"),
        (BANK, {"a": ([-0.1, 0.5],) * 2}, "a: likelihoods are finite and at least 0, got [[-0.1, 0.5], [-0.1, 0.5]]"),
        (BANK, {"a": ([float("nan"), 0.5],) * 2}, "a: likelihoods are finite and at least 0, got [[nan, 0.5], [nan, 0.5]]"),
        (CREDAL, {"a": ([0.1, 0.5], [0.2, float("inf")])}, "a: likelihoods are finite and at least 0, got [[0.1, 0.5], [0.2, inf]]"),
        (CREDAL, {"a": ([0.8, 0.5], [0.1, 0.9])}, "a: a lower likelihood is not above its upper one, got [[0.8, 0.5], [0.1, 0.9]]"),
        (BANK, {"a": ([0.1, 0.5], [0.2, 0.6])}, "a: a precise bank takes equal lower and upper likelihoods, got [[0.1, 0.5], [0.2, 0.6]]"),
    ],
)
@pytest.mark.parametrize("call", [qs.posterior, qs.rank])
def test_what_cannot_be_stated_is_told_in_words(call, bank, stated, words):
    with pytest.raises(AnswerError) as caught:
        call(bank, {}, stated=stated)
    assert str(caught.value) == words


def test_what_cannot_be_at_any_level_is_a_conflict():
    with pytest.raises(AnswerError, match=r"the bank gives them probability zero, got what was stated of a$"):
        qs.posterior(BANK, {}, stated={"a": ([0, 0], [0, 0])})
