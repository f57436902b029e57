"""One step of a test, for N takers at once: does it stop, and why; which question is next, and what narrowed the choice.

`step(rules, evidence)` serves a session (N = 1), simulation, exact evaluation, policies, exposure tables and the server. Inference is done
once for all takers with equal answers. What is not asked for is not worked out: beliefs alone need no gains, a limit on questions needs
no look-ahead.

    evidence -> Chooser -> bounds now -> stop?            (stopping, is_wanting)
                        -> look-ahead -> gains -> narrowed by the rules -> best, drawn or voted for -> question
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from quaestor.draws import Draws
from quaestor.errors import QuaestorError
from quaestor.i18n import Said, say
from quaestor.inference.chooser import Chooser
from quaestor.inference.engine import Bracket
from quaestor.inference.evidence import Evidence, different
from quaestor.inference.layout import Numbers
from quaestor.inference.lookahead import Group, Lookahead, Targets, look
from quaestor.inference.posterior import beliefs_of
from quaestor.inference.reached import Reached
from quaestor.lazy import lazy
from quaestor.model.beliefs import Beliefs
from quaestor.model.table import Array, centre
from quaestor.seeds import Seeds
from quaestor.selection.caps import Caps, Look, leading
from quaestor.selection.choice import Choice, Choosing
from quaestor.selection.deeper import gains_after
from quaestor.selection.narrowing import Standing, is_wanting
from quaestor.selection.plan import Mask, plan_of
from quaestor.selection.ranking import Ranking, gains_of, per_minute
from quaestor.selection.robust import counted, votes
from quaestor.selection.rules import Robust, Rules
from quaestor.selection.same_decision import SameDecision, same_decision
from quaestor.selection.scores.known import BLIND, DRAWN, UNCERTAINTY
from quaestor.selection.seen import Counts, Known, Priors
from quaestor.selection.stopping.criterion import Situation
from quaestor.selection.ties import best, ordered, tied_best

NO_QUESTION = "no question left"  # what ends a test that no criterion ends


def step(
    rules: Rules,
    evidence: Evidence,
    seeds: Seeds = (),
    available: Mask | None = None,
    are_different: bool = False,
    reached: Reached | None = None,
) -> "Decision":
    """What happens next to each taker.

    `seeds`: of their sessions, one each, where the rules draw. `available`: (takers, questions), what may be asked at all, where that is
    not everything. `are_different`: it is known that no two takers have answered the same. `reached`: what is known of one taker whose
    time is up, instead of what inference would find.
    """
    return Decision(rules, evidence, seeds, available, are_different, reached)


class Decision:
    """What happens next to each of N takers: `stopped`, `rule`, `question`, `bounds`; for one of them `choice`, `reason`, `beliefs`."""

    def __init__(
        self,
        rules: Rules,
        evidence: Evidence,
        seeds: Seeds,
        available: Mask | None,
        are_different: bool,
        reached: Reached | None,
    ) -> None:
        self.rules, self.evidence, self._reached = rules, evidence, reached
        self._plan = plan_of(rules, evidence.layout)
        self._seeds, self._available = seeds, available
        self._futures: dict[tuple[int, int, bytes], SameDecision] = {}
        self._draws = rules.score in DRAWN or self._plan.second in DRAWN
        self._few, self._row = (evidence, None) if are_different or evidence.takers == 1 or self._draws else _distinct(evidence)

    # What is known

    @lazy
    def chooser(self) -> Chooser:
        """Inference for all that is different in the evidence."""
        return self._reached or Chooser(self._few.model, self._few.takers)

    @lazy
    def _bounds(self) -> list[Bracket]:
        return [self.chooser.now(skill) for skill in self.evidence.layout.order]

    @lazy
    def bounds(self) -> list[Bracket]:
        """What is known of each skill now, in the order of the bank, (takers, levels)."""
        return [self.known(skill) for skill in self.evidence.layout.bank.skills]

    def known(self, skill: str) -> Bracket:
        """What is known of one skill now, (takers, levels)."""
        bracket = self.chooser.now(self.evidence.layout.position[skill])
        return bracket if self._row is None else bracket.take(self._row)

    def beliefs(self, taker: int = 0) -> Beliefs:
        """What is known of every skill of one taker."""
        return beliefs_of(self._few, self._bounds, taker if self._row is None else int(self._row[taker]))

    def predicted(self, questions: Numbers) -> Array:
        """P(class | evidence) of some questions, the centre of its bounds, (takers, questions, classes); 0 beyond the last class."""
        layout = self.evidence.layout
        found = np.zeros((self._few.takers, len(questions), int(layout.classes.max())))
        numbers, tables = layout.batch_numbers(questions)
        for number in np.unique(numbers):
            mine = np.flatnonzero(numbers == number)
            low, high = (end[:, tables[mine]] for end in self.chooser.answers(layout.batches[number]).ends)
            found[:, mine, : low.shape[2]] = centre(low, high)
        return self.of_everyone(found)

    # What questions would tell

    @lazy
    def open(self) -> Mask:
        """Which questions may be asked and count, (takers, questions)."""
        is_open = self.evidence.is_open & self.evidence.layout.is_scored
        return is_open if self._available is None else is_open & self._available

    @lazy
    def _ahead(self) -> Lookahead:
        """What each question would tell of the rules' targets, for all that is different in the evidence."""
        if {self.rules.score, self._plan.second or self.rules.score} <= BLIND:
            return Lookahead(self.evidence.layout.ids, self._few.is_open, ())
        return self._look(self.rules.target)

    def _look(self, targets: Targets) -> Lookahead:
        layout = self.evidence.layout
        return look(layout, self.chooser, self._few.is_open & layout.is_scored, targets)

    @lazy
    def ahead(self) -> Lookahead:
        """What each open question would tell of its own skills."""
        return self._ahead if self.rules.target == "scope" and self._ahead.groups else self._look("scope")

    @lazy
    def _drawn(self) -> Draws:
        """What scores draw; the second score goes on where the first one stopped."""
        return Draws(self._seeds, self.evidence.counts, 0)

    @lazy
    def gains(self) -> Array:
        """The gain of every question, (takers, questions); of those that are not open it says nothing."""
        found = self._gains(self.rules.score)
        return found if self.rules.ahead == 1 else found + self._later()

    def _later(self) -> Array:
        """What further questions are expected to gain after each one, as far as the rules look and the test may go, (takers, questions)."""
        found = np.zeros(self.open.shape)
        steps = np.minimum(self.rules.ahead, self.most_left).astype(int)
        for left in range(2, self.rules.ahead + 1):
            some = np.flatnonzero(steps == left)
            if len(some):
                rules = Rules(self.rules.score, None, target=self.rules.target, ahead=left - 1)
                chances = self.predicted(np.arange(len(self.evidence.layout.questions)))[some]
                found[some] = gains_after(self.evidence.take(some), self.open[some], chances, partial(_best_gain, rules, self.open[some]))
        return found

    @lazy
    def _second_gains(self) -> Array:
        _ = self.gains  # which may draw first
        return self._gains(self._plan.second or self.rules.score)

    def _gains(self, score: str) -> Array:
        return self.of_everyone(self._gains_of(self._ahead, score))

    def _gains_of(self, ahead: Lookahead, score: str) -> Array:
        return gains_of(self.evidence.layout, ahead, score, self.rules.bound, self.rules.per, self._drawn)

    @property
    def second(self) -> Callable[[], Array] | None:
        """What finds the gains by the second score; None where there is none."""
        return (lambda: self._second_gains) if self._plan.second else None

    def best(self, candidates: Mask) -> Numbers:
        """The best of some questions of each taker, (takers,), -1 where there are none.

        Where gains may take a search, only those that may be the best are worked out: the choice is the same.
        """
        rules, second = self.rules, self._plan.second
        may_skip = rules.bound == "upper" and not self.evidence.layout.is_precise and self.evidence.layout.model.is_tied
        if not may_skip or rules.score not in UNCERTAINTY or self._reached or "gains" in self.__dict__:
            gains = self.gains.copy()
            gains[~candidates] = -np.inf
            return best(gains, self.second)
        gains = self._leading(rules.score, candidates)
        if second not in UNCERTAINTY:
            return best(gains, self.second)
        return best(gains, lambda: self._leading(second, tied_best(gains)))

    def _leading(self, score: str, candidates: Mask) -> Array:
        """The gains of the candidates that may be the best, (takers, questions); -inf elsewhere."""
        ahead, minutes = self._ahead, self.evidence.layout.minutes
        caps = Caps(self._few.model, self.chooser, ahead, score)

        def shared(find: Look) -> Look:
            return lambda group: self.of_everyone(per_minute(find(group), minutes[group.batch.index], self.rules.per))

        def gain(group: Group) -> Array:
            return self.of_everyone(self._gains_of(replace(ahead, groups=(group,)), score)[:, group.batch.index])

        rough, good = partial(caps.of, roughly=True), partial(caps.of, roughly=False)
        return leading(candidates, ahead.groups, shared(rough), shared(caps.floors), shared(good), gain)

    # Stopping

    @lazy
    def situation(self) -> Situation:
        """Where the takers stand, as criteria see it."""
        evidence, layout = self.evidence, self.evidence.layout
        asked = np.maximum(evidence.asked, 0)
        best = np.take_along_axis(evidence.answers, asked, axis=1) == layout.classes[asked] - 1
        return Situation(
            Known(layout.bank.skills, lambda skill: self.known(skill).ends),
            np.asarray(evidence.counted.sum(axis=1)),
            Counts(evidence),
            np.asarray((best & evidence.counted).sum(axis=1)),
            evidence.minutes,
            lambda: self._free.best_gain,
            self.joint_uncertainty,
            Priors(layout),
            self.future,
        )

    def future(self, taker: int = 0, seed: int = 0) -> SameDecision:
        """Whether more questions would change the result of one taker: all that may be asked or, where the rules allow fewer, so many of
        those that tell most now.
        """
        numbers = np.flatnonzero(self.open[taker])
        if self.most_left[taker] < len(numbers):
            numbers = self.ranking(taker).numbers[: max(int(self.most_left[taker]), 0)]
        key = (taker if self._row is None else int(self._row[taker]), seed, numbers.tobytes())
        if key not in self._futures:
            self._futures[key] = same_decision(self.evidence, taker, numbers, seed)
        return self._futures[key]

    def of_everyone(self, found: Array) -> Array:
        """One row a taker, from one for all that is different in the evidence."""
        return found if self._row is None else found[self._row]

    def joint_uncertainty(self, index: str) -> Array:
        """An index of uncertainty of all skills together, (takers,); for precise banks."""
        if not self.evidence.layout.is_precise:
            raise QuaestorError("the joint uncertainty is for precise banks, got a credal one")
        return self.of_everyone(self.chooser.precise.uncertainty(index))

    @lazy
    def _criterion(self) -> NDArray[np.object_]:
        """The name of the criterion that says stop, (takers,), whatever else is wanted; empty where none does."""
        if self.rules.stop is None:
            return np.full(self.evidence.takers, "", dtype=object)
        found = self.rules.stop.rule(self.situation)
        return found if found.shape == (self.evidence.takers,) else np.broadcast_to(found, self.evidence.takers)

    @lazy
    def _waiting(self) -> Mask:
        """Who would stop, but must be asked more before, and no limit on questions or minutes forbids it, (takers,)."""
        over = self._criterion != ""
        if not over.any() or not self._plan.holds_back:
            return np.zeros(self.evidence.takers, dtype=bool)
        ends = [np.asarray(limit.holds(self.situation)) for limit in self._plan.limits]
        return np.asarray(over & is_wanting(self._standing(over, self.most_left)) & ~np.logical_or.reduce([~over, *ends]))

    @lazy
    def rule(self) -> NDArray[np.object_]:
        """What ends each test, (takers,): the name of a criterion, or that no question is left; empty for those that go on."""
        named = np.where(self._waiting, "", self._criterion)
        return np.where((named == "") & ~self._final.can_ask, NO_QUESTION, named)

    @lazy
    def stopped(self) -> Mask:
        """Whose test is over, (takers,)."""
        return np.asarray(self.rule != "")

    def reason(self, taker: int = 0) -> Said:
        """Why the test of one taker is over, in words."""
        if self.rule[taker] != NO_QUESTION and self.rules.stop is not None:
            return self.rules.stop.reason(self.situation.of_taker(taker))
        return say("No question is left that the rules allow.") if self.open[taker].any() else say("No question is left.")

    # Choosing

    @lazy
    def most_left(self) -> Array:
        """How many more questions that count the rules let be asked at most, (takers,); infinite where they set no limit."""
        if self._plan.most is None:
            return np.full(self.evidence.takers, np.inf)
        return np.asarray(self._plan.most - self.evidence.counted.sum(axis=1), dtype=float)

    def _standing(self, waiting: Mask, left: Array) -> Standing:
        return Standing(self._plan, self.evidence, lambda: self.bounds, self._seeds, waiting, left)

    @lazy
    def _free(self) -> Choosing:
        """The choice when nothing holds the test back."""
        return Choosing(self, self._standing(np.zeros(self.evidence.takers, dtype=bool), self.most_left))

    @lazy
    def _final(self) -> Choosing:
        """The choice, among what must still be asked where the test would stop otherwise."""
        if not self._waiting.any():
            return self._free
        return Choosing(self, self._standing(self._waiting, np.where(self._waiting, np.inf, self.most_left)))

    @lazy
    def question(self) -> Numbers:
        """The next question of each taker, (takers,), -1 for those whose test is over."""
        return np.full(self.evidence.takers, -1) if self.stopped.all() else np.where(self.stopped, -1, self._final.question)

    def ranking(self, taker: int = 0) -> Ranking:
        """All open questions of one taker, ranked by the rules' score, also when the test is over."""
        layout, rules, gains = self.evidence.layout, self.rules, self.gains[taker]
        second = (lambda: self._second_gains[taker]) if self._plan.second else None
        index = ordered(gains, second, np.flatnonzero(self.open[taker]))
        row = taker if self._row is None else int(self._row[taker])
        score = rules.score if rules.ahead == 1 else ""  # gains of several questions fall to no skill
        return Ranking(layout.ids[index], gains[index], layout, self._ahead, index, score, rules.bound, rules.per, row)

    def choice(self, taker: int = 0) -> Choice:
        """How the next question of one taker was chosen, also when the test is over."""
        found, layout = self._final, self.evidence.layout
        number = int(found.question[taker])
        ballots = counted(layout, found.ballots[taker]) if found.ballots is not None else {}
        gain = float(found.best_gain[taker])
        candidates = np.flatnonzero(found.candidates[taker])
        tied = candidates[tied_best(self.gains[[taker]][:, candidates])[0]] if len(candidates) else candidates
        still = tied[tied_best(self._second_gains[[taker]][:, tied])[0]] if len(tied) > 1 and self._plan.second else tied
        return Choice(
            layout.questions[number] if number >= 0 else None,
            self.ranking(taker),
            found.left.notes(taker),
            ballots,
            None if np.isnan(gain) else gain,
            candidates,
            tied,
            still,
        )

    def votes(self, robust: Robust, candidates: Numbers, taker: int = 0) -> dict[str, int]:
        """How many networks drawn from the set would ask one taker which of some questions."""
        mask = np.zeros_like(self.open)
        mask[taker, candidates] = True
        found = votes(self._standing(np.zeros(len(mask), dtype=bool), self.most_left), robust, mask)
        return counted(self.evidence.layout, found[taker])


def _best_gain(rules: Rules, is_open: Mask, then: Evidence, whose: Numbers) -> Array:
    """The largest gain of questions that were open, after one of them was answered, (takers,); 0 where none is left."""
    ahead = step(rules, then, available=is_open[whose])
    return np.asarray(np.maximum(np.where(ahead.open, ahead.gains, -np.inf).max(axis=1), 0.0))


def _distinct(evidence: Evidence) -> tuple[Evidence, Numbers | None]:
    """The evidence that is different, and for each taker the row of theirs; None where all is, or enough of it."""
    enough = evidence.takers // 2 + 1 if evidence.layout.is_precise else evidence.takers  # precise inference takes no longer than merging
    if different(evidence.answers) >= enough:
        return evidence, None
    first, row = evidence.alike()
    return (evidence, None) if len(first) == evidence.takers else (evidence.take(first), row)
