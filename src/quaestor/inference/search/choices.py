"""What is open in the nodes of a search, and what is preferred there."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.inference.model import Scope

Numbers = NDArray[Any]  # indices, flags or numbers


@dataclass
class Choices:
    """What is still open in each of a batch of nodes: allowed vertices of rows and message sets, and ends of evidence.

    `rows[v]`: (nodes, rows, vertices) booleans; `messages[v]`: (nodes, vertices) booleans; `low[scope]`, `high[scope]`: (nodes,
    configurations) ends, equal where fixed. The last vertex of rows and message sets is all ones: it takes the factor out of the product.
    A node in which one vertex is allowed everywhere and all ends are equal is a *complete* network. `shares`: for each part of the
    elimination from the goal the least share of each context, (nodes, groups, contexts), or nothing where they are not known. `spans`: for
    variables whose rows stay as they are, the least and the largest numbers of the vertices allowed, (nodes, rows, states) each.
    """

    rows: list[Numbers]
    messages: list[Numbers]
    low: dict[Scope, Numbers]
    high: dict[Scope, Numbers]
    shares: list[Numbers] = field(default_factory=list)
    spans: dict[int, tuple[Numbers, Numbers]] = field(default_factory=dict)

    def take(self, nodes: Numbers | slice) -> "Choices":
        """Some of the nodes, in this order."""
        return Choices(
            [allowed[nodes] for allowed in self.rows],
            [allowed[nodes] for allowed in self.messages],
            {scope: ends[nodes] for scope, ends in self.low.items()},
            {scope: ends[nodes] for scope, ends in self.high.items()},
            [least[nodes] for least in self.shares],
            {v: (low[nodes], high[nodes]) for v, (low, high) in self.spans.items()},
        )

    def put(self, nodes: Numbers, other: "Choices") -> None:
        """Replace some of the nodes by others."""
        for mine, theirs in ((self.rows, other.rows), (self.messages, other.messages)):
            for v, allowed in enumerate(mine):
                allowed[nodes] = theirs[v]
        for ends, others in ((self.low, other.low), (self.high, other.high)):
            for scope in ends:
                ends[scope][nodes] = others[scope]

    @staticmethod
    def join(parts: Sequence["Choices"]) -> "Choices":
        """Several batches as one."""
        return Choices(
            [np.concatenate(allowed) for allowed in zip(*(part.rows for part in parts), strict=True)],
            [np.concatenate(allowed) for allowed in zip(*(part.messages for part in parts), strict=True)],
            {scope: np.concatenate([part.low[scope] for part in parts]) for scope in parts[0].low},
            {scope: np.concatenate([part.high[scope] for part in parts]) for scope in parts[0].high},
            [np.concatenate(least) for least in zip(*(part.shares for part in parts), strict=True)],
        )


@dataclass
class Preferred:
    """The choices at the relaxation's optimum, one for all contexts: the vertex, or the end, of the largest sum over the contexts.

    `rows[v]`: vertices, (nodes, rows); `messages[v]`: vertices, (nodes,); `ends[scope]`: whether the upper end, (nodes, configurations).
    """

    rows: list[Numbers]
    messages: list[Numbers]
    ends: dict[Scope, Numbers]

    def take(self, nodes: Numbers | slice) -> "Preferred":
        """Those of some of the nodes."""
        ends = {scope: is_upper[nodes] for scope, is_upper in self.ends.items()}
        return Preferred([vertex[nodes] for vertex in self.rows], [vertex[nodes] for vertex in self.messages], ends)
