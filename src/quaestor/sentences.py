"""Tables said back to their author in plain words, so that a wrong number is seen before a class meets it."""

from collections.abc import Mapping, Sequence
from itertools import product

from quaestor.question import Question
from quaestor.skill import Skill
from quaestor.table import Table


def times(low: float, high: float, short: bool = False) -> str:
    """A probability as a frequency: `9 times in 10`, `7 to 9 times in 20`, `never`; `short` leaves out the word times.

    >>> times(0.9, 0.9), times(0.35, 0.45), times(0.93, 0.93, short=True)
    ('9 times in 10', '7 to 9 times in 20', '93 in 100')
    """
    if low == high and low in (0, 1):
        return "always" if low else "never"
    for out_of in (10, 4, 20, 100):
        counts = [p * out_of for p in (low, high)]
        if out_of == 100 or all(abs(count - round(count)) < 1e-6 for count in counts):
            break
    first, last = (_digits(count) for count in counts)
    shown = first if first == last else f"{first} to {last}"
    return f"{shown} in {out_of}" if short else f"{shown} time{'' if shown == '1' else 's'} in {out_of}"


def percent(low: float, high: float) -> str:
    """A probability in per cent: `30 %`, `25 to 35 %`."""
    first, last = (_digits(100 * p) for p in (low, high))
    return f"{first} %" if first == last else f"{first} to {last} %"


def _digits(count: float) -> str:
    return f"{round(count, 4):.3g}"  # rounded first: 0, not 1e-16


def question_sentence(question: Question, skills: Mapping[str, Skill]) -> str:
    """What a question's table says, in one sentence."""
    scope = [skills[skill] for skill in question.skills]
    rows = _rows(question.table)
    conditions = [_condition(scope, combination) for combination in product(*(skill.levels for skill in scope))]
    if question.classes != ("wrong", "right"):
        said = [f"with {condition}: {_listed(question.classes, row)}" for condition, row in zip(conditions, rows, strict=True)]
        return f"{_capital('; '.join(said))}."
    rights = [row[-1] for row in rows]
    if len(scope) == 1 and scope[0].levels == ("no", "yes"):
        return f"Someone who has the skill gets it right {times(*rights[1])}, someone who has not, {times(*rights[0], short=True)}."
    if len(set(rights)) == 2 and rights.count(rights[-1]) == 1:
        return f"Right {times(*rights[-1])} with {conditions[-1]}, {times(*rights[0], short=True)} otherwise."
    first, *others = [
        f"{times(*right, short=bool(position))} with {condition}"
        for position, (condition, right) in enumerate(zip(conditions, rights, strict=True))
    ]
    return f"Right {'; '.join([first, *others])}."


def skill_sentence(skill: Skill, skills: Mapping[str, Skill]) -> str:
    """What a skill's table says, in one sentence."""
    rows = _rows(skill.table)
    if not skill.parents:
        return f"Before any answer: {_listed(skill.levels, rows[0])}."
    parents = [skills[parent] for parent in skill.parents]
    conditions = [_condition(parents, combination) for combination in product(*(parent.levels for parent in parents))]
    said = [f"with {condition}: {_listed(skill.levels, row)}" for condition, row in zip(conditions, rows, strict=True)]
    return f"{_capital('; '.join(said))}."


def _rows(table: Table) -> list[list[tuple[float, float]]]:
    states = table.shape[-1]
    pairs = zip(table.lower.reshape(-1, states).tolist(), table.upper.reshape(-1, states).tolist(), strict=True)
    return [list(zip(low, high, strict=True)) for low, high in pairs]


def _condition(scope: Sequence[Skill], combination: Sequence[str]) -> str:
    return " and ".join(f"{skill.id} {level}" for skill, level in zip(scope, combination, strict=True))


def _listed(states: Sequence[str], row: Sequence[tuple[float, float]]) -> str:
    return ", ".join(f"{state} {percent(*ends)}" for state, ends in zip(states, row, strict=True))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
