"""Evidence on a skill that comes from elsewhere, while a test is being taken."""

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from quaestor.errors import AnswerError
from quaestor.session.session import Late

BANK = sessions.bank()
CREDAL = BANK.widen(0.05)


def with_extra(bank, skill, weights):
    """The bank with one more question whose best class has these likelihoods, numbers or pairs."""
    document = bank.document
    document["questions"]["extra"] = {"skill": skill, "right": weights}
    return qs.Bank(document)


@pytest.mark.parametrize("bank", [BANK, CREDAL], ids=["precise", "credal"])
@pytest.mark.parametrize("skill", ["a", "b"])
@pytest.mark.parametrize("weights", [[0.2, 0.8], [1, 0.01], [0, 1], [1, 0]])
def test_late_evidence_is_what_one_more_question_would_say(bank, skill, weights):
    session = qs.Session(bank).answer("a1", "right").late(skill, weights).answer("b1", "wrong")
    expected = qs.posterior(with_extra(bank, skill, weights), {"a1": "right", "b1": "wrong", "extra": "right"})
    for name in bank.skills:
        np.testing.assert_allclose(session.beliefs[name].lower, expected[name].lower, atol=1e-12)
        np.testing.assert_allclose(session.beliefs[name].upper, expected[name].upper, atol=1e-12)


@pytest.mark.parametrize("skill", ["a", "b"])
def test_pairs_of_weights_are_for_credal_banks(skill):
    pairs = [(0.1, 0.3), [0.6, 0.9]]
    session = qs.Session(CREDAL).answer("a1", "right").late(skill, pairs)
    expected = qs.posterior(with_extra(CREDAL, skill, [[0.1, 0.3], [0.6, 0.9]]), {"a1": "right", "extra": "right"})
    for name in CREDAL.skills:
        np.testing.assert_allclose(session.beliefs[name].lower, expected[name].lower, atol=1e-12)
        np.testing.assert_allclose(session.beliefs[name].upper, expected[name].upper, atol=1e-12)
    assert session.log[-1] == Late(skill, ((0.1, 0.3), (0.6, 0.9)))
    with pytest.raises(AnswerError, match=r"^a: a precise bank takes numbers as weights, got pairs$"):
        qs.Session(BANK).late("a", pairs)
    assert qs.Session(BANK).late("a", [(0.5, 0.5), 0.2]).log == (Late("a", (0.5, 0.2)),)


def test_the_next_question_takes_late_evidence_into_account():
    weights = [0.001, 1]
    session = qs.Session(BANK).late("a", weights)
    expected = qs.rank(with_extra(BANK, "a", weights), {"extra": "right"})
    assert list(session.choice.ranking.ids) == list(expected.ids)
    np.testing.assert_allclose(session.choice.ranking.gains, expected.gains, atol=1e-12)
    assert session.next.id != qs.Session(BANK).next.id


def test_a_level_may_be_stated_and_weights_multiply():
    session = qs.Session(BANK).late("a", "yes", "worked well in class")
    assert session.log == (Late("a", (0.0, 1.0), "worked well in class"),)
    np.testing.assert_array_equal(session.beliefs["a"].lower, [0, 1])
    twice = qs.Session(BANK).late("b", [0.5, 1]).late("a", [0.3, 0.4]).late("b", {"yes": 0.6, "no": 0.2})
    once = qs.Session(BANK).late("b", [0.1, 0.6]).late("a", [0.3, 0.4])
    np.testing.assert_allclose(sessions.lower(twice), sessions.lower(once), atol=1e-12)


def test_late_evidence_is_not_a_question_and_may_come_after_the_stop():
    session = qs.Session(BANK, qs.Rules(stop=qs.max_questions(1))).answer("a1", "right").late("a", "no")
    assert session.asked == ("a1",)
    assert session.stopped.reason == "1 question was asked; the limit is 1."
    assert session.beliefs["a"].lower[0] == 1


@pytest.mark.parametrize(
    ("skill", "seen", "said"),
    [
        ("c", "yes", "unknown skill, got 'c'"),
        (["a"], "yes", "unknown skill, got ['a']"),
        ("a", "maybe", "a: a level is one of no, yes, got 'maybe'"),
        ("a", {"yes": 1}, "a: a weight for each of no, yes, got {'yes': 1}"),
        ("a", [0.1, 0.2, 0.3], "a: a weight for each of no, yes, got 3 weights"),
        ("a", 0.5, "a: a level, or a weight for each of no, yes, got 0.5"),
        ("a", None, "a: a level, or a weight for each of no, yes, got None"),
        ("a", [0.1, 2], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got 2"),
        ("a", [0.1, float("nan")], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got nan"),
        ("a", [True, 0.5], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got True"),
        ("a", ["x", 0.5], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got 'x'"),
        ("a", [(0.5, 0.4), 1], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got (0.5, 0.4)"),
        ("a", [(0.1, 0.2, 0.3), 1], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got (0.1, 0.2, 0.3)"),
        ("a", [0, 0], "these answers cannot be given together: the bank gives them probability zero, got what was stated of a"),
    ],
)
def test_bad_late_evidence_is_refused(skill, seen, said):
    with pytest.raises(AnswerError) as caught:
        qs.Session(CREDAL).late(skill, seen)
    assert str(caught.value) == said
