"""Skills found in answers alone, and wrong rows of a Q-matrix: how often are they right?

People have 1, 2, 3 or 4 skills that share a normal factor (correlation .36). There are eight questions for each skill (twenty for one), a
quarter of them on two skills. Three kinds of truth: skills of two levels that help (`each`) or are all needed (`all`), and continuous
skills with curves of the two-parameter kind (`continuous`).

- rows: the share of questions whose row is found, from answers alone, when the number of skills is told;
- skills: how often this number is found by people held out (`qs.choose`), and how often one skill is kept where more were not clear;
- wrong: one row of a right Q-matrix is replaced, by another skill (`swapped`), without one of its two skills (`lacking`) or with one more
  (`too many`). Found: the row of the truth is named; blamed: other rows that are called wrong (`needs fewer` is counted by itself);
- real: what is found in the answers of real people; left out where the data are absent.

    python studies/structure.py [rows | skills | wrong | real] [REPETITIONS]
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.alternatives import ONE
from quaestor.learn.answers import read_answers
from quaestor.learn.discovery import found_matrix, matched
from quaestor.learn.graphs import every_link
from quaestor.learn.points import questions_of
from quaestor.learn.q_matrix import check_rows
from quaestor.learn.skeleton import read_matrix, skeleton

RESULTS = Path(__file__).with_name("structure")
KINDS = ("each", "all", "continuous")
LOADING = 0.6
REPETITIONS = {"rows": 50, "skills": 10, "wrong": 50, "real": 1}
DATA = Path(__file__).parents[2] / "shared" / "data"
REAL = {"fraction subtraction": "fraction_subtraction", "German placement": "german_placement"}


def truth(kind: str, skills: int, rng: np.random.Generator) -> tuple[np.ndarray, Callable[[int], np.ndarray]]:
    """The Q-matrix, and a function that draws the answers of so many people."""
    questions = 8 * skills if skills > 1 else 20
    matrix = np.eye(skills, dtype=int)[np.arange(questions) % skills]
    for number in rng.choice(questions, questions // 4, replace=False) if skills > 1 else ():
        matrix[number, (number % skills + 1 + rng.integers(skills - 1)) % skills] = 1
    low, high = rng.uniform(0.1, 0.35, questions), rng.uniform(0.65, 0.95, questions)
    slope, place = rng.lognormal(0.4, 0.3, questions), rng.normal(0, 0.8, questions)

    def draw(people: int) -> np.ndarray:
        normal = LOADING * rng.normal(size=(people, 1)) + np.sqrt(1 - LOADING**2) * rng.normal(size=(people, skills))
        if kind == "continuous":
            chance = 1 / (1 + np.exp(-slope * (normal @ matrix.T / np.sqrt(matrix.sum(axis=1)) - place)))
        else:
            share = (normal > 0) @ matrix.T / matrix.sum(axis=1)
            chance = low + (high - low) * (share if kind == "each" else share > 0.999)
        return (rng.random(chance.shape) < chance).astype(int)

    return matrix, draw


def framed(cells: np.ndarray) -> pd.DataFrame:
    """Answers with the names of the questions."""
    return pd.DataFrame(cells, columns=[f"Q{number}" for number in range(cells.shape[1])])


def rows(repetitions: int) -> pd.DataFrame:
    """The share of rows that are right when the number of skills is told."""
    found = []
    for kind in KINDS:
        for skills in (2, 3, 4):
            for people in (500, 2000):
                right = []
                for seed in range(repetitions):
                    matrix, draw = truth(kind, skills, np.random.default_rng([seed, skills, people]))
                    frame = framed(draw(people))
                    own = found_matrix(read_answers(questions_of(frame), frame), skills)
                    right.append(0.0 if own is None else float((matched(matrix, own.to_numpy()) == matrix).all(axis=1).mean()))
                error = np.std(right, ddof=1) / np.sqrt(len(right))
                found.append({"truth": kind, "skills": skills, "people": people, "rows right": np.mean(right), "error": error})
    return pd.DataFrame(found).round(4)


def skills(repetitions: int) -> pd.DataFrame:
    """How many skills are found by people held out."""
    found = []
    for kind in KINDS:
        for count in (1, 2, 3, 4):
            told, hinted, right = [], 0, []
            for seed in range(repetitions):
                matrix, draw = truth(kind, count, np.random.default_rng([seed, count, 9]))
                choice = qs.choose(None, framed(draw(500)), seed=seed)
                told.append(choice.taken.alternative.found or 1)
                best = next((one.alternative.found or 1 for one in choice.trials), 1)
                hinted += told[-1] == 1 and best == count > 1
                if choice.found is not None and told[-1] == count > 1:
                    right.append(float((matched(matrix, choice.found.matrix.to_numpy()) == matrix).all(axis=1).mean()))
            row = {"truth": kind, "skills": count, "people": 500, "repetitions": repetitions}
            row |= {f"told {number}": told.count(number) for number in (1, 2, 3, 4, 5)}
            found.append({**row, "one told, right number best": hinted, "rows right": np.mean(right) if right else np.nan})
    return pd.DataFrame(found).round(4)


def spoilt(fault: str, matrix: np.ndarray, rng: np.random.Generator) -> tuple[int, np.ndarray]:
    """A question and its wrong row."""
    wanted = 2 if fault == "lacking" else 1
    number = int(rng.choice(np.flatnonzero(matrix.sum(axis=1) == wanted)))
    row = matrix[number].copy()
    if fault == "lacking":
        row[rng.choice(np.flatnonzero(row))] = 0
    else:
        other = rng.choice(np.flatnonzero(row == 0))
        row[:] = row if fault == "too many" else 0
        row[other] = 1
    return number, row


def wrong(repetitions: int) -> pd.DataFrame:
    """One wrong row in a Q-matrix of three skills."""
    found = []
    for kind in KINDS:
        for people in (400, 1000):
            for fault in ("none", "swapped", "lacking", "too many"):
                named = doubted = blamed = fewer = others = 0
                for seed in range(repetitions):
                    rng = np.random.default_rng([seed, people])
                    matrix, draw = truth(kind, 3, rng)
                    frame, stated, at = framed(draw(people)), matrix.copy(), -1
                    if fault != "none":
                        at, row = spoilt(fault, matrix, rng)
                        stated[at] = row
                    start = skeleton(pd.DataFrame(stated, index=frame.columns, columns=list("abc")), 2 if kind != "continuous" else 3)
                    for number, one in enumerate(check_rows(qs.learn(every_link(start), frame), rng)):
                        is_true = set(one.found) == {"abc"[skill] for skill in np.flatnonzero(matrix[number])}
                        if number == at:
                            named += one.kind != "stated" and is_true
                            doubted += one.kind == "other"
                        else:
                            blamed, fewer, others = blamed + (one.kind == "other"), fewer + (one.kind == "fewer"), others + 1
                row = {
                    "truth": kind,
                    "people": people,
                    "fault": fault,
                    "repetitions": repetitions,
                    "found": named,
                    "beyond chance": doubted,
                }
                found.append({**row, "falsely blamed": blamed, "falsely needs fewer": fewer, "others": others})
    return pd.DataFrame(found)


def real(_: int) -> pd.DataFrame:
    """Skills found in the answers of real people, beside the skills that experts named."""
    found = []
    for name, folder in REAL.items():
        if not (DATA / folder / "responses.csv").is_file():
            sys.stderr.write(f"The answers are not part of this repository: {folder}/responses.csv was not found.\n")
            continue
        matrix = read_matrix(DATA / folder / "qmatrix.csv")
        choice = qs.choose(None, pd.read_csv(DATA / folder / "responses.csv")[[str(question) for question in matrix.index]])
        best = next((one for one in choice.trials if one.alternative.found), None)
        single = min((one for one in choice.trials if one.alternative.skills == ONE), key=lambda one: one.loss)
        row: dict[str, object] = {
            "answers": name,
            "people": choice.people,
            "taken": choice.taken.name,
            "best found": best.name if best else "",
        }
        if best is not None:
            apart = single.losses - best.losses
            row |= {"better than one skill by": apart.mean(), "error": apart.std(ddof=1) / np.sqrt(len(apart))}
        if choice.found is not None:
            row |= {"rows found again": choice.found.stability.same.mean(), "told": choice.found.is_told}
        found.append(row)
    return pd.DataFrame(found).round(4)


def main(chosen: list[str], results: Path = RESULTS) -> int:
    """Run the parts that are named, or all, and write their tables."""
    parts = {"rows": rows, "skills": skills, "wrong": wrong, "real": real}
    count = int(chosen[-1]) if chosen and chosen[-1].isdigit() else None
    for name in [one for one in chosen if one in parts] or parts:
        results.mkdir(parents=True, exist_ok=True)
        table = parts[name](count or REPETITIONS[name])
        save(table.to_csv(index=False, lineterminator="\n").encode(), results / f"{name}.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
