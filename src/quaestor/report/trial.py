"""The results of a trial (`simulate.trial`) in plain words for teachers, with the numbers behind them.

- Shares have 95 % intervals (Wilson); shares of fewer than `shares.FEW` students are not reported.
- Two levels are *mixed up* when more than `MIXED` of the students at one are found at the other, and *alike* when every question has the
  same table for both.
- A question counts as always used when at least `ALWAYS` of the students are asked it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from quaestor.bankfile.sentences import has_or_not
from quaestor.i18n import Said, say
from quaestor.report.shares import NORMAL, Share, wilson
from quaestor.selection.step import NO_QUESTION
from quaestor.simulate.shortfall import GOAL, MOST

MIXED, ALWAYS = 0.3, 0.95
EARLIER = 0.9  # what was sure in trials that do not say it
ENDS = {
    "max_questions": say("the number of questions was reached"),
    "min_questions": say("enough questions were asked"),
    "probability_above": say("every skill was sure enough"),
    "entropy_below": say("little was left to find out"),
    "mode_below": say("little was left to find out"),
    "gini_below": say("little was left to find out"),
    "dominant": say("every skill was decided"),
    "sprt": say("every skill was decided"),
    "loss_below": say("every skill was decided"),
    "same_decision": say("more questions would hardly have changed the result"),
    "gain_below": say("no question would have told us enough"),
    "right_answers": say("enough answers were right"),
    "minutes": say("the time was over"),
    NO_QUESTION: say("no question was left"),
}


@dataclass(frozen=True)
class Level:
    """One true level of a skill: the share of its students who are found there, in words too; `found`: the shares of all levels."""

    name: str
    share: Share
    words: Said
    found: tuple[float, ...]


@dataclass(frozen=True)
class Skill:
    """One skill: the share of students whose level is found, the same by true level, and how sure the results are.

    `sure`: the share of sure results; `sure_right`: the share of those that are right; `mean`: the mean probability of the level found;
    `one_left`: the share of results with a single undominated level.
    """

    title: str
    share: Share
    levels: tuple[Level, ...]
    names: tuple[str, ...]
    sure: Share
    sure_right: Share
    mean: float
    one_left: Share


@dataclass(frozen=True)
class RulesSummary:
    """The results of one set of rules; `above`: the probability from which a result is sure."""

    mean: float
    most: int  # the 90 % quantile of the length
    lengths: Sequence[int]
    length: Said
    right: tuple[float, float]
    above: float
    skills: tuple[Skill, ...]
    mixed: tuple[Said, ...]
    alike: tuple[Said, ...]
    never: tuple[str, ...]
    always: tuple[str, ...]
    asked: tuple[tuple[str, float], ...]
    ends: tuple[tuple[Said, float], ...]


def told_of(found: Mapping[str, Any]) -> list[RulesSummary]:
    """The results of a trial for each set of rules."""
    return [_summary(found, one) for one in found["sets"]]


def too_short(found: Mapping[str, Any], number: int) -> list[int]:
    """The places of the skills for which a test by a set of rules is too short: by more than chance the right level is found too rarely."""
    return [place for place, share in enumerate(_found_shares(found, number)) if share.high < GOAL]


def _found_shares(found: Mapping[str, Any], number: int) -> list[Share]:
    """For each skill the share of students who are found at their level."""
    tables = found["sets"][number]["levels"]
    return [wilson(sum(row[level] for level, row in enumerate(table)), sum(map(sum, table))) for table in tables]


def verdict(found: Mapping[str, Any], number: int) -> list[Said]:
    """What a trial comes to for a set of rules: long enough, or what it lacks for which skills; empty for trials of earlier versions."""
    if "shortfalls" not in found:
        return []
    goal = hundredth(GOAL)
    words = [_lacking(found, one, goal) for one in found["shortfalls"][number]]
    for skill, share in zip(found["skills"], _found_shares(found, number), strict=True):
        if share.value < GOAL <= share.high:
            values = {"skill": skill["title"], "count": hundredth(share.value), "goal": goal}
            words.append(
                say(
                    "Perhaps too short for {skill}: {count} of 100 students {count:is|are} found at the right level, and {goal} should be. "
                    "A trial with more students tells.",
                    **values,
                )
            )
    return words or [say("Long enough: for every skill the right level is found for at least {goal} of 100 students.", goal=goal)]


def _lacking(found: Mapping[str, Any], lack: Mapping[str, Any], goal: int) -> Said:
    skill = next(one for one in found["skills"] if one["id"] == lack["skill"])
    low, high = (skill["levels"][level] for level in lack["levels"])
    values = {"skill": skill["title"], "low": low, "high": high, "goal": goal}
    if lack["question"] is None:
        return say("No question on {skill} tells “{low}” from “{high}”: it needs questions of another kind.", **values)
    if lack["more"] is not None:
        return say(
            "Too short for {skill}: about {count} more {count:question|questions} that {count:separates|separate} “{low}” from “{high}”, "
            "as {question} does, would find the right level for {goal} of 100 students.",
            **values,
            count=lack["more"],
            question=lack["question"],
        )
    if lack["ended"]:
        return say(
            "Too short for {skill}: it mixes up “{low}” and “{high}”. To find out how many more questions it takes took too long.", **values
        )
    return say(
        "Too short for {skill}: not even {most} more questions that separate “{low}” from “{high}” as well as {question} would be enough.",
        **values,
        most=MOST,
        question=lack["question"],
    )


def _end(rule: str) -> Said:
    """What ended a test, in words; of criteria that were all needed (`a and b`) all."""
    named = [ENDS.get(name) or say("{name}", name=name) for name in rule.split(" and ")]
    return reduce(lambda first, second: say("{first} and {second}", first=first, second=second), named)


def _summary(found: Mapping[str, Any], one: Mapping[str, Any]) -> RulesSummary:
    students, lengths = found["students"], one["lengths"]
    mean = sum(number * count for number, count in enumerate(lengths)) / students
    low, high, most = (_quantile(lengths, share) for share in (0.25, 0.75, 0.9))
    skills = tuple(
        _skill(skill, table, sure, students) for skill, table, sure in zip(found["skills"], one["levels"], one["sure"], strict=True)
    )
    used = dict(zip(found["questions"], (count / students for count in one["asked"]), strict=True))
    counted = {name: share for name, share in used.items() if name not in found["pilots"]}
    ends: dict[Said, float] = {}
    for rule, count in one["stops"].items():
        words = _end(rule)
        ends[words] = ends.get(words, 0) + count / students
    return RulesSummary(
        mean,
        most,
        lengths,
        _length(mean, low, high, most),
        (one["right"][0], one["right"][1]),
        one.get("above", EARLIER),
        skills,
        tuple(words for skill in skills for words in _mixed(skill)),
        tuple(_alike(found["skills"], *pair) for pair in found["same"]),
        tuple(name for name, share in counted.items() if share == 0),
        tuple(name for name, share in counted.items() if share >= ALWAYS),
        tuple(sorted(used.items(), key=lambda item: -item[1])),
        tuple(ends.items()),
    )


def _skill(skill: Mapping[str, Any], table: Sequence[Sequence[float]], sure: Sequence[float], students: int) -> Skill:
    names = tuple(skill["levels"])
    levels = []
    for index, (name, row) in enumerate(zip(names, table, strict=True)):
        count = sum(row)
        share = wilson(row[index], count)
        shares = tuple(value / count if count else 0.0 for value in row)
        levels.append(Level(name, share, _level(names, index, share), shares))
    hits = sum(table[index][index] for index in range(len(names)))
    total, is_sure, sure_right, one_left, _ = sure
    return Skill(
        skill["title"],
        wilson(hits, students),
        tuple(levels),
        names,
        wilson(is_sure, students),
        wilson(sure_right, is_sure),
        total / students,
        wilson(one_left, students),
    )


def hundredth(share: float) -> int:
    """A share as a number out of 100."""
    return round(100 * share)


def _level(names: Sequence[str], index: int, share: Share) -> Said:
    if not share.is_known:
        return say(
            "Only {count} of the students {count:is|are} at “{level}”: too few to tell", count=round(share.count), level=names[index]
        )
    count = hundredth(share.value)
    if has_or_not(names):
        if index:
            return say("Of 100 students who have the skill, {count} {count:is|are} found to have it", count=count)
        return say("Of 100 students who do not have the skill, {count} {count:is|are} found not to", count=count)
    return say("Of 100 students who are at “{level}”, {count} {count:is|are} found there", level=names[index], count=count)


def _mixed(skill: Skill) -> list[Said]:
    found = []
    for index, level in enumerate(skill.levels):
        for other, share in enumerate(level.found):
            if other != index and share > MIXED and level.share.is_known:
                values = {"skill": skill.title, "level": level.name, "count": hundredth(share), "other": skill.names[other]}
                found.append(say("{skill}: of 100 students who are at “{level}”, {count} {count:is|are} found at “{other}”", **values))
    return found


def _alike(skills: Sequence[Mapping[str, Any]], skill: str, a: int, b: int) -> Said:
    one = next(one for one in skills if one["id"] == skill)
    values = {"skill": one["title"], "level": one["levels"][a], "other": one["levels"][b]}
    return say("{skill}: every question is answered alike at “{level}” and at “{other}”, so no question can tell them apart", **values)


def _quantile(counts: Sequence[int], share: float) -> int:
    """The smallest number of questions that at least this share of the students do not exceed."""
    total, so_far = sum(counts), 0
    for number, count in enumerate(counts):
        so_far += count
        if so_far >= share * total:
            return number
    return len(counts) - 1


def _length(mean: float, low: int, high: int, most: int) -> Said:
    if low == most:
        return say("Nearly all students are asked {count} {count:question|questions}", count=low)
    values = {"mean": round(mean, 1), "low": low, "high": high, "most": most}
    if low == high:
        return say("On average {mean:.1f} {mean:question|questions}: most students are asked {low}, nine in ten at most {most}", **values)
    return say(
        "On average {mean:.1f} {mean:question|questions}: half of the students are asked {low} to {high}, nine in ten at most {most}",
        **values,
    )


def compared(found: Mapping[str, Any], sides: Sequence[RulesSummary]) -> list[Said]:
    """Sentences on how the second rules differ from the first on the same students; empty for a single set."""
    if found["difference"] is None:
        return []
    return [_longer(*found["difference"]["length"]), _better(*found["difference"]["right"])]


def _longer(mean: float, error: float) -> Said:
    values = {"count": round(abs(mean), 1), "error": NORMAL * error}
    if abs(mean) <= NORMAL * error or abs(mean) < 0.05:
        return say("Both ask about as many questions")
    if mean > 0:
        return say("The second asks {count:.1f} {count:question|questions} more (give or take {error:.1f})", **values)
    return say("The second asks {count:.1f} {count:question|questions} fewer (give or take {error:.1f})", **values)


def _better(mean: float, error: float) -> Said:
    values = {"count": 100 * abs(mean), "error": 100 * NORMAL * error}
    if abs(mean) <= NORMAL * error or abs(mean) < 0.0005:
        return say("No difference in how many levels are found could be seen on these students")
    if mean > 0:
        return say("Of 100 levels the second finds {count:.1f} more (give or take {error:.1f})", **values)
    return say("Of 100 levels the second finds {count:.1f} fewer (give or take {error:.1f})", **values)
