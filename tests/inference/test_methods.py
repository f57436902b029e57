"""Asking for a method, and limits: what is done, what is refused, and that a bracket says so."""

from functools import cache
from time import perf_counter

import numpy as np
import pytest

from helpers import random_models
from helpers.credal_checks import SAFE, agrees, drawn
from helpers.models import credal_bounds
from quaestor import Bank, Network, QuaestorError, Table, Variable, bounds, load, posterior, rank
from quaestor.inference.chooser import ENGINES, methods
from quaestor.inference.engines.enumeration import enumerate_bounds

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
    assert bounds(Network(tuple(variables)), 3).method == "separators"
    assert bounds(loop.widen(0.1), 1).method == "odds"
    assert bounds(loop.widen(0.1), 3).method == "separators"
    wide = random_models.network(rng, [(), (0,), (0,), (0,), (0,), (0,), (1, 2, 3, 4, 5)], (2,), ("precise",))
    few = [Variable(v.name, v.states, v.parents, v.table.widen(0.1) if v.name == "v0" else v.table) for v in wide.variables]
    assert bounds(Network(tuple(few)), 6).method == "enumeration"
    assert bounds(wide.widen(0.1), 6).method == "branch"
    assert posterior(load("four-skills").widen(0.05)).method == "odds"
    assert posterior(load("fractions").widen(0.05)).method == "hulls"


@pytest.mark.parametrize("method", [name for name in methods() if name not in ("auto", "exact")])
def test_a_method_that_fits_can_be_forced(method):
    rng = np.random.default_rng(1)
    network = random_models.network(rng, [(), (0,), (1,)], (2,), ("interval",), 0.2)
    if method in ENGINES and not ENGINES[method].fits(random_models.relevant(network, 0, {2: 1})[0]):
        with pytest.raises(QuaestorError, match=f"method {method} needs "):
            bounds(network, 0, {2: 1}, method=method)
        return
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
    ways = "auto, odds, hulls, fills, separators, enumeration, branch, bracket, exact"
    assert (
        message(bounds, loop, 0, method="guess")
        == f"method is one of {ways}, got 'guess' (one of your own is registered by qs.register.engine first: import its module)"
    )
    assert (
        message(posterior, bank, method="guess")
        == f"method is one of {ways}, got 'guess' (one of your own is registered by qs.register.engine first: import its module)"
    )
    assert (
        message(posterior, bank.widen(0.1), method="guess")
        == f"method is one of {ways}, got 'guess' (one of your own is registered by qs.register.engine first: import its module)"
    )
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
        if not model.is_singly_connected and not credal_bounds(model, number, "bracket").exact:
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


def test_exact_without_seconds_goes_on_beyond_any_limit():
    """It once stopped at the limit of nodes, and with a limit of 0 did the same work again and again."""
    for network, target, evidence, truth in loops():
        for limit in (0, 1, 20):
            found = bounds(network, target, evidence, method="exact", limit=limit)
            assert found.exact
            agrees(found, truth)


@pytest.mark.parametrize("seed", [3, 15, 19])
def test_evidence_that_may_exclude_any_state_is_branched_on(seed):
    """Messages that have no possible state in common were neither dropped nor branched on: gaps of .06 to .15 stayed open for ever."""
    rng, states = np.random.default_rng(seed), ("0", "1")

    def about(shape):
        p = rng.uniform(0.1, 0.9, shape)
        ends = [np.clip(np.stack([1 - p, p], axis=-1) + by, 0, 1) for by in (-0.15, 0.15)]
        return Table(*ends)

    shapes = {"A": ((), ()), "B": (("A",), (2,)), "C": (("A",), (2,)), "D": (("B", "C"), (2, 2))}
    variables = [Variable(name, states, parents, about(shape)) for name, (parents, shape) in shapes.items()]
    seen = Variable("E", states, ("D",), Table(np.zeros((2, 2)), np.ones((2, 2))))
    network = Network((*variables, seen))
    found, truth = (bounds(network, "A", {"E": 1}, method=method) for method in ("branch", "enumeration"))
    assert found.exact
    agrees(found, (truth.lower, truth.upper))


def test_variables_that_do_not_matter_cost_nothing_with_any_method():
    skills = {"a": {}, **{f"s{number}": {"parents": ["a"], "strength": 0.5} for number in range(12)}}
    bank = Bank({"skills": skills, "questions": {"q": {"skill": "a", "right": [0.2, 0.8]}}}).widen(0.05)
    for method in ("enumeration", "branch", "bracket"):
        found = posterior(bank, {"q": "right"}, method=method)  # 10^8 networks in all, a few for each skill
        assert found.exact
        assert found["s3"].lower == pytest.approx(posterior(bank, {"q": "right"})["s3"].lower, abs=SAFE)


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


def test_a_question_elsewhere_does_not_make_many_levels_slow():
    """A question on two other skills leaves a scale of nine levels to the engine for many levels."""
    levels = [f"l{number}" for number in range(9)]
    rows = {level: [0.2 if level == other else 0.1 for other in levels] for level in levels}
    skills = {
        "t": {"levels": levels, "prior": [1 / 9] * 9},
        "c": {"levels": levels, "parents": ["t"], "table": rows},
        "x": {"levels": ["no", "yes"], "prior": [0.5, 0.5]},
        "y": {"levels": ["no", "yes"], "prior": [0.5, 0.5]},
    }
    right = [0.1 + 0.1 * number for number in range(9)]
    both = {"no, no": [0.9, 0.1], "no, yes": [0.6, 0.4], "yes, no": [0.6, 0.4], "yes, yes": [0.1, 0.9]}
    questions = {
        "Qt": {"skill": "t", "right": right},
        "Qc": {"skill": "c", "right": right},
        "XY": {"skills": ["x", "y"], "classes": ["wrong", "right"], "table": both},
    }
    made = Bank({"skills": skills, "questions": questions}).widen(0.05)
    found = posterior(made, {"XY": "right"})
    assert found["t"].method == found["c"].method == "fills"
    assert found.exact
    assert rank(made, {"XY": "right"})
