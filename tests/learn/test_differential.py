"""Questions that work differently for groups: found where planted, not where groups only differ in skill; equal to slow and other ways."""

import importlib.util

import numpy as np
import pandas as pd
import pytest
import scipy
from scipy.optimize import minimize

import quaestor as qs
from helpers.paths import ROOT
from oracles.learning import draw
from oracles.mantel_haenszel import mantel_haenszel
from quaestor.errors import QuaestorError
from quaestor.learn import tilts
from quaestor.learn.differential import differences
from quaestor.learn.multigroup import learnt, of_group, rows_of, stacked
from quaestor.learn.tilts import Answered, shifts

LEVELS = ["1", "2", "3"]


def form(prior=(0.3, 0.4, 0.3), count=14, **shift):
    """Questions whose log-odds rise by 1.5 from level to level; those named are shifted, by one number or one a level."""
    questions = {}
    for number in range(count):
        logits = np.array([-1.5, 0, 1.5]) + 0.3 * (number % 5 - 2) + np.asarray(shift.get(f"Q{number}", 0.0))
        questions[f"Q{number}"] = {"skill": "a", "right": (1 / (1 + np.exp(-logits))).round(6).tolist()}
    return qs.Bank({"skills": {"a": {"levels": LEVELS, "prior": list(prior)}}, "questions": questions})


def two_groups(other, people=500, first=None):
    """Answers of as many people from either bank, with their labels."""
    frame = pd.concat([draw(first or form(), people, 1), draw(other, people, 2)], ignore_index=True)
    return frame, pd.Series(["boys"] * people + ["girls"] * people)


@pytest.fixture(scope="module")
def planted():
    """Girls are weaker, and find Q3 harder than boys at the same level."""
    frame, labels = two_groups(form((0.5, 0.3, 0.2), Q3=-1.0))
    return qs.learn(form(), frame), frame, labels


def example(classes=3, seed=1):
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.full(classes, 3.0), 4)
    group = np.repeat([0, 1, 2], 20)
    posterior, weight = rng.dirichlet(np.ones(4), 60), rng.integers(1, 4, 60).astype(float)
    heights = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    return Answered(posterior, group, rng.integers(0, classes, 60), weight, table, heights)


def slow_value(one, logits, tilt, directions):
    """The penalised log-likelihood, person by person."""
    classes = one.table.shape[1]
    full = np.concatenate([np.zeros((4, 1)), logits], axis=1)
    total = 0.0
    for row in range(len(one.group)):
        chance = 0.0
        for level in range(4):
            odds = [np.exp(full[level, k] + directions[one.group[row], level] @ tilt * k / (classes - 1)) for k in range(classes)]
            chance += one.posterior[row, level] * odds[one.answer[row]] / sum(odds)
        total += one.weight[row] * np.log(chance)
    plain = np.exp(full) / np.exp(full).sum(axis=1, keepdims=True)
    basis = directions[:, 0]
    return total + tilts.RIDGE * (one.table * np.log(plain)).sum() - 0.5 * ((basis @ tilt) ** 2).sum() / tilts.SPREAD**2


def study():
    spec = importlib.util.spec_from_file_location("groups", ROOT / "studies" / "groups.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("classes", [2, 3])
def test_shifts_are_those_of_a_slow_search(classes):
    one = example(classes)
    people = one.people
    basis = np.vstack([np.eye(2), -people[:2] / people[2]])
    directions = np.broadcast_to(basis[:, None], (3, 4, 2))
    size = 4 * (classes - 1)

    def objective(x):
        return -slow_value(one, x[:size].reshape(4, -1), x[size:], directions)

    start = np.concatenate([np.log(one.table[:, 1:] / one.table[:, :1]).reshape(-1), np.zeros(2)])
    best = minimize(objective, start, method="BFGS", options={"gtol": 1e-4}).x[size:]
    found = shifts(one)
    against = [basis[g] @ best - (people @ (basis @ best) - people[g] * basis[g] @ best) / (people.sum() - people[g]) for g in range(3)]
    np.testing.assert_allclose(found.log_odds, against, atol=2e-3)


@pytest.mark.parametrize("classes", [2, 3])
def test_score_and_information_are_derivatives(classes):
    one = example(classes)
    rng = np.random.default_rng(2)
    directions, tilt = rng.normal(size=(3, 4, 2)), np.array([0.3, -0.2])
    logits = rng.normal(size=(4, classes - 1))
    at = tilts._at(one, logits, tilt, directions)
    assert at.value == pytest.approx(slow_value(one, logits, tilt, directions))
    point = np.concatenate([logits.reshape(-1), tilt])
    for number in range(len(point)):
        step = 1e-5 * np.eye(len(point))[number]
        up, down = (slow_value(one, x[: logits.size].reshape(4, -1), x[logits.size :], directions) for x in (point + step, point - step))
        assert at.score[number] == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-4)
    assert np.linalg.eigvalsh(at.information).min() > 0


def test_a_planted_difference_is_found_and_no_other_one_though_groups_differ_in_skill(planted):
    fit, _, labels = planted
    found = differences(fit, labels)
    assert [one.question for one in found.told] == ["Q3"]
    one = found.told[0]
    assert (one.group, one.others, one.answers, one.answers_of_others) == ("girls", "boys", 500, 500)
    assert one.log_odds == pytest.approx(-1.0, abs=2.5 * one.error)
    assert one.delta == pytest.approx(2.35 * one.log_odds)
    assert one.size == "C"
    count = round(-100 * one.points)
    assert 10 < count < 25
    assert one.words == f"It works differently for girls than for boys: at the same level {count} in 100 fewer answer it right."
    assert "Q3" not in found.anchors
    assert len(found.anchors) == 13
    assert (found.labels, found.people, found.notes) == (("boys", "girls"), (500, 500), ())


def test_each_group_has_its_own_skills(planted):
    fit, _, labels = planted
    people = [rows_of(fit, np.flatnonzero(labels == name)) for name in ("boys", "girls")]
    tables = learnt(fit, people, stacked(fit.tables, 2))
    np.testing.assert_allclose(of_group(tables, 0, 2).skills[0][0], [0.3, 0.4, 0.3], atol=0.08)
    np.testing.assert_allclose(of_group(tables, 1, 2).skills[0][0], [0.5, 0.3, 0.2], atol=0.08)
    alone = learnt(fit, [rows_of(fit, np.arange(1000))], stacked(fit.tables, 1))
    for one, other in zip(alone.groups, fit.tables.groups, strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)


def test_without_impact_it_agrees_with_mantel_and_haenszel():
    frame, labels = two_groups(form(Q3=-1.0, Q7=0.6))
    found = differences(qs.learn(form(), frame), labels)
    answers = (frame == "right").to_numpy().astype(int)
    focal = (labels == "girls").to_numpy()
    slow = np.array([mantel_haenszel(answers, focal, number) for number in range(14)])
    np.testing.assert_allclose(study().mantel_haenszel(answers, focal).T, slow)
    own = np.array([(one.log_odds, one.error) for one in found.questions])
    assert np.corrcoef(own[:, 0], slow[:, 0])[0, 1] > 0.97
    np.testing.assert_allclose(own[:, 0], slow[:, 0], atol=0.25)
    np.testing.assert_allclose(own[:, 1], slow[:, 1], rtol=0.25)
    assert "Q3" in [one.question for one in found.told]


def test_names_and_order_of_groups_do_not_matter(planted):
    fit, _, labels = planted
    one, other = (differences(fit, labels.map(names)) for names in ({"boys": "x", "girls": "y"}, {"boys": 2, "girls": 1}))
    for first, second in zip(one.questions, other.questions, strict=True):
        assert (first.group, second.group, second.others) == ("y", "2", "1")
        assert first.log_odds == pytest.approx(-second.log_odds, abs=1e-3)
        assert first.chance == pytest.approx(second.chance, abs=1e-3)
    assert other.told[0].words.startswith("It works differently for 2 than for 1: at the same level")
    assert "more answer it right" in other.told[0].words


def test_a_difference_that_depends_on_the_level():
    frame, labels = two_groups(form(Q3=(1.2, 0.0, -1.6)), 800)
    one = differences(qs.learn(form(), frame), labels).told[0]
    assert (one.question, one.size, one.is_uneven) == ("Q3", "A", True)
    assert one.lowest > 0.1
    assert one.highest < -0.1
    low, high = round(100 * one.lowest), round(-100 * one.highest)
    assert one.words.endswith(
        f"by the level: at the lowest {low} in 100 more answer it right, at the highest {high} in 100 fewer answer it right."
    )


def test_three_groups_and_three_classes():
    def bank(shift):
        logits = np.array([[1.0, 0.5, -1.0], [0.0, 0.5, 0.0], [-1.0, 0.5, 1.0]])
        tables = {}
        for number in range(8):
            odds = np.exp(logits + (shift if number == 2 else 0.0) * np.array([0, 0.5, 1]))
            tables[f"Q{number}"] = dict(zip(LEVELS, (odds / odds.sum(axis=1, keepdims=True)).tolist(), strict=True))
        questions = {name: {"skill": "a", "classes": ["no", "half", "yes"], "table": table} for name, table in tables.items()}
        return qs.Bank({"skills": {"a": {"levels": LEVELS}}, "questions": questions})

    frame = pd.concat([draw(bank(0.0), 300, 1), draw(bank(2.0), 300, 2), draw(bank(0.0), 300, 3)], ignore_index=True)
    found = differences(qs.learn(bank(0.0), frame), np.repeat([7, 8, 9], 300))
    assert [one.question for one in found.told] == ["Q2"]
    one = found.told[0]
    assert (one.group, one.others, one.answers_of_others, one.size) == ("8", "the others", 600, "C")
    assert one.log_odds == pytest.approx(2.0, abs=2.5 * one.error)
    assert f"the mean score is {round(100 * one.points)} in 100 higher" in one.words


def test_people_are_matched_by_their_names_or_by_rows(planted):
    _, frame, labels = planted
    frame = frame.iloc[:, :4]
    fit = qs.learn(form(count=4), frame)
    expected = differences(fit, labels)
    assert differences(fit, labels.sample(frac=1, random_state=1)) == expected
    assert differences(fit, labels.to_list()) == expected
    named = frame.set_index(pd.Index([f"P{n}" for n in range(len(frame))]))
    named.loc["none"] = None
    other = qs.learn(form(count=4), named)
    assert differences(other, [*labels, "boys"]).questions == expected.questions
    with pytest.raises(QuaestorError, match=r"^groups: a label for each of the 1001 rows of the answers, got 1000$"):
        differences(other, labels.to_list())


def test_sparse_answers_curves_and_fixed_tables(planted, monkeypatch):
    _, frame, labels = planted
    short, bank = frame.iloc[:, :6], form(count=6)
    dense = differences(qs.learn(bank, short), labels)
    monkeypatch.setattr("quaestor.learn.answers.SMALL", 0)
    monkeypatch.setattr("quaestor.learn.answers.SPARSE", 2.0)
    fit = qs.learn(bank, short)
    assert scipy.sparse.issparse(fit.people.patterns.answers[0])
    for one, other in zip(differences(fit, labels).questions, dense.questions, strict=True):
        assert one.log_odds == pytest.approx(other.log_odds, abs=1e-3)
    for options in ({"shape": "curves"}, {"fixed": ["a", "Q1"]}):
        told = differences(qs.learn(bank, short, **options), labels).told
        assert [one.question for one in told] == ["Q3"]


def test_people_without_a_label_and_small_groups_are_left_out_with_a_note(planted):
    fit, _, labels = planted
    some = labels.copy()
    some[:20] = None
    some[20:30] = "  "
    some[30:40] = "others"
    found = differences(fit, some)
    assert found.notes == ("30 people without a group were left out.", "Groups of fewer than 30 people were left out: others (10).")
    assert found.people == (460, 500)


def test_a_question_that_few_have_answered_is_not_compared(planted):
    _, frame, labels = planted
    few = frame.copy()
    few.loc[few.index[20:500], "Q3"] = None
    found = differences(qs.learn(form(), few), labels)
    assert np.isnan(found.questions[3].chance)
    assert not found.questions[3].is_told
    assert found.questions[4].answers == 500


def test_a_group_that_is_always_right_has_a_finite_difference(planted):
    _, frame, labels = planted
    always = frame.copy()
    always.loc[500:, "Q5"] = "right"
    found = {one.question: one for one in differences(qs.learn(form(), always), labels).questions}
    assert found["Q5"].size == "C"
    assert np.isfinite([found["Q5"].log_odds, found["Q5"].error]).all()


def test_two_levels_and_groups_of_different_skill_are_told():
    bank = qs.Bank({"skills": {"a": {}}, "questions": {f"Q{n}": {"skill": "a", "right": [0.2, 0.8]} for n in range(8)}})
    frame = pd.concat([draw(bank, 200, 1), draw(bank.with_tables({"a": qs.Table.precise(np.array([0.8, 0.2]))}), 200, 2)])
    found = differences(qs.learn(bank, frame), np.repeat([0, 1], 200))
    assert found.notes == (
        "With two levels only, groups that differ in skill can look as if questions differed: learn three levels or more.",
    )


def test_half_of_the_questions_stay_anchors():
    frame, labels = two_groups(form(count=8, Q0=2, Q2=-2, Q3=2, Q5=-2, Q6=2, Q7=-2), first=form(count=8))
    found = differences(qs.learn(form(count=8), frame), labels)
    assert len(found.anchors) == 4
    assert len(found.told) > 4
    assert found.notes[-1].startswith("Half of the questions work differently")


def test_what_are_no_groups(planted):
    fit = planted[0]
    with pytest.raises(QuaestorError, match=r"^groups: people belong to at least two groups, got 'x' only$"):
        differences(fit, ["x"] * 1000)
    with pytest.raises(QuaestorError, match=r"^groups: people belong to at least two groups, got none$"):
        differences(fit, [np.nan] * 1000)
    with pytest.raises(
        QuaestorError, match=r"^groups: at most 20 groups, got 1000 \('0', '1', '10' and more\); numbers are put into ranges"
    ):
        differences(fit, range(1000))
    with pytest.raises(QuaestorError, match=r"^groups: at least two groups have 30 people with answers, got a 990, b 10$"):
        differences(fit, ["a"] * 990 + ["b"] * 10)
    with pytest.raises(QuaestorError, match=r"^groups: a column with a label for each person, got str$"):
        differences(fit, "sex")
    with pytest.raises(QuaestorError, match=r"^groups: a label is a string or a number, got "):
        differences(fit, [("a",)] * 1000)


def test_the_study_names_no_more_clean_questions_than_stated():
    table = pd.read_csv(ROOT / "studies" / "groups" / "groups.csv")
    clean, planted = table[table["shift"] == 0], table[table["shift"] <= -1]
    assert clean["falsely blamed"].sum() <= 0.05 * clean["repetitions"].sum()
    assert (planted["found"] >= 0.7 * planted["repetitions"]).all()
    assert ((planted["estimate"] - planted["shift"]).abs() < 0.1).all()


@pytest.mark.long
def test_p_values_are_uniform_where_groups_differ_in_skill_only():
    chances = []
    for seed in range(40):
        frame = pd.concat([draw(form(), 250, 2 * seed), draw(form((0.5, 0.3, 0.2)), 250, 2 * seed + 1)], ignore_index=True)
        found = differences(qs.learn(form(), frame), np.repeat([0, 1], 250))
        chances += [(one.chance, one.uneven) for one in found.questions]
    below = (np.array(chances) < 0.05).mean(axis=0)
    assert (below > 0.02).all()
    assert (below < 0.075).all()
