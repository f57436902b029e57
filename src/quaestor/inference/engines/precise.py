"""Looking ahead in precise banks: matrix products on the marginals of scopes and pairs; no inference for any hypothetical answer."""

from collections.abc import Mapping

import numpy as np

from quaestor.inference.groups import Batch
from quaestor.inference.layout import BankModel
from quaestor.inference.lookahead import JointTarget
from quaestor.inference.model import Box, Scope
from quaestor.model.table import Array

Ends = tuple[Array, Array]


class PreciseAhead:
    """Everything that questions of a precise bank would tell, for many takers at once."""

    fits = True

    def __init__(self, compiled: BankModel, boxes: Mapping[Scope, Box], takers: int, tolerance: float, limit: int) -> None:
        self._compiled, self._takers = compiled, takers
        self._evidence = {scope: low for scope, (low, _) in boxes.items()}
        if compiled.joint is not None:
            posterior = compiled.joint.posterior(self._evidence)
            self._joint = np.broadcast_to(posterior, (takers, posterior.shape[-1]))
            self.name = "joint"
        else:
            self._calibrated = compiled.junction.calibrate(self._evidence)
            self.name = "junction"
        self._marginals: dict[Scope, Array] = {}
        self._after: dict[tuple[Scope, int], Array] = {}

    def applies(self, batch: Batch) -> bool:
        """Always."""
        return True

    def now(self, skill: int) -> tuple[Array, Array, float]:
        """P(skill | evidence) as equal bounds, (takers, levels), and the gap."""
        marginal = self._marginal((skill,))
        return marginal, marginal, 0.0

    def _marginal(self, scope: Scope) -> Array:
        """P(scope | evidence), (takers, configurations)."""
        if scope not in self._marginals:
            if self._compiled.joint is not None:
                found = self._compiled.joint.marginal(self._joint, scope)
            else:
                found = self._compiled.junction.marginal(self._calibrated, scope)
                found = np.broadcast_to(found.reshape(len(found), -1), (self._takers, found[0].size))
            self._marginals[scope] = found
        return self._marginals[scope]

    def answers(self, batch: Batch) -> tuple[Ends, float]:
        """P(answer | evidence), (takers, tables, classes)."""
        tables, classes = batch.low.shape[:2]
        found = (self._marginal(batch.scope) @ batch.low.reshape(tables * classes, -1).T).reshape(-1, tables, classes)
        return (found, found), 0.0

    def one_after(self, batch: Batch, skill: int) -> Ends:
        """P(skill | evidence, answer), (takers, tables, classes, levels); zero where the answer is impossible."""
        conditional = self._scope_after(batch)
        if skill in batch.scope:
            levels = [self._compiled.model.sizes[v] for v in batch.scope]
            others = tuple(3 + axis for axis, v in enumerate(batch.scope) if v != skill)
            shaped = conditional.reshape(*conditional.shape[:3], *levels)
            found = shaped.sum(axis=others) if others else shaped
        else:
            found = np.einsum("tqac,tcl->tqal", conditional, self._given(batch.scope, skill))
        return found, found

    def _scope_after(self, batch: Batch) -> Array:
        """P(scope | evidence, answer), (takers, tables, classes, configurations); worked out once a batch."""
        key = (batch.scope, batch.low.shape[1])
        if key not in self._after:
            tables, classes = batch.low.shape[:2]
            joint = self._marginal(batch.scope)[:, None, None] * batch.low.reshape(1, tables, classes, -1)
            total = np.einsum("tqac->tqa", joint)[..., None]
            self._after[key] = joint / np.where(total > 0, total, 1.0)
        return self._after[key]

    def joint_of(self, batch: Batch) -> JointTarget:
        """All skills together, summed up for each configuration of a batch's scope."""
        mass, states = self._marginal(batch.scope), self._compiled.model.joint_size
        if self._compiled.joint is None:
            return JointTarget(states, mass, None, None)
        index = self._compiled.joint.index(batch.scope)
        peak = np.stack([self._joint[:, index == c].max(axis=1) for c in range(mass.shape[1])], axis=1)
        return JointTarget(states, mass, peak, self._joint**2 @ self._compiled.joint.indicator(batch.scope))

    def _given(self, scope: Scope, skill: int) -> Array:
        """P(skill | configuration of the scope, evidence), (takers, configurations, levels)."""
        if self._compiled.joint is not None:
            joint = self._compiled.joint
            pairs = np.einsum("tj,jc,jl->tcl", self._joint, joint.indicator(scope), joint.indicator((skill,)), optimize=True)
            total = pairs.sum(axis=2, keepdims=True)
            given: Array = np.divide(pairs, total, out=np.zeros_like(pairs), where=total > 0)
            return given
        sizes = [self._compiled.model.sizes[v] for v in scope]
        found = []
        for configuration in range(int(np.prod(sizes))):
            fixed = np.full(sizes, -np.inf)
            fixed[np.unravel_index(configuration, sizes)] = 0.0
            evidence = {**self._evidence, scope: self._evidence.get(scope, np.zeros((1, *sizes))) + fixed}
            calibrated = self._compiled.junction.calibrate(evidence)
            marginal = np.nan_to_num(self._compiled.junction.marginal(calibrated, (skill,)))
            found.append(np.broadcast_to(marginal, (self._takers, marginal.shape[1])))
        return np.stack(found, axis=1)
