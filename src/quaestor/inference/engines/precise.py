"""Precise models, exactly: matrix products on the marginals of scopes and pairs; no inference for any hypothetical answer.

Small models through their joint table (`joint`), others through a junction tree (`junction`).
"""

import numpy as np

from quaestor.credal.indices import INDICES
from quaestor.errors import QuaestorError
from quaestor.inference.engine import Bracket, JointTarget
from quaestor.inference.joint import LARGEST, MOST, joint_of
from quaestor.inference.junction import junction_of
from quaestor.inference.layout import Batch
from quaestor.inference.model import Model, Scope
from quaestor.lazy import lazy
from quaestor.model.table import Array


class PreciseEngine:
    """Everything that answers and questions of a precise model tell, for many takers at once."""

    def __init__(self, model: Model, takers: int, method: str) -> None:
        if method == "joint" and model.joint_size > MOST:
            raise QuaestorError(f"method joint is for at most {MOST} joint states, got {model.joint_size:.3g}; junction has no such limit")
        self._model, self._takers, self._method = model, takers, method
        self._is_joint = method == "joint"
        self._evidence = {scope: low for scope, (low, _) in model.boxes.items()}
        self._marginals: dict[Scope, Array] = {}
        self._after: dict[int, tuple[Batch, Array]] = {}

    @lazy
    def _posterior(self) -> Array:
        """P(joint state | evidence), (takers, states); rows of NaN where the evidence is impossible."""
        found = joint_of(self._model).posterior(self._evidence)
        return found if found.ndim == 2 and len(found) == self._takers else np.broadcast_to(found, (self._takers, found.shape[-1]))

    @lazy
    def _calibrated(self) -> list[Array]:
        return junction_of(self._model).calibrate(self._evidence)

    @lazy
    def _singles(self) -> list[Array]:
        return joint_of(self._model).marginals(self._posterior)

    @property
    def is_possible(self) -> Array:
        """Whether the evidence of each taker has a positive probability, (takers,)."""
        if self._is_joint:
            return np.asarray(~np.isnan(self._posterior[:, 0]))
        return np.isfinite(self.log_probability)

    @lazy
    def log_probability(self) -> Array:
        """log P(evidence), (takers,); -inf where it is impossible."""
        return np.broadcast_to(junction_of(self._model).log_probability(self._evidence), self._takers)

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        found = self._marginal((variable,))
        return Bracket.exact(found, found, self._method)

    def _marginal(self, scope: Scope) -> Array:
        """P(scope | evidence), (takers, configurations)."""
        if scope not in self._marginals:
            if self._is_joint:
                found = self._singles[scope[0]] if len(scope) == 1 else joint_of(self._model).marginal(self._posterior, scope)
            else:
                found = junction_of(self._model).marginal(self._calibrated, scope)
                found = np.broadcast_to(found.reshape(len(found), -1), (self._takers, found[0].size))
            self._marginals[scope] = found
        return self._marginals[scope]

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        found = (self._marginal(batch.scope) @ batch.flat.T).reshape(-1, *batch.low.shape[:2])
        return Bracket.exact(found, found, self._method)

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states); zero where the answer is impossible."""
        conditional = self._scope_after(batch)
        if variable in batch.scope:
            others = tuple(3 + axis for axis, v in enumerate(batch.scope) if v != variable)
            shaped = conditional.reshape(*conditional.shape[:3], *batch.low.shape[2:])
            found = shaped.sum(axis=others) if others else shaped
        else:
            found = np.einsum("tqac,tcl->tqal", conditional, self._given(batch.scope, variable))
        return Bracket.exact(found, found, self._method)

    def _scope_after(self, batch: Batch) -> Array:
        """P(scope | evidence, class), (takers, tables, classes, configurations)."""
        if id(batch) not in self._after:
            joint = self._marginal(batch.scope)[:, None, None] * batch.flat.reshape(1, *batch.low.shape[:2], -1)
            total = np.einsum("tqac->tqa", joint)[..., None]
            self._after[id(batch)] = batch, joint / np.where(total > 0, total, 1.0)
        return self._after[id(batch)][1]

    def joint(self, batch: Batch) -> JointTarget:
        """All skills together, summed up for each configuration of a batch's scope."""
        mass, states = self._marginal(batch.scope), self._model.joint_size
        if not self._is_joint:
            return JointTarget(states, mass, None, None)
        joint = joint_of(self._model)
        index = joint.index(batch.scope)
        peak = np.stack([self._posterior[:, index == c].max(axis=1) for c in range(mass.shape[1])], axis=1)
        return JointTarget(states, mass, peak, self._posterior**2 @ joint.indicator(batch.scope))

    def uncertainty(self, index: str) -> Array:
        """An index of uncertainty of the joint distribution of all variables, from 0 to 1, (takers,)."""
        if self._is_joint:
            return np.asarray(INDICES[index].value(self._posterior))
        if index != "entropy":
            raise QuaestorError(f"the joint {index} is for at most {LARGEST} joint states, got {self._model.joint_size:.3g}; use entropy")
        found = junction_of(self._model).entropy(self._calibrated) / np.log(self._model.joint_size)
        return np.asarray(np.broadcast_to(found, self._takers))

    def _given(self, scope: Scope, variable: int) -> Array:
        """P(variable | configuration of the scope, evidence), (takers, configurations, states)."""
        if self._is_joint:
            joint = joint_of(self._model)
            pairs = np.einsum("tj,jc,jl->tcl", self._posterior, joint.indicator(scope), joint.indicator((variable,)), optimize=True)
            total = pairs.sum(axis=2, keepdims=True)
            given: Array = np.divide(pairs, total, out=np.zeros_like(pairs), where=total > 0)
            return given
        sizes = [self._model.sizes[v] for v in scope]
        found = []
        for configuration in range(int(np.prod(sizes))):
            fixed = np.full(sizes, -np.inf)
            fixed[np.unravel_index(configuration, sizes)] = 0.0
            evidence = {**self._evidence, scope: self._evidence.get(scope, np.zeros((1, *sizes))) + fixed}
            tree = junction_of(self._model)
            marginal = np.nan_to_num(tree.marginal(tree.calibrate(evidence), (variable,)))
            found.append(np.broadcast_to(marginal, (self._takers, marginal.shape[1])))
        return np.stack(found, axis=1)
