"""The oracle itself: against numbers worked out by hand, and against sums written out with dictionaries."""

from itertools import product
from math import inf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers import random_models
from helpers.models import model_of
from helpers.strategies import networks
from quaestor import Bank, Network, Table, Variable, load, posterior
from quaestor.inference.engines.enumeration import combinations, enumerate_bounds, joints
from quaestor.inference.model import reduce

SINGLE = {"skills": {"S": {"prior": [[0.45, 0.55], [0.45, 0.55]]}}}
ROUGHLY = {"right": [[0.35, 0.45], [0.55, 0.65]]}  # 0.4 and 0.6, each 0.05 off at most


def enumerated(bank, answers):
    """Bounds of the higher level of the only skill."""
    lower, upper = enumerate_bounds(model_of(bank, answers), 0)
    return lower[1], upper[1]


def test_the_minimal_case_by_hand():
    bank = Bank(SINGLE | {"questions": {"Q": {"skill": "S"} | ROUGHLY}})
    assert enumerated(bank, {"Q": "right"}) == pytest.approx((0.45 * 0.55 / (0.45 * 0.55 + 0.55 * 0.45), 0.55 * 0.65 / 0.515), abs=1e-15)
    assert enumerated(bank, {"Q": "right"}) == pytest.approx((0.50000, 0.69417), abs=5e-6)


@pytest.mark.parametrize(
    ("answers", "lower", "upper"),
    [
        ("00", 0.029, 0.188),
        ("0-", 0.052, 0.220),
        ("01", 0.062, 0.344),
        ("-0", 0.306, 0.500),
        ("-1", 0.500, 0.694),
        ("10", 0.517, 0.792),
        ("1-", 0.665, 0.823),
        ("11", 0.708, 0.896),
    ],
)
def test_the_exact_bounds_of_table_1(answers, lower, upper):
    bank = load("multiplication").widen(0.05)
    given_answers = {question: int(answer) for question, answer in zip(("Q1", "Q2"), answers, strict=True) if answer != "-"}
    assert enumerated(bank, given_answers) == pytest.approx((lower, upper), abs=5.1e-4)


def test_the_minimal_case_through_the_front_door():
    bank = Bank(SINGLE | {"questions": {"Q": {"skill": "S"} | ROUGHLY}})
    found = posterior(bank, {"Q": "right"}, method="enumeration")["S"]
    assert (found.lower[1], found.upper[1]) == pytest.approx((0.50000, 0.69417), abs=5e-6)
    assert (found.method, found.exact) == ("enumeration", True)


def test_three_states_by_hand():
    """P(x) of a root in [.1,.3] x [.2,.5] x [.3,.6], likelihoods 1, 1/2, 1/4: the vertices are few enough to list."""
    root = Variable("x", ("a", "b", "c"), (), Table([0.1, 0.2, 0.3], [0.3, 0.5, 0.6]))
    leaf = Variable("y", ("0", "1"), ("x",), Table.precise([[0.0, 1.0], [0.5, 0.5], [0.75, 0.25]]))
    model, number = reduce(Network((root, leaf)), {1: 1})
    vertices = [(0.1, 0.5, 0.4), (0.1, 0.3, 0.6), (0.2, 0.5, 0.3), (0.3, 0.2, 0.5), (0.3, 0.4, 0.3), (0.2, 0.2, 0.6)]
    weighed = np.array(vertices) * [1, 0.5, 0.25]
    expected = weighed / weighed.sum(axis=1, keepdims=True)
    lower, upper = enumerate_bounds(model, number[0])
    assert combinations(model) == len(vertices)
    assert lower == pytest.approx(expected.min(axis=0), abs=1e-15)
    assert upper == pytest.approx(expected.max(axis=0), abs=1e-15)


def test_networks_that_exclude_the_evidence_are_left_out():
    """x = 1 surely or never; the evidence is only possible with x = 1, so it is certain, not a division by zero."""
    root = Variable("x", ("0", "1"), (), Table([0, 0], [1, 1]))
    leaf = Variable("y", ("0", "1"), ("x",), Table.precise([[1, 0], [0.3, 0.7]]))
    model, number = reduce(Network((root, leaf)), {1: 1})
    assert combinations(model) == 2
    assert sorted(joint.sum() > 0 for joint in joints(model)) == [False, True]
    lower, upper = enumerate_bounds(model, number[0])
    assert (lower.tolist(), upper.tolist()) == ([0, 1], [0, 1])


def naive(network, target, evidence):
    """Lower and upper P(target | evidence): every choice of vertices, every joint state, plain sums. None when it is impossible."""
    names = network.names
    states = {variable.name: range(len(variable.states)) for variable in network.variables}
    rows = [(variable, row) for variable in network.variables for row in product(*(states[parent] for parent in variable.parents))]
    sets = [variable.table.row_vertices(int(np.ravel_multi_index(row, variable.table.shape[:-1])) if row else 0) for variable, row in rows]
    lower = dict.fromkeys(states[target], inf)
    upper = dict.fromkeys(states[target], -inf)
    for choice in product(*sets):
        tables = {(variable.name, row): point for (variable, row), point in zip(rows, choice, strict=True)}
        weight = dict.fromkeys(states[target], 0.0)
        for joint in product(*(states[name] for name in names)):
            at = dict(zip(names, joint, strict=True))
            if all(at[name] == state for name, state in evidence.items()):
                chance = 1.0
                for variable in network.variables:
                    chance *= tables[variable.name, tuple(at[parent] for parent in variable.parents)][at[variable.name]]
                weight[at[target]] += chance
        total = sum(weight.values())
        if total > 0:
            for state, part in weight.items():
                lower[state], upper[state] = min(lower[state], part / total), max(upper[state], part / total)
    return (list(lower.values()), list(upper.values())) if max(upper.values()) >= 0 else None


def compare(network, target, evidence):
    expected = naive(network, target, evidence)
    observed = {network.index(name): state for name, state in evidence.items()}
    model, number = reduce(network, observed)
    lower, upper = enumerate_bounds(model, number[network.index(target)])
    if expected is None:
        assert not np.isfinite(lower).any()
    else:
        assert lower == pytest.approx(expected[0], abs=1e-13)
        assert upper == pytest.approx(expected[1], abs=1e-13)


def work(network):
    """How much the naive way has to do."""
    tables = [variable.table for variable in network.variables]
    choices = np.prod([float(len(table.row_vertices(row))) for table in tables for row in range(table.rows)])
    return choices * np.prod([float(table.shape[-1]) for table in tables]) * len(tables)


@given(networks(most_variables=4, most_states=3), st.data())
def test_against_sums_over_dictionaries(network, data):
    """Any graph, any order of the variables, rows of all kinds, zeros among them."""
    assume(work(network) < 20_000)
    target = data.draw(st.sampled_from(network.names))
    others = [variable for variable in network.variables if variable.name != target]
    observed = data.draw(st.lists(st.sampled_from(others), unique_by=lambda v: v.name, max_size=2)) if others else []
    compare(network, target, {variable.name: data.draw(st.integers(0, len(variable.states) - 1)) for variable in observed})


@pytest.mark.parametrize("seed", range(60))
def test_against_sums_over_dictionaries_on_networks_with_evidence(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    shape = random_models.SHAPES[seed % 3]
    network = random_models.network(rng, random_models.GRAPHS[shape](rng, count), (2, 2, 3), width=0.3, zeros=0.2 * (seed % 2))
    if work(network) > 60_000:
        network = network.centre()
    target = int(rng.integers(count))
    evidence = random_models.observe(rng, network, target, 3)
    compare(network, network.names[target], {network.names[index]: state for index, state in evidence.items()})


def test_the_order_of_variables_in_a_network_does_not_matter():
    rng = np.random.default_rng(7)
    network = random_models.network(rng, [(), (0,), (0, 1), (2,)], (2,), width=0.3)
    turned = Network(tuple(reversed(network.variables)))
    for target, observed in (("v0", "v3"), ("v1", "v3"), ("v3", "v0")):
        results = []
        for net in (network, turned):
            model, number = reduce(net, {net.index(observed): 1})
            results.append(np.stack(enumerate_bounds(model, number[net.index(target)])))
        assert results[0] == pytest.approx(results[1], abs=1e-14)
