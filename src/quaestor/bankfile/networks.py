"""From a network to a bank: some of its variables are the skills, leaves below them the questions.

A bank is a network of one shape: skills whose parents are skills, and questions that nothing depends on. A network of another shape is
made one by summing variables out, as far as that is exact: a variable that nothing depends on any more is left away, and one with a
single child goes into the child's table, P(child | its other parents and those of h) = Σ_h P(h | parents) P(child | h, other parents).
The second holds for exact numbers only: in a credal network, rows of the new table would not be free of each other.
"""

from collections.abc import Iterable, Sequence
from math import prod
from string import ascii_letters

import numpy as np

from quaestor.bankfile.bank import NEWEST, Bank, table_rows
from quaestor.bankfile.statements import MOST_ROWS
from quaestor.errors import NetworkError, expect, format_kind, got
from quaestor.i18n import listed, say
from quaestor.model.network import A_NETWORK, Network, Variable
from quaestor.model.table import Table


def bank_from_network(network: Network, skills: Iterable[str | int], hidden: Iterable[str | int] = (), title: str = "") -> Bank:
    """The bank in a network, of which the variables `skills` are measured: every other variable becomes a question.

    The states of a skill are its levels, lowest first; those of a question its answer classes, worst first. `hidden`: variables that are
    neither, to be summed out. Raises NetworkError for a network that has not the shape of a bank, and BankError for names that a bank
    cannot have.
    """
    wanted = _names(network, skills)
    if not wanted:
        raise NetworkError(got(say("a bank has at least one skill"), say("none")))
    unseen = _names(network, hidden)
    for name in unseen:
        if name in wanted:
            raise NetworkError.at(name, got(say("a variable is a skill or hidden"), say("both")))
    left = _summed_out(network, unseen)
    for variable in left.values():
        _check_shape(variable, wanted, left)
    expect("title", title, str, "a text is expected")
    levels = {name: left[name].states for name in wanted}
    questions = [variable for variable in left.values() if variable.name not in wanted]
    document = {
        "quaestor": NEWEST,
        **({"title": title} if title else {}),
        "skills": {name: _skill(left[name], [levels[parent] for parent in left[name].parents]) for name in wanted},
        "questions": {
            variable.name: {
                "skills": list(variable.parents),
                "classes": list(variable.states),
                "table": table_rows(variable.table, [levels[parent] for parent in variable.parents]),
            }
            for variable in questions
        },
    }
    return Bank(document)


def _names(network: Network, variables: Iterable[str | int]) -> list[str]:
    expect("network", network, Network, A_NETWORK, NetworkError)
    if isinstance(variables, str) or not isinstance(variables, Iterable):
        raise NetworkError(got(say("a list of variables is expected"), format_kind(variables)))
    return list(dict.fromkeys(network.names[network.index(variable)] for variable in variables))


def _check_shape(variable: Variable, skills: Sequence[str], left: dict[str, Variable]) -> None:
    """Refuse a variable that is neither a skill below skills nor a leaf below skills."""
    others = [parent for parent in variable.parents if parent not in skills]
    hint = say("name it among the skills, or as hidden to sum it out")
    if variable.name in skills:
        if others:
            raise NetworkError.at(variable.name, got(say("the parents of a skill are skills"), listed(others), hint))
        return
    children = [child.name for child in left.values() if variable.name in child.parents]
    if children:
        rule = say("nothing depends on a question")
        raise NetworkError.at(variable.name, got(rule, say("the children {names}", names=listed(children)), hint))
    if not variable.parents:
        raise NetworkError.at(variable.name, got(say("a question has a skill or skills that it measures"), say("none"), hint))


def _skill(variable: Variable, levels: Sequence[Sequence[str]]) -> dict[str, object]:
    rows = table_rows(variable.table, levels)
    stated = {"parents": list(variable.parents), "table": rows} if variable.parents else {"prior": rows[""]}
    return {"levels": list(variable.states), **stated}


def _summed_out(network: Network, hidden: Sequence[str]) -> dict[str, Variable]:
    """The variables that are left, in their order, after these were summed out, children before parents."""
    left = {variable.name: variable for variable in network.variables}
    for index in reversed(network.order):
        name = network.names[index]
        if name not in hidden:
            continue
        children = [variable for variable in left.values() if name in variable.parents]
        if len(children) > 1:
            rule = say("a variable that is summed out has one child at most")
            raise NetworkError.at(name, got(rule, listed([child.name for child in children])))
        for child in children:
            left[child.name] = _merged(child, left[name])
        del left[name]
    return left


def _merged(child: Variable, hidden: Variable) -> Variable:
    """The child with the sum over the states of one of its parents."""
    if not (child.table.is_precise and hidden.table.is_precise):
        rule = say("a variable is summed out into {child} where both have exact numbers", child=child.name)
        raise NetworkError.at(hidden.name, got(rule, say("intervals"), say("take the centre of the network")))
    parents = tuple(dict.fromkeys([*(name for name in child.parents if name != hidden.name), *hidden.parents]))
    size_of = {**dict(zip(child.parents, child.table.shape, strict=False)), **dict(zip(hidden.parents, hidden.table.shape, strict=False))}
    rows = prod(max(size_of[name], 2) for name in parents)  # a parent of one state counts as well: numpy has room for 52 letters
    if rows > MOST_ROWS:
        rule = say("a table has at most {most:,} rows", most=MOST_ROWS)
        found = say("{count} parents after {name} is summed out", count=len(parents), name=hidden.name)
        raise NetworkError.at(child.name, got(rule, found))
    letters = dict(zip((*parents, hidden.name, child.name), ascii_letters, strict=False))
    axes = ["".join(letters[name] for name in names) for names in ((*hidden.parents, hidden.name), (*child.parents, child.name))]
    result = "".join(letters[name] for name in (*parents, child.name))
    both = np.einsum(f"{axes[0]},{axes[1]}->{result}", hidden.table.lower, child.table.lower)
    return Variable(child.name, child.states, parents, Table.precise(both))
