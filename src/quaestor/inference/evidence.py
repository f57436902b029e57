"""What N takers have said: the answers, and the likelihood boxes that they make. Frozen: an answer gives new evidence.

Questions of the same scope multiply: for each configuration of the scope's levels the likelihood of all the answers so far is an interval,
independent between configurations. That box is all that inference needs of the answers, so order never matters and an update costs the
same after 5 answers and after 500.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import AnswerError, format_kind, format_value, got, nearest
from quaestor.i18n import say
from quaestor.inference.layout import Answers, Layout, Numbers, layout_of
from quaestor.inference.model import Box, Model, Scope
from quaestor.lazy import lazy
from quaestor.model.table import Array

WITHDRAWN, OPEN, MISSING = -3, -2, -1  # never asked; not asked yet; asked, but there is no answer that counts
Stated = Mapping[str, tuple[Sequence[float] | Array, Sequence[float] | Array]]  # by skill: lower and upper likelihood at each level


@dataclass(frozen=True, eq=False)
class Evidence:
    """The answers of N takers to one bank.

    `answers`: a class, MISSING, OPEN or WITHDRAWN, (takers, questions). `boxes`: logarithms of the lower and upper likelihood,
    (takers, *levels), of the scopes that something was said of. `asked`: the questions put so far in their order, (takers, most asked), -1
    where somebody was asked fewer. `minutes`: the time they took, (takers,). `stated`: what one taker's skills are known by otherwise.
    """

    layout: Layout
    answers: NDArray[np.int16]
    boxes: Mapping[Scope, Box]
    asked: NDArray[np.int32]
    minutes: Array
    stated: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)

    @staticmethod
    def begin(bank: Bank, takers: int = 1, withdrawn: Sequence[str] = ()) -> "Evidence":
        """Nobody has said anything; `withdrawn`: questions that nobody will be asked."""
        layout = layout_of(bank)
        answers = np.full((takers, len(layout.questions)), OPEN, dtype=np.int16)
        answers[:, [layout.question_number(question) for question in withdrawn]] = WITHDRAWN
        return Evidence(layout, answers, {}, np.zeros((takers, 0), dtype=np.int32), np.zeros(takers))

    @staticmethod
    def of(bank: Bank, answers: Answers, stated: Stated | None = None) -> "Evidence":
        """What one taker answered, by question ids and answer classes, and what was stated of skills otherwise."""
        if not isinstance(answers, Mapping):
            rule = say("answers are a map from questions to answer classes")
            hint = "row.dropna().to_dict() makes one of a row of a table" if hasattr(answers, "dropna") else ""
            raise AnswerError(got(rule, format_kind(answers) if hint else format_value(answers), hint))
        evidence = Evidence.begin(bank)
        layout = evidence.layout
        numbers = [layout.question_number(question) for question in answers]
        classes = [layout.class_number(number, answer) for number, answer in zip(numbers, answers.values(), strict=True)]
        evidence = evidence.with_rows(np.array([numbers], dtype=np.int32).reshape(1, -1), np.array([classes]).reshape(1, -1))
        return evidence.with_stated(stated) if stated else evidence

    @staticmethod
    def of_rows(bank: Bank, answers: NDArray[np.int16]) -> "Evidence":
        """Takers with these answers, (takers, questions), in the order of the bank."""
        numbers = np.arange(answers.shape[1], dtype=np.int32)
        asked = np.where(answers > OPEN, numbers, -1)
        most = int((answers > OPEN).sum(axis=1).max(initial=0))
        order = np.argsort(asked < 0, axis=1, kind="stable")[:, :most]
        asked = np.take_along_axis(asked, order, axis=1)
        classes = np.where(asked >= 0, np.take_along_axis(answers, np.maximum(asked, 0), axis=1), MISSING)
        return Evidence.begin(bank, len(answers)).with_rows(asked.astype(np.int32), classes)

    @property
    def takers(self) -> int:
        """How many takers there are."""
        return len(self.answers)

    @property
    def model(self) -> Model:
        """The skills with the takers' boxes: what engines see."""
        return self.layout.model.with_boxes(self.boxes)

    @lazy
    def is_open(self) -> NDArray[np.bool_]:
        """Which questions may still be asked, (takers, questions)."""
        return np.asarray(self.answers == OPEN)

    @lazy
    def is_asked(self) -> NDArray[np.bool_]:
        """Which questions were asked, (takers, questions)."""
        return np.asarray(self.answers > OPEN)

    @lazy
    def counts(self) -> Numbers:
        """How many questions each was asked, (takers,)."""
        return np.asarray((self.asked >= 0).sum(axis=1), dtype=np.intp)

    @lazy
    def counted(self) -> NDArray[np.bool_]:
        """Which of the questions in `asked` count, (takers, most asked): not the pilots."""
        return np.asarray((self.asked >= 0) & self.layout.is_scored[np.maximum(self.asked, 0)])

    def alike(self) -> tuple[Numbers, Numbers]:
        """The first taker with each set of answers, and for every taker the number of theirs."""
        return distinct_rows(self.answers)

    def take(self, takers: Numbers) -> "Evidence":
        """The evidence of some of them."""
        boxes: dict[Scope, Box] = {}
        for scope, (low, high) in self.boxes.items():
            chosen = low[takers]
            boxes[scope] = (chosen, chosen if high is low else high[takers])
        return Evidence(self.layout, self.answers[takers], boxes, self.asked[takers], self.minutes[takers], self.stated)

    def put(self, questions: Numbers, classes: Numbers, minutes: Array | None = None) -> "Evidence":
        """One more question of each taker with its answer (MISSING says nothing); `minutes`: as recorded, else the questions' own."""
        answers = self.answers.copy()
        everyone = np.arange(len(answers))
        answers[everyone, questions] = classes
        spent = self.layout.minutes[questions] if minutes is None else np.where(np.isnan(minutes), self.layout.minutes[questions], minutes)
        asked = np.concatenate([self.asked, np.full((len(answers), 1), -1, dtype=np.int32)], axis=1)
        asked[everyone, self.counts] = questions
        boxes = multiplied(self.layout, self.boxes, self.takers, everyone, questions, classes)
        return Evidence(self.layout, answers, boxes, asked, self.minutes + spent, self.stated)

    def with_rows(self, questions: NDArray[np.int32], classes: NDArray[np.signedinteger[Any]]) -> "Evidence":
        """Several more questions of each taker, (takers, some), -1 for none, with their answers."""
        takers = np.repeat(np.arange(self.takers), questions.shape[1])
        put = questions.reshape(-1) >= 0
        takers, flat, given = takers[put], questions.reshape(-1)[put].astype(np.intp), classes.reshape(-1)[put].astype(np.intp)
        answers = self.answers.copy()
        answers[takers, flat] = given
        spent = np.bincount(takers, self.layout.minutes[flat], self.takers)
        asked = np.concatenate([self.asked, questions], axis=1)
        boxes = multiplied(self.layout, self.boxes, self.takers, takers, flat, given)
        return Evidence(self.layout, answers, boxes, asked, self.minutes + spent, self.stated)

    def with_stated(self, stated: Stated) -> "Evidence":
        """One taker, and what is known of skills otherwise: lower and upper likelihoods of what was seen at each level."""
        boxes, every = dict(self.boxes), dict(self.stated)
        for skill, ends in checked(self.layout, stated).items():
            scope = (self.layout.position[skill],)
            with np.errstate(divide="ignore"):
                low, high = (np.log(end)[None] for end in ends)
            if scope in boxes:
                low, high = boxes[scope][0] + low, boxes[scope][1] + high
            boxes[scope] = (low, low if self.layout.is_precise else high)
            before = every.get(skill, (1.0, 1.0))
            every[skill] = (before[0] * ends[0], before[1] * ends[1])
        return replace(self, boxes=boxes, stated=every)

    def with_bank(self, bank: Bank) -> "Evidence":
        """The same answers to a precise bank with other numbers; of what was stated the middle."""
        other = Evidence.begin(bank, self.takers)
        known = np.where(self.asked >= 0, np.take_along_axis(self.answers, np.maximum(self.asked, 0), axis=1), MISSING)
        other = replace(other.with_rows(self.asked, known), answers=self.answers)
        return other.with_stated({skill: ((low + high) / 2,) * 2 for skill, (low, high) in self.stated.items()}) if self.stated else other


def distinct_rows(rows: NDArray[np.int16]) -> tuple[Numbers, Numbers]:
    """Where each different row stands first, and for each row the number of the one it equals."""
    packed = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1] * rows.itemsize)))[:, 0]
    _, first, number = np.unique(packed, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


def different(rows: NDArray[np.int16]) -> int:
    """How many rows are different, at least: as many as sums of their words, with weights, are. It takes less than to find them."""
    words = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4))) if rows.shape[1] % 4 else np.ascontiguousarray(rows)
    weights = np.arange(1, words.shape[1] // 4 + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return len(set(np.einsum("rw,w->r", words.view(np.uint64), weights).tolist()))


def multiplied(
    layout: Layout, boxes: Mapping[Scope, Box], count: int, takers: Numbers, questions: Numbers, classes: Numbers
) -> dict[Scope, Box]:
    """The boxes of `count` takers after further answers, of which a taker may have several; pilot questions and MISSING say nothing.

    `takers`, `questions`, `classes`: who was asked what and answered what, (answers,).
    """
    made = dict(boxes)
    telling = (classes != MISSING) & layout.is_scored[questions]
    if not telling.all():
        takers, questions, classes = takers[telling], questions[telling], classes[telling]
    numbers, tables = layout.batch_numbers(questions)
    for number in np.unique(numbers).tolist() if len(questions) > 1 else numbers.tolist():
        batch, mine = layout.batches[number], numbers == number
        ends = []
        for end in (0,) if layout.is_precise else (0, 1):
            told = batch.logs[end][tables[mine], classes[mine]]
            before = made[batch.scope][end] if batch.scope in made else None
            if count == 1:
                total = told.sum(axis=0, keepdims=True)
                ends.append(total if before is None else before + total)
            else:
                after = np.zeros((count, *batch.low.shape[2:])) if before is None else before.copy()
                np.add.at(after, takers[mine], told)
                ends.append(after)
        made[batch.scope] = (ends[0], ends[-1])
    return made


def checked(layout: Layout, stated: Stated) -> dict[str, tuple[Array, Array]]:
    """What was stated of skills, as arrays, (levels,) each; every fault is an AnswerError."""
    if not isinstance(stated, Mapping):
        raise AnswerError(got(say("what is stated is a map from skills to lower and upper likelihoods"), format_value(stated)))
    bank, found = layout.bank, {}
    for skill, ends in stated.items():
        if skill not in bank.skills:
            raise AnswerError(got(say("unknown skill"), format_value(skill), nearest(skill, bank.skills)))
        levels = bank.skills[skill].levels
        rule = say("a lower and an upper likelihood for each of {levels}", levels=", ".join(levels))
        if not _listed(ends) or len(ends) != 2 or not all(_listed(end) and len(end) == len(levels) for end in ends):
            raise AnswerError.at(skill, got(rule, format_value(_shown(ends))))
        if not all(isinstance(value, Real) and not isinstance(value, bool) for end in ends for value in end):
            raise AnswerError.at(skill, got(say("likelihoods are numbers"), format_value(_shown(ends))))
        low, high = (np.array(end, dtype=float) for end in ends)
        if not (np.isfinite(low).all() and np.isfinite(high).all() and (low >= 0).all()):
            raise AnswerError.at(skill, got(say("likelihoods are finite and at least 0"), format_value(_shown(ends))))
        if not (low <= high).all():
            raise AnswerError.at(skill, got(say("a lower likelihood is not above its upper one"), format_value(_shown(ends))))
        if layout.is_precise and not np.array_equal(low, high):
            raise AnswerError.at(skill, got(say("a precise bank takes equal lower and upper likelihoods"), format_value(_shown(ends))))
        found[skill] = (low, high)
    return found


def _listed(value: object) -> bool:
    return (isinstance(value, Sequence) and not isinstance(value, str)) or (isinstance(value, np.ndarray) and value.ndim >= 1)


def _shown(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_shown(part) for part in value] if isinstance(value, list | tuple) else value
