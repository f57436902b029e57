"""One full step of a test: all posteriors, all hypothetical answers on each question's own skills; other libraries where installed.

Run with one thread: `make bench` sets OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and MKL_NUM_THREADS to 1.
"""

from functools import partial

import growth
from machine import describe
from made_banks import answers_of, chain_bank, tree_bank
from other_libraries import pgmpy_step, pyagrum_step
from timing import full_step, median

import quaestor as qs
from quaestor.inference.layout import layout_of


def full_steps() -> None:
    four = qs.load("four-skills")
    fractions = qs.load("fractions")
    rows = [
        ("chain of 4 binary skills, 64 questions", four, 10, 50),
        ("the same, ±.05", four.widen(0.05), 10, 50),
        ("4 skills x 4 levels, 80 questions, ±.05", chain_bank(4, 4, 80, 0.05), 10, 5),
        ("10,000 questions on 4 binary skills", chain_bank(4, 2, 10_000), 10, 20),
        ("the same, ±.05", chain_bank(4, 2, 10_000, 0.05), 10, 20),
        ("tree of 30 binary skills, 300 questions", tree_bank(30, 300), 10, 20),
        ("fractions (two-skill questions)", fractions, 6, 20),
        ("fractions ±.05, no two-skill question answered", fractions.widen(0.05), 3, 3),
        ("fractions ±.05, two of them answered", fractions.widen(0.05), 6, 1),
    ]
    print("### A full step\n")
    print("| bank | answered | posteriors, ms | full step, ms | method | largest gap | pyAgrum | pgmpy |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, bank, count, repeats in rows:
        answers = answers_of(bank, count, seed=count)
        layout_of(bank)
        posterior = median(partial(qs.posterior, bank, answers, tolerance=5e-4), repeats)
        step = median(partial(full_step, bank, answers), repeats)
        ahead = full_step(bank, answers)
        methods = " + ".join(sorted({group.method for group in ahead.groups}))
        theirs = " | ".join(times_longer(bank, answers, step))
        print(f"| {name} | {len(answers)} | {posterior:.2f} | {step:.2f} | {methods} | {ahead.gap:.2g} | {theirs} |", flush=True)


def times_longer(bank: qs.Bank, answers: dict[str, int], ours: float) -> list[str]:
    """How many times longer the step takes with each other library; a dash where it is not installed or cannot do it."""
    shown = []
    for make in (pyagrum_step, pgmpy_step):
        step = make(bank, answers) if bank.is_precise and len(bank.questions) <= 300 else None
        shown.append("–" if step is None else f"x {median(step, 3) / ours:,.0f}")
    return shown


def main() -> None:
    print(f"## Inference\n\n{describe()}; medians, single thread\n")
    full_steps()
    growth.main()


if __name__ == "__main__":
    main()
