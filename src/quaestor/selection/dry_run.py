"""How long a step of a test takes where its bank makes it longest: measured before anybody has to wait for it.

What makes steps slow is structure: answers to questions on several skills tie skills into loops, and with intervals the bounds then come
from a search. So a made-up taker answers these questions, 1, 2, 4, ... and in the end all of them (of a bank without any: the questions on
one skill), and each time the next step is measured, in seconds of computing. A search may take very long: unless the bank is an easy one,
the steps are taken in a process of their own, which ends itself when the time is up.
"""

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from threading import Thread
from time import process_time, sleep
from typing import NamedTuple

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.inference.evidence import Evidence
from quaestor.inference.joint import LARGEST
from quaestor.inference.layout import Layout, layout_of
from quaestor.model.table import Array
from quaestor.selection.plan import plan_of
from quaestor.selection.rules import Rules
from quaestor.selection.step import step

SLOW = 0.5  # seconds of a step that a taker feels
LONGEST = 10.0  # seconds after which a dry run is cut off
_ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Step(NamedTuple):
    """The seconds of a step after so many questions were `answered`; `is_cut`: it was not done by then."""

    answered: int
    seconds: float
    is_cut: bool = False


class DryRun(NamedTuple):
    """The seconds of the first step and of the slowest one that was seen, after so many questions were `answered`.

    `quick`: the most answered questions up to which every step took at most `SLOW` seconds, -1 where the first one took longer. `is_cut`:
    the time was up before all was tried, so that a step may take longer than `worst`.
    """

    start: float
    worst: float
    answered: int
    quick: int
    is_cut: bool


def worst_step(bank: Bank, rules: Rules | None = None, longest: float = LONGEST) -> DryRun:
    """Measure steps of a test; of the rules count those of the score, and how many questions are asked at most."""
    layout, rules = layout_of(bank), rules or Rules()
    most = plan_of(rules, layout).most
    order = _order(layout)[: None if most is None else max(0, most - 1)]
    rules = Rules(rules.score, rules.then, rules.bound, rules.target, rules.per, robust=rules.robust)
    return _summed(list(_steps(layout, rules, order)) if is_easy(bank) else _steps_apart(bank, rules, order, longest))


def first_steps(bank: Bank, stop: type[BaseException]) -> DryRun:
    """The same here and now, until `stop` is raised: only the first steps of a bank of which the others take too long."""
    layout, rules = layout_of(bank), Rules()
    order, steps, begun = _order(layout), [], process_time()
    try:
        for found in _steps(layout, rules, order):
            steps.append(found)
            begun = process_time()
    except stop:
        steps.append(Step(_counts(len(order))[len(steps)], process_time() - begun, True))
    return _summed(steps)


def _summed(steps: list[Step]) -> DryRun:
    worst = max(steps, key=lambda one: one.seconds)
    slow = next((number for number, one in enumerate(steps) if one.is_cut or one.seconds > SLOW), len(steps))
    return DryRun(steps[0].seconds, worst.seconds, worst.answered, steps[slow - 1].answered if slow else -1, steps[-1].is_cut)


def is_easy(bank: Bank) -> bool:
    """Whether steps are quick whatever was answered: the numbers are exact, and the joint table of the skills is small."""
    layout = layout_of(bank)
    return layout.is_precise and layout.model.joint_size <= LARGEST


def tied(bank: Bank) -> list[str]:
    """The questions on several skills that lie on a loop: what is left when what hangs on by one skill is taken off again and again."""
    layout = layout_of(bank)
    links = {batch.scope: set(batch.scope) for batch in layout.batches if len(batch.scope) > 1}
    families = [{*parents, child} for child, parents in enumerate(layout.model.parents) if parents]
    is_done = False
    while not is_done:
        is_done = True
        count = Counter(skill for link in (*links.values(), *families) for skill in link)
        for link in (*links.values(), *families):
            loose = {skill for skill in link if count[skill] < 2 or len(link) < 2}
            link -= loose
            is_done = is_done and not loose
    return [question.id for number, question in enumerate(layout.questions) if links.get(layout.batch_of(number)[0].scope)]


def _steps(layout: Layout, rules: Rules, order: list[int]) -> Iterator[Step]:
    answers = _answers(layout)
    ids = [layout.questions[number].id for number in order]
    _step(layout.bank, rules, {})  # what a bank is made ready for once
    for count in _counts(len(ids)):
        yield Step(count, _step(layout.bank, rules, {name: answers[name] for name in ids[:count]}))


def _step(bank: Bank, rules: Rules, answers: dict[str, int]) -> float:
    """The seconds of a step: the next question, and what is known of every skill."""
    evidence = Evidence.of(bank, answers)
    begun = process_time()
    decision = step(rules, evidence, (0,))
    _ = decision.question, decision.bounds
    return process_time() - begun


def _order(layout: Layout) -> list[int]:
    """The questions on several skills, or all where there are none: one of each scope before a second one of any; one stays open."""
    scored = [number for number, question in enumerate(layout.questions) if not question.pilot]
    several = [number for number in scored if len(layout.questions[number].skills) > 1]
    before: Counter[frozenset[str]] = Counter()
    turns = []
    for number in several or scored:
        scope = frozenset(layout.questions[number].skills)
        turns.append((before[scope], number))
        before[scope] += 1
    return [number for _, number in sorted(turns)][: max(0, len(scored) - 1)]


def _counts(most: int) -> list[int]:
    """0, 1, 2, 4, ... and the most."""
    return sorted({0, most, *(2**power for power in range(most.bit_length()))})


def _answers(layout: Layout) -> dict[str, int]:
    """The answers of a made-up taker to all questions: levels and answers drawn from the centres of the tables."""
    random, bank = np.random.default_rng(0), layout.bank
    levels: dict[str, int] = {}

    def drawn(table: Array, skills: Iterable[str]) -> int:
        row = table[tuple(levels[skill] for skill in skills)]
        return int(random.choice(len(row), p=row / row.sum()))

    for name in layout.model.names:
        levels[name] = drawn(bank.skills[name].table.centre().lower, bank.skills[name].parents)
    return {question.id: drawn(question.table.centre().lower, question.skills) for question in layout.questions}


def _steps_apart(bank: Bank, rules: Rules, order: list[int], longest: float) -> list[Step]:
    """The steps that another process takes; the last one is cut where the time was up, or the process died (of memory)."""
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=pickle.dumps((bank, rules, order, longest)),
        capture_output=True,
        env={**os.environ, **_ONE_CORE},
        check=False,
    )
    if done.returncode > 0:
        raise QuaestorError(f"the dry run of the bank failed: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}")
    steps = [Step(*json.loads(line)) for line in done.stdout.splitlines()]
    counts = _counts(len(order))
    if len(steps) < len(counts) and not (steps and steps[-1].is_cut):
        steps.append(Step(counts[len(steps)], 0.0, True))
    return steps


def _main() -> None:
    bank, rules, order, longest = pickle.load(sys.stdin.buffer)
    counts, done = _counts(len(order)), 0
    begun = process_time()

    def cut() -> None:
        sleep(longest)
        _write(Step(counts[done], process_time() - begun, True))
        os._exit(0)

    Thread(target=cut, daemon=True).start()
    for found in _steps(layout_of(bank), rules, order):
        _write(found)
        done, begun = done + 1, process_time()
    os._exit(0)


def _write(found: Step) -> None:
    sys.stdout.write(f"{json.dumps(found)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _main()
