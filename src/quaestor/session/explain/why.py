"""Why this question, why this result, why stopped, how sure: as data, and as sentences."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from quaestor.credal.decisions import level, undominated
from quaestor.credal.indices import entropy
from quaestor.errors import QuaestorError, expect_flag, format_value, got
from quaestor.i18n import say, together
from quaestor.inference.lookahead import Group
from quaestor.inference.misfit import misfit
from quaestor.model.question import Question
from quaestor.selection.choice import Choice
from quaestor.selection.ranking import second_score
from quaestor.selection.rules import Robust
from quaestor.selection.scores.known import DRAWN
from quaestor.selection.stopping.classification import sentence
from quaestor.selection.sureness import is_sure, sure_above
from quaestor.session.explain import wording
from quaestor.session.explain.reasons import Entry, Explanation, More, Outcome, WhyQuestion, WhyResult
from quaestor.session.log import Late
from quaestor.session.session import Session

RUNNERS_UP = 3


def explain(session: Session, fits: bool = False, future: bool = False) -> Explanation:
    """Explain where a session stands; `fits`: the answers are known to fit together, so this is not looked at again; `future`: say too
    how probable it is that more questions would change the result (for precise banks).
    """
    if not isinstance(session, Session):
        raise QuaestorError(got(say("a session is explained"), format_value(session)))
    for name, flag in (("fits", fits), ("future", future)):
        expect_flag(name, flag)
    question = why_question(session)
    results = {skill: why_result(session, skill) for skill in session.bank.skills}
    unsettled = tuple(skill for skill, result in results.items() if len(result.possible) > 1)
    above = sure_above(session.rules)
    lower = {skill: float(result.bounds.lower[result.bounds.states.index(result.level)]) for skill, result in results.items()}
    still = tuple(skill for skill, low in lower.items() if not is_sure(low, above))
    stop = wording.stop(session.bank, session.stopped.reason, still, above) if session.stopped else None
    found = None if fits else misfit(session.bank, session.answers)
    hint = wording.misfit(session, found) if found is not None and found.is_hint else ""
    then = session.decision.future() if future and session.bank.is_precise else None
    more = "" if not future else wording.UNKNOWN_FUTURE if then is None else sentence(then)
    return Explanation(question, results, stop, still, wording.sure(session, unsettled), found, hint, then, more)


def why_question(session: Session) -> WhyQuestion | None:
    """Why the next question comes next; None when the test is over."""
    choice = session.choice
    if choice is None or choice.question is None:
        return None
    question, ranking = choice.question, choice.ranking
    named = session.rules.target
    wanted = list(session.bank.skills) if isinstance(named, str) else list(named)
    unclear = {skill: float(entropy(session.beliefs[skill].centre)) for skill in wanted}
    uncertain = max(unclear, key=lambda skill: unclear[skill])
    allowed = np.isin(ranking.numbers, choice.candidates) if len(choice.candidates) else np.ones(len(ranking), dtype=bool)
    others = [
        (str(name), float(gain)) for name, gain in zip(ranking.ids[allowed], ranking.gains[allowed], strict=True) if name != question.id
    ]
    votes: Mapping[str, int] = {}
    draws = DRAWN & {session.rules.score, second_score(session.rules.score, session.rules.then)}  # which is no opinion
    if not session.bank.is_precise and len(choice.candidates) and not draws:
        votes = choice.votes or session.decision.votes(Robust(), choice.candidates)
    outcomes = () if question.pilot else _outcomes(session, question)
    found = WhyQuestion(
        question,
        choice.gain,
        uncertain,
        outcomes,
        tuple(others[:RUNNERS_UP]),
        choice.narrowed,
        votes,
        text="",
        decided=_decided(choice),
        tied=max(len(choice.tied), 1),
    )
    return replace(found, text=wording.question(session, found), numbers=wording.question_numbers(session, found))


def _decided(choice: Choice) -> str:
    """What really decided (`WhyQuestion.decided`)."""
    assert choice.question is not None
    if choice.question.pilot:
        return "pilot"
    if not len(choice.candidates):
        return "rule"
    if len(choice.candidates) == 1:
        return "only"
    if choice.narrowed and choice.narrowed[-1].left == 1:
        return "rule"
    if len(choice.tied) == 1:
        return "score"
    return "second" if len(choice.still_tied) == 1 else "order"


def _outcomes(session: Session, question: Question) -> tuple[Outcome, ...]:
    """What each answer that can be given would tell."""
    group, row = _seen(session, question)
    found = []
    for number, answer in enumerate(question.classes):
        low, high = (float(end[0, row, number]) for end in group.answers)
        if high > 0:
            after = {target.skill: (target.after[0][0, row, number], target.after[1][0, row, number]) for target in group.targets}
            found.append(Outcome(answer, (low, high), {skill: after[skill] for skill in question.skills}))
    return tuple(found)


def _seen(session: Session, question: Question) -> tuple[Group, int]:
    """The group of the look-ahead that a question belongs to, and the place of its table there."""
    batch, table = session.evidence.layout.batch_of(session.evidence.layout.number[question.id])
    return next(group for group in session.ahead.groups if group.batch is batch), table


def why_result(session: Session, skill: str) -> WhyResult:
    """What was found of a skill and which answers made it so."""
    bounds = session.beliefs[skill]
    found = level(bounds)
    at = bounds.states.index(found)
    ledger = []
    source: str
    answer: str
    for step in session.so_far[1:]:
        event, before, after = step.log[-1], step.earlier.beliefs[skill].centre[at], step.beliefs[skill].centre[at]
        if isinstance(event, Late):
            source, answer = say("late evidence"), event.note or say("seen of {skill}", skill=event.skill)
        else:
            source, answer = event.question, event.answer if event.answer is not None else "skipped"
        ledger.append(Entry(source, answer, _log_odds(after) - _log_odds(before), float(before), float(after)))
    result = WhyResult(skill, found, undominated(bounds), bounds, tuple(ledger), _more(session, skill, at), "")
    words = wording.result(session.bank, result)
    if session.start:
        words = together((words, say("The test began with what earlier tests told.")))
    return replace(result, text=words, numbers=wording.result_numbers(session.bank, result, bool(session.stopped)))


def _more(session: Session, skill: str, at: int) -> More | None:
    """What the best open question on a skill could still make of the level at a place."""
    for name in session.ranking.ids:
        question = session.bank.questions[name]
        if skill in question.skills:
            group, row = _seen(session, question)
            target = next(target for target in group.targets if target.skill == skill)
            low, high = (end[0, row, :, at] for end in target.after)
            given = np.flatnonzero(group.answers[1][0, row] > 0)  # the worst and the best answer that can be given
            ends = [(question.classes[n], float(low[n]), float(high[n])) for n in (given[0], given[-1])]
            return More(question.id, ends[0], ends[1])
    return None


def _log_odds(p: float) -> float:
    clipped = min(max(p, 1e-12), 1 - 1e-12)
    return float(np.log10(clipped / (1 - clipped)))
