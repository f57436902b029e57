"""Results of a test without a server, read into the test on a server: each becomes an attempt of its pupil, as if it had been taken there.

The same result handed in again changes nothing. What cannot be taken is told: a result of another version of the bank or of other rules,
one that was altered, and one of somebody who is not on the class list.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, got
from quaestor.i18n import Said, say
from quaestor.model.entries import loose
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import read_rules
from quaestor.session.log import Answer
from quaestor.store.attempts.scoring import keep
from quaestor.store.classes.class_lists import pupils_of
from quaestor.store.clock import now
from quaestor.store.codes import OWN_CODE, free_codes
from quaestor.store.corrections import corrections_of
from quaestor.store.models import Attempt, BankVersion, Event, Published, Pupil
from quaestor.store.outcomes import rescoring
from quaestor.store.publishing import open_bank
from quaestor.store.secrets import hashed, token
from quaestor.store.texts import line
from quaestor.web.offline.file import identity
from quaestor.web.offline.handed_in import CODE, HandedIn, HandedInError, taken

MOST = 500  # results at once
UNFINISHED = say("It was handed in before its end.")
Result = tuple[str, str, dict[str, object]]  # where it was found, its line of text, what a saved file tells besides


@dataclass
class Collected:
    """What became of results: names of those that were taken and of those that were there already; why others were refused; what is odd."""

    taken: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def conditions_of(test: Published) -> tuple[Bank, Rules]:
    """The bank and the rules of a test; an exam is refused, since the key of a test without a server can be found."""
    if test.mode == "exam":
        raise QuaestorError(say("an exam is not given without a server: the key would be in the file"))
    return open_bank(test.bank), read_rules(test.rules)


def checked(work: Work, test: Published, results: Iterable[Result]) -> tuple[list[tuple[str, HandedIn]], Collected]:
    """The results of this test, each with its line of text, worked out again; and what is wrong with the others. Only reads."""
    bank, rules = conditions_of(test)
    earlier = [
        identity(open_bank(work.get_one(BankVersion, one.bank_id)), read_rules(one.rules))
        for one in (corrections_of(work, test) if test.revision else [])
    ]
    found: dict[str, HandedIn] = {}
    report = Collected()
    for number, (place, code, saved) in enumerate(results):
        plain = " ".join(code.split())
        if plain in found:
            continue
        try:
            if number >= MOST:
                raise HandedInError.at(place, say("at most {most} {most:result is|results are} read at once", most=MOST))
            told = CODE.fullmatch(plain)
            if told is not None and told[1] in earlier:
                words = say("the test was corrected after this file was written, so its answers cannot be counted")
                raise HandedInError.at(place, words)
            found[plain] = taken(bank, rules, place, code, dict(saved))
        except HandedInError as error:
            report.refused.append(error.args[0])
    return list(found.items()), report


def collect(work: Work, test: Published, found: Sequence[tuple[str, HandedIn]], report: Collected) -> Collected:
    """Store results that were `checked`, and complete the report on them."""
    pupils = pupils_of(work, test)
    for code, one in found:
        key = hashed(f"handed in {test.id} {code}")[:32]
        if work.scalar(select(Attempt.id).where(Attempt.key == key)) is not None:
            report.known.append(one.name)
            continue
        try:
            pupil = _pupil(work, test, one, pupils)
            with work.begin_nested():
                _store(work, test, one, pupil, key)
        except HandedInError as error:
            report.refused.append(error.args[0])
            continue
        except IntegrityError:  # handed in by another process at this moment
            report.known.append(one.name)
            continue
        report.taken.append(one.name if pupil is None else pupil.name)
        report.notes += [say("{place}: {words}", place=one.name, words=words) for words in one.notes]
    if report.taken:
        rescoring.ask(work, test, pause=0)
    return report


def _pupil(work: Work, test: Published, one: HandedIn, pupils: Sequence[Pupil]) -> Pupil | None:
    """The pupil who handed it in, by the name or the own code; None where the test has no class list."""
    if not pupils and not test.by_list:
        return None
    name = loose(one.name)
    same = [pupil for pupil in pupils if loose(pupil.code) == name] or [pupil for pupil in pupils if loose(pupil.name) == name]
    if len(same) != 1:
        shown = format_value(one.name)
        rule = (
            say("several pupils of the class list have this name; the own code as name would tell them apart")
            if same
            else say("the name of a pupil of the class list, or the own code, is expected; add the name to the list and read it again")
        )
        raise HandedInError.at(one.place, got(rule, shown))
    before = select(Attempt.id).where(Attempt.test_id == test.id, Attempt.pupil_id == same[0].id, Attempt.set_aside.is_(None))
    if test.retakes == "none" and work.scalars(before.limit(1)).first() is not None:
        raise HandedInError.at(one.place, say("{name} has taken this test already, and it is taken once", name=same[0].name))
    return same[0]


def _store(work: Work, test: Published, one: HandedIn, pupil: Pupil | None, key: str) -> None:
    """Write a result as an attempt that is over; the time between beginning and end is divided evenly, as nobody measured each answer."""
    ended = min(one.ended, now())
    began = min(one.began or ended, ended)
    stop = one.session.stopped
    made = Attempt(
        key=key,
        code=free_codes(work, 1, OWN_CODE)[0],
        pupil_id=pupil.id if pupil is not None else None,
        name=pupil.name if pupil is not None else line(one.name, 200) or token()[:8],
        seed=one.session.seed,
        started=began,
        ended=ended,
        reason=str(stop.reason if stop is not None else UNFINISHED),
        test=test,
    )
    work.add(made)
    work.flush()
    answers = [given for given in one.session.log if isinstance(given, Answer)]
    each = (ended - began).total_seconds() / max(1, len(answers))
    for step, given in enumerate(answers, 1):
        about = {"question": given.question, "answer": given.answer, "entry": given.entry}
        work.add(Event(attempt_id=made.id, step=step, seconds=each, at=began + timedelta(seconds=step * each), **about))
    work.flush()
    keep(work, made, one.session, ended)


def summary(report: Collected) -> Said:
    """What became of all results, in one sentence."""
    said = say("{count} {count:result was|results were} taken", count=len(report.taken))
    if report.known:
        said = say("{words}, {count} {count:was|were} there already", words=said, count=len(report.known))
    return say("{words}, {count} {count:was|were} refused", words=said, count=len(report.refused)) if report.refused else said
