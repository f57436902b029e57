"""Faults put into simulated answers are found, and hardly anything else is; real faults are found without being told."""

import importlib.util
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

import quaestor as qs
from helpers.paths import ROOT, SHARED
from oracles.learning import SMALL, draw, likelihood, profiles, rows_of, school, with_tables
from quaestor.errors import QuaestorError
from quaestor.learn.chance import discoveries
from quaestor.learn.dependence import dependences
from quaestor.learn.diagnose import _Sums, diagnose
from quaestor.learn.points import questions_of
from quaestor.learn.proposals import accept, proposals
from quaestor.learn.skeleton import one_skill

DATA = SHARED / "data"


def test_discoveries():
    assert discoveries(np.array([0.001, 0.2, 0.03, np.nan, 0.9]), 0.05).tolist() == [True, False, False, False, False]
    assert discoveries(np.array([0.01, 0.02, 0.03, 0.04]), 0.05).tolist() == [True] * 4
    assert discoveries(np.array([]), 0.05).tolist() == []


@pytest.mark.parametrize("weight", [2, 0])
def test_what_other_answers_foretell_by_hand(weight):
    """P(right | all other answers) by listing all profiles, gathered by level; with weight 0 a chance that is 0 stays so."""
    bank = SMALL["two skills in one question"]
    frame = draw(bank, 30, missing=0.2)
    sure = with_tables(bank, {"Q3": np.array([[1, 0], [0.5, 0.5], [0, 1]])})
    fit = qs.learn(bank if weight else sure, frame, weight=weight, iterations=1)
    assert (fit.bank.questions["Q3"].table.lower.min() == 0) == (weight == 0)
    found = next(one for one in diagnose(fit) if one.question == "Q3")
    weight, observed, expected = np.zeros(3), np.zeros(3), np.zeros(3)
    for answers in rows_of(frame):
        if "Q3" not in answers:
            continue
        others = {name: answer for name, answer in answers.items() if name != "Q3"}
        shares = np.array([likelihood(fit.bank, profile, others) for profile in profiles(fit.bank)])
        level = np.bincount([profile["b"] for profile in profiles(fit.bank)], shares / shares.sum())
        chance = level @ fit.bank.questions["Q3"].table.lower[:, 1]
        weight += level
        observed += level * (answers["Q3"] == "right")
        expected += level * chance
    by = found.by_level[0]
    np.testing.assert_allclose(by.people, weight, atol=1e-6)
    np.testing.assert_allclose(by.observed, observed / weight, atol=1e-6)
    np.testing.assert_allclose(by.expected, expected / weight, atol=1e-6)


def test_a_sound_bank_raises_few_flags():
    flags = [flag for seed in range(3) for one in diagnose(qs.learn(school(seed), draw(school(seed), 300, seed))) for flag in one.flags]
    assert len(flags) <= 2  # of 72 questions


def of_one_skill():
    """Twenty questions on one skill of five levels."""
    right = np.linspace(0.15, 0.85, 5) + np.random.default_rng(1).uniform(-0.1, 0.1, (20, 1))
    questions = {f"Q{n}": {"skill": "a", "right": row.round(3).tolist()} for n, row in enumerate(right)}
    return qs.Bank({"skills": {"a": {"levels": list("12345")}}, "questions": questions})


def of_three_skills():
    """Eight questions that need all of three skills, eight rows of which two differ, and four on each skill."""
    skills = {name: {} for name in "abc"}
    questions = {f"all{n}": {"skills": list("abc"), "needs": "all", "slip": 0.1, "guess": 0.2} for n in range(8)}
    questions |= {f"{name}{n}": {"skill": name, "right": [0.2, 0.85]} for name in skills for n in range(4)}
    return qs.Bank({"skills": skills, "questions": questions})


@pytest.mark.parametrize(
    ("bank", "people", "options", "start"),
    [
        (of_one_skill(), 60, {"weight": 50}, "Q"),
        (of_three_skills(), 300, {"weight": 2, "tied": True}, "all"),
        (of_three_skills(), 300, {"weight": 2}, "all"),
        (school(), 300, {"weight": 2}, "Q"),
    ],
    ids=["hardly fitted", "tied", "free", "two skills"],
)
def test_misfits_of_a_sound_bank_are_as_rare_as_they_say(bank, people, options, start):
    found = [
        one.misfit
        for seed in range(100, 125)
        for one in diagnose(qs.learn(bank, draw(bank, people, seed), **options))
        if one.question.startswith(start)
    ]
    assert np.mean(np.array(found) < 0.05) <= 0.065
    assert np.mean(np.array(found) < 0.5) == pytest.approx(0.5, abs=0.15)


def test_two_correlations_are_one_finding():
    """Of a question's two correlations the lower one counts, its tail doubled; one that is not known counts for nothing."""
    sums = _Sums(qs.learn(SMALL["one skill"], draw(SMALL["one skill"], 60)))
    sums.moments[:, :, 0] = 103
    found = sums._falls(np.array([-0.2, 0.3, np.nan]), np.array([0.1, -0.3, -0.1]))
    np.testing.assert_allclose(found, 2 * norm.cdf(10 * np.arctanh([-0.2, -0.3, -0.1])))
    assert sums._falls(np.full(3, 0.2), np.full(3, 0.1)).tolist() == [1, 1, 1]


def test_faults_are_found():
    bank = school()
    frame = draw(bank, 500)
    rng = np.random.default_rng(1)
    frame["Q2"] = frame["Q2"].map({"right": "wrong", "wrong": "right"})
    frame["Q5"] = np.where(rng.random(500) < 0.5, "right", "wrong")
    frame.loc[:15, "Q7"] = None
    found = {one.question: one for one in diagnose(qs.learn(bank, frame))}
    assert found["Q2"].flags == ("key",)
    assert (
        found["Q2"]
        .words[0]
        .startswith("Check the key: those who do better elsewhere do worse here (correlation with the other questions -0.")
    )
    assert found["Q5"].flags[0] == "nothing"
    assert re.match(
        r"It tells next to nothing: at the lowest level (4|5)\d in 100 are right, at the highest (4|5)\d\.", found["Q5"].words[0]
    )
    assert found["Q7"].answers == 484
    assert sum(bool(one.flags) for one in found.values()) <= 4


def test_a_question_asked_of_few_who_are_alike_does_not_tell_nothing():
    """As adaptive tests do: the others of the class were not asked."""
    bank = school()
    frame = draw(bank, 400)
    good = (frame[["Q1", "Q2", "Q3"]] == "right").sum(axis=1) == 3
    frame.loc[~good, "Q4"] = None
    frame.loc[frame.index[good][19:], "Q5"] = None
    frame.loc[~good, "Q5"] = None
    found = {one.question: one for one in diagnose(qs.learn(bank, frame))}
    assert found["Q4"].answers >= 20
    assert found["Q5"].answers == 19
    assert found["Q4"].information > 0.05
    assert "nothing" not in found["Q4"].flags + found["Q5"].flags


def test_a_question_that_depends_on_something_else_does_not_fit():
    """Right for the lowest and the highest only: no table that rises can say that."""
    bank = school()
    frame = draw(bank, 800)
    score = (frame == "right").sum(axis=1)
    frame["Q3"] = np.where((score < score.quantile(0.3)) | (score > score.quantile(0.7)), "right", "wrong")
    found = {one.question: one for one in diagnose(qs.learn(bank, frame))}
    assert "misfit" in found["Q3"].flags
    assert "than predicted among" in found["Q3"].words[-1]


# Proposals, one by one


def test_proposals_are_accepted_one_by_one():
    bank = SMALL["one skill"]
    frame = draw(bank, 200).drop(columns="Q2")
    fit = qs.learn(bank, frame)
    found = proposals(fit, diagnose(fit))
    assert [(one.id, one.kind) for one in found] == [("a", "skill"), ("Q0", "question"), ("Q1", "question")]
    chosen = [one for one in found if one.id == "Q1"]
    made = accept(bank, chosen)
    assert made.questions["Q1"].table == fit.bank.questions["Q1"].table
    assert made.questions["Q0"].table == bank.questions["Q0"].table
    assert made.document["questions"]["Q0"] == bank.document["questions"]["Q0"]
    assert made.version != bank.version
    assert accept(bank, []) is bank
    assert chosen[0].before.startswith("Someone who has the skill gets it right ")
    assert chosen[0].answers == 200
    assert chosen[0].change == pytest.approx(np.abs(chosen[0].current.lower - chosen[0].proposed.lower).max())
    with pytest.raises(
        QuaestorError, match=r"^proposals.Q1: the bank still has the table that the proposal would replace, got another table$"
    ):
        accept(made, chosen)
    with pytest.raises(QuaestorError, match=r"^proposals.Q1: the bank still has the table that the proposal would replace, got none$"):
        accept(bank.subset(["Q0"]), chosen)


def test_proposals_for_a_bank_with_imprecision():
    """Accepted numbers stay as they were learnt, and the others keep their width."""
    bank = qs.Bank({**SMALL["one skill"].document, "imprecision": 0.05})
    fit = qs.learn(bank, draw(bank, 200))
    made = accept(bank, [one for one in proposals(fit) if one.id == "Q1"])
    assert made.questions["Q1"].table.is_precise
    np.testing.assert_allclose(made.questions["Q0"].table.lower, bank.questions["Q0"].table.lower)


# Real people


def study():
    spec = importlib.util.spec_from_file_location("german_placement", ROOT / "studies" / "german_placement.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_without_the_data_it_says_so(tmp_path, capsys):
    assert study().main(tmp_path / "nothing", tmp_path / "out") == 1
    assert capsys.readouterr().err == "The answers are not part of this repository: nothing/responses.csv was not found.\n"


@pytest.mark.long
@pytest.mark.skipif(not (DATA / "german_placement").is_dir(), reason="the answers are not beside this repository")
def test_real_faults_are_found_without_being_told(tmp_path):
    assert study().main(DATA / "german_placement", tmp_path) == 0
    found = (tmp_path / "summary.csv").read_text()
    assert found == (ROOT / "studies" / "german-placement" / "summary.csv").read_text()
    table = pd.read_csv(tmp_path / "summary.csv", index_col="levels")
    assert (table.loc["known keys flagged"] == "Q3 Q7 Q9").all()
    flagged = table.loc["of these flagged"].astype(int)
    assert (flagged[["2", "3"]] >= 50).all()
    assert flagged["4"] == 0  # a level of the bank is that of people with nothing right, and predicts them as well as the state
    assert (table.loc["sections known"].astype(int) == 56).all()


def test_people_who_guess_do_not_make_questions_copies():
    """Easy questions that a few people miss, and hard ones that they solve, go together; among all others they do not."""
    rng = np.random.default_rng(4)
    hard = np.linspace(-2.5, 2.5, 20)
    chance = 1 / (1 + np.exp(-1.7 * (rng.normal(size=(150, 1)) - hard)))
    chance[:12] = 0.5
    frame = pd.DataFrame((rng.random(chance.shape) < chance).astype(int), columns=[f"Q{n}" for n in range(20)])
    fit = qs.learn(one_skill(questions_of(frame), 3), frame)
    assert dependences(fit)
    assert [one.question for one in diagnose(fit) if one.pairs] == []
