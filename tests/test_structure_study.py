"""What the docs claim of skills found in answers, and of wrong rows, stands in the tables of the study; and a small part of it runs."""

import importlib.util

import numpy as np
import pandas as pd

from helpers.paths import ROOT

RESULTS = ROOT / "studies" / "structure"
PAGE = (ROOT / "docs" / "skills-from-answers.md").read_text(encoding="utf-8")
NAMES = {"each": "two levels, each helps", "all": "two levels, all needed", "continuous": "continuous"}


def study():
    spec = importlib.util.spec_from_file_location("structure", ROOT / "studies" / "structure.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def cells(first):
    return [[cell.strip() for cell in line.strip("| ").split(" | ")][1:] for line in PAGE.splitlines() if line.startswith(f"| {first}")]


def test_rows_that_are_found():
    table = pd.read_csv(RESULTS / "rows.csv")
    for kind, name in NAMES.items():
        told = next(row for row in cells(f"{name} |") if " of " not in row[-1])
        own = table[table["truth"] == kind].sort_values(["skills", "people"])["rows right"]
        np.testing.assert_allclose([float(cell) for cell in told], own, atol=0.0051)


def test_wrong_rows_that_are_found():
    table = pd.read_csv(RESULTS / "wrong.csv")
    assert (table["falsely blamed"] == 0).all()
    for kind, name in NAMES.items():
        rows = [row for row in cells(name) if row[0] in ("400", "1,000")]
        for row, people in zip(rows, (400, 1000), strict=True):
            own = table[(table["truth"] == kind) & (table["people"] == people)].set_index("fault")
            assert [int(cell) for cell in row[1:4]] == own.loc[["swapped", "lacking", "too many"], "found"].tolist()
            assert row[4:] == [f"{own[column].sum()} of {own['others'].sum():,}" for column in ("falsely blamed", "falsely needs fewer")]


def test_the_study_runs(tmp_path):
    made = study()
    matrix, draw = made.truth("each", 2, np.random.default_rng(1))
    assert draw(50).shape == (50, 16)
    for fault, needed in (("swapped", 1), ("lacking", 1), ("too many", 2)):
        number, row = made.spoilt(fault, matrix, np.random.default_rng(2))
        assert row.sum() == needed
        assert (row != matrix[number]).any()
