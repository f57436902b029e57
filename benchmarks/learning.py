"""How long learning a bank takes: seconds for one EM step and until it stands still, reading the table included, and peak memory.

The last row is the whole command from a CSV file: reading, learning, five parts held out, untaken sections, diagnoses and the page; its
memory is that of its own process.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from machine import describe
from made_banks import chain_bank

import quaestor as qs
from quaestor.learn.graphs import independent
from quaestor.learn.skeleton import skeleton

WORKERS = 2


def drawn(bank: qs.Bank, people: int, missing: float, seed: int = 1) -> pd.DataFrame:
    """Answers of simulated people as 0 and 1, empty where missing."""
    rng = np.random.default_rng(seed)
    levels: dict[str, np.ndarray] = {}
    for skill in bank.skills.values():  # parents stand first in these banks
        rows = skill.table.lower[tuple(levels[parent] for parent in skill.parents)]
        levels[skill.id] = (np.cumsum(np.broadcast_to(rows, (people, len(skill.levels))), axis=1)[:, :-1] <= rng.random((people, 1))).sum(
            axis=1
        )
    columns = {}
    for question in bank.questions.values():
        right = question.table.lower[..., 1][tuple(levels[skill] for skill in question.skills)]
        cells = (rng.random(people) < right).astype(float)
        cells[rng.random(people) < missing] = np.nan
        columns[question.id] = cells
    return pd.DataFrame(columns).dropna(how="all")


def matrix_bank() -> qs.Bank:
    """20 questions on one to three of 8 skills each."""
    rng = np.random.default_rng(1)
    cells = np.zeros((20, 8), int)
    for row in range(20):
        cells[row, rng.choice(8, size=1 + row % 3, replace=False)] = 1
    cells[:8] |= np.eye(8, dtype=int)
    return independent(skeleton(pd.DataFrame(cells, index=[f"Q{n}" for n in range(20)], columns=[f"s{n}" for n in range(8)])))


def moved(bank: qs.Bank) -> qs.Bank:
    """The bank that the people come from: the start is not the truth."""
    rng = np.random.default_rng(2)
    tables = {}
    for question in bank.questions.values():
        right = np.clip(question.table.lower[..., 1] + rng.uniform(-0.15, 0.15), 0.05, 0.95)
        tables[question.id] = qs.Table.precise(np.stack([1 - right, right], axis=-1))
    return bank.with_tables(tables)


def row(name: str, bank: qs.Bank, people: int, missing: float, aim: float) -> None:
    frame = drawn(moved(bank), people, missing)
    steps: list[float] = []
    start = time.perf_counter()
    fit = qs.learn(bank, frame, workers=WORKERS, progress=lambda *_: steps.append(time.perf_counter()))
    total = time.perf_counter() - start
    again = time.perf_counter()
    qs.learn(bank, frame, workers=WORKERS, iterations=1)
    first = time.perf_counter() - again
    each = (total - first) / max(fit.iterations - 1, 1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"| {name} | {len(fit.people.patterns):,} | {fit.iterations} | {1000 * each:.0f} | {total:.1f} | {aim:g} | {memory:.0f} |",
        flush=True,
    )


def command(name: str, bank: qs.Bank, people: int, missing: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        own, answers, out = (Path(folder) / file for file in ("bank.json", "answers.csv", "learnt.json"))
        qs.dump(bank, own)
        drawn(moved(bank), people, missing).astype("Int8").to_csv(answers, index=False)
        words = ["learn", str(own), "--responses", str(answers), "--out", str(out), "--workers", str(WORKERS), "--json"]
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-m", "quaestor", *words], check=True, capture_output=True, text=True)
        total = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"| {name} | | {json.loads(done.stdout)['steps']} | | {total:.1f} | | {memory:.0f} |", flush=True)


def main() -> None:
    print(f"## Learning\n\n{describe()}; {WORKERS} threads\n")
    print("| answers | patterns | steps | ms a step | seconds in all | aim | peak memory so far, MB |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    row("500 people x 20 questions, 8 skills, 256 profiles", matrix_bank(), 500, 0.0, 2)
    row("5,000 x 100, 4 skills of 4 levels, 256 profiles", chain_bank(4, 4, 100), 5_000, 0.0, 20)
    row("100,000 x 50, 80 % missing, 4 skills of 4 levels", chain_bank(4, 4, 50), 100_000, 0.8, 120)
    row("1,000,000 x 50, 80 % missing, 4 skills of 2 levels", chain_bank(4, 2, 50), 1_000_000, 0.8, 120)
    row("2,000 x 60, chain of 20 skills, junction tree", chain_bank(20, 2, 60), 2_000, 0.0, 120)
    command("`quaestor learn`, 1,000,000 x 50, 80 % missing, 4 skills of 2 levels", chain_bank(4, 2, 50), 1_000_000, 0.8)


if __name__ == "__main__":
    main()
