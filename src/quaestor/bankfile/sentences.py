"""Tables in plain sentences, so that an author sees a wrong number before a class does."""

from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import product

from quaestor.i18n import Said, say, together
from quaestor.model.question import Question
from quaestor.model.skill import Skill
from quaestor.model.table import Table

YES_NO = {("no", "yes"), ("nein", "ja"), ("non", "oui")}  # levels of a skill that one has or does not have, in the languages of the pages
_CLASSES = {
    "wrong": say("wrong"),
    "third": say("third"),
    "half": say("half"),
    "two thirds": say("two thirds"),
    "right": say("right"),
    "skipped": say("skipped"),
}


def class_word(name: str) -> str:
    """The name of an answer class; the usual ones can be translated."""
    return _CLASSES.get(name, name)


def has_or_not(levels: Sequence[str]) -> bool:
    """Whether the levels are no and yes."""
    return tuple(level.casefold() for level in levels) in YES_NO


def times(low: float, high: float, short: bool = False) -> Said:
    """A probability as a frequency: `9 times in 10`, `7 to 9 times in 20`, `never`; `short` leaves out the word times.

    >>> times(0.9, 0.9), times(0.35, 0.45), times(0.93, 0.93, short=True), times(0.0672, 0.0672)
    ('9 times in 10', '7 to 9 times in 20', '93 in 100', 'about 7 times in 100')
    """
    if low == high and low in (0, 1):
        return say("always") if low else say("never")
    for out_of in (10, 4, 20, 100):
        counts = [p * out_of for p in (low, high)]
        if out_of == 100 or all(abs(count - round(count)) < 1e-6 for count in counts):
            break
    first, last = (_digits(count) for count in counts)
    shown = first if first == last else say("{first} to {last}", first=first, last=last)
    once = shown == "1" and not short
    pattern = say("{count} in {all}", count=shown, all=out_of) if short else say("{count} times in {all}", count=shown, all=out_of)
    phrase = say("1 time in {all}", all=out_of) if once else pattern
    return phrase if all(_is_short(count) for count in counts) else say("about {times}", times=phrase)


def percent(low: float, high: float) -> Said:
    """A probability in per cent: `30 %`, `25 to 35 %`, rounded where it has more than one decimal."""
    first, last = (_digits(100 * p) for p in (low, high))
    return say("{share} %", share=first if first == last else say("{first} to {last}", first=first, last=last))


def _is_short(count: float) -> bool:
    """Whether a count has one decimal at most."""
    return abs(10 * count - round(10 * count)) < 1e-6


def _digits(count: float) -> Said:
    """A count out of 100 or fewer: unrounded if it is short, else a whole number, with a decimal only near 0 and near 100."""
    number = round(count, 4)  # so that 1e-16 is shown as 0
    if number < 1 and not _is_short(count):
        return say("{number:.1g}", number=number)
    return say("{number:.3g}", number=number) if _is_short(count) or number > 99 else say("{number:.0f}", number=number)


def question_sentence(question: Question, skills: Mapping[str, Skill]) -> Said:
    """What a question's table says, in one sentence."""
    scope = [skills[skill] for skill in question.skills]
    rows = _rows(question.table)
    if question.classes != ("wrong", "right"):
        return _all_rows(scope, [_listed([class_word(name) for name in question.classes], row) for row in rows])
    rights = [row[-1] for row in rows]
    if len(scope) == 1 and has_or_not(scope[0].levels):
        often, rarely = times(*rights[1]), times(*rights[0], short=True)
        return say("Someone who has the skill gets it right {often}, someone who has not, {rarely}.", often=often, rarely=rarely)
    conditions = _conditions(scope, named=len(scope) > 1)
    if len(set(rights)) == 2 and rights.count(rights[-1]) == 1:
        often, rarely = times(*rights[-1]), times(*rights[0], short=True)
        return say("Right {often} {levels}, {rarely} otherwise.", often=often, levels=conditions[-1], rarely=rarely)
    each = [
        say("{often} {levels}", often=times(*right, short=bool(position)), levels=condition)
        for position, (condition, right) in enumerate(zip(conditions, rights, strict=True))
    ]
    return say("Right {each}.", each=together(each, "; "))


def skill_sentence(skill: Skill, skills: Mapping[str, Skill]) -> Said:
    """What a skill's table says, in one sentence."""
    rows = _rows(skill.table)
    if not skill.parents:
        return say("Before any answer: {shares}.", shares=_levels(skill, rows[0]))
    return _all_rows([skills[parent] for parent in skill.parents], [_levels(skill, row) for row in rows])


def _all_rows(scope: Sequence[Skill], shares: Sequence[str]) -> Said:
    pairs = zip(_conditions(scope, begins=True), shares, strict=True)
    rows = [say("{levels}: {shares}", levels=condition, shares=share) for condition, share in pairs]
    return together((together(rows, "; "), "."), "")


def _rows(table: Table) -> list[list[tuple[float, float]]]:
    states = table.shape[-1]
    pairs = zip(table.lower.reshape(-1, states).tolist(), table.upper.reshape(-1, states).tolist(), strict=True)
    return [list(zip(low, high, strict=True)) for low, high in pairs]


def _conditions(scope: Sequence[Skill], named: bool = True, begins: bool = False) -> list[str]:
    """Each combination of levels in words; `named`: with the skills' titles (of a single skill only the first time); `begins`: the first
    one begins a sentence.
    """
    found: list[str] = []
    for combination in product(*(skill.levels for skill in scope)):
        levels = [
            _at(skill, level, named and (len(scope) > 1 or not found), begins and not found and not position)
            for position, (skill, level) in enumerate(zip(scope, combination, strict=True))
        ]
        found.append(reduce(lambda first, second: say("{first} and {second}", first=first, second=second), levels))
    return found


def _at(skill: Skill, level: str, named: bool, begins: bool) -> Said:
    """One level of a skill: `with “Adding”`, `without “Adding”`, `at level “high” in “Adding”`."""
    title = say("“{title}”", title=skill.title or skill.id)
    if has_or_not(skill.levels):
        if level == skill.levels[1]:
            return say("With {skill}", skill=title) if begins else say("with {skill}", skill=title)
        return say("Without {skill}", skill=title) if begins else say("without {skill}", skill=title)
    if not named:
        return say("at level “{level}”", level=level)
    if begins:
        return say("At level “{level}” in {skill}", level=level, skill=title)
    return say("at level “{level}” in {skill}", level=level, skill=title)


def _levels(skill: Skill, row: Sequence[tuple[float, float]]) -> Said:
    return say("{share} have the skill", share=percent(*row[1])) if has_or_not(skill.levels) else _listed(skill.levels, row)


def _listed(states: Sequence[str], row: Sequence[tuple[float, float]]) -> Said:
    return together([together((state, percent(*ends))) for state, ends in zip(states, row, strict=True)], ", ")
