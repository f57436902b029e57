"""How long simulations take: the paper's suite, large banks, how it grows, two workers against one, catsim on its own kind of model."""

import importlib.metadata
import resource
import time
from collections.abc import Callable
from multiprocessing import get_context

import numpy as np
from machine import describe
from made_banks import chain_bank

import quaestor as qs
from quaestor.simulate import simulate

SUITE = {
    "Bayesian entropy": (0.0, qs.Rules(score="entropy", then=None)),
    "Bayesian mode": (0.0, qs.Rules(score="mode", then=None)),
    "random": (0.0, qs.Rules(score="random")),
    "credal upper entropy": (0.05, qs.Rules(score="entropy", then=None, stop=qs.entropy_below(0.1))),
    "credal upper mode": (0.05, qs.Rules(score="mode", then=None, stop=qs.entropy_below(0.1))),
}
STUDIES = {"single-skill-as-run": 1024, "four-skills": 256}
TWENTY = qs.max_questions(20)


def seconds(function: Callable[[], object], repeats: int = 3) -> float:
    """The least of some runs, after one that warms caches: of the processor, so that others on the machine count for nothing."""
    function()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        times.append(time.process_time() - start)
    return min(times)


def suite() -> None:
    """The five methods of the paper on its two studies; nothing is warmed up, all of it counts."""
    print("\n### The paper's suite, one process\n")
    print("| method | 1024 students x 18 questions | 256 students x 64 questions |\n| --- | --- | --- |")
    total = 0.0
    for name, (width, rules) in SUITE.items():
        cells = []
        for study, students in STUDIES.items():
            start = time.process_time()
            bank = qs.load(study)
            simulate(bank.widen(width) if width else bank, rules, students)
            cells.append(time.process_time() - start)
        total += sum(cells)
        print(f"| {name} | {' | '.join(f'{cell:.2f} s' for cell in cells)} |", flush=True)
    print(f"\nIn all {total:.1f} s (aim: under 0.8 s).")


def large() -> None:
    """1,000 students x 20 of 500 questions."""
    print(
        "\n### 1,000 students x 20 of 500 questions, seconds\n\n| bank | entropy | mode | random | aim |\n| --- | --- | --- | --- | --- |"
    )
    for name, skills, levels, aim in (("one skill of 5 levels", 1, 5, 0.5), ("chain of 4 skills of 4 levels", 4, 4, 1.0)):
        bank = chain_bank(skills, levels, 500)
        times = [seconds(lambda b=bank, s=s: simulate(b, qs.Rules(score=s, stop=TWENTY), 1000)) for s in ("entropy", "mode", "random")]
        print(f"| {name} | {' | '.join(f'{one:.2f}' for one in times)} | {aim} |", flush=True)


def bare(bank: qs.Bank, students: int, asked: int, seed: int = 1) -> None:
    """The least that a program on one skill of precise numbers can do: numpy alone, every student apart, no rules, no metrics."""
    rng = np.random.default_rng(seed)
    right = np.stack([question.table.lower[:, 1] for question in bank.questions.values()])  # (questions, levels)
    noise = -(right * np.log(right) + (1 - right) * np.log(1 - right))
    for start in range(0, students, 256):
        count = min(256, students - start)
        level, luck = rng.integers(right.shape[1], size=count), rng.random((count, len(right)))
        p, closed = np.full((count, right.shape[1]), 1 / right.shape[1]), np.zeros((count, len(right)), dtype=bool)
        everyone = np.arange(count)
        for _ in range(asked):
            chance = p @ right.T
            gain = -chance * np.log(chance) - (1 - chance) * np.log(1 - chance) - p @ noise.T
            best = np.where(closed, -np.inf, gain).argmax(axis=1)
            closed[everyone, best] = True
            is_right = luck[everyone, best] < right[best, level]
            p = p * np.where(is_right[:, None], right[best], 1 - right[best])
            p /= p.sum(axis=1, keepdims=True)


def aims() -> None:
    """What is aimed at, beside a bare numpy loop of the same model in the same run."""
    print("\n### Seconds, entropy, 20 questions each unless it is said, one process and one thread\n")
    print("| work | seconds | aim | bare numpy | times as fast |\n| --- | --- | --- | --- | --- |")
    rules = qs.Rules(score="entropy", stop=TWENTY)
    small, wide, paper = chain_bank(1, 5, 500), chain_bank(1, 5, 10_000), qs.load("single-skill-as-run")
    rows = (
        ("1,000 students, 500 questions", small, rules, 1_000, 0.1, 3, 1_000),
        ("1,000 students, 10,000 questions", wide, rules, 1_000, 1.0, 2, 1_000),
        ("100,000 students, 500 questions", small, rules, 100_000, 3.0, 1, 20_000),
        ("1,000,000 students, `single-skill-as-run`, 18 questions", paper, qs.Rules(score="entropy"), 1_000_000, 3.0, 1, 0),
        ("1,000 students, 500 questions, chain of 4 two-level skills ±.05", chain_bank(4, 2, 500, 0.05), rules, 1_000, 0.5, 2, 0),
        ("the same, mode", chain_bank(4, 2, 500, 0.05), qs.Rules(score="mode", stop=TWENTY), 1_000, 0.5, 2, 0),
    )
    for name, bank, how, students, aim, repeats, beside in rows:
        took = seconds(lambda b=bank, r=how, n=students: simulate(b, r, n), repeats)
        theirs = seconds(lambda b=bank, n=beside: bare(b, n, 20), 1) * students / beside if beside else 0.0
        cells = f"{theirs:.2f} | {theirs / took:.1f}" if beside else "|"
        print(f"| {name} | {took:.2f} | {aim:g} | {cells} |", flush=True)


def ruled() -> None:
    """Rules beside plain ones, in one run: no rule makes a session of its own for each student."""
    bank = chain_bank(4, 2, 500)
    ids = list(bank.questions)
    rules = {
        "plain": {},
        "content": {"content": [qs.Content("s0", least=3), qs.Content("s1", most=4), qs.Content("s2", share=0.3)]},
        "exclude, testlets": {"exclude": [ids[:4], ids[4:8]], "testlets": [ids[8:11]]},
        "variety": {"variety": qs.Variety()},
        "exposure, worn questions rest": {"exposure": qs.Exposure(most=0.3, rates=dict.fromkeys(ids[:100], 0.5))},
        "exposure, chances of one half": {"exposure": qs.Exposure(chances=dict.fromkeys(ids[:200], 0.5))},
        "among the best 3": {"among": 3},
        "mandatory, first": {"mandatory": ids[:2], "first": ids[2:4]},
    }
    print("\n### Rules, 512 students x 20 of 500 questions, chain of 4 binary skills, entropy\n")
    print("| rules | seconds | times the plain ones |\n| --- | --- | --- |")
    plain = 0.0
    for name, fields in rules.items():
        time_taken = seconds(lambda f=fields: simulate(bank, qs.Rules(score="entropy", stop=TWENTY, **f), 512), 2)
        plain = plain or time_taken
        print(f"| {name} | {time_taken:.2f} | {time_taken / plain:.2f} |", flush=True)


def growth() -> None:
    """Students per second against one thing at a time; 20 questions each, entropy."""
    print("\n### Students per second, 20 questions each, entropy\n\n| what | values | students per second |\n| --- | --- | --- |")
    rows = (
        ("questions, chain of 4 skills of 2 levels", (100, 500, 2_000, 10_000), lambda n: chain_bank(4, 2, n), (1024, 1024, 512, 256)),
        ("the same, ±.05", (100, 500, 2_000), lambda n: chain_bank(4, 2, n, 0.05), (256, 256, 256)),
        ("skills of 2 levels, chain, 500 questions", (1, 2, 4, 8, 16), lambda n: chain_bank(n, 2, 500), (1024, 1024, 1024, 512, 256)),
        ("levels of one skill, 500 questions", (2, 3, 5, 8), lambda n: chain_bank(1, n, 500), (1024,) * 4),
    )
    for name, values, make, cohorts in rows:
        rates = []
        for value, students in zip(values, cohorts, strict=True):
            bank = make(value)
            rates.append(students / seconds(lambda b=bank, n=students: simulate(b, qs.Rules(score="entropy", stop=TWENTY), n), 2))
        print(f"| {name} | {', '.join(f'{one:,}' for one in values)} | {'; '.join(f'{rate:,.0f}' for rate in rates)} |", flush=True)


def workers() -> None:
    """Two processes against one, starting them included: the best of five runs of each, in turn.

    The clock tells of two workers only where both cores are free; what each process took of a processor tells what it would be then. Two
    programs that know nothing of one another, with half of the students each, tell what the machine gives to two at once.
    """
    bank, rules = chain_bank(1, 5, 500), qs.Rules(score="entropy", stop=TWENTY)
    print("\n### Two workers against one, 20 of 500 questions, one skill of 5 levels\n")
    print("| students | 1 worker | 2 workers | times as fast | of the processor: 1 worker | 2 workers, each | two programs |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for students in (100_000, 400_000):
        clock: dict[int, list[float]] = {1: [], 2: []}
        each: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
        apart = []
        for count in (1, 2) * 5:
            start, before = time.perf_counter(), _of_processor()
            simulate(bank, rules, students, workers=count)
            clock[count].append(time.perf_counter() - start)
            own, others = (now - then for now, then in zip(_of_processor(), before, strict=True))
            each[count].append((own, others))
            if count == 2:
                apart.append(_apart(bank, rules, students // 2))
        alone, (own, others), one, two = min(each[1])[0], min(each[2], key=max), min(clock[1]), min(clock[2])
        print(
            f"| {students:,} | {one:.2f} s | {two:.2f} s | {one / two:.2f} | {alone:.2f} s | {own:.2f} s, {others:.2f} s"
            f" | {min(apart):.2f} s, {one / min(apart):.2f} times |",
            flush=True,
        )


def _apart(bank: qs.Bank, rules: qs.Rules, students: int) -> float:
    """The seconds until two programs have each simulated so many students."""
    made = [get_context("fork").Process(target=simulate, args=(bank, rules, students)) for _ in range(2)]
    start = time.perf_counter()
    for one in made:
        one.start()
    for one in made:
        one.join()
    return time.perf_counter() - start


def _of_processor() -> tuple[float, float]:
    """The seconds of the processor that this process has taken, and those that it has started and that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    own, others = (one.ru_utime + one.ru_stime for one in used)
    return own, others


def beside_catsim() -> None:
    """catsim's own kind of model, 2PL: the most informative of 500 items, ability estimated after each of 20; and ours on as many."""
    print("\n### Beside catsim, 1,000 takers x 20 of 500 questions, one process\n")
    try:
        from catsim.estimation import NumericalSearchEstimator
        from catsim.initialization import RandomInitializer
        from catsim.item_bank import ItemBank
        from catsim.selection import MaxInfoSelector
        from catsim.simulation import Simulator
        from catsim.stopping import TestLengthStopper
    except ImportError as error:
        print(f"Left out: catsim is not installed ({error}).")
        return
    rng = np.random.default_rng(1)
    slope, difficulty = rng.uniform(0.8, 2.0, 500), rng.normal(0, 1, 500)
    items = ItemBank(np.stack([slope, difficulty, np.zeros(500), np.ones(500)], axis=1))
    start = time.process_time()
    made = Simulator(
        items, 1000, RandomInitializer(), MaxInfoSelector(), NumericalSearchEstimator(), TestLengthStopper(max_items=20), seed=1
    )
    made.simulate()
    theirs = time.process_time() - start
    levels = np.linspace(-2, 2, 5)
    names = [f"{level:+g}" for level in levels]
    right = (1 / (1 + np.exp(-slope[:, None] * (levels - difficulty[:, None])))).round(4)
    asked = {f"Q{number}": {"skill": "ability", "right": row.tolist()} for number, row in enumerate(right)}
    bank = qs.Bank({"skills": {"ability": {"levels": names}}, "questions": asked})
    ours = seconds(lambda: simulate(bank, qs.Rules(score="entropy", stop=TWENTY), 1000))
    version = importlib.metadata.version("catsim")
    print("| program | model | seconds |\n| --- | --- | --- |")
    print(f"| catsim {version} | 2PL, maximum information, numerical search | {theirs:.2f} |")
    print(f"| Quaestor | the same items at 5 levels of ability, entropy | {ours:.2f} |")
    print(f"\n{theirs / ours:.0f} times as fast (aim: at least 120).")


def main() -> None:
    """Print all tables."""
    print(f"\n## Simulation\n\n{describe()}; single thread; seconds of the processor, but for two workers")
    aims()
    suite()
    large()
    ruled()
    growth()
    workers()
    beside_catsim()


if __name__ == "__main__":
    main()
