"""The committed study of ways to choose questions is what the package finds."""

import pandas as pd
import pytest

import quaestor as qs
from helpers.paths import ROOT

RESULTS = ROOT / "studies" / "selection-methods"


@pytest.mark.parametrize(("name", "questions"), [("single-skill-as-run", 5), ("four-skills", 4)])
def test_the_committed_regret_is_found_again(name, questions):
    kept, bank = pd.read_csv(RESULTS / f"regret-{name}.csv", index_col="questions"), qs.load(name)
    best = qs.optimal(bank, questions).values
    assert kept["best"][: questions + 1].tolist() == pytest.approx(best, abs=2e-6)
    for column, fields in {"entropy (mutual information)": {"score": "entropy"}, "GDI": {"score": "gdi"}, "mode, then entropy": {}}.items():
        for widen, label in ((0.0, column), (0.05, f"{column}, ±0.05")):
            rules = qs.Rules(**fields, stop=qs.max_questions(questions))
            found = qs.expected(bank.widen(widen) if widen else bank, rules, truth=bank).accuracy
            assert kept[label][: questions + 1].tolist() == pytest.approx(best - found, abs=2e-6)


def test_no_method_is_better_than_the_best_test():
    for name in ("single-skill-as-run", "four-skills"):
        assert (pd.read_csv(RESULTS / f"regret-{name}.csv", index_col="questions").drop(columns="best") > -1e-6).all(axis=None)
