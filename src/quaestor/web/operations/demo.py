"""A class to look at: `quaestor serve --demo` adds a test of `fractions` with 25 simulated takers, some through, some in the middle of it.

Each taker has true levels drawn from the bank, answers as the bank's tables say of these levels, and takes times such as people take.
The rows are those that taking the test would have written, but for the moments, which lie in the past. Everything is drawn from one seed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session as Work

from quaestor.formats.files import load
from quaestor.model.network import topological_order
from quaestor.model.question import ONE_CHOICE, Question
from quaestor.numerals import read_number
from quaestor.selection.rules import Rules
from quaestor.selection.stopping.combined import any_of
from quaestor.selection.stopping.criteria import max_questions, probability_above
from quaestor.session.log import Answer
from quaestor.session.session import Session
from quaestor.session.sufficiency import asks_enough
from quaestor.store import publishing
from quaestor.store.attempts import scoring
from quaestor.store.classes import class_lists
from quaestor.store.clock import now
from quaestor.store.codes import OWN_CODE, free_codes
from quaestor.store.database import Database
from quaestor.store.models import Attempt, Event, Published, Pupil, Teacher
from quaestor.store.secrets import token

BANK, TITLE, SEED = "fractions", "Fractions, class 7b (simulated)", 16
STUCK, GONE, MIDDLE, ABSENT = 2, 2, 6, 2  # of the 25; the others are through
NAMES = """
Amira Haddad; Anton Berger; Ben Carter; Chiara Rossi; Clara Novak; David Okafor; Elif Yilmaz; Emil Lindgren; Fatou Diallo;
Felix Wagner; Greta Olsen; Hugo Martin; Ines Ferreira; Jakub Nowak; Jonas Keller; Lea Dubois; Liam Murphy; Lina Schmid;
Mateo Garcia; Mila Petrovic; Noah Fischer; Olivia Brown; Sara Bianchi; Tim Hofer; Yuki Tanaka
"""


@dataclass(frozen=True)
class _Line:
    """An answer with how long it took."""

    question: str
    answer: str | None
    entry: str | None
    seconds: float


def add(database: Database) -> int:
    """Add the class unless it is there, else bring it up to the present; the number of its test."""
    with database.work() as work:
        owner = work.scalars(select(Teacher).where(Teacher.is_owner).order_by(Teacher.id)).first()
        assert owner is not None, "the first start makes the owner"
        test = work.scalars(select(Published).where(Published.teacher_id == owner.id, Published.title == TITLE)).first()
        if test is None:
            return _fill(work, owner).id
        _refresh(work, test)
        return test.id


def _refresh(work: Work, test: Published) -> None:
    """Let those who are unfinished have given their last answer as long ago as on the first day."""
    random, moment = np.random.default_rng(SEED), now()
    running = work.scalars(select(Attempt).where(Attempt.test_id == test.id, Attempt.ended.is_(None)).order_by(Attempt.id)).all()
    for place, attempt in enumerate(running):
        lines = work.scalars(select(Event).where(Event.attempt_id == attempt.id).order_by(Event.step)).all()
        last = lines[-1].at if lines else attempt.started
        later = moment - timedelta(minutes=_idle(place, random)) - last
        attempt.started += later
        for line in lines:
            line.at += later


def _idle(place: int, random: np.random.Generator) -> float:
    """Minutes since the last answer: the first places are stuck, then come those who are gone, then those in the middle of it."""
    if place < STUCK:
        return random.uniform(6, 9)
    return random.uniform(18, 26) if place < STUCK + GONE else random.uniform(0.1, 0.8)


def _fill(work: Work, owner: Teacher) -> Published:
    bank = load(BANK)
    rules = Rules(stop=any_of(max_questions(20), probability_above(0.9)), content=asks_enough(bank))
    kept = publishing.keep_bank(work, owner, bank)
    test = publishing.publish(work, owner, kept, rules, publishing.Conditions(by_list=True, retakes="any"), TITLE)
    test.created = now() - timedelta(hours=2)
    pupils = class_lists.add_pupils(work, test, [name.strip() for name in NAMES.replace("\n", " ").split(";")])
    random = np.random.default_rng(SEED)
    codes = free_codes(work, len(pupils), OWN_CODE)
    for place, (number, code) in enumerate(zip(random.permutation(len(pupils)), codes, strict=True)):
        if place >= ABSENT:
            _take(work, test, rules, pupils[int(number)], code, place - ABSENT, random)
    work.flush()
    return test


def _take(work: Work, test: Published, rules: Rules, pupil: Pupil, code: str, place: int, random: np.random.Generator) -> None:
    """One pupil's attempt: the first places are stuck, then come those who are gone or in the middle of it, then those who are through."""
    seed = int(random.integers(2**31))
    lines = list(_answers(Session(publishing.open_bank(test.bank), rules, seed), random))
    is_through = place >= STUCK + GONE + MIDDLE
    if not is_through:
        lines = lines[: max(3, int(len(lines) * random.uniform(0.3, 0.8)))]
    idle = random.uniform(4, 30) if is_through else _idle(place, random)
    started = now() - timedelta(seconds=60 * idle + sum(line.seconds for line in lines))
    attempt = Attempt(
        key=token()[:32], code=code, test_id=test.id, pupil_id=pupil.id, name=pupil.name, seed=seed, started=started, reason=""
    )
    work.add(attempt)
    work.flush()
    at = _write(work, attempt, lines)
    session = Session(publishing.open_bank(test.bank), rules, seed, tuple(_logged(line) for line in lines))
    if is_through:
        attempt.ended, attempt.reason = at, session.stopped.reason if session.stopped else ""
    scoring.keep(work, attempt, session, at)


def _write(work: Work, attempt: Attempt, lines: list[_Line]) -> datetime:
    """The log; the moment of its last line."""
    at = attempt.started
    for step, line in enumerate(lines, 1):
        at += timedelta(seconds=line.seconds)
        work.add(Event(attempt_id=attempt.id, step=step, at=at, **vars(line)))
    return at


def _logged(line: _Line) -> Answer:
    return Answer(line.question, line.answer, line.entry, line.seconds / 60)


def _answers(session: Session, random: np.random.Generator) -> Iterator[_Line]:
    """A whole test of somebody whose levels are drawn from the bank."""
    bank = session.bank
    levels: dict[str, int] = {}
    for name in topological_order({skill.id: skill.parents for skill in bank.skills.values()}):
        row = bank.skills[name].table.centre().lower[tuple(levels[parent] for parent in bank.skills[name].parents)]
        levels[name] = int(random.choice(len(row), p=row / row.sum()))
    pace = random.lognormal(np.log(32), 0.25)
    while (question := session.next) is not None and session.stopped is None:
        seconds = round(float(np.clip(pace * random.lognormal(0, 0.45), 6, 110)), 3)
        row = question.table.centre().lower[tuple(levels[skill] for skill in question.skills)]
        answer = question.classes[int(random.choice(len(row), p=row / row.sum()))]
        if answer == question.classes[0] and random.random() < 0.06:
            session = session.skip(question.id, seconds / 60)
            yield _Line(question.id, None, None, seconds)
            continue
        entry = written(question, answer, random)
        session = session.enter(question.id, entry, seconds / 60)
        yield _Line(question.id, question.classify(entry), entry, seconds)


def written(question: Question, answer: str, random: np.random.Generator) -> str:
    """Something that a taker enters for an answer of a class."""
    if question.parts:
        return question.written(_filled(question, answer, random))
    if question.kind in ONE_CHOICE:
        fitting = [option for option in question.options if question.option_classes[option] == answer]
        liking = np.arange(len(fitting), 0, -1.0) ** 1.5  # one mistake is more typical than another
        return fitting[int(random.choice(len(fitting), p=liking / liking.sum()))]
    if question.kind == "choices":
        return " | ".join(_ticked(question, answer, random))
    accepted = [text for text, kind in question.accept.items() if kind == answer]
    return accepted[0] if accepted else _slip(question, random)


def _filled(question: Question, answer: str, random: np.random.Generator) -> list[str]:
    """Entries for the parts that come nearest to an answer of a class."""
    wanted, keys = question.classes.index(answer), [part.accept[0] for part in question.parts]
    if wanted == len(question.classes) - 1:
        return keys
    tries = [_tried(question, keys, random) for _ in range(50)]
    return min(tries, key=lambda entries: abs(question.classes.index(question.classify(entries)) - wanted))


def _tried(question: Question, keys: Sequence[str], random: np.random.Generator) -> list[str]:
    if question.kind == "ordering":
        first, second = (int(one) for one in random.choice(len(keys), 2, replace=False))
        swapped = [*keys]
        swapped[first], swapped[second] = keys[second], keys[first]
        return swapped if random.random() < 0.5 else [str(one) for one in random.permutation(keys)]
    wrong = [[*(one for one in part.options if one not in part.accept), *([] if part.options else ["1"])] for part in question.parts]
    return [str(random.choice(others)) if others and random.random() < 0.5 else key for key, others in zip(keys, wrong, strict=True)]


def _ticked(question: Question, answer: str, random: np.random.Generator) -> list[str]:
    while True:
        ticked = [option for option in question.options if random.random() < 0.5]
        if answer == question.classes[-1]:
            ticked = [option for option in question.options if option in question.correct]
        if ticked and question.classify(ticked) == answer:
            return ticked


def _slip(question: Question, random: np.random.Generator) -> str:
    """A wrong number such as people come to: upside down, one beside it, twice or half as much."""
    value = next(number for text in question.accept if (number := read_number(text)) is not None)
    right = Fraction(value)
    turned = 1 / right if right else Fraction(1)
    beside = Fraction(right.numerator + 1, right.denominator)
    slips = [number for number in (beside, turned, right * 2, right / 2) if question.classify(str(number)) == question.classes[0]]
    liking = np.arange(len(slips), 0, -1.0) ** 2
    return str(slips[int(random.choice(len(slips), p=liking / liking.sum()))])
