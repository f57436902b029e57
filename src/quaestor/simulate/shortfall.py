"""What a test lacks: for which skills it finds the right level too rarely, and how many more questions would do, found by simulation.

A test is too short for a skill when the share of students whose level it finds is below `GOAL` by more than chance (`report.trial` tells).
The two levels that are mixed up most are to be separated: of the bank's questions the one whose answers differ most between these two
levels (total variation distance of the centres of its rows, mean over the levels of other skills) is added again and again, as copies,
and the test may be so many questions longer. The number is the smallest with which simulated students reach the goal, found by doubling and
then halving; the other questions and rules stay as they are, so what the test makes of the longer length is counted too.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.model.question import Question
from quaestor.model.table import centre
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import read_rules
from quaestor.simulate.trial import try_out

GOAL = 0.8  # the share of students whose level a test should find, for each skill
STUDENTS = 400  # who take each longer test
MOST = 64  # copies that are tried
NOTHING = 1e-9  # two rows closer than this are the same
GoOn = Callable[[], bool]


def shortfall(
    bank: Bank,
    rules: Rules,
    skill: str,
    table: Sequence[Sequence[float]],
    seed: int,
    go_on: GoOn = lambda: True,
    students: int = STUDENTS,
) -> dict[str, Any]:
    """What a test lacks for a skill for which it is too short; `table`: students by true level and level found, as a trial has them.

    Plain data: `levels`: the two that are mixed up most; `question`: the id of the one that separates them best (None: no question does);
    `more`: how many more of its kind are needed (None: not even `MOST` are enough, or it took too long to find, by `go_on`: `ended`).
    """
    low, high = _mixed_up(table)
    question = separator(bank, skill, low, high)
    more, ended = None, False
    if question is not None:
        more, ended = _needed(lambda count: accuracy(bank, rules, skill, question, count, seed, students) >= GOAL, go_on)
    return {"skill": skill, "levels": [low, high], "question": question, "more": more, "ended": ended}


def _mixed_up(table: Sequence[Sequence[float]]) -> tuple[int, int]:
    """The two levels, the lower first, between which most students are found at the other."""
    counts = np.array(table)
    wrong = np.triu(counts + counts.T, 1)
    low, high = np.unravel_index(wrong.argmax(), wrong.shape)
    return int(low), int(high)


def separator(bank: Bank, skill: str, low: int, high: int) -> str | None:
    """The question whose answers differ most between two levels of a skill; None where no answer tells them apart."""
    asked = [one for one in bank.questions.values() if skill in one.skills and not one.pilot]
    apart = [_distance(one, skill, low, high) for one in asked]
    return asked[int(np.argmax(apart))].id if apart and max(apart) > NOTHING else None


def _distance(question: Question, skill: str, low: int, high: int) -> float:
    axis = question.skills.index(skill)
    rows = np.moveaxis(centre(question.table.lower, question.table.upper), axis, 0)
    return float(np.abs(rows[low] - rows[high]).sum(axis=-1).mean() / 2)


def _needed(is_enough: Callable[[int], bool], go_on: GoOn) -> tuple[int | None, bool]:
    """The smallest number that is enough (None: none up to `MOST`), by doubling and halving, and whether it took too long to find."""
    less, more = 0, 1
    while not is_enough(more):
        if more >= MOST or not go_on():
            return None, more < MOST
        less, more = more, 2 * more
    while more - less > 1:
        if not go_on():
            return None, True
        middle = (less + more) // 2
        less, more = (less, middle) if is_enough(middle) else (middle, more)
    return more, False


def accuracy(bank: Bank, rules: Rules, skill: str, question: str, more: int, seed: int, students: int) -> float:
    """The share of students whose level of a skill is found with so many copies of a question, in a test so much longer."""
    levels = try_out(with_copies(bank, question, more), [longer(rules, more)], students, seed)["sets"][0]["levels"]
    table = np.array(levels[list(bank.skills).index(skill)])
    return float(table.trace() / table.sum())


def with_copies(bank: Bank, question: str, more: int) -> Bank:
    """A bank in which a question stands so many times more, under free names and without its group, which might hold copies back."""
    entry = {name: value for name, value in bank.document["questions"][question].items() if name not in ("group", "media", "alt")}
    names = (name for number in range(1, 10**9) if (name := f"{question}+{number}") not in bank.questions)
    copies = {name: entry for name, _ in zip(names, range(more), strict=False)}
    return Bank({**bank.document, "questions": {**bank.document["questions"], **copies}})


def longer(rules: Rules, more: int) -> Rules:
    """Rules by which a test may be so many questions longer."""
    return read_rules(_longer(rules.document, more))


def _longer(rules: Any, more: int) -> Any:
    if isinstance(rules, Mapping):
        return {name: value + more if name == "max_questions" else _longer(value, more) for name, value in rules.items()}
    return [_longer(one, more) for one in rules] if isinstance(rules, list | tuple) else rules
