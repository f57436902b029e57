"""A result told to those whom it is about: the taker, and who is at home. The page, the printed letter and the PDF say the same.

For each skill there is one sentence and how far it has come, then how certain that is; numbers come last. A level is named only where there
were enough answers, and praise is given only for what is certain.
"""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import undominated
from quaestor.i18n import say
from quaestor.model.beliefs import Bounds
from quaestor.report.advice import practise
from quaestor.selection.rules import MISSING, WRONG, Rules
from quaestor.session.explain.wording import percent
from quaestor.store.outcome import Finding, Outcome
from quaestor.store.sittings import CLOSED, TIME_UP

CAN = {("no", "yes"), ("nein", "ja"), ("non", "oui")}  # levels that mean: not yet, can do it
TIME = {str(TIME_UP), str(CLOSED)}


@dataclass(frozen=True)
class Part:
    """What is told of a skill. `place` of `steps` were reached, None where there are too few answers; `others`: levels it could also be.

    `numbers`: the probability of each level, in words; empty where there are too few answers.
    """

    skill: str
    title: str
    sentence: str
    certainty: str
    place: int | None
    steps: int
    sure: bool
    numbers: tuple[tuple[str, str], ...]
    link: str

    @property
    def at_top(self) -> bool:
        """Whether the highest level was reached."""
        return self.place == self.steps


@dataclass(frozen=True)
class Letter:
    """A whole result. `points`: how many were right, in words; `notes`: what else one should know; `next`: what to practise, in order.

    `praise`: words where all is reached and certain, else empty.
    """

    name: str
    date: datetime
    points: str
    grade: str
    notes: tuple[str, ...]
    parts: tuple[Part, ...]
    next: tuple[Part, ...]
    praise: str


def letter(bank: Bank, rules: Rules, outcome: Outcome) -> Letter:
    """The result of an attempt in words."""
    parts = tuple(_part(bank, skill, finding) for skill, finding in outcome.skills.items())
    known = [part for part in parts if part.place is not None]
    return Letter(
        outcome.name,
        outcome.ended or outcome.started,
        _points(outcome),
        outcome.grade,
        tuple(_notes(rules, outcome)),
        parts,
        tuple(practise(bank, known)),
        _praise(parts),
    )


def _points(outcome: Outcome) -> str:
    if not outcome.answered:
        return say("No question was answered.")
    whole = abs(outcome.points - outcome.right) < 1e-9
    if whole:
        return say("{right} of {count} {count:question|questions} answered right.", right=outcome.right, count=outcome.counted)
    return say("{points:.3g} points in {count} {count:question|questions}.", points=outcome.points, count=outcome.counted)


def _notes(rules: Rules, outcome: Outcome) -> list[str]:
    found: list[str] = []
    if outcome.waits:
        found.append(say("The result is being worked out; please come back in a minute."))
    if outcome.reason in TIME:
        found.append(say("The time was up before the test had asked all it wanted to."))
    if outcome.skipped:
        found.append(_skips(rules, outcome.skipped))
    if outcome.questions > outcome.counted:
        count = outcome.questions - outcome.counted
        found.append(say("{count} {count:question does|questions do} not count for the result.", count=count))
    return found


def _skips(rules: Rules, count: int) -> str:
    if rules.skips == MISSING:
        return say("{count} {count:question was|questions were} skipped; that says nothing about what was learnt.", count=count)
    if rules.skips == WRONG:
        return say("{count} {count:question was|questions were} skipped; a skipped question counts as wrong.", count=count)
    return say("{count} {count:question was|questions were} skipped; a skipped question counts as “{kind}”.", count=count, kind=rules.skips)


def _part(bank: Bank, skill: str, finding: Finding) -> Part:
    title, link, steps = bank.skills[skill].title or skill, bank.skills[skill].link, len(finding.levels) - 1
    if not finding.enough:
        few = say("Too few answers to say how far this has come.")
        more = say("{count} {count:answer|answers}; at least {least} are needed.", count=finding.answers, least=finding.least)
        return Part(skill, title, few, more, None, steps, False, (), link)
    numbers = tuple((level, percent(low, high)) for level, low, high in zip(finding.levels, finding.lows, finding.highs, strict=True))
    return Part(skill, title, _reached(finding), _certainty(finding), finding.place, steps, finding.sure, numbers, link)


def _reached(finding: Finding) -> str:
    if tuple(level.casefold() for level in finding.levels) in CAN:
        return say("Can do it.") if finding.at_top else say("Not yet: this is still to be learnt.")
    return say("Level reached: {level} ({place} of {all}).", level=finding.level, place=finding.place + 1, all=len(finding.levels))


def _certainty(finding: Finding) -> str:
    if finding.sure:
        return say("We are quite certain of this.")
    others = possible(finding)
    if not others:
        return say("Not certain yet: more questions would help.")
    if tuple(level.casefold() for level in finding.levels) in CAN:
        return say("Not certain yet, it could be the other way round: more questions would help.")
    return say("Not certain yet, it could also be “{others}”: more questions would help.", others="”, “".join(others))


def possible(finding: Finding) -> tuple[str, ...]:
    """The other levels that the most probable one does not rule out: in a credal bank those of which some network thinks more."""
    low, high = np.array(finding.lows), np.array(finding.highs)
    bounds = Bounds(finding.levels, low, high, low, high, "stored")
    return tuple(level for level in undominated(bounds) if level != finding.level)


def _praise(parts: tuple[Part, ...]) -> str:
    if not all(part.at_top for part in parts):
        return ""
    if all(part.sure for part in parts):
        return say("Everything that this test looks at is reached. Well done!")
    return say("Everything that this test looks at seems to be reached; a longer test would make it certain.")
