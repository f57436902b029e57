"""A bank made ready for inference: its skills as a model, its questions' tables as logarithms by scope. Made once for each bank."""

from collections.abc import Mapping
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.errors import AnswerError, QuaestorError, format_value, got, nearest, placed
from quaestor.i18n import say
from quaestor.inference.joint import LARGEST, Joint
from quaestor.inference.junction import JunctionTree
from quaestor.inference.model import Box, Model, Scope, add_box
from quaestor.model.network import topological_order
from quaestor.model.question import Question
from quaestor.model.table import Array

Answers = Mapping[str, str | int]
Stated = Mapping[str, tuple[Array, Array]]  # by skill: lower and upper likelihood of what was seen at each level


class BankModel:
    """The skills of a bank as a model (in a topological order) and what each answer to each question says of them."""

    def __init__(self, bank: Bank) -> None:
        self.bank = bank
        order = topological_order({skill.id: skill.parents for skill in bank.skills.values()})
        self.position = {skill: number for number, skill in enumerate(order)}
        skills = [bank.skills[skill] for skill in order]
        parents = tuple(tuple(self.position[parent] for parent in skill.parents) for skill in skills)
        self.model = Model(tuple(order), tuple(skill.levels for skill in skills), parents, tuple(skill.table for skill in skills))
        self.scopes: dict[Scope, list[Question]] = {}
        self._place: dict[str, tuple[Scope, int]] = {}
        for question in bank.questions.values():
            scope = tuple(sorted(self.position[skill] for skill in question.skills))
            listed = self.scopes.setdefault(scope, [])
            self._place[question.id] = (scope, len(listed))
            listed.append(question)
        self.is_precise = bank.is_precise
        self.ids = np.array(list(bank.questions), dtype=object)
        self.place = {question: number for number, question in enumerate(bank.questions)}

    @cached_property
    def is_scored(self) -> NDArray[np.bool_]:
        """Which questions count, (questions,): all but the pilots."""
        return np.fromiter((not question.pilot for question in self.bank.questions.values()), bool, len(self.ids))

    @cached_property
    def scope_numbers(self) -> NDArray[np.intp]:
        """The number of each question's scope among `scopes`, (questions,)."""
        numbers = {scope: number for number, scope in enumerate(self.scopes)}
        return np.array([numbers[scope] for scope, _ in self._place.values()])

    @cached_property
    def places_in_scope(self) -> NDArray[np.intp]:
        """The place of each question among those of its scope, (questions,)."""
        return np.array([place for _, place in self._place.values()])

    @cached_property
    def minutes(self) -> Array:
        """How long each question takes, (questions,); one minute where nothing is stated."""
        return np.array([question.minutes or 1.0 for question in self.bank.questions.values()])

    @cached_property
    def logs(self) -> dict[Scope, tuple[Array, Array]]:
        """For each scope log lower and log upper P(class | configuration), shape (questions, classes, *scope); -inf pads classes."""
        return {scope: self._logs(scope, questions) for scope, questions in self.scopes.items()}

    def _logs(self, scope: Scope, questions: list[Question]) -> tuple[Array, Array]:
        sizes = tuple(self.model.sizes[v] for v in scope)
        classes = max(len(question.classes) for question in questions)
        ends = np.zeros((2, len(questions), classes, *sizes))
        for number, question in enumerate(questions):
            axes = (len(scope), *np.argsort([self.position[skill] for skill in question.skills]))
            for end, bound in enumerate((question.table.lower, question.table.upper)):
                ends[end, number, : len(question.classes)] = np.transpose(bound, axes)
        with np.errstate(divide="ignore"):
            logs = np.log(ends)
        return logs[0], logs[1] if not self.is_precise else logs[0]

    def boxes(self, answers: Answers, stated: Stated | None = None) -> dict[Scope, Box]:
        """The likelihood box of each scope after these answers and statements; answers to pilot questions do not count."""
        if not isinstance(answers, Mapping):
            raise AnswerError(got(say("answers are a map from questions to answer classes"), format_value(answers)))
        chosen: dict[Scope, tuple[list[int], list[int]]] = {}
        for question_id, answer in answers.items():
            number = self.answer_class(question_id, answer)
            if self.bank.questions[question_id].pilot:
                continue
            scope, place = self._place[question_id]
            places, classes = chosen.setdefault(scope, ([], []))
            places.append(place)
            classes.append(number)
        boxes = {}
        for scope, (places, classes) in chosen.items():
            lows, highs = self.logs[scope]
            low = lows[places, classes].sum(axis=0)
            boxes[scope] = (low, low if highs is lows else highs[places, classes].sum(axis=0))
        for skill, ends in (stated or {}).items():
            with np.errstate(divide="ignore"):
                add_box(boxes, (self.position[skill],), (np.log(ends[0]), np.log(ends[1])))
        return boxes

    def scope_of(self, question_id: str) -> tuple[Scope, int]:
        """The scope of a question and its place among the questions of that scope."""
        return self._place[question_id]

    def answer_class(self, question_id: str, answer: str | int) -> int:
        """The number of an answer class, given its name or its number."""
        question = self.bank.questions.get(question_id)
        if question is None:
            raise AnswerError(got(say("unknown question"), f"'{question_id}'", nearest(question_id, self.bank.questions)))
        if isinstance(answer, str):
            if answer in question.classes:
                return question.classes.index(answer)
        elif isinstance(answer, int | np.integer) and 0 <= answer < len(question.classes):
            return int(answer)
        rule = say("an answer class is one of {words}", words=", ".join(question.classes))
        raise AnswerError(placed(question_id, got(rule, repr(answer))))

    @cached_property
    def joint(self) -> Joint | None:
        """The full joint of a precise bank, when it is small."""
        return Joint(self.model) if self.model.joint_size <= LARGEST else None

    @cached_property
    def junction(self) -> JunctionTree:
        """The junction tree of a precise bank; every scope lies in one clique."""
        return JunctionTree(self.model, self.scopes)


@lru_cache(maxsize=64)
def bank_model(bank: Bank) -> BankModel:
    """The model of a bank, kept for the banks used last."""
    if not isinstance(bank, Bank):
        raise QuaestorError(f"a bank is expected, as qs.load gives it, got {format_value(bank)}")
    return BankModel(bank)
