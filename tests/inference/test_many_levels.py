"""Skills with 5 to 12 levels: against linear programs, enumeration and sets of messages, and where likelihoods are beyond all numbers."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import random_models
from oracles import fractional
from quaestor import Bank, Table, posterior, rank
from quaestor.inference.chooser import Chooser
from quaestor.inference.engines.enumeration import EnumerationEngine, combinations
from quaestor.inference.engines.fills import FillEngine, fits
from quaestor.inference.engines.hulls import HullEngine
from quaestor.inference.evidence import OPEN, Evidence

EXACT = 1e-9
SAFE = 1e-11  # outer bounds may round, no more
CHAIN, STAR, POLYTREES = [(), (0,), (1,)], [(), (0,), (0,)], ([(), (), (0, 1)], [(), (0,), (), (1, 2)], [(), (), (1, 0), (1,)])


def seeds(short, stop):
    return [seed if seed < short else pytest.param(seed, marks=pytest.mark.long) for seed in range(stop)]


def evidence_of(bank, answers):
    row = np.full((1, len(bank.questions)), OPEN, dtype=np.int16)
    for number, name in enumerate(bank.questions):
        row[0, number] = answers.get(name, OPEN)
    return Evidence.of_rows(bank, row)


def holds(found, truth):
    """Outer bounds hold the truth, the truth holds the inner ones, and what is called exact is."""
    lower, upper = truth
    told = np.isfinite(lower) & np.isfinite(upper)
    assert (found.lower <= lower + SAFE)[told].all()
    assert (found.upper >= upper - SAFE)[told].all()
    assert (found.inner_lower >= lower - EXACT)[told].all()
    assert (found.inner_upper <= upper + EXACT)[told].all()
    if not found.gap:
        assert np.abs(found.lower - lower)[told].max(initial=0) < EXACT
        assert np.abs(found.upper - upper)[told].max(initial=0) < EXACT


def agree(engine, oracle, evidence):
    """Whatever an engine can be asked."""
    for variable in range(len(evidence.model.sizes)):
        holds(engine.now(variable), oracle.now(variable).ends)
        for batch in evidence.layout.batches:
            holds(engine.after(batch, variable), oracle.after(batch, variable).ends)
    for batch in evidence.layout.batches:
        holds(engine.answers(batch), oracle.answers(batch).ends)


# One skill


@pytest.mark.parametrize("seed", seeds(8, 80))
def test_one_skill_agrees_with_linear_programs(seed):
    rng = np.random.default_rng(seed)
    levels, width = 5 + seed % 8, float(rng.choice([0.01, 0.05, 0.2]))
    bank = random_models.bank(rng, [()], [[0]] * 4, sizes=[levels], kinds=("interval",), width=width, zeros=0.2 * (seed % 3 == 0))
    answers = {"q0": 0, "q1": 1, "q2": 0}
    evidence = evidence_of(bank, answers)
    chooser, prior = Chooser(evidence.model, 1), bank.skills["s0"].table
    (low,), (high,) = (np.exp(end) for end in evidence.model.boxes[0,])
    found = chooser.now(0)
    assert found.method == "fills"
    assert not found.gap
    lower, upper = fractional.bounds(low, high, prior.lower, prior.upper)
    assert found.lower[0] == pytest.approx(lower, abs=EXACT)
    assert found.upper[0] == pytest.approx(upper, abs=EXACT)
    for batch in evidence.layout.batches:
        replies, after = chooser.answers(batch), chooser.after(batch, 0)
        assert not replies.gap
        assert not after.gap
        table, answer = len(batch.low) - 1, int(rng.integers(batch.low.shape[1]))
        least, most = batch.low[table, answer], batch.high[table, answer]
        truth = [sign * fractional.largest(sign * goal, low, high, prior.lower, prior.upper) for sign, goal in ((-1, least), (1, most))]
        assert [replies.lower[0, table, answer], replies.upper[0, table, answer]] == pytest.approx(truth, abs=EXACT)
        lower, upper = fractional.bounds(low * least, high * most, prior.lower, prior.upper)
        assert after.lower[0, table, answer] == pytest.approx(lower, abs=EXACT)
        assert after.upper[0, table, answer] == pytest.approx(upper, abs=EXACT)


@pytest.mark.parametrize("levels", [8, 9, 12])
def test_one_answer_on_one_skill_with_many_levels(levels):
    """That took from half a minute to for ever when all orders of the levels were listed."""
    names = [f"l{level}" for level in range(levels)]
    rows = {name: [1 - right, right] for name, right in zip(names, np.linspace(0.1, 0.9, levels).tolist(), strict=True)}
    questions = {f"q{number}": {"skill": "s", "classes": ["wrong", "right"], "table": rows} for number in range(3)}
    bank = Bank({"skills": {"s": {"levels": names, "prior": [1 / levels] * levels}}, "questions": questions}).widen(0.03)
    found = posterior(bank, {"q0": "right"})
    assert found.exact
    assert found["s"].lower[-1] > found["s"].lower[0]
    assert len(rank(bank, {"q0": "right"}).ids) == 2


# Several skills, of which few states are open: all networks can be tried


def opened(rng, table, most):
    """A table of exact numbers of which two or three states of some rows get a width."""
    lower, upper = (table.lower.reshape(-1, table.shape[-1]).copy() for _ in range(2))
    for row in rng.permutation(len(lower))[:most]:
        states = rng.permutation(lower.shape[1])[: int(rng.integers(2, 4))]
        lower[row, states], upper[row, states] = 0.7 * lower[row, states], 1.3 * upper[row, states]
    return Table(lower.reshape(table.shape), np.minimum(upper, 1).reshape(table.shape))


def sparse(seed, graph, most=1500):
    """A bank with 5 to 12 levels and answers, and the evidence, few enough networks for enumeration."""
    rng = np.random.default_rng(seed)
    sizes = [int(rng.integers(5, 13 if len(graph) < 4 else 8)) for _ in graph]
    scopes = [[skill] for skill in range(len(graph))] * 2
    bank = random_models.bank(rng, graph, scopes, sizes=sizes, classes=(2,), kinds=("precise",))
    answers = {f"q{number}": int(rng.integers(2)) for number in range(len(graph) + 1) if rng.random() < 0.9}
    while True:
        tables = {}
        for name, table in [(name, skill.table) for name, skill in bank.skills.items()]:
            tables[name] = opened(rng, table, int(rng.integers(3)))
        asked = {name: opened(rng, question.table, int(rng.integers(3))) for name, question in bank.questions.items()}
        made = bank.with_tables(tables | asked)
        evidence = evidence_of(made, answers)
        if not evidence.model.is_precise and combinations(evidence.model) <= most:
            return evidence


@pytest.mark.parametrize("seed", seeds(2, 120))
def test_trees_agree_with_enumeration(seed):
    evidence = sparse(seed, (CHAIN, STAR, [(), (0,)])[seed % 3])
    chooser = Chooser(evidence.model, 1)
    assert not chooser.now(0).gap
    agree(chooser, EnumerationEngine(evidence.model, 1), evidence)


@pytest.mark.parametrize("seed", seeds(0, 60))
def test_polytrees_agree_with_enumeration(seed):
    evidence = sparse(seed, POLYTREES[seed % 3], 400)
    oracle = EnumerationEngine(evidence.model, 1)
    agree(Chooser(evidence.model, 1), oracle, evidence)
    agree(FillEngine(evidence.model, 1), oracle, evidence)


# All states open


@pytest.mark.parametrize("seed", seeds(3, 30))
def test_trees_agree_with_sets_of_messages(seed):
    rng = np.random.default_rng(seed)
    graph, levels = (([(), (0,)], 5), (CHAIN, 4), (STAR, 4))[seed % 3]
    bank = random_models.bank(rng, graph, [[skill] for skill in range(len(graph))] * 2, sizes=[levels] * len(graph), kinds=("interval",))
    evidence = evidence_of(bank, random_models.answer(rng, bank, 0.6))
    agree(FillEngine(evidence.model, 1), HullEngine(evidence.model, 1), evidence)


@pytest.mark.parametrize("seed", seeds(2, 20))
def test_networks_of_the_set_are_inside(seed):
    """Chains and polytrees with 6 to 12 levels, bracketed or exact: no network of the set is outside, and less work is never narrower."""
    rng = np.random.default_rng(seed)
    graph, levels = (CHAIN, *POLYTREES)[seed % 4], int(rng.integers(6, 13 if seed % 4 == 0 else 8))
    scopes, sizes = [[skill] for skill in range(len(graph))], [levels] * len(graph)
    bank = random_models.bank(rng, graph, scopes, sizes=sizes, kinds=("interval",), width=0.1)
    evidence = evidence_of(bank, random_models.answer(rng, bank))
    engine = FillEngine(evidence.model, 1, 500_000)
    for skill in range(len(graph)):
        found, wide = engine.now(skill), FillEngine(evidence.model, 1, 0).now(skill)
        assert (wide.lower <= found.inner_lower + SAFE).all()
        assert (wide.upper >= found.inner_upper - SAFE).all()
        assert (found.lower <= found.inner_lower).all()
        assert (found.upper >= found.inner_upper).all()
        for _ in range(20):
            tables = tuple(vertex(rng, table) for table in evidence.model.tables)
            picks = {scope: np.where(rng.random(low.shape) < 0.5, low, high) for scope, (low, high) in evidence.model.boxes.items()}
            boxes = {scope: (pick, pick) for scope, pick in picks.items()}
            inside = Chooser(replace(evidence.model, tables=tables, boxes=boxes, is_asked_credally=False, kept={}), 1).now(skill)
            assert (found.lower <= inside.lower + SAFE).all()
            assert (found.upper >= inside.upper - SAFE).all()


def vertex(rng, table):
    """A vertex of every row: what is left goes to the states in a random order. (To list them all would take long.)"""
    lower, upper = (end.reshape(-1, table.shape[-1]) for end in (table.lower, table.upper))
    rows = lower.copy()
    for row in range(len(rows)):
        for state in rng.permutation(rows.shape[1]):
            rows[row, state] += max(0.0, min(upper[row, state] - lower[row, state], 1 - rows[row].sum()))
    return Table.precise(rows.reshape(table.shape))


# Beyond all numbers


@pytest.mark.parametrize(
    "seed", [0, 11, 17, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20) if seed not in (11, 17))]
)
def test_contradicting_answers_agree_with_enumeration_in_logarithms(seed):
    """Hundreds of answers for and as many against: the likelihoods of all levels but a few are below the smallest number."""
    rng = np.random.default_rng(seed)
    evidence = sparse(seed, (CHAIN, STAR, [(), (0,)])[seed % 3], 400)
    times = float(rng.choice([300, 1000, 2000]))
    model = evidence.model.with_boxes({scope: (low * times, high * times) for scope, (low, high) in evidence.model.boxes.items()})
    assert fits(model)
    chooser, oracle = Chooser(model, 1), EnumerationEngine(model, 1)
    for variable in range(len(model.sizes)):
        found = chooser.now(variable)
        assert not found.gap
        holds(found, oracle.now(variable).ends)


def test_two_thousand_contradicting_answers_end_where_their_numbers_say():
    """The more answers to each of two questions that contradict one another, the nearer to the level that explains both best."""
    names = [f"l{level}" for level in range(6)]
    right = np.linspace(0.05, 0.95, 6).tolist()
    skills = {
        "a": {"levels": names, "prior": [[0.1, 0.25]] * 6},
        "b": {"levels": names, "parents": ["a"], "table": {name: [[0.1, 0.25]] * 6 for name in names}},
    }
    questions = {f"{skill}{number}": {"skill": skill, "right": right} for skill in "ab" for number in range(2000)}
    bank, lowest = Bank({"skills": skills, "questions": questions}), []
    for times in (10, 100, 1000):
        answers = {f"{skill}{number}": number % 2 for skill in "ab" for number in range(2 * times)}
        found = posterior(bank, answers)
        assert found.method == "fills"
        assert found.exact
        middle = [found[skill].lower[2:4].sum() for skill in "ab"]
        lowest.append(min(middle))
        assert all((found[skill].upper[[0, 5]] < 1e-3).all() for skill in "ab") or times == 10
    assert lowest == sorted(lowest)
