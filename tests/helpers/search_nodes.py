"""Networks of the search, picked at random: what no bound of it may be below."""

import numpy as np

from quaestor.inference.search.incumbents import complete


def opened(plan, ends, nodes):
    """So many nodes with everything open, for evidence whose likelihoods have these ends."""
    return plan.open({s: low for s, (low, _) in ends.items()}, {s: high for s, (_, high) in ends.items()}, nodes)


def random_networks(plan, nodes, rng):
    """One network for each node."""
    chosen = plan.first_allowed(nodes)
    chosen.rows = [np.where(allowed, rng.random(allowed.shape), -1).argmax(axis=2) for allowed in nodes.rows]
    chosen.messages = [np.where(allowed, rng.random(allowed.shape), -1).argmax(axis=1) for allowed in nodes.messages]
    chosen.ends = {scope: rng.random(low.shape) < 0.5 for scope, low in nodes.low.items()}
    return complete(plan, nodes, chosen)
