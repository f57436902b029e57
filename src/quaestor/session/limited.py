"""What may take long, within a limit on time: a step of a session, as good as can be had until then; why, and how it came to that.

If the time (or the memory) is not enough for the step as it should be, the bounds of each skill come from a search that ends in time: they
are certified, though not as near as they could be, and the question comes from the centre of the set (`inference.reached`). A step depends
on the clock then, so whoever takes one has to keep it: `Decided` is small, and `into` a session.
"""

import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from threading import current_thread, main_thread
from time import monotonic
from typing import Any

import numpy as np

from quaestor.errors import QuaestorError
from quaestor.inference.chooser import Chooser
from quaestor.inference.engine import Bracket
from quaestor.inference.evidence import Evidence
from quaestor.inference.reached import Reached
from quaestor.model.beliefs import Beliefs
from quaestor.selection.dry_run import DryRun, first_steps
from quaestor.selection.plan import plan_of
from quaestor.selection.step import Decision, step
from quaestor.selection.stopping.combined import any_of
from quaestor.session.explain.changes import changes
from quaestor.session.explain.reasons import Change, Explanation, WhyQuestion
from quaestor.session.explain.why import explain, why_question
from quaestor.session.session import Session, Stop

AGAIN = 1.0  # seconds after which it rings again: Python drops what is raised while it clears something away
WHOLE, BOUNDS = 0.6, 0.3  # shares of the time: for the step as it should be, for bounds where that was not enough


class OverTimeError(BaseException):
    """The time is up: no `Exception`, so that nothing takes it for a failure of its own."""


@dataclass(frozen=True)
class Decided:
    """What a step of a session came to: the next question (None when the test is over), why it is over, and what is known."""

    question: str | None
    stopped: Stop | None
    beliefs: Beliefs
    cut: bool = False

    def into(self, session: Session) -> None:
        """Have a session know it."""
        asked = None if self.question is None else session.bank.questions[self.question]
        session.__dict__.update(next=asked, stopped=self.stopped, beliefs=self.beliefs, cut=self.cut)


def decided(session: Session) -> Decided:
    """The step of a session as it is, without a limit."""
    asked = session.next
    return Decided(None if asked is None else asked.id, session.stopped, session.beliefs, session.is_cut)


def decide(session: Session, seconds: float) -> Decided:
    """The step of a session within so many seconds, roughly; in the main thread of a process, where a signal can end what takes long."""
    with suppress(OverTimeError, MemoryError), within(WHOLE * seconds):
        return decided(session)
    found = _bounds(session, BOUNDS * seconds)
    with suppress(OverTimeError, MemoryError), within(max(0.1, (1 - WHOLE - BOUNDS) * seconds)):
        return _of(session, step(session.rules, session.evidence, (session.seed,), reached=Reached(session.evidence.model, found)))
    return blindly(session, found)


def blindly(session: Session, known: Mapping[int, Bracket] | None = None) -> Decided:
    """The step of a session where nothing may take long: of what the rules allow the first question in the bank's order.

    `known`: what is known of all skills; nothing unless given. Of the stop rules only those count that end every test.
    """
    evidence, rules = session.evidence, session.rules
    found = known or {skill: _nothing(evidence, skill) for skill in evidence.layout.order}
    limits = plan_of(rules, evidence.layout).limits
    simple = replace(rules, score="order", then=None, robust=None, variety=None, retire=None, stop=any_of(*limits) if limits else None)
    return _of(session, step(simple, evidence, (session.seed,), reached=Reached(evidence.model, found)))


def why(session: Session, seconds: float) -> WhyQuestion | None:
    """Why the next question of a session comes next; None where that takes longer than so many seconds."""
    with suppress(OverTimeError, MemoryError, QuaestorError), within(seconds):
        return why_question(session)
    return None


@dataclass(frozen=True)
class Path:
    """How a session got where it is: what each answer changed, what was known at each step, and why the result is what it is."""

    changes: Sequence[Sequence[Change]]
    beliefs: Sequence[Beliefs]
    explanation: Explanation


def path(session: Session, seconds: float) -> Path | None:
    """How a session got where it is; None where that takes longer than so many seconds."""
    with suppress(OverTimeError, MemoryError), within(seconds):
        return Path(changes(session), [then.beliefs for then in session.so_far], explain(session, fits=False))
    return None


def cost(session: Session, seconds: float) -> DryRun:
    """How long steps with a bank take, as far as that is seen in so many seconds."""
    with within(seconds):
        return first_steps(session.bank, OverTimeError)


STEP, WHY, PATH, COST = "step", "why", "path", "cost"
KINDS: Mapping[str, Callable[[Session, float], Any]] = {STEP: decide, WHY: why, PATH: path, COST: cost}


def _of(session: Session, decision: Decision) -> Decided:
    number, rule = int(decision.question[0]), str(decision.rule[0])
    asked = None if number < 0 else session.evidence.layout.questions[number].id
    return Decided(asked, Stop(decision.reason(), rule) if rule else None, decision.beliefs(), cut=True)


def _bounds(session: Session, seconds: float) -> dict[int, Bracket]:
    """The bounds of all skills: those that the step has found before it was cut, and for the others what a search reaches in time."""
    evidence = session.evidence
    order, known = evidence.layout.order, dict(session.decision.chooser.known)
    end = monotonic() + seconds
    open_ones = [skill for skill in order if skill not in known]
    with suppress(OverTimeError, MemoryError), within(1.5 * seconds):
        for number, skill in enumerate(open_ones):
            share = max(0.0, (end - monotonic()) / (len(open_ones) - number))
            known[skill] = Chooser(evidence.model, 1, "exact", seconds=share).now(skill)
    return {skill: known.get(skill) or _nothing(evidence, skill) for skill in order}


def _nothing(evidence: Evidence, skill: int) -> Bracket:
    """Bounds that claim nothing, and that nothing was found to attain."""
    zeros, ones = np.zeros((1, evidence.model.sizes[skill])), np.ones((1, evidence.model.sizes[skill]))
    return Bracket(zeros, ones, ones, zeros, "bracket")


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Have what is done here end with OverTimeError after so many seconds; not in a thread, nor where there are no such signals."""
    if current_thread() is not main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(*_: object) -> None:
        raise OverTimeError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6), AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
