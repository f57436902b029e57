"""Results that came back from tests without a server: read, checked, and worked out again by the engine itself.

A result is one line of text (also in its QR code, and in the file that a taker saves): what was asked and answered, by whom, when. By its
check sum the results of other tests and slips in copying are noticed. What is reported is worked out here from the answers.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.errors import AnswerError, QuaestorError, format_value, got
from quaestor.formats.limits import read_bytes, read_text
from quaestor.i18n import say
from quaestor.model.question import Entry, Question
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import read_rules
from quaestor.session.session import Session
from quaestor.session.sufficiency import least_answers
from quaestor.store.attempts.scoring import scored
from quaestor.store.outcomes.outcome import Outcome
from quaestor.store.outcomes.results import findings_of
from quaestor.web.offline.file import identity, result_key

CODE = re.compile(r"QUAESTOR1 ([0-9a-f]{10}) ([0-9a-f]{12}) (\d{8}T\d{4}) (-|[\d=,-]+) (.+)")
_KEPT = re.compile(r'<script type="application/json" id="bank">(.*?)</script>', re.DOTALL)
MOST_NAME = 200


class HandedInError(QuaestorError):
    """A result that cannot be taken, and why; or a file that is none."""


@dataclass(frozen=True)
class HandedIn:
    """One result: where it was found, who took the test and when, and the session that the answers make. `notes`: what is odd about it."""

    place: str
    name: str
    ended: datetime
    began: datetime | None
    session: Session
    notes: tuple[str, ...] = ()


def read_test(path: Path) -> tuple[Bank, Rules]:
    """The bank and the rules of a test that was written as one file."""
    found = _KEPT.search(_text(path))
    if found is None:
        raise HandedInError.at(str(path), say("this is not a test that was written by 'quaestor export --html'"))
    kept = json.loads(found[1])
    return Bank(kept["bank"]), read_rules(kept["rules"])


def read_results(path: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The results in a file (`results_in`)."""
    return results_in(_text(path), str(path))


def results_in(text: str, path: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The results in a text: their places, their lines of text, and what a saved file tells besides. `path`: where it was found."""
    if text.lstrip().startswith("{"):
        try:
            saved = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise HandedInError.at(path, got(say("a saved result is JSON"), str(error))) from error
        if not isinstance(saved, dict) or not isinstance(saved.get("code"), str):
            raise HandedInError.at(path, say("this is not a saved result"))
        yield path, saved["code"], saved
        return
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not lines:
        raise HandedInError.at(path, say("there is no result in it"))
    yield from ((f"{path}:{number}", line, {}) for number, line in lines)


def _text(path: Path) -> str:
    try:
        return read_text(read_bytes(path))
    except QuaestorError as error:
        raise HandedInError.at(str(path), str(error)) from error


def taken(bank: Bank, rules: Rules, place: str, code: str, saved: dict[str, Any]) -> HandedIn:
    """A result, checked and worked out again; HandedInError says why it cannot be."""
    found = CODE.fullmatch(" ".join(code.split()))
    if found is None:
        rule = say("a result begins with QUAESTOR1, the test, a check sum, the time, the answers and a name")
        raise HandedInError.at(place, got(rule, format_value(code[:MOST_NAME])))
    test, check, when, answers, name = found.groups()
    if test != identity(bank, rules):
        raise HandedInError.at(place, got(say("the result of this test ({test}) is expected", test=identity(bank, rules)), test))
    if check_sum(bank, rules, f"{when} {answers} {name}") != check:
        raise HandedInError.at(place, say("the check sum does not fit: something was changed or lost in copying"))
    session, notes = _session(bank, rules, place, answers, saved.get("entries"))
    ended, exactly = _time(place, when), _saved_time(saved, "ended")
    if exactly is not None and exactly.replace(second=0, microsecond=0) == ended:
        ended = exactly
    return HandedIn(place, name[:MOST_NAME], ended, _saved_time(saved, "began"), session, notes)


def check_sum(bank: Bank, rules: Rules, told: str) -> str:
    """The check sum of a result."""
    return hashlib.sha256(f"{result_key(bank, rules)} {identity(bank, rules)} {told}".encode()).hexdigest()[:12]


def _session(bank: Bank, rules: Rules, place: str, answers: str, entries: object) -> tuple[Session, tuple[str, ...]]:
    session, listed = Session(bank, rules), list(bank.questions.values())
    given = entries if isinstance(entries, list) else []
    notes: dict[str, None] = {}
    told = answers.split(",") if answers != "-" else []
    if len(told) > len(listed):
        raise HandedInError.at(place, got(say("at most {most} {most:answer|answers}", most=len(listed)), str(len(told))))
    for number, pair in enumerate(told):
        asked, _, answer = pair.partition("=")
        if not asked.isdecimal() or len(asked) > 9 or int(asked) >= len(listed):
            raise HandedInError.at(place, got(say("a question of the test"), format_value(pair)))
        question = listed[int(asked)]
        if session.next is None or session.next.id != question.id:
            notes[say("its questions are not those that this version of the software asks")] = None
        try:
            if answer == "-":
                session = session.skip(question.id)
                continue
            if not answer.isdecimal() or len(answer) > 9 or int(answer) >= len(question.classes):
                raise HandedInError.at(place, got(say("an answer class of {question}", question=question.id), format_value(pair)))
            entry = given[number] if number < len(given) else None
            entered = None if entry is None else _entered(question, entry)
            if entered is not None and question.classify(entered) == question.classes[int(answer)]:
                session = session.enter(question.id, entered)
                continue
            session = session.answer(question.id, question.classes[int(answer)])
            if entry is not None:
                notes[say("{question}: what was entered counts otherwise here", question=question.id)] = None
        except HandedInError:
            raise
        except QuaestorError as error:
            raise HandedInError.at(place, str(error)) from error
    if session.next is not None:
        notes[say("it ends before the test does")] = None
    return session, tuple(notes)


def _entered(question: Question, entry: object) -> Entry | None:
    """What was entered, told by numbers of options or as it was typed; None where that is no entry to the question."""
    try:
        if isinstance(entry, list) and question.parts:
            pairs = zip(question.parts, map(str, entry), strict=True)
            made: Entry = [part.options[int(one)] if part.kind == "choice" else one for part, one in pairs]
        elif isinstance(entry, list):
            made = [question.options[int(str(one))] for one in entry]
        else:
            made = question.options[int(str(entry))] if question.options else str(entry)
        question.classify(made)
    except (AnswerError, ValueError, IndexError):
        return None
    return made


def _time(place: str, when: str) -> datetime:
    try:
        return datetime.strptime(when, "%Y%m%dT%H%M")
    except ValueError as error:
        raise HandedInError.at(place, got(say("the time of a result"), format_value(when))) from error


def _saved_time(saved: dict[str, Any], name: str) -> datetime | None:
    try:
        return datetime.fromisoformat(str(saved.get(name)).removesuffix("Z")).replace(tzinfo=None)
    except ValueError:
        return None


def outcome_of(number: int, one: HandedIn) -> Outcome:
    """A result as the sheets of results show it."""
    found, rules = scored(one.session), one.session.rules
    stop, began = one.session.stopped, one.began or one.ended
    return Outcome(
        attempt_id=number,
        pupil_id=None,
        name=one.name,
        code="",
        state="over",
        started=began,
        ended=one.ended,
        minutes=max(0.0, (one.ended - began).total_seconds() / 60),
        questions=found["asked"],
        counted=found["counted"],
        right=found["right"],
        reason=stop.reason if stop is not None else "",
        skills=findings_of(one.session.bank, rules, least_answers(one.session.bank, rules), found["skills"]),
        hint=None,
        skipped=found["skipped"],
        points=found["points"],
        expected=found["expected"],
    )
