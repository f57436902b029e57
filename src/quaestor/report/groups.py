"""Groups by what to practise next: everybody is put where they would best begin, foundations first."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from quaestor.bankfile.bank import Bank
from quaestor.report.advice import practise
from quaestor.store.outcome import Finding

ENOUGH = 3  # answers before anything is said of somebody


@dataclass(frozen=True)
class Member:
    """Somebody to be put into a group."""

    name: str
    answers: int
    skills: Mapping[str, Finding]

    @property
    def is_known(self) -> bool:
        """Whether there are enough answers to say anything."""
        return self.answers >= ENOUGH


@dataclass(frozen=True)
class Place:
    """Somebody in a group; `sure`: whether it is sure that they are below the highest level of its skill."""

    name: str
    sure: bool


@dataclass(frozen=True)
class Group:
    """Those who would best practise the same skill next.

    `kind`: practise, done (all skills at their highest level), early (too few answers).
    """

    kind: str
    skill: str
    title: str
    members: tuple[Place, ...]


@dataclass(frozen=True)
class _Standing:
    skill: str
    at_top: bool
    sure: bool


def next_skills(bank: Bank, skills: Mapping[str, Finding]) -> list[str]:
    """What somebody would practise, in order."""
    return [standing.skill for standing in practise(bank, _standings(bank, skills))]


def _standings(bank: Bank, skills: Mapping[str, Finding]) -> list[_Standing]:
    return [_Standing(name, found.level == bank.skills[name].levels[-1], found.sure) for name, found in skills.items()]


def groups(bank: Bank, members: Iterable[Member]) -> list[Group]:
    """The groups of a class: by skill in the order of the bank, then those who are through, then those of whom too little is known."""
    by_skill: dict[str, list[Place]] = {skill: [] for skill in bank.skills}
    done: list[Place] = []
    early: list[Place] = []
    for member in sorted(members, key=lambda member: member.name.casefold()):
        if not member.is_known:
            early.append(Place(member.name, True))
            continue
        wanted = practise(bank, _standings(bank, member.skills))
        if wanted:
            by_skill[wanted[0].skill].append(Place(member.name, wanted[0].sure))
        else:
            done.append(Place(member.name, all(found.sure for found in member.skills.values())))
    made = [Group("practise", skill, bank.skills[skill].title or skill, tuple(places)) for skill, places in by_skill.items()]
    made += [Group("done", "", "", tuple(done)), Group("early", "", "", tuple(early))]
    return [group for group in made if group.members]


def spread(bank: Bank, members: Iterable[Member]) -> dict[str, list[tuple[str, int, int]]]:
    """For each skill its levels, with how many were found there, and how many of them are sure; without those of too few answers."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    known = [member for member in members if member.is_known]
    for skill in bank.skills.values():
        here = [member.skills[skill.id] for member in known]
        levels = [[one for one in here if one.level == level] for level in skill.levels]
        found[skill.id] = [(level, len(at), sum(one.sure for one in at)) for level, at in zip(skill.levels, levels, strict=True)]
    return found
