"""Sections that look untaken: does leaving them out make predictions of other people worse?

A bank is learnt from some people; what `untaken` finds among them is emptied, and the bank is learnt again. Other people are then predicted
twice, all of their answers, zeros of untaken sections included: by the first bank, and by the second with the state "untaken", whose
probability is the share that was found. If nothing is found both are the same. Beside it, `taken`: only the sections that were taken, by
both banks without the state. Differences of log loss of an answer, with the state minus without, so negative is better; standard errors are
those of paired differences, over repetitions or, for real people, over people.

Drawn people: answers of a continuous ability to four sections of four questions, learnt as two or three levels without links, and of two
linked skills of three levels, twelve questions each; all present, or 5 % or 10 % of them absent from the second section. Real people:
German placement, in five folds (the sections that its README counts are those untaken); people without any right answer do not count in
`taken`.

    python studies/untaken.py [REPETITIONS]
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from faults import drawn, two_skills
from german_placement import DATA, known_sections

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.folds import fold_of
from quaestor.learn.graphs import chain
from quaestor.learn.sections import log_probabilities, untaken, without
from quaestor.learn.skeleton import read_matrix, skeleton

RESULTS = Path(__file__).with_name("untaken")
REPETITIONS, PEOPLE, OTHERS, FOLDS = 20, 400, 1000, 5
Found = set[tuple[int, str]]
Case = tuple[qs.Bank, pd.DataFrame, list[str]]  # a bank to learn, answers of people, and the questions of the section that some miss


def ability(levels: int, people: int, seed: int) -> Case:
    """Answers of a continuous ability and a little of each section's own."""
    rng = np.random.default_rng([seed, 2])
    place = rng.normal(size=16)
    level = 1.5 * rng.normal(size=(people, 1)) + np.repeat(0.5 * rng.normal(size=(people, 4)), 4, axis=1)
    right = rng.random(level.shape) < 1 / (1 + np.exp(place - level))
    frame = pd.DataFrame(right.astype(int), columns=[f"Q{n}" for n in range(16)])
    matrix = pd.DataFrame(np.repeat(np.eye(4, dtype=int), 4, axis=0), index=frame.columns, columns=list("abcd"))
    return skeleton(matrix, levels), frame, [f"Q{n}" for n in range(4, 8)]


def linked(people: int, seed: int) -> Case:
    """Answers drawn from two skills of three levels."""
    bank = two_skills(seed)
    return bank, drawn(bank, people, np.random.default_rng([seed, 1])), [f"Q{n}" for n in range(12, 24)]


CASES: dict[str, Callable[[int, int], Case]] = {
    "ability, 2 levels": lambda people, seed: ability(2, people, seed),
    "ability, 3 levels": lambda people, seed: ability(3, people, seed),
    "two skills, 3 levels": linked,
}


def compared(bank: qs.Bank, known: pd.DataFrame, others: pd.DataFrame, taken: pd.DataFrame) -> tuple[list[np.ndarray], Found]:
    """Of each of the others, log loss of all answers without the state, and the differences of all answers and of those `taken`.

    Also the rows and sections of the known people that were found.
    """
    before = qs.learn(bank, known)
    found = untaken(before)
    after = qs.learn(bank, without(known, found)) if found else before
    shares = pd.Series([one.probability for one in found], [one.section for one in found], dtype=float).groupby(level=0).sum() / len(known)
    plain = log_probabilities(before, others, {})
    state = log_probabilities(after, others, shares.to_dict())
    only = [log_probabilities(one, taken, {}) for one in (before, after)]
    return [-plain, plain - state, only[0] - only[1]], {(one.row, one.section) for one in found}


def row(name: str, absent: str, losses: list[np.ndarray], answers: int, right: int, wrong: int, of: int) -> dict[str, object]:
    """A row of the table from numbers a unit, (units, 3): the log loss, and the two differences, of all answers of a person."""
    table = np.concatenate(losses) / answers
    errors = table.std(axis=0, ddof=1) / np.sqrt(len(table))
    return {
        "answers": name,
        "absent": absent,
        "sections untaken": of,
        "found": right,
        "falsely found": wrong,
        "log loss without the state": table[:, 0].mean(),
        "with the state": table[:, 1].mean(),
        "error": errors[1],
        "taken": table[:, 2].mean(),
        "error, taken": errors[2],
    }


def simulated(name: str, share: float, repetitions: int) -> dict[str, object]:
    """Drawn people: the first ones are learnt from, a share of all are absent."""
    losses, right, wrong = [], 0, 0
    for seed in range(repetitions):
        bank, frame, section = CASES[name](PEOPLE + OTHERS, seed)
        away = np.arange(len(frame)) % 20 < round(20 * share)
        missing = frame.astype(object)
        missing.loc[away, section] = None
        frame.loc[away, section] = 0
        found, flagged = compared(bank, frame[:PEOPLE], frame[PEOPLE:], missing[PEOPLE:])
        losses.append(np.array([[one.mean() for one in found]]))
        own = bank.questions[section[0]].skills[0]
        hits = sum(bool(away[person]) and place == own for person, place in flagged)
        right, wrong = right + hits, wrong + len(flagged) - hits
    return row(name, f"{share:.0%}", losses, frame.shape[1], right, wrong, repetitions * round(PEOPLE * share))


def real(levels: int, folder: Path) -> dict[str, object]:
    """German placement: each fold is predicted from the others."""
    matrix, responses = read_matrix(folder / "qmatrix.csv"), pd.read_csv(folder / "responses.csv")
    known = known_sections(matrix, responses)
    taken = responses.astype(object)
    for person, section in known:
        taken.loc[person, list(matrix.index[matrix[section] == 1])] = None
    fold = fold_of(len(responses), FOLDS, np.random.default_rng(0))
    some = (responses != 0).any(axis=1).to_numpy()
    losses, right, wrong = [], 0, 0
    for number in range(FOLDS):
        own = fold == number
        found, flagged = compared(chain(skeleton(matrix, levels)), responses[~own], responses[own], taken[own])
        found[2] = np.where(some[own], found[2], 0.0)
        losses.append(np.stack(found, axis=1))
        rows = responses.index[~own]
        hits = sum((rows[person], section) in known for person, section in flagged)
        right, wrong = right + hits, wrong + len(flagged) - hits
    return row(f"German placement, {levels} levels", "real", losses, responses.shape[1], right, wrong, len(known) * (FOLDS - 1))


def main(repetitions: int, results: Path = RESULTS, folder: Path = DATA) -> int:
    """Run the study and write its table."""
    rows = [simulated(name, share, repetitions) for name in CASES for share in (0.0, 0.05, 0.1)]
    if (folder / "responses.csv").is_file():
        rows += [real(levels, folder) for levels in (2, 3, 4)]
    else:
        sys.stderr.write(f"real people are left out: {folder} is not there\n")
    results.mkdir(parents=True, exist_ok=True)
    save(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n", float_format="%.5f").encode(), results / "untaken.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS))
