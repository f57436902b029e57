"""The CREPO benchmark: singly connected networks of vertices with published exact results, some beyond enumeration."""

import csv

import pytest

from helpers.paths import SHARED
from quaestor import bounds, read_network

CREPO = SHARED / "crepo"
CLOSE = 1e-6
ABSENT = "the CREPO networks are not beside this repository (../shared/crepo)"


def rows():
    """File, target, observed variables and published bounds of every result."""
    if not CREPO.is_dir():
        return [pytest.param("", 0, (), (), marks=pytest.mark.skip(reason=ABSENT))]
    with (CREPO / "expected.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    return [
        pytest.param(
            row["file"],
            int(row["target"]),
            tuple(map(int, row["observed"].split())),
            tuple(map(float, row["bounds"].split())),
            id=f"{row['file'].removeprefix('vmodel-sing_').removesuffix('.uai')}-{row['target']}",
        )
        for row in found
    ]


def test_all_results_are_read():
    if not CREPO.is_dir():
        pytest.skip(ABSENT)
    assert len(rows()) == 25


@pytest.mark.parametrize("method", ["auto", "branch"])
@pytest.mark.parametrize(("file", "target", "observed", "published"), rows())
def test_published_bounds(file, target, observed, published, method):
    found = bounds(read_network(CREPO / file), target, dict.fromkeys(observed, 0), method=method)
    assert found.gap <= CLOSE
    assert found.lower == pytest.approx(published[::2], abs=CLOSE)
    assert found.upper == pytest.approx(published[1::2], abs=CLOSE)
    assert (found.lower <= [low + 1e-9 for low in published[::2]]).all()
    assert (found.upper >= [high - 1e-9 for high in published[1::2]]).all()
