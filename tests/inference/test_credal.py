"""Credal inference against enumeration, and what must hold whatever the numbers: wider is wider, order is nothing, a limit is admitted."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers import random_models
from helpers.credal_checks import EXACT, SAFE, agrees, drawn, fitting, is_possible, may_be_wide
from helpers.models import credal_bounds, model_of, position
from helpers.strategies import networks
from quaestor import AnswerError, Network, NetworkError, Table, Variable, bounds, posterior
from quaestor.inference.engines.enumeration import combinations, enumerate_bounds
from quaestor.inference.engines.odds import OddsMessages
from quaestor.inference.model import reduce

# Against enumeration


@pytest.mark.parametrize("seed", range(330))
def test_every_method_agrees_with_enumeration(seed):
    network, target, evidence = drawn(seed, zeros=0.3 * (seed % 4 == 0))
    if not is_possible(network, evidence):
        with pytest.raises(NetworkError, match="cannot be observed together"):
            bounds(network, target, evidence)
        return
    model, number = random_models.relevant(network, target, evidence)
    truth = enumerate_bounds(model, number)
    for method in fitting(model):
        found = bounds(network, target, evidence, method=method)
        agrees(found, truth)
        assert found.exact or may_be_wide(method, model)
        if method in ("odds", "hulls"):
            assert found.lower == pytest.approx(truth[0], abs=SAFE)
            assert found.upper == pytest.approx(truth[1], abs=SAFE)


@given(networks(most_variables=5, most_states=3), st.data())
def test_any_network_agrees_with_enumeration(network, data):
    """Tenths, thirds, zeros and ones, vertices that repeat, odd names, parents listed after their children."""
    target = data.draw(st.integers(0, len(network.variables) - 1))
    others = [index for index in range(len(network.variables)) if index != target]
    observed = data.draw(st.lists(st.sampled_from(others), unique=True, max_size=3)) if others else []
    evidence = {index: data.draw(st.integers(0, len(network.variables[index].states) - 1)) for index in observed}
    model, number = random_models.relevant(network, target, evidence)
    assume(combinations(model) <= 1000)
    if not is_possible(network, evidence):
        with pytest.raises(NetworkError, match="cannot be observed together"):
            bounds(network, target, evidence)
        return
    truth = enumerate_bounds(model, number)
    for method in fitting(model):
        found = bounds(network, target, evidence, method=method)
        agrees(found, truth)
        assert found.exact or may_be_wide(method, model)


@pytest.mark.parametrize("seed", range(40))
def test_banks_with_questions_on_several_skills_agree_with_enumeration(seed):
    """Boxes over one, two and three skills, several answers each; loops through the questions."""
    rng = np.random.default_rng(seed)
    skills = int(rng.integers(2, 4))
    graph = random_models.GRAPHS[random_models.SHAPES[seed % 3]](rng, skills)
    scopes = random_models.scopes_of(rng, skills, 6, most=2 + seed % 2)
    kinds = ("precise", "precise", "interval", "vertices")
    bank = random_models.bank(rng, graph, scopes, (2, 3), kinds=kinds, width=0.2, zeros=0.1 * (seed % 2))
    answers = random_models.answer(rng, bank)
    while combinations(model_of(bank, answers)) > 1000:
        answers.popitem()
    model = model_of(bank, answers)
    truth = {skill: enumerate_bounds(model, position(bank, skill)) for skill in bank.skills}
    if not all(np.isfinite(ends).all() for ends in truth.values()):
        with pytest.raises(AnswerError, match="cannot be given together"):
            posterior(bank, answers)
        return
    for method in fitting(model):
        found = posterior(bank, answers, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])
            assert found[skill].exact or may_be_wide(method, model)


@pytest.mark.parametrize("seed", range(40))
def test_several_parents(seed):
    """A child with two or three parents, observed itself or below."""
    rng = np.random.default_rng(seed)
    count = 2 + seed % 2
    graph = [*[()] * count, tuple(range(count)), (count,)]
    whole = random_models.network(rng, graph, (2,) if seed % 4 else (2, 3), ("interval",), 0.25)
    for target, evidence in ((0, {count + 1: 1}), (count, {count + 1: 0}), (0, {count: 1}), (count + 1, {0: 1})):
        network = random_models.tame(rng, whole, target, evidence, 600)
        model, number = random_models.relevant(network, target, evidence)
        truth = enumerate_bounds(model, number)
        for method in fitting(model):
            agrees(bounds(network, target, evidence, method=method), truth)


def test_parents_share_the_messages_of_the_others():
    """The trap of polytrees: P(C = 1 | A) for A = 0 and A = 1 move together with P(X); independent intervals are far too wide."""
    right = np.array([[0.1, 0.9], [0.3, 0.8]])  # P(C = 1 | A, X)
    network = Network(
        (
            Variable("A", ("0", "1"), (), Table.precise([0.5, 0.5])),
            Variable("X", ("0", "1"), (), Table([0.2, 0.2], [0.8, 0.8])),
            Variable("C", ("0", "1"), ("A", "X"), Table.precise(np.stack([1 - right, right], axis=-1))),
        )
    )
    zero, one = np.array([right @ [1 - x, x] for x in (0.2, 0.8)]).T
    together, apart = one / (zero + one), one.max() / (zero.min() + one.max())
    for method in ("odds", "hulls", "branch", "enumeration", "auto"):
        found = bounds(network, "A", {"C": 1}, method=method)
        assert (found.lower[1], found.upper[1]) == pytest.approx((together.min(), together.max()), abs=EXACT)
        assert apart - found.upper[1] > 0.1


# Whatever the numbers


@pytest.mark.parametrize("seed", range(45))
def test_wider_rows_never_give_narrower_bounds(seed):
    network, target, evidence = drawn(seed, width=0.1, most=10**5)
    narrow = bounds(network, target, evidence, limit=1000)
    for epsilon in (0.001, 0.03, 0.1):
        wide = bounds(network.widen(epsilon), target, evidence, limit=1000)
        assert (wide.lower <= narrow.inner_lower + SAFE).all()
        assert (wide.upper >= narrow.inner_upper - SAFE).all()
        if wide.exact and narrow.exact:
            assert (wide.lower <= narrow.lower + EXACT).all()
            assert (wide.upper >= narrow.upper - EXACT).all()
        narrow = wide
    assert wide.width > 0.1


@pytest.mark.parametrize("seed", range(45))
def test_width_zero_equals_precise(seed):
    network, target, evidence = drawn(seed)
    centre = network.centre()
    expected = bounds(centre, target, evidence, method="joint").lower
    model, _ = random_models.relevant(centre, target, evidence)
    for method in fitting(model):
        found = bounds(centre, target, evidence, method=method)
        assert found.exact
        tolerance = EXACT if method in ("branch", "bracket") else SAFE
        assert found.lower == pytest.approx(expected, abs=tolerance)
        assert found.upper == pytest.approx(expected, abs=tolerance)
    nearly = bounds(centre.widen(1e-9), target, evidence)
    assert (nearly.lower < expected + 1e-12).all()
    assert (nearly.upper > expected - 1e-12).all()
    assert nearly.width < 1e-5


@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_answers_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    scopes = random_models.scopes_of(rng, 3, 12, most=1 + seed % 2)
    bank = random_models.bank(rng, random_models.tree(rng, 3), scopes, (2, 3) if seed % 3 else (2,), kinds=("interval",), width=0.1)
    answers = random_models.answer(rng, bank)
    turned = {name: answers[name] for name in rng.permutation(list(answers)).tolist()}
    assert list(turned) != list(answers)
    one, other = posterior(bank, answers, limit=1000), posterior(bank, turned, limit=1000)
    assert one.method == other.method
    for skill in bank.skills:
        if one[skill].exact and other[skill].exact:
            assert one[skill].lower == pytest.approx(other[skill].lower, abs=EXACT)
            assert one[skill].upper == pytest.approx(other[skill].upper, abs=EXACT)
        assert (one[skill].lower <= other[skill].inner_lower + SAFE).all()
        assert (other[skill].upper >= one[skill].inner_upper - SAFE).all()


@pytest.mark.parametrize("seed", range(20))
def test_variables_that_do_not_matter_change_nothing(seed):
    """Unobserved children, what hangs below them, and what is not connected at all: results are the same to the last bit."""
    network, target, evidence = drawn(seed, width=0.3)
    rng = np.random.default_rng(seed)
    more = list(network.variables)
    for number in range(30):  # with vertices beyond any enumeration, each on a variable of the network or on another such one
        parent = more[int(rng.integers(len(more)))] if number % 3 else None
        shape = (len(parent.states), 3) if parent else (3,)
        made = random_models.random_table(rng, shape, ("vertices", "interval"), 0.5)
        more.append(Variable(f"w{number}", ("a", "b", "c"), (parent.name,) if parent else (), made))
    larger = Network(tuple(more[i] for i in rng.permutation(len(more))))
    named = {network.names[index]: state for index, state in evidence.items()}
    alone = next(variable for variable in more if variable.name == "w0")
    assert not alone.parents
    model, _ = random_models.relevant(network, target, evidence)
    for method in fitting(model):
        one = bounds(network, network.names[target], named, method=method)
        other = bounds(larger, network.names[target], named | {"w0": 0}, method=method)
        if one.method == "branch":  # the same variables in another order may round in another way
            assert one.lower == pytest.approx(other.lower, abs=EXACT)
            assert one.upper == pytest.approx(other.upper, abs=EXACT)
        else:
            assert one.lower == pytest.approx(other.lower, abs=1e-14)
            assert one.upper == pytest.approx(other.upper, abs=1e-14)


def test_results_repeat_exactly():
    for seed in (2, 5, 8, 11):
        network, target, evidence = drawn(seed, width=0.4, most=10**6)
        for method in ("auto", "branch", "bracket"):
            one, other = (bounds(network, target, evidence, method=method, limit=500) for _ in range(2))
            for name in ("lower", "upper", "inner_lower", "inner_upper"):
                assert np.array_equal(getattr(one, name), getattr(other, name))


# Zeros


def test_networks_that_exclude_the_evidence_are_left_out():
    """X may be surely 0; then Y = 1 cannot be. Of the networks that allow Y = 1, all say X = 1."""
    network = Network(
        (
            Variable("X", ("0", "1"), (), Table([0.4, 0.0], [1.0, 0.6])),
            Variable("Y", ("0", "1"), ("X",), Table([[1, 0], [0.5, 0.2]], [[1, 0], [0.8, 0.5]])),
            Variable("Z", ("0", "1", "2"), ("X",), Table([[0.2, 0.3, 0.1], [0.5, 0.1, 0.2]], [[0.6, 0.5, 0.4], [0.7, 0.3, 0.3]])),
        )
    )
    for method in ("odds", "hulls", "enumeration", "branch", "bracket", "auto"):
        if method != "odds":
            found = bounds(network, "Z", {"Y": 1}, method=method)
            assert found.lower == pytest.approx([0.5, 0.1, 0.2], abs=EXACT)
            assert found.upper == pytest.approx([0.7, 0.3, 0.3], abs=EXACT)
        found = bounds(network, "X", {"Y": 1}, method=method)
        assert found.lower == pytest.approx([0, 1], abs=EXACT)
        assert found.upper == pytest.approx([0, 1], abs=EXACT)


@pytest.mark.parametrize("seed", range(60))
def test_rows_of_zeros_and_ones(seed):
    """Deterministic rows beside sets that touch zero."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(3, 6))
    graph = random_models.GRAPHS[random_models.SHAPES[seed % 3]](rng, count)
    network = random_models.network(rng, graph, (2,) if seed % 2 else (2, 3), ("precise", "interval", "vertices"), 0.6, zeros=0.6)
    target = int(rng.integers(count))
    evidence = random_models.observe(rng, network, target, 2)
    network = random_models.tame(rng, network, target, evidence, 600)
    if not is_possible(network, evidence):
        with pytest.raises(NetworkError, match="cannot be observed together"):
            bounds(network, target, evidence)
        return
    model, number = random_models.relevant(network, target, evidence)
    truth = enumerate_bounds(model, number)
    for method in fitting(model):
        agrees(bounds(network, target, evidence, method=method), truth)


# Shapes


@pytest.mark.parametrize("states", [2, 3])
def test_long_chains(states):
    """Without evidence, bounds of the last variable follow from expectations pushed up row by row; and no chain is too long."""
    rng = np.random.default_rng(states)
    network = random_models.network(rng, [(), *((number,) for number in range(399))], (states,), ("interval",), 0.05)
    found = bounds(network, 399)
    assert found.exact
    for state in range(states):
        least = most = np.eye(states)[state]
        for variable in reversed(network.variables):
            rows = [variable.table.row_vertices(row) for row in range(variable.table.rows)]
            least, most = np.array([(row @ least).min() for row in rows]), np.array([(row @ most).max() for row in rows])
        assert (found.lower[state], found.upper[state]) == pytest.approx((least[0], most[0]), abs=SAFE)
    backward = bounds(network, 0, {399: 1})
    assert backward.exact
    assert backward.width > 0.01


def test_odds_of_many_evidence_sets_at_once():
    """A leading batch axis: each set gives what it gives alone."""
    rng = np.random.default_rng(4)
    network = random_models.network(rng, [(), (0,), (0,), (), (2, 3)], (2,), ("interval",), 0.2)
    model, _ = reduce(network, {})
    lows = {scope: rng.uniform(-3, 0, (6, *(2,) * len(scope))) for scope in ((0,), (1,), (4,), (1, 5))[:3]}
    boxes = {scope: (low, low + rng.uniform(0, 1, low.shape)) for scope, low in lows.items()}
    together = OddsMessages(model.with_boxes(boxes))
    for number in range(6):
        alone = model.with_boxes({scope: (low[number], high[number]) for scope, (low, high) in boxes.items()})
        for variable in range(5):
            low, high = together.posterior(variable)
            truth = credal_bounds(alone, variable, "hulls")
            assert (low[number], high[number]) == pytest.approx((truth.lower[1], truth.upper[1]), abs=SAFE)
