"""Exact precise inference through the full joint table, for models whose joint is small: a few array operations for any graph."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.model import Model, Scope
from quaestor.model.table import Array

LARGEST = 4096  # joint states up to which this is the way to go
MOST = 2**17  # joint states at all


class Joint:
    """The prior joint of a precise model and the maps between it and its scopes; evidence comes as log-likelihoods.

    A batch of evidence sets is a leading axis: log-likelihoods of shape (batch, *scope's sizes) give posteriors of shape (batch, joint).
    """

    def __init__(self, model: Model) -> None:
        self.sizes = model.sizes
        self._states = np.stack(np.unravel_index(np.arange(int(model.joint_size)), model.sizes)) if model.sizes else np.zeros((0, 1), int)
        prior = np.ones(int(model.joint_size))
        for variable, (parents, table) in enumerate(zip(model.parents, model.tables, strict=True)):
            prior = prior * table.lower[tuple(self._states[v] for v in (*parents, variable))]
        self.prior = prior
        self._possible = prior > 0
        self._index: dict[Scope, NDArray[np.intp]] = {}
        self._indicators: dict[Scope, Array] = {}
        self._all = np.concatenate([np.eye(size)[self.index((v,))] for v, size in enumerate(model.sizes)], axis=1)
        self._ends = np.cumsum(model.sizes)[:-1]

    def index(self, scope: Scope) -> NDArray[np.intp]:
        """For each joint state the number of its configuration of the scope, counted in C order."""
        if scope not in self._index:
            found = np.ravel_multi_index(tuple(self._states[v] for v in scope), tuple(self.sizes[v] for v in scope))
            self._index[scope] = np.asarray(found, dtype=np.intp)
        return self._index[scope]

    def indicator(self, scope: Scope) -> Array:
        """The matrix (joint, configurations) that sums a joint table to the scope."""
        if scope not in self._indicators:
            configurations = int(np.prod([self.sizes[v] for v in scope]))
            self._indicators[scope] = np.eye(configurations)[self.index(scope)]
        return self._indicators[scope]

    def posterior(self, evidence: Mapping[Scope, Array]) -> Array:
        """P(joint | evidence), shape (batch, joint) or (joint,); rows of NaN where the evidence is impossible."""
        total: Array | None = None
        for scope, log_likelihood in evidence.items():
            flat = log_likelihood.reshape(*log_likelihood.shape[: log_likelihood.ndim - len(scope)], -1)
            part = flat[..., self.index(scope)]
            total = part if total is None else total + part
        if total is None:
            return self.prior
        if not self._possible.all():
            total = np.where(self._possible, total, -np.inf)
        top = total.max(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore"):
            weights = np.exp(total - top) * self.prior
            result: Array = weights / weights.sum(axis=-1, keepdims=True)
        return result

    def marginals(self, posterior: Array) -> list[Array]:
        """P(variable | evidence) for each variable, shapes (batch, states) or (states,)."""
        return np.split(posterior @ self._all, self._ends, axis=-1)

    def marginal(self, posterior: Array, scope: Scope) -> Array:
        """P(scope | evidence), shape (batch, configurations)."""
        return posterior @ self.indicator(scope)


def joint_of(model: Model) -> Joint:
    """The joint of a precise model, kept with it."""
    return model.keep("joint", lambda: Joint(model))
