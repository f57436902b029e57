"""How long simulations take on a graphics card, beside one core of the processor in the same run; and that both ask the same."""

import argparse
import time
from collections.abc import Callable

import numpy as np
from machine import describe
from made_banks import chain_bank

import quaestor as qs
from quaestor.simulate import plain, simulate
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.library import fetched, library_of

RULES = {score: qs.Rules(score=score, stop=qs.max_questions(20)) for score in ("entropy", "mode", "gini")}
BANKS = {"one skill of 5 levels": (1, 5), "chain of 4 skills of 2 levels": (4, 2)}


def seconds(function: Callable[[], object], repeats: int = 3) -> tuple[float, float]:
    """The first run, which compiles, and the least of some more."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return times[0], min(times[1:])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--students", type=int, default=1_000_000)
    parser.add_argument("--beside", type=int, default=20_000, help="students on the processor")
    arguments = parser.parse_args()
    library, home = library_of(arguments.device), library_of("cpu")
    name = arguments.device
    if "cuda" in name:
        import torch

        name = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    print(f"\n## Graphics card\n\n{describe()}; {name}; double precision\n")
    print("| 20 of 500 questions | score | steps on the card | the first time | all of `simulate` | one core, a student | times as fast |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for title, (skills, levels) in BANKS.items():
        bank = chain_bank(skills, levels, 500)
        students = Cohort(bank, bank, arguments.students, 1).part(0, arguments.students)
        few = Cohort(bank, bank, arguments.beside, 1).part(0, arguments.beside)
        for score, rules in RULES.items():
            start = time.perf_counter()
            expected = plain.take(bank, rules, few, Behaviour(), home)
            alone = (time.perf_counter() - start) / arguments.beside
            found = plain.take(bank, rules, few, Behaviour(), library)
            assert (fetched(found.asked) == expected.asked).all(), "the card asks other questions"
            assert (fetched(found.answers) == expected.answers).all(), "the students answer otherwise on the card"
            for (low, _), (its, _) in zip(found.nodes, expected.nodes, strict=True):
                assert np.abs(fetched(low)[fetched(found.node)] - its[expected.node]).max() < 1e-9
            del found

            def steps(bank: qs.Bank = bank, rules: qs.Rules = rules, students: object = students) -> None:
                record = plain.take(bank, rules, students, Behaviour(), library)
                fetched(record.answers[:1])  # waits for the card

            first, best = seconds(steps)
            _, whole = seconds(lambda b=bank, r=rules: simulate(b, r, arguments.students, device=arguments.device), 1)
            print(
                f"| {title} | {score} | {best:.2f} s | {first:.1f} s | {whole:.1f} s | {alone * 1e6:.0f} µs"
                f" | {alone * arguments.students / best:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
