"""Networks: names and indices, order, what is refused, widening and centres."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.strategies import networks
from quaestor.errors import NetworkError
from quaestor.model.network import Network, Variable, find_cycle, topological_order
from quaestor.model.table import Table

NO_YES = ("no", "yes")


def uniform(name, parents=(), states=NO_YES, parent_sizes=None):
    """A variable with uniform rows; its parents have two states unless told."""
    shape = (*(parent_sizes or [2] * len(parents)), len(states))
    return Variable(name, tuple(states), tuple(parents), Table.precise(np.full(shape, 1 / len(states))))


def graph(**parents):
    """A network of uniform two-state variables: `graph(a="", b="a")`."""
    return Network(tuple(uniform(name, above.split()) for name, above in parents.items()))


# Names, indices and order


def test_a_variable_is_found_by_name_and_by_index():
    network = graph(a="", b="a", c="a b")
    assert network.names == ("a", "b", "c")
    assert [network.index("c"), network.index(2), network.index(np.int64(2))] == [2, 2, 2]
    assert type(network.index(np.int64(2))) is int


def test_a_name_that_looks_like_an_index_is_a_name():
    network = Network((uniform("1"), uniform("0")))
    assert [network.index("1"), network.index(1), network.index("0")] == [0, 1, 1]


def test_a_state_is_found_by_name_and_by_index():
    network = Network((uniform("a", states=("low", "2", "high")),))
    assert [network.state("a", "2"), network.state(0, 2), network.state("a", np.int64(0))] == [1, 2, 0]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda network: network.index("z"), "unknown variable, got 'z' (the network has 2 variables)"),
        (lambda network: network.index(2), "unknown variable, got 2 (the network has 2 variables)"),
        (lambda network: network.index(-1), "unknown variable, got -1 (the network has 2 variables)"),
        (lambda network: network.state("b", "maybe"), "unknown state of b, got 'maybe' (it has no, yes)"),
        (lambda network: network.state("b", 2), "unknown state of b, got 2 (it has no, yes)"),
        (lambda network: network.state(1, -1), "unknown state of 1, got -1 (it has no, yes)"),
        (lambda network: network.state("z", "no"), "unknown variable, got 'z' (the network has 2 variables)"),
    ],
)
def test_what_is_not_in_the_network_is_named(ask, message):
    with pytest.raises(NetworkError) as caught:
        ask(graph(a="", b="a"))
    assert str(caught.value) == message


def test_parents_are_indices_in_the_order_of_the_axes():
    assert graph(c="b a", a="", b="").parents == ((2, 1), (), ())


def test_order_puts_parents_first_and_otherwise_keeps_the_order_given():
    assert graph(d="b c", a="", c="a", b="a").order == (1, 3, 2, 0)


@given(networks())
def test_order_holds_every_variable_once_after_its_parents(network):
    assert sorted(network.order) == list(range(len(network.variables)))
    rank = {index: place for place, index in enumerate(network.order)}
    assert all(rank[parent] < rank[child] for child, parents in enumerate(network.parents) for parent in parents)


@given(networks())
def test_the_table_of_a_variable_has_an_axis_for_each_parent(network):
    for variable, parents in zip(network.variables, network.parents, strict=True):
        assert variable.table.shape == (*(len(network.variables[parent].states) for parent in parents), len(variable.states))


def test_a_long_chain_is_no_deep_recursion():
    names = [str(number) for number in range(3000)]
    parents = {name: names[number + 1 : number + 2] for number, name in enumerate(names)}
    assert topological_order(parents) == names[::-1]
    assert find_cycle(parents) == []
    assert len(find_cycle(parents | {names[-1]: [names[0]]})) == 3001


# What is refused


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ([], "a network has at least one variable, got none"),
        ([uniform("a"), uniform("b"), uniform("a")], "a: names differ, got this one twice"),
        ([uniform("a", states=("x", "y", "x"))], "a.states: states differ, got x twice"),
        ([uniform("a"), uniform("b", ["a", "a"])], "b.parents: parents differ, got a twice"),
        ([uniform("a", ["z"])], "a.parents: unknown variable, got 'z'"),
        (
            [uniform("a", states=("x", "y", "z")), uniform("b", ["a"])],
            "b.table: its shape is (parents' sizes, states) = (3, 2), got (2, 2)",
        ),
        ([Variable("a", ("x",), (), Table.precise([0.5, 0.5]))], "a.table: its shape is (parents' sizes, states) = (1,), got (2,)"),
        ([uniform("a", ["a"])], "a: the graph has no cycle, got a -> a"),
        (
            [uniform("r"), uniform("a", ["r", "c"]), uniform("b", ["a"]), uniform("c", ["b"])],
            "a: the graph has no cycle, got a -> b -> c -> a",
        ),
    ],
)
def test_a_network_that_breaks_a_rule_is_refused(variables, message):
    with pytest.raises(NetworkError) as caught:
        Network(tuple(variables))
    assert str(caught.value) == message


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=3), min_size=1))
def test_a_cycle_is_found_exactly_when_there_is_one(parents):
    parents = {name: [parent for parent in above if parent in parents] for name, above in parents.items()}
    cycle = find_cycle(parents)
    if cycle:
        assert cycle[0] == cycle[-1]
        assert all(above in parents[below] for below, above in pairwise(cycle))
    else:
        # Take away variables without parents until none is left: possible just when there is no cycle.
        left = {name: set(above) for name, above in parents.items()}
        while roots := [name for name, above in left.items() if not above & left.keys()]:
            for name in roots:
                del left[name]
        assert not left


# Widening, centres and the type itself


@given(networks(), st.sampled_from([0.0, 0.05, 1.0]))
def test_widening_widens_every_table_and_keeps_the_rest(network, epsilon):
    wide = network.widen(epsilon)
    assert [variable.table for variable in wide.variables] == [variable.table.widen(epsilon) for variable in network.variables]
    assert [(v.name, v.states, v.parents) for v in wide.variables] == [(v.name, v.states, v.parents) for v in network.variables]


@given(networks())
def test_the_centre_is_one_bayesian_network(network):
    middle = network.centre()
    assert middle.is_precise
    assert [variable.table for variable in middle.variables] == [variable.table.centre() for variable in network.variables]
    assert [(v.name, v.states, v.parents) for v in middle.variables] == [(v.name, v.states, v.parents) for v in network.variables]


def test_one_wide_row_makes_a_network_credal():
    wide = Variable("b", NO_YES, ("a",), Table([[0.5, 0.5], [0.1, 0.8]], [[0.5, 0.5], [0.2, 0.9]]))
    assert graph(a="").is_precise
    assert not Network((uniform("a"), wide)).is_precise


@given(networks())
def test_a_network_survives_pickling(network):
    again = pickle.loads(pickle.dumps(network))
    assert again == network
    assert hash(again) == hash(network)
    assert again.order == network.order


def test_variables_may_be_given_as_a_list():
    assert Network([uniform("a")]) == Network((uniform("a"),))
