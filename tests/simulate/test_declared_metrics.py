"""What curves have: `length` of one kind, and metrics that a type checker knows."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import quaestor as qs
from quaestor import Bank, Rules
from quaestor.simulate.curves import Metrics
from quaestor.simulate.metrics import METRICS

BANK = Bank({"skills": {"a": {}}, "questions": {name: {"skill": "a", "right": [0.2, 0.9]} for name in ("q1", "q2", "q3")}})
RULES = Rules(stop=qs.any_of(qs.max_questions(2), qs.entropy_below(0.7)))


def test_the_length_of_a_simulation_and_of_its_expectation_is_a_mean():
    x, exact = qs.simulate(BANK, RULES, students=4000), qs.expected(BANK, RULES)
    for curves in (x, exact):
        assert isinstance(curves.length, np.float64)
    assert x.lengths.shape == (4000,)
    assert x.length == pytest.approx(x.lengths.mean(), abs=1e-12)
    assert abs(x.length - exact.length) < 4 * x.lengths.std() / np.sqrt(4000) + 1e-12
    assert not hasattr(exact, "lengths")


def test_every_metric_is_declared_and_no_other():
    told = {"held_out_log_loss", "held_out_accuracy"}
    assert set(Metrics.__annotations__) == {*METRICS, *(f"{name}_by_skill" for name in METRICS), *told}


PROGRAM = """import quaestor as qs
x, exact = qs.simulate(qs.load("fractions")), qs.expected(qs.load("fractions"))
print(x.accuracy, x.brier_by_skill, exact.u80, exact.length + 1, x.acuracy, exact.brier_by_skil)
"""


@pytest.mark.long
def test_a_type_checker_refuses_misspelt_metrics_and_no_others(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    options = ["--strict", "--config-file=", "--no-error-summary", "--cache-dir=cache", "--follow-imports=silent"]
    environment = {**os.environ, "MYPYPATH": str(Path(qs.__file__).parents[1])}
    command = [sys.executable, "-m", "mypy", *options, "program.py"]
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 1, found.stderr
    first, second = found.stdout.splitlines()
    assert first.startswith('program.py:3: error: "Simulation" has no attribute "acuracy"')
    assert second.startswith('program.py:3: error: "Curves" has no attribute "brier_by_skil"')
