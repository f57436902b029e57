"""Credal banks whose answered questions on two skills close loops: what only branch and bound can tell, and the parts it is made of."""

from itertools import permutations

import numpy as np
import pytest

import quaestor as qs
from helpers.models import model_of
from helpers.search_nodes import opened, random_networks
from quaestor.inference.layout import layout_of
from quaestor.inference.lookahead import lookahead
from quaestor.inference.model import likelihood
from quaestor.inference.search.ascent import ascend
from quaestor.inference.search.branch import maximise
from quaestor.inference.search.core import core_of
from quaestor.inference.search.elimination import Elimination
from quaestor.inference.search.incumbents import evaluate
from quaestor.inference.search.orders import orders
from quaestor.inference.search.reach import reach

GAP = 1e-3
SAFE = 1e-9


def fractions():
    return qs.load("fractions").widen(0.05)


def answered(bank, seed, on_two):
    """Answers of a random taker to random questions, so many of them on two skills."""
    rng = np.random.default_rng(seed)
    by_skills = [[q.id for q in bank.questions.values() if len(q.skills) == count] for count in (1, 2)]
    chosen = [*rng.permutation(by_skills[1])[:on_two], *rng.permutation(by_skills[0])[: int(rng.integers(2, 15))]]
    truth = {skill.id: int(rng.integers(len(skill.levels))) for skill in bank.skills.values()}
    answers = {}
    for name in map(str, chosen):
        row = bank.questions[name].table.centre().lower[tuple(truth[skill] for skill in bank.questions[name].skills)]
        answers[name] = int(rng.choice(len(row), p=row / row.sum()))
    return answers


def joint_of_some_network(bank, answers, rng):
    """The joint table of skills and answers in a random network of the set: a vertex for each row, an end for each likelihood."""
    model = model_of(bank, answers)
    every = list(range(len(model.sizes)))

    def spread(numbers, scope):
        order = np.argsort(scope)
        return np.transpose(numbers, order).reshape([model.sizes[v] if v in scope else 1 for v in every])

    joint = np.ones(model.sizes)
    for v, table in enumerate(model.tables):
        rows = [table.row_vertices(row)[rng.integers(len(table.row_vertices(row)))] for row in range(table.rows)]
        joint = joint * spread(np.reshape(rows, table.shape), (*model.parents[v], v))
    for scope, box in model.boxes.items():
        low, high = likelihood(box)
        joint = joint * spread(np.where(rng.random(low.shape) < 0.5, low, high), scope)
    return joint / joint.sum()


@pytest.mark.parametrize(("seed", "on_two"), [(1, 2), (2, 3), (3, 4), (4, 5), (5, 2), (6, 3), (7, 6)])
def test_bounds_hold_the_centre_and_other_networks_and_are_tight(seed, on_two):
    bank = fractions()
    answers = answered(bank, seed, on_two)
    ahead = lookahead(bank, answers)
    assert ahead.gap <= GAP
    centre, ids = lookahead(bank.centre(), answers), list(bank.questions)
    precise = {ids[place]: (group, row) for group in centre.groups for place, row in zip(group.batch.index, group.batch.row, strict=True)}
    rng = np.random.default_rng(seed)
    joints = [joint_of_some_network(bank, answers, rng) for _ in range(10)]
    for group in ahead.groups:
        for place, row in zip(group.batch.index, group.batch.row, strict=True):
            other, line = precise[ids[place]]
            pairs = [(group.answers, other.answers[0][0, line], row)]
            for target, same in zip(group.targets, other.targets, strict=True):
                pairs += [(target.after, same.after[0][0, line], row), (target.now, same.now[0][0], slice(None))]
            for (low, high), value, part in pairs:
                assert (low[0, part] <= value + SAFE).all()
                assert (high[0, part] >= value - SAFE).all()
        for joint in joints:
            inside(group, joint, rng)


def inside(group, joint, rng):
    """The answers and targets of a group in one network lie within the bounds; each table takes random ends for its likelihoods."""
    scope = group.batch.scope
    shape = [joint.shape[v] if v in scope else 1 for v in range(joint.ndim)]
    for table, (low, high) in enumerate(zip(group.batch.low, group.batch.high, strict=True)):
        for answer in range(len(low)):
            likely = np.where(rng.random(low[answer].shape) < 0.5, low[answer], high[answer]).reshape(shape)
            weights = joint * likely
            assert group.answers[0][0, table, answer] - SAFE <= weights.sum() <= group.answers[1][0, table, answer] + SAFE
            for target, skill in zip(group.targets, scope, strict=True):
                others = tuple(v for v in range(joint.ndim) if v != skill)
                for (lower, upper), values in (
                    ((target.now[0][0], target.now[1][0]), joint),
                    ((target.after[0][0, table, answer], target.after[1][0, table, answer]), weights / weights.sum()),
                ):
                    assert (lower <= values.sum(axis=others) + SAFE).all()
                    assert (upper >= values.sum(axis=others) - SAFE).all()


def test_a_network_outside_the_bank_is_told_from_those_inside():
    """The check above can fail: narrower bounds do not hold the networks of the bank."""
    bank = fractions()
    answers = answered(bank, 2, 3)
    narrow = lookahead(bank.centre().widen(0.005), answers)
    rng = np.random.default_rng(0)
    joint = joint_of_some_network(bank, answers, rng)
    with pytest.raises(AssertionError):
        inside(narrow.groups[0], joint, rng)


def small_problem(seed):
    """A core with loops, problems about two of its skills, and all nodes open."""
    bank = fractions()
    model = model_of(bank, answered(bank, seed, 4))
    core = core_of(model, (0, 2))
    goal = (core.number[0], core.number[2])
    g = np.random.default_rng(seed).random((5, 2, 3))
    plan = Elimination(core, orders(core.model, goal)[0])
    ends = {scope: likelihood(box) for scope, box in core.model.boxes.items()}
    return core, goal, g, plan, opened(plan, ends, len(g))


@pytest.mark.parametrize("seed", range(3))
def test_every_order_bounds_every_network(seed):
    core, goal, g, plan, root = small_problem(seed)
    rng = np.random.default_rng(seed)
    networks = [random_networks(plan, root, rng) for _ in range(20)]
    f = g - 0.5
    for order in permutations(range(len(core.model.sizes))):
        other = Elimination(core, order)
        bound = other.eliminate(root, f, goal)
        for network in networks:
            value = plan.eliminate(network, f, goal)
            assert (value <= bound + 1e-12).all()
            np.testing.assert_allclose(other.eliminate(network, f, goal), value, atol=1e-12)  # one network has one value in any order


@pytest.mark.parametrize("seed", range(3))
def test_local_search_climbs_and_stays_below_the_outer_bound(seed):
    core, goal, g, plan, root = small_problem(seed)
    found = maximise(core, g, {}, 1e-6, 20_000, goal)
    assert (found.outer - found.inner <= 1.1e-6).all()
    rng = np.random.default_rng(seed)
    for _ in range(5):
        start = random_networks(plan, root, rng)
        end = evaluate(plan, ascend(plan, root, start, g, goal), g, goal)
        assert (end >= evaluate(plan, start, g, goal) - 1e-12).all()
        assert (end <= found.outer + 1e-12).all()
    np.testing.assert_allclose((found.points * g).sum(axis=(1, 2)), found.inner, atol=1e-12)


def test_the_root_alone_gives_a_bound():
    core, goal, g, _, _ = small_problem(4)
    rough, fine = maximise(core, g, {}, 1e-9, 0, goal), maximise(core, g, {}, 1e-6, 20_000, goal)
    assert (rough.outer >= fine.inner).all()
    assert (rough.outer < g.max(axis=(1, 2))).all()
    assert rough.outer.sum() > fine.outer.sum()


@pytest.mark.parametrize("seed", range(3))
def test_nodes_tell_that_the_search_ended_by_itself(seed):
    core, goal, g, _, _ = small_problem(seed)
    for limit in (0, 50, 20_000):
        found = maximise(core, g, {}, 1e-6, limit, goal)
        assert (found.nodes <= limit) == bool((found.outer - found.inner <= 1.1e-6).all())
    model = model_of(fractions(), answered(fractions(), seed, 4))
    ended, cut = (reach(model, 0, 1e-6, limit) for limit in (20_000, 0))
    ones = np.ones((1, 2))
    assert 0 < ended.nodes <= 20_000
    assert ended.bounds(ones, ones)[2] <= 1e-6
    assert cut.nodes > 0
    assert cut.bounds(ones, ones)[2] > 1e-6
    assert reach(model.with_boxes({}), 0, 1e-6, 0).nodes == 0  # a tree


def test_orders_hold_every_variable_once():
    core, goal, _, _, _ = small_problem(1)
    found = orders(core.model, goal)
    assert len(found) > 2
    assert all(sorted(order) == list(range(len(core.model.sizes))) for order in found)
    assert all(order[: len(goal)] == list(goal) for order in found[1:])


@pytest.mark.long
def test_looking_ahead_twice_gives_the_same_numbers():
    bank = fractions()
    answers = answered(bank, 3, 4)
    one, other = lookahead(bank, answers), lookahead(bank, dict(reversed(answers.items())))
    still = [batch for batch in layout_of(bank).batches if any(list(bank.questions)[place] not in answers for place in batch.index)]
    assert len(one.groups) == len(still)
    for group, same in zip(one.groups, other.groups, strict=True):
        np.testing.assert_allclose(group.answers, same.answers, atol=2 * GAP)
    again = lookahead(bank, answers)
    for group, same in zip(one.groups, again.groups, strict=True):
        np.testing.assert_array_equal(group.answers, same.answers)
        for target, twin in zip(group.targets, same.targets, strict=True):
            np.testing.assert_array_equal(target.after, twin.after)
