"""Proofs that settle choices in the order of elimination: against every network where they can be listed, and against random ones."""

import numpy as np
import pytest

import quaestor as qs
from helpers.random_models import loopy, network, relevant
from quaestor.inference.engines.enumeration import combinations, enumerate_bounds
from quaestor.inference.model import likelihood
from quaestor.inference.search.core import core_of
from quaestor.inference.search.elimination import Elimination
from quaestor.inference.search.incumbents import evaluate
from quaestor.inference.search.orders import orders
from quaestor.inference.search.settling import settle
from quaestor.inference.search.shares import LEVELS, with_shares


def problem(seed):
    """A network with loops that has few enough networks: its core, its goal, and the upper probabilities of the goal."""
    rng = np.random.default_rng(seed)
    while True:
        graph = loopy(rng, int(rng.integers(3, 6)), 2)
        net = network(rng, graph, (2, 2, 3), ("interval", "precise", "vertices"), 0.2)
        leaves = [v for v in range(1, len(graph)) if all(v not in above for above in graph)]
        model, target = relevant(net, 0, dict.fromkeys(leaves, 0))
        if not model.is_singly_connected and 64 < combinations(model) < 200_000:
            core = core_of(model, (target,))
            return core, (core.number[target],), enumerate_bounds(model, target)[1]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("tied", [False, True])
def test_what_is_shown_is_what_enumeration_finds(seed, tied):
    core, goal, upper = problem(seed)
    states = np.eye(len(upper))
    ends = {scope: likelihood(box) for scope, box in core.model.boxes.items()}
    for order in orders(core.model, goal):
        plan = Elimination(core, order)
        root = plan.open({s: low for s, (low, _) in ends.items()}, {s: high for s, (_, high) in ends.items()}, len(upper))
        root = with_shares(plan, root, goal, LEVELS) if tied else root
        shown, _, _, _ = settle(plan, root, states - (upper + 1e-7)[:, None], goal, 100_000)
        assert shown.all()
        shown, owner, networks, _ = settle(plan, root, states - (upper - 1e-7)[:, None], goal, 100_000)
        assert not shown.any()
        assert set(owner.tolist()) == set(range(len(upper)))
        values = evaluate(plan, networks, states[owner], goal)
        assert (values <= upper[owner] + 1e-9).all()
        for state in range(len(upper)):
            assert values[owner == state].max() > upper[state] - 1e-7  # one of those found is the best there is


def test_nodes_that_part_too_often_show_nothing():
    core, goal, upper = problem(3)
    plan = Elimination(core, orders(core.model, goal)[0])
    ends = {scope: likelihood(box) for scope, box in core.model.boxes.items()}
    root = plan.open({s: low for s, (low, _) in ends.items()}, {s: high for s, (_, high) in ends.items()}, len(upper))
    shown, owner, _, _ = settle(plan, root, np.eye(len(upper)) - (upper - 1e-3)[:, None], goal, 1)
    assert not shown.any()
    assert not len(owner)


def chance(values):
    """P(no), P(yes) from P(yes)."""
    values = np.asarray(values)
    return np.stack([1 - values, values], axis=-1)


def test_a_vertex_that_is_worse_with_one_message_may_be_the_best_with_another():
    """Rows of five states with three vertices, two messages, two contexts: a row must not be parted before the message is."""
    priors = {"Z": [[0.25, 0.75], [0.46, 0.54]], "X": [[0.28, 0.19, 0.53, 0, 0], [0.26, 0, 0.48, 0.26, 0], [0.01, 0.4, 0, 0.58, 0.01]]}
    sent = np.array([[0.49, 0.0, 0.3, 0.01, 0.2], [0.42, 0.21, 0.1, 0.15, 0.12]])
    right = np.array([[0.96, 0.75, 0.0, 0.21, 0.04], [0.86, 0.26, 0.32, 0.96, 0.4]])
    likely = np.array([[0.73, 0.83, 0.56, 0.53, 0.79], [0.42, 0.66, 0.88, 0.89, 0.32]])
    share = 0.99 / sent.sum(axis=0).max()
    below = np.stack([*(share * sent), 1 - share * sent.sum(axis=0)], axis=-1)

    def root(name):
        rows = np.array(priors[name])
        return qs.Variable(name, tuple(f"{name}{k}" for k in range(rows.shape[1])), (), qs.Table(rows.min(0), rows.max(0), {0: rows}))

    two = ("no", "yes")
    net = qs.Network(
        (
            root("Z"),
            root("X"),
            qs.Variable("Y", ("0", "1", "2"), ("X",), qs.Table.precise(below)),
            qs.Variable("E", two, ("Y",), qs.Table([[0, 0], [0, 0], [1, 0]], [[1, 1], [1, 1], [1, 0]])),
            qs.Variable("W", two, ("Z", "X"), qs.Table.precise(chance(right))),
            qs.Variable("Q", two, ("Z", "X"), qs.Table.precise(chance(likely))),
            qs.Variable("G", two, ("W",), qs.Table.precise(chance([0.1, 0.9]))),
        )
    )
    truth = qs.bounds(net, "G", {"E": "yes", "Q": "yes"}, method="enumeration")
    found = qs.bounds(net, "G", {"E": "yes", "Q": "yes"}, method="branch")
    np.testing.assert_allclose(found.lower, truth.lower, atol=1e-8)
    np.testing.assert_allclose(found.upper, truth.upper, atol=1e-8)
