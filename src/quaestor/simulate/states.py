"""Where many tests stand at once: arrays with a leading axis over takers, and what follows from them by the engine's own steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.inference.chooser import Ways
from quaestor.inference.layout import BankModel, bank_model
from quaestor.inference.lookahead import Ends, Lookahead
from quaestor.inference.model import Box, Scope
from quaestor.inference.posterior import joint_uncertainties, refuse_conflict
from quaestor.model.table import Array, centre
from quaestor.selection.criteria import ManyBounds, Situation
from quaestor.selection.ranking import TIED, gains_of, second_score
from quaestor.selection.rules import Rules
from quaestor.session.session import NO_QUESTION

BLIND = {"random", "order"}  # scores that need no look ahead
OPEN, MISSING = -2, -1  # not asked; asked, but there is no answer that counts
Numbers = NDArray[np.intp]


@dataclass
class States:
    """The answers of many takers, (takers, questions): a class, MISSING or OPEN; the likelihoods they make; the minutes spent."""

    answers: NDArray[np.int16]
    boxes: dict[Scope, Box]
    minutes: Array

    @staticmethod
    def begin(compiled: BankModel, takers: int) -> "States":
        """Nobody has answered anything."""
        boxes: dict[Scope, Box] = {}
        for scope in compiled.scopes:
            low = np.zeros((takers, *(compiled.model.sizes[v] for v in scope)))
            boxes[scope] = (low, low if compiled.is_precise else low.copy())
        return States(np.full((takers, len(compiled.ids)), OPEN, dtype=np.int16), boxes, np.zeros(takers))

    @staticmethod
    def of(compiled: BankModel, answers: NDArray[np.int16]) -> "States":
        """The states of takers with these answers, (takers, questions)."""
        made = States.begin(compiled, len(answers))
        everyone = np.arange(len(answers))
        for question in np.flatnonzero((answers != OPEN).any(axis=0)):
            some = everyone[answers[:, question] != OPEN]
            made.put(compiled, some, np.full(len(some), question), answers[some, question].astype(np.intp))
        return made

    def take(self, takers: Numbers) -> "States":
        """Some of them."""
        boxes: dict[Scope, Box] = {}
        for scope, (low, high) in self.boxes.items():
            chosen = low[takers]
            boxes[scope] = (chosen, chosen if high is low else high[takers])
        return States(self.answers[takers], boxes, self.minutes[takers])

    def put(self, compiled: BankModel, takers: Numbers, questions: Numbers, classes: Numbers) -> None:
        """Note the answers of some takers, one question each; MISSING tells nothing."""
        self.answers[takers, questions] = classes
        self.minutes[takers] += compiled.minutes[questions]
        telling = (classes != MISSING) & compiled.is_scored[questions]
        takers, questions, classes = takers[telling], questions[telling], classes[telling]
        which = compiled.scope_numbers[questions]
        for number, scope in enumerate(compiled.scopes):
            mine = which == number
            if mine.any():
                place = compiled.places_in_scope[questions[mine]]
                low, high = self.boxes[scope]
                low[takers[mine]] += compiled.logs[scope][0][place, classes[mine]]
                if high is not low:
                    high[takers[mine]] += compiled.logs[scope][1][place, classes[mine]]

    def patterns(self, compiled: BankModel) -> list[tuple[Numbers, dict[Scope, Box]]]:
        """Takers who have answered questions of the same several-skill scopes, with the boxes that say something to them.

        A box over several skills ties them together, so it must not be there for those who have none.
        """
        wide = [number for number, scope in enumerate(compiled.scopes) if len(scope) > 1]
        scopes = list(compiled.scopes)
        told = np.stack([((self.answers >= 0) & (compiled.scope_numbers == n)).any(axis=1) for n in wide], axis=1) if wide else None
        if told is None or compiled.is_precise:
            return [(np.arange(len(self.answers)), self.boxes)]
        found = []
        for pattern in np.unique(told, axis=0):
            takers = np.flatnonzero((told == pattern).all(axis=1))
            silent = {scopes[n] for n, tells in zip(wide, pattern, strict=True) if not tells}
            boxes = {scope: (low[takers], high[takers]) for scope, (low, high) in self.boxes.items() if scope not in silent}
            found.append((takers, boxes))
        return found


@dataclass
class Decision:
    """For each taker: bounds of each skill now, whether the test stops, the next question (-1: none), the rule that stops.

    `chances`: for questions held out P(class | evidence), the centre of its bounds, (takers, held, classes); 0 beyond the last class.
    """

    bounds: list[Ends]
    stopped: NDArray[np.bool_]
    next: Numbers
    rule: NDArray[np.object_]
    chances: Array | None = None


class Steps:
    """The steps of a test by plain rules (score, then, bound, target, per, stop), for many takers at once."""

    def __init__(self, bank: Bank, rules: Rules, held: Numbers | None = None) -> None:
        self.bank, self.rules, self.compiled, self._held = bank, rules, bank_model(bank), held
        questions = list(bank.questions.values())
        self._of_skill = np.array([[skill in question.skills for skill in bank.skills] for question in questions], dtype=float)
        self._best = np.array([len(question.classes) - 1 for question in questions])
        self._order = [self.compiled.position[skill] for skill in bank.skills]
        self._possible: set[bytes] = set()

    def decide(self, states: States, available: NDArray[np.bool_] | None = None, seeds: Sequence[int] = ()) -> Decision:
        """Bounds, stop and next question of each taker; `available`: (takers, questions), questions that may be asked at all."""
        takers = len(states.answers)
        sizes = [len(skill.levels) for skill in self.bank.skills.values()]
        bounds = [(np.empty((takers, size)), np.empty((takers, size))) for size in sizes]
        stopped, following, rule = np.zeros(takers, dtype=bool), np.full(takers, -1), np.full(takers, "", dtype=object)
        is_open = (states.answers == OPEN) & self.compiled.is_scored
        if available is not None:
            is_open &= available
        chances = None if self._held is None else np.zeros((takers, len(self._held), int(self._best.max()) + 1))
        self._refuse_impossible(states)
        for some, boxes in states.patterns(self.compiled):
            ways = Ways(self.compiled, boxes, len(some))
            mine = [ways.now(skill) for skill in self._order]
            for (low, high), (new_low, new_high) in zip(bounds, mine, strict=True):
                low[some], high[some] = new_low, new_high
            part = states.take(some) if len(some) < takers else states
            own = [seeds[taker] for taker in some] if seeds else []
            stopped[some], following[some], rule[some] = self._step(part, ways, mine, is_open[some], own)
            if chances is not None and self._held is not None:
                chances[some] = _chances(ways.foretell(is_open[some]), self._held, chances.shape[2])
        return Decision(bounds, stopped, following, rule, chances)

    def _refuse_impossible(self, states: States) -> None:
        """Raise AnswerError, as a session does, when the bank rules the answers of somebody out: a truth may allow more than the bank.

        Only what is ruled out matters, so those for whom it is the same are looked at once.
        """
        ruled_out = np.concatenate([~np.isfinite(high).reshape(len(high), -1) for _, high in states.boxes.values()], axis=1)
        for taker in np.flatnonzero(ruled_out.any(axis=1)):
            key = np.packbits(ruled_out[taker]).tobytes()
            if key not in self._possible:
                given = states.answers[taker].tolist()
                told = [(question, answer) for question, answer in zip(self.bank.questions.values(), given, strict=True) if answer >= 0]
                refuse_conflict(self.bank, {q.id: q.classes[answer] for q, answer in told if not q.pilot}, {})
                self._possible.add(key)

    def _step(
        self, states: States, ways: Ways, bounds: list[Ends], is_open: NDArray[np.bool_], seeds: Sequence[int]
    ) -> tuple[NDArray[np.bool_], Numbers, NDArray[np.object_]]:
        ahead: list[tuple[Lookahead, Array]] = []
        second = second_score(self.rules.score, self.rules.then)

        def gains() -> Array:
            """Gains of all questions, (takers, questions), -inf where they cannot be asked; worked out once."""
            if not ahead:
                blind = {self.rules.score, second or self.rules.score} <= BLIND
                looked = Lookahead(self.compiled.ids, is_open, ()) if blind else ways.look(is_open, self.rules.target)
                found = gains_of(self.bank, looked, self.rules.score, self.rules.bound, self.rules.per, self._generators(states, seeds))
                ahead.append((looked, np.where(is_open, found, -np.inf)))
            return ahead[0][1]

        rule = np.where(is_open.any(axis=1), "", NO_QUESTION).astype(object)
        if self.rules.stop is not None:
            found = np.broadcast_to(self.rules.stop.rule(self._situation(states, bounds, gains)), rule.shape)
            rule = np.where(found == "", rule, found)
        over = rule != ""
        if over.all():
            return over, np.full(len(over), -1), rule
        tied = top(gains())
        if second is not None and (tied.sum(axis=1) > 1).any():
            then = gains_of(self.bank, ahead[0][0], second, self.rules.bound, self.rules.per, self._generators(states, seeds, again=True))
            tied = top(np.where(tied, then, -np.inf))
        return over, np.where(over, -1, tied.argmax(axis=1)), rule

    def _generators(self, states: States, seeds: Sequence[int], again: bool = False) -> list[np.random.Generator]:
        """The generators that a session of each taker would use at this step."""
        steps = (states.answers != OPEN).sum(axis=1)
        made = [np.random.default_rng([seed, int(step), 0]) for seed, step in zip(seeds, steps, strict=True)] if seeds else []
        if again and self.rules.score == "random":
            for generator in made:
                generator.random(states.answers.shape[1])  # the first score has drawn from it
        return made

    def _situation(self, states: States, bounds: list[Ends], gains: Callable[[], Array]) -> Situation:
        asked = (states.answers != OPEN) & self.compiled.is_scored
        beliefs = {
            skill.id: ManyBounds(skill.levels, low, high) for skill, (low, high) in zip(self.bank.skills.values(), bounds, strict=True)
        }
        counts = asked @ self._of_skill

        def best() -> Array:
            found = gains().max(axis=1)
            return np.where(np.isfinite(found), found, np.nan)

        return Situation(
            beliefs,
            asked.sum(axis=1),
            {skill: counts[:, number] for number, skill in enumerate(self.bank.skills)},
            ((states.answers == self._best) & asked).sum(axis=1),
            states.minutes,
            best,
            lambda index: joint_uncertainties(self.compiled, states.boxes, index),
        )


def _chances(ahead: Lookahead, held: Numbers, classes: int) -> Array:
    """P(class | evidence) of some questions, (takers, held, classes)."""
    found = np.zeros((len(ahead.open), len(held), classes))
    for group in ahead.groups:
        row = dict(zip(group.batch.index.tolist(), group.batch.row.tolist(), strict=True))
        mine = [number for number, place in enumerate(held.tolist()) if place in row]
        if mine:
            low, high = (end[:, [row[int(held[number])] for number in mine]] for end in group.answers)
            found[:, mine, : low.shape[2]] = centre(low, high)
    return found


def top(gains: Array) -> NDArray[np.bool_]:
    """The best questions of each taker, (takers, questions): those tied with the largest gain, as `ranking.ordered` has it."""
    least = gains.max(axis=1, keepdims=True)
    while True:
        tied = gains >= least - TIED
        reached = np.where(tied, gains, np.inf).min(axis=1, keepdims=True)
        if (reached >= least).all():
            return np.asarray(tied & np.isfinite(gains))
        least = np.minimum(least, reached)


def unique_rows(rows: NDArray[np.int16]) -> tuple[Numbers, Numbers]:
    """Where each different row stands first, and for each row the number of the one it equals."""
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))
    _, first, inverse = np.unique(packed, return_index=True, return_inverse=True)
    return first, inverse.reshape(-1)
