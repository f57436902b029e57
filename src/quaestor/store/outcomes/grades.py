"""Grades by a scheme of cut-offs: from so many per cent of the points, or of the levels, on a grade is given, a number or a word."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say
from quaestor.numerals import read_number
from quaestor.store.outcomes.outcome import Outcome
from quaestor.store.texts import line

POINTS, LEVELS = "points", "levels"
MOST, LONGEST = 30, 40  # grades of a scheme, letters of a grade
_NEAR = 1e-9  # of a share: 2 of 3 points are 66.66... %, however they were added


@dataclass(frozen=True)
class Scheme:
    """A scheme: `cuts` are pairs of a least percentage and a grade, the highest first; the last begins at 0.

    `by`: `points` of the questions that count, or `levels`: the mean over the skills, the lowest level 0 %, the highest 100 %.
    """

    by: str
    cuts: tuple[tuple[float, str], ...]

    @property
    def document(self) -> dict[str, Any]:
        """The scheme as it is stored."""
        return {"by": self.by, "cuts": [list(cut) for cut in self.cuts]}

    @property
    def text(self) -> str:
        """The scheme as a teacher writes it, a line a grade."""
        return "\n".join(f"{least:.12g} {grade}" for least, grade in self.cuts)

    def grade(self, outcome: Outcome) -> str:
        """The grade of an outcome; empty while it runs, where there are too few answers for one, and by levels where one is not decided."""
        share = self.share(outcome)
        return "" if share is None else next(grade for least, grade in self.cuts if share >= least - _NEAR)

    def share(self, outcome: Outcome) -> float | None:
        """The percentage that a grade is given for; None where there is none to tell."""
        if outcome.state != "over" or outcome.waits:
            return None
        if self.by == POINTS:
            return 100 * outcome.points / outcome.counted if outcome.counted else None
        found = list(outcome.skills.values())
        if not all(finding.enough and len(finding.possible) == 1 for finding in found):
            return None
        return sum(100 * finding.place / (len(finding.levels) - 1) for finding in found) / len(found)


def score_of(outcome: Outcome, scheme: Scheme | None) -> float | None:
    """The score of an attempt in per cent, as other systems take it: by the scheme of its grades; without one the expected level, from the
    lowest (0) to the highest (100) of all skills. None where there is none to tell: it runs, waits, or has too few answers on a skill.
    """
    if scheme is not None:
        share = scheme.share(outcome)
    else:
        is_known = outcome.state == "over" and not outcome.waits and all(finding.enough for finding in outcome.skills.values())
        most = sum(len(finding.levels) - 1 for finding in outcome.skills.values())
        share = 100 * outcome.expected / most if is_known and most else None
    return None if share is None else round(min(max(share, 0.0), 100.0), 2)


def stored(document: Mapping[str, Any] | None) -> Scheme | None:
    """The scheme of a test, if it has one."""
    return None if document is None else Scheme(document["by"], tuple((float(least), str(grade)) for least, grade in document["cuts"]))


def read(text: str, by: str) -> Scheme | None:
    """A scheme as a teacher writes it: a line a grade, first the least percentage, then the grade; None for an empty text."""
    if by not in (POINTS, LEVELS):
        raise QuaestorError.at("by", got(say("one of {words}", words=f"{POINTS}, {LEVELS}"), by))
    cuts: list[tuple[float, str]] = []
    for number, written in enumerate(text.splitlines(), 1):
        if not written.strip():
            continue
        place = say("line {number}", number=number)
        least, _, grade = line(written).partition(" ")
        found = read_number(least.rstrip("%:"))
        if found is None or not 0 <= found <= 100:
            rule = say("a percentage from 0 to 100, then the grade, such as: 50 passed")
            raise QuaestorError.at(place, got(rule, written.strip()[:80]))
        grade = grade.lstrip("%:= ").strip()
        if not grade or len(grade) > LONGEST:
            raise QuaestorError.at(place, got(say("a grade of 1 to {most} letters", most=LONGEST), grade[:80] or say("none")))
        if cuts and float(found) >= cuts[-1][0]:
            raise QuaestorError.at(place, got(say("less than in the line above, {least:g}", least=cuts[-1][0]), f"{float(found):g}"))
        cuts.append((float(found), grade))
    if not cuts:
        return None
    if len(cuts) > MOST:
        raise QuaestorError(got(say("at most {most} grades", most=MOST), str(len(cuts))))
    if cuts[-1][0] != 0:
        raise QuaestorError(got(say("the last grade begins at 0, so that everybody gets one"), f"{cuts[-1][0]:g}"))
    return Scheme(by, tuple(cuts))
