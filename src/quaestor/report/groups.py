"""Groups of a class by the skill to practise next; a skill's parents are practised first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quaestor.bankfile.bank import Bank
from quaestor.report.advice import practise
from quaestor.store.outcomes.outcome import Finding


@dataclass(frozen=True)
class Member:
    """A person to be put into a group."""

    name: str
    skills: Mapping[str, Finding]


@dataclass(frozen=True)
class Placed:
    """A person in a group; `sure`: whether the finding that put them there is sure."""

    name: str
    sure: bool


@dataclass(frozen=True)
class Group:
    """People with the same next step.

    `kind`: `practise` (the skill of the group), `done` (all skills at their highest level), `early` (too few answers).
    """

    kind: str
    skill: str
    title: str
    members: tuple[Placed, ...]


@dataclass(frozen=True)
class _Standing:
    skill: str
    at_top: bool
    sure: bool


def next_skills(bank: Bank, skills: Mapping[str, Finding]) -> list[str]:
    """The ids of the skills to practise, in order; skills with too few answers are not among them."""
    return [standing.skill for standing in practise(bank, _standings(bank, skills))]


def _standings(bank: Bank, skills: Mapping[str, Finding]) -> list[_Standing]:
    return [_Standing(name, found.at_top, found.sure) for name, found in skills.items() if found.enough]


def groups(bank: Bank, members: Iterable[Member]) -> list[Group]:
    """The groups of a class that are not empty: by skill in the order of the bank, then `done`, then `early`."""
    by_skill: dict[str, list[Placed]] = {skill: [] for skill in bank.skills}
    done: list[Placed] = []
    early: list[Placed] = []
    for member in sorted(members, key=lambda member: member.name.casefold()):
        wanted = practise(bank, _standings(bank, member.skills))
        if wanted:
            by_skill[wanted[0].skill].append(Placed(member.name, wanted[0].sure))
        elif not all(found.enough for found in member.skills.values()):
            early.append(Placed(member.name, True))
        else:
            done.append(Placed(member.name, all(found.sure for found in member.skills.values())))
    made = [Group("practise", skill, bank.skills[skill].title or skill, tuple(placed)) for skill, placed in by_skill.items()]
    made += [Group("done", "", "", tuple(done)), Group("early", "", "", tuple(early))]
    return [group for group in made if group.members]


def spread(bank: Bank, members: Iterable[Member]) -> dict[str, list[tuple[str, int, int]]]:
    """For each skill its levels with the number of people found there and how many of them are sure; too few answers are left out."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    everybody = list(members)
    for skill in bank.skills.values():
        here = [member.skills[skill.id] for member in everybody if member.skills[skill.id].enough]
        levels = [[one for one in here if one.level == level] for level in skill.levels]
        found[skill.id] = [(level, len(at), sum(one.sure for one in at)) for level, at in zip(skill.levels, levels, strict=True)]
    return found
