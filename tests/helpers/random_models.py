"""Random networks and banks from a numpy generator: trees, polytrees, loops; interval, vertex and precise rows; with evidence.

The same seed gives the same model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.inference.engines.enumeration import combinations
from quaestor.inference.model import Model, reduce
from quaestor.model.network import Network, Variable
from quaestor.model.table import Table

SHAPES = ("tree", "polytree", "loopy")
KINDS = ("precise", "interval", "vertices")
Parents = list[tuple[int, ...]]


# Graphs: for each variable the numbers of its parents, all smaller than its own and at most `reach` away


def tree(rng: np.random.Generator, count: int, reach: int = 1000) -> Parents:
    """Every variable but the first has one parent."""
    return [(), *((int(rng.integers(max(0, child - reach), child)),) for child in range(1, count))]


def polytree(rng: np.random.Generator, count: int, most_parents: int = 2, reach: int = 1000) -> Parents:
    """Several parents, but one path between any two variables: parents of a child come from parts not linked before."""
    part = list(range(count))
    parents: Parents = []
    for child in range(count):
        most = 1 if rng.random() < 0.5 else most_parents
        chosen: list[int] = []
        for candidate in (max(0, child - reach) + rng.permutation(min(child, reach))).tolist():
            if len(chosen) < most and part[candidate] not in {part[other] for other in chosen}:
                chosen.append(candidate)
        joined = {part[other] for other in chosen}
        part = [child if number in joined else number for number in part]
        parents.append(tuple(chosen))
    return parents


def loopy(rng: np.random.Generator, count: int, most_parents: int = 2) -> Parents:
    """Any parents: as a rule with loops."""
    return [
        tuple(rng.permutation(child)[: int(rng.integers(min(child, 1), min(child, most_parents) + 1))].tolist()) for child in range(count)
    ]


GRAPHS = {"tree": tree, "polytree": polytree, "loopy": loopy}


# Rows, tables, networks


def distribution(rng: np.random.Generator, states: int, zeros: float = 0.0) -> np.ndarray:
    """A random distribution; each probability is zero with the given chance (but not all of them)."""
    weights = rng.dirichlet(np.ones(states)) * (rng.random(states) >= zeros)
    return weights / weights.sum() if weights.sum() > 0 else np.eye(states)[int(rng.integers(states))]


def random_table(
    rng: np.random.Generator, shape: tuple[int, ...], kinds: Sequence[str] = KINDS, width: float = 0.2, zeros: float = 0.0
) -> Table:
    """A table of shape (*parent sizes, states) with rows of these kinds; `width` is how far bounds and vertices stray."""
    rows, states = prod(shape[:-1]), shape[-1]
    lower, upper = np.zeros((rows, states)), np.ones((rows, states))
    vertices = {}
    for row in range(rows):
        centre, kind = distribution(rng, states, zeros), kinds[int(rng.integers(len(kinds)))]
        if kind == "vertices":
            others = np.array([distribution(rng, states, zeros) for _ in range(int(rng.integers(2, 5)))])
            vertices[row] = (1 - width) * centre + width * others
        else:
            reach = width * rng.random((2, states)) if kind == "interval" else np.zeros((2, states))
            keeps_zeros = np.where((centre == 0) & (rng.random(states) < 0.5), 0.0, 1.0)  # an impossible state may stay impossible
            lower[row], upper[row] = np.maximum(centre - reach[0], 0), np.minimum(centre + keeps_zeros * reach[1], 1)
    return Table(lower.reshape(shape), upper.reshape(shape), vertices)


def network(
    rng: np.random.Generator,
    parents: Parents,
    states: Sequence[int] = (2, 3, 4),
    kinds: Sequence[str] = KINDS,
    width: float = 0.2,
    zeros: float = 0.0,
) -> Network:
    """A credal network on a graph, with numbers of states drawn from `states`."""
    sizes = [int(rng.choice(states)) for _ in parents]
    return Network(
        tuple(
            Variable(
                f"v{child}",
                tuple(f"s{state}" for state in range(sizes[child])),
                tuple(f"v{parent}" for parent in above),
                random_table(rng, (*(sizes[parent] for parent in above), sizes[child]), kinds, width, zeros),
            )
            for child, above in enumerate(parents)
        )
    )


def observe(rng: np.random.Generator, net: Network, target: int, most: int) -> dict[int, int]:
    """Observed states of up to `most` variables other than the target."""
    others = [index for index in range(len(net.variables)) if index != target]
    chosen = rng.permutation(others)[: int(rng.integers(1, most + 1))].tolist() if others and most else []
    return {index: int(rng.integers(len(net.variables[index].states))) for index in chosen}


def inside(rng: np.random.Generator, net: Network, at_vertices: bool = True) -> Network:
    """One Bayesian network of the set: a vertex of every row, or a random mixture of its vertices."""

    def point(table: Table, row: int) -> np.ndarray:
        vertices = table.row_vertices(row)
        weights = np.eye(len(vertices))[rng.integers(len(vertices))] if at_vertices else rng.dirichlet(np.ones(len(vertices)))
        return weights @ vertices

    chosen = []
    for variable in net.variables:
        rows = np.array([point(variable.table, row) for row in range(variable.table.rows)])
        made = Table.precise(np.clip(rows, 0, 1).reshape(variable.table.shape))
        chosen.append(Variable(variable.name, variable.states, variable.parents, made))
    return Network(tuple(chosen))


# Banks


def stated(made: Table, names: Sequence[Sequence[str]]) -> dict[str, Any]:
    """A table as it stands in a bank file."""
    states = made.shape[-1]
    lower, upper = made.lower.reshape(-1, states).tolist(), made.upper.reshape(-1, states).tolist()
    rows: dict[str, Any] = {}
    for number, combination in enumerate(product(*names)):
        pairs = [low if low == high else [low, high] for low, high in zip(lower[number], upper[number], strict=True)]
        rows[", ".join(combination)] = {"vertices": made.vertices[number].tolist()} if number in made.vertices else pairs
    return rows


def bank(
    rng: np.random.Generator,
    parents: Parents,
    scopes: Sequence[Sequence[int]],
    levels: Sequence[int] = (2, 3),
    classes: Sequence[int] = (2, 2, 3),
    kinds: Sequence[str] = ("precise",),
    width: float = 0.1,
    zeros: float = 0.0,
    sizes: Sequence[int] | None = None,
    question_kinds: Sequence[str] | None = None,
) -> Bank:
    """A bank on a graph of skills `s0`, `s1`, ..., with a question `q0`, `q1`, ... for each of the scopes.

    `sizes`: the levels of each skill, else drawn; `question_kinds`: the rows of questions, where they are of other kinds.
    """
    sizes = sizes or [int(rng.choice(levels)) for _ in parents]
    named = [[f"l{level}" for level in range(size)] for size in sizes]
    skills = {}
    for child, above in enumerate(parents):
        made = random_table(rng, (*(sizes[parent] for parent in above), sizes[child]), kinds, width, zeros)
        rows = stated(made, [named[parent] for parent in above])
        how = {"parents": [f"s{parent}" for parent in above], "table": rows} if above else {"prior": rows[""]}
        skills[f"s{child}"] = {"levels": named[child]} | how
    questions = {}
    for number, scope in enumerate(scopes):
        answers = [f"c{one}" for one in range(int(rng.choice(classes)))]
        made = random_table(rng, (*(sizes[skill] for skill in scope), len(answers)), question_kinds or kinds, width, zeros)
        rows = stated(made, [named[skill] for skill in scope])
        questions[f"q{number}"] = {"skills": [f"s{skill}" for skill in scope], "classes": answers, "table": rows}
    return Bank({"skills": skills, "questions": questions})


def scopes_of(rng: np.random.Generator, skills: int, questions: int, most: int = 1) -> list[list[int]]:
    """Random scopes of one to `most` skills, in any order."""
    return [rng.permutation(skills)[: int(rng.integers(1, min(most, skills) + 1))].tolist() for _ in range(questions)]


def answer(rng: np.random.Generator, made: Bank, share: float = 1.0) -> dict[str, int]:
    """A random answer class for a share of the questions."""
    return {name: int(rng.integers(len(question.classes))) for name, question in made.questions.items() if rng.random() < share}


# Small enough for enumeration


def relevant(net: Network, target: int, evidence: Mapping[int, int]) -> tuple[Model, int]:
    """The model of what matters for a target, and the target's number in it."""
    model, number = reduce(net, evidence)
    part, renumber = model.relevant_to([number[target]])
    return part, renumber[number[target]]


def tame(rng: np.random.Generator, net: Network, target: int, evidence: Mapping[int, int], most: int) -> Network:
    """The network with the tables of some variables at their centres, so that there are at most so many combinations of vertices."""
    for index in rng.permutation(len(net.variables)).tolist():
        if combinations(relevant(net, target, evidence)[0]) <= most:
            break
        variables = list(net.variables)
        variables[index] = replace(variables[index], table=variables[index].table.centre())
        net = Network(tuple(variables))
    return net
