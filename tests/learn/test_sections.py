"""Sections that look untaken: found in tables of every form, emptied where they were found, and nothing said where nothing can be."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.interpolate import RegularGridInterpolator

import quaestor as qs
from helpers.paths import ROOT
from oracles.learning import SMALL, draw, likelihood, profiles, school
from quaestor.errors import QuaestorError
from quaestor.learn import answers, work
from quaestor.learn.absence import Model, gains, with_state
from quaestor.learn.answers import read_answers
from quaestor.learn.finer import finer
from quaestor.learn.layout import tables_of
from quaestor.learn.sections import _all_wrong, log_probabilities, sections, untaken, without
from quaestor.learn.skeleton import skeleton
from quaestor.learn.versions import versions_of
from quaestor.learn.work import steps

SECTION = [f"Q{n}" for n in range(12, 24)]


def planted(people=400, absent=20):
    """Some people did not take the section on b, nor do they have an answer to Q3."""
    frame = draw(school(), people)
    frame.loc[: absent - 1, SECTION] = "wrong"
    frame.loc[: absent - 1, "Q3"] = None
    return frame


def test_untaken_sections_are_found():
    bank, frame = school(), planted()
    fit = qs.learn(bank, frame)
    found = untaken(fit)
    absent = {one.person for one in found if one.section == "b"} & set(range(20))
    assert len(absent) >= 18
    others = len(found) - len(absent)
    assert others <= 2 * sum(1 - one.probability for one in found) + 2  # weak people who took it: as many as is said
    assert all(one.probability > 0.5 for one in found)
    emptied = without(frame, found)
    assert emptied.loc[0, SECTION].isna().all()
    assert emptied.loc[0, "Q0"] == frame.loc[0, "Q0"]
    assert not untaken(qs.learn(bank, draw(bank, 400)[[f"Q{n}" for n in range(3)]]))  # three questions are no section
    with pytest.raises(QuaestorError, match=r"^untaken: a table with a row a person is expected, got one with a row an answer$"):
        without(pd.DataFrame({"person": [1], "question": ["Q0"], "answer": [1]}), found)


def told(found):
    return [(one.row, one.section, one.questions, round(one.probability, 6)) for one in found]


def test_the_same_sections_in_every_form(monkeypatch):
    frame = planted()
    found = untaken(qs.learn(school(), frame))
    assert told(found) == told(untaken(qs.learn(school(), frame), workers=2))
    monkeypatch.setattr(work, "batch", lambda layout: 50)
    assert told(found) == told(untaken(qs.learn(school(), frame), workers=2))
    monkeypatch.setattr(answers, "SMALL", 0)
    monkeypatch.setattr(answers, "SPARSE", 1.0)
    fit = qs.learn(school(), frame)
    assert hasattr(fit.people.patterns.answers[0], "nnz")
    assert told(found) == told(untaken(fit))


def test_people_of_the_same_name_keep_their_own_answers():
    frame = planted()
    same = frame.set_axis(np.arange(len(frame)) % 200)  # persons 0 to 19 are called like 200 to 219
    found = untaken(qs.learn(school(), same))
    assert {one.row for one in found} >= set(range(18))
    emptied = without(same, found)
    expected = without(frame, untaken(qs.learn(school(), frame)))
    pd.testing.assert_frame_equal(emptied.reset_index(drop=True), expected)
    others = [row for row in range(200, 220) if row not in {one.row for one in found}]
    assert len(others) > 15
    assert emptied.iloc[others].notna().all(axis=None)


def test_rows_count_where_others_have_no_answer():
    frame = planted()
    shifted = pd.concat([pd.DataFrame({name: [None] * 3 for name in frame.columns}), frame], ignore_index=True)
    found = untaken(qs.learn(school(), shifted))
    assert all(one.row == one.person for one in found)
    assert without(shifted, found).loc[3, SECTION].isna().all()


def test_cells_of_answers_that_were_read_are_emptied_too():
    frame = planted()
    read = read_answers(school(), frame)
    found = untaken(qs.learn(school(), read))
    emptied = read_answers(school(), without(frame, found))
    assert (without(read, found).cells == emptied.cells).all()


def test_sections_of_another_table():
    found = untaken(qs.learn(school(), planted()))
    with pytest.raises(QuaestorError, match=r"^untaken: row 0 is that of 0, as in the table learnt from, got 'x'$"):
        without(planted().rename(index={0: "x"}), found)
    with pytest.raises(QuaestorError, match=r"^untaken: row 0 is that of 0, as in the table learnt from, got 0 rows$"):
        without(planted().iloc[:0], found)


def test_nobody_has_a_right_answer():
    zeros = pd.DataFrame(0, index=range(6), columns=[f"Q{n}" for n in range(24)])
    assert untaken(qs.learn(school(), zeros)) == ()


def ability(people, seed, width=4, spread=1.5):
    """Right answers to four sections on one continuous ability and a little of each section's own, all taken; and the Q-matrix."""
    rng = np.random.default_rng(seed)
    level = spread * rng.normal(size=(people, 1)) + np.repeat(0.5 * rng.normal(size=(people, 4)), width, axis=1)
    right = rng.random(level.shape) < 1 / (1 + np.exp(rng.normal(size=4 * width) - level))
    frame = pd.DataFrame(right.astype(int), columns=[f"Q{n}" for n in range(4 * width)])
    return frame, pd.DataFrame(np.repeat(np.eye(4, dtype=int), width, axis=0), index=frame.columns, columns=list("abcd"))


@pytest.mark.parametrize("levels", [2, 3])
def test_weak_people_are_not_absent(levels):
    """Nothing is flagged where all sections were taken, even in a bank with too few levels and no links between the skills."""
    for seed in range(3):
        frame, matrix = ability(400, seed)
        assert (frame[["Q0", "Q1", "Q2", "Q3"]] == 0).all(axis=1).sum() > 10
        assert untaken(qs.learn(skeleton(matrix, levels), frame)) == ()
        assert untaken(qs.learn(school(seed), draw(school(seed), 300, seed))) == ()


def test_the_mixture_by_hand():
    """log P(answers) by listing, for each person, which of the all-wrong sections were not taken."""
    frame, matrix = ability(40, 1)
    frame.iloc[:3, 4:] = 0
    frame.iloc[3, 1:4] = 0
    frame.iloc[4] = 0
    bank = skeleton(matrix, 2)
    fit = qs.learn(bank, frame)
    places = list(sections(fit).values())
    worst, possible = _all_wrong(fit, places)
    some = np.flatnonzero(worst.any(axis=1))
    made = versions_of(fit, some, fit.people.patterns.classes(fit.layout)[some], worst[some], places)
    shares = np.array([0.1, 0.2, 0.05, 0.3])
    expected = 0.0
    for row in frame.to_numpy():
        total = 0.0
        for left in product((False, True), repeat=4):
            if any(is_left and row[own].any() for is_left, own in zip(left, places, strict=True)):
                continue  # a right answer is none of a section that was not taken
            chance = np.prod(np.where(left, shares, 1 - shares))
            kept = {f"Q{n}": ("wrong", "right")[row[n]] for own, is_left in zip(places, left, strict=True) if not is_left for n in own}
            total += chance * sum(likelihood(fit.bank, profile, kept) for profile in profiles(fit.bank))
        expected += np.log(total)
    found = with_state(fit.layout, fit.tables, shares, made, possible)
    assert fit.people.weights() @ found == pytest.approx(expected)


def test_answers_are_predicted_with_the_state():
    """Without shares these are plain log-likelihoods; a share of untaken sections explains absent people and costs the others a little."""
    frame, bank = planted(), school()
    fit = qs.learn(bank, frame)
    assert log_probabilities(fit, frame, {}).sum() == pytest.approx(fit.log_likelihood)
    found = log_probabilities(fit, frame, {"b": 0.05}) - log_probabilities(fit, frame, {})
    assert (found[:20] > 0).mean() > 0.8
    right = (frame[SECTION] == "right").any(axis=1).to_numpy()
    np.testing.assert_allclose(found[right], np.log(0.95))
    taken = draw(bank, 30).loc[
        lambda some: (some[SECTION] == "right").any(axis=1) & (some[[f"Q{n}" for n in range(12)]] == "right").any(axis=1)
    ]
    np.testing.assert_allclose(log_probabilities(fit, taken, {"b": 0.05}) - log_probabilities(fit, taken, {}), np.log(0.95))


def parts(fit):
    """What `untaken` asks the mixture for: the model, the versions of all patterns, and which sections can be told."""
    places = list(sections(fit).values())
    worst, possible = _all_wrong(fit, places)
    some = np.flatnonzero(worst.any(axis=1))
    made = versions_of(fit, some, fit.people.patterns.classes(fit.layout)[some], worst[some], places)
    return Model(fit.layout, tables_of(fit.given, fit.layout), fit.aim), made, possible


def test_people_held_out_are_predicted_better_with_the_state_only_where_some_are_absent():
    gain = {}
    for name, frame in (("absent", planted(absent=40)), ("present", draw(school(), 400))):
        fit = qs.learn(school(), frame)
        model, made, possible = parts(fit)
        with steps(model.layout, made.all) as step:
            gain[name] = gains(model, fit.people, made, possible, 5, step, None)
    assert gain["absent"].shape == (400,)
    assert gain["absent"].sum() > 2 * gain["absent"].std() * 20  # two standard errors of the sum
    assert gain["present"].sum() < 2 * gain["present"].std() * 20


def test_weak_people_get_a_level_of_their_own_before_anybody_is_called_absent():
    """In a bank of two levels the state predicts people much better although all were there; with three and links it no longer does."""
    frame, matrix = ability(400, 3, width=10)
    fit = qs.learn(skeleton(matrix, 2), frame)
    model, made, possible = parts(fit)
    with steps(model.layout, made.all) as step:
        assert gains(model, fit.people, made, possible, 5, step, None).sum() > 20
    assert untaken(fit) == ()


@pytest.mark.parametrize("name", SMALL)
def test_one_more_level(name):
    bank = SMALL[name]
    fit = qs.learn(bank, draw(bank, 40))
    layout, tables, aim = finer(fit, tables_of(bank, fit.layout))
    assert layout.sizes == tuple(size + 1 for size in fit.layout.sizes)
    for skill, table in enumerate(tables.skills):
        assert table.shape == (int(np.prod([layout.sizes[parent] for parent in layout.parents[skill]])), layout.sizes[skill])
        np.testing.assert_allclose(table.sum(axis=1), 1)
    for group, table, before, own in zip(layout.groups, tables.groups, tables_of(bank, fit.layout).groups, fit.layout.groups, strict=True):
        np.testing.assert_allclose(table.sum(axis=2), 1)
        for one, given in zip(table, before, strict=True):
            grids = np.meshgrid(*(np.linspace(0, size - 1, size + 1) for size in own.sizes), indexing="ij")
            read = RegularGridInterpolator([np.arange(size) for size in own.sizes], given.reshape(*own.sizes, -1))
            np.testing.assert_allclose(one, read(np.stack([grid.reshape(-1) for grid in grids], axis=1)), atol=1e-12)
        assert group.configurations == table.shape[1]
    assert len(aim.prior.groups) == len(layout.groups)
    assert finer(qs.learn(bank, draw(bank, 40), fixed=["Q1"]), tables_of(bank, fit.layout)) is None


def test_versions_by_hand():
    """Each pattern with its all-wrong sections taken or not, one by one; more than four go together."""
    skills = {name: {} for name in "abcdef"}
    bank = qs.Bank({"skills": skills, "questions": {f"{s}{n}": {"skill": s, "right": [0.2, 0.8]} for s in skills for n in range(4)}})
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 2, (12, 24)) * np.repeat(rng.random((12, 6)) < 0.5, 4, axis=1)
    cells[0], cells[1, 4:] = 0, 0
    fit = qs.learn(bank, pd.DataFrame(cells, columns=list(bank.questions)))
    classes = fit.people.patterns.classes(fit.layout)
    places = list(sections(fit).values())
    worst = np.stack([(classes[:, own] <= 0).all(axis=1) for own in places], axis=1)
    some = np.flatnonzero(worst.any(axis=1))
    made = versions_of(fit, some, classes[some], worst[some], places)
    probability = np.where(worst, rng.random(worst.shape), 0)
    weights = fit.people.weights()
    expected = {}
    for pattern, row in enumerate(classes):
        own = np.flatnonzero(worst[pattern]).tolist()
        parts = [[section] for section in own] if len(own) <= 4 else [own]
        for left in product((True, False), repeat=len(parts)):
            version, weight = row.copy(), weights[pattern]
            for part, is_left in zip(parts, left, strict=True):
                share = probability[pattern, part].mean()
                weight *= share if is_left else 1 - share
                if is_left:
                    version[np.concatenate([places[section] for section in part])] = -1
            if (version >= 0).any():
                expected[tuple(version.tolist())] = expected.get(tuple(version.tolist()), 0) + weight
    found = {}
    for row, weight in zip(made.all.classes(fit.layout).tolist(), made.counted(weights, probability[some]).tolist(), strict=True):
        found[tuple(row)] = found.get(tuple(row), 0) + weight
    assert found == pytest.approx(expected)


def test_the_committed_study_makes_no_prediction_worse():
    table = pd.read_csv(ROOT / "studies" / "untaken" / "untaken.csv")
    assert len(table) == 12
    assert (table["with the state"] <= 0).all()
    assert (table["taken"] <= table["error, taken"]).all()
    for column, error in (("with the state", "error"), ("taken", "error, taken")):
        assert (table[column] < -2 * table[error]).sum() >= 3
    clean = table[table["absent"] == "0%"]
    assert (clean["falsely found"] == 0).all()
