"""What takers and those at home are told at the end: in plain words, whatever the rules measure."""

import pytest

import quaestor as qs
from helpers.browsing import application, enter, give
from quaestor.report.advice import ENDINGS, ending
from quaestor.selection.stopping.criteria import SIMPLE
from quaestor.session.session import Stop

STOPS = {
    "This test asks no more questions.": qs.max_questions(1),
    "The test ended as soon as we were sure enough.": qs.probability_above(0.41),
    "More questions would have told us little.": qs.gain_below(10),
    "That many right answers are enough.": qs.right_answers(1),
}


def test_every_criterion_has_words_of_its_own_or_plain_ones():
    assert set(SIMPLE) - set(ENDINGS) == {"min_questions"}
    assert ending(Stop("No question is left.")) == "No question is left."


@pytest.mark.parametrize("words", STOPS)
def test_why_a_test_ended_is_told_without_numbers_of_the_engine(make_database, words):
    database = make_database("sqlite")
    browser = enter(application(database), give(database, rules=qs.Rules(score="order", stop=STOPS[words], least_answers=1)))
    if browser.path == "/take/1":
        browser.fill("/answer", entry="3/4")
    assert browser.path == "/take/1/result"
    assert words in browser.page.text
    assert "robability" not in browser.page.text
    assert "threshold" not in browser.page.text


def test_how_far_a_test_is_never_shrinks(make_database):
    database = make_database("sqlite")
    browser = enter(application(database), give(database, rules=qs.Rules(score="order", stop=qs.max_questions(3))))
    for words in ("Question 1 of at most 3", "Question 2 of at most 3", "Question 3 of at most 3"):
        assert f'<p class="progress" aria-hidden="true">{words}</p>' in browser.page.text
        browser.fill("/answer", skip="1")


def test_that_the_test_was_sure_is_said_only_where_it_was(make_database):
    """After one answer the rule holds, but one answer of two is too few to name a level."""
    database = make_database("sqlite")
    rules = qs.Rules(score="order", stop=qs.all_of(qs.min_questions(1), qs.probability_above(0.4)))
    browser = enter(application(database), give(database, rules=rules))
    browser.fill("/answer", entry="3/4")
    assert "Too few answers to say how far this has come." in browser.page.text
    assert "sure enough" not in browser.page.text


@pytest.mark.parametrize(
    ("above", "words"), [(0.85, "We are quite certain of this."), (0.9, "Not certain yet: more questions would help.")]
)
def test_sure_is_what_the_test_says(make_database, above, words):
    """After this answer the level is 88 % probable."""
    database = make_database("sqlite")
    rules = qs.Rules(stop=qs.any_of(qs.max_questions(1), qs.probability_above(above)), least_answers=1)
    browser = enter(application(database), give(database, qs.load("multiplication"), rules))
    browser.fill("/answer", entry="15")
    assert words in browser.page.text
