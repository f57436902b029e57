"""Exact credal inference on singly connected models of two-state variables, in closed form, for many evidence sets at once.

A message is an interval of log-odds of the higher state (or of log-likelihood ratios); the ends of what leaves a node are attained at
corners of what enters it (the idea of the 2U algorithm). Where a family has several parents, the corners of the other parents' messages
come first and the corners of the rows second, because numerator and denominator share those messages.

An end at which the evidence is impossible (0/0, here NaN) belongs to networks that are left out.

All arithmetic is on logarithms: a mean over states of weights 1 and 1e-30 must not lose the second, since other evidence may rule out the
first.
"""

from functools import lru_cache
from itertools import product

import numpy as np

from quaestor.inference.engine import Bracket, Ends
from quaestor.inference.layout import Batch
from quaestor.inference.model import Box, Link, Model, Scope
from quaestor.model.table import Array, Table

Interval = tuple[Array, Array]  # lower and upper ends, each of shape (batch,)


def applies(model: Model) -> bool:
    """Whether this engine fits a model."""
    return set(model.sizes) <= {2} and model.is_singly_connected


class OddsEngine:
    """The closed form for many takers at once. Questions on one skill: a skill after an answer is what reaches it plus the new ratio."""

    is_exact = True

    def __init__(self, model: Model, takers: int) -> None:
        self._model, self._takers = model, takers
        self._messages = OddsMessages(model)
        self._elsewhere: dict[int, tuple[Batch, OddsMessages]] = {}

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, 2)."""
        return self._two(*(self._wide(end) for end in self._messages.posterior(variable)))

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes): linear in P(skill), so attained at its ends."""
        ends = [self._wide(end)[:, None, None] for end in self._messages.posterior(batch.scope[0])]
        low, high = ([bound[..., 0] * (1 - p) + bound[..., 1] * p for p in ends] for bound in (batch.low, batch.high))
        return Bracket.exact(np.minimum(*low), np.maximum(*high), "odds")

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, 2)."""
        asked = batch.scope[0]
        if variable != asked:
            return self._after_elsewhere(batch, variable)
        if "ratios" not in batch.kept:
            batch.kept["ratios"] = ratio(*batch.logs)
        reached = add(self._messages.around(asked), self._messages.own(asked))
        column: Interval = (self._wide(reached[0])[:, None, None], self._wide(reached[1])[:, None, None])
        low, high = add(column, batch.kept["ratios"])
        return self._two(expit(low), expit(high))

    def _after_elsewhere(self, batch: Batch, variable: int) -> Bracket:
        """Every hypothetical answer of every taker is one more evidence set of the batch."""
        shape = (self._takers, *batch.low.shape[:2])
        if id(batch) not in self._elsewhere:
            each = shape[1] * shape[2]
            boxes: dict[Scope, Box] = {}
            for scope, ends in self._model.boxes.items():
                low, high = (np.repeat(np.broadcast_to(end, (self._takers, *end.shape[1:])), each, axis=0) for end in ends)
                boxes[scope] = (low, high)
            asked = [np.tile(logs.reshape(-1, 2), (self._takers, 1)) for logs in batch.logs]
            before = boxes.get(batch.scope, (np.zeros((1, 2)), np.zeros((1, 2))))
            boxes[batch.scope] = (before[0] + asked[0], before[1] + asked[1])
            self._elsewhere[id(batch)] = batch, OddsMessages(self._model.with_boxes(boxes))
        ends = self._elsewhere[id(batch)][1].posterior(variable)
        return self._two(*(np.broadcast_to(end, shape[0] * shape[1] * shape[2]).reshape(shape) for end in ends))

    def _wide(self, end: Array) -> Array:
        """One number a taker; numpy's own broadcasting costs more than many of the sums here."""
        return end if end.shape == (self._takers,) else np.broadcast_to(end, self._takers)

    @staticmethod
    def _two(low: Array, high: Array) -> Bracket:
        """Both states from the higher one."""
        ends: Ends = np.stack([1 - high, low], axis=-1), np.stack([1 - low, high], axis=-1)
        return Bracket.exact(*ends, "odds")


class OddsMessages:
    """The messages of a model, each worked out once; boxes may have a leading batch axis, (batch, *scope's sizes)."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._children: list[list[Link]] = [[] for _ in model.sizes]
        self._own: list[Interval] = [(np.zeros(1), np.zeros(1)) for _ in model.sizes]
        self._known: dict[tuple[int, Link | None], Interval] = {}
        self._sent: dict[tuple[Link, int], Interval] = {}
        self._posterior: dict[int, Interval] = {}
        self._leaves: list[tuple[Scope, Array]] = []  # log-likelihoods, (1, ends, batch, *scope)
        for child, parents in enumerate(model.parents):
            for parent in parents:
                self._children[parent].append(("family", child))
        for scope, (low, high) in model.boxes.items():
            if low.ndim == len(scope):
                low, high = low[None], high[None]
            if len(scope) == 1:
                self._own[scope[0]] = ratio(low, high)
                continue
            for variable in scope:
                self._children[variable].append(("leaf", len(self._leaves)))
            self._leaves.append((scope, np.stack(np.broadcast_arrays(low, high))[None]))

    def posterior(self, variable: int) -> Interval:
        """The interval of P(variable = 1 | evidence)."""
        if variable not in self._posterior:
            low, high = add(self.around(variable), self._own[variable])
            self._posterior[variable] = (expit(low), expit(high))
        return self._posterior[variable]

    def own(self, variable: int) -> Interval:
        """The log-likelihood ratio of the evidence on the variable alone."""
        return self._own[variable]

    def around(self, variable: int) -> Interval:
        """The log-odds that reach the variable from all its neighbours, its own evidence left out."""
        for sender, link in self._model.sendings(variable):
            self._gather(sender, link)
        return self._gather(variable, None)

    def _gather(self, variable: int, without: Link | None) -> Interval:
        """The sum of the messages that reach a variable from everywhere but one family or leaf."""
        key = (variable, without)
        if key not in self._known:
            total = (np.zeros(1), np.zeros(1)) if without == ("family", variable) else self._from_above(variable)
            for link in self._children[variable]:
                if link != without:
                    total = add(total, self._from_below(link, variable))
            self._known[key] = total
        return self._known[key]

    def _towards(self, variable: int, link: Link) -> Interval:
        return add(self._gather(variable, link), self._own[variable])

    def _from_above(self, variable: int) -> Interval:
        """What a variable's own family sends down: rows at their ends, the parents' messages at their corners."""
        messages = [self._towards(parent, ("family", variable)) for parent in self._model.parents[variable]]
        zeros, ones = _ends(self._model.tables[variable])
        mixed = mixtures(np.concatenate([zeros, ones]), messages)
        odds = mixed[:, 2:] - mixed[:, :2]
        return odds[:, 0].min(axis=0), odds[:, 1].max(axis=0)

    def _from_below(self, link: Link, parent: int) -> Interval:
        """The log-likelihood ratio, value(1) / value(0), that a child's family or a leaf sends to one of its parents."""
        if (link, parent) in self._sent:
            return self._sent[link, parent]
        kind, number = link
        if kind == "family":
            scope = self._model.parents[number]
            zeros, ones = _ends(self._model.tables[number])
            at = np.stack(np.broadcast_arrays(*self._towards(number, link)))
            at = at.reshape(2, 1, -1, *(1,) * len(scope))
            values = np.logaddexp(zeros + log_expit(-at), ones + log_expit(at))  # (ends of the ratio, ends of the rows, batch, *scope)
        else:
            scope, values = self._leaves[number]
        others = [self._towards(variable, link) for variable in scope if variable != parent]
        halves = np.moveaxis(values, 3 + scope.index(parent), 0)  # (the parent's states, ends, ends, batch, *others)
        mixed = mixtures(halves.reshape(-1, *halves.shape[3:]), others)
        mixed = mixed.reshape(len(mixed), 2, len(values), 2, -1)  # (corners, the parent's states, ends, ends, batch)
        with np.errstate(invalid="ignore"):
            found = mixed[:, 1, :, :, None] - mixed[:, 0, :, None]  # numerator and denominator at any ends of their rows
        found = found.reshape(-1, found.shape[-1])
        result = np.fmin.reduce(found), np.fmax.reduce(found)
        self._sent[link, parent] = result
        return result


@lru_cache(maxsize=512)
def _ends(table: Table) -> Interval:
    """Log-probabilities of the lower and of the higher state, each (2, 1, *parents): with the higher at its least, then at its most."""
    with np.errstate(divide="ignore"):
        low, high = np.log(table.lower), np.log(table.upper)
    return np.stack([high[..., 0], low[..., 0]])[:, None], np.stack([low[..., 1], high[..., 1]])[:, None]


def ratio(low: Array, high: Array) -> Interval:
    """The interval of the log-likelihood ratio of a box of shape (..., 2); what excludes both states is left out."""
    return _subtract(low[..., 1], high[..., 0], np.inf), _subtract(high[..., 1], low[..., 0], -np.inf)


def add(one: Interval, other: Interval) -> Interval:
    """The product of two messages: the sum of their log-odds; contradictions at an end are left out."""
    return _subtract(one[0], -other[0], np.inf), _subtract(one[1], -other[1], -np.inf)


def _subtract(one: Array, other: Array, otherwise: float) -> Array:
    with np.errstate(invalid="ignore"):
        difference = one - other
    return np.where(np.isnan(difference), otherwise, difference)


def mixtures(values: Array, messages: list[Interval]) -> Array:
    """The log means of exp(values), shape (values, batch, 2, .., 2), over the messages' variables at each corner of the messages.

    Shape (corners, values, batch).
    """
    results = []
    for corner in product(*messages):
        mixed = values
        for message in reversed(corner):
            weight = message.reshape(-1, *(1,) * (mixed.ndim - 3))
            mixed = np.logaddexp(mixed[..., 0] + log_expit(-weight), mixed[..., 1] + log_expit(weight))
        results.append(mixed)
    return np.stack(results)


def log_expit(x: Array) -> Array:
    """The log-probability of given log-odds, -log(1 + exp(-x))."""
    result: Array = -np.logaddexp(0, -x)
    return result


def expit(x: Array) -> Array:
    """The probability of given log-odds, 1 / (1 + exp(-x))."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))
