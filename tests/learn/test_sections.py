"""Sections that look untaken: found in tables of every form, emptied where they were found, and nothing said where nothing can be."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from oracles.learning import draw, likelihood, profiles, school
from quaestor.errors import QuaestorError
from quaestor.learn import answers, work
from quaestor.learn.answers import read_answers
from quaestor.learn.sections import _all_wrong, _log_likelihood, sections, untaken, without
from quaestor.learn.skeleton import skeleton
from quaestor.learn.versions import versions_of

SECTION = [f"Q{n}" for n in range(12, 24)]


def planted(people=400):
    """Twenty people did not take the section on b, nor do they have an answer to Q3."""
    frame = draw(school(), people)
    frame.loc[:19, SECTION] = "wrong"
    frame.loc[:19, "Q3"] = None
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
            if any(is_left and row[own].any() for is_left, own in zip(left, places, strict=True)) or all(left):
                continue  # a right answer is none of a section that was not taken; those who took nothing are left out
            chance = np.prod(np.where(left, shares, 1 - shares))
            kept = {f"Q{n}": ("wrong", "right")[row[n]] for own, is_left in zip(places, left, strict=True) if not is_left for n in own}
            total += chance * sum(likelihood(fit.bank, profile, kept) for profile in profiles(fit.bank))
        expected += np.log(total)
    assert _log_likelihood(fit, fit.tables, made, shares, fit.people.weights() @ possible) == pytest.approx(expected)


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
