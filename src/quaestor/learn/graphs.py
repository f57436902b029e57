"""The graph over the skills: independent skills, a chain, any stated graph, or a tree learnt from the answers.

The tree is that of Chow and Liu (1968) on the expected joint counts of all skills, with the BIC as score: a maximum spanning tree where the
weight of a link is the number of people times the mutual information of its two skills, minus the BIC penalty of its parameters. Links of
negative weight are left out, so the tree may be a forest. The expected counts depend on the graph they were computed with, so graph and
tables are learnt in turn (structural EM, Friedman 1998). The first fit has every link: expected counts computed under independence would
not show the dependences that are to be found.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.elicit import by_strength
from quaestor.errors import QuaestorError, format_value, nearest
from quaestor.learn import learn
from quaestor.learn.expect import JOINT
from quaestor.learn.fit import Fit
from quaestor.learn.people import Responses
from quaestor.model.table import Array, Table

STRENGTH = 0.6
ROUNDS = 10
FREE = 0.05  # the largest weight of the prior in the first fit


def with_graph(bank: Bank, parents: Mapping[str, Sequence[str]], strength: float | None = None) -> Bank:
    """The bank with another graph over its skills.

    A skill whose parents stay the same keeps its prior or its table (a table only if no `strength` is given). Every other skill gets a
    uniform prior if it has no parents, else the table of `strength` (default: 0.6; see `elicit.by_strength`).
    """
    for name in (*parents, *(parent for above in parents.values() for parent in above)):
        if name not in bank.skills:
            hint = nearest(name, bank.skills)
            raise QuaestorError(f"graph: a skill of the bank, got {format_value(name)}" + (f" ({hint})" if hint else ""))
    document = bank.document
    for skill in bank.skills.values():
        above = list(parents.get(skill.id, ()))
        if above == list(skill.parents) and (not above or strength is None):
            continue
        kept = {key: value for key, value in document["skills"][skill.id].items() if key not in _STATED}
        stated = {"parents": above, "strength": STRENGTH if strength is None else strength} if above else {}
        document["skills"][skill.id] = {**kept, **stated}
    return Bank(document)


_STATED = {"parents", "prior", "shares", "strength", "table", "confidence"}


def independent(bank: Bank) -> Bank:
    """The bank with skills that are independent of one another."""
    return with_graph(bank, {})


def chain(bank: Bank) -> Bank:
    """The bank whose skills form a chain: each has the one before it in the bank as its parent."""
    names = list(bank.skills)
    return with_graph(bank, {name: [before] for before, name in pairwise(names)})


def every_link(bank: Bank) -> Bank:
    """The bank in which each skill has all those before it as parents: any distribution of the profiles can be learnt."""
    names = list(bank.skills)
    return with_graph(bank, {name: names[:position] for position, name in enumerate(names)})


def learnt_tree(bank: Bank, responses: "Responses", **options: Any) -> Bank:
    """The bank with a tree over its skills that is learnt from the answers, and its skill tables; `options` as in `learn`."""
    responses = responses if hasattr(responses, "columns") else list(responses)
    check_tree(bank)
    current = every_link(bank)
    seen: set[frozenset[tuple[str, str]]] = set()
    for number in range(ROUNDS):
        # with every link a skill has very many rows, and the usual weight on each of them would make the prior outweigh the answers
        weak = {"weight": min(options.get("weight", FREE), FREE)} if number == 0 else {}
        fit = learn(current, responses, **{**options, **weak})
        parents = tree(fit)
        links = frozenset((parent, child) for child, above in parents.items() for parent in above)
        current = _with_tree(fit, parents)
        if links in seen:
            break
        seen.add(links)
    return current


def tree(fit: Fit) -> dict[str, tuple[str, ...]]:
    """The parents of each skill in the Chow-Liu tree of the expected skill counts of a fit."""
    from scipy.sparse import csr_array  # only here: it takes long to import
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    table = expected_skills(fit)
    names, people = fit.layout.names, table.sum()
    gained = np.zeros((len(names), len(names)))
    for one, other in combinations(range(len(names)), 2):
        cost = 0.5 * (table.shape[one] - 1) * (table.shape[other] - 1) * np.log(people)
        gained[one, other] = max(people * mutual_information(_pair(table, one, other)) - cost, 0)
    linked = minimum_spanning_tree(csr_array(-gained))
    both = csr_array(linked + linked.T)
    parents: dict[str, tuple[str, ...]] = {}
    order = [names.index(name) for name in fit.bank.skills]
    for root in order:
        if names[root] in parents:
            continue
        reached, before = breadth_first_order(both, root, directed=False)
        for skill in reached.tolist():
            parents[names[skill]] = () if skill == root else (names[int(before[skill])],)
    return {name: parents[name] for name in fit.bank.skills}


def check_tree(bank: Bank) -> None:
    """Refuse banks with more profiles than a tree can be learnt for."""
    profiles = float(np.prod([len(skill.levels) for skill in bank.skills.values()], dtype=float))
    if profiles > JOINT:
        rule = f"a learnt tree takes at most {JOINT} combinations of levels of all skills"
        raise QuaestorError(f"graph: {rule}, got {profiles:.3g}; state the graph instead")


def expected_skills(fit: Fit) -> Array:
    """The expected number of people at each combination of levels, an axis for each skill in the order of the layout."""
    check_tree(fit.bank)
    assert fit.expected.profiles is not None
    return fit.expected.profiles.reshape(fit.layout.sizes)


def mutual_information(table: Array) -> float:
    """The mutual information of two variables, sum p(x, y) log(p(x, y) / (p(x) p(y))) in nats, from their counts (levels, levels)."""
    joint = table / table.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    found = joint > 0
    return max(0.0, float((joint[found] * np.log(joint[found] / apart[found])).sum()))


def _pair(table: Array, one: int, other: int) -> Array:
    found: Array = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in (one, other)))
    return found


def _with_tree(fit: Fit, parents: Mapping[str, tuple[str, ...]]) -> Bank:
    """The given bank with this graph; skill tables from expected counts plus one pseudo-count a row, divided as by `STRENGTH`."""
    made = with_graph(fit.given, parents)
    table, tables = expected_skills(fit), {}
    for child, above in parents.items():
        position = fit.layout.names.index(child)
        levels = fit.layout.sizes[position]
        if above:
            parent = fit.layout.names.index(above[0])
            counts = _pair(table, parent, position)
            counts = (counts if parent < position else counts.T) + np.array(by_strength([fit.layout.sizes[parent]], levels, STRENGTH))
        else:
            counts = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis != position)) + 1 / levels
        tables[child] = Table.precise(counts / counts.sum(axis=-1, keepdims=True))
    return made.with_tables(tables)
