"""Impossible answers and evidence are refused, and the error names a smallest set that cannot be."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import random_models
from helpers.strategies import networks
from quaestor import AnswerError, Bank, Network, NetworkError, QuaestorError, Table, Variable, bounds, posterior
from quaestor.inference.conflict import smallest_conflict
from quaestor.inference.engines.enumeration import enumerate_bounds
from quaestor.inference.model import reduce

SKILLS = {
    "A": {"prior": [0.5, 0.5]},
    "B": {"parents": ["A"], "table": {"no": [1, 0], "yes": [0.4, 0.6]}},  # nobody has B without A
    "C": {"levels": ["0", "1", "2"], "prior": [0.2, 0.3, 0.5]},
}
QUESTIONS = {
    "never": {"skill": "A", "right": [0, 0]},
    "needs A": {"skill": "A", "right": [0, 0.8]},
    "lacks A": {"skill": "A", "right": [0.7, 0]},
    "needs B": {"skill": "B", "right": [0, 0.9]},
    "not 0": {"skill": "C", "right": [0, 0.5, 0.5]},
    "not 1": {"skill": "C", "right": [0.5, 0, 0.5]},
    "not 2": {"skill": "C", "right": [0.5, 0.5, 0]},
    "plain": {"skill": "A", "right": [0.3, 0.9]},
    "guess": {"skill": "C", "right": [0.2, 0.5, 0.9]},
    "either": {"skills": ["A", "C"], "needs": "any", "slip": 0, "guess": 0.1},
}
BANKS = {
    "precise": Bank({"skills": SKILLS, "questions": QUESTIONS}),
    "credal": Bank({"skills": SKILLS, "questions": QUESTIONS | {"plain": {"skill": "A", "right": [[0.2, 0.4], [0.8, 0.95]]}}}),
    "large": Bank({"skills": SKILLS | {f"D{number}": {"prior": [0.5, 0.5]} for number in range(12)}, "questions": QUESTIONS}),
}
RULE = "these answers cannot be given together: the bank gives them probability zero, got "


@pytest.mark.parametrize("bank", BANKS.values(), ids=BANKS)
@pytest.mark.parametrize(
    ("right", "wrong", "named"),
    [
        (["never"], [], ["never=right"]),
        (["plain", "needs A", "never"], ["guess"], ["never=right"]),
        (["needs A", "plain", "lacks A"], [], ["needs A=right", "lacks A=right"]),
        (["lacks A", "guess", "needs B"], ["plain"], ["lacks A=right", "needs B=right"]),
        (["needs A", "needs B", "lacks A"], [], ["needs A=right", "lacks A=right"]),
        (["not 0", "guess", "not 1", "plain", "not 2"], ["needs A"], ["not 0=right", "not 1=right", "not 2=right"]),
        (["not 2", "needs A", "not 0", "lacks A", "not 1"], [], ["needs A=right", "lacks A=right"]),
        (["not 0", "not 1"], ["either"], ["not 0=right", "not 1=right", "either=wrong"]),
    ],
)
def test_impossible_answers_name_a_smallest_set(bank, right, wrong, named):
    answers = dict.fromkeys(right, "right") | dict.fromkeys(wrong, "wrong")
    with pytest.raises(AnswerError) as caught:
        posterior(bank, answers)
    assert str(caught.value) == RULE + ", ".join(named)
    conflict = [part.split("=")[0] for part in named]
    for left_out in conflict:
        assert posterior(bank, {name: answers[name] for name in conflict if name != left_out}).exact


@pytest.mark.parametrize("method", ["auto", "odds", "hulls", "branch", "enumeration", "exact", "bracket"])
def test_every_method_refuses_alike(method):
    with pytest.raises(AnswerError, match="got needs A=right, lacks A=right"):
        posterior(BANKS["credal"], {"plain": 1, "needs A": "right", "lacks A": "right"}, method=method)


def test_answers_are_shown_as_they_were_given():
    with pytest.raises(AnswerError, match="got needs A=1, lacks A=right"):
        posterior(BANKS["precise"], {"needs A": 1, "lacks A": "right"})


def test_possible_for_some_networks_of_the_set_is_possible():
    """A row that may be zero need not be: the networks in which it is are left out."""
    questions = QUESTIONS | {"lacks A": {"skill": "A", "right": [0.7, [0, 0.1]]}}
    found = posterior(Bank({"skills": SKILLS, "questions": questions}), {"needs A": "right", "lacks A": "right"})
    assert (found["A"].lower.tolist(), found["A"].upper.tolist()) == ([0, 1], [0, 1])


def test_impossible_answers_to_pilot_questions_do_not_count():
    bank = Bank({"skills": SKILLS, "questions": QUESTIONS | {"never": QUESTIONS["never"] | {"pilot": True}}})
    found = posterior(bank, {"never": "right", "plain": "right"})
    assert np.array_equal(found["A"].lower, posterior(bank, {"plain": "right"})["A"].lower)


def test_many_answers_that_do_not_exclude_anything_cost_nothing():
    """Only answers that exclude something can conflict, so a conflict among hundreds of others is found at once."""
    plain = {f"p{number}": {"skill": "A", "right": [0.3, 0.9]} for number in range(400)}
    bank = Bank({"skills": SKILLS, "questions": plain | QUESTIONS})
    answers = dict.fromkeys(plain, "right") | {"not 0": "right", "not 1": "right", "not 2": "right"}
    with pytest.raises(AnswerError, match="got not 0=right, not 1=right, not 2=right"):
        posterior(bank, answers)


# Networks


def chain():
    """X -> Y -> Z, where Y = 1 needs X = 1 and Z = 1 needs Y = 1; W is a free child of X."""
    needs = Table.precise([[1, 0], [0.5, 0.5]])
    return Network(
        (
            Variable("X", ("0", "1"), (), Table([0.2, 0.3], [0.7, 0.8])),
            Variable("Y", ("0", "1"), ("X",), needs),
            Variable("Z", ("0", "1"), ("Y",), needs),
            Variable("W", ("0", "1"), ("X",), Table.precise([[0.5, 0.5], [0.1, 0.9]])),
            Variable("S", ("0", "1"), (), Table.precise([1, 0])),
            Variable("P", ("0", "1"), ("X", "S", "W"), Table.precise(np.stack([np.eye(2)[[1, 1]]] * 4).reshape(2, 2, 2, 2))),
        )
    )


@pytest.mark.parametrize(
    ("target", "evidence", "named"),
    [
        ("X", {"S": 1}, "S=1"),
        ("Y", {"W": 1, "S": "1", "Z": 1}, "S=1"),
        ("W", {"X": 0, "Z": 1}, "X=0, Z=1"),
        ("W", {"Z": "1", "S": 0, "Y": "0"}, "Z=1, Y=0"),
        ("Z", {"W": 1, "Y": 1, "X": 0}, "Y=1, X=0"),
    ],
)
def test_impossible_evidence_names_a_smallest_set(target, evidence, named):
    for network in (chain(), chain().centre()):
        with pytest.raises(NetworkError) as caught:
            bounds(network, target, evidence)
        assert str(caught.value) == "these states cannot be observed together: the network gives them probability zero, got " + named


def test_three_states_that_cannot_be_observed_together():
    """T = 1 exactly when an odd number of A, B is 1: any two of the three go together."""
    odd = np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]])
    half = Table([0.4, 0.4], [0.6, 0.6])
    network = Network(
        (
            Variable("A", ("no", "yes"), (), half),
            Variable("B", ("no", "yes"), (), half),
            Variable("T", ("even", "odd"), ("A", "B"), Table.precise(odd)),
            Variable("U", ("0", "1"), ("T",), Table([[0.2, 0.6], [0.6, 0.2]], [[0.4, 0.8], [0.8, 0.4]])),
        )
    )
    with pytest.raises(NetworkError, match=r"got A=yes, T=even, B=no$"):
        bounds(network, "U", {"A": "yes", "T": "even", "B": "no"})
    assert bounds(network, "U", {"A": "yes", "T": "even"}).exact
    assert bounds(network, "A", {"T": "even", "B": "no"}).lower == pytest.approx([1, 0], abs=1e-12)


@given(networks(most_variables=5, most_states=3, kind="precise"), st.data())
def test_the_set_named_is_impossible_and_none_is_smaller(network, data):
    target = data.draw(st.integers(0, len(network.variables) - 1))
    others = [index for index in range(len(network.variables)) if index != target]
    observed = data.draw(st.lists(st.sampled_from(others), unique=True, max_size=4)) if others else []
    evidence = {index: data.draw(st.integers(0, len(network.variables[index].states) - 1)) for index in observed}

    def possible(some):
        model, number = reduce(network, {index: evidence[index] for index in some})
        return np.isfinite(enumerate_bounds(model, number[target])[0]).all()

    if possible(evidence):
        assert bounds(network, target, evidence).exact
        return
    with pytest.raises(NetworkError) as caught:
        bounds(network, target, evidence)
    written = {f"{network.names[index]}={network.variables[index].states[state]}": index for index, state in evidence.items()}
    text = str(caught.value).split("probability zero, got ", 1)[1]
    sizes = [size for size in range(1, len(evidence) + 1) if not all(possible(some) for some in combinations(evidence, size))]
    smallest = [some for some in combinations(evidence, sizes[0]) if not possible(some)]
    assert text in {", ".join(label for label, index in written.items() if index in some) for some in smallest}


# The search itself


def test_the_search_finds_a_smallest_set_among_many():
    """The bad triple hides among forty; when there are too many subsets to try, one of which no member can be left out."""
    items = [f"i{number}" for number in range(40)]
    bad = {"i7", "i20", "i39"}
    assert smallest_conflict(items, lambda some: not bad <= set(some)) == ("i7", "i20", "i39")
    worse = {f"i{number}" for number in range(3, 40, 5)}
    assert set(smallest_conflict(items, lambda some: not worse <= set(some))) == worse


def test_random_banks_never_end_in_anything_but_beliefs_or_words():
    """Many zeros: what comes out is finite, or an AnswerError that names answers that were given."""
    refused = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        scopes = random_models.scopes_of(rng, 3, 6, most=2)
        kinds = ("precise",) if seed % 2 else ("precise", "interval")
        bank = random_models.bank(rng, random_models.loopy(rng, 3), scopes, (2, 3), kinds=kinds, zeros=0.5)
        answers = random_models.answer(rng, bank)
        try:
            found = posterior(bank, answers, limit=200)
        except QuaestorError as error:
            refused += 1
            listed = str(error).removeprefix(RULE).split(", ")
            assert listed
            assert all(f"{name}={answers[name]}" in listed for name in (part.split("=")[0] for part in listed))
        else:
            for belief in found.values():
                assert (belief.lower <= belief.upper).all()
                assert belief.lower.sum() <= 1 + 1e-9
                assert belief.upper.sum() >= 1 - 1e-9
    assert 10 < refused < 110
