"""A result told to those whom it is about: the taker, and who is at home. The page, the printed letter and the PDF say the same.

For each skill there is one sentence and how far it has come, then how certain that is; numbers come last. A level is named only where there
were enough answers, and praise is given only for what is certain.
"""

from collections.abc import Sequence
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

NO, YES = {"no", "nein", "non"}, {"yes", "ja", "oui"}  # names of a lowest and of a highest level that mean: not yet, can do it
TIME = {str(TIME_UP), str(CLOSED)}


@dataclass(frozen=True)
class Part:
    """What is told of a skill. `place` of `steps` were reached, and perhaps up to `may`; None where there are too few answers.

    `numbers`: the probability of each level, in words; empty where there are too few answers.
    """

    skill: str
    title: str
    sentence: str
    certainty: str
    place: int | None
    may: int | None
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
        return Part(skill, title, few, more, None, None, steps, False, (), link)
    numbers = tuple((level, percent(low, high)) for level, low, high in zip(finding.levels, finding.lows, finding.highs, strict=True))
    open_levels = [finding.levels.index(level) for level in possible(finding)]
    if len(open_levels) > 1:
        names = [finding.levels[place] for place in open_levels]
        undecided = say("This is not decided yet.")
        between = say("It could be {levels}: more questions would help.", levels=either([say("“{name}”", name=name) for name in names]))
        return Part(skill, title, undecided, between, open_levels[0], open_levels[-1], steps, False, numbers, link)
    certainty = say("We are quite certain of this.") if finding.sure else say("Not certain yet: more questions would help.")
    return Part(skill, title, _reached(finding), certainty, finding.place, finding.place, steps, finding.sure, numbers, link)


def _reached(finding: Finding) -> str:
    if finding.at_top and finding.level.casefold() in YES:
        return say("Can do it.") if finding.sure else say("Can probably do it.")
    if finding.place == 0 and finding.level.casefold() in NO:
        return say("Not yet: this is still to be learnt.") if finding.sure else say("Probably not yet.")
    told = {"level": finding.level, "place": finding.place + 1, "all": len(finding.levels)}
    return (
        say("Level reached: {level} ({place} of {all}).", **told) if finding.sure else say("Probably {level} ({place} of {all}).", **told)
    )


def either(names: Sequence[str]) -> str:
    """Some names, of which one is meant."""
    if len(names) == 2:
        return say("{one} or {other}", one=names[0], other=names[1])
    return say("{one}, {others}", one=names[0], others=either(names[1:]))


def possible(finding: Finding) -> tuple[str, ...]:
    """The levels of which none rules out the others: one that is the most probable, or several if they are equally probable or, in a
    credal bank, if it depends on the network.
    """
    low, high = np.array(finding.lows), np.array(finding.highs)
    bounds = Bounds(finding.levels, low, high, low, high, "stored")
    return undominated(bounds)


def _praise(parts: tuple[Part, ...]) -> str:
    if not all(part.at_top for part in parts):
        return ""
    if all(part.sure for part in parts):
        return say("Everything that this test looks at is reached. Well done!")
    return say("Everything that this test looks at seems to be reached; a longer test would make it certain.")
