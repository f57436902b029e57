"""How long it takes to rank a whole bank (`qs.rank`, ten answers given), for every score: medians, single thread."""

from functools import partial

from machine import describe
from made_banks import answers_of, chain_bank, graded_bank
from timing import median

import quaestor as qs
from quaestor.selection.scores.known import SCORES

SIZES = (64, 1_000, 10_000)


def line(name: str, bank: qs.Bank, bound: str, repeats: int, answered: int = 10) -> str:
    """A row of the table: milliseconds for each score."""
    answers = answers_of(bank, answered)
    times = [median(partial(qs.rank, bank, answers, score, bound), repeats) for score in SCORES]
    return f"| {name} | {bound if not bank.is_precise else '–'} | {' | '.join(f'{time:.2f}' for time in times)} |"


def main() -> None:
    """Print the table."""
    print(f"\n## Ranking\n\n{describe()}; medians, single thread, milliseconds\n")
    print(f"| bank | bound | {' | '.join(SCORES)} |\n| --- | --- | {' | '.join('---' for _ in SCORES)} |")
    for size in SIZES:
        print(line(f"chain of 4 binary skills, {size:,} questions", chain_bank(4, 2, size), "upper", 15), flush=True)
        for bound in ("upper", "lower"):
            print(line("the same, ±.05", chain_bank(4, 2, size, 0.05), bound, 15), flush=True)
    print(line("chain of 4 skills with 3 levels, 1,000 questions, ±.05", chain_bank(4, 3, 1_000, 0.05), "upper", 5), flush=True)
    for levels in (3, 5):
        print(line(f"one skill with {levels} levels, 1,000 questions, ±.05", chain_bank(1, levels, 1_000, 0.05), "upper", 5), flush=True)
    print(line("one skill with 4 levels, 1,000 questions of 3 classes, ±.05", graded_bank(4, 3, 1_000, 0.05), "upper", 5), flush=True)
    print(line("fractions", qs.load("fractions"), "upper", 15), flush=True)
    for bound in ("upper", "lower"):
        print(line("fractions ±.05, no answers yet", qs.load("fractions").widen(0.05), bound, 5, 0), flush=True)


if __name__ == "__main__":
    main()
