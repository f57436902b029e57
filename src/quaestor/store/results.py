"""Results of a test: the outcome of each attempt, and which of a pupil's attempts counts.

An outcome depends only on the attempt's log, so it is computed once for each length of the log and cached.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import level
from quaestor.inference.misfit import misfit
from quaestor.model.beliefs import Bounds
from quaestor.selection.rules_file import read_rules
from quaestor.selection.sureness import is_sure, sure_above
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.store.clock import now
from quaestor.store.memory import Memory
from quaestor.store.models import Attempt, Event, Published, Pupil
from quaestor.store.outcome import Finding, Outcome
from quaestor.store.publishing import open_bank
from quaestor.store.sheets import csv_bytes as csv_bytes
from quaestor.store.sheets import dictionary as dictionary
from quaestor.store.sheets import table as table
from quaestor.store.sheets import xlsx_bytes as xlsx_bytes
from quaestor.store.sittings import deadline

LOOKS = 60  # misfit tests computed for one page
_NOTHING = (0, None)


@dataclass(frozen=True)
class _Found:
    """The results that are computed from a log."""

    questions: int
    skipped: int
    right: int
    skills: Mapping[str, Finding]
    answers: Mapping[str, str]


_found: Memory[tuple[str, int, datetime | None], _Found] = Memory(20_000)
_hints: Memory[tuple[str, frozenset[tuple[str, str]]], bool] = Memory(20_000)


def outcomes(work: Work, test: Published, looks: int | None = LOOKS) -> list[Outcome]:
    """The outcomes of all attempts of a test, in the order of their ids.

    `looks`: the misfit test of an attempt (`Outcome.hint`) takes some 10 ms, so it is computed for at most so many attempts that are not
    cached yet, and the others follow with the next calls; None: for all, as files and the API need it.
    """
    attempts = work.scalars(select(Attempt).where(Attempt.test_id == test.id).order_by(Attempt.id)).all()
    codes = {pupil.id: pupil.code for pupil in work.execute(select(Pupil.id, Pupil.code).where(Pupil.test_id == test.id))}
    counts = select(Event.attempt_id, func.count(), func.max(Event.at)).join(Attempt).where(Attempt.test_id == test.id)
    lengths = {number: (length, last) for number, length, last in work.execute(counts.group_by(Event.attempt_id))}
    keys = {attempt.id: (attempt.key, *lengths.get(attempt.id, _NOTHING)) for attempt in attempts}
    known = {number: found for number, key in keys.items() if (found := _found.get(key)) is not None}
    logs = _logs(work, test, [attempt.id for attempt in attempts if attempt.id not in known])
    bank, rules = open_bank(test.bank), read_rules(test.rules)
    made = []
    left = len(attempts) if looks is None else looks
    for attempt in attempts:
        found = known.get(attempt.id)
        if found is None:
            found = _computed(Session(bank, rules, attempt.seed, tuple(logs[attempt.id])))
            _found.put(keys[attempt.id], found)
        outcome = _outcome(attempt, found, keys[attempt.id][2], codes.get(attempt.pupil_id or 0, attempt.code))
        if outcome.state == "over":
            hint = _hints.get(_answers(bank, found))
            if hint is None and left:
                hint, left = _misfits(bank, found), left - 1
            outcome = replace(outcome, hint=hint)
        made.append(outcome)
    counting = {outcome.attempt_id for outcome in counted(made, test.retakes)}
    return [outcome if outcome.attempt_id in counting else replace(outcome, counts=False) for outcome in made]


def _outcome(attempt: Attempt, found: _Found, last: datetime | None, code: str) -> Outcome:
    limit, words = deadline(attempt)
    ended, reason = attempt.ended, attempt.reason
    if ended is None and limit is not None and limit <= now():
        ended, reason = limit, words
    until = ended or last or attempt.started
    return Outcome(
        attempt_id=attempt.id,
        pupil_id=attempt.pupil_id,
        name=attempt.name,
        code=code,
        state="running" if ended is None else "over",
        started=attempt.started,
        ended=ended,
        minutes=max(0.0, (until - attempt.started).total_seconds() / 60),
        questions=found.questions,
        right=found.right,
        reason=reason,
        skills=found.skills,
        hint=None,
        skipped=found.skipped,
    )


def _computed(session: Session) -> _Found:
    """The results of a log; they depend neither on the clock nor on the stop rules."""
    questions = session.bank.questions
    right = sum(isinstance(line, Answer) and line.answer == questions[line.question].classes[-1] for line in session.log)
    skills = {skill: _finding(bounds, sure_above(session.rules)) for skill, bounds in session.beliefs.items()}
    skipped = sum(isinstance(line, Answer) and line.answer is None for line in session.log)
    return _Found(len(session.log), skipped, right, skills, session.answers)


def _finding(bounds: Bounds, above: float) -> Finding:
    found = level(bounds)
    at = bounds.states.index(found)
    lower, upper = float(bounds.lower[at]), float(bounds.upper[at])
    centre = bounds.centre
    return Finding(found, lower, upper, is_sure(lower, above), float(np.arange(len(centre)) @ centre), tuple(centre.tolist()))


def _answers(bank: Bank, found: _Found) -> tuple[str, frozenset[tuple[str, str]]]:
    return bank.version, frozenset(found.answers.items())


def _misfits(bank: Bank, found: _Found) -> bool:
    """Whether the answers fit the bank so badly that a teacher should check them; the result is cached."""
    seen = misfit(bank, found.answers)
    hint = seen is not None and seen.is_hint
    _hints.put(_answers(bank, found), hint)
    return hint


def _logs(work: Work, test: Published, attempts: Sequence[int]) -> Mapping[int, list[Answer]]:
    """The logs of these attempts; if they are many, of all attempts of the test, which is the faster query."""
    columns = select(Event.attempt_id, Event.question, Event.answer, Event.entry, Event.seconds).order_by(Event.attempt_id, Event.step)
    logs: dict[int, list[Answer]] = defaultdict(list)
    if attempts:
        few = len(attempts) <= 100
        some = columns.where(Event.attempt_id.in_(attempts)) if few else columns.join(Attempt).where(Attempt.test_id == test.id)
        for number, question, answer, entry, seconds in work.execute(some):
            logs[number].append(Answer(question, answer, entry, seconds / 60))
    return logs


def counted(found: Iterable[Outcome], retakes: str) -> list[Outcome]:
    """The attempts that count: one for each pupil, and every attempt of a taker who is on no class list.

    Of a pupil's attempts that are over (or, when none is, of those that run) it is the first when retakes are forbidden (`none`), the
    last when they are allowed (`any`), and with `best` the one with the highest expected level summed over the skills, for the centre of
    the bounds (levels count 0, 1, 2, ...); of equal ones the first. The best of several attempts is biased upwards:
    by chance alone it is above what a single one would show.
    """
    of_pupil: dict[int, list[Outcome]] = defaultdict(list)
    listed = list(found)
    for outcome in listed:
        of_pupil[outcome.pupil_id if outcome.pupil_id is not None else -outcome.attempt_id].append(outcome)
    counting = {_counts(mine, retakes).attempt_id for mine in of_pupil.values()}
    return [outcome for outcome in listed if outcome.attempt_id in counting]


def _counts(mine: Sequence[Outcome], retakes: str) -> Outcome:
    over = [outcome for outcome in mine if outcome.state == "over"] or mine
    if retakes == "best":
        return max(over, key=lambda outcome: outcome.expected)
    return over[0] if retakes == "none" else over[-1]
