"""The study of fraction subtraction with learnt numbers: its committed tables say what the docs say, and its parts repeat."""

import importlib.util
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "fraction_subtraction"
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
