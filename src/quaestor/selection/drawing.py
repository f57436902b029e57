"""The one question of those left: the best, a draw among the best, the best that is not held back, or the one elected by vote."""

from collections.abc import Callable

import numpy as np

from quaestor.i18n import say
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array
from quaestor.selection.narrowing import Candidates, Standing
from quaestor.selection.plan import Mask
from quaestor.selection.robust import counted
from quaestor.selection.ties import best

_AT_ONCE = 4  # numbers drawn at a time to hold questions back


def elected(now: Standing, left: Candidates, ballots: Numbers) -> None:
    """Keep the questions that some network would ask, and of these the one that most of them ask, or the least exposed."""
    plan, robust = now.plan, now.plan.rules.robust
    assert robust is not None
    wanted, chosen = np.zeros_like(left.mask), np.full(now.takers, -1)
    tallies: list[dict[str, int]] = []
    for taker, ballot in enumerate(ballots):
        votes = counted(plan.layout, ballot)
        tallies.append(votes)
        numbers = {plan.layout.number[name]: count for name, count in votes.items()}
        if numbers:
            wanted[taker, list(numbers)] = True
            if robust.choose == "most":
                chosen[taker] = max((count, -number) for number, count in numbers.items())[1] * -1
            else:
                chosen[taker] = min((plan.rates[number], -count, number) for number, count in numbers.items())[2]

    def some(taker: int) -> str:
        count = len(tallies[taker])
        return say("{count} {count:question is|questions are} the best for at least one of the sampled networks", count=count)

    def one(taker: int) -> str:
        name = plan.layout.questions[chosen[taker]].id
        if robust.choose == "most":
            counts = {"count": tallies[taker][name], "all": sum(tallies[taker].values())}
            return say("{count} of {all} sampled networks would ask {question}", question=name, **counts)
        return say("{question} is the least exposed of the questions that are best for some network", question=name)

    several = np.array([len(tally) > 1 for tally in tallies])
    left.keep("robust", some, wanted, several)
    left.keep("robust", one, np.arange(wanted.shape[1]) == chosen[:, None], chosen >= 0)


def drawn(now: Standing, left: Candidates, mask: Mask, gains: Array, second: Callable[[], Array] | None) -> Numbers:
    """The question of each taker, (takers,), -1 where none is left."""
    rules = now.plan.rules
    masked = gains.copy()
    masked[~mask] = -np.inf
    first = best(masked, second)
    if rules.among > 1 or rules.first_among > 1:
        wanted = np.where(now.evidence.counts == 0, max(rules.among, rules.first_among), rules.among)
        count = np.minimum(wanted, mask.sum(axis=1, dtype=np.int32))
        first = _among(now, masked, second, first, count)
        left.note("among", lambda taker: say("drawn from the first {count} of the ranking", count=int(count[taker])), count > 1)
    if rules.exposure.chances:
        found = _not_held_back(now, masked, second, first)
        left.note("exposure", lambda taker: say("others that came first were held back to spare them"), found != first)
        return found
    return first


def _among(now: Standing, masked: Array, second: Callable[[], Array] | None, first: Numbers, count: Numbers) -> Numbers:
    """One of the best so many questions of each taker, drawn."""
    found, rank, some = first.copy(), np.zeros(len(first), dtype=np.intp), np.flatnonzero(count > 1)
    rank[some] = now.draws(some, 2).integers(count[some])
    waiting = np.flatnonzero(rank > 0)
    rest = masked[waiting]
    while len(waiting):
        found[waiting] = _following(rest, found[waiting], second, waiting)
        rank[waiting] -= 1
        on = rank[waiting] > 0
        waiting, rest = waiting[on], rest[on]
    return found


def _not_held_back(now: Standing, masked: Array, second: Callable[[], Array] | None, first: Numbers) -> Numbers:
    """The first question, or where a draw holds it back the next best one that none holds back; the first where all are held back."""
    found, waiting, rank = first.copy(), np.flatnonzero(first >= 0), 0
    draws, chosen, rest = now.draws(np.arange(now.takers), 3), first[waiting], masked
    while len(waiting):
        if rank % _AT_ONCE == 0:
            wanted = np.zeros((now.takers, _AT_ONCE), dtype=bool)
            wanted[waiting] = True
            luck = draws.random(wanted)
        held = luck[waiting, rank % _AT_ONCE] >= now.plan.chances[chosen]
        found[waiting[~held]] = chosen[~held]
        waiting, rest = waiting[held], rest[waiting[held]] if rank == 0 else rest[held]
        chosen = _following(rest, chosen[held], second, waiting)
        on = chosen >= 0
        waiting, chosen, rest, rank = waiting[on], chosen[on], rest[on], rank + 1
    return found


def _following(rest: Array, chosen: Numbers, second: Callable[[], Array] | None, takers: Numbers) -> Numbers:
    """The best question of some takers after the one chosen, which is taken out of the `rest` of their gains, (takers, questions)."""
    rest[np.arange(len(rest)), chosen] = -np.inf
    return best(rest, None if second is None else lambda: second()[takers])
