"""Random walks through random tests: whatever a taker, a teacher or a file does, only documented errors come up and nothing breaks."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from quaestor.errors import AnswerError
from quaestor.session.session import SessionError

WALKS, LONG_WALKS = 300, 10_000
STEPS = 8


def acts(rng, session):
    """What may be done at a step, good and bad, by name."""
    bank = session.bank
    ids, skills = list(bank.questions), list(bank.skills)
    name, skill = str(rng.choice(ids)), str(rng.choice(skills))
    levels = bank.skills[skill].levels
    following = session.next.id if session.next is not None else name
    classes = bank.questions[following].classes
    pairs = [sorted(rng.random(2).tolist()) for _ in levels]
    return {
        "answer": lambda: session.answer(following, str(rng.choice(classes)), minutes=float(rng.uniform(0, 3))),
        "answer any": lambda: session.answer(name, int(rng.integers(len(bank.questions[name].classes)))),
        "skip": lambda: session.skip(following),
        "undo": session.undo,
        "load": lambda: qs.Session.from_json(bank, session.to_json()),
        "level": lambda: session.late(skill, str(rng.choice(levels)), "seen"),
        "weights": lambda: session.late(skill, rng.random(len(levels)).tolist()),
        "pairs": lambda: session.late(skill, pairs),
        "zeros": lambda: session.late(skill, [0.0] * len(levels)),
        "bad id": lambda: session.answer(f"{name}?", 0),
        "bad class": lambda: session.answer(following, "excellent"),
        "bad number": lambda: session.answer(following, 9),
        "bad skill": lambda: session.late("talent", "yes"),
        "bad level": lambda: session.late(skill, "genius"),
        "bad minutes": lambda: session.skip(following, minutes=-1),
        "an entry": lambda: session.enter(following, "x"),
        "cut": lambda: qs.Session.from_json(bank, session.to_json()[: int(rng.integers(200))]),
        "other bank": lambda: qs.Session.from_json(sessions.bank(), session.to_json()),
    }


CHANCES = {"answer": 8, "answer any": 3, "skip": 2, "undo": 2, "load": 2, "weights": 1.5}


def consistent(session):
    """What holds at every step of every test."""
    following, stopped = session.next, session.stopped
    assert (following is None) == (stopped is not None)
    assert len(set(session.asked)) == len(session.asked)
    if following is not None:
        assert following.id not in session.asked
        assert session.choice.gain is None or np.isfinite(session.choice.gain)
        assert all(note.text and note.left >= 0 for note in session.choice.narrowed)
    else:
        assert stopped.reason.endswith(".")
    for bounds in session.beliefs.values():
        assert (bounds.lower >= -1e-12).all()
        assert (bounds.upper <= 1 + 1e-12).all()
        assert (bounds.lower <= bounds.upper + 1e-12).all()
        assert bounds.lower.sum() <= 1 + 1e-9 <= bounds.upper.sum() + 2e-9


def walk(seed, rich=False):
    """One walk; what happened, counted."""
    rng = np.random.default_rng([2026, seed])
    kind = "credal" if seed % 3 == 0 else "precise"
    bank = sessions.rich_bank(rng) if rich else sessions.random_bank(rng, kind, zeros=0.25 * (seed % 2))
    session = qs.Session(bank, sessions.random_rules(rng, bank), int(rng.integers(1000)))
    happened = Counter()
    consistent(session)
    for _ in range(STEPS):
        choices = acts(rng, session)
        weights = np.array([CHANCES.get(name, 0.5) for name in choices])
        act = str(rng.choice(list(choices), p=weights / weights.sum()))
        before = session.log
        try:
            moved = choices[act]()
        except (AnswerError, SessionError) as error:
            happened[f"{act}: {type(error).__name__}"] += 1
            continue
        happened[act] += 1
        if act == "undo":
            assert moved.log == before[:-1]
        elif act == "load":
            assert moved == session
            assert (moved.next, moved.stopped) == (session.next, session.stopped)
        else:
            assert moved.log[:-1] == before
        session = moved
        consistent(session)
    if seed % 10 == 0:
        assert len(session.history) == len(session.log)
        assert qs.explain(session).text
        fresh = replace(session)
        assert (fresh.next, fresh.stopped) == (session.next, session.stopped)
    return happened


@pytest.mark.parametrize("chunk", range(10))
def test_only_documented_errors_come_up_on_random_walks(chunk):
    happened = Counter()
    for seed in range(chunk, WALKS, 10):
        happened += walk(seed)
    assert {"answer", "skip", "undo", "load", "bad id: AnswerError", "cut: SessionError"} <= set(happened)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(100))
def test_only_documented_errors_come_up_on_very_many_random_walks(chunk):
    for seed in range(WALKS + chunk, WALKS + LONG_WALKS, 100):
        walk(seed)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_only_documented_errors_come_up_on_walks_through_banks_with_loops_and_vertices(chunk):
    for seed in range(chunk, 200, 10):
        walk(seed, rich=True)


def test_walks_meet_every_kind_of_step_and_error():
    happened = Counter()
    for seed in range(1000, 1150):
        happened += walk(seed)
    wanted = {f"{act}: AnswerError" for act in ("answer any", "bad class", "bad number", "bad skill", "bad level", "zeros", "an entry")}
    wanted |= {"level", "weights", "pairs", "answer: SessionError", "undo: SessionError", "other bank: SessionError", "level: AnswerError"}
    assert wanted <= set(happened)
