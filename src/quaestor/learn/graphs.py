"""How skills hang together: each on its own, in a chain, as somebody says, or in the tree that the answers tell.

The tree is that of Chow and Liu (1968) on the expected table of all skills, by BIC: those pairs are joined that together gain most, where a
link gains the people times the information shared, less what its numbers cost. The expected table depends on the graph it was found with,
so the two are found in turn (structural EM, Friedman 1998). It begins with a table that is free: from independent skills on, the links that
were left out would hide themselves. A link that costs more than it is worth is left out, so the tree may be a forest.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

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
FREE = 0.05  # weight of the first fit


def with_graph(bank: Bank, parents: Mapping[str, Sequence[str]], strength: float | None = None) -> Bank:
    """The bank with another graph over its skills.

    A skill whose parents stay the same keeps what is stated of it: its prior, or with parents its table, unless a `strength` is given. Of
    the others those without parents are even, and those with parents follow them by one strength, 0.6 unless it is given.
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
    """Every skill on its own."""
    return with_graph(bank, {})


def chain(bank: Bank) -> Bank:
    """Each skill builds on the one before it in the bank."""
    names = list(bank.skills)
    return with_graph(bank, {name: [before] for before, name in pairwise(names)})


def every_link(bank: Bank) -> Bank:
    """Each skill builds on all those before it: any distribution of the profiles can be learnt."""
    names = list(bank.skills)
    return with_graph(bank, {name: names[:place] for place, name in enumerate(names)})


def learnt_tree(bank: Bank, responses: "Responses", **options: Any) -> Bank:
    """The bank with the tree over its skills that the answers tell, with its tables; `options` are those of `learn`."""
    responses = responses if hasattr(responses, "columns") else list(responses)
    check_tree(bank)
    now = every_link(bank)
    seen: set[frozenset[tuple[str, str]]] = set()
    for number in range(ROUNDS):
        loose = {"weight": min(options.get("weight", FREE), FREE)} if number == 0 else {}  # of so many rows more would be a prior indeed
        fit = learn(now, responses, **{**options, **loose})
        parents = tree(fit)
        links = frozenset((parent, child) for child, above in parents.items() for parent in above)
        now = _with_tree(fit, parents)
        if links in seen:
            break
        seen.add(links)
    return now


def tree(fit: Fit) -> dict[str, tuple[str, ...]]:
    """The parents of each skill in the best tree for the expected skill table of a fit."""
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
    """How many people are expected at each combination of levels, an axis for each skill of the layout."""
    check_tree(fit.bank)
    assert fit.expected.profiles is not None
    return fit.expected.profiles.reshape(fit.layout.sizes)


def mutual_information(table: Array) -> float:
    """Of two variables, in nats, from their table of counts (levels, levels)."""
    joint = table / table.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    found = joint > 0
    return max(0.0, float((joint[found] * np.log(joint[found] / apart[found])).sum()))


def _pair(table: Array, one: int, other: int) -> Array:
    found: Array = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in (one, other)))
    return found


def _with_tree(fit: Fit, parents: Mapping[str, tuple[str, ...]]) -> Bank:
    """The given bank with this graph, its skill tables from the expected counts and one answer a row by the default strength."""
    made = with_graph(fit.given, parents)
    table, tables = expected_skills(fit), {}
    for child, above in parents.items():
        place = fit.layout.names.index(child)
        levels = fit.layout.sizes[place]
        if above:
            parent = fit.layout.names.index(above[0])
            counts = _pair(table, parent, place)
            counts = (counts if parent < place else counts.T) + np.array(by_strength([fit.layout.sizes[parent]], levels, STRENGTH))
        else:
            counts = table.sum(axis=tuple(axis for axis in range(table.ndim) if axis != place)) + 1 / levels
        tables[child] = Table.precise(counts / counts.sum(axis=-1, keepdims=True))
    return made.with_tables(tables)
