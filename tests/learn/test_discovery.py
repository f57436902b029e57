"""Skills found in answers alone: factors, rows, their number by people held out, stable or not said."""

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from oracles.learning import draw
from quaestor.learn.alternatives import ONE, Start, alternatives
from quaestor.learn.answers import read_answers
from quaestor.learn.choice import STABLE, choose
from quaestor.learn.discovery import found_matrix, likely_skills, matched, stability
from quaestor.learn.factors import correlations, high_answers, likely_factors, loadings
from quaestor.learn.points import questions_of


def answers_of(frame):
    return read_answers(questions_of(frame), frame)


def several(skills, people, seed, each=7, strength=0.4):
    """Answers of people with so many skills in a chain, and which skill each question needs."""
    names = [f"s{number}" for number in range(skills)]
    stated = {
        name: {"parents": [before], "strength": strength} if before else {} for before, name in zip([None, *names], names, strict=False)
    }
    questions = {f"Q{n}": {"skill": names[n % skills], "right": [0.15, 0.85]} for n in range(each * skills)}
    return draw(qs.Bank({"skills": stated, "questions": questions}), people, seed), np.eye(skills, dtype=int)[
        np.arange(each * skills) % skills
    ]


def test_correlations_are_those_of_normal_variables_cut_in_two():
    """Digby's formula is within .04 of the tetrachoric correlation for even cuts."""
    rng = np.random.default_rng(1)
    for true in (0.0, 0.3, 0.7):
        pair = rng.multivariate_normal([0, 0], [[1, true], [true, 1]], 40_000)
        assert correlations((pair > 0).astype(float))[0, 1] == pytest.approx(true, abs=0.04)


def test_pairs_without_an_answer_do_not_count():
    rng = np.random.default_rng(2)
    high = (rng.random((400, 3)) < 0.5).astype(float)
    high[:, 1] = high[:, 0]
    whole = correlations(high)
    high[::4, 0] = np.nan
    some = correlations(high)
    kept = high[np.isfinite(high[:, 0])]
    np.testing.assert_allclose(some[0], correlations(kept)[0])
    assert some[1, 2] == whole[1, 2]


def test_loadings_separate_the_kinds_of_questions():
    frame, rows = several(3, 800, 1)
    found = loadings(correlations(high_answers(answers_of(frame))), 3)
    assert (matched(rows, np.eye(3, dtype=int)[found.argmax(axis=1)]) == rows).all()
    assert (loadings(correlations(high_answers(answers_of(frame))), 1) > 0).all()


@pytest.mark.parametrize("skills", [1, 2, 3])
def test_as_many_factors_as_skills(skills):
    frame, _ = several(skills, 800, 2, each=8)
    assert likely_factors(high_answers(answers_of(frame)), np.random.default_rng(0)) == skills
    assert likely_skills(answers_of(frame), np.random.default_rng(0)) == skills + 1


def test_points_are_cut_where_it_is_most_even():
    frame = pd.DataFrame({"Q1": [0, 1, 2, 2, 2], "Q2": [0, 0, 0, 1, 2], "Q3": [0, 1, np.nan, 1, 0]})
    found = high_answers(answers_of(frame))
    assert found[:, 0].tolist() == [0, 0, 1, 1, 1]
    assert found[:, 1].tolist() == [0, 0, 0, 1, 1]
    assert np.isnan(found[2, 2])


@pytest.mark.parametrize("skills", [2, 3])
def test_rows_are_found_again(skills):
    frame, rows = several(skills, 600, 3)
    found = found_matrix(answers_of(frame), skills)
    assert list(found.index) == list(frame.columns)
    assert list(found.columns) == [f"skill {number + 1}" for number in range(skills)]
    assert (matched(rows, found.to_numpy()) == rows).all(axis=1).mean() > 0.95
    sure = stability(answers_of(frame), found, np.random.default_rng(1), samples=5)
    assert sure.same.mean() > 0.85
    assert (sure.samples, sure.failed) == (5, 0)


def test_the_order_of_skills_does_not_matter():
    own = np.eye(3, dtype=int)[[0, 0, 1, 1, 2, 2]]
    assert (matched(own, own[:, [2, 0, 1]]) == own).all()


def test_chance_is_not_stable():
    """Answers by a coin: any two skills are as good as any others."""
    frame = pd.DataFrame(np.random.default_rng(3).integers(0, 2, (200, 10)), columns=[f"Q{n}" for n in range(10)])
    found = found_matrix(answers_of(frame), 2)
    assert found is not None
    assert stability(answers_of(frame), found, np.random.default_rng(1), samples=8).same.mean() < STABLE


def test_one_skill_stays_one_skill():
    frame, _ = several(1, 300, 4, each=14)
    choice = choose(None, frame, folds=3)
    assert choice.taken.alternative.skills == ONE
    assert choice.found is None
    assert any(one.alternative.found for one in (*choice.trials, *choice.given_up))  # two were tried
    assert tuple(choice.learn(frame).bank.skills) == ("ability",)


def test_two_skills_are_found_by_people_held_out():
    frame, rows = several(2, 300, 5)
    choice = choose(None, frame, folds=3, shape="curves", links="all")
    assert choice.taken.alternative.found == 2
    assert (matched(rows, choice.found.matrix.to_numpy()) == rows).all(axis=1).mean() > 0.9
    assert choice.found.is_told
    single = min((one for one in choice.trials if one.alternative.skills == ONE), key=lambda one: one.loss)
    more, error = choice.apart(single)
    assert more > 2 * error
    assert "These skills were found in the answers. They predict better than one skill by" in choice.words
    bank = choice.learn(frame).bank
    assert tuple(bank.skills) == ("skill 1", "skill 2")
    assert {name: question.skills for name, question in bank.questions.items()} == {
        str(name): tuple(skill for skill, needed in row.items() if needed) for name, row in choice.found.matrix.iterrows()
    }


def test_unstable_skills_are_not_said(monkeypatch):
    frame, _ = several(2, 300, 5)
    monkeypatch.setattr("quaestor.learn.choice.STABLE", 1.01)
    choice = choose(None, frame, folds=3, shape="curves", links="all", levels=2)
    assert choice.taken.alternative.skills == ONE
    assert not choice.found.is_told
    assert "too few to name them" in choice.words
    assert choice.best.alternative.skills == ONE


def test_how_many_can_be_told():
    start = Start(questions_of(pd.DataFrame({"Q1": [0, 1], "Q2": [0, 1]})))
    told = {"levels": 2, "links": "all", "shape": "curves", "needs": None}
    assert [one.name for one in alternatives(start, {**told, "skills": 1}, most=3)[0]] == ["one skill, 2 levels, curves"]
    assert [one.name for one in alternatives(start, {**told, "skills": 3})[0]] == ["3 skills found, 2 levels, all links, curves"]
    assert [one.found for one in alternatives(start, {**told, "skills": None}, most=3)[0]] == [0, 2, 3]
    assert (
        str(alternatives(start, {**told, "skills": 3})[0][0].words)
        == "3 skills found in the answers, 2 levels, all linked, curves of few numbers"
    )


def test_few_people_or_few_pairs_tell_of_one_skill():
    frame, _ = several(2, 80, 6)
    assert likely_skills(answers_of(frame), np.random.default_rng(0)) == 1
    frame, _ = several(2, 300, 6)
    cells = frame.to_numpy(dtype=object)
    cells[np.random.default_rng(0).random(cells.shape) < 0.6] = None
    assert likely_skills(answers_of(pd.DataFrame(cells, columns=frame.columns)), np.random.default_rng(0)) == 1


@pytest.mark.parametrize("skills", [0, 7, True, "2"])
def test_numbers_of_skills_that_are_none(skills):
    with pytest.raises(qs.QuaestorError, match=r"choose: between 1 and 6 skills are looked for, got "):
        choose(None, several(2, 30, 7)[0], folds=2, skills=skills)


def test_more_skills_than_there_are():
    frame, _ = several(1, 150, 8, each=12)
    with pytest.raises(qs.QuaestorError, match=r"choose: 6 skills with two questions each are found in the answers, got fewer"):
        choose(None, frame, folds=2, skills=6)


def test_skills_are_looked_for_in_answers_alone():
    frame, _ = several(2, 30, 7)
    with pytest.raises(qs.QuaestorError, match=r"choose: skills are looked for in answers alone, got skills=2 with a bank or a Q-matrix"):
        choose(questions_of(frame), frame, folds=2, skills=2)
    with pytest.raises(qs.QuaestorError, match=r"discovery: at least one skill, and two questions for each, got 9 for 14 questions"):
        found_matrix(answers_of(frame), 9)
