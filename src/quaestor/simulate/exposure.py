"""Sympson-Hetter: chances that keep every question from being asked of more than a given share of the takers, found by simulation.

A question of chance k that is tried t times on average in a test is asked in a share r = k t of the tests: each try is a draw of its own,
and the first that succeeds is the last. So t = r / k is known from the rates of a simulation, and the next chance is min(1, most / t). The
same students take the test in every round, so that rounds differ by the chances alone.

Source: J. B. Sympson and R. D. Hetter, "Controlling item-exposure rates in computerized adaptive testing", 1985. There a question held
back is out for the rest of the test; a session may try it again at the next step, which is why tries are counted, not tests.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, expect_call, expect_number, format_value
from quaestor.selection.rules import Rules, rules_of
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.work import taken

ROUNDS, TOLERANCE = 30, 0.01
TOGETHER = 256  # students
Progress = Callable[[int, float], None]  # is told the number of a round and its largest rate


def exposure_table(
    bank: Bank,
    rules: Rules | None,
    most: float,
    students: int = 1000,
    rounds: int = ROUNDS,
    seed: int = 1,
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> dict[str, float]:
    """For each question that counts the chance with which it is asked once chosen, so that at most a share `most` of the takers see it.

    It fits `Rules(exposure=Exposure(chances=...))`; questions that need no limit have chance 1. Raises QuaestorError when no chances can
    do it, or when after so many `rounds` of simulation the largest rate is still above `most` by more than the tolerance.
    """
    rules = rules_of(rules)
    _check(bank, rules, most, students, rounds)
    expect_number("seed", seed, whole=True)
    expect_number("tolerance", tolerance)
    expect_call("progress", progress)
    scored = [question.id for question in bank.questions.values() if not question.pilot]
    chances = dict.fromkeys(scored, 1.0)
    worst, rate = "", 1.0
    for number in range(1, rounds + 1):
        found = rates(bank, _with(rules, chances), students, int(seed))
        length = sum(found[question] for question in scored)
        if length > most * len(scored):
            raise QuaestorError(
                f"tests of {length:.3g} questions on average show each of {len(scored)} questions to {length / len(scored):.3g} of the"
                f" takers on average, got most {most:g}; ask fewer questions or add some"
            )
        worst = max(scored, key=lambda question: found[question])
        rate = found[worst]
        if progress is not None:
            progress(number, rate)
        if rate <= most + tolerance:
            return chances
        for question in scored:
            if found[question] > 0:
                chances[question] = min(1.0, chances[question] * most / found[question])
    raise QuaestorError(
        f"{worst}: asked of at most {most:g} of the takers, got {rate:.3g} after {rounds} rounds; allow more of them, or more rounds"
    )


def rates(bank: Bank, rules: Rules, students: int = 1000, seed: int = 1) -> dict[str, float]:
    """The share of simulated students that each question is asked."""
    rules_of(rules).check(bank)
    cohort, counts = Cohort(bank, bank, students, seed), np.zeros(len(bank.questions))
    for start in range(0, students, TOGETHER):
        asked = taken(bank, rules, cohort.part(start, start + TOGETHER), Behaviour()).asked
        counts += np.bincount(asked[asked >= 0], minlength=len(counts))
    return dict(zip(bank.questions, (counts / students).tolist(), strict=True))


def _with(rules: Rules, chances: dict[str, float]) -> Rules:
    limited = {question: chance for question, chance in chances.items() if chance < 1}
    return replace(rules, exposure=replace(rules.exposure, chances=limited))


def _check(bank: Bank, rules: Rules, most: float, students: int, rounds: int) -> None:
    rules.check(bank)
    if isinstance(most, bool) or not isinstance(most, int | float) or not 0 < most <= 1:
        raise QuaestorError(f"most: a share above 0 and at most 1, got {format_value(most)}")
    for name, value in (("students", students), ("rounds", rounds)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise QuaestorError(f"{name}: a whole number of at least 1, got {format_value(value)}")
    if most < 1 and (rules.first or rules.mandatory):
        name = "first" if rules.first else "mandatory"
        raise QuaestorError(f"{name}: questions that everybody is asked cannot be held back, got {', '.join(getattr(rules, name))}")
