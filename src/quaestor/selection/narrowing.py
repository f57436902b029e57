"""The rules that narrow the choice, one after another, as array operations over takers; every one says what it did.

Masks have the shape (takers, questions). A rule is a function of where the takers stand (`Standing`) and the questions left (`Candidates`);
docs/rules.md tells what each means.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from quaestor.i18n import say, together
from quaestor.inference.engine import Bracket
from quaestor.inference.evidence import Evidence
from quaestor.inference.layout import Numbers
from quaestor.lazy import lazy
from quaestor.model.table import Array
from quaestor.selection.plan import Mask, Plan
from quaestor.selection.stopping.criterion import ManyBounds

Text = Callable[[int], str]
LEAST_BEHIND = 0.5 - 1e-9  # of a question: then a content is behind its share


@dataclass(frozen=True)
class Narrowing:
    """A rule that narrowed the choice: its name, what it did in words, and how many questions it left."""

    rule: str
    text: str
    left: int


@dataclass(frozen=True, eq=False)
class Standing:
    """Where N takers stand. `bounds`: of each skill now, in the order of the bank; `seeds`: of their sessions (empty: nothing is drawn).

    `waiting`: who would stop, were it not for what must still be asked. `left`: how many more questions there may be, if that is limited.
    """

    plan: Plan
    evidence: Evidence
    bounds: Callable[[], Sequence[Bracket]]
    seeds: Sequence[int]
    waiting: Mask
    left: Array

    @property
    def takers(self) -> int:
        """How many they are."""
        return self.evidence.takers

    @lazy
    def asked(self) -> Mask:
        """Which questions were asked, (takers, questions)."""
        return ~self.evidence.is_open

    @lazy
    def scored(self) -> Mask:
        """Which questions that count were asked, (takers, questions)."""
        return self.asked & self.plan.layout.is_scored

    @lazy
    def scored_count(self) -> Numbers:
        """How many questions that count were asked, (takers,)."""
        return np.asarray(self.scored.sum(axis=1))

    def count(self, members: Mask) -> Numbers:
        """How many questions that count and belong to something were asked, (takers,)."""
        return np.asarray(self.scored[:, members].sum(axis=1))

    @lazy
    def still_open(self) -> Mask:
        """Which questions that count were not asked, (takers, questions)."""
        return self.evidence.is_open & self.plan.layout.is_scored

    def rng(self, taker: int, purpose: int) -> np.random.Generator:
        """The generator of a taker's step, for one purpose: the same whenever the same step is reached with the same seed."""
        return np.random.default_rng([self.seeds[taker], int(self.evidence.counts[taker]), purpose])

    @lazy
    def missing(self) -> list[tuple[str, Mask, Numbers]]:
        """For each content its name, its questions and how many of them the rules still want, (takers,), where there are any left."""
        found = []
        for content, members in self.plan.content:
            if content.least:
                available = self.still_open[:, members].sum(axis=1)
                found.append((content.of, members, np.maximum(np.minimum(content.least - self.count(members), available), 0)))
        return found

    @lazy
    def due(self) -> Numbers:
        """For each mandatory question what must be asked for it now, (takers, mandatory): of a testlet its next question; -1: was asked."""
        found = np.full((self.takers, len(self.plan.mandatory)), -1)
        for column, number in enumerate(self.plan.mandatory.tolist()):
            testlet = self.plan.testlet_of[number]
            following = testlet[self.evidence.is_open[:, testlet].argmax(axis=1)]
            found[:, column] = np.where(self.asked[:, number], -1, following)
        return found


class Candidates:
    """The questions left for each taker, and what took the others away; only the choice of `active` takers is narrowed."""

    def __init__(self, mask: Mask) -> None:
        self.mask, self.active = mask, np.ones(len(mask), dtype=bool)
        self._notes: list[tuple[str, Text, Mask, Numbers]] = []

    def keep(self, rule: str, text: Text, wanted: Mask, where: Mask | None = None, or_all: bool = False) -> None:
        """Keep the wanted questions of some takers (`where`); `or_all`: unless none is left."""
        kept = self.mask & wanted
        left = kept.sum(axis=1)
        acts = (left < self.mask.sum(axis=1)) & self.active
        if or_all:
            acts &= left > 0
        if where is not None:
            acts &= where
        if acts.any():
            self.mask = kept if acts.all() else np.where(acts[:, None], kept, self.mask)
            self._notes.append((rule, text, acts, left))

    def note(self, rule: str, text: Text, where: Mask, left: Numbers | int = 1) -> None:
        """Say that a rule chose."""
        if where.any():
            self._notes.append((rule, text, where, np.broadcast_to(left, len(where))))

    def notes(self, taker: int) -> tuple[Narrowing, ...]:
        """What narrowed the choice of one taker."""
        return tuple(Narrowing(rule, text(taker), int(left[taker])) for rule, text, acts, left in self._notes if acts[taker])


def named(questions: Sequence[str]) -> str:
    """Some questions by their ids, a long list cut short."""
    if len(questions) <= 4:
        return ", ".join(questions)
    return say("{list} and {count} more", list=", ".join(questions[:3]), count=len(questions) - 3)


def close(now: Standing, left: Candidates) -> None:
    """Take away what may not be asked now: excluded, out of order in a testlet, too many of a content, decided, worn."""
    plan, rules = now.plan, now.plan.rules
    if plan.exclude:
        closed = np.zeros_like(now.asked)
        for ids in plan.exclude:
            closed[:, ids] |= now.asked[:, ids].any(axis=1, keepdims=True)
        left.keep("exclude", lambda taker: say("questions that exclude one another: one of them was asked"), ~closed)
    if plan.testlets:
        later = np.zeros_like(now.asked)
        for ids in plan.testlets:
            rest = now.evidence.is_open[:, ids]
            later[:, ids] |= rest & (np.cumsum(rest, axis=1) > 1)
        left.keep("testlets", lambda taker: say("a testlet is asked in its order"), ~later)
    for content, members in plan.content:
        if content.most is not None:
            text = say("{of}: the rules allow no more than {most} {most:question|questions}", of=content.of, most=content.most)
            left.keep("content", _always(text), ~members, np.asarray(now.count(members) >= content.most))
    if rules.retire is not None:
        _retire(now, left)
    if rules.exposure.most is not None:
        text = say("questions that {share:.0%} of the takers or more have seen rest", share=rules.exposure.most)
        left.keep("exposure", _always(text), ~plan.worn, or_all=True)


def _always(text: str) -> Text:
    return lambda taker: text


def _retire(now: Standing, left: Candidates) -> None:
    layout, retire = now.plan.layout, now.plan.rules.retire
    assert retire is not None
    skills = list(layout.bank.skills.values())
    decided = [
        np.broadcast_to(retire.decides(ManyBounds(skill.levels, *bracket.ends)), now.takers)
        for skill, bracket in zip(skills, now.bounds(), strict=True)
    ]
    known = np.stack(decided, axis=1)
    undecided = (~known).astype(float) @ layout.of_skill.T.astype(float) > 0

    def text(taker: int) -> str:
        return say(
            "enough is known of {skills}", skills=", ".join(s.id for s, is_known in zip(skills, known[taker], strict=True) if is_known)
        )

    left.keep("retire", text, undecided)


def forced(now: Standing, left: Candidates) -> Numbers:
    """A question that the rules name whatever the gains, (takers,), -1 for none: the first ones, the next of a testlet, a pilot."""
    plan, rules = now.plan, now.plan.rules
    found = np.full(now.takers, -1)
    if rules.first:
        rest = now.evidence.is_open[:, plan.first]
        found = np.where(rest.any(axis=1), plan.first[rest.argmax(axis=1)], found)
        left.note("first", lambda taker: say("the test begins with {questions}", questions=named(rules.first)), found >= 0)
    for ids, names in zip(plan.testlets, rules.testlets, strict=True):
        rest = now.evidence.is_open[:, ids]
        begun = (found < 0) & rest.any(axis=1) & ~rest.all(axis=1)
        found = np.where(begun, ids[rest.argmax(axis=1)], found)
        left.note("testlets", _always(say("the questions {questions} are asked together", questions=named(names))), begun)
    if rules.pilots:
        _pilot(now, left, found)
    return found


def _pilot(now: Standing, left: Candidates, found: Numbers) -> None:
    """A pilot question after some of the first questions, drawn for the whole test."""
    wanted, pilots = now.plan.rules.pilots, now.plan.pilots
    free = now.evidence.is_open[:, pilots]
    seen = (~free).sum(axis=1)
    chosen = np.zeros(now.takers, dtype=bool)
    for taker in np.flatnonzero((found < 0) & (seen < wanted)).tolist():
        within = max(10, 2 * wanted)
        if np.isfinite(now.left[taker]):  # a test that is limited has room for its pilots before its last question
            within = max(wanted, min(within, int(now.left[taker]) + int(now.scored_count[taker]) - 1))
        if now.scored_count[taker] >= _pilot_steps(now.seeds[taker], within, wanted)[seen[taker]]:
            open_pilots = pilots[free[taker]]
            found[taker] = open_pilots[int(now.rng(taker, 1).integers(len(open_pilots)))]
            chosen[taker] = True
    left.note("pilots", _always(say("a pilot question, which does not count, is tried out")), chosen, free.sum(axis=1))


@lru_cache(maxsize=4096)
def _pilot_steps(seed: int, within: int, wanted: int) -> tuple[int, ...]:
    """After how many questions that count the pilots of a test come."""
    steps = np.sort(np.random.default_rng([seed, 0, 9]).choice(within, wanted, replace=False)) + 1
    return tuple(steps.tolist())


def is_wanting(now: Standing) -> Mask:
    """Who must still be asked something before the test may stop, (takers,): something that the other rules let be asked."""
    plan = now.plan
    found = np.zeros(now.takers, dtype=bool)
    for ids in plan.testlets:
        rest = now.evidence.is_open[:, ids]
        found |= rest.any(axis=1) & ~rest.all(axis=1)
    if len(plan.first):
        found |= now.evidence.is_open[:, plan.first].any(axis=1)
    wanted = _due_mask(now)
    for _, members, short in now.missing:
        wanted |= members & (short > 0)[:, None]
    if found.all() or not wanted.any():
        return found
    left = Candidates(now.still_open)
    close(now, left)
    return np.asarray(found | (left.mask & wanted).any(axis=1))


def _due_mask(now: Standing) -> Mask:
    mask = np.zeros_like(now.asked)
    for column in now.due.T:
        takers = np.flatnonzero(column >= 0)
        mask[takers, column[takers]] = True
    return mask


def keep_to_content(now: Standing, left: Candidates) -> None:
    """Keep to what must be asked: mandatory questions, contents that are short, shares."""
    plan = now.plan
    if plan.rules.mandatory:

        def must(taker: int) -> str:
            ids = dict.fromkeys(plan.layout.questions[number].id for number in now.due[taker].tolist() if number >= 0)
            return say("{questions} must be asked in any case", questions=named(list(ids)))

        left.keep("mandatory", must, _due_mask(now), np.asarray((now.due >= 0).any(axis=1)), or_all=True)
    if now.missing:
        short = np.stack([count for _, _, count in now.missing], axis=1)
        total = short.sum(axis=1)

        def least(taker: int) -> str:
            each = [say("{count} more on {of}", count=int(count[taker]), of=of) for of, _, count in now.missing if count[taker] > 0]
            return say("the rules want at least {each}", each=together(each, ", "))

        wanted = (short > 0) @ np.stack([members for _, members, _ in now.missing])
        left.keep("content", least, wanted, np.asarray((total > 0) & (now.waiting | (now.left <= total))), or_all=True)
    if plan.shares:
        _keep_to_shares(now, left)


def _keep_to_shares(now: Standing, left: Candidates) -> None:
    contents = now.plan.shares
    members = np.stack([mask for _, mask in contents])
    behind = np.stack([(c.share or 0.0) * (now.scored_count + 1) - now.count(mask) for c, mask in contents], axis=1)  # (takers, contents)
    most = behind.max(axis=1, keepdims=True)
    is_behind = np.asarray(most[:, 0] >= LEAST_BEHIND)
    chosen, ahead = behind >= most - 1e-9, behind < LEAST_BEHIND

    def of(mask: Mask, taker: int) -> str:
        return ", ".join(content.of for (content, _), is_one in zip(contents, mask[taker], strict=True) if is_one)

    def is_short(taker: int) -> str:
        return say("{of}: behind the share of the questions that the rules want", of=of(chosen, taker))

    def has_had(taker: int) -> str:
        return say("{of}: has had its share of the questions", of=of(ahead, taker))

    left.keep("content", is_short, chosen @ members, is_behind, or_all=True)
    left.keep("content", has_had, ~(ahead @ members), ~is_behind, or_all=True)


def vary(now: Standing, left: Candidates, gains: Callable[[], Array]) -> None:
    """Avoid a tedious run, at the price that the rules state; gains: (takers, questions)."""
    variety = now.plan.rules.variety
    if variety is None:
        return
    enough_asked = now.scored_count >= variety.after
    if not enough_asked.any():
        return
    last = _last_scored(now, variety.after)
    masked = np.where(left.mask, gains(), -np.inf)
    best = masked.max(axis=1, keepdims=True)  # of all kinds together: the price is paid once
    near = masked >= best - variety.give_up * np.abs(np.where(np.isfinite(best), best, 0.0))
    for of in variety.of:
        codes, names = now.plan.kinds[of]
        values = codes[last]
        same = values[:, 0]
        tedious = enough_asked & (values == same[:, None]).all(axis=1) & (same > 0)
        left.keep("variety", _tedious(variety.after, of, same, names), near & (codes != same[:, None]), tedious, or_all=True)


def _last_scored(now: Standing, count: int) -> Numbers:
    """The last questions that count of each taker, (takers, count), the latest last; whoever has fewer gets others in their place."""
    asked = now.evidence.asked
    counts = (asked >= 0) & now.plan.layout.is_scored[np.maximum(asked, 0)]
    if asked.shape[1] < count:
        return np.zeros((now.takers, count), dtype=np.intp)
    order = np.argsort(counts, axis=1, kind="stable")[:, -count:]
    return np.take_along_axis(np.maximum(asked, 0), order, axis=1).astype(np.intp)


def _tedious(after: int, of: str, same: Numbers, names: list[tuple[str, ...]]) -> Text:
    def text(taker: int) -> str:
        told = {"after": after, "same": ", ".join(names[same[taker]])}
        if of == "skill":
            return say("the last {after} {after:question|questions} had the same skill ({same}); others gain nearly as much", **told)
        if of == "group":
            return say("the last {after} {after:question|questions} had the same group ({same}); others gain nearly as much", **told)
        return say("the last {after} {after:question|questions} had the same template ({same}); others gain nearly as much", **told)

    return text
