"""The figure of the benchmarks shows the numbers of the table beside it, and drawing it again gives the same file."""

import importlib
from xml.etree import ElementTree

import pytest

from helpers.paths import ROOT

FOLDER = ROOT / "benchmarks"


@pytest.fixture
def growth(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module("growth")


def tabled():
    """The rows of the table in benchmarks/README.md: what grows, its values, milliseconds."""
    section = (FOLDER / "README.md").read_text(encoding="utf-8").split("### How the cost of a full step grows")[1]
    lines = [line.strip("| ").split(" | ") for line in section.split("\n\n")[1].splitlines()[2:]]
    return [(name, *([float(cell.replace(",", "")) for cell in cells.split(", ")] for cells in rest)) for name, *rest in lines]


def written(path):
    return [text.text for text in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]


def test_the_figure_shows_the_table(growth, tmp_path):
    rows = tabled()
    assert len(rows) == 6
    growth.draw(rows, tmp_path / "again.svg")
    assert written(tmp_path / "again.svg") == written(growth.FIGURE)


def test_the_same_numbers_give_the_same_file(growth, tmp_path):
    for name in ("one.svg", "two.svg"):
        growth.draw(tabled(), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
