"""The study on real people: its bank is what it says, and its committed summary is what the script finds."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

from helpers.paths import ROOT, SHARED

DATA = SHARED / "data" / "fraction_subtraction"
SUMMARY = ROOT / "studies" / "fraction-subtraction" / "summary.csv"


def study():
    spec = importlib.util.spec_from_file_location("fraction_subtraction", ROOT / "studies" / "fraction_subtraction.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the answers are not beside this repository (../shared/data/fraction_subtraction)"
)


def test_without_the_data_it_says_so(tmp_path, capsys):
    assert study().main(tmp_path / "nothing", tmp_path / "out") == 1
    assert capsys.readouterr().err == "The answers are not part of this repository: nothing/responses.csv was not found.\n"
    assert not (tmp_path / "out").exists()


@needs_data
def test_the_bank_is_the_q_matrix():
    bank, responses = study().read(DATA)
    matrix = pd.read_csv(DATA / "qmatrix.csv", index_col="item")
    assert list(responses.columns) == list(bank.questions) == list(matrix.index)
    for item, question in bank.questions.items():
        assert set(question.skills) == {skill for skill in matrix.columns if matrix.loc[item, skill] == 1}
        np.testing.assert_allclose(question.table.lower[..., 1].max(), 0.9)
        np.testing.assert_allclose(question.table.lower[..., 1].min(), 0.15)


@needs_data
def test_the_committed_summary_is_what_the_script_finds():
    """Before any question every method foretells from the prior, so that much can be worked out here by hand."""
    made = study()
    bank, responses = made.read(DATA)
    right = {}
    for item, question in bank.questions.items():
        ready = [0.35, 0.9]
        both = [np.prod([p for _ in question.skills]) for p in ready]
        right[item] = np.mean([0.9 * p + 0.15 * (1 - p) for p in both])
    losses = [-np.log(np.where(responses[item] == 1, right[item], 1 - right[item])) for item in bank.questions]
    summary = pd.read_csv(SUMMARY, index_col="method")
    np.testing.assert_allclose(summary["log_loss, 0 asked"], np.mean(losses), atol=1e-6)
    assert list(summary.index) == list(made.METHODS)


@needs_data
@pytest.mark.long
def test_the_whole_study_repeats(tmp_path):
    assert study().main(DATA, tmp_path) == 0
    assert (tmp_path / "summary.csv").read_text() == SUMMARY.read_text()
