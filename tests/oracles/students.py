"""What the tests of simulations share: the same students one by one, the slow and obvious way."""

from dataclasses import dataclass

import numpy as np

import quaestor as qs
from quaestor.simulate.cohort import Behaviour, Cohort
from quaestor.simulate.run import take


def students_of(bank, count, seed=1, truth=None, **options):
    """The students of a cohort, as arrays."""
    return Cohort(bank, truth or bank, count, seed, **options).part(0, count)


def probabilities(bank, behaviour, students, student, question, asked):
    """P(class) of a student's answer to a question, after those asked before, as the words of `Behaviour` say."""
    place = list(bank.questions).index(question)
    p, lowest = students.tables[place][student].copy(), students.lowest[place][student]
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


def answer_of(bank, behaviour, students, student, question, asked):
    """The number of the answer class; None for a skip."""
    place = list(bank.questions).index(question)
    if students.moods[student, place] < behaviour.skipping:
        return None
    total = 0.0
    p = probabilities(bank, behaviour, students, student, question, asked)
    for number, share in enumerate(p):
        total += share
        if students.luck[student, place] < total:
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
    for student, seed in enumerate(students.seeds):
        session = qs.Session(bank, rules, seed=seed)
        taken = Taken([], [], [], "")
        while True:
            session = known.setdefault((seed if rules.is_random else 0, session.log), session)
            taken.beliefs.append(session.beliefs)
            if session.next is None:
                break
            question = session.next.id
            answer = answer_of(bank, behaviour, students, student, question, taken.asked)
            session = session.skip(question) if answer is None else session.answer(question, answer)
            taken.asked.append(question)
            taken.answers.append(answer)
        taken.rule = session.stopped.rule
        found.append(taken)
    return found


def check_same(bank, rules, students, behaviour=None, tolerance=1e-12):
    """All together choose, answer, believe and stop as each does alone; the tests that each took alone."""
    record = take(bank, rules, students, behaviour or Behaviour())
    ids, found = list(bank.questions), alone(bank, rules, students, behaviour)
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
    return found
