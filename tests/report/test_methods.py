"""The paragraph of a study for a paper, and what its page links to."""

import re

import numpy as np
import pytest

from quaestor.report.figures import MOST, Line, curves
from quaestor.report.methods import CREDAL, PAPER, SCORES, paragraph, works
from quaestor.report.study import write_study
from quaestor.selection.scores.known import SCORES as KNOWN
from quaestor.simulate.study import load_study

STUDY = """
title: Small
bank: multiplication
students: 6
seed: 3
metrics: [accuracy, brier]
methods:
  one: {rules: {score: entropy, stop: {max_questions: 1}}}
  two: {widen: 0.05, rules: {score: mode, stop: {max_questions: 2}}}
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY)
    return load_study(tmp_path / "study.yaml")


def test_it_says_what_was_done_and_cites_each_work_once(study):
    words, cited = paragraph(study, "9.9"), works(study)
    assert "6 students were drawn from the bank (seed 3)" in words
    assert "Quaestor 9.9 [1]" in words
    assert study.bank.version in words
    assert "stopped when 1 question was asked" in words
    assert "widened by 0.05" in words
    assert cited[:2] == [PAPER, CREDAL]
    assert len(cited) == len(set(cited)) == 4
    assert {int(number) for number in re.findall(r"\[(\d+)\]", words)} == {1, 2, 3, 4}


def test_a_precise_study_with_one_stop_rule_says_it_once(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY.replace("widen: 0.05, ", "").replace("max_questions: 2", "max_questions: 1"))
    found = load_study(tmp_path / "study.yaml")
    assert CREDAL not in works(found)
    assert paragraph(found, "1").count("stopped when") == 1


def test_only_known_scores_have_a_source():
    assert set(SCORES) <= set(KNOWN)


def test_the_page_links_to_every_table_and_figure(study, tmp_path):
    write_study(study, study.run(), tmp_path / "out", "quaestor simulate study.yaml", "9.9")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'<a href="([^"]+)"', page))
    assert linked == {path.name for path in (tmp_path / "out").iterdir() if path.suffix in (".csv", ".svg")}
    assert paragraph(study, "9.9").split(" [1]")[0].replace('"', "") in page.replace("&quot;", "").replace('"', "")


def test_names_stand_inside_and_a_panel_has_at_most_five_curves():
    lines = [Line(f"method {number}", np.linspace(0.5, 0.9, 8), np.full(8, 0.02), number) for number in range(7)]
    figure = curves(lines, "accuracy")
    assert [len(axes.lines) for axes in figure.axes] == [MOST, 2]
    figure.draw_without_rendering()
    for axes in figure.axes:
        inside, names = axes.get_window_extent(), axes.get_legend().get_window_extent()
        assert (inside.x0 <= names.x0) & (names.x1 <= inside.x1) & (inside.y0 <= names.y0) & (names.y1 <= inside.y1)
        assert len(axes.collections) == len(axes.lines)
