"""Loading and checking a bank of 10,000 questions in each format: seconds and peak memory, each in a process of its own."""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import describe

import quaestor as qs

QUESTIONS = 10_000


def make_bank() -> qs.Bank:
    """Four skills in a chain; every question has its own numbers, text, options and explanation."""
    generator = np.random.default_rng(1)
    skills: dict[str, dict[str, object]] = {"s0": {"prior": [0.5, 0.5]}}
    for number in range(1, 4):
        skills[f"s{number}"] = {"parents": [f"s{number - 1}"], "table": {"no": [0.8, 0.2], "yes": [0.2, 0.8]}}
    low, high = generator.uniform(0.1, 0.5, QUESTIONS).round(4), generator.uniform(0.5, 0.95, QUESTIONS).round(4)
    questions = {
        f"Q{number}": {
            "text": f"What is ${number} \\times {number % 97 + 2}$? Choose the one right answer.",
            "options": [str(number * (number % 97 + 2) + shift) for shift in (0, 10, 100, 1)],
            "correct": str(number * (number % 97 + 2)),
            "skill": f"s{number % 4}",
            "right": [float(low[number]), float(high[number])],
            "explanation": "Multiply tens and ones apart, then add.",
            "minutes": 1.5,
            "tags": ["facts", f"group {number % 10}"],
        }
        for number in range(QUESTIONS)
    }
    return qs.Bank({"title": "Ten thousand questions", "skills": skills, "questions": questions})


def measure(path: str) -> None:
    start = time.perf_counter()
    bank = qs.load(path)
    seconds = time.perf_counter() - start
    assert len(bank.questions) == QUESTIONS
    print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def main() -> None:
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    print(f"## Loading and checking {QUESTIONS:,} questions\n\n{describe()}; median of 3 processes\n")
    print("| format | file, MB | seconds | peak memory of the process, MB |\n| --- | --- | --- | --- |")
    bank = make_bank()
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("json", "yaml", "csv", "xlsx"):
            path = Path(folder) / f"bank.{ending}"
            qs.dump(bank, path)
            runs = [json.loads(subprocess.check_output([sys.executable, __file__, str(path)])) for _ in range(3)]
            seconds, memory = sorted(runs)[1]
            print(f"| {ending} | {path.stat().st_size / 1e6:.1f} | {seconds:.2f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
