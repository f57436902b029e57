"""Two who try out the key of an exam over HTTP: every attempt under a new nickname, in a new browser.

Both answer some questions with an option of which they do not know whether it is right, and skip the others, which counts as wrong.
The `Expert` has the software, the rules and every table of the bank, all but the key, and so can say how a test would go on after a right
answer and how after a wrong one. All that can be seen is compared with that: which question comes next, the meter, when the test ends, the
points. The `Stranger` has nothing but the pages, and compares what comes after an option with what comes after a skip.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape

import httpx2
import numpy as np
from starlette.datastructures import FormData

import quaestor as qs
from quaestor.model.question import Question
from quaestor.report.advice import findings
from quaestor.store.attempts.taking import mark
from quaestor.store.database import Database
from quaestor.store.publishing import keep_bank, publish
from quaestor.store.teachers import owner
from quaestor.web.render.pictures import meter
from quaestor.web.security.forms import read
from quaestor.web.taker.attempt_pages import _sureness
from quaestor.web.teacher.publish_form import Publishing, blank

KNOWN = 0.98  # a probability at which an option is not tried any more
MOST_CASES = 16  # cases of right and wrong answers that are kept apart at a time
END = "the end"
_FIELD = re.compile(r'name="(form_token|once|asked|step|code)" value="([^"]*)"')
_OPTION = re.compile(r'type="radio" name="entry" value="([^"]*)"')
_WIDTH = re.compile(r'<rect class="is" x="[^"]*" width="([^"]*)"')
_METER = re.compile(r'<svg class="meter".*?</svg>', re.S)
_POINTS = re.compile(r"(\d+) of \d+ questions? answered right")
_NONE = "No question that counts was answered"


def small_bank(count: int = 15) -> qs.Bank:
    """The first so many questions with one right option of four of the bundled bank `fractions`."""
    document = qs.load("fractions").document
    chosen = [one.id for one in targets(qs.load("fractions"))][:count]
    return qs.Bank({**document, "questions": {name: document["questions"][name] for name in chosen}})


def publish_exam(database: Database, bank: qs.Bank, **fields: str) -> tuple[str, qs.Rules]:
    """An exam as the form publishes it, with its defaults but for some fields; its code and its rules."""
    filled = {**blank(bank, "An exam"), **fields}
    asked = read(Publishing, FormData(filled), bank=bank, classes={})
    rules, conditions = asked.rules_of(bank), asked.conditions
    with database.work() as work:
        teacher = owner(work, "owner@localhost")
        test = publish(work, teacher, keep_bank(work, teacher, bank), rules, conditions)
        return test.code, rules


class Visitor:
    """Somebody with some addresses who begins a test as often as they are let in. `refused`: the status of the first refusal."""

    def __init__(self, port: int, code: str, addresses: int = 1) -> None:
        self.port, self.code, self.addresses = port, code, addresses
        self.requests = self.attempts = self.refused = 0

    def attempt(self, answer: Callable[[str], str]) -> str:
        """Go through a test: `answer` reads a page and gives an option, or nothing to skip. The page after the end; empty if refused."""
        place = self.attempts % self.addresses
        headers = {"x-forwarded-for": f"10.0.{place // 250}.{place % 250 + 1}"}
        with httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=60) as browser:
            page = self._send(browser, f"/c/{self.code}")
            page = self._send(browser, "/enter", page, name=f"nickname {self.attempts}")
            place = page.headers.get("location", "")
            if not place.startswith("/take/"):
                self.refused = page.status_code
                return ""
            self.attempts += 1
            while page.headers.get("location") == place:
                page = self._send(browser, place)
                option = answer(page.text)
                page = self._send(browser, f"{place}/answer", page, **({"entry": option} if option else {"skip": "1"}))
            return self._send(browser, page.headers["location"]).text

    def _send(self, browser: httpx2.Client, path: str, page: httpx2.Response | None = None, **fields: str) -> httpx2.Response:
        """Ask for a page, or send the form of a page."""
        self.requests += 1
        if page is None:
            return browser.get(path)
        return browser.post(path, data={**dict(_FIELD.findall(page.text)), **fields})


@dataclass(frozen=True)
class Case:
    """One way in which the answers of an attempt may have been right or wrong, and how probable it is."""

    session: qs.Session
    right: Mapping[tuple[str, str], bool]
    weight: float


class Expert:
    """Who knows all but the key. `belief`: the probability of each option of each question."""

    def __init__(self, bank: qs.Bank, rules: qs.Rules) -> None:
        self.bank, self.rules = bank, rules
        self.belief = {one.id: dict.fromkeys(one.options, 1 / len(one.options)) for one in targets(bank)}
        self._seen: dict[frozenset[tuple[str, str | None]], tuple[dict[str, float], str]] = {}
        self._cases: list[Case] = []

    @property
    def guesses(self) -> dict[str, str]:
        """The most probable option of each question."""
        return {name: max(options, key=options.__getitem__) for name, options in self.belief.items()}

    @property
    def knows_all(self) -> bool:
        return all(max(options.values()) >= KNOWN for options in self.belief.values())

    def visit(self, visitor: Visitor) -> None:
        """One attempt, and what is learnt from it."""
        self._cases = [Case(qs.Session(self.bank, self.rules), {}, 1.0)]
        told = visitor.attempt(self._answer)
        if visitor.refused:
            return
        self._weigh(lambda case: self._predicted(case)[0].get(END, 0.0))
        points = _POINTS.search(told)
        if points or _NONE in told:
            count = int(points[1]) if points else 0
            self._weigh(lambda case: float(sum(case.right.values()) == count))
        for name, option in self._cases[0].right:
            after = math.fsum(case.weight for case in self._cases if case.right[name, option])
            before = self.belief[name][option]
            for other in self.belief[name]:
                self.belief[name][other] *= after / before if other == option else (1 - after) / (1 - before)

    def _answer(self, page: str) -> str:
        """Weigh the cases by what the page shows; then the most probable option that is not known, or a skip."""
        asked = dict(_FIELD.findall(page))["asked"]
        question = next(one for one in self.bank.questions.values() if mark(one) == asked)
        self._weigh(lambda case: self._predicted(case)[0].get(question.id, 0.0))
        if shown := _METER.search(page):
            self._weigh(lambda case: float(self._predicted(case)[1] in shown[0]))
        options = self.belief.get(question.id, {})
        if not options or max(options.values()) >= KNOWN or len(self._cases) >= MOST_CASES:
            self._cases = [Case(case.session.skip(question.id), case.right, case.weight) for case in self._cases]
            return ""
        option = self.guesses[question.id]
        chances = ((question.classes[-1], True, options[option]), (question.classes[0], False, 1 - options[option]))
        self._cases = [
            Case(case.session.answer(question.id, worth), {**case.right, (question.id, option): is_right}, case.weight * chance)
            for case in self._cases
            for worth, is_right, chance in chances
        ]
        return option

    def _weigh(self, chance: Callable[[Case], float]) -> None:
        """Weigh the cases after something was seen, which has a chance in each; those that are ruled out are dropped."""
        found = [Case(case.session, case.right, case.weight * chance(case)) for case in self._cases]
        total = math.fsum(case.weight for case in found)
        assert total > 0, "what is seen is possible in no case"
        self._cases = [Case(case.session, case.right, case.weight / total) for case in found if case.weight > 1e-9 * total]

    def _predicted(self, case: Case) -> tuple[dict[str, float], str]:
        """How probable each next question (or the end) is in a case, and the bars of the meter."""
        key = frozenset((line.question, line.answer) for line in case.session.log)
        if key not in self._seen:
            self._seen[key] = (_following(case.session), _bars(case.session))
        return self._seen[key]


def _following(session: qs.Session) -> dict[str, float]:
    """The chance of each question to be the next one, over all seeds."""
    choice = session.choice
    if choice is None or choice.question is None:
        return {END: 1.0}
    if not len(choice.candidates):
        return {choice.question.id: 1.0}
    left = {list(session.bank.questions)[number] for number in choice.candidates}
    among = len(left) if session.rules.score == "random" else session.rules.among
    first = [name for name in choice.ranking.ids if name in left][:among]
    return dict.fromkeys(first, 1 / len(first))


def _bars(session: qs.Session) -> str:
    """The bars of the meter, as a page has them."""
    if session.stopped:
        return ""
    shares = [_sureness(one.low, len(one.bounds.states)) for one in findings(session)]
    return str(meter(shares, "")).partition(">")[2]


class Stranger:
    """Who knows nothing but pages: an attempt tries one option of one question, the one that was tried least, as soon as it is asked.

    What comes after it, and the meter, is compared with all attempts in which that question was skipped after the same questions.
    """

    def __init__(self, bank: qs.Bank) -> None:
        self._tried: dict[tuple[str, str], int] = {}
        self._traces: list[tuple[list[str], tuple[str, str], list[list[float]]]] = []
        self._asked: list[str] = []
        self._meters: list[list[float]] = []
        self._target = ("", "")
        self._names = {mark(one): one.id for one in targets(bank)}  # only to tell afterwards what was found
        self.knows_all = False

    def visit(self, visitor: Visitor) -> None:
        """One attempt, and what was seen in it."""
        self._asked, self._meters, self._target = [], [], ("", "")
        visitor.attempt(self._answer)
        if not visitor.refused:
            self._traces.append((self._asked, self._target, self._meters))

    def _answer(self, page: str) -> str:
        asked = dict(_FIELD.findall(page))["asked"]
        self._asked.append(asked)
        self._meters.append([10 * float(width) for width in _WIDTH.findall(page)])
        options = [unescape(option) for option in _OPTION.findall(page)]
        for option in options:
            self._tried.setdefault((asked, option), 0)
        option = min(options, key=lambda one: self._tried[asked, one], default="")
        if not option or self._target[1] or self._tried[asked, option] > min(self._tried.values()):
            return ""
        self._target = (asked, option)
        self._tried[self._target] += 1
        return option

    @property
    def guesses(self) -> dict[str, str]:
        """For each question the option after which things went on most unlike after a skip."""
        numbers = {name: number for number, name in enumerate(dict.fromkeys(one for asked, _, _ in self._traces for one in asked))}
        unlike: dict[str, dict[str, list[float]]] = {}
        for asked, (name, option), meters in self._traces:
            if not option:
                continue
            place = asked.index(name)
            like = [other for other in self._traces if other[1][0] != name and name in other[0]]
            same = [other for other in like if set(other[0][: other[0].index(name)]) == set(asked[:place])]
            near = [other for other in like if abs(other[0].index(name) - place) <= 2]
            others = np.array([_after(numbers, other[0], name, other[2]) for other in same or near])
            if len(others):
                here = _after(numbers, asked, name, meters)
                apart = float(np.mean((here - others.mean(axis=0)) ** 2 / (others.var(axis=0) + 1)))
                unlike.setdefault(name, {}).setdefault(option, []).append(apart)
        found = {name: {option: float(np.mean(each)) for option, each in options.items()} for name, options in unlike.items()}
        return {self._names[name]: max(each, key=each.__getitem__) for name, each in found.items() if name in self._names}


def _after(numbers: Mapping[str, int], asked: list[str], name: str, meters: list[list[float]]) -> np.ndarray:
    """What follows a question: how soon each other one comes, as if those that do not came last, and the next meter."""
    place = asked.index(name)
    soon = np.full(len(numbers), float(len(asked) - place))
    for later, other in enumerate(asked[place + 1 :]):
        soon[numbers[other]] = later
    soon[[numbers[other] for other in asked[: place + 1]]] = 0
    bars = meters[place + 1] if place + 1 < len(meters) else [0.0] * len(meters[0])
    return np.concatenate([soon, bars])


def targets(bank: qs.Bank) -> list[Question]:
    """The questions whose key can be tried out: one right option."""
    return [one for one in bank.questions.values() if one.kind == "choice" and len(one.classes) == 2]


def try_out(attacker: Expert | Stranger, visitor: Visitor, most: int) -> None:
    """So many attempts at most, fewer when all is known or nobody is let in any more."""
    while visitor.attempts < most and not visitor.refused and not attacker.knows_all:
        attacker.visit(visitor)


def found(attacker: Expert | Stranger, bank: qs.Bank) -> int:
    """Of how many questions the attacker would give the right answer."""
    return sum(option in bank.questions[name].correct for name, option in attacker.guesses.items())
