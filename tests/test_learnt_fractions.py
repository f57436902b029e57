"""The study of fraction subtraction with learnt numbers: its committed tables say what the docs say, and its parts repeat."""

import importlib.util
import re
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from helpers.paths import ROOT, SHARED

DATA = SHARED / "data" / "fraction_subtraction"
RESULTS = ROOT / "studies" / "learnt-fractions"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the answers are not beside this repository (../shared/data/fraction_subtraction)"
)


def study():
    spec = importlib.util.spec_from_file_location("learnt_fractions", ROOT / "studies" / "learnt_fractions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def data(made):
    return made.read_matrix(DATA / "qmatrix.csv"), pd.read_csv(DATA / "responses.csv")


def test_without_the_data_it_says_so(tmp_path, capsys):
    assert study().main(tmp_path / "nothing", tmp_path / "out") == 1
    assert capsys.readouterr().err == "The answers are not part of this repository: nothing/responses.csv was not found.\n"


def test_what_is_claimed_of_models_stands_in_the_table():
    table = pd.read_csv(RESULTS / "models.csv", index_col="bank")
    assert table["BIC"].idxmin() == "all, tree"
    best = table.loc["each, readiness"]
    assert abs(best["above one skill"]) < 2 * best["error"]  # level with one skill
    worst = table.loc["all, independent"]
    assert worst["above one skill"] < -2 * worst["error"]


def test_what_is_claimed_of_orders_stands_in_the_table():
    table = pd.read_csv(RESULTS / "orders.csv")
    adaptive = table[table["order"] != "random"]
    for share in ("25%", "50%", "75%"):
        assert (adaptive[f"{share}, below random"] > 2 * adaptive[f"{share}, its error"]).all()


def doc_rows(heading):
    """The rows of the table in docs/skills-from-answers.md with this heading: first cell, then numbers of the others."""
    lines = (ROOT / "docs" / "skills-from-answers.md").read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line == heading)
    rows = [line.strip("| ").split(" | ") for line in lines[start + 2 : lines.index("", start)]]
    return {first: [float(number) for cell in others for number in re.findall(r"-?[\d,]*\.\d+", cell)] for first, *others in rows}


def test_what_is_claimed_of_credal_banks_stands_in_the_table():
    table = pd.read_csv(RESULTS / "credal.csv")
    assert (table["people"] == 60).all()
    assert (table["skills"] == 5).all()
    for share in ("25%", "50%", "75%"):
        for one, other in combinations(range(len(table)), 2):  # no difference between any of these
            apart = table[share][one] - table[share][other]
            assert abs(apart) < 2 * np.hypot(table[f"{share}, error"][one], table[f"{share}, error"][other])
    told = doc_rows("| bank, order | 25 % | 50 % | 75 % |")
    for _, row in table.iterrows():
        named = f"{row['bank'].partition(',')[0]}, {row['order']}"
        shown = [row[f"{share}{more}"] for share in ("25%", "50%", "75%") for more in ("", ", error")]
        assert told[named] == pytest.approx(shown, abs=0.00051)


def test_the_steps_are_those_that_the_docs_name():
    made = study()
    assert made.steps(15) == [4, 8, 11]
    assert made.steps(10) == [2, 5, 8]
    words = " ".join((ROOT / "docs" / "skills-from-answers.md").read_text(encoding="utf-8").split())
    assert "(after 4, 8 and 11 of them)" in words
    assert "(after 2, 5 and 8 of the 10)" in words


def test_five_and_six_levels_are_level_as_the_docs_say():
    table = pd.read_csv(RESULTS / "models.csv", index_col="bank")
    five, six = table.loc["one skill, 5 levels"], table.loc["one skill, 6 levels"]
    assert abs(five["above one skill"]) < 2 * five["error"]
    assert five["BIC"] < six["BIC"]


@needs_data
def test_a_split_foretells_held_out_problems():
    made = study()
    found, (fit, asked, held) = made.split(*data(made), 0)
    assert len(asked) == 268
    assert len(held) == 5
    assert len(fit.people) == 268
    for by_rules in found.values():
        assert np.mean(by_rules["entropy"]) < np.mean(by_rules["random"])


@needs_data
@pytest.mark.long
def test_the_tables_repeat():
    made = study()
    for name, frame in (("models", made.models(*data(made))), ("orders", made.orders(*data(made)))):
        kept = pd.read_csv(RESULTS / f"{name}.csv", index_col="bank")
        pd.testing.assert_frame_equal(kept, frame, atol=2e-3, check_dtype=False)


def check_credal(made, kinds):
    found = made.credal(made.read_matrix(DATA / "qmatrix_15items_5skills.csv"), pd.read_csv(DATA / "responses.csv"), 60, kinds=kinds)
    kept = pd.read_csv(RESULTS / "credal.csv", index_col="skills")
    pd.testing.assert_frame_equal(kept[kept["bank"].isin(kinds)], found, atol=2e-3, check_dtype=False)


@needs_data
def test_the_precise_half_of_the_credal_table_repeats():
    made = study()
    check_credal(made, made.KINDS[:1])


@needs_data
@pytest.mark.long
def test_the_credal_table_repeats():
    made = study()
    check_credal(made, made.KINDS)
