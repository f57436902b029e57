"""What the tests of simulations share: the same students one by one, the slow and obvious way."""

from dataclasses import dataclass

import numpy as np

import quaestor as qs
from quaestor.simulate import plain
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.library import library_of
from quaestor.simulate.run import take


def students_of(bank, count, seed=1, truth=None, **options):
    """The students of a cohort, as arrays."""
    return Cohort(bank, truth or bank, count, seed, **options).part(0, count)


def luck_of(students, places="luck"):
    """The uniform numbers of students for every question, (students, questions); or their `moods`."""
    count, questions = len(students.numbers), len(students.asking.classes)
    columns = [
        students.streams.uniform(getattr(students.asking, places), np.arange(count), np.full(count, question))
        for question in range(questions)
    ]
    return np.stack(columns, axis=1)


def chances_of(students, question):
    """P(class) of all students for a question by its number, (students, most classes), as their network says."""
    asking, everyone = students.asking, np.arange(len(students.numbers))
    row = asking.first[question] + asking.at[:, asking.scope_of[question]]
    return asking.rows[row] if asking.rows.ndim == 2 else asking.rows[everyone, row]


def chances(bank, students, student, question, lowest=False):
    """P(class) by the student's true levels, or at the lowest ones."""
    asked, skills = bank.questions[question], list(bank.skills)
    levels = tuple(0 if lowest else students.levels[student, skills.index(skill)] for skill in asked.skills)
    return asked.table.centre().lower[levels].copy()


def probabilities(bank, behaviour, students, student, question, asked):
    """P(class) of a student's answer to a question, after those asked before, as the words of `Behaviour` say."""
    p, lowest = chances(bank, students, student, question), chances(bank, students, student, question, lowest=True)
    for _ in asked:
        p = (1 - behaviour.fatigue) * p + behaviour.fatigue * lowest
    for one, given in behaviour.reveals.items():
        if one in asked and question in given:
            p = (1 - given[question]) * p
            p[-1] += given[question]
    p = (1 - behaviour.guessing) * p + behaviour.guessing / len(p)
    p = (1 - behaviour.slips) * p
    p[0] += behaviour.slips
    return p


def answer_of(bank, behaviour, students, student, question, asked, luck, mood):
    """The number of the answer class; None for a skip."""
    if mood < behaviour.skipping:
        return None
    total = 0.0
    p = probabilities(bank, behaviour, students, student, question, asked)
    for number, share in enumerate(p):
        total += share
        if luck < total:
            return number
    return len(p) - 1


@dataclass
class Taken:
    """A test of one student: ids asked, class numbers (None: skipped), beliefs before and after each question, what stopped it."""

    asked: list
    answers: list
    beliefs: list
    rule: str


def alone(bank, rules, students, behaviour=None):
    """Every student takes the test in a session of their own; sessions that must be equal are looked at once."""
    behaviour, known, found = behaviour or Behaviour(), {}, []
    luck, moods, place = luck_of(students), luck_of(students, "moods"), {name: number for number, name in enumerate(bank.questions)}
    for student, seed in enumerate(students.seeds.tolist()):
        session = qs.Session(bank, rules, seed=seed)
        taken = Taken([], [], [], "")
        while True:
            session = known.setdefault((seed if rules.is_random else 0, session.log), session)
            taken.beliefs.append(session.beliefs)
            if session.next is None:
                break
            question = session.next.id
            answer = answer_of(
                bank, behaviour, students, student, question, taken.asked, luck[student, place[question]], moods[student, place[question]]
            )
            session = session.skip(question) if answer is None else session.answer(question, answer)
            taken.asked.append(question)
            taken.answers.append(answer)
        taken.rule = session.stopped.rule
        found.append(taken)
    return found


def check_same(bank, rules, students, behaviour=None, tolerance=1e-12):
    """All together choose, answer, believe and stop as each does alone; the tests that each took alone."""
    behaviour, found = behaviour or Behaviour(), alone(bank, rules, students, behaviour)
    check_taken(bank, take(bank, rules, students, behaviour), found, tolerance)
    if plain.is_plain(bank, rules, behaviour):
        check_taken(bank, plain.take(bank, rules, students, behaviour, library_of("cpu")), found, tolerance)
    return found


def check_taken(bank, record, found, tolerance):
    """A record says what happened to each student alone."""
    ids = list(bank.questions)
    for student, taken in enumerate(found):
        length = len(taken.asked)
        assert [ids[place] for place in record.asked[student, :length]] == taken.asked
        assert [None if answer < 0 else answer for answer in record.answers[student, :length].tolist()] == taken.answers
        assert (record.asked[student, length:] == -1).all()
        assert record.rule[student] == taken.rule
        for (low, high), skill in zip(record.bounds, bank.skills, strict=True):
            then = [taken.beliefs[min(step, length)][skill] for step in range(low.shape[1])]
            assert np.abs(low[student] - [bounds.lower for bounds in then]).max() <= tolerance
            assert np.abs(high[student] - [bounds.upper for bounds in then]).max() <= tolerance
