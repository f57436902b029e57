"""What ended the tests of a trial, in words for a teacher."""

import pytest

import quaestor as qs
from quaestor.report.trial import ENDS, _end
from quaestor.selection.stopping.criteria import SIMPLE


@pytest.mark.parametrize("name", SIMPLE)
def test_every_criterion_has_words(name):
    assert _end(name) == ENDS[name]


def test_criteria_that_were_all_needed_are_all_said():
    """A trial by 'at least 8 questions, more until it is sure' once said that no question was left."""
    bank = qs.Bank({"skills": {"a": {}}, "questions": {f"q{n}": {"skill": "a", "right": [0.05, 0.95]} for n in range(6)}})
    x = qs.simulate(bank, qs.Rules(stop=qs.all_of(qs.min_questions(2), qs.probability_above(0.9))), students=40)
    words = {str(_end(rule)) for rule in x.stops}
    assert "enough questions were asked and every skill was sure enough" in words
    assert words <= {"enough questions were asked and every skill was sure enough", "no question was left"}


def test_a_criterion_of_somebody_elses_is_named():
    assert _end("bored and minutes") == "bored and the time was over"
