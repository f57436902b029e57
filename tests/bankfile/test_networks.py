"""Networks that become banks: what a bank is made of comes back, other shapes are summed out where that is exact, or refused."""

import numpy as np
import pytest
from hypothesis import given, settings

import quaestor as qs
from helpers import random_models
from helpers.strategies import documents
from quaestor import Bank, Network, NetworkError, Table, Variable, bank_from_network

HALF = Table.precise([0.5, 0.5])
FOLLOWS = Table.precise([[0.8, 0.2], [0.3, 0.7]])
BOTH = Table.precise([[[0.9, 0.1], [0.6, 0.4]], [[0.5, 0.5], [0.2, 0.8]]])


def variable(name, parents="", table=None):
    made = {0: HALF, 1: FOLLOWS, 2: BOTH}[len(parents)] if table is None else table
    return Variable(name, ("no", "yes"), tuple(parents), made)


def refusal(network, *arguments):
    with pytest.raises(NetworkError) as caught:
        bank_from_network(network, *arguments)
    return str(caught.value)


@pytest.mark.parametrize("name", qs.bundled_banks())
@pytest.mark.parametrize("width", [0, 0.03])
def test_the_network_of_a_bundled_bank_is_that_bank_again(name, width):
    bank = qs.load(name).widen(width)
    again = bank_from_network(bank.network, bank.skills, title=bank.title)
    assert again.model_version == bank.widen(0).model_version
    assert again.title == bank.title


@given(documents())
@settings(max_examples=15)
def test_the_network_of_any_bank_is_that_bank_again(document):
    bank = Bank(document)
    again = bank_from_network(bank.network, list(bank.skills))
    assert again.network.names == bank.network.names
    for one, other in zip(again.network.variables, bank.network.variables, strict=True):
        assert (one.states, one.parents) == (other.states, other.parents)
        np.testing.assert_allclose(one.table.lower, other.table.lower, rtol=0, atol=1e-12)
        np.testing.assert_allclose(one.table.upper, other.table.upper, rtol=0, atol=1e-12)


def test_variables_are_named_or_numbered_as_everywhere():
    network = Network((variable("A"), variable("B", "A"), variable("Q", "B")))
    for skills in (["A", "B"], [0, 1], ("A", 1)):
        bank = bank_from_network(network, skills)
        assert (list(bank.skills), list(bank.questions)) == (["A", "B"], ["Q"])
    assert bank.questions["Q"].classes == ("no", "yes")
    assert bank.skills["B"].parents == ("A",)
    assert list(bank_from_network(network, ["B", "A"]).skills) == ["B", "A"], "in the order in which they are named"


@pytest.mark.parametrize("seed", range(25))
def test_summing_out_changes_no_posterior(seed):
    """A random network, hidden variables with one child or none: the posteriors of the bank are those of the network."""
    random = np.random.default_rng(seed)
    graph = (random_models.tree, random_models.polytree, random_models.loopy)[seed % 3]
    network = random_models.network(random, graph(random, 7), kinds=("precise",))
    children = {name: [v.name for v in network.variables if name in v.parents] for name in network.names}
    leaves = [name for name in network.names if not children[name] and network.variables[network.index(name)].parents]
    hidden = [v.name for v in network.variables if v.name not in leaves and v.parents and len(children[v.name]) == 1][:2]
    lonely = [name for name in network.names if not children[name] and name not in leaves]
    skills = [name for name in network.names if name not in (*leaves, *hidden, *lonely)]
    bank = bank_from_network(network, skills, [*hidden, *lonely])
    answers = {name: int(random.integers(len(q.classes))) for name, q in bank.questions.items()}
    for skill in skills:
        expected = qs.bounds(network, skill, answers, method="joint")
        np.testing.assert_allclose(qs.posterior(bank, answers)[skill].lower, expected.lower, rtol=0, atol=1e-10)


def test_a_leaf_of_a_credal_network_may_be_left_away():
    wide = Table(np.array([[0.7, 0.1], [0.2, 0.6]]), np.array([[0.9, 0.3], [0.4, 0.8]]))
    network = Network((variable("A"), variable("Q", "A", wide), variable("R", "A", wide)))
    bank = bank_from_network(network, ["A"], hidden=["R"])
    assert list(bank.questions) == ["Q"]
    assert bank.questions["Q"].table == wide


def test_other_shapes_are_refused_with_words():
    chain = Network((variable("A"), variable("B", "A"), variable("C", "B")))
    hint = "(name it among the skills, or as hidden to sum it out)"
    assert refusal(chain, ["A"]) == f"B: nothing depends on a question, got the children C {hint}"
    assert refusal(chain, ["B"]) == f"A: nothing depends on a question, got the children B {hint}"
    assert refusal(chain, ["A", "C"]) == f"B: nothing depends on a question, got the children C {hint}"
    assert refusal(chain, []) == "a bank has at least one skill, got none"
    assert refusal(chain, ["Z"]) == "unknown variable, got 'Z' (the network has 3 variables)"
    assert refusal(chain, "AB") == "a list of variables is expected, got 'AB'"
    assert refusal(chain, ["A"], ["A"]) == "A: a variable is a skill or hidden, got both"
    assert (
        refusal(Network((variable("A"), variable("Q"))), ["A"]) == f"Q: a question has a skill or skills that it measures, got none {hint}"
    )
    fork = Network((variable("H"), variable("A", "H"), variable("B", "H")))
    assert refusal(fork, ["A", "B"], ["H"]) == "H: a variable that is summed out has one child at most, got A and B"
    wide = Table(np.array([0.4, 0.4]), np.array([0.6, 0.6]))
    credal = Network((variable("H", table=wide), variable("A", "H"), variable("Q", "A")))
    said = "H: a variable is summed out into A where both have exact numbers, got intervals (take the centre of the network)"
    assert refusal(credal, ["A"], ["H"]) == said
    assert bank_from_network(credal.centre(), ["A"], ["H"]).skills["A"].table == Table.precise([0.55, 0.45])


def test_a_skill_below_a_variable_that_is_no_skill_is_refused():
    network = Network((variable("A"), variable("H"), variable("B", "AH"), variable("Q", "B")))
    said = refusal(network, ["A", "B"])
    assert said == "B: the parents of a skill are skills, got H (name it among the skills, or as hidden to sum it out)" or said.startswith(
        "H: "
    )
    assert bank_from_network(network, ["A", "B"], ["H"]).skills["B"].parents == ("A",)


def test_names_that_a_bank_cannot_have_are_refused_by_the_bank():
    network = Network((variable("A"), Variable("Q", ("no, never", "yes"), ("A",), FOLLOWS)))
    with pytest.raises(qs.BankError, match=r"questions\.Q\.classes"):
        bank_from_network(network, ["A"])


def test_a_table_that_would_be_too_large_is_not_built():
    many = [variable(f"A{number}") for number in range(17)]
    names = tuple(one.name for one in many)
    hidden = Variable("H", ("no", "yes"), names[:9], Table.precise(np.full((2,) * 10, 0.5)))
    child = Variable("Q", ("no", "yes"), ("H", *names[9:]), Table.precise(np.full((2,) * 10, 0.5)))
    said = "Q: a table has at most 65,536 rows, got 17 parents after H is summed out"
    assert refusal(Network((*many, hidden, child)), names, ["H"]) == said
