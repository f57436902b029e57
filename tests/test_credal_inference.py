"""Credal inference against enumeration, and what must hold whatever the numbers: wider is wider, order is nothing, a limit is admitted."""

from functools import cache
from math import exp, log
from time import perf_counter

import numpy as np
import pytest
import random_models
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import networks

from quaestor import AnswerError, Bank, Network, NetworkError, QuaestorError, Table, Variable, bounds, load, posterior
from quaestor.inference.banks import bank_model
from quaestor.inference.credal import METHODS, credal_bounds
from quaestor.inference.enumeration import combinations, enumerate_bounds
from quaestor.inference.model import reduce
from quaestor.inference.odds import OddsMessages, applies

EXACT = 1e-9
SAFE = 1e-12  # outer bounds may round, no more
KINDS = [random_models.KINDS, ("interval",), ("precise", "interval"), ("precise", "vertices")]
STATES = [(2,), (2, 3), (2, 3, 4), (3,)]


def drawn(seed, zeros=0.0, width=None, most=600):
    """A random network with a target and evidence; few enough vertices for enumeration."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 7))
    graph = random_models.GRAPHS[random_models.SHAPES[seed % 3]](rng, count)
    states, kinds = STATES[int(rng.integers(4))], KINDS[int(rng.integers(4))]
    network = random_models.network(rng, graph, states, kinds, width or float(rng.choice([0.1, 0.3, 0.8])), zeros)
    target = int(rng.integers(count))
    evidence = random_models.observe(rng, network, target, 4) if rng.random() < 0.8 else {}
    return random_models.tame(rng, network, target, evidence, most), target, evidence


def is_possible(network, evidence):
    """Whether the evidence is possible in some network of the set: the centre has the widest support."""
    model, _ = reduce(network, evidence)
    return np.isfinite(enumerate_bounds(model.centre(), 0)[0]).all()


def agrees(found, truth):
    """Outer bounds hold the truth, the truth holds the inner bounds, and what is called exact is."""
    lower, upper = truth
    assert (found.lower <= lower + SAFE).all()
    assert (found.upper >= upper - SAFE).all()
    assert (found.inner_lower >= lower - EXACT).all()
    assert (found.inner_upper <= upper + EXACT).all()
    assert (found.lower <= found.inner_lower).all()
    assert (found.inner_upper <= found.upper).all()
    if found.exact:
        assert found.gap == 0
        assert found.lower == pytest.approx(lower, abs=EXACT)
        assert found.upper == pytest.approx(upper, abs=EXACT)


def fitting(model):
    """The methods that can be forced on a model."""
    messages = [name for name, fits in (("odds", applies(model)), ("hulls", model.is_singly_connected)) if fits]
    return [*messages, "enumeration", "branch", "bracket", "auto", "exact"]


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
        assert found.exact or method == "bracket"
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
        assert found.exact or method == "bracket"


@pytest.mark.parametrize("seed", range(40))
def test_banks_with_questions_on_several_skills_agree_with_enumeration(seed):
    """Boxes over one, two and three skills, several answers each; loops through the questions."""
    rng = np.random.default_rng(seed)
    skills = int(rng.integers(2, 4))
    graph = random_models.GRAPHS[random_models.SHAPES[seed % 3]](rng, skills)
    scopes = random_models.scopes_of(rng, skills, 6, most=2 + seed % 2)
    kinds = ("precise", "precise", "interval", "vertices")
    bank = random_models.bank(rng, graph, scopes, (2, 3), kinds=kinds, width=0.2, zeros=0.1 * (seed % 2))
    compiled = bank_model(bank)
    answers = random_models.answer(rng, bank)
    while combinations(compiled.model.with_boxes(compiled.boxes(answers))) > 1000:
        answers.popitem()
    model = compiled.model.with_boxes(compiled.boxes(answers))
    truth = {skill: enumerate_bounds(model, compiled.position[skill]) for skill in bank.skills}
    if not all(np.isfinite(ends).all() for ends in truth.values()):
        with pytest.raises(AnswerError, match="cannot be given together"):
            posterior(bank, answers)
        return
    for method in fitting(model):
        found = posterior(bank, answers, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])
            assert found[skill].exact or method == "bracket"


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
    """The trap of MATH 4.2: P(C = 1 | A) for A = 0 and A = 1 move together with P(X); independent intervals are far too wide."""
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


# Numbers far apart


def contradicting(levels, answers, scopes, width, seed=0):
    """Skills A, B, C in a chain with hard prerequisites, and a bank and answers in which A says no and the others say yes."""
    rng = np.random.default_rng(seed)
    names = [str(level) for level in range(levels)]
    rows = {2: [[1, 0], [0.4, 0.6]], 3: [[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]}[levels]
    skills = {"A": {"levels": names, "prior": [1 / levels] * levels}}
    for child, parent in ("BA", "CB"):
        skills[child] = {"levels": names, "parents": [parent], "table": dict(zip(names, rows, strict=True))}
    questions = {}
    for number in range(answers):
        for scope in scopes:
            shape = (levels,) * len(scope)
            middle = np.sort(rng.uniform(0.1, 0.9, shape), axis=0)
            lower, upper = np.clip(middle - width, 0.01, 1), np.clip(middle + width, 0, 0.99)
            ends = [(round(low, 6), round(high, 6)) for low, high in zip(lower.flat, upper.flat, strict=True)]
            flat = [[[round(1 - high, 6), round(1 - low, 6)], [low, high]] for low, high in ends]
            keys = [", ".join(names[level] for level in index) for index in np.ndindex(shape)]
            questions[f"{scope}{number}"] = {"skills": list(scope), "table": dict(zip(keys, flat, strict=True))}
    return Bank({"skills": skills, "questions": questions}), {name: "wrong" if name[0] == "A" else "right" for name in questions}


@pytest.mark.parametrize("answers", [5, 20, 40, 80])
@pytest.mark.parametrize("levels", [2, 3])
def test_evidence_that_contradicts_itself_where_tables_have_zeros(levels, answers):
    """What one skill's answers make tiny is all that another's leave: nothing may drown in rounding on the way."""
    bank, given_answers = contradicting(levels, answers, ("A", "B", "C"), 0.01)
    compiled = bank_model(bank)
    model = compiled.model.with_boxes(compiled.boxes(given_answers))
    truth = {skill: enumerate_bounds(model, compiled.position[skill]) for skill in bank.skills}
    for method in fitting(model):
        found = posterior(bank, given_answers, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])


@pytest.mark.parametrize("answers", [5, 20, 60])
@pytest.mark.parametrize("seed", range(4))
def test_many_answers_in_a_loop(answers, seed):
    """Likelihood boxes whose ends are orders of magnitude apart, on two skills and a question on both."""
    bank, given_answers = contradicting(2, answers, ("A", "B", "AB", "CB"), 0.02, seed)
    kept = {name: answer for name, answer in given_answers.items() if not name.startswith("CB") or int(name[2:]) < 2}
    compiled = bank_model(bank)
    model = compiled.model.with_boxes(compiled.boxes(kept))
    truth = {skill: enumerate_bounds(model, compiled.position[skill]) for skill in bank.skills}
    for method in ("auto", "branch", "bracket"):
        found = posterior(bank, kept, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])


def exclusive(answers):
    """B rules out A, and both get nothing but right answers: the probabilities of A and of B, whatever the number of answers."""
    skills = {"A": {"prior": [0.5, 0.5]}, "B": {"parents": ["A"], "table": {"no": [0.4, 0.6], "yes": [1, 0]}}}
    names = [f"{skill}{number}" for skill in "AB" for number in range(answers)]
    bank = Bank({"skills": skills, "questions": {name: {"skill": name[0], "right": [0.1, 0.9]} for name in names}})
    weights = {"neither": 0.4 * exp(-answers * log(9)), "B": 0.6, "A": 1.0}  # each times 0.5 * 0.9^n * 0.1^n
    return bank, dict.fromkeys(names, "right"), {skill: weights[skill] / sum(weights.values()) for skill in "AB"}


@pytest.mark.parametrize("answers", [10, 15, 20, 50, 150, 2000])
def test_log_odds_keep_what_is_tiny(answers):
    bank, given_answers, expected = exclusive(answers)
    for method in ("odds", "auto", "enumeration") if answers == 2000 else ("odds", "auto", "enumeration", "hulls", "branch"):
        found = posterior(bank, given_answers, method=method)
        assert found.exact
        for skill in "AB":
            assert found[skill].lower[1] == pytest.approx(expected[skill], abs=EXACT)
            assert found[skill].upper[1] == pytest.approx(expected[skill], abs=EXACT)


@pytest.mark.parametrize("method", ["hulls", "branch", "bracket"])
def test_contradictions_beyond_all_numbers_are_admitted(method):
    """Where likelihoods below 1e-308 matter, methods on plain numbers claim nothing."""
    bank, given_answers, expected = exclusive(2000)
    found = posterior(bank, given_answers, method=method)
    assert found.method == "bracket"
    assert not found.exact
    for skill in "AB":
        assert found[skill].lower.tolist() == [0, 0]
        assert found[skill].upper.tolist() == [1, 1]
        assert found[skill].inner_lower[1] == pytest.approx(expected[skill], abs=1e-11)


@pytest.mark.parametrize("levels", [2, 3])
def test_hundreds_of_contradicting_answers(levels):
    """Claimed or not, what is claimed is true."""
    bank, given_answers = contradicting(levels, 700, ("A", "B", "C"), 0.01)
    compiled = bank_model(bank)
    model = compiled.model.with_boxes(compiled.boxes(given_answers))
    truth = {skill: enumerate_bounds(model, compiled.position[skill]) for skill in bank.skills}
    for method in fitting(model):
        found = posterior(bank, given_answers, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])


def test_two_thousand_answers_on_a_credal_bank():
    """Answers that agree with each other are no problem, however many there are."""
    rng = np.random.default_rng(3)
    names = {f"q{number}": f"s{number % 4}" for number in range(2000)}
    for levels, right in ((["0", "1"], [[0.25, 0.35], [0.85, 0.95]]), (["0", "1", "2"], [[0.15, 0.25], [0.45, 0.55], [0.85, 0.95]])):
        strength = {"levels": levels, "strength": 0.5}
        skills = {"s0": {"levels": levels}} | {f"s{number}": strength | {"parents": [f"s{number - 1}"]} for number in (1, 2, 3)}
        bank = Bank({"skills": skills, "questions": {name: {"skill": skill, "right": right} for name, skill in names.items()}})
        answers = {name: "right" if rng.random() < (0.97 if skill in ("s0", "s2") else 0.03) else "wrong" for name, skill in names.items()}
        found = posterior(bank, answers)
        assert found.exact
        for skill, level in (("s0", -1), ("s1", 0), ("s2", -1), ("s3", 0)):
            assert found[skill].lower[level] > 0.999


# Asking for a method


def test_auto_takes_the_method_that_fits():
    chain = [(), (0,), (1,)]
    rng = np.random.default_rng(1)
    binary = random_models.network(rng, chain, (2,), ("interval",))
    assert bounds(binary, 2).method == "odds"
    assert bounds(random_models.network(rng, chain, (3,), ("interval",)), 2).method == "hulls"
    loop = random_models.network(rng, [(), (0,), (0, 1), (1, 2)], (2,), ("precise",))
    assert bounds(loop, 3).method == "joint"
    variables = list(loop.variables)
    variables[0] = Variable("v0", variables[0].states, (), Table([0.2, 0.3], [0.7, 0.8]))
    assert bounds(Network(tuple(variables)), 3).method == "enumeration"
    assert bounds(loop.widen(0.1), 3, {0: 1}).method == "odds" or bounds(loop.widen(0.1), 3).method == "branch"
    assert bounds(loop.widen(0.1), 3).method == "branch"
    assert posterior(load("four-skills").widen(0.05)).method == "odds"
    assert posterior(load("fractions").widen(0.05)).method == "hulls"


@pytest.mark.parametrize("method", [name for name in METHODS if name not in ("auto", "exact")])
def test_a_method_can_be_forced(method):
    rng = np.random.default_rng(1)
    network = random_models.network(rng, [(), (0,), (1,)], (2,), ("interval",), 0.2)
    found = bounds(network, 0, {2: 1}, method=method)
    assert found.method in (("branch", "bracket") if method == "bracket" else (method,))
    agrees(found, enumerate_bounds(*random_models.relevant(network, 0, {2: 1})))
    bank = load("multiplication").widen(0.05)
    assert posterior(bank, {"Q1": "right"}, method=method).method in (("branch", "bracket") if method == "bracket" else (method,))


def message(call, *arguments, **options):
    with pytest.raises(QuaestorError) as caught:
        call(*arguments, **options)
    return str(caught.value)


def test_misuse_is_told_in_words():
    rng = np.random.default_rng(1)
    loop = random_models.network(rng, [(), (0,), (0, 1)], (2,), ("interval",))
    three = random_models.network(rng, [(), (0,)], (3,), ("interval",))
    bank = load("multiplication")
    ways = "auto, odds, hulls, enumeration, branch, bracket, exact"
    assert message(bounds, loop, 0, method="guess") == f"method is one of {ways}, got 'guess'"
    assert message(posterior, bank, method="guess") == f"method is one of {ways}, got 'guess'"
    assert message(posterior, bank.widen(0.1), method="guess") == f"method is one of {ways}, got 'guess'"
    assert message(bounds, loop, 2, method="odds") == "method odds needs a singly connected model of two-state variables"
    assert message(bounds, three, 1, method="odds") == "method odds needs a singly connected model of two-state variables"
    assert message(bounds, loop, 2, method="hulls") == "method hulls needs a singly connected model"
    for method in ("joint", "junction"):
        assert message(bounds, loop, 2, method=method) == f"method {method} is for precise models; for credal ones: {ways}"
        assert message(posterior, bank.widen(0.1), method=method) == f"method {method} is for precise models; for credal ones: {ways}"
    assert message(bounds, loop, 0, {0: 1}) == "0: the variable asked for is not observed, got it in the evidence"
    assert message(bounds, loop, "v7") == "unknown variable, got 'v7' (the network has 3 variables)"
    assert message(bounds, loop, 0, {"v1": "s9"}) == "unknown state of v1, got 's9' (it has s0, s1)"
    large = random_models.network(rng, [(), *((number,) for number in range(29))], (2,), ("interval",))
    assert message(bounds, large, 29, method="enumeration").startswith(
        "method enumeration tries at most 10000000 combinations of vertices, got 10^"
    )
    assert message(bounds, large.centre(), 29, method="joint").startswith("method joint is for at most 131072 joint states, got 1.07e+09")


# Limits


@cache
def loops():
    """Loopy networks whose bounds are not found at the root of the tree, with the truth by enumeration."""
    found = []
    for seed in range(2, 1000, 3):
        network, target, evidence = drawn(seed, width=0.8, most=2000)
        model, number = random_models.relevant(network, target, evidence)
        if not model.is_singly_connected and not credal_bounds(model, [number], "bracket")[number].exact:
            found.append((network, target, evidence, enumerate_bounds(model, number)))
        if len(found) == 5:
            break
    return found


def test_there_are_loops_that_need_branching():
    assert len(loops()) == 5


def test_a_limit_that_is_hit_leaves_a_bracket_and_says_so():
    for network, target, evidence, truth in loops():
        gaps = []
        for limit in (0, 1, 20, 100_000):
            found = bounds(network, target, evidence, method="branch", limit=limit)
            agrees(found, truth)
            gaps.append(found.gap)
            assert found.exact == (found.gap == 0)
            assert found.method == ("branch" if limit else "bracket")
        assert gaps[0] > 1e-9
        assert gaps[-1] == 0
        bracket = bounds(network, target, evidence, method="bracket")
        assert not bracket.exact
        assert bracket.gap > 1e-9
        assert bracket.method == "bracket"


def test_a_tolerance_is_kept():
    for network, target, evidence, truth in loops():
        for tolerance in (0.1, 0.01, 1e-4):
            found = bounds(network, target, evidence, method="branch", tolerance=tolerance, limit=10**6)
            agrees(found, truth)
            assert found.gap <= tolerance * 1.001


def test_exact_goes_on_until_it_is_exact_or_the_time_is_over():
    for network, target, evidence, truth in loops()[:5]:
        found = bounds(network, target, evidence, method="exact", limit=1, seconds=60)
        agrees(found, truth)
        assert found.exact
        started = perf_counter()
        agrees(bounds(network, target, evidence, method="exact", limit=1, seconds=0), truth)
        assert perf_counter() - started < 10


def test_beliefs_admit_the_worst_gap():
    bank = load("fractions").widen(0.02)
    answers = {name: number % 2 for number, name in enumerate(bank.questions)}
    found = posterior(bank, answers, limit=1)
    gaps = {skill: found[skill].gap for skill in bank.skills}
    assert not found.exact
    assert found.gap == max(gaps.values()) > 1e-6
    assert "branch" in found.method
    better = posterior(bank, answers, limit=100)
    for skill in bank.skills:
        assert (found[skill].lower <= better[skill].inner_lower + SAFE).all()
        assert (found[skill].upper >= better[skill].inner_upper - SAFE).all()


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
            truth = credal_bounds(alone, [variable], "hulls")[variable]
            assert (low[number], high[number]) == pytest.approx((truth.lower[1], truth.upper[1]), abs=SAFE)
