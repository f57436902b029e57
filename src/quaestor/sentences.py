"""Tables said back to their author in plain words, so that a wrong number is seen before a class meets it."""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import product

from quaestor.question import Question
from quaestor.saying import Said, say, together
from quaestor.skill import Skill
from quaestor.table import Table

_CLASSES = {"wrong": say("wrong"), "right": say("right"), "skipped": say("skipped")}


def class_word(name: str) -> str:
    """An answer class: the usual ones are words that can be translated, others are the author's own."""
    return _CLASSES.get(name, name)


def times(low: float, high: float, short: bool = False) -> Said:
    """A probability as a frequency: `9 times in 10`, `7 to 9 times in 20`, `never`; `short` leaves out the word times.

    >>> times(0.9, 0.9), times(0.35, 0.45), times(0.93, 0.93, short=True)
    ('9 times in 10', '7 to 9 times in 20', '93 in 100')
    """
    if low == high and low in (0, 1):
        return say("always") if low else say("never")
    for out_of in (10, 4, 20, 100):
        counts = [p * out_of for p in (low, high)]
        if out_of == 100 or all(abs(count - round(count)) < 1e-6 for count in counts):
            break
    first, last = (_digits(count) for count in counts)
    shown = first if first == last else say("{first} to {last}", first=first, last=last)
    if short:
        return say("{count} in {all}", count=shown, all=out_of)
    return say("1 time in {all}", all=out_of) if shown == "1" else say("{count} times in {all}", count=shown, all=out_of)


def percent(low: float, high: float) -> Said:
    """A probability in per cent: `30 %`, `25 to 35 %`."""
    first, last = (_digits(100 * p) for p in (low, high))
    return say("{share} %", share=first if first == last else say("{first} to {last}", first=first, last=last))


def _digits(count: float) -> str:
    return f"{round(count, 4):.3g}"  # rounded first: 0, not 1e-16


def question_sentence(question: Question, skills: Mapping[str, Skill]) -> Said:
    """What a question's table says, in one sentence."""
    scope = [skills[skill] for skill in question.skills]
    rows = _rows(question.table)
    conditions = [_condition(scope, combination) for combination in product(*(skill.levels for skill in scope))]
    if question.classes != ("wrong", "right"):
        return _all_rows(conditions, [_listed([class_word(name) for name in question.classes], row) for row in rows])
    rights = [row[-1] for row in rows]
    if len(scope) == 1 and scope[0].levels == ("no", "yes"):
        often, rarely = times(*rights[1]), times(*rights[0], short=True)
        return say("Someone who has the skill gets it right {often}, someone who has not, {rarely}.", often=often, rarely=rarely)
    if len(set(rights)) == 2 and rights.count(rights[-1]) == 1:
        often, rarely = times(*rights[-1]), times(*rights[0], short=True)
        return say("Right {often} with {levels}, {rarely} otherwise.", often=often, levels=conditions[-1], rarely=rarely)
    each = [
        say("{often} with {levels}", often=times(*right, short=bool(position)), levels=condition)
        for position, (condition, right) in enumerate(zip(conditions, rights, strict=True))
    ]
    return say("Right {each}.", each=together(each, "; "))


def skill_sentence(skill: Skill, skills: Mapping[str, Skill]) -> Said:
    """What a skill's table says, in one sentence."""
    rows = _rows(skill.table)
    if not skill.parents:
        return say("Before any answer: {shares}.", shares=_listed(skill.levels, rows[0]))
    parents = [skills[parent] for parent in skill.parents]
    conditions = [_condition(parents, combination) for combination in product(*(parent.levels for parent in parents))]
    return _all_rows(conditions, [_listed(skill.levels, row) for row in rows])


def _all_rows(conditions: Sequence[str], shares: Sequence[str]) -> Said:
    """What each row of a table says."""
    first = say("With {levels}: {shares}", levels=conditions[0], shares=shares[0])
    pairs = zip(conditions[1:], shares[1:], strict=True)
    others = [say("with {levels}: {shares}", levels=condition, shares=share) for condition, share in pairs]
    return together((together((first, *others), "; "), "."), "")


def _rows(table: Table) -> list[list[tuple[float, float]]]:
    states = table.shape[-1]
    pairs = zip(table.lower.reshape(-1, states).tolist(), table.upper.reshape(-1, states).tolist(), strict=True)
    return [list(zip(low, high, strict=True)) for low, high in pairs]


def _condition(scope: Sequence[Skill], combination: Sequence[str]) -> str:
    levels = [f"{skill.id} {level}" for skill, level in zip(scope, combination, strict=True)]
    return reduce(lambda first, second: say("{first} and {second}", first=first, second=second), levels)


def _listed(states: Sequence[str], row: Sequence[tuple[float, float]]) -> Said:
    return together([together((state, percent(*ends))) for state, ends in zip(states, row, strict=True)], ", ")
