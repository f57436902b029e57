"""Known numbers found again: how the error of learnt tables falls with the number of people, and how often intervals hold the truth.

People are drawn from a bank of two skills of three levels, the second built on the first, with 24 questions; the bank is learnt from a
start that says next to nothing (every question rises from 0.25 to 0.75), with a weight of 1. Errors are root mean squares over all
numbers of the question tables. Coverage is the share of P(right | level) inside the learnt interval, for the imprecise Dirichlet model
and the bootstrap.

    python studies/recovery.py
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.intervals import bootstrap, imprecise
from quaestor.report.figures import Line, curves, svg

RESULTS = Path(__file__).with_name("recovery")
LEVELS, QUESTIONS = 3, 24
PEOPLE = (100, 200, 400, 800, 1600, 3200, 6400)
REPEATS = 10
COVERED = (100, 400, 1600)
STRENGTHS = (1.0, 2.0, 8.0, 32.0)
SAMPLES, LEVEL = 100, 0.9


def truth(rng: np.random.Generator) -> qs.Bank:
    """A bank drawn at random: P(right) rises by at least 0.1 from level to level."""
    names = [str(level + 1) for level in range(LEVELS)]
    skills = {"a": {"levels": names, "prior": [0.3, 0.4, 0.3]}, "b": {"levels": names, "parents": ["a"], "strength": 0.6}}
    questions = {}
    for number in range(QUESTIONS):
        steps = rng.dirichlet(np.ones(LEVELS + 1)) * (1 - 0.1 * (LEVELS + 1)) + 0.1
        questions[f"Q{number + 1}"] = {"skill": "ab"[number % 2], "right": np.cumsum(steps)[:LEVELS].round(6).tolist()}
    return qs.Bank({"skills": skills, "questions": questions})


def start(bank: qs.Bank) -> qs.Bank:
    """The same skills and questions with numbers that say next to nothing."""
    document = bank.document
    for skill in document["skills"].values():
        skill.pop("prior", None)
    document["skills"]["b"]["strength"] = 0.3
    for question in document["questions"].values():
        question["right"] = [0.25, 0.5, 0.75]
    return qs.Bank(document)


def answers(bank: qs.Bank, people: int, seed: int) -> pd.DataFrame:
    """The answers of people drawn from a bank."""
    found = qs.simulate(bank, qs.Rules(score="order"), people, seed)
    return pd.DataFrame(found.answers, columns=list(bank.questions))


def rights(bank: qs.Bank, end: str = "lower") -> np.ndarray:
    """P(right | level) of all questions, (questions, levels)."""
    return np.stack([getattr(question.table, end)[:, 1] for question in bank.questions.values()])


def recovery() -> pd.DataFrame:
    """A row a number of people: the error, over repeats with other banks and people, and its standard error."""
    rows = {}
    for people in PEOPLE:
        found = []
        for repeat in range(REPEATS):
            bank = truth(np.random.default_rng([1, repeat]))
            fit = qs.learn(start(bank), answers(bank, people, 1000 * repeat + people), weight=1)
            found.append(float(np.sqrt(((rights(fit.bank) - rights(bank)) ** 2).mean())))
        rows[people] = {"error": np.mean(found), "standard error": np.std(found, ddof=1) / np.sqrt(REPEATS)}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame["times root of people"] = frame["error"] * np.sqrt(frame.index.to_numpy(float))
    frame.index.name = "people"
    return frame


def coverage() -> pd.DataFrame:
    """A row a way and number of people: the share of numbers inside, by level and in all, and the mean width."""
    found: dict[tuple[str, int], list[tuple[np.ndarray, np.ndarray]]] = {}
    for people in COVERED:
        for repeat in range(REPEATS):
            bank = truth(np.random.default_rng([2, repeat]))
            fit = qs.learn(start(bank), answers(bank, people, 2000 * repeat + people), weight=1)
            made = {f"imprecise Dirichlet, s = {s:g}": imprecise(fit, s) for s in STRENGTHS}
            made[f"bootstrap, {LEVEL:.0%}"] = bootstrap(fit, np.random.default_rng([3, repeat]), SAMPLES, LEVEL)
            for name, learnt in made.items():
                low, high = (rights(learnt, end) for end in ("lower", "upper"))
                inside = (low - 1e-12 <= rights(bank)) & (rights(bank) <= high + 1e-12)
                found.setdefault((name, people), []).append((inside, high - low))
    rows = []
    for (name, people), parts in found.items():
        inside, width = (np.stack(part) for part in zip(*parts, strict=True))
        by_level = {f"level {level + 1}": inside[..., level].mean() for level in range(LEVELS)}
        by_repeat = inside.mean(axis=(1, 2))
        error = by_repeat.std(ddof=1) / np.sqrt(len(by_repeat))
        rows.append({"way": name, "people": people, "inside": inside.mean(), "error": error, **by_level, "width": width.mean()})
    return pd.DataFrame(rows).set_index("way")


def main(results: Path) -> int:
    """Run both and write their tables and a figure."""
    results.mkdir(parents=True, exist_ok=True)
    errors = recovery()
    save(errors.to_csv(lineterminator="\n", float_format="%.6f").encode(), results / "recovery.csv")
    line = Line("learnt", np.log10(errors["error"].to_numpy()), None, 0)
    root = Line("1 / root of people", np.log10(errors["error"].iloc[0] * np.sqrt(PEOPLE[0] / np.array(PEOPLE))), None, 1)
    save(svg(curves([line, root], "log10 of the error", x=f"doublings of {PEOPLE[0]} people")).encode(), results / "recovery.svg")
    save(coverage().to_csv(lineterminator="\n", float_format="%.6f").encode(), results / "coverage.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(RESULTS))
