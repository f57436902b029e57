"""The order of options: drawn for each attempt, kept where it means something."""

import pytest

import quaestor as qs
from quaestor.model.question import Question
from quaestor.session.option_order import option_order


def ordered(*options, kind="choice", seed=1, name="Q1"):
    question = qs.load("german").questions["V1"]
    made = Question(name, question.skills, question.classes, question.table, kind=kind, options=options, correct=options[:1])
    return option_order(seed, made)


def test_options_are_shuffled_by_attempt_and_question():
    options = ("cat", "dog", "mouse", "bird", "fish")
    orders = {ordered(*options, seed=seed) for seed in range(40)}
    assert len(orders) > 25
    assert all(sorted(order) == sorted(options) for order in orders)
    assert {order[0] for order in orders} == set(options)
    assert ordered(*options, name="Q2") != ordered(*options) == ordered(*options)
    assert ordered(*options, kind="choices") == ordered(*options)


@pytest.mark.parametrize(
    "options",
    [
        ("15", "50", "105"),
        ("1/2", "-3", "0.5 m", "$4", "(5)"),
        ("A", "B", "C"),
        ("no", "yes"),
        ("True", "False"),
        ("one", "another", "None of the above"),
        ("one", "another", "All of these are right"),
        ("eins", "zwei", "Keine der Antworten"),
        ("eins", "zwei", "alle davon"),
        ("Vrai", "Faux"),
        ("un", "deux", "Aucune de ces réponses"),
        ("un", "deux", "je ne sais pas"),
    ],
)
def test_an_order_that_means_something_is_kept(options):
    assert all(ordered(*options, seed=seed) == options for seed in range(30))
