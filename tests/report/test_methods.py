"""The paragraph of a study for a paper, and what its page links to."""

import re

import numpy as np
import pytest
import yaml

import quaestor as qs
from helpers.paths import ROOT
from quaestor.report.figures import MOST, Line, curves
from quaestor.report.methods import CREDAL, NAMES, PAPER, SCORES, SOFTWARE, paragraph, works
from quaestor.report.writing import write_study
from quaestor.selection.scores.known import SCORES as KNOWN
from quaestor.simulate.metrics import METRICS
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
    words, cited = paragraph(study, "9.9"), works(study, "9.9")
    assert "6 students were drawn from the bank (seed 3)" in words
    assert "Quaestor 9.9 [1], which builds on [2]" in words
    assert study.bank.version in words
    assert "stopped when 1 question was asked" in words
    assert "widened by 0.05" in words
    assert cited[:3] == [SOFTWARE.format(version="9.9"), PAPER, CREDAL]
    assert len(cited) == len(set(cited)) == 5
    assert {int(number) for number in re.findall(r"\[(\d+)\]", words)} == {1, 2, 3, 4, 5}
    assert "by the score entropy [4] for the skills of the question, ties broken by the order of the bank; it stopped" in words
    ties = "ties broken by the score entropy, then by the order of the bank"
    width = "with every probability widened by 0.05 to each side, taking the upper bound of the score"
    assert f"by the score mode [2] for the skills of the question, {width}, {ties}" in words
    measured = "the accuracy of the most probable level and the Brier score [5]"
    assert words.endswith(f"We report {measured}, averaged over skills; standard errors are over students.")


def test_a_precise_study_with_one_stop_rule_says_it_once(tmp_path):
    (tmp_path / "study.yaml").write_text(STUDY.replace("widen: 0.05, ", "").replace("max_questions: 2", "max_questions: 1"))
    found = load_study(tmp_path / "study.yaml")
    assert CREDAL not in works(found, "1")
    assert paragraph(found, "1").count("stopped when") == 1


def test_the_software_is_cited_as_it_asks_to_be():
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert SOFTWARE.startswith(f"{stated['authors'][0]['name']}. {stated['title']} (version ")
    assert PAPER.lower().count(stated["references"][0]["title"].lower()) == 1
    assert stated["references"][0]["identifiers"][0]["value"] in PAPER


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("all", "all skills"),
        ("joint", "the joint profile of all skills"),
        (["S1"], "the skill S1"),
        ({"S1": 2, "S2": 1}, "the skills S1 (weight 2) and S2 (weight 1)"),
    ],
)
def test_it_names_the_target(target, words):
    stated = {"title": "T", "bank": "four-skills", "exact": True, "methods": {"m": {"rules": {"score": "gdi", "target": target}}}}
    found = paragraph(load_study(stated), "1")
    assert f"by the score gdi [3] for {words}, ties" in found
    assert found.endswith("averaged over skills and students, computed exactly, without sampling.")


def test_only_known_scores_have_a_source_and_every_metric_a_name():
    assert set(SCORES) <= set(KNOWN)
    assert set(NAMES) == set(METRICS)


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


def test_a_study_from_python(tmp_path):
    fields = {"title": "Small", "bank": "multiplication", "students": 6, "methods": {"one": {"rules": {"stop": {"max_questions": 1}}}}}
    study = qs.load_study(fields)
    qs.write_study(study, study.run(), str(tmp_path / "out"))
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert f"Quaestor {qs.__version__}" in page
    assert "qs.write_study(study, study.run(), folder)" in page
    with pytest.raises(qs.StudyError, match="methods"):
        qs.load_study({"title": "Small", "bank": "multiplication"})
    with pytest.raises(qs.QuaestorError, match=r"^study: a study is expected, as qs.load_study gives it, got 'x'$"):
        qs.write_study("x", {}, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(qs.QuaestorError, match="a folder that can be written"):
        qs.write_study(study, study.run(), tmp_path / "file")
