"""How long one step of a session takes (an answer and the next question), and how many files and calls it touches."""

import sys
import time
from pathlib import Path
from types import FrameType

import numpy as np
from machine import describe
from made_banks import chain_bank

import quaestor as qs

STEPS, REPEATS = 12, 5
ROWS = [
    ("64 questions", 64, 0.0, 0.5),
    ("1,000 questions", 1_000, 0.0, 0.7),
    ("10,000 questions", 10_000, 0.0, 2.0),
    ("1,000 questions, ±.05", 1_000, 0.05, 1.5),
    ("10,000 questions, ±.05", 10_000, 0.05, 6.0),
]
RULES = qs.Rules(stop=qs.any_of(qs.max_questions(20), qs.entropy_below(0.05)))


def walk(bank: qs.Bank, seed: int) -> tuple[float, list[float]]:
    """Milliseconds of the first step, and of each further one, of a taker whose answers alternate by chance."""
    rng = np.random.default_rng(seed)
    start = time.perf_counter()
    session = qs.Session(bank, RULES)
    following = session.next
    first, times = time.perf_counter() - start, []
    for _ in range(STEPS):
        if following is None:
            break
        answer = int(rng.integers(len(following.classes)))
        start = time.perf_counter()
        session = session.answer(following.id, answer)
        following = session.next
        times.append(time.perf_counter() - start)
    return first * 1e3, [each * 1e3 for each in times]


def touched(bank: qs.Bank) -> tuple[int, int, int]:
    """How many files of ours one step touches, how many of our functions it calls, and how many functions in all, numpy's too."""
    session = qs.Session(bank, RULES)
    for _ in range(3):
        session = session.answer(session.next.id, 1)
        _ = session.next
    calls: list[str] = []
    every = [0]

    def seen(frame: FrameType, event: str, _: object) -> None:
        every[0] += event in ("call", "c_call")
        if event == "call" and "quaestor" in Path(frame.f_code.co_filename).parts:
            calls.append(frame.f_code.co_filename)

    sys.setprofile(seen)
    _ = session.answer(session.next.id, 1).next
    sys.setprofile(None)
    return len(set(calls)), len(calls), every[0]


def main() -> None:
    print(f"\n## A session step\n\n{describe()}; chain of four binary skills, answer + next, medians, single thread\n")
    print("| bank | step, ms | aim | first step of a new bank, ms |\n| --- | --- | --- | --- |")
    for name, questions, width, aim in ROWS:
        walk(chain_bank(4, 2, questions, width), 0)
        found = [walk(chain_bank(4, 2, questions, width, seed=seed), seed) for seed in range(REPEATS)]
        step = np.median([each for _, times in found for each in times])
        print(f"| {name} | {step:.2f} | {aim} | {np.median([first for first, _ in found]):.1f} |", flush=True)
    files, calls, every = touched(chain_bank(4, 2, 64))
    print(f"\nOne step of 64 questions touches {files} files of ours, calls {calls} functions of ours, and {every} in all.")


if __name__ == "__main__":
    main()
