"""Somebody who tries out the key of an exam over HTTP, under fresh nicknames and without cookies, and knows all but the key.

The attacker has the software, the rules and every table of the bank, and so can say how a test would go on after a right answer and how
after a wrong one. In each attempt a few questions are answered with an option whose worth is not known, and the others skipped, which
counts as wrong. All that can be seen is compared with what would be seen in each case: which question comes next, the meter, after how
many questions the test ends, the points of the result. What is learnt is kept as a probability for each option of each question.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import httpx2

import quaestor as qs
from quaestor.model.question import Question
from quaestor.report.advice import findings
from quaestor.store.attempts import mark
from quaestor.store.database import Database
from quaestor.store.publishing import keep_bank, publish
from quaestor.store.teachers import owner
from quaestor.web.desk.offer import blank, sent
from quaestor.web.pictures import meter
from quaestor.web.taker import _sureness

KNOWN = 0.98  # a probability at which an option is not tried any more
MOST_CASES = 16  # cases of right and wrong answers that are kept apart at a time
END = "the end"
_FIELD = re.compile(r'name="(form_token|once|asked|step|code)" value="([^"]*)"')
_METER = re.compile(r'<svg class="meter".*?</svg>', re.S)
_POINTS = re.compile(r"(\d+) of \d+ questions? answered right")
_NONE = "No question that counts was answered"


def small_bank(count: int = 15) -> qs.Bank:
    """The first so many questions with one right option of four of the bundled bank `fractions`."""
    document = qs.load("fractions").document
    chosen = [name for name, one in qs.load("fractions").questions.items() if one.kind == "choice" and len(one.classes) == 2][:count]
    return qs.Bank({**document, "questions": {name: document["questions"][name] for name in chosen}})


def publish_exam(database: Database, bank: qs.Bank, **fields: str) -> tuple[str, qs.Rules]:
    """An exam as the form publishes it, with its defaults but for some fields; its code and its rules."""
    filled = {**blank(bank, "An exam"), **fields}
    offer = sent(bank, "An exam", lambda name: filled.get(name, ""))
    rules, conditions = offer.rules(bank), offer.conditions()
    assert rules is not None and conditions is not None, offer.wrong
    with database.work() as work:
        teacher = owner(work, "owner@localhost")
        test = publish(work, teacher, keep_bank(work, teacher, bank), rules, conditions)
        return test.code, rules


@dataclass(frozen=True)
class Case:
    """One way in which the answers of an attempt may have been right or wrong, and how probable it is."""

    session: qs.Session
    right: Mapping[str, bool]
    weight: float


@dataclass
class Attacker:
    """Who tries out the key. `belief`: the probability of each option of each question; `refused`: the status of the first refusal."""

    port: int
    code: str
    bank: qs.Bank
    rules: qs.Rules
    addresses: int = 1
    requests: int = 0
    attempts: int = 0
    refused: int = 0
    belief: dict[str, dict[str, float]] = field(default_factory=dict)
    _seen: dict[frozenset[tuple[str, str | None]], tuple[dict[str, float], str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for question in self.targets():
            self.belief[question.id] = dict.fromkeys(question.options, 1 / len(question.options))

    def targets(self) -> Iterator[Question]:
        return (one for one in self.bank.questions.values() if one.kind == "choice" and len(one.classes) == 2)

    @property
    def found(self) -> int:
        """Of how many questions the option that seems most probable is the right one."""
        return sum(max(options, key=options.__getitem__) in self.bank.questions[name].correct for name, options in self.belief.items())

    @property
    def sure(self) -> int:
        """Of how many questions the attacker is sure, and right."""
        return sum(
            max(options.values()) >= KNOWN and max(options, key=options.__getitem__) in self.bank.questions[name].correct
            for name, options in self.belief.items()
        )

    def run(self, most: int) -> "Attacker":
        """So many requests at most, fewer when all is known or nobody is let in any more."""
        while self.requests < most and not self.refused and self._open():
            self._attempt()
        return self

    def _open(self) -> list[str]:
        return [name for name, options in self.belief.items() if max(options.values()) < KNOWN]

    def _attempt(self) -> None:
        """One attempt under a new name, in a new browser, from the next of the attacker's addresses."""
        self.attempts += 1
        address = f"10.0.{self.attempts % self.addresses // 250}.{self.attempts % self.addresses % 250 + 1}"
        with httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", headers={"x-forwarded-for": address}, timeout=60) as browser:
            page = self._get(browser, f"/c/{self.code}")
            page = self._post(browser, "/enter", page, name=f"nickname {self.attempts}")
            place = page.headers.get("location", "")
            if not place.startswith("/take/"):
                self.refused = page.status_code
                return
            self._learn(self._take(browser, place))

    def _take(self, browser: httpx2.Client, place: str) -> list[Case]:
        """Go through a test; the cases that are left with their weights."""
        cases = [Case(qs.Session(self.bank, self.rules), {}, 1.0)]
        page = self._get(browser, place)
        while "location" not in page.headers:
            question = next(one for one in self.bank.questions.values() if mark(one) == dict(_FIELD.findall(page.text))["asked"])
            cases = _weighed(cases, lambda case, asked=question.id: self._predicted(case)[0].get(asked, 0.0))
            if shown := _METER.search(page.text):
                cases = _weighed(cases, lambda case, seen=shown[0]: float(self._predicted(case)[1] in seen))
            option = self._option(question, cases)
            if option:
                cases = [one for case in cases for one in self._split(case, question, option)]
                page = self._post(browser, f"{place}/answer", page, entry=option)
            else:
                cases = [Case(case.session.skip(question.id), case.right, case.weight) for case in cases]
                page = self._post(browser, f"{place}/answer", page, skip="1")
            page = self._get(browser, page.headers["location"]) if page.headers["location"].endswith(place) else page
        cases = _weighed(cases, lambda case: self._predicted(case)[0].get(END, 0.0))
        told = self._get(browser, page.headers["location"]).text
        points = _POINTS.search(told)
        if points or _NONE in told:
            count = int(points[1]) if points else 0
            cases = _weighed(cases, lambda case: float(sum(case.right.values()) == count))
        return cases

    def _option(self, question: Question, cases: list[Case]) -> str:
        """The option to try: the most probable one that is not known; none where there are too many cases already."""
        options = self.belief.get(question.id, {})
        if not options or max(options.values()) >= KNOWN or len(cases) >= MOST_CASES:
            return ""
        return max(options, key=options.__getitem__)

    def _split(self, case: Case, question: Question, option: str) -> list[Case]:
        """The case that the option is right, and the case that it is wrong."""
        chance = self.belief[question.id][option]
        classes = {True: question.classes[-1], False: question.classes[0]}
        return [
            Case(case.session.answer(question.id, classes[is_right]), {**case.right, f"{question.id}\n{option}": is_right}, weight)
            for is_right, weight in ((True, case.weight * chance), (False, case.weight * (1 - chance)))
        ]

    def _predicted(self, case: Case) -> tuple[dict[str, float], str]:
        """How probable each next question (or the end) is in a case, and the bars of the meter."""
        key = frozenset((line.question, line.answer) for line in case.session.log)
        if key not in self._seen:
            self._seen[key] = (_following(case.session), _bars(case.session))
        return self._seen[key]

    def _learn(self, cases: list[Case]) -> None:
        """Keep for each option that was tried how probable it is after the attempt."""
        total = math.fsum(case.weight for case in cases)
        for tried in cases[0].right:
            name, _, option = tried.partition("\n")
            after = math.fsum(case.weight for case in cases if case.right[tried]) / total
            before = self.belief[name][option]
            for other in self.belief[name]:
                self.belief[name][other] *= after / before if other == option else (1 - after) / (1 - before)

    def _get(self, browser: httpx2.Client, path: str) -> httpx2.Response:
        self.requests += 1
        return browser.get(path)

    def _post(self, browser: httpx2.Client, path: str, page: httpx2.Response, **fields: str) -> httpx2.Response:
        self.requests += 1
        return browser.post(path, data={**dict(_FIELD.findall(page.text)), **fields})


def _weighed(cases: list[Case], chance) -> list[Case]:
    """The cases after something was seen, which has a chance in each; those that are ruled out are dropped."""
    found = [Case(case.session, case.right, case.weight * chance(case)) for case in cases]
    total = math.fsum(case.weight for case in found)
    assert total > 0, "what is seen is possible in no case"
    return [Case(case.session, case.right, case.weight / total) for case in found if case.weight > 1e-9 * total]


def _following(session: qs.Session) -> dict[str, float]:
    """The chance of each question to be the next one, over all seeds."""
    choice = session.choice
    if choice is None or choice.question is None:
        return {END: 1.0}
    if not len(choice.candidates):
        return {choice.question.id: 1.0}
    left = {list(session.bank.questions)[number] for number in choice.candidates}
    first = [name for name in choice.ranking.ids if name in left][: session.rules.among]
    return dict.fromkeys(first, 1 / len(first))


def _bars(session: qs.Session) -> str:
    """The bars of the meter, as a page has them."""
    if session.stopped:
        return ""
    shares = [_sureness(one.low, len(one.bounds.states)) for one in findings(session)]
    return str(meter(shares, "")).partition(">")[2]
