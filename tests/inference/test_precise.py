"""Precise inference against enumeration, against sums done by einsum, and against exact logarithms where numbers get tiny."""

from math import exp, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import logsumexp

from helpers import random_models
from helpers.models import model_of, position
from helpers.strategies import networks
from quaestor import AnswerError, Bank, NetworkError, bounds, load, posterior
from quaestor.inference.engines.enumeration import enumerate_bounds
from quaestor.inference.joint import LARGEST, Joint
from quaestor.inference.junction import JunctionTree
from quaestor.inference.model import reduce

WAYS = ("auto", "joint", "junction", "exact")


def close(beliefs, expected, tolerance=1e-12):
    """Whether all bounds of all skills are these probabilities, and say that they are exact."""
    assert beliefs.exact
    assert beliefs.gap == 0
    for skill, probabilities in expected.items():
        found = beliefs[skill]
        assert np.array_equal(found.lower, found.upper)
        assert found.lower == pytest.approx(probabilities, abs=tolerance)


def enumerated(bank, answers):
    return {skill: enumerate_bounds(model_of(bank, answers), position(bank, skill))[0] for skill in bank.skills}


def contracted(bank, answers):
    """P(skill | answers) for each skill by one sum of products over all variables: no likelihoods, no cliques, no order of ours."""
    position = {skill: number for number, skill in enumerate(bank.skills)}
    factors = []
    for skill in bank.skills.values():
        factors += [skill.table.lower, [position[name] for name in (*skill.parents, skill.id)]]
    for name, chosen in answers.items():
        question = bank.questions[name]
        factors += [question.table.lower[..., chosen], [position[skill] for skill in question.skills]]
    result = {}
    for skill, number in position.items():
        weights = np.einsum(*factors, [number], optimize="greedy")
        result[skill] = weights / weights.sum()
    return result


@pytest.mark.parametrize("seed", range(100))
def test_all_ways_equal_enumeration_on_random_banks(seed):
    rng = np.random.default_rng(seed)
    skills = int(rng.integers(1, 6))
    shape = random_models.SHAPES[seed % 3]
    scopes = random_models.scopes_of(rng, skills, 8, most=3)
    bank = random_models.bank(rng, random_models.GRAPHS[shape](rng, skills), scopes, (2, 3, 4), zeros=0.1 * (seed % 2))
    answers = random_models.answer(rng, bank, 0.6)
    expected = enumerated(bank, answers)
    if not all(np.isfinite(probabilities).all() for probabilities in expected.values()):
        with pytest.raises(AnswerError, match="cannot be given together"):
            posterior(bank, answers)
        return
    for way in WAYS:
        close(posterior(bank, answers, method=way), expected)


@given(networks(most_variables=5, kind="precise"), st.data())
def test_bounds_equal_enumeration_on_any_network(network, data):
    target = data.draw(st.sampled_from(network.names))
    others = [variable for variable in network.variables if variable.name != target]
    observed = data.draw(st.lists(st.sampled_from(others), unique_by=lambda v: v.name, max_size=3)) if others else []
    evidence = {variable.name: data.draw(st.sampled_from(variable.states)) for variable in observed}
    model, number = reduce(network, {network.index(name): network.state(name, state) for name, state in evidence.items()})
    expected, _ = enumerate_bounds(model, number[network.index(target)])
    if not np.isfinite(expected).all():
        with pytest.raises(NetworkError, match="cannot be observed together"):
            bounds(network, target, evidence)
        return
    for way in WAYS:
        found = bounds(network, target, evidence, method=way)
        assert found.exact
        assert found.lower == pytest.approx(expected, abs=1e-12)
        assert found.upper == pytest.approx(expected, abs=1e-12)


@given(networks(most_variables=6, kind="precise"), st.data())
def test_marginals_of_any_scope_in_one_clique(network, data):
    """The joint and the junction tree give the same distribution of several variables together, in the order asked for."""
    model, _ = reduce(network, {})
    assume(len(model.sizes) > 1)
    scope = tuple(data.draw(st.lists(st.integers(0, len(model.sizes) - 1), min_size=1, max_size=3, unique=True)))
    evidence = {
        scope: np.log(np.random.default_rng(len(scope)).uniform(0.1, 1, [2, *(model.sizes[v] for v in scope)])),
        (0,): np.log(np.random.default_rng(1).uniform(0.1, 1, (2, model.sizes[0]))),
    }
    joint = Joint(model)
    tree = JunctionTree(model, [scope])
    by_joint = joint.marginal(joint.posterior(evidence), scope)
    by_tree = tree.marginal(tree.calibrate(evidence), scope)
    assert by_tree.shape == (2, *(model.sizes[v] for v in scope))
    assert by_tree.reshape(2, -1) == pytest.approx(by_joint, abs=1e-12)
    plain = np.log(joint.posterior({}) @ joint.indicator((0,)) @ np.exp(evidence[(0,)]).T)
    assert tree.log_probability({(0,): evidence[(0,)]}) == pytest.approx(plain, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_thirty_skills_in_a_tree(seed):
    rng = np.random.default_rng(seed)
    bank = random_models.bank(rng, random_models.tree(rng, 30), [[skill] for skill in range(30)] * 2, (2, 3))
    answers = random_models.answer(rng, bank, 0.7)
    found = posterior(bank, answers)
    assert found.method == "junction"
    close(found, contracted(bank, answers))


@pytest.mark.parametrize("seed", range(4))
def test_twelve_skills_in_a_loopy_graph_with_wide_questions(seed):
    rng = np.random.default_rng(seed)
    skills = random_models.loopy(rng, 12, most_parents=3)
    bank = random_models.bank(rng, skills, random_models.scopes_of(rng, 12, 10, most=2), (2, 3))
    answers = random_models.answer(rng, bank, 0.8)
    found = posterior(bank, answers)
    assert found.method == "junction"
    close(found, contracted(bank, answers))


def test_the_joint_is_used_where_it_fits():
    rng = np.random.default_rng(0)
    small = random_models.bank(rng, random_models.tree(rng, 12), [[0]], (2,))
    large = random_models.bank(rng, random_models.tree(rng, 13), [[0]], (2,))
    assert LARGEST == 2**12
    assert posterior(small).method == "joint"
    assert posterior(large).method == "junction"
    close(posterior(large, {"q0": 0}, method="joint"), contracted(large, {"q0": 0}))


def logs_in_a_tree(bank, answers):
    """P(skill | answers) in a tree of skills with single-skill questions, by messages on logarithms."""
    likelihood = {skill.id: np.zeros(len(skill.levels)) for skill in bank.skills.values()}
    for name, chosen in answers.items():
        question = bank.questions[name]
        likelihood[question.skills[0]] += np.log(question.table.lower[:, chosen])
    order = list(bank.skills)
    up, down = {}, {}
    for skill in reversed(order):  # parents come first in these banks
        children = [child for child in order if bank.skills[child].parents == (skill,)]
        up[skill] = likelihood[skill] + sum((up[child, skill] for child in children), np.zeros_like(likelihood[skill]))
        for parent in bank.skills[skill].parents:
            up[skill, parent] = logsumexp(np.log(bank.skills[skill].table.lower) + up[skill], axis=1)
    for skill in order:
        table = np.log(bank.skills[skill].table.lower)
        for parent in bank.skills[skill].parents:
            above = down[parent] + up[parent] - up[skill, parent]
            table = logsumexp(above[:, None] + table, axis=0)
        down[skill] = table
    return {skill: np.exp(down[skill] + up[skill] - logsumexp(down[skill] + up[skill])) for skill in order}


@pytest.mark.parametrize("skills", [4, 30])
def test_two_thousand_answers_do_not_underflow(skills):
    rng = np.random.default_rng(5)
    bank = random_models.bank(rng, random_models.tree(rng, skills), [[number % skills] for number in range(2000)], (2, 3))
    answers = random_models.answer(rng, bank)
    assert len(answers) == 2000
    expected = logs_in_a_tree(bank, answers)
    for way in ("auto", "junction"):
        close(posterior(bank, answers, method=way), expected, 1e-11)  # sums of 500 logarithms lose a digit
    assert all(abs(belief.lower.sum() - 1) < 1e-12 for belief in posterior(bank, answers).values())


def prerequisite(answers, extra=0):
    """A skill B that nobody has without A; `answers` wrong ones on A and right ones on B. Further skills make the joint large."""
    skills = {"A": {"prior": [0.5, 0.5]}, "B": {"parents": ["A"], "table": {"no": [1, 0], "yes": [0.4, 0.6]}}}
    skills |= {f"C{number}": {"parents": ["B"], "table": {"no": [0.5, 0.5], "yes": [0.2, 0.8]}} for number in range(extra)}
    asked = {f"a{n}": {"skill": "A", "right": [0.2, 0.9]} for n in range(answers)}
    asked |= {f"b{n}": {"skill": "B", "right": [0.1, 0.9]} for n in range(answers)}
    return Bank({"skills": skills, "questions": asked}), {name: "wrong" if name[0] == "a" else "right" for name in asked}


@pytest.mark.parametrize("answers", [5, 50, 400, 1000])
@pytest.mark.parametrize("extra", [0, 12])
def test_answers_that_contradict_each_other_where_a_table_has_zeros(answers, extra):
    """The best states by A alone are ruled out by B: what is left is tiny beside them, but all there is."""
    bank, given_answers = prerequisite(answers, extra)
    neither, only_a, both = (
        log(0.5) + answers * (log(0.8) + log(0.1)),
        log(0.5 * 0.4) + answers * (log(0.1) + log(0.1)),
        log(0.5 * 0.6) + answers * (log(0.1) + log(0.9)),
    )
    total = logsumexp([neither, only_a, both])
    expected = {"A": [exp(neither - total), 1 - exp(neither - total)], "B": [1 - exp(both - total), exp(both - total)]}
    for way in ("auto", "junction"):
        close(posterior(bank, given_answers, method=way), expected, 1e-11)


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_answers_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    skills = [4, 14][seed % 2]
    bank = random_models.bank(rng, random_models.loopy(rng, skills), random_models.scopes_of(rng, skills, 30, most=2), (2,))
    answers = random_models.answer(rng, bank)
    turned = dict(rng.permutation(list(answers.items())).tolist())
    assert list(turned) != list(answers)
    one, other = posterior(bank, answers), posterior(bank, {name: int(chosen) for name, chosen in turned.items()})
    assert one.method == other.method
    for skill in bank.skills:
        assert one[skill].lower == pytest.approx(other[skill].lower, abs=1e-12)


def test_answers_to_pilot_questions_do_not_count():
    document = load("four-skills").document
    name = next(iter(document["questions"]))
    document["questions"]["trial"] = document["questions"][name] | {"pilot": True}
    bank = Bank(document)
    before, after = posterior(bank, {name: "right"}), posterior(bank, {name: "right", "trial": "wrong"})
    counted = posterior(Bank(load("four-skills").document), {name: "right"})
    for skill in bank.skills:
        assert np.array_equal(before[skill].lower, after[skill].lower)
        assert np.array_equal(before[skill].lower, counted[skill].lower)
    with pytest.raises(AnswerError, match="trial: an answer class is one of wrong, right, got 'half'"):
        posterior(bank, {"trial": "half"})


def test_no_answers_give_the_prior():
    bank = load("fractions")
    close(posterior(bank), contracted(bank, {}))
    close(posterior(bank, {}), contracted(bank, {}))


def test_answers_by_name_or_number():
    bank = load("fractions")
    names = {question.id: question.classes[-1] for question in bank.questions.values()}
    numbers = {question.id: np.int64(len(question.classes) - 1) for question in bank.questions.values()}
    one, other = posterior(bank, names), posterior(bank, numbers)
    assert all(np.array_equal(one[skill].lower, other[skill].lower) for skill in bank.skills)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"Q11": "right"}, "unknown question, got 'Q11' (did you mean 'Q1'?)"),
        ({"Q1": "half"}, "Q1: an answer class is one of wrong, right, got 'half'"),
        ({"Q1": 2}, "Q1: an answer class is one of wrong, right, got 2"),
        ({"Q1": -1}, "Q1: an answer class is one of wrong, right, got -1"),
    ],
)
def test_answers_that_the_bank_does_not_know(answers, message):
    with pytest.raises(AnswerError) as caught:
        posterior(load("multiplication"), answers)
    assert str(caught.value) == message


def test_variables_and_states_by_name_or_index():
    rng = np.random.default_rng(3)
    network = random_models.network(rng, [(), (0,), (1,)], (3,), ("precise",))
    one, other = bounds(network, "v0", {"v2": "s1"}), bounds(network, 0, {2: 1})
    assert np.array_equal(one.lower, other.lower)
    assert one.states == ("s0", "s1", "s2")


def test_a_batch_gives_what_its_members_give():
    """Many evidence sets at once: a leading axis."""
    rng = np.random.default_rng(11)
    network = random_models.network(rng, random_models.loopy(rng, 7), (2, 3), ("precise",))
    model, _ = reduce(network, {})
    evidence = {(v,): np.log(rng.uniform(0.01, 1, (5, model.sizes[v]))) for v in range(7)}
    evidence[(1, 4)] = np.log(rng.uniform(0.01, 1, (5, model.sizes[1], model.sizes[4])))
    tree, joint = JunctionTree(model, evidence), Joint(model)
    together, dense = tree.calibrate(evidence), joint.posterior(evidence)
    for number in range(5):
        alone = tree.calibrate({scope: logs[number] for scope, logs in evidence.items()})
        for v in range(7):
            expected = tree.marginal(alone, (v,))[0]
            assert tree.marginal(together, (v,))[number] == pytest.approx(expected, abs=1e-14)
            assert joint.marginals(dense)[v][number] == pytest.approx(expected, abs=1e-12)
