"""The one question of those left: the best, a draw among the best, the best that is not held back, or the one elected by vote."""

from collections.abc import Callable
from functools import partial

import numpy as np

from quaestor.i18n import say
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array
from quaestor.selection.narrowing import Candidates, Standing
from quaestor.selection.plan import Mask
from quaestor.selection.robust import counted
from quaestor.selection.ties import best

_AT_ONCE = 32  # numbers drawn at a time to hold questions back


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
    masked = np.where(mask, gains, -np.inf)
    first = best(masked, second)
    if rules.among > 1 or rules.first_among > 1:
        count = np.minimum(np.where(now.evidence.counts == 0, max(rules.among, rules.first_among), rules.among), mask.sum(axis=1))
        first = _among(now, masked, second, first, count)
        left.note("among", lambda taker: say("drawn from the first {count} of the ranking", count=int(count[taker])), count > 1)
    if rules.exposure.chances:
        found = _not_held_back(now, masked, second, first)
        left.note("exposure", lambda taker: say("others that came first were held back to spare them"), found != first)
        return found
    return first


def _among(now: Standing, masked: Array, second: Callable[[], Array] | None, first: Numbers, count: Numbers) -> Numbers:
    """One of the best so many questions of each taker, drawn."""
    draws, some = np.zeros(len(first), dtype=np.intp), np.flatnonzero(count > 1)
    for taker, generator in zip(some.tolist(), now.generators(some, 2), strict=True):
        draws[taker] = generator.integers(count[taker])
    found, rest, chosen = first.copy(), masked.copy(), first
    for rank in range(1, int(draws.max()) + 1):
        rest[np.arange(len(rest)), chosen] = -np.inf
        chosen = best(rest, second)
        found = np.where(draws == rank, chosen, found)
    return found


def _not_held_back(now: Standing, masked: Array, second: Callable[[], Array] | None, first: Numbers) -> Numbers:
    """The first question, or where a draw holds it back the next best one that none holds back; the first where all are held back."""
    found, rest, chosen = first.copy(), masked.copy(), first.copy()
    waiting = np.flatnonzero(first >= 0)
    generators = dict(zip(waiting.tolist(), now.generators(waiting, 3), strict=True))
    rank, luck = 0, np.zeros((0, _AT_ONCE))
    while len(waiting):
        if rank % _AT_ONCE == 0:
            luck = np.stack([generators[taker].random(_AT_ONCE) for taker in waiting.tolist()])
        asked = luck[:, rank % _AT_ONCE] < now.plan.chances[chosen[waiting]]
        found[waiting[asked]] = chosen[waiting[asked]]
        waiting, luck, rank = waiting[~asked], luck[~asked], rank + 1
        rest[waiting, chosen[waiting]] = -np.inf
        chosen[waiting] = best(rest[waiting], None if second is None else partial(_rows, second, waiting))
        waiting, luck = waiting[chosen[waiting] >= 0], luck[chosen[waiting] >= 0]
    return found


def _rows(gains: Callable[[], Array], takers: Numbers) -> Array:
    return gains()[takers]
