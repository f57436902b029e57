"""Planted drift: how often a question that became easier or harder is named, after how many answers, and how often others are blamed.

Takers come one after another to an adaptive test (15 of 40 questions, two skills of three levels). After half of them one question, one of
the ten asked most often, changes: its log-odds rise (it leaked) or fall. Nothing changes in the clean kinds, but takers may be weaker in
the second half, or all tables of the bank may be wrong from the start. The test is looked at after every 25 takers, as a teacher would; an
alarm counts as soon as it is raised once.

    python studies/drift.py
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.arrivals import Arrival, watched
from quaestor.learn.drift import drifts
from quaestor.learn.pilots import calibrated

RESULTS = Path(__file__).with_name("drift")
REPEATS, TAKERS, LOOK = 50, 300, 25
SKILLS, LEVELS, QUESTIONS, ASKED = ("a", "b"), ["1", "2", "3"], 40, 15
NAMES, CLASSES = [f"Q{number + 1}" for number in range(QUESTIONS)], ("wrong", "right")
RULES = qs.Rules(score="entropy", stop=qs.max_questions(ASKED))
KINDS = {
    "much easier (log-odds + 2)": 2.0,
    "easier (log-odds + 1)": 1.0,
    "harder (log-odds - 1)": -1.0,
    "much harder (log-odds - 2)": -2.0,
    "clean": 0.0,
    "clean, weaker takers later": 0.0,
    "clean, all tables wrong": 0.0,
}


def made(rng: np.random.Generator, prior: tuple[float, ...] = (0.3, 0.4, 0.3)) -> qs.Bank:
    """A bank drawn at random."""
    skills = {name: {"levels": LEVELS, "prior": list(prior)} for name in SKILLS}
    questions = {}
    for number in range(QUESTIONS):
        place, rise = rng.normal(0, 1), rng.uniform(0.8, 2)
        right = 1 / (1 + np.exp(-(place + rise * np.array([-1, 0, 1]))))
        questions[f"Q{number + 1}"] = {"skill": SKILLS[number % 2], "right": right.round(6).tolist()}
    return qs.Bank({"skills": skills, "questions": questions})


def moved(bank: qs.Bank, shifts: dict[str, float]) -> qs.Bank:
    """The bank with some questions easier or harder."""
    tables = {}
    for name, shift in shifts.items():
        right = bank.questions[name].table.lower[:, 1]
        right = 1 / (1 + np.exp(-(np.log(right / (1 - right)) + shift)))
        tables[name] = qs.Table.precise(np.stack([1 - right, right], axis=1))
    return bank.with_tables(tables)


def weaker(bank: qs.Bank) -> qs.Bank:
    """The bank whose takers are weaker."""
    return bank.with_tables({name: qs.Table.precise(np.array([0.5, 0.35, 0.15])) for name in SKILLS})


def arrivals(bank: qs.Bank, truth: qs.Bank, takers: int, seed: int, first: int) -> list[Arrival]:
    """The answers of takers from `truth` to an adaptive test of `bank`, taker by taker."""
    found = qs.simulate(bank, RULES, takers, seed, truth=truth)
    lines = []
    for taker, (asked, answers) in enumerate(zip(found.asked_places, found.answers, strict=True)):
        lines += [Arrival(first + taker, NAMES[place], CLASSES[answer]) for place, answer in zip(asked, answers, strict=True) if place >= 0]
    return lines


def one(kind: str, repeat: int) -> tuple[bool, int, float]:
    """Whether the planted question was named, how many others were, and after how many of its answers since the change."""
    rng = np.random.default_rng([repeat, 11])
    bank = made(rng)
    truth = bank if kind != "clean, all tables wrong" else moved(bank, {name: float(rng.normal(0, 0.7)) for name in bank.questions})
    half = TAKERS // 2
    before = arrivals(bank, truth, half, 1000 + repeat, 0)
    counts = pd.Series([line.question for line in before]).value_counts()
    planted = str(rng.choice(counts.index[:10].to_numpy()))
    later = moved(truth, {planted: KINDS[kind]}) if KINDS[kind] else weaker(truth) if "weaker" in kind else truth
    lines = before + arrivals(bank, later, TAKERS - half, 2000 + repeat, half)
    named: dict[str, int] = {}
    for takers in range(LOOK, TAKERS + 1, LOOK):
        seen = [line for line in lines if line.taker < takers]
        for name in drifts(watched(bank, seen)):
            named.setdefault(name, takers)
    is_found = bool(KINDS[kind]) and named.get(planted, 0) > half
    delay = sum(line.question == planted and half <= line.taker < named[planted] for line in lines) if is_found else np.nan
    return is_found, len(set(named) - ({planted} if KINDS[kind] else set())), float(delay)


def planted() -> pd.DataFrame:
    """A row a kind."""
    rows = {}
    for kind in KINDS:
        found, others, delays = zip(*(one(kind, repeat) for repeat in range(REPEATS)), strict=True)
        rows[kind] = {
            "found": sum(found) if KINDS[kind] else np.nan,
            "tests with a false alarm": sum(count > 0 for count in others),
            "questions falsely named": sum(others),
            "answers until found": float(np.nanmedian(delays)) if any(found) else np.nan,
        }
        sys.stderr.write(f"{kind}: {rows[kind]}\n")
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = f"of {REPEATS}"
    return frame


def shrinking() -> pd.DataFrame:
    """A row a number of answers to a pilot question: how wide its 90 % intervals are, and how often they hold the truth."""
    found: dict[int, list[tuple[float, float]]] = {}
    for repeat in range(REPEATS):
        rng = np.random.default_rng([repeat, 12])
        bank = made(rng)
        document = bank.document
        document["questions"]["Q1"]["pilot"] = True
        truth = 1 / (1 + np.exp(-(rng.normal(0, 1) + rng.uniform(0.8, 2) * np.array([-1, 0, 1]))))
        pilot = qs.Bank(document)
        lines = arrivals(bank, bank, 400, 3000 + repeat, 0)
        levels = watched(
            pilot, [line for line in lines if line.question != "Q1"] + [Arrival(taker, "Q1", "right") for taker in range(400)]
        )["Q1"]
        drawn = qs.simulate(bank, RULES, 400, 3000 + repeat)
        answers = (rng.random(400) < truth[np.asarray(drawn.levels)[:, 0]]).tolist()
        for count in (10, 30, 100, 400):
            seen = type(levels)("Q1", np.array(answers[:count]), levels.levels[:count], levels.chance, levels.group)
            made_of = calibrated(seen)
            inside = (made_of.lower <= truth) & (truth <= made_of.upper)
            found.setdefault(count, []).append((float(inside.mean()), float((made_of.upper - made_of.lower).mean())))
    rows = {count: {"inside": np.mean([a for a, _ in parts]), "width": np.mean([b for _, b in parts])} for count, parts in found.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "answers"
    return frame


def main(results: Path) -> int:
    """Run both and write their tables."""
    results.mkdir(parents=True, exist_ok=True)
    save(planted().to_csv(lineterminator="\n", float_format="%.3f").encode(), results / "planted.csv")
    save(shrinking().to_csv(lineterminator="\n", float_format="%.3f").encode(), results / "pilots.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(RESULTS))
