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
from quaestor.simulate.run import Record

SCORES = ("entropy", "mode", "gini")
BANKS = {  # skills, levels, width
    "one skill of 5 levels": (1, 5, 0.0),
    "chain of 4 skills of 2 levels": (4, 2, 0.0),
    "chain of 4 skills of 2 levels ±.05": (4, 2, 0.05),
}


def rules_of(width: float) -> dict[str, qs.Rules]:
    """The rules that are tried, by name: of credal banks both bounds."""
    stop = qs.max_questions(20)
    if not width:
        return {score: qs.Rules(score=score, stop=stop) for score in SCORES}
    return {f"{bound} {score}": qs.Rules(score=score, bound=bound, stop=stop) for bound in ("upper", "lower") for score in SCORES}


def seconds(function: Callable[[], object], repeats: int = 3) -> tuple[float, float]:
    """The first run, which compiles, and the least of some more."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return times[0], min(times[1:])


def check_same(found: Record, expected: Record) -> None:
    """A record of the card tells what one of the processor tells."""
    assert (fetched(found.asked) == expected.asked).all(), "the card asks other questions"
    assert (fetched(found.answers) == expected.answers).all(), "the students answer otherwise on the card"
    for ends, its in zip(found.nodes, expected.nodes, strict=True):
        for one, other in zip(ends, its, strict=True):
            assert np.abs(fetched(one)[fetched(found.node)] - other[expected.node]).max() < 1e-9


def on_a_cluster(device: str, students: int) -> None:
    """One worker of a local Dask cluster has the card: the same numbers, and how long it takes."""
    from distributed import LocalCluster

    bank, rules = chain_bank(4, 2, 500, 0.05), qs.Rules(score="entropy", stop=qs.max_questions(20))
    settings = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50, "host": "127.0.0.1"}
    simulate(bank, rules, students // 4, device=device, keep="sums")  # compiles
    start = time.perf_counter()
    here = simulate(bank, rules, students, device=device, keep="sums")
    alone = time.perf_counter() - start
    with LocalCluster(**settings) as cluster:
        simulate(bank, rules, students // 4, device=device, keep="sums", cluster=cluster.scheduler_address)
        start = time.perf_counter()
        there = simulate(bank, rules, students, device=device, keep="sums", cluster=cluster.scheduler_address)
        took = time.perf_counter() - start
    apart = max(float(np.nanmax(np.abs(here.means[name] - there.means[name]))) for name in here.means)
    assert apart < 1e-9, "the cluster finds other numbers"
    assert (here.times == there.times).all(), "the cluster asks other questions"
    print(f"\n{students:,} students, ±.05, upper entropy, sums kept: {took:.1f} s by one Dask worker with the card, {alone:.1f} s alone.")
    print(f"Questions are asked as often; means differ by at most {apart:.0e}.", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--students", type=int, default=1_000_000)
    parser.add_argument("--beside", type=int, default=20_000, help="students on the processor")
    parser.add_argument("--only", choices=["precise", "credal"], help="banks of one kind")
    parser.add_argument("--cluster", type=int, default=0, help="students of a run by one Dask worker with the card, after the table")
    arguments = parser.parse_args()
    library, home = library_of(arguments.device), library_of("cpu")
    name = arguments.device
    if "cuda" in name:
        import torch

        name = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"
    print(f"\n## Graphics card\n\n{describe()}; {name}; double precision\n")
    print("| 20 of 500 questions | score | steps on the card | the first time | all of `simulate` | one core, a student | times as fast |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for title, (skills, levels, width) in BANKS.items():
        if arguments.only == ("credal" if not width else "precise"):
            continue
        bank = chain_bank(skills, levels, 500, width)
        students = Cohort(bank, bank, arguments.students, 1).part(0, arguments.students)
        few = Cohort(bank, bank, arguments.beside, 1).part(0, arguments.beside)
        for score, rules in rules_of(width).items():
            start = time.perf_counter()
            expected = plain.take(bank, rules, few, Behaviour(), home)
            alone = (time.perf_counter() - start) / arguments.beside
            found = plain.take(bank, rules, few, Behaviour(), library)
            check_same(found, expected)
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
    if arguments.cluster:
        on_a_cluster(arguments.device, arguments.cluster)


if __name__ == "__main__":
    main()
