"""Banks chosen on held-out people: what is tried, what is taken and why, and never worse than two levels and independent skills."""

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from oracles.learning import draw, school
from quaestor.errors import QuaestorError
from quaestor.learn.alternatives import ONE, Alternative, Start, alternatives
from quaestor.learn.choice import WITHIN, choose
from quaestor.learn.compare import held_out_log_likelihoods
from quaestor.learn.folds import fold_of
from quaestor.learn.points import classes_of, questions_of
from quaestor.learn.skeleton import one_skill, skeleton

BANK = school()
MATRIX = pd.DataFrame({"a": 1 - np.arange(24) % 2, "b": np.arange(24) % 2}, index=list(BANK.questions))


def told(**given):
    return {"levels": None, "links": None, "shape": None, "needs": None, **given}


def test_what_is_open():
    matrix = Start(skeleton(MATRIX), MATRIX)
    tried, shown = alternatives(matrix, told())
    assert len(tried) == 4 * 3 * 2
    assert {one.skills for one in shown} == {ONE}
    assert [one.name for one in alternatives(matrix, told(levels=3, links="all", shape="curves"))[0]] == [
        "the skills, 3 levels, all links, curves"
    ]
    alone, none = alternatives(Start(questions_of(draw(BANK, 5))), told())
    assert (len(alone), none) == (8, [])
    stated, others = alternatives(Start(BANK, None, BANK), told())
    assert [one.name for one in stated] == ["the skills, as stated, curves", "the skills, as stated, tables"]
    assert {one.links for one in others if one.skills != ONE} == {"independent", "tree", "all"}
    both = pd.DataFrame({"a": [1, 0, 1], "b": [0, 1, 1]}, index=["Q1", "Q2", "Q3"])
    assert Alternative("the skills", 2, "tree", "tables", "all") in alternatives(Start(skeleton(both), both), told())[0]


def test_trials_are_those_of_cross_validation():
    frame = draw(BANK, 60, 2)
    choice = choose(one_skill(BANK, 2), frame, shape="tables", folds=3, tolerance=1e-3 * 60)
    fold = fold_of(60, 3, np.random.default_rng([0, 7]))
    expected = -held_out_log_likelihoods(one_skill(BANK, 2), frame, fold, tolerance=1e-3 * 60) / 24
    own = next(one for one in choice.trials if one.eligible)
    np.testing.assert_allclose(own.losses, np.concatenate([expected[fold == number] for number in range(3)]), rtol=1e-9)


def test_the_rule():
    choice = choose(MATRIX, draw(BANK, 150, 3), levels=2, folds=3)
    apart = {one.name: one.losses - choice.best.losses for one in choice.trials if one.eligible}
    close = [
        one
        for one in choice.trials
        if one.eligible and apart[one.name].mean() <= WITHIN * apart[one.name].std(ddof=1) / np.sqrt(150) + 1e-12
    ]
    assert choice.taken.numbers == min(one.numbers for one in close)
    assert choice.taken.name in choice.words
    table = choice.table()
    assert table.loc[choice.taken.name, "worse by"] == 0
    assert (table.loc[[one.name for one in choice.trials], "log loss"].diff().dropna() >= 0).all()
    for one in choice.given_up:
        assert len(one.losses) == 50
        assert choice.taken.losses[:50].mean() < one.loss
    fit = choice.learn(draw(BANK, 150, 3))
    assert tuple(fit.bank.skills) == ("a", "b")
    assert len(fit.people) == 150


def test_two_levels_and_independent_skills_are_not_the_default():
    """Skills of three levels that build on one another: what is chosen predicts new people better than the start did."""
    learning, others = draw(BANK, 300, 4), draw(BANK, 600, 5)
    from quaestor.learn.compare import log_likelihoods_by_person

    before = log_likelihoods_by_person(qs.learn(skeleton(MATRIX), learning).bank, others)
    fit = qs.choose(MATRIX, learning, folds=3).learn(learning)
    gain = log_likelihoods_by_person(fit.bank, others) - before
    assert gain.mean() > 5 * gain.std() / np.sqrt(len(gain))


def test_points_are_classes():
    assert classes_of("Q", [0, 1, np.nan]) == ("wrong", "right")
    assert classes_of("Q", ["right", "", "wrong"]) == ("wrong", "right")
    assert classes_of("Q", [2, 0, 1]) == ("0", "1", "2")
    assert classes_of("Q", ["0,5", "1", "0"]) == ("0", "0.5", "1")
    assert classes_of("Q", [2, 2]) == ("0", "2")
    with pytest.raises(
        QuaestorError, match=r"^responses: Q: answers are numbers of points, or wrong and right, got 'maybe' \(if the column"
    ):
        classes_of("Q", ["maybe"])
    with pytest.raises(QuaestorError, match=r"^responses: Q: at most 12 different numbers of points, got 13"):
        classes_of("Q", list(range(13)))
    long = pd.DataFrame({"person": [1, 1, 2], "question": ["A", "B", "A"], "answer": [0, 2, 1]})
    assert {name: one.classes for name, one in questions_of(long).questions.items()} == {"A": ("wrong", "right"), "B": ("0", "2")}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"levels": 1}, "choose: a skill has at least 2 levels, got 1"),
        ({"links": "none"}, "choose: links is one of independent, chain, tree, all, got 'none'"),
        ({"shape": "bent"}, "choose: shape is one of tables, curves, got 'bent'"),
        ({"folds": 1}, "choose: folds are between 2 and the number of people, got 1 for 20 people"),
    ],
)
def test_what_cannot_be_told(given, words):
    with pytest.raises(QuaestorError) as caught:
        choose(MATRIX, draw(BANK, 20, 1), **given)
    assert str(caught.value) == words
