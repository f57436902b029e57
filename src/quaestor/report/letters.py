"""A result told to those whom it is about: the taker, and who is at home. The page, the printed letter and the PDF say the same.

For each skill there is one sentence and how far it has come, then how certain that is; numbers come last. A level is named only where there
were enough answers, and praise is given only for what is certain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from quaestor.bankfile.bank import Bank
from quaestor.i18n import listed, say
from quaestor.report.advice import practise
from quaestor.selection.rules import MISSING, WRONG, Rules
from quaestor.session.explain.wording import percent
from quaestor.store.attempts.state import CLOSED, TIME_UP
from quaestor.store.outcomes.outcome import Finding, Outcome

NO, YES = {"no", "nein", "non"}, {"yes", "ja", "oui"}  # names of a lowest and of a highest level that mean: not yet, can do it
ENDED = {
    str(TIME_UP): say("The time was up before the test had asked all it wanted to."),
    str(CLOSED): say("The test was closed before it had asked all it wanted to."),
}


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

    @property
    def is_decided(self) -> bool:
        """Whether one level is the most probable one, and there are enough answers to name it."""
        return self.place is not None and self.place == self.may


@dataclass(frozen=True)
class Letter:
    """A whole result. `points`: how many were right, in words; `notes`: what else one should know; `next`: what to practise, in order.

    `ask`: of what too little is known to say so. `praise`: words where all is reached and certain, else empty.
    """

    name: str
    date: datetime
    points: str
    grade: str
    notes: tuple[str, ...]
    parts: tuple[Part, ...]
    next: tuple[Part, ...]
    ask: tuple[Part, ...]
    praise: str


def letter(bank: Bank, rules: Rules, outcome: Outcome, graded: bool = False) -> Letter:
    """The result of an attempt in words; `graded`: whether its test has grades."""
    is_known = not outcome.waits or outcome.questions > 0  # of an attempt that waits, what was told before
    parts = tuple(told_of(bank, skill, finding) for skill, finding in outcome.skills.items()) if is_known else ()
    known = [part for part in parts if part.is_decided]
    return Letter(
        outcome.name,
        outcome.ended or outcome.started,
        _points(rules, outcome),
        outcome.grade,
        tuple(_notes(bank, rules, outcome, graded)),
        parts,
        tuple(practise(bank, known)),
        tuple(part for part in parts if not part.is_decided),
        _praise(parts),
    )


def _points(rules: Rules, outcome: Outcome) -> str:
    if outcome.waits and not outcome.questions:
        return say("The result is being worked out; please come back in a minute.")
    if outcome.counted == (0 if rules.skips == MISSING else outcome.skipped):
        return say("No question that counts was answered.")
    if abs(outcome.points - outcome.right) < 1e-9:
        return say("{right} of {count} {count:question|questions} answered right.", right=outcome.right, count=outcome.counted)
    return say("{points:.3g} of {count} {count:point|points}.", points=outcome.points, count=outcome.counted)


def _notes(bank: Bank, rules: Rules, outcome: Outcome, graded: bool) -> list[str]:
    found: list[str] = []
    if outcome.set_aside:
        found.append(say("This try was set aside: it does not count."))
    if outcome.starts:
        found.append(say("Of skills that earlier tests measured too, this rests on what these showed as well, not on these answers alone."))
    if outcome.anew:
        found.append(say("The result was worked out anew after a question was corrected."))
    if outcome.reason in ENDED:
        found.append(ENDED[outcome.reason])
    if outcome.skipped:
        found.append(_skips(rules, outcome.skipped))
    apart = outcome.questions - outcome.counted - (outcome.skipped if rules.skips == MISSING else 0)
    if apart:
        found.append(say("{count} {count:question does|questions do} not count: only tried out, or withdrawn.", count=apart))
    if rough := [bank.skills[skill].title or skill for skill, one in outcome.skills.items() if one.cut and one.enough]:
        found.append(
            say(
                "{skills}: this result is true but rough. A finer one would take longer to work out than there was time.",
                skills=listed(rough),
            )
        )
    if graded and outcome.state == "over" and not outcome.grade:
        found.append(say("There is no grade: too little is known for one."))
    return found


def _skips(rules: Rules, count: int) -> str:
    if rules.skips == MISSING:
        return say("{count} {count:question was|questions were} skipped; a skipped question does not count.", count=count)
    if rules.skips == WRONG:
        return say("{count} {count:question was|questions were} skipped; a skipped question counts as wrong.", count=count)
    return say("{count} {count:question was|questions were} skipped; a skipped question counts as “{kind}”.", count=count, kind=rules.skips)


def told_of(bank: Bank, skill: str, finding: Finding) -> Part:
    """What is told of one skill."""
    title, link, steps = bank.skills[skill].title or skill, bank.skills[skill].link, len(finding.levels) - 1
    if not finding.enough:
        few = say("Too few answers to say how far this has come.")
        more = say("{count} {count:answer|answers}; needed: at least {least}.", count=finding.answers, least=finding.least)
        return Part(skill, title, few, more, None, None, steps, False, (), link)
    numbers = tuple((level, percent(low, high)) for level, low, high in zip(finding.levels, finding.lows, finding.highs, strict=True))
    places = [finding.levels.index(level) for level in finding.possible]
    if len(places) > 1:
        return Part(skill, title, say("This is not decided yet."), _between(finding), places[0], places[-1], steps, False, numbers, link)
    certainty = say("We are quite certain of this.") if finding.sure else say("Not certain yet: more questions would help.")
    return Part(skill, title, _reached(finding), certainty, finding.place, finding.place, steps, finding.sure, numbers, link)


def _between(finding: Finding) -> str:
    if len(finding.levels) == 2 and finding.levels[0].casefold() in NO:
        return say("Perhaps it is mastered, perhaps not yet: more questions would help.")
    return say("It could be {levels}: more questions would help.", levels=either([say("“{name}”", name=name) for name in finding.possible]))


def _reached(finding: Finding) -> str:
    told = {"level": finding.level, "place": finding.place + 1, "all": len(finding.levels)}
    if finding.lower < 0.5:
        return say("Not decided yet; most speaks for level {place} of {all}: {level}.", **told)
    if finding.at_top and finding.level.casefold() in YES:
        return say("Can do it.") if finding.sure else say("Can probably do it.")
    if finding.place == 0 and finding.level.casefold() in NO:
        return say("Not yet: this is still to be learnt.") if finding.sure else say("Probably not yet.")
    if finding.sure:
        return say("Level {place} of {all} reached: {level}.", **told)
    return say("Probably level {place} of {all}: {level}.", **told)


def either(names: Sequence[str]) -> str:
    """Some names, of which one is meant."""
    if len(names) == 2:
        return say("{one} or {other}", one=names[0], other=names[1])
    return say("{one}, {others}", one=names[0], others=either(names[1:]))


def _praise(parts: tuple[Part, ...]) -> str:
    if not parts or not all(part.at_top for part in parts):
        return ""
    if all(part.sure for part in parts):
        return say("Everything that this test looks at is reached. Well done!")
    return say("Everything that this test looks at seems to be reached; more questions could confirm it.")
