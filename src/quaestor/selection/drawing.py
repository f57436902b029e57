"""The one question of those left: the best, a draw among the best, the best that is not held back, or the one elected by vote."""

from collections.abc import Callable

import numpy as np

from quaestor.draws import Draws
from quaestor.i18n import say
from quaestor.inference.layout import Numbers
from quaestor.model.table import Array
from quaestor.selection.narrowing import Candidates, Standing
from quaestor.selection.plan import Mask
from quaestor.selection.robust import counted
from quaestor.selection.rules import Rules
from quaestor.selection.ties import best

Drawing = Callable[[Numbers, int], Draws]  # what some takers draw, for one purpose
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


class Ranked:
    """Questions best first, for each row of gains, (rows, questions), which it uses up: found one place after another, and only in the rows
    that somebody looks at. The next best is the best of those left, as in `ties`.
    """

    def __init__(self, gains: Array, second: Callable[[], Array] | None) -> None:
        self._gains, self._second = gains, second
        self._found = best(gains, second)[None]  # (places, rows)
        self._depth = np.ones(len(gains), dtype=np.intp)  # places found of each row

    def at(self, places: Numbers, rows: Numbers) -> Numbers:
        """The questions at some places, from 0, of some rows, -1 beyond the last; those before were looked at."""
        if int(places.max(initial=0)) >= len(self._found):
            self._found = np.concatenate([self._found, np.full((1, len(self._gains)), -1)])
        beyond = places >= self._depth[rows]
        if beyond.any():
            self._go_on(rows[beyond])
        found: Numbers = self._found[places, rows]
        return found

    def _go_on(self, rows: Numbers) -> None:
        """Find the next place of some rows."""
        wanted = np.zeros(len(self._gains), dtype=bool)
        wanted[rows] = True
        some = np.flatnonzero(wanted)
        self._gains[some, self._found[self._depth[some] - 1, some]] = -np.inf
        second = self._second
        self._found[self._depth[some], some] = best(self._gains[some], None if second is None else lambda: second()[some])
        self._depth[some] += 1


def drawn(now: Standing, left: Candidates, mask: Mask, gains: Array, second: Callable[[], Array] | None) -> Numbers:
    """The question of each taker, (takers,), -1 where none is left."""
    rules = now.plan.rules
    masked = gains.copy()
    masked[~mask] = -np.inf
    ranked, everyone = Ranked(masked, second), np.arange(now.takers)
    count = np.ones(now.takers, dtype=np.intp)
    if rules.among > 1 or rules.first_among > 1:
        count = np.minimum(how_many(rules, now.evidence.counts), mask.sum(axis=1, dtype=np.int32))
        left.note("among", lambda taker: say("drawn from the first {count} of the ranking", count=int(count[taker])), count > 1)
    place = among(ranked, everyone, count, now.draws)
    first = ranked.at(place, everyone)
    if rules.exposure.chances:
        found = not_held_back(ranked, everyone, place, now.draws, now.plan.chances)
        left.note("exposure", lambda taker: say("others that came first were held back to spare them"), found != first)
        return found
    return first


def how_many(rules: Rules, asked: Numbers) -> Numbers:
    """From how many of the best questions one is drawn, after so many were asked, (takers,) each."""
    return np.where(asked == 0, max(rules.among, rules.first_among), rules.among)


def among(ranked: Ranked, rows: Numbers, count: Numbers, draws: Drawing) -> Numbers:
    """The place of one of the best so many questions of each taker, drawn, (takers,); `rows`: where the gains of each are."""
    place, some = np.zeros(len(rows), dtype=np.intp), np.flatnonzero(count > 1)
    if len(some):
        place[some] = draws(some, 2).integers(count[some])
    for before in range(1, int(place.max(initial=0)) + 1):
        waiting = np.flatnonzero(place >= before)
        ranked.at(np.full(len(waiting), before), rows[waiting])
    return place


def not_held_back(ranked: Ranked, rows: Numbers, first: Numbers, draws: Drawing, chances: Array) -> Numbers:
    """The question at the `first` place, or where a draw holds it back the best one that none holds back; the first where all are.

    `rows`: where the gains of each taker are, (takers,). `chances`: that a question is not held back, (questions,).
    """
    found = ranked.at(first, rows)
    waiting, turn, luck = np.flatnonzero(found >= 0), 0, draws(np.arange(len(rows)), 3)
    while len(waiting):
        if turn % _AT_ONCE == 0:
            wanted = np.zeros((len(rows), _AT_ONCE), dtype=bool)
            wanted[waiting] = True
            drawn = luck.random(wanted)
        place = first[waiting]
        if turn:
            place = turn - (turn <= place)  # the first was looked at before
        chosen = ranked.at(place, rows[waiting])
        waiting, chosen = waiting[chosen >= 0], chosen[chosen >= 0]
        held = drawn[waiting, turn % _AT_ONCE] >= chances[chosen]
        found[waiting[~held]] = chosen[~held]
        waiting, turn = waiting[held], turn + 1
    return found
