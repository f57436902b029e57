"""Why this question, why this result, why stopped, how sure: as data, and as sentences in plain English."""

from dataclasses import replace

import numpy as np

from quaestor import wording
from quaestor.choice import vote
from quaestor.decisions import level, undominated
from quaestor.indices import entropy
from quaestor.inference.misfit import misfit
from quaestor.question import Question
from quaestor.reasons import Entry, Explanation, Outcome, WhyQuestion, WhyResult
from quaestor.rules import Robust
from quaestor.session import Late, Session

RUNNERS_UP = 3


def explain(session: Session) -> Explanation:
    """Explain where a session stands."""
    question = why_question(session)
    results = {skill: why_result(session, skill) for skill in session.bank.skills}
    still = tuple(skill for skill, result in results.items() if len(result.possible) > 1)
    stop = wording.stop(session.bank, session.stopped.reason, still) if session.stopped else None
    found = misfit(session.bank, session.answers)
    hint = wording.misfit(session, found) if found is not None and found.is_hint else ""
    return Explanation(question, results, stop, still, wording.sure(session, still), found, hint)


def why_question(session: Session) -> WhyQuestion | None:
    """Why the next question comes next; None when the test is over."""
    choice = session.choice
    if choice is None or choice.question is None:
        return None
    question, ranking = choice.question, choice.ranking
    unclear = {skill: float(entropy(bounds.centre)) for skill, bounds in session.beliefs.items()}
    uncertain = max(unclear, key=lambda skill: unclear[skill])
    others = [(str(name), float(gain)) for name, gain in zip(ranking.ids[:8], ranking.gains[:8], strict=True) if name != question.id]
    agree = None
    if not session.bank.is_precise and len(choice.candidates):
        votes = choice.votes or vote(session.standing, Robust(), choice.candidates)
        agree = (votes.get(question.id, 0), sum(votes.values()))
    outcomes = () if question.pilot else _outcomes(session, question)
    found = WhyQuestion(question, choice.gain, uncertain, outcomes, tuple(others[:RUNNERS_UP]), choice.narrowed, agree, "")
    return replace(found, text=wording.question(session, found))


def _outcomes(session: Session, question: Question) -> tuple[Outcome, ...]:
    """What each answer would tell: exact wherever the beliefs are, by asking for the beliefs then."""
    assert session.choice is not None
    place = list(session.bank.questions).index(question.id)
    group = next(group for group in session.choice.ranking.ahead.groups if place in group.batch.index)
    row = group.batch.row[group.batch.index == place][0]
    found = []
    for number, answer in enumerate(question.classes):
        low, high = (float(end[0, row, number]) for end in group.answers)
        if high > 0:
            after = session.answer(question.id, answer).beliefs
            found.append(Outcome(answer, (low, high), {s: (after[s].lower, after[s].upper) for s in question.skills}))
    return tuple(found)


def why_result(session: Session, skill: str) -> WhyResult:
    """What was found of a skill and which answers made it so."""
    bounds = session.beliefs[skill]
    found = level(bounds)
    at = bounds.states.index(found)
    ledger = []
    for step in session.so_far[1:]:
        event, before, after = step.log[-1], step.earlier.beliefs[skill].centre[at], step.beliefs[skill].centre[at]
        if isinstance(event, Late):
            source, answer = "late evidence", event.note or f"seen of {event.skill}"
        else:
            source, answer = event.question, event.answer if event.answer is not None else "skipped"
        ledger.append(Entry(source, answer, _log_odds(after) - _log_odds(before), float(before), float(after)))
    result = WhyResult(skill, found, undominated(bounds), bounds, tuple(ledger), "")
    return replace(result, text=wording.result(session.bank, result))


def _log_odds(p: float) -> float:
    clipped = min(max(p, 1e-12), 1 - 1e-12)
    return float(np.log10(clipped / (1 - clipped)))
