"""Where exact bounds stop: time against levels, rungs, width and answers; random networks with loops; and whether the clock is kept.

Every case runs in a process of its own, which is ended after `LONGEST` seconds. With `--before FOLDER` (the `src` of another version) each
case is measured with that version too, in turn. `--networks` adds 120 random networks with loops, which takes long. The networks are
those of the tests: run with the folder of the tests on the path, as `make bench` does.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
from growth import COLOURS, GREY
from machine import describe
from matplotlib.figure import Figure

import quaestor as qs
from helpers.random_models import loopy, network, relevant

LONGEST = 30.0
FIGURE = Path(__file__).with_name("limits.svg")
HARD = (19, 20, 41, 61, 62, 118)  # of the networks below, those that take longest
CASES: dict[str, list[tuple[str, list[float]]]] = {
    "levels": [("levels, one skill, one answer", list(range(2, 13))), ("levels, chain of 3, an answer each", list(range(2, 13)))],
    "rungs": [("rungs, ladder ±.1, an answer each", list(range(2, 15)))],
    "width": [("width, ladder of 10, an answer each", [0.01, 0.02, 0.05, 0.1, 0.2])],
    "answers": [("answers, ladder of 8 ±.05", [0, 5, 50, 500])],
}


def ladder(rungs: int, width: float, questions: int = 1) -> qs.Bank:
    """Skills of two levels; the parents of each are the two before it."""
    skills, asked = {}, {}
    for rung in range(rungs):
        parents = [f"s{other}" for other in (rung - 2, rung - 1) if other >= 0]
        rows = {}
        for above in product(("no", "yes"), repeat=len(parents)):
            chance = 0.5 if not parents else 0.2 + 0.6 * above.count("yes") / len(above)
            rows[", ".join(above)] = [1 - chance, chance]
        skills[f"s{rung}"] = {"levels": ["no", "yes"], **({"parents": parents, "table": rows} if parents else {"prior": rows[""]})}
        asked |= {f"q{rung}_{number}": {"skill": f"s{rung}", "right": [0.2, 0.85]} for number in range(questions)}
    return qs.Bank({"skills": skills, "questions": asked}).widen(width)


def levels(count: int, skills: int) -> qs.Bank:
    """A chain of skills of so many levels, ±.05, with twenty questions in all."""
    names = [f"level {number}" for number in range(count)]
    near = np.exp(-0.5 * (np.subtract.outer(np.arange(count), np.arange(count)) / (count / 4)) ** 2)
    near /= near.sum(axis=1, keepdims=True)
    chain = {}
    for number in range(skills):
        how = (
            {"parents": [f"s{number - 1}"], "table": dict(zip(names, near.tolist(), strict=True))}
            if number
            else {"prior": [1 / count] * count}
        )
        chain[f"s{number}"] = {"levels": names, **how}
    asked = {}
    for number in range(20):
        middle = (number // skills + 0.5) / (20 / skills) * count
        right = (0.1 + 0.8 / (1 + np.exp(middle - np.arange(count) - 0.5))).tolist()
        asked[f"q{number}"] = {"skill": f"s{number % skills}", "right": right}
    return qs.Bank({"skills": chain, "questions": asked}).widen(0.05)


def random_loops(number: int) -> tuple[qs.Network, str, dict[str, str]]:
    """One of 120 random networks of 4 to 10 variables with loops among what matters for the target."""
    rng = np.random.default_rng(9000 + number)
    count = 4 + number % 7
    states = [(2,), (2, 3), (2, 3, 4)][number // 7 % 3]
    kinds = [("interval",), ("interval", "vertices"), ("precise", "interval", "interval")][number // 21 % 3]
    while True:
        graph = loopy(rng, count, 2 + int(rng.integers(2)))
        net = network(rng, graph, states, kinds, [0.05, 0.1, 0.2, 0.3][number % 4])
        leaves = [v for v in range(count) if all(v not in above for above in graph)]
        observed = rng.permutation(leaves)[: int(rng.integers(0, 3))].tolist()
        evidence = {v: int(rng.integers(len(net.variables[v].states))) for v in observed}
        matter = {v: relevant(net, v, evidence)[0] for v in range(count) if v not in evidence}
        target = max(matter, key=lambda v: len(matter[v].sizes))
        if not matter[target].is_singly_connected and len(matter[target].sizes) + len(evidence) >= max(4, count - 1):
            seen = {net.variables[v].name: net.variables[v].states[state] for v, state in evidence.items()}
            return net, net.variables[target].name, seen


def work(kind: str, row: int, value: float) -> dict[str, float]:
    """One case: seconds of the posteriors and of a step of a session after them, and the gap."""
    if kind == "networks":
        net, target, evidence = random_loops(int(value))
        start = time.perf_counter()
        bounds = qs.bounds(net, target, evidence, method="exact", seconds=row / 1000)
        return {"posteriors": time.perf_counter() - start, "step": 0.0, "gap": bounds.gap}
    if kind == "levels":
        bank, count = levels(int(value), (1, 3)[row]), (1, 3)[row]
    else:
        rungs, width = {"rungs": (value, 0.1), "width": (10, value), "answers": (8, 0.05)}[kind]
        bank = ladder(int(rungs), width, 63 if kind == "answers" else 1)
        count = int(value) if kind == "answers" else int(rungs)
    names = sorted(bank.questions, key=lambda name: name.split("_")[-1])[:count]  # round by round
    answers = {name: (number + number // 8) % 2 for number, name in enumerate(names)}
    qs.posterior(levels(3, 1), {"q0": 1})  # imports
    start = time.perf_counter()
    beliefs = qs.posterior(bank, answers)
    middle = time.perf_counter()
    if kind in ("levels", "answers"):
        qs.rank(bank, answers)
    return {"posteriors": middle - start, "step": time.perf_counter() - middle, "gap": max(one.gap for one in beliefs.values())}


def measured(source: str | None, kind: str, row: int, value: float, longest: float = LONGEST) -> dict[str, float] | None:
    """A case in a process of its own; None where it takes too long."""
    folders = [source] if source else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*folders, os.environ.get("PYTHONPATH", "")]), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--one", kind, str(row), str(value)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=longest + 5, check=True)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout)


def told(found: dict[str, float] | None, key: str = "posteriors") -> str:
    if found is None:
        return f"over {LONGEST:.0f}"
    gap = f" (gap {found['gap']:.1e})" if key == "posteriors" and found["gap"] else ""
    return f"{found[key]:.3f}{gap}" if found[key] < 1 else f"{found[key]:.1f}{gap}"


def tables(before: str | None) -> None:
    """The tables of what grows, and the figure."""
    versions = [("before", before), ("now", None)] if before else [("now", None)]
    drawn = []
    for kind, rows in CASES.items():
        for row, (name, values) in enumerate(rows):
            with_step = kind in ("levels", "answers")
            columns = [f"{version}: posteriors" for version, _ in versions] + [
                f"{version}: look-ahead" for version, _ in versions
            ] * with_step
            print(f"\n**{name}**, seconds\n\n| {kind} | {' | '.join(columns)} |\n| --- |{' --- |' * len(columns)}", flush=True)
            times: dict[str, list[tuple[float, float]]] = {version: [] for version, _ in versions}
            given_up: set[str] = set()
            for value in values:
                found = {}
                for version, source in versions:
                    found[version] = None if version in given_up else measured(source, kind, row, value)
                    if found[version] is None and kind != "answers":
                        given_up.add(version)
                    elif found[version] is not None:
                        times[version].append((value or 1, 1e3 * (found[version]["posteriors"] + found[version]["step"])))
                cells = [told(found[version]) for version, _ in versions] + [
                    told(found[version], "step") for version, _ in versions
                ] * with_step
                print(f"| {value:g} | {' | '.join(cells)} |", flush=True)
            drawn += [(f"{name}, {version}", *map(list, zip(*pairs, strict=True))) for version, pairs in times.items() if pairs]
    draw(drawn)


def draw(rows: list[tuple[str, list[float], list[float]]]) -> None:
    """The figure: posteriors (and look-ahead, where the table has it) against what grows, log-log, a panel for each table."""
    names = list(dict.fromkeys(name.rsplit(", ", 1)[0] for name, _, _ in rows))
    figure = Figure(figsize=(3.0 * len(names), 3.6), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True)
    for axes, panel in zip(panels, names, strict=True):
        axes.set(xscale="log", yscale="log", xlabel=panel.split(", ", 1)[0], ylim=(1, 1e3 * LONGEST * 2))
        axes.set_title(panel.split(", ", 1)[1], fontsize=9)
        axes.axhline(1e3 * LONGEST, color=GREY, linestyle=":", linewidth=1)
        for name, values, times in rows:
            if name.rsplit(", ", 1)[0] == panel:
                version = name.rsplit(", ", 1)[1]
                axes.plot(values, times, color=COLOURS[version == "before"], marker="o", markersize=3, label=version)
        ticks = sorted({value for name, values, _ in rows if name.startswith(panel) for value in values})
        axes.set_xticks(ticks[:: max(1, len(ticks) // 5)], [f"{tick:g}" for tick in ticks[:: max(1, len(ticks) // 5)]])
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e5e5e5")
    panels[0].set_ylabel("ms")
    panels[0].legend(frameon=False)
    figure.savefig(FIGURE, metadata={"Date": None, "Creator": None})


def clock(before: str | None) -> None:
    """Whether `seconds` is kept on networks that would take much longer."""
    print("\n**The clock**: `qs.bounds(..., method='exact', seconds=...)` on the networks that take longest\n")
    print(f"| network | seconds | {'before | ' if before else ''}now |\n| --- | --- |{' --- |' if before else ''} --- |", flush=True)
    for number in HARD:
        for seconds in (0.5, 2.0):
            cells = []
            for source in ([before] if before else []) + [None]:
                found = measured(source, "networks", int(1000 * seconds), number, 120)
                cells.append("over 120" if found is None else f"{found['posteriors']:.2f} (gap {found['gap']:.2f})")
            print(f"| {number} | {seconds:g} | {' | '.join(cells)} |", flush=True)


def networks(before: str | None) -> None:
    """How many of 120 random networks with loops are exact within ten seconds, and how near the others come."""
    for version, source in ([("before", before)] if before else []) + [("now", None)]:
        gaps, times = [], []
        for number in range(120):
            found = measured(source, "networks", 10_000, number, 60)
            gaps.append(1.0 if found is None else found["gap"])
            times.append(60.0 if found is None else found["posteriors"])
        left = sorted(gap for gap in gaps if gap)
        middle = f"{np.median(left):.1e}, at most {left[-1]:.1e}" if left else "-"
        print(f"{version}: {gaps.count(0.0)} of 120 exact in 10 s; gap of the others {middle}; all took {sum(times):.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", help="the src folder of another version")
    parser.add_argument("--networks", action="store_true", help="120 random networks with loops, too")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        kind, row, value = arguments.one
        print(json.dumps(work(kind, int(row), float(value))))
        return
    print(f"## Limits\n\n{describe()}; each case in a process of its own, one thread, one run; ended after {LONGEST:.0f} s")
    tables(arguments.before)
    clock(arguments.before)
    if arguments.networks:
        networks(arguments.before)


if __name__ == "__main__":
    main()
