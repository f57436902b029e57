"""The wrong kind of thing at the boundary gets an error of ours that says what is expected."""

import pytest

import quaestor as qs
from quaestor.errors import UnknownNameError

BANK = qs.load("multiplication")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: qs.posterior("multiplication", {}), "a bank is expected, as qs.load gives it, got 'multiplication'"),
        (lambda: qs.posterior(BANK, [("Q1", "right")]), "answers are a map from questions to answer classes, got [('Q1', 'right')]"),
        (lambda: qs.posterior(BANK, {"Q1": None}), "Q1: an answer class is one of wrong, right, got None"),
        (lambda: qs.rank("multiplication"), "a bank is expected, as qs.load gives it, got 'multiplication'"),
        (lambda: BANK.widen("a"), "a table is widened by a number between 0 and 1, got a"),
        (lambda: qs.Session(BANK, "x"), "rules: Rules is expected, got 'x'"),
        (lambda: qs.Session("x"), "bank: Bank is expected, got 'x'"),
        (lambda: qs.bounds(BANK, 0), "a network is expected, as qs.read_network or bank.network gives it"),
        (lambda: qs.bounds(BANK.network, 0, [1]), "evidence is a map from variables to states, got [1]"),
        (lambda: qs.bounds(BANK.network, 0, tolerance=-1, method="branch"), "tolerance is a number of at least 0, got -1"),
        (lambda: qs.bounds(BANK.network, 0, limit=None, method="branch"), "limit is a number of at least 0, got None"),
        (lambda: qs.bounds(BANK.network, 0, seconds="5", method="exact"), "seconds is a number of at least 0, got '5'"),
        (
            lambda: qs.bounds(BANK.network, 0, seconds=3, method="branch"),
            "seconds go with method 'exact' only, so that all else repeats, got method 'branch'",
        ),
        (lambda: qs.Session.from_json(BANK, None), "a saved session is JSON"),
        (lambda: qs.posterior(BANK)["x"], "unknown skill, got 'x'"),
    ],
)
def test_words(call, words):
    with pytest.raises(qs.QuaestorError) as error:
        call()
    assert words in str(error.value)


def test_an_unknown_skill_is_a_missing_key_too():
    beliefs = qs.posterior(BANK)
    assert beliefs.get("x") is None
    assert "x" not in beliefs
    with pytest.raises(UnknownNameError, match="did you mean 'multiplication'"):
        beliefs["multiplicaton"]


def test_numbers_may_be_entered_as_numbers():
    bank = qs.Bank(
        {"skills": {"a": {}}, "questions": {"Q": {"skill": "a", "right": [0.2, 0.8], "kind": "number", "correct": 50, "text": "?"}}}
    )
    session = qs.Session(bank).enter("Q", 50)
    assert (session.log[0].answer, session.log[0].entry) == ("right", "50")
    assert qs.Session(bank).enter("Q", 12.5).log[0].answer == "wrong"
    with pytest.raises(qs.AnswerError, match="one entry is expected, got True"):
        qs.Session(bank).enter("Q", True)
