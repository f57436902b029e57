"""The authors' raw results behind figure 2, from a folder of CSV files; they are not part of this package.

`students.csv` (student, skill), `answers.csv` (student, Q1 ... Q18), and a file a method: student, step, question, answer and the
posterior: p0 and p1, or lower0, lower1, upper0, upper1; step 0 is before the first question.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from quaestor.errors import QuaestorError
from quaestor.model.table import Array
from quaestor.simulate.paper import NAMES
from quaestor.simulate.paper.runs import Run

QUESTIONS = 18
FILES = ("students", "answers", *NAMES)
PRECISE, CREDAL = ("p0", "p1", "p0", "p1"), ("lower0", "lower1", "upper0", "upper1")


@dataclass(frozen=True)
class Raw:
    """The raw results: the true level and all answers of each student, and a run for each method."""

    levels: NDArray[np.intp]
    answers: NDArray[np.intp]
    runs: dict[str, Run]


def read_raw(folder: str | Path) -> Raw:
    """Read and check the raw results."""
    folder = Path(folder)
    missing = [f"{name}.csv" for name in FILES if not (folder / f"{name}.csv").is_file()]
    if missing:
        found = "no such folder" if not folder.is_dir() else f"a folder without {', '.join(missing)}"
        raise QuaestorError(f"--raw {folder}: a folder with the authors' raw results ({', '.join(FILES[:3])}.csv, ...), got {found}")
    try:
        levels = _column(folder / "students.csv", ["student", "skill"])["skill"].to_numpy(dtype=np.intp)
        given = _column(folder / "answers.csv", ["student", *(f"Q{number}" for number in range(1, QUESTIONS + 1))])
        answers = given.to_numpy(dtype=np.intp)[:, 1:]
        if len(answers) != len(levels):
            raise QuaestorError(f"{folder}: as many students in answers.csv as in students.csv, got {len(answers)} and {len(levels)}")
        runs = {name: _run(folder / f"{file}.csv", levels) for file, name in NAMES.items()}
    except (OSError, ValueError, IndexError) as error:
        raise QuaestorError(f"--raw {folder}: files of numbers that can be read, got {error}") from error
    return Raw(levels, answers, runs)


def _column(path: Path, needed: list[str]) -> pd.DataFrame:
    frame = pd.read_csv(path)
    absent = [name for name in needed if name not in frame.columns]
    if absent:
        raise QuaestorError(f"{path.name}: the columns {', '.join(needed[:4])}, ..., got no {absent[0]}")
    if not np.array_equal(np.unique(frame["student"]), np.arange(frame["student"].max() + 1)):
        raise QuaestorError(f"{path.name}: students are numbered from 0, got gaps")
    return frame[needed]


def _run(path: Path, levels: NDArray[np.intp]) -> Run:
    columns = CREDAL if "lower0" in pd.read_csv(path, nrows=0).columns else PRECISE
    frame = _column(path, ["student", "step", "question", "answer", *dict.fromkeys(columns)])
    found: Array = np.full((len(levels), QUESTIONS + 1, 4), np.nan)
    who, step = frame["student"].to_numpy(), frame["step"].to_numpy()
    found[who, step] = frame[list(columns)].to_numpy(dtype=float)
    asked, answers = (np.full((len(levels), QUESTIONS), -1, dtype=np.int32) for _ in range(2))
    put = step > 0
    asked[who[put], step[put] - 1] = frame["question"].to_numpy()[put] - 1
    answers[who[put], step[put] - 1] = frame["answer"].to_numpy()[put]
    for number in range(1, QUESTIONS + 1):  # after the end the last bounds are kept
        over = np.isnan(found[:, number, 0])
        found[over, number] = found[over, number - 1]
    if np.isnan(found).any():
        raise QuaestorError(f"{path.name}: a row for step 0 of every student, got none for some")
    return Run(levels[:, None], ((found[:, :, :2], found[:, :, 2:]),), asked, answers)
