"""What a test lacks: the number of further questions, beside the exact chance that most of n answers are right."""

from math import comb

import pytest

import quaestor as qs
from quaestor.report.trial import too_short, verdict
from quaestor.simulate.shortfall import GOAL, accuracy, longer, separator, shortfall, with_copies
from quaestor.simulate.trial import try_out

RIGHT = 0.65


def bank_of(count, right=(1 - RIGHT, RIGHT), **more):
    questions = {f"Q{number}": {"skill": "s", "right": list(right)} for number in range(count)}
    return qs.Bank({"quaestor": 1, "skills": {"s": {"levels": ["low", "high"], "title": "Angles"}}, "questions": {**questions, **more}})


def majority(length):
    """The chance that most of so many answers, each right with `RIGHT`, tell the right level: the oracle (a tie counts half)."""
    chances = [comb(length, right) * RIGHT**right * (1 - RIGHT) ** (length - right) for right in range(length + 1)]
    return sum(chance * (1 if 2 * right > length else 0.5 if 2 * right == length else 0) for right, chance in enumerate(chances))


def tried(bank, rules, students=2000):
    return try_out(bank, [rules], students, 1)


def test_the_number_is_that_of_the_exact_chances():
    """Three questions of this kind find 72 of 100; the smallest length that finds 80 by the exact chances is 9."""
    assert majority(3) < GOAL
    needed = next(length for length in range(3, 100) if majority(length) >= GOAL)
    bank, rules = bank_of(3), qs.Rules(stop=qs.max_questions(3))
    found = tried(bank, rules)
    assert too_short(found, 0) == [0]
    for more in (1, 6, 12):
        assert accuracy(bank, rules, "s", "Q0", more, 1, 4000) == pytest.approx(majority(3 + more), abs=0.02)
    told = shortfall(bank, rules, "s", found["sets"][0]["levels"][0], 1, students=4000)
    assert (told["levels"], told["question"], told["ended"]) == ([0, 1], "Q0", False)
    assert abs(3 + told["more"] - needed) <= 2  # the chances of neighbours differ by less than a hundredth
    (words,) = verdict({**found, "shortfalls": [[told]]}, 0)
    assert str(words).startswith(f"Too short for Angles: about {told['more']} more questions that separate “low” from “high”, as Q0 does")


def test_a_test_that_is_long_enough_is_said_to_be():
    found = tried(bank_of(15), qs.Rules(stop=qs.max_questions(15)))
    assert too_short(found, 0) == []
    assert str(verdict({**found, "shortfalls": [[]]}, 0)[0]).startswith(
        "Long enough: for every skill the right level is found for at least 80"
    )
    assert verdict(found, 0) == []  # a trial from before there were verdicts


def test_levels_that_no_question_tells_apart_get_no_number():
    bank, rules = bank_of(3, right=(0.5, 0.5)), qs.Rules(stop=qs.max_questions(3))
    found = tried(bank, rules)
    told = shortfall(bank, rules, "s", found["sets"][0]["levels"][0], 1)
    assert (told["question"], told["more"]) == (None, None)
    assert (
        str(verdict({**found, "shortfalls": [[told]]}, 0)[0])
        == "No question on Angles tells “low” from “high”: it needs questions of another kind."
    )


def test_not_even_many_are_enough_and_what_takes_too_long_is_said():
    bank, rules = bank_of(2, right=(0.5, 0.51)), qs.Rules(stop=qs.max_questions(2))
    found = tried(bank, rules, 400)
    table = found["sets"][0]["levels"][0]
    never, ended = shortfall(bank, rules, "s", table, 1), shortfall(bank, rules, "s", table, 1, lambda: False)
    assert "not even 64 more questions" in str(verdict({**found, "shortfalls": [[never]]}, 0)[0])
    assert "took too long" in str(verdict({**found, "shortfalls": [[ended]]}, 0)[0])


def test_the_separator_is_the_question_whose_answers_differ_most_and_no_pilot():
    bank = bank_of(1, strong={"skill": "s", "right": [0.1, 0.9]}, pilot={"skill": "s", "right": [0.0, 1.0], "pilot": True})
    assert separator(bank, "s", 0, 1) == "strong"


def test_copies_and_lengths_are_added_and_nothing_else_changes():
    bank = bank_of(1, **{"Q0+1": {"skill": "s", "right": [0.2, 0.3]}})
    assert list(with_copies(bank, "Q0", 2).questions) == ["Q0", "Q0+1", "Q0+2", "Q0+3"]
    rules = qs.Rules(stop=qs.any_of(qs.max_questions(3), qs.probability_above(0.9)))
    assert longer(rules, 4) == qs.Rules(stop=qs.any_of(qs.max_questions(7), qs.probability_above(0.9)))
