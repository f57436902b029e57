"""The rules that narrow the choice, one after another, as array operations over takers; every one says what it did.

Masks have the shape (takers, questions). A rule is a function of where the takers stand (`Standing`) and the questions left (`Candidates`),
listed at the end in the order in which they are followed; docs/rules.md tells what each means.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from quaestor.draws import Draws
from quaestor.i18n import say, together
from quaestor.inference.engine import Bracket
from quaestor.inference.evidence import Evidence
from quaestor.inference.layout import Numbers
from quaestor.lazy import lazy
from quaestor.model.table import Array
from quaestor.seeds import Seeds
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

    `waiting`: who would stop, were it not for what must still be asked. `most_left`: how many more questions there may be at most.
    """

    plan: Plan
    evidence: Evidence
    bounds: Callable[[], Sequence[Bracket]]
    seeds: Seeds
    waiting: Mask
    most_left: Array

    @property
    def takers(self) -> int:
        """How many they are."""
        return self.evidence.takers

    @lazy
    def asked(self) -> Mask:
        """Which questions were asked, (takers, questions)."""
        return self.evidence.is_asked

    @lazy
    def scored_count(self) -> Numbers:
        """How many questions that count were asked, (takers,)."""
        return np.asarray(self.evidence.counted.sum(axis=1))

    def count(self, members: Mask) -> Numbers:
        """How many questions that count and belong to something were asked, (takers,)."""
        return np.asarray((members[np.maximum(self.evidence.asked, 0)] & self.evidence.counted).sum(axis=1))

    @lazy
    def still_open(self) -> Mask:
        """Which questions that count were not asked, (takers, questions)."""
        return self.evidence.is_open & self.plan.layout.is_scored

    def draws(self, takers: Numbers, purpose: int) -> Draws:
        """What some takers draw at this step, for one purpose: the same whenever the same step is reached with the same seed."""
        return Draws(np.asarray(self.seeds)[takers], self.evidence.counts[takers], purpose)

    @lazy
    def missing(self) -> list[tuple[str, Mask, Numbers]]:
        """For each content its name, its questions and how many of them the rules still want, (takers,), where there are any left."""
        found = []
        for content, members in self.plan.content:
            if content.least:
                short = np.maximum(content.least - self.count(members), 0)
                some = np.flatnonzero(short)
                short[some] = np.minimum(short[some], self.still_open[np.ix_(some, np.flatnonzero(members))].sum(axis=1))
                found.append((content.of, members, short))
        return found

    @lazy
    def due(self) -> Numbers:
        """For each mandatory question what must be asked for it now, (takers, mandatory): of a testlet its next question; -1: nothing."""
        found = np.full((self.takers, len(self.plan.mandatory)), -1)
        for column, number in enumerate(self.plan.mandatory.tolist()):
            testlet = self.plan.testlet_of[number]
            following = testlet[self.evidence.is_open[:, testlet].argmax(axis=1)]
            found[:, column] = np.where(self.evidence.is_open[:, number], following, -1)
        return found


class Candidates:
    """The questions left for each taker, and what took the others away; only the choice of `active` takers is narrowed."""

    def __init__(self, mask: Mask) -> None:
        self.mask, self.active = mask, np.ones(len(mask), dtype=bool)
        self._notes: list[tuple[str, Text, Mask, Callable[[int], int]]] = []

    def keep(self, rule: str, text: Text, wanted: Mask, where: Mask | None = None, or_all: bool = False) -> None:
        """Keep the wanted questions of some takers (`where`); `or_all`: unless none is left."""
        acts = self.active if where is None else self.active & where
        if not acts.any():
            return
        kept = self.mask & wanted
        acts = acts & (kept != self.mask).any(axis=1)
        if or_all:
            acts &= kept.any(axis=1)
        if acts.any():
            self.mask = kept if acts.all() else np.where(acts[:, None], kept, self.mask)
            self._notes.append((rule, text, acts, lambda taker: int(kept[taker].sum())))

    def note(self, rule: str, text: Text, where: Mask, left: Numbers | int = 1) -> None:
        """Say that a rule chose."""
        if where.any():
            self._notes.append((rule, text, where, lambda taker: int(np.broadcast_to(left, len(where))[taker])))

    def notes(self, taker: int) -> tuple[Narrowing, ...]:
        """What narrowed the choice of one taker."""
        return tuple(Narrowing(rule, text(taker), left(taker)) for rule, text, acts, left in self._notes if acts[taker])


def named(questions: Sequence[str]) -> str:
    """Some questions by their ids, a long list cut short."""
    if len(questions) <= 4:
        return ", ".join(questions)
    return say("{list} and {count} more", list=", ".join(questions[:3]), count=len(questions) - 3)


def exclude(now: Standing, left: Candidates) -> None:
    """Of questions that exclude one another only one is asked."""
    if not now.plan.exclude:
        return
    closed = np.zeros_like(now.asked)
    for ids in now.plan.exclude:
        closed[:, ids] |= now.asked[:, ids].any(axis=1, keepdims=True)
    left.keep("exclude", _always(say("questions that exclude one another: one of them was asked")), ~closed)


def testlet_order(now: Standing, left: Candidates) -> None:
    """A testlet is asked in its order."""
    if not now.plan.testlets:
        return
    later = np.zeros_like(now.asked)
    for ids in now.plan.testlets:
        rest = now.evidence.is_open[:, ids]
        later[:, ids] |= rest & (np.cumsum(rest, axis=1) > 1)
    left.keep("testlets", _always(say("a testlet is asked in its order")), ~later)


def content_most(now: Standing, left: Candidates) -> None:
    """No more of a skill or group than the rules allow."""
    for content, members in now.plan.content:
        if content.most is not None:
            text = say("{of}: the rules allow no more than {most} {most:question|questions}", of=content.of, most=content.most)
            left.keep("content", _always(text), ~members, np.asarray(now.count(members) >= content.most))


def rest_worn(now: Standing, left: Candidates) -> None:
    """Questions that too many takers have seen rest, unless nothing else is left."""
    most = now.plan.rules.exposure.most
    if most is not None:
        text = say("questions that {share:.0%} of the takers or more have seen rest", share=most)
        left.keep("exposure", _always(text), ~now.plan.worn, or_all=True)


def follow_own(now: Standing, left: Candidates) -> None:
    """Rules that somebody else wrote."""
    for rule in now.plan.rules.narrow:
        left.keep(rule.name, _always(rule.words), rule.wanted(now, left.mask.shape), or_all=rule.or_all)


def _always(text: str) -> Text:
    return lambda taker: text


def retire(now: Standing, left: Candidates) -> None:
    """Nothing is asked that is only about skills of which enough is known."""
    layout, enough = now.plan.layout, now.plan.rules.retire
    if enough is None:
        return
    skills = list(layout.bank.skills.values())
    decided = [
        np.broadcast_to(enough.decides(ManyBounds(skill.levels, *bracket.ends)), now.takers)
        for skill, bracket in zip(skills, now.bounds(), strict=True)
    ]
    known = np.stack(decided, axis=1)
    undecided = (~known).astype(float) @ layout.of_skill.T.astype(float) > 0

    def text(taker: int) -> str:
        return say(
            "enough is known of {skills}", skills=", ".join(s.id for s, is_known in zip(skills, known[taker], strict=True) if is_known)
        )

    left.keep("retire", text, undecided)


def begin_with(now: Standing, left: Candidates, found: Numbers) -> None:
    """The questions that every test begins with."""
    if len(now.plan.first):
        rest = now.evidence.is_open[:, now.plan.first]
        chosen = (found < 0) & rest.any(axis=1)
        found[chosen] = now.plan.first[rest.argmax(axis=1)][chosen]
        left.note("first", _always(say("the test begins with {questions}", questions=named(now.plan.rules.first))), chosen)


def finish_testlets(now: Standing, left: Candidates, found: Numbers) -> None:
    """The next question of a testlet that was begun."""
    for ids, names in zip(now.plan.testlets, now.plan.rules.testlets, strict=True):
        rest = now.evidence.is_open[:, ids]
        begun = (found < 0) & rest.any(axis=1) & now.asked[:, ids].any(axis=1)
        found[begun] = ids[rest.argmax(axis=1)][begun]
        left.note("testlets", _always(say("the questions {questions} are asked together", questions=named(names))), begun)


def try_pilots(now: Standing, left: Candidates, found: Numbers) -> None:
    """A pilot question after some of the first questions, drawn for the whole test."""
    wanted, pilots = now.plan.rules.pilots, now.plan.pilots
    if not wanted:
        return
    free = now.evidence.is_open[:, pilots]
    seen = (~free).sum(axis=1)
    chosen = np.zeros(now.takers, dtype=bool)
    for taker in np.flatnonzero((found < 0) & (seen < wanted)).tolist():
        within = max(10, 2 * wanted)
        if np.isfinite(now.most_left[taker]):  # a test that is limited has room for its pilots before its last question
            within = max(wanted, min(within, int(now.most_left[taker]) + int(now.scored_count[taker]) - 1))
        if now.scored_count[taker] >= _pilot_steps(now.seeds[taker], within, wanted)[seen[taker]]:
            chosen[taker] = True
    some = np.flatnonzero(chosen)
    ranks = now.draws(some, 1).integers(free[some].sum(axis=1))
    found[some] = [pilots[free[taker]][rank] for taker, rank in zip(some.tolist(), ranks.tolist(), strict=True)]
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
        found |= rest.any(axis=1) & now.asked[:, ids].any(axis=1)
    if len(plan.first):
        found |= now.evidence.is_open[:, plan.first].any(axis=1)
    wanted = _due_mask(now)
    for _, members, short in now.missing:
        wanted |= members & (short > 0)[:, None]
    if found.all() or not wanted.any():
        return found
    left = Candidates(now.still_open)
    for rule in CLOSING:
        rule(now, left)
    return np.asarray(found | (left.mask & wanted).any(axis=1))


def _due_mask(now: Standing) -> Mask:
    mask = np.zeros_like(now.asked)
    for column in now.due.T:
        takers = np.flatnonzero(column >= 0)
        mask[takers, column[takers]] = True
    return mask


def ask_mandatory(now: Standing, left: Candidates) -> None:
    """What must be asked in any case comes first."""
    if not now.plan.rules.mandatory:
        return

    def text(taker: int) -> str:
        ids = dict.fromkeys(now.plan.layout.questions[number].id for number in now.due[taker].tolist() if number >= 0)
        return say("{questions} must be asked in any case", questions=named(list(ids)))

    left.keep("mandatory", text, _due_mask(now), np.asarray((now.due >= 0).any(axis=1)), or_all=True)


def content_least(now: Standing, left: Candidates) -> None:
    """At least so much of a skill or group, when the test would stop otherwise or there is just room for it."""
    if not now.missing:
        return
    short = np.stack([count for _, _, count in now.missing], axis=1)
    total = short.sum(axis=1)

    def text(taker: int) -> str:
        each = [say("{count} more on {of}", count=int(count[taker]), of=of) for of, _, count in now.missing if count[taker] > 0]
        return say("the rules want at least {each}", each=together(each, ", "))

    members = np.stack([members for _, members, _ in now.missing])
    left.keep("content", text, _of_any(short > 0, members), np.asarray((total > 0) & (now.waiting | (now.most_left <= total))), or_all=True)


def content_share(now: Standing, left: Candidates) -> None:
    """A share of the questions: what is behind comes first, what has had its share waits."""
    contents = now.plan.shares
    if not contents:
        return
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

    left.keep("content", is_short, _of_any(chosen, members), is_behind, or_all=True)
    left.keep("content", has_had, ~_of_any(ahead, members), ~is_behind, or_all=True)


def _of_any(contents: Mask, members: Mask) -> Mask:
    """The questions of some contents, (takers, contents), of each taker, (takers, questions); `members`: (contents, questions)."""
    found: Mask = contents[:, :1] & members[0]
    for column, of in zip(contents.T[1:], members[1:], strict=True):  # a product of two matrices of truths takes ten times as long
        found |= column[:, None] & of
    return found


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
        if not tedious.any():
            continue
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


Rule = Callable[[Standing, Candidates], None]
CLOSING: list[Rule] = [exclude, testlet_order, content_most, retire, rest_worn, follow_own]  # take away what may not be asked now
FORCING: list[Callable[[Standing, Candidates, Numbers], None]] = [begin_with, finish_testlets, try_pilots]  # name the question
KEEPING: list[Rule] = [ask_mandatory, content_least, content_share]  # keep to what must be asked
_OWN = (*CLOSING, *FORCING, *KEEPING)


def is_extended() -> bool:
    """Whether somebody has added rules to the lists."""
    return (*CLOSING, *FORCING, *KEEPING) != _OWN
