"""Contracts that a score, a stop criterion, a behaviour, a rule or an engine of your own must keep, as checks for your tests.

Each check takes what you registered, tries it on small banks, precise and credal, with the answers of several takers, and raises a
`ContractError` that says which promise is broken where; it returns nothing. Our own tests run the same checks over all that is built in.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

import numpy as np

from quaestor.bankfile.bank import Bank, check_bank
from quaestor.draws import Draws
from quaestor.errors import QuaestorError, expect, expect_number
from quaestor.inference.chooser import ENGINES, Chooser
from quaestor.inference.engine import Bracket
from quaestor.inference.engines.enumeration import EnumerationEngine
from quaestor.inference.evidence import Evidence
from quaestor.inference.lookahead import look
from quaestor.model.table import Array
from quaestor.selection.own_rules import OwnRule
from quaestor.selection.ranking import gains_of
from quaestor.selection.rules import Rules
from quaestor.selection.rules_file import read_rules
from quaestor.selection.scores.known import DRAWN, SCORES
from quaestor.selection.stopping.combined import any_of
from quaestor.selection.stopping.criteria import MaxQuestions
from quaestor.selection.stopping.criterion import Criterion
from quaestor.session.session import Session
from quaestor.simulate import simulate
from quaestor.simulate.answering import behaviour_of

NEAR = 1e-9
BOUNDS = ("upper", "lower")
ANSWERS: tuple[dict[str, int], ...] = ({}, {"A1": 1}, {"A1": 0, "B1": 1}, {"B1": 0, "A2": 1, "A1": 1})  # of four takers


class ContractError(QuaestorError, AssertionError):
    """A promise that was not kept."""


def bank(width: float = 0.0) -> Bank:
    """Two skills of two levels, one built on the other, and five questions; the rows of `same` are equal and exact."""
    expect_number("width", width, 0, 0.1)

    def right(low: float, high: float) -> list[object]:
        return [[p - width, p + width] if width else p for p in (low, high)]

    return Bank(
        {
            "skills": {"a": {"prior": right(0.4, 0.6)}, "b": {"parents": ["a"], "strength": 0.5}},
            "questions": {
                "A1": {"skill": "a", "right": right(0.2, 0.9)},
                "A2": {"skill": "a", "right": right(0.3, 0.7), "minutes": 2},
                "B1": {"skill": "b", "right": right(0.25, 0.8)},
                "B2": {"skill": "b", "right": right(0.1, 0.6), "minutes": 3},
                "same": {"skill": "a", "right": [0.5, 0.5]},
            },
        }
    )


def check_score(name: str, equal_rows: bool = False) -> None:
    """Gains are finite, do not depend on the order of the answers or on who else is there, and almost no width is almost precise.

    `equal_rows`: it also promises that a question whose rows are equal and exact gains nothing.
    """
    _check_known(SCORES.knows(name), f"score {name}: a score that is registered, got none")
    for width in (0.0, 0.05):
        for bound in BOUNDS:
            together = _gains(name, bank(width), ANSWERS, bound)
            for taker, given in enumerate(ANSWERS):
                where = f"score {name}, bound {bound}, width {width}, answers {given}"
                for order in list(permutations(given.items()))[:6]:
                    alone = _gains(name, bank(width), [dict(order)], bound, [taker])[0]
                    _check(alone, together[taker], f"{where}: gains do not depend on the order of answers or on other takers")
                if equal_rows:
                    _check(together[taker, -1:], np.zeros(1), f"{where}: a question with equal exact rows gains nothing")
    if name not in DRAWN:
        precise = _gains(name, bank(), ANSWERS, "upper")
        for bound in BOUNDS:
            where = f"score {name}, bound {bound}: almost no width is almost precise"
            _check(_gains(name, bank(1e-7), ANSWERS, bound), precise, where, 1e-5)


def check_stop(criterion: Criterion) -> None:
    """It says the same of one taker and of many, is read back from a file as what it was, and says why in words."""
    expect("check_stop", criterion, Criterion, "a criterion is expected, such as qs.max_questions(4) or what a registered one gives")
    rules = Rules(score="entropy", stop=any_of(MaxQuestions(4), criterion))
    _check_document(rules)
    _check_known(bool(str(criterion.words)), f"stop {criterion.name}: says in words what holds when it stops, got nothing")
    for width in (0.0, 0.05):
        _check_alike(rules, bank(width), f"stop {criterion.name}, width {width}")


def check_rule(rule: OwnRule) -> None:
    """It leaves the same questions to one taker and to many, is read back from a file as what it was, and says in words what it does."""
    expect("check_rule", rule, OwnRule, "a rule is expected, such as what a registered one gives")
    rules = Rules(score="entropy", narrow=(rule,))
    _check_document(rules)
    _check_known(bool(str(rule.words)), f"rule {rule.name}: says in words what it does, got nothing")
    for width in (0.0, 0.05):
        _check_alike(rules, bank(width), f"rule {rule.name}, width {width}")


def check_behaviour(behaviour: object) -> None:
    """The answers of a student do not depend on who else is there or on how often they are worked out."""
    stated = behaviour_of(behaviour)
    rules = Rules(score="order")
    for width in (0.0, 0.05):
        many, few, again = (simulate(bank(width), rules, count, 5, behaviour=stated).answers for count in (60, 20, 60))
        where = f"behaviour {', '.join(stated.document)}, width {width}"
        _check_known(bool((many == again).all()), f"{where}: the same students answer the same again, got other answers")
        _check_known(bool((many[:20] == few).all()), f"{where}: answers do not depend on how many students there are, got others")


def check_engine(name: str, on: Bank | None = None, near: float = NEAR) -> None:
    """Its bounds hold what every network of the set says, as enumeration finds it, and are that near where they say that they are exact.

    `on`: a small bank that it fits, where `bank` is none.
    """
    _check_known(ENGINES.knows(name), f"engine {name}: an engine that is registered, got none")
    if on is not None:
        check_bank(on, "on")
    expect_number("near", near)
    entry, tried = ENGINES[name], 0
    for one in (bank(0.05), bank(0.1)) if on is None else (on,):
        first, second, *_ = one.questions
        takers: list[list[dict[str, int]]] = [[{}], [{first: 1}, {first: 0, second: 1}]]
        for answers in takers:
            evidence = _evidence(one, answers)
            if not entry.fits(evidence.model):
                continue
            tried += 1
            engine = Chooser(evidence.model, evidence.takers, name)
            for asked, found, truth in _replies(engine, EnumerationEngine(evidence.model, evidence.takers), evidence):
                where = f"engine {name}, answers {answers}, {asked}"
                possible = np.isfinite(truth.lower)  # after an answer that cannot be given nothing is known
                low, high = np.where(possible, truth.lower, 0.0), np.where(possible, truth.upper, 1.0)
                wide = (found.lower <= low + near).all() and (found.upper >= high - near).all()
                _check_known(bool(wide), f"{where}: bounds hold what every network says, got narrower ones")
                if not found.gap:
                    _check(found.lower, low, f"{where}: bounds without a gap are those of the networks", near)
                    _check(found.upper, high, f"{where}: bounds without a gap are those of the networks", near)
    _check_known(tried > 0, f"engine {name}: a bank that it fits, got none: give one as `on`")


def _replies(engine: Chooser, oracle: EnumerationEngine, evidence: Evidence) -> Iterator[tuple[str, Bracket, Bracket]]:
    for variable in range(len(evidence.model.sizes)):
        yield f"now of {evidence.model.names[variable]}", engine.now(variable), oracle.now(variable)
    for number, batch in enumerate(evidence.layout.batches):
        yield f"answers to batch {number}", engine.answers(batch), oracle.answers(batch)
        for variable in range(len(evidence.model.sizes)):
            yield f"after batch {number} of {evidence.model.names[variable]}", engine.after(batch, variable), oracle.after(batch, variable)


def _evidence(of: Bank, answers: Sequence[dict[str, int]]) -> Evidence:
    ids = list(of.questions)
    evidence = Evidence.begin(of, len(answers))
    for step in range(max(map(len, answers))):  # in the order in which each gave them
        given = [list(one.items())[step] if step < len(one) else (None, -1) for one in answers]
        questions = np.array([[-1 if question is None else ids.index(question)] for question, _ in given], dtype=np.int32)
        evidence = evidence.with_rows(questions, np.array([[answer] for _, answer in given]))
    return evidence


def _gains(name: str, of: Bank, answers: Sequence[dict[str, int]], bound: str, seeds: list[int] | None = None) -> Array:
    """(takers, questions); 0 for what was asked already."""
    evidence = _evidence(of, answers)
    ahead = look(evidence.layout, Chooser(evidence.model, evidence.takers), evidence.is_open)
    draws = Draws(seeds if seeds is not None else list(range(len(answers))), evidence.counts, 0)
    found = np.asarray(gains_of(evidence.layout, ahead, name, bound, None, draws))
    if not np.isfinite(found[evidence.is_open]).all():
        raise ContractError(f"score {name}, bound {bound}: gains are finite, got {found[evidence.is_open]}")
    return np.where(evidence.is_open, found, 0.0)


def _check_alike(rules: Rules, of: Bank, where: str) -> None:
    """Many students are asked what each would be asked alone, and stop where each would stop alone, for the same reason."""
    many = simulate(of, rules, 8, 3)
    for asked, answers, length in zip(many.asked, many.answers, many.lengths, strict=True):
        alone = Session(of, rules)
        for question, answer in zip(asked[:length], answers[:length], strict=True):
            is_same = alone.next is not None and alone.next.id == question
            _check_known(is_same, f"{where}: one taker is asked what many are, got another question")
            alone = alone.answer(question, int(answer))
        _check_known(alone.next is None, f"{where}: a test of one taker ends where that of many does, got another end")
        again = Session.from_json(of, alone.to_json())
        _check_known(again.stopped == alone.stopped, f"{where}: a saved session ends as it did, got another end")


def _check_document(rules: Rules) -> None:
    again = read_rules(rules.document)
    _check_known(again == rules, f"rules: what is read from a file is what was written, got {again.document} for {rules.document}")


def _check(found: Array, expected: Array, words: str, near: float = NEAR) -> None:
    away = np.abs(found - expected)
    if not (away <= near).all():
        raise ContractError(f"{words}, got {found.ravel()[away.argmax()]:.9g} for {expected.ravel()[away.argmax()]:.9g}")


def _check_known(is_kept: bool, words: str) -> None:
    if not is_kept:
        raise ContractError(words)
