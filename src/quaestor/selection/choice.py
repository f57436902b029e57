"""Which question is asked next: the ranking, narrowed by the rules one after another; every narrowing says what it did."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import AnswerError
from quaestor.i18n import say, together
from quaestor.inference.chooser import lookahead
from quaestor.inference.layout import Answers, Stated, bank_model
from quaestor.inference.posterior import refuse_conflict
from quaestor.model.beliefs import Beliefs
from quaestor.model.question import Question
from quaestor.selection.ranking import Ranking, rank_ahead
from quaestor.selection.rules import Robust, Rules

Places = NDArray[np.intp]


@dataclass(frozen=True)
class Standing:
    """Where a test stands: `asked` question ids in order (skips and pilots too), `answers` as inference sees them, what was `stated`.

    `waiting`: the test would stop, were it not for what must still be asked. `left`: how many more questions there may be, if limited.
    """

    bank: Bank
    rules: Rules
    seed: int
    asked: tuple[str, ...]
    answers: Answers
    stated: Stated
    beliefs: Beliefs
    waiting: bool = False
    left: int | None = None

    @property
    def scored(self) -> list[Question]:
        """The questions asked that count."""
        return [question for name in self.asked if not (question := self.bank.questions[name]).pilot]

    def rng(self, purpose: int) -> np.random.Generator:
        """The generator of this step, for one purpose: the same whenever the same step is reached with the same seed."""
        return np.random.default_rng([self.seed, len(self.asked), purpose])


@dataclass(frozen=True)
class Narrowing:
    """A rule that narrowed the choice: its name, what it did in words, and how many questions it left."""

    rule: str
    text: str
    left: int


@dataclass(frozen=True, eq=False)
class Choice:
    """The question to ask (None: none is left), all open questions ranked, and what narrowed the choice.

    `votes`: how many of the sampled networks would ask which question, for robust rules. `candidates`: the places in the bank of the
    questions that content rules leave, from which the best (or a draw, or a vote) takes one.
    """

    question: Question | None
    ranking: Ranking
    narrowed: tuple[Narrowing, ...] = ()
    votes: Mapping[str, int] = field(default_factory=dict)
    best_gain: float | None = None
    candidates: Places = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @property
    def gain(self) -> float | None:
        """The gain of the chosen question; None for a pilot, which is asked for its own sake."""
        if self.question is None or self.question.pilot:
            return None
        return float(self.ranking.gains[self.ranking.ids == self.question.id][0])


class _Candidates:
    """The places of the questions that are left, best first, and the notes of what was taken away."""

    def __init__(self, places: Places, bank: Bank) -> None:
        self._questions = list(bank.questions.values())
        self.places = places
        self.notes: list[Narrowing] = []

    def question(self, place: np.intp) -> Question:
        return self._questions[place]

    def keep(self, rule: str, text: str, wanted: Callable[[Question], bool], or_all: bool = False) -> None:
        """Keep the wanted questions; `or_all`: unless none is left."""
        kept = self.places[np.fromiter((wanted(self._questions[place]) for place in self.places), bool, len(self.places))]
        if len(kept) < len(self.places) and (len(kept) or not or_all):
            self.places = kept
            self.notes.append(Narrowing(rule, text, len(kept)))


def choose(now: Standing) -> Choice:
    """The next question by the rules."""
    rules = now.rules
    ahead = lookahead(now.bank, now.answers, rules.target, stated=now.stated, asked=now.asked)
    ranking = rank_ahead(now.bank, ahead, rules.score, rules.bound, rules.then, rules.per, now.rng(0))
    left = _Candidates(ranking.places, now.bank)
    _close(now, left)
    forced = _forced(now, left)
    if forced is not None:
        return Choice(forced, ranking, tuple(left.notes), best_gain=_best(ranking, left))
    if not len(left.places):
        return Choice(None, ranking, tuple(left.notes))
    _content(now, left)
    best = _best(ranking, left)
    _vary(now, ranking, left)
    candidates = left.places
    votes = _vote(now, left) if rules.robust is not None and not now.bank.is_precise else {}
    return Choice(_draw(now, left), ranking, tuple(left.notes), votes, best, candidates)


def _best(ranking: Ranking, left: _Candidates) -> float | None:
    """The largest gain of the questions left."""
    if not len(left.places):
        return None
    return float(ranking.gains[np.isin(ranking.places, left.places)].max())


def _named(questions: Sequence[str]) -> str:
    if len(questions) <= 4:
        return ", ".join(questions)
    return say("{list} and {count} more", list=", ".join(questions[:3]), count=len(questions) - 3)


def _close(now: Standing, left: _Candidates) -> None:
    """Take away what may not be asked now."""
    rules, asked = now.rules, set(now.asked)
    closed = {other for ids in rules.exclude if asked & set(ids) for other in ids}
    if closed:
        left.keep("exclude", say("questions that exclude one another: one of them was asked"), lambda q: q.id not in closed)
    later = {question for testlet in rules.testlets for question in [name for name in testlet if name not in asked][1:]}
    if later:
        left.keep("testlets", say("a testlet is asked in its order"), lambda q: q.id not in later)
    for content in rules.content:
        if content.most is not None and _count(now, content.of) >= content.most:
            text = say("{of}: the rules allow no more than {most} {most:question|questions}", of=content.of, most=content.most)
            left.keep("content", text, partial(_is_outside, content.of))
    if rules.retire is not None:
        decided = [skill for skill, bounds in now.beliefs.items() if rules.retire.decides(bounds)]
        text = say("enough is known of {skills}", skills=", ".join(decided))
        left.keep("retire", text, lambda q: not set(q.skills) <= set(decided))
    if rules.exposure.most is not None:
        worn = {name for name, rate in rules.exposure.rates.items() if rate >= rules.exposure.most}
        text = say("questions that {share:.0%} of the takers or more have seen rest", share=rules.exposure.most)
        left.keep("exposure", text, lambda q: q.id not in worn, or_all=True)


def _belongs(question: Question, of: str) -> bool:
    return of in question.skills or question.group == of


def _is_outside(of: str, question: Question) -> bool:
    return not _belongs(question, of)


def _is_among(ids: set[str], question: Question) -> bool:
    return question.id in ids


def _count(now: Standing, of: str) -> int:
    return sum(_belongs(question, of) for question in now.scored)


def _forced(now: Standing, left: _Candidates) -> Question | None:
    """A question that the rules name whatever the gains: the first ones, the next of a testlet, a pilot."""
    rules, asked = now.rules, set(now.asked)
    for name in rules.first:
        if name not in asked:
            left.notes.append(Narrowing("first", say("the test begins with {questions}", questions=_named(rules.first)), 1))
            return now.bank.questions[name]
    for testlet in rules.testlets:
        rest = [name for name in testlet if name not in asked]
        if rest and len(rest) < len(testlet):
            text = say("the questions {questions} are asked together", questions=_named(testlet))
            left.notes.append(Narrowing("testlets", text, 1))
            return now.bank.questions[rest[0]]
    return _pilot(now, left)


def _pilot(now: Standing, left: _Candidates) -> Question | None:
    """A pilot question after some of the first questions, drawn for the whole test."""
    wanted = now.rules.pilots
    if not wanted:
        return None
    pilots = [question for question in now.bank.questions.values() if question.pilot]
    seen = sum(question.id in now.asked for question in pilots)
    within = max(10, 2 * wanted)
    if now.left is not None:  # a test that is limited has room for its pilots before its last question
        within = max(wanted, min(within, now.left + len(now.scored) - 1))
    steps = np.sort(np.random.default_rng([now.seed, 0, 9]).choice(within, wanted, replace=False)) + 1
    if seen >= wanted or len(now.scored) < steps[seen]:
        return None
    free = [question for question in pilots if question.id not in now.asked]
    left.notes.append(Narrowing("pilots", say("a pilot question, which does not count, is tried out"), len(free)))
    return free[int(now.rng(1).integers(len(free)))]


def _due(now: Standing) -> list[str]:
    """The mandatory questions that were not asked yet; of a testlet its next question, which comes before them."""
    found = []
    for name in now.rules.mandatory:
        if name not in now.asked:
            testlet = next((ids for ids in now.rules.testlets if name in ids), (name,))
            found.append(next(one for one in testlet if one not in now.asked))
    return list(dict.fromkeys(found))


def is_wanting(now: Standing) -> bool:
    """Whether a question must still be asked before the test may stop: one that the other rules let be asked."""
    begun = any(0 < sum(name in now.asked for name in testlet) < len(testlet) for testlet in now.rules.testlets)
    if begun or any(name not in now.asked for name in now.rules.first):
        return True
    due, short = set(_due(now)), missing(now)
    if not due and not short:
        return False
    places = np.array([n for n, q in enumerate(now.bank.questions.values()) if not q.pilot and q.id not in now.asked], dtype=np.intp)
    left = _Candidates(places, now.bank)
    _close(now, left)
    open_questions = [left.question(place) for place in left.places]
    return any(q.id in due or any(_belongs(q, of) for of in short) for q in open_questions)


def _content(now: Standing, left: _Candidates) -> None:
    """Keep to what must be asked."""
    rules = now.rules
    due = _due(now)
    if due:
        text = say("{questions} must be asked in any case", questions=_named(due))
        left.keep("mandatory", text, lambda q: q.id in due, or_all=True)
    short = missing(now)
    if short and (now.waiting or (now.left is not None and now.left <= sum(short.values()))):
        each = [say("{count} more on {of}", count=count, of=of) for of, count in short.items()]
        text = say("the rules want at least {each}", each=together(each, ", "))
        left.keep("content", text, lambda q: any(_belongs(q, of) for of in short), or_all=True)
    shares = {content.of: content.share for content in rules.content if content.share is not None}
    if shares:
        count = len(now.scored) + 1
        behind = {of: share * count - _count(now, of) for of, share in shares.items()}
        most = max(behind.values())
        if most >= 0.5 - 1e-9:
            chosen = [of for of, value in behind.items() if value >= most - 1e-9]
            text = say("{of}: behind the share of the questions that the rules want", of=", ".join(chosen))
            left.keep("content", text, lambda q: any(_belongs(q, of) for of in chosen), or_all=True)
        else:
            ahead = [of for of, value in behind.items() if value < 0.5 - 1e-9]
            text = say("{of}: has had its share of the questions", of=", ".join(ahead))
            left.keep("content", text, lambda q: not any(_belongs(q, of) for of in ahead), or_all=True)


def missing(now: Standing) -> dict[str, int]:
    """How many questions of each skill or group the rules still want, where there are any left."""
    open_questions = [q for q in now.bank.questions.values() if not q.pilot and q.id not in now.asked]
    found = {}
    for content in now.rules.content:
        available = sum(_belongs(question, content.of) for question in open_questions)
        short = min(content.least - _count(now, content.of), available)
        if short > 0:
            found[content.of] = short
    return found


def _vary(now: Standing, ranking: Ranking, left: _Candidates) -> None:
    """Avoid a tedious run, at the price that the rules state."""
    variety = now.rules.variety
    if variety is None or len(now.scored) < variety.after:
        return
    last = now.scored[-variety.after :]
    gains = dict(zip(ranking.places.tolist(), ranking.gains.tolist(), strict=True))
    best = max(gains[place] for place in left.places.tolist())  # of all kinds together: the price is paid once
    for kind in variety.of:
        values = {_kind(question, kind) for question in last}
        if len(values) > 1 or not (same := values.pop()):
            continue
        enough = [left.question(place) for place in left.places if gains[int(place)] >= best - variety.give_up * abs(best)]
        other = {question.id for question in enough if _kind(question, kind) != same}
        left.keep("variety", _tedious(variety.after, kind, ", ".join(same)), partial(_is_among, other), or_all=True)


def _tedious(after: int, kind: str, same: str) -> str:
    if kind == "skill":
        return say(
            "the last {after} {after:question|questions} had the same skill ({same}); others gain nearly as much", after=after, same=same
        )
    if kind == "group":
        return say(
            "the last {after} {after:question|questions} had the same group ({same}); others gain nearly as much", after=after, same=same
        )
    return say(
        "the last {after} {after:question|questions} had the same template ({same}); others gain nearly as much", after=after, same=same
    )


def _kind(question: Question, kind: str) -> tuple[str, ...]:
    if kind == "skill":
        return tuple(sorted(question.skills))
    value = question.group if kind == "group" else question.template
    return (value,) if value else ()


@lru_cache(maxsize=2)
def sample(bank: Bank, networks: int, seed: int) -> tuple[Bank, ...]:
    """Precise banks of the set: vertices drawn at random, the same for the same seed."""
    rng = np.random.default_rng(seed)
    return tuple(bank.vertex(rng) for _ in range(networks))


def vote(now: Standing, robust: Robust, places: Places) -> dict[str, int]:
    """For each question how many sampled networks would ask it, of those at these places; networks that exclude the answers abstain."""
    votes: Counter[str] = Counter()
    for bank in sample(now.bank, robust.networks, robust.seed):
        try:
            refuse_conflict(bank, now.answers, now.stated)
        except AnswerError:
            continue
        ahead = lookahead(bank, now.answers, now.rules.target, stated=_precise(now.stated), asked=now.asked)
        ranking = rank_ahead(bank, ahead, now.rules.score, now.rules.bound, now.rules.then, now.rules.per, now.rng(0))
        kept = ranking.ids[np.isin(ranking.places, places)]
        votes[str(kept[0])] += 1
    return dict(votes.most_common())


def _precise(stated: Stated) -> Stated:
    return {skill: ((low + high) / 2,) * 2 for skill, (low, high) in stated.items()}


def _vote(now: Standing, left: _Candidates) -> dict[str, int]:
    """Keep the questions that some network would ask; the one to ask comes first."""
    robust = now.rules.robust
    assert robust is not None
    votes = vote(now, robust, left.places)
    if not votes:
        return {}
    if len(votes) > 1:
        text = say("{count} {count:question is|questions are} the best for at least one of the sampled networks", count=len(votes))
        left.keep("robust", text, lambda q: q.id in votes)
    rates, place = now.rules.exposure.rates, bank_model(now.bank).place
    if robust.choose == "most":
        chosen = max(votes, key=lambda name: (votes[name], -place[name]))
        counts = {"count": votes[chosen], "all": sum(votes.values())}
        text = say("{count} of {all} sampled networks would ask {question}", question=chosen, **counts)
    else:
        chosen = min(votes, key=lambda name: (rates.get(name, 0.0), -votes[name], place[name]))
        text = say("{question} is the least exposed of the questions that are best for some network", question=chosen)
    left.keep("robust", text, lambda q: q.id == chosen)
    return votes


def _draw(now: Standing, left: _Candidates) -> Question:
    """The best question left, or one drawn where the rules want that."""
    rules = now.rules
    among = max(rules.among, rules.first_among if not now.asked else 1)
    places = left.places
    if among > 1 and len(places) > 1:
        drawn = int(now.rng(2).integers(min(among, len(places))))
        left.notes.append(Narrowing("among", say("drawn from the best {count}", count=min(among, len(places))), 1))
        places = np.concatenate([places[drawn : drawn + 1], np.delete(places, drawn)])
    if rules.exposure.chances:
        for place, luck in zip(places, now.rng(3).random(len(places)), strict=True):
            question = left.question(place)
            if luck < rules.exposure.chances.get(question.id, 1.0):
                if place != places[0]:
                    left.notes.append(Narrowing("exposure", say("better questions were held back to spare them"), 1))
                return question
    return left.question(places[0])
