"""Narrow loops: sets of messages over separators, on ladders, rings and chains of two-skill questions that enumeration cannot go through.

Small models are in `tests/contracts/test_engines.py`, where every reply is compared with every network.
"""

import numpy as np
import pytest

import quaestor as qs
from helpers import random_models
from helpers.engine_cases import evidence_of
from helpers.models import model_of
from quaestor.credal.vectors import TooLargeError, hull
from quaestor.inference.chooser import Chooser
from quaestor.inference.conflict import possible
from quaestor.inference.engines import separators
from quaestor.inference.engines.enumeration import combinations, enumerate_bounds
from quaestor.inference.engines.loops import LoopEngine
from quaestor.inference.engines.separators import SeparatorEngine
from quaestor.inference.lookahead import lookahead

NEAR = 1e-9
SAFE = 1e-11
SHAPES = ("ladder", "broken ladder", "ring", "pairs")
FEW = 3000  # networks that are all tried
long = pytest.mark.long


def graph_of(rng, shape, count):
    """The parents of each skill, and the scopes of questions on two skills."""
    if shape == "ring":
        return [(), *((k - 1,) for k in range(1, count - 1)), (0, count - 2)], []
    if shape == "pairs":
        return [(), *((k - 1,) for k in range(1, count))], [[k, k + 1 + k % 2] for k in range(0, count - 2, 2)]
    above = [tuple(range(max(0, k - 2), k)) for k in range(count)]
    if shape == "broken ladder":
        above = [tuple(parent for parent in parents if rng.random() < 0.8) for parents in above]
    return above, []


def drawn(seed):
    """A bank of 6 to 12 binary skills and answers to 0 to 3 questions on each; every fifth has few networks."""
    rng = np.random.default_rng(seed)
    shape, count, few = SHAPES[seed % 4], int(rng.integers(6, 13)), seed % 5 == 0
    parents, pairs = graph_of(rng, shape, count)
    scopes = [[skill] for skill in range(count) for _ in range(int(rng.integers(4)))] + pairs
    width = float(rng.choice([0.01, 0.02, 0.05, 0.1, 0.2]))
    zeros = 0.05 if seed % 7 == 3 else 0.0
    bank = random_models.bank(rng, parents, scopes, (2,), (2, 2, 3), ("interval",), 2 * width, zeros)
    answers = random_models.answer(rng, bank)
    if few:
        bank = thinned(rng, bank, answers)
    return bank, answers, rng


def thinned(rng, bank, answers):
    """The bank with rows at their centres until few networks are left."""
    names = rng.permutation([*bank.skills, *bank.questions]).tolist()
    centres = {}
    while combinations(model_of(bank.with_tables(centres), answers)) > FEW:
        name = names.pop()
        centres[name] = (bank.skills[name] if name in bank.skills else bank.questions[name]).table.centre()
    return bank.with_tables(centres)


def some_network(rng, bank):
    """A precise bank of the set: a vertex of every row."""
    return bank.with_tables({name: part.table.vertex(rng) for name, part in (*bank.skills.items(), *bank.questions.items())})


def is_possible(bank, answers):
    """Whether somebody can give these answers."""
    return possible(evidence_of(bank, [answers]).model).all()


def holds(found, known, room=SAFE):
    """Whether exact bounds hold what some network says."""
    return (found.lower <= known.lower + room).all() and (found.upper >= known.upper - room).all()


def is_between(found, searched):
    """Exact bounds lie inside the outer bounds of a search, and hold its inner ones."""
    assert (found.lower >= searched.lower - NEAR).all()
    assert (found.upper <= searched.upper + NEAR).all()
    assert (found.lower <= searched.inner_lower + NEAR).all()
    assert (found.upper >= searched.inner_upper - NEAR).all()


@pytest.mark.parametrize("seed", [seed if seed < 8 else pytest.param(seed, marks=long) for seed in range(200)])
def test_bounds_are_exact_on_narrow_loops(seed):
    """Against every network where they are few, else between the inner and outer bounds of branch and bound; and no network is outside."""
    bank, answers, rng = drawn(seed)
    if not is_possible(bank, answers):
        return
    model = model_of(bank, answers)
    found = qs.posterior(bank, answers)
    exact = qs.posterior(bank, answers, method="separators") if not model.is_singly_connected else found
    assert found.exact
    assert exact.exact
    tries = combinations(model)
    for number, skill in enumerate(model.names):
        assert holds(found[skill], exact[skill], NEAR)
        assert holds(exact[skill], found[skill], NEAR)
        if tries <= FEW and number % 3 == seed % 3:
            lower, upper = enumerate_bounds(model, number)
            np.testing.assert_allclose(found[skill].lower, lower, rtol=0, atol=NEAR)
            np.testing.assert_allclose(found[skill].upper, upper, rtol=0, atol=NEAR)
    if tries > FEW:
        for number in rng.permutation(len(model.names))[:2].tolist():
            is_between(found[model.names[number]], Chooser(model.batched, 1, "branch", NEAR, 3).now(number))
    for _ in range(5):
        inside = some_network(rng, bank)
        if is_possible(inside, answers):
            known = qs.posterior(inside, answers)
            assert all(holds(found[skill], known[skill]) for skill in model.names)


def ladder(rungs, width, seed=None):
    """A bank of binary skills of which each builds on the two before it, with one question on each."""
    rng = np.random.default_rng(seed)
    parents, _ = graph_of(rng, "ladder", rungs)
    tables = {}
    plain = random_models.bank(rng, parents, [[k] for k in range(rungs)], (2,), (2,), ("precise",))
    for name, skill in plain.skills.items():
        right = rng.uniform(0.15, 0.85, skill.table.shape[:-1])
        tables[name] = qs.Table.precise(np.stack([1 - right, right], axis=-1))
    tables |= {name: qs.Table.precise([[0.8, 0.2], [0.15, 0.85]]) for name in plain.questions}
    return plain.with_tables(tables).widen(width), {name: number % 2 for number, name in enumerate(plain.questions)}


@pytest.mark.parametrize("width", [0.02, pytest.param(0.1, marks=long), pytest.param(0.2, marks=long)])
@pytest.mark.parametrize("rungs", [3, 4, pytest.param(5, marks=long), pytest.param(6, marks=long), pytest.param(7, marks=long)])
def test_ladders_agree_with_branch_and_bound(rungs, width):
    bank, answers = ladder(rungs, width, rungs)
    found = qs.posterior(bank, answers)
    searched = qs.posterior(bank, answers, method="branch", tolerance=NEAR, limit=2000)
    assert (found.method, found.exact) == ("separators", True)
    for skill in bank.skills:
        is_between(found[skill], searched[skill])


@pytest.mark.parametrize("width", [0.2, pytest.param(0.01, marks=long), pytest.param(0.05, marks=long)])
def test_a_ladder_of_fourteen_rungs_is_exact(width):
    bank, answers = ladder(14, width, 1)
    found = qs.posterior(bank, answers)
    assert (found.method, found.exact) == ("separators", True)
    rng = np.random.default_rng(1)
    for _ in range(10):
        inside = some_network(rng, bank)
        if is_possible(inside, answers):
            known = qs.posterior(inside, answers)
            assert all(holds(found[skill], known[skill]) for skill in bank.skills)


@pytest.mark.parametrize("targets", ["scope", "all"])
@pytest.mark.parametrize(("shape", "asked"), [("ladder", [0, 1]), ("ring", [0, 3]), ("ladder", [1, 3]), ("pairs", [1, 2])])
def test_bounds_after_an_answer_are_those_of_the_posterior(shape, asked, targets):
    """Questions on one skill and on two, near and far, of their own skills and of all others."""
    rng = np.random.default_rng(5)
    parents, pairs = graph_of(rng, shape, 5)
    bank = random_models.bank(rng, parents, [[0], [2], [4], asked, [1], *pairs], (2,), (2, 3), ("interval",), 0.1)
    answers = {"q0": 1, "q2": 0, **{f"q{5 + number}": 1 for number in range(len(pairs))}}
    ahead = lookahead(bank, answers, targets, tolerance=1e-10)
    ids = list(bank.questions)
    assert ahead.exact
    for group in ahead.groups:
        assert group.bracket.method == "separators"
        for place, row in zip(group.batch.index, group.batch.row, strict=True):
            if ids[place] in answers:
                continue
            known = qs.bounds(bank.network, ids[place], {**answers})
            np.testing.assert_allclose(group.answers[0][0, row], known.lower, atol=1e-8)
            np.testing.assert_allclose(group.answers[1][0, row], known.upper, atol=1e-8)
            for answer in range(len(bank.questions[ids[place]].classes)):
                after = qs.posterior(bank, {**answers, ids[place]: answer})
                for target in group.targets:
                    np.testing.assert_allclose(target.after[0][0, row, answer], after[target.skill].lower, rtol=0, atol=NEAR)
                    np.testing.assert_allclose(target.after[1][0, row, answer], after[target.skill].upper, rtol=0, atol=NEAR)


def test_what_has_no_evidence_below_it_costs_nothing():
    """All skills of a long ladder share one tree of messages; what is not answered sends nothing up."""
    bank, answers = ladder(25, 0.05, 2)
    found = qs.posterior(bank, {name: answers[name] for name in list(answers)[:3]})
    assert found.exact
    known = qs.posterior(bank, {name: answers[name] for name in list(answers)[:3]}, method="bracket")
    for skill in list(bank.skills)[:4]:
        is_between(found[skill], known[skill])


def crossed(width=0.1):
    """Four skills above one, and four below it that depend on all pairs: nothing narrow about it."""
    rng = np.random.default_rng(1)
    parents = [(), (), (), (), (0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4)]
    return random_models.bank(rng, parents, [[5], [6], [7]], (2,), (2,), ("interval",), width)


def test_what_is_too_wide_is_refused_in_words_and_goes_to_branch_and_bound():
    bank, answers = crossed(), {"q0": 1, "q1": 0, "q2": 1}
    with pytest.raises(TooLargeError, match="more than 200 candidate messages over 8 configurations"):
        SeparatorEngine(evidence_of(bank, [answers]).model, 1).now(3)
    assert "branch" in qs.posterior(bank, answers, limit=1).method


def test_nobodys_bounds_depend_on_whose_sets_are_too_large(monkeypatch):
    bank, answers = ladder(6, 0.05, 3)
    takers = [{}, answers, {"q0": 1}, {**answers, "q3": 0}]
    evidence = evidence_of(bank, takers)
    monkeypatch.setitem(separators._MOST, 4, 600)
    chooser = Chooser(evidence.model, len(takers), limit=1)
    together = [chooser.now(5), *(chooser.answers(batch) for batch in evidence.layout.batches)]
    assert any("branch" in reply.method and "separators" in reply.method for reply in together)
    for taker, given in enumerate(takers):
        one = evidence_of(bank, [given])
        alone = Chooser(one.model, 1, limit=1)
        for reply, expected in zip(together, [alone.now(5), *(alone.answers(batch) for batch in one.layout.batches)], strict=True):
            for end in range(4):
                np.testing.assert_allclose(reply[end][taker], expected[end][0], rtol=0, atol=1e-12)


def test_three_states_on_a_loop():
    """Separators of six and nine configurations, with rows of all kinds."""
    rng, tried = np.random.default_rng(8), 0
    while tried < 5:
        network = random_models.network(rng, [(), (0,), (0,), (1, 2)], (2, 3), ("precise", "precise", "vertices", "interval"), 0.3)
        evidence = {3: 0}
        model, number = random_models.relevant(network, 0, evidence)
        if combinations(model) > FEW or model.sizes[1] * model.sizes[2] != (6, 9)[tried % 2] or model.is_singly_connected:
            continue
        tried += 1
        lower, upper = enumerate_bounds(model, number)
        reply = SeparatorEngine(model.batched, 1).now(number)
        np.testing.assert_allclose(reply.lower[0], lower, rtol=0, atol=NEAR)
        np.testing.assert_allclose(reply.upper[0], upper, rtol=0, atol=NEAR)


def test_inner_and_outer_bounds_of_answers_on_a_ladder():
    """P(class) of questions on two neighbours of a ladder lies between the bounds of branch and bound."""
    rng = np.random.default_rng(4)
    parents, _ = graph_of(rng, "ladder", 7)
    bank = random_models.bank(rng, parents, [*([k] for k in range(7)), [2, 3], [3, 5]], (2,), (2,), ("interval",), 0.1)
    evidence = evidence_of(bank, [{f"q{k}": k % 2 for k in range(7)}])
    exact, searched = SeparatorEngine(evidence.model, 1), LoopEngine(evidence.model, 1, NEAR / 10, 50)
    for batch in evidence.layout.batches[-2:]:
        for found, known in [(exact.answers(batch), searched.answers(batch)), (exact.after(batch, 3), searched.after(batch, 3))]:
            is_between(found, known)


@pytest.mark.parametrize("seed", range(5))
def test_the_vertices_met_in_a_few_directions_are_not_more_than_there_are(seed):
    vectors = np.random.default_rng(seed).random((60, 5)) ** 2
    vectors /= vectors.sum(axis=1, keepdims=True)
    assert 5 <= separators._fewest(vectors) <= len(hull(vectors))


def test_no_hull_is_formed_for_what_would_be_refused(monkeypatch):
    bank = qs.load("fractions").widen(0.05)
    answers = {"A9": 1, "M5": 0, "W1": 1}
    formed = []

    def formed_hull(vectors):
        formed.append(vectors.shape)
        return hull(vectors)

    monkeypatch.setattr(separators, "hull", formed_hull)
    qs.posterior(bank, answers)
    assert all(count < 100 for count, cells in formed if cells == 6)
