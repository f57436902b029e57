"""Networks far beyond enumeration: forty random cases of more than 10^12 combinations of vertices, shared by tests and benchmarks."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import log10

import numpy as np

from helpers.random_models import KINDS, Parents, loopy, network, relevant, tree
from quaestor.inference.engines.enumeration import combinations
from quaestor.inference.model import Model
from quaestor.model.network import Network

SIZES = {"tree": (20, 40), "polytree": (12, 20), "loopy": (8, 12)}  # the fewest variables that matter, the most in the network
STATES = [(2,), (2, 3), (2, 3, 4), (4,)]
ROWS = [("interval",), ("interval", "vertices"), ("vertices",), KINDS]
OBSERVED = {"tree": 5, "polytree": 4, "loopy": 2}


@dataclass(frozen=True)
class Case:
    """A question to a network: what is P(target | evidence)?"""

    shape: str
    network: Network
    target: int
    evidence: Mapping[int, int]

    @cached_property
    def model(self) -> Model:
        """What matters for the target."""
        return relevant(self.network, self.target, self.evidence)[0]

    @property
    def matter(self) -> int:
        """How many variables matter, with those observed."""
        return len(self.model.names) + len(self.evidence)

    @property
    def magnitude(self) -> float:
        """Ten to the how many combinations of vertices."""
        return log10(combinations(self.model))

    @property
    def is_hard(self) -> bool:
        """Whether the case has the size that its shape promises, and more than 10^12 combinations."""
        return self.matter >= SIZES[self.shape][0] and self.magnitude > 12


def large_cases(count: int = 40, seed: int = 0) -> list[Case]:
    """Random cases: trees, polytrees and loops in turn, every other one with evidence; states and kinds of rows change more slowly."""
    rng = np.random.default_rng(seed)
    cases: list[Case] = []
    while len(cases) < count:
        number = len(cases)
        case = _case(rng, list(SIZES)[number % 3], STATES[number // 3 % 4], ROWS[number // 6 % 4], number % 2 == 1)
        if case.is_hard:
            cases.append(case)
    return cases


def _case(rng: np.random.Generator, shape: str, states: tuple[int, ...], rows: tuple[str, ...], with_evidence: bool) -> Case:
    """A random case with the target for which most matters; the evidence is on variables without children."""
    count = int(rng.integers(SIZES[shape][0], SIZES[shape][1] + 1))
    if shape == "polytree" and states == (2,):
        states = (3,)  # two states do not make a polytree of this size large enough
    graphs = {"tree": lambda: tree(rng, count, reach=2), "polytree": lambda: _turned(rng, _funnel(rng, count), 0.3 * with_evidence)}
    graph = graphs.get(shape, lambda: loopy(rng, count, most_parents=3 if states == (2,) else 2))()
    net = network(rng, graph, states, rows, width=float(rng.choice([0.1, 0.3])))
    leaves = [leaf for leaf in range(count) if all(leaf not in above for above in graph)]
    observed = rng.permutation(leaves)[: OBSERVED[shape]].tolist() if with_evidence else []
    evidence = {leaf: int(rng.integers(len(net.variables[leaf].states))) for leaf in observed}
    cases = [Case(shape, net, target, evidence) for target in rng.permutation(count).tolist() if target not in evidence]
    return max(cases, key=lambda case: case.matter)


def _funnel(rng: np.random.Generator, count: int) -> Parents:
    """A polytree in which every variable but the last has one child, not far away, and (but for the last) at most two parents."""
    parents: list[list[int]] = [[] for _ in range(count)]
    for variable in range(count - 1):
        free = [child for child in range(variable + 1, count) if len(parents[child]) < 2] or [count - 1]
        parents[free[int(rng.integers(min(3, len(free))))]].append(variable)
    return [tuple(above) for above in parents]


def _turned(rng: np.random.Generator, parents: Parents, share: float) -> Parents:
    """The polytree with some edges turned round where that gives nobody a third parent."""
    turned = [list(above) for above in parents]
    for child, above in enumerate(parents):
        for parent in above:
            if rng.random() < share and len(turned[parent]) < 2:
                turned[child].remove(parent)
                turned[parent].append(child)
    return [tuple(above) for above in turned]
