"""Exact credal inference on singly connected models of two-state variables, in closed form, for many evidence sets at once.

A message is an interval of log-odds of the higher state (or of log-likelihood ratios); the ends of what leaves a node are attained at
corners of what enters it (the idea of the 2U algorithm). Where a family has several parents, the corners of the other parents' messages
come first and the corners of the rows second, because numerator and denominator share those messages.

An end at which the evidence is impossible (0/0, here NaN) belongs to networks that are left out.

All arithmetic is on logarithms: a mean over states of weights 1 and 1e-30 must not lose the second, since other evidence may rule out the
first.

Messages are arrays of any library that speaks the array API, `xp`: the same lines serve sessions, with numpy, and simulations on a graphics
card.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import log
from typing import Any

import numpy as np

from quaestor.inference.engine import Bracket
from quaestor.inference.layout import Batch
from quaestor.inference.model import Box, Link, Model, Scope
from quaestor.model.table import Array, Table

Interval = Any  # an array of lower and upper ends, shape (2, batch); in look-ahead (2, takers, tables, classes)


def applies(model: Model) -> bool:
    """Whether this engine fits a model."""
    return model.keep("two states each", lambda: set(model.sizes) <= {2}) and model.is_singly_connected


class OddsEngine:
    """The closed form for many takers at once. Questions on one skill: a skill after an answer is what reaches it plus the new ratio."""

    def __init__(self, model: Model, takers: int) -> None:
        self._model, self._takers = model, takers
        self._messages = OddsMessages(model)
        self._now: dict[int, Bracket] = {}
        self._elsewhere: dict[int, tuple[Batch, OddsMessages]] = {}

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, 2)."""
        if variable not in self._now:
            odds = self._wide(self._messages.log_odds(variable))
            self._now[variable] = Bracket.exact(*both_levels(np, odds[0], odds[1]), "odds")
        return self._now[variable]

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes): linear in P(skill), so attained at its ends."""
        p = self._wide(self._messages.posterior(batch.scope[0]))[:, :, None, None]
        low = batch.low[..., 0] * (1 - p) + batch.low[..., 1] * p
        high = low if batch.high is batch.low else batch.high[..., 0] * (1 - p) + batch.high[..., 1] * p
        return Bracket.exact(np.minimum(low[0], low[1]), np.maximum(high[0], high[1]), "odds")

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, 2)."""
        asked = batch.scope[0]
        if variable != asked:
            return self._after_elsewhere(batch, variable)
        if "ratios" not in batch.kept:
            batch.kept["ratios"] = ratio(np, *batch.logs)[:, None]  # (2, 1, tables, classes)
        reached = self._messages.log_odds(asked)
        return _both(expit(np, add(np, self._wide(reached)[:, :, None, None], batch.kept["ratios"])))

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
        found = self._elsewhere[id(batch)][1].posterior(variable)
        reached = np.broadcast_to(found, (2, shape[0] * shape[1] * shape[2])).reshape(2, *shape)
        left_out = np.array([1.0, 0.0]).reshape(2, 1, 1, 1)  # an answer that no network allows
        return _both(np.where(self.answers(batch).upper > 0, reached, left_out))

    def _wide(self, ends: Interval) -> Interval:
        """One pair a taker; numpy's own broadcasting costs more than many of the sums here."""
        return ends if ends.shape[1] == self._takers else np.broadcast_to(ends, (2, self._takers))


def _both(ends: Interval) -> Bracket:
    """Both states from the higher one: bounds of P(1), (2, ...), as bounds of P(0) and P(1), (..., 2)."""
    lower, upper = np.empty((*ends.shape[1:], 2)), np.empty((*ends.shape[1:], 2))
    lower[..., 1], upper[..., 1] = ends[0], ends[1]
    lower[..., 0], upper[..., 0] = 1 - ends[1], 1 - ends[0]
    return Bracket.exact(lower, upper, "odds")


@dataclass(frozen=True, eq=False)
class Families:
    """The families of a model as arrays of one library, `xp`.

    `ends`: of each variable log-probabilities of the lower and the higher state, each with the higher at its least and at its most,
    (2, 2, 1, *parents); `rows`: the same, (4, 1, *parents). `silent`: a message that says nothing, (2, 1). `below`: the families of each
    variable's children.
    """

    xp: Any
    ends: list[Any]
    rows: list[Any]
    silent: Interval
    below: list[list[Link]]

    @staticmethod
    def of(model: Model, xp: Any = np, put: Callable[[Array], Any] = lambda array: array) -> "Families":
        """The families of a model; `put` makes an array of the library from one of numpy."""
        ends = [_ends(table) for table in model.tables]
        rows = [end.reshape(4, *end.shape[2:]) for end in ends]
        return Families(xp, [put(end) for end in ends], [put(row) for row in rows], put(np.zeros((2, 1))), _links_below(model))


class OddsMessages:
    """The messages of a model, each worked out once; boxes may have a leading batch axis, (batch, *scope's sizes).

    `ratios`: instead of the boxes the log-likelihood ratios of the evidence on each variable, (2, batch), in the library of the `families`.
    """

    def __init__(self, model: Model, ratios: Mapping[int, Interval] | None = None, families: Families | None = None) -> None:
        self._model = model
        self._families = families or model.keep("families", lambda: Families.of(model))
        self._xp, self._silent = self._families.xp, self._families.silent
        self._children = [list(links) for links in self._families.below]
        self._own: list[Interval] = [self._silent] * len(model.sizes)
        self._known: dict[tuple[int, Link | None], Interval] = {}
        self._sent: dict[tuple[Link, int], Interval] = {}
        self._above: dict[int, Interval] = {}
        self._posterior: dict[int, Interval] = {}
        self._leaves: list[tuple[Scope, Array]] = []  # log-likelihoods, (1, ends, batch, *scope)
        for variable, ends in (ratios or {}).items():
            self._own[variable] = ends
        for scope, (low, high) in model.boxes.items():
            if low.ndim == len(scope):
                low, high = low[None], high[None]
            if len(scope) == 1:
                self._own[scope[0]] = ratio(np, low, high)
                continue
            for variable in scope:
                self._children[variable].append(("leaf", len(self._leaves)))
            self._leaves.append((scope, np.stack(np.broadcast_arrays(low, high))[None]))

    def posterior(self, variable: int) -> Interval:
        """The interval of P(variable = 1 | evidence)."""
        if variable not in self._posterior:
            self._posterior[variable] = expit(self._xp, self.log_odds(variable))
        return self._posterior[variable]

    def log_odds(self, variable: int) -> Interval:
        """The interval of the log-odds of the variable's higher state given the evidence."""
        return add(self._xp, self._around(variable), self._own[variable])

    def _around(self, variable: int) -> Interval:
        """The log-odds that reach the variable from all its neighbours, its own evidence left out."""
        for sender, link in self._model.sendings(variable):
            self._gather(sender, link)
        return self._gather(variable, None)

    def _gather(self, variable: int, without: Link | None) -> Interval:
        """The sum of the messages that reach a variable from everywhere but one family or leaf."""
        key = (variable, without)
        if key not in self._known:
            total = self._silent if without == ("family", variable) else self._from_above(variable)
            for link in self._children[variable]:
                if link != without:
                    message = self._from_below(link, variable)
                    total = message if total is self._silent else add(self._xp, total, message)
            self._known[key] = total
        return self._known[key]

    def _towards(self, variable: int, link: Link) -> Interval:
        gathered, own = self._gather(variable, link), self._own[variable]
        return own if gathered is self._silent else gathered if own is self._silent else add(self._xp, gathered, own)

    def _from_above(self, variable: int) -> Interval:
        """What a variable's own family sends down: rows at their ends, the parents' messages at their corners."""
        if variable not in self._above:
            xp, messages = self._xp, [self._towards(parent, ("family", variable)) for parent in self._model.parents[variable]]
            mixed = mixtures(xp, self._families.rows[variable], messages)
            odds = mixed[:, 2:, ...] - mixed[:, :2, ...]
            self._above[variable] = xp.stack([xp.min(odds[:, 0, ...], axis=0), xp.max(odds[:, 1, ...], axis=0)])
        return self._above[variable]

    def _from_below(self, link: Link, parent: int) -> Interval:
        """The log-likelihood ratio, value(1) / value(0), that a child's family or a leaf sends to one of its parents."""
        if (link, parent) in self._sent:
            return self._sent[link, parent]
        xp, (kind, number) = self._xp, link
        if kind == "family":
            scope = self._model.parents[number]
            ends = self._families.ends[number]
            at = self._towards(number, link)
            at = xp.reshape(at, (2, 1, -1, *(1,) * len(scope)))
            lower, higher = ends[0, ...] + log_expit(xp, -at), ends[1, ...] + log_expit(xp, at)
            values = log_sum(xp, lower, higher)  # (ends of the ratio, ends of the rows, batch, *scope)
        else:
            scope, values = self._leaves[number]
        others = [self._towards(variable, link) for variable in scope if variable != parent]
        halves = []
        for state in (0, 1):
            half = values[(..., state, *(slice(None),) * (len(scope) - 1 - scope.index(parent)))]  # (ends, ends, batch, *others)
            mixed = mixtures(xp, xp.reshape(half, (-1, *half.shape[2:])), others) if others else half
            halves.append(xp.reshape(mixed, (-1, 2, mixed.shape[-1])))  # (corners x ends of the ratio, ends of the rows, batch)
        with np.errstate(invalid="ignore"):
            found = halves[1][:, :, None, :] - halves[0][:, None, :, :]  # numerator and denominator at any ends of their rows
        found = xp.reshape(found, (-1, found.shape[-1]))
        missing = xp.isnan(found)
        least, most = (xp.where(missing, end, found) for end in _LEFT_OUT) if _any(xp, missing) else (found, found)
        self._sent[link, parent] = xp.stack([xp.min(least, axis=0), xp.max(most, axis=0)])
        return self._sent[link, parent]


def _links_below(model: Model) -> list[list[Link]]:
    """For each variable the families of its children."""
    found: list[list[Link]] = [[] for _ in model.sizes]
    for child, parents in enumerate(model.parents):
        for parent in parents:
            found[parent].append(("family", child))
    return found


def _ends(table: Table) -> Array:
    with np.errstate(divide="ignore"):
        low, high = np.log(table.lower), np.log(table.upper)
    return np.stack([[high[..., 0], low[..., 0]], [low[..., 1], high[..., 1]]])[:, :, None]


_LEFT_OUT = (np.inf, -np.inf)  # lower and upper ends at which the evidence is impossible


def ratio(xp: Any, low: Any, high: Any) -> Interval:
    """The interval of the log-likelihood ratio of a box of shape (..., 2), shape (2, ...); what excludes both states is left out."""
    with np.errstate(invalid="ignore"):
        return _mended(xp, xp.stack([low[..., 1] - high[..., 0], high[..., 1] - low[..., 0]]))


def add(xp: Any, one: Interval, other: Interval) -> Interval:
    """The product of two messages: the sum of their log-odds; contradictions at an end are left out."""
    with np.errstate(invalid="ignore"):
        return _mended(xp, one + other)


def _mended(xp: Any, ends: Interval) -> Interval:
    missing = xp.isnan(ends)
    if not _any(xp, missing):
        return ends
    return xp.stack([xp.where(missing[end, ...], left_out, ends[end, ...]) for end, left_out in enumerate(_LEFT_OUT)])


def _any(xp: Any, mask: Any) -> bool:
    return bool(mask.any() if xp is np else xp.any(mask))  # numpy's function takes twice as long as its method


def mixtures(xp: Any, values: Any, messages: list[Interval]) -> Any:
    """The log means of exp(values), shape (values, batch, 2, .., 2), over the messages' variables at each corner of the messages.

    Shape (corners, values, batch).
    """
    results = []
    for corner in product(*((message[0, ...], message[1, ...]) for message in messages)):
        mixed = values
        for message in reversed(corner):
            weight = message[(..., *(None,) * (mixed.ndim - 3))]
            mixed = log_sum(xp, mixed[..., 0] + log_expit(xp, -weight), mixed[..., 1] + log_expit(xp, weight))
        results.append(mixed)
    return xp.stack(results)


def both_levels(xp: Any, least: Any, most: Any) -> tuple[Any, Any]:
    """Lower and upper probabilities of both states, (batch, 2) each, from the ends of the log-odds of the higher one, (batch,) each.

    Each state by itself: of 1 - p little is left where p is near 1.
    """
    lower, upper = [expit(xp, -most), expit(xp, least)], [expit(xp, -least), expit(xp, most)]
    return xp.stack(lower, axis=1), xp.stack(upper, axis=1)


def log_sum(xp: Any, one: Any, other: Any) -> Any:
    """The logarithm of the sum of two numbers given by theirs; of two zeros too, which the standard says nothing of (CuPy: NaN)."""
    found = xp.logaddexp(one, other)
    return found if xp is np else xp.where(one == other, one + log(2), found)


def log_expit(xp: Any, x: Any) -> Any:
    """The log-probability of given log-odds, -log(1 + exp(-x))."""
    return -xp.logaddexp(0.0 if xp is np else xp.zeros_like(x), -x)


def expit(xp: Any, x: Any) -> Any:
    """The probability of given log-odds, 1 / (1 + exp(-x))."""
    with np.errstate(over="ignore"):
        return 1 / (1 + xp.exp(-x))
