"""The E-step: the expected counts of each row of each table, given the answers and the current tables.

The log-likelihoods of answers to questions of one scope are first summed for each configuration (combination of levels) of that scope.
Where the profiles of all skills are few, these sums are then combined in one joint table over the profiles (two matrix products); otherwise
they are the evidence of a junction tree.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from quaestor.errors import QuaestorError
from quaestor.inference.junction import JunctionTree
from quaestor.inference.model import Scope
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.people import Patterns
from quaestor.model.table import Array

JOINT = 2**14  # the largest number of profiles for which the joint table is used
CELLS = 2**20  # people times profiles in one batch
CLIQUE = 2**16  # the largest number of states of one clique of the junction tree
_TINY = 1e-300  # the probability of an answer that the tables call impossible: its logarithm is finite


@dataclass(frozen=True)
class Expected:
    """Sums over people: log-likelihood, expected `counts` in the shape of the tables, and expected numbers of people by profile.

    `profiles`: (profiles,); None where there is no joint table.
    """

    log_likelihood: float
    counts: Tables
    profiles: Array | None

    def __add__(self, other: "Expected") -> "Expected":
        counts = Tables(
            tuple(one + two for one, two in zip(self.counts.skills, other.counts.skills, strict=True)),
            tuple(one + two for one, two in zip(self.counts.groups, other.counts.groups, strict=True)),
        )
        profiles = None if self.profiles is None or other.profiles is None else self.profiles + other.profiles
        return Expected(self.log_likelihood + other.log_likelihood, counts, profiles)


def batch(layout: Layout) -> int:
    """The number of people in one batch. It depends on the bank alone, so that sums are the same however the batches are distributed."""
    size = layout.profiles if layout.profiles <= JOINT else max(largest_clique(layout), layout.width)
    return int(np.clip(CELLS // size, 16, 16_384))


def expect(layout: Layout, tables: Tables, patterns: Patterns, weights: Array) -> Expected:
    """The expected counts of some answer patterns, weighted by `weights`, (patterns,)."""
    chosen = chosen_answers(layout, patterns)
    scores = scores_of(layout, tables, chosen)
    if layout.profiles <= JOINT:
        log_likelihoods, configurations, profiles = _joint(layout, tables, scores, weights)
        families = [_summed(profiles, layout.sizes, layout.family(skill)) for skill in range(len(layout.names))]
        found: Array | None = profiles
    else:
        log_likelihoods, configurations, families = _junction(layout, tables, scores, weights)
        found = None
    groups = []
    for group, answers in zip(layout.groups, chosen, strict=True):
        counts = np.asarray(answers.T @ configurations[:, group.block])
        groups.append(counts.reshape(len(group.positions), group.classes, -1).transpose(0, 2, 1))
    skills = tuple(family.reshape(-1, size) for family, size in zip(families, layout.sizes, strict=True))
    return Expected(float(weights @ log_likelihoods), Tables(skills, tuple(groups)), found)


def beliefs(layout: Layout, tables: Tables, patterns: Patterns) -> tuple[Array, Array]:
    """log P(answers) of each pattern, (patterns,), and P(configuration | answers) for every scope, (patterns, width)."""
    scores = scores_of(layout, tables, chosen_answers(layout, patterns))
    ones = np.ones(len(patterns))
    found = _joint(layout, tables, scores, ones) if layout.profiles <= JOINT else _junction(layout, tables, scores, ones)
    return found[0], found[1]


def log_likelihoods(layout: Layout, tables: Tables, patterns: Patterns) -> Array:
    """log P(answers) of each pattern, (patterns,)."""
    step = batch(layout)
    parts = [beliefs(layout, tables, patterns.part(start, start + step))[0] for start in range(0, len(patterns), step)]
    return np.concatenate(parts) if parts else np.zeros(0)


def indicator(answers: "Array | scipy.sparse.csr_array", classes: int) -> "Array | scipy.sparse.csr_array":
    """The answers as indicators, (patterns, questions * classes), from class numbers (patterns, questions) or sparse indicators."""
    if scipy.sparse.issparse(answers):
        return answers
    return (answers[:, :, None] == np.arange(classes)).reshape(len(answers), -1).astype(float)


def profile_beliefs(layout: Layout, tables: Tables, patterns: Patterns) -> Array:
    """P(profile | answers), (patterns, profiles); for layouts with at most `JOINT` profiles."""
    with np.errstate(divide="ignore"):
        joint = scores_of(layout, tables, chosen_answers(layout, patterns)) @ members(layout) + np.log(prior(layout, tables))
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(joint / joint.sum(axis=1, keepdims=True))


def chosen_answers(layout: Layout, patterns: Patterns) -> list["Array | scipy.sparse.csr_array"]:
    """The answers of every group as indicators, (patterns, questions * classes) each."""
    return [indicator(answers, group.classes) for group, answers in zip(layout.groups, patterns.answers, strict=True)]


def scores_of(layout: Layout, tables: Tables, chosen: list["Array | scipy.sparse.csr_array"]) -> Array:
    """log P(answers to a scope's questions | configuration), for the configurations of every scope, (patterns, width)."""
    scores = np.zeros((chosen[0].shape[0], layout.width))
    for group, table, answers in zip(layout.groups, tables.groups, chosen, strict=True):
        logs = np.log(np.maximum(table, _TINY)).transpose(0, 2, 1).reshape(-1, group.configurations)
        scores[:, group.block] += answers @ logs
    return scores


def _joint(layout: Layout, tables: Tables, scores: Array, weights: Array) -> tuple[Array, Array, Array]:
    """With a joint table: log P(answers), (patterns,); weighted P(configuration | answers), (patterns, width); weighted sums of
    P(profile | answers), (profiles,).
    """
    member = members(layout)
    with np.errstate(divide="ignore"):
        joint = scores @ member + np.log(prior(layout, tables))
    top = joint.max(axis=1, keepdims=True)
    np.subtract(joint, top, out=joint)
    np.exp(joint, out=joint)
    total = joint.sum(axis=1)
    joint *= (weights / total)[:, None]
    return np.log(total) + top[:, 0], joint @ member.T, joint.sum(axis=0)


def members(layout: Layout) -> Array:
    """Indicators of the configuration that each profile has in each scope, (width, profiles)."""
    states = np.stack(np.unravel_index(np.arange(int(layout.profiles)), layout.sizes))
    found = np.zeros((layout.width, states.shape[1]))
    for scope, block in layout.blocks.items():
        index = np.ravel_multi_index(tuple(states[skill] for skill in scope), tuple(layout.sizes[skill] for skill in scope))
        found[block.start + index, np.arange(len(index))] = 1
    return found


def prior(layout: Layout, tables: Tables) -> Array:
    """P(profile) before any answer, (profiles,)."""
    states = np.unravel_index(np.arange(int(layout.profiles)), layout.sizes)
    found = np.ones(int(layout.profiles))
    for skill, table in enumerate(tables.skills):
        shaped = table.reshape(*(layout.sizes[parent] for parent in layout.parents[skill]), -1)
        found *= shaped[tuple(states[other] for other in layout.family(skill))]
    return found


def _summed(profiles: Array, sizes: tuple[int, ...], scope: Scope) -> Array:
    """The marginal of a table over all skills, (profiles,), on a scope; its axes are in the scope's order."""
    shaped = profiles.reshape(sizes).sum(axis=tuple(skill for skill in range(len(sizes)) if skill not in scope))
    kept = sorted(scope)
    return np.transpose(shaped, [kept.index(skill) for skill in scope])


def _junction(layout: Layout, tables: Tables, scores: Array, weights: Array) -> tuple[Array, Array, list[Array]]:
    """With a junction tree: log P(answers), (patterns,); weighted P(configuration | answers), (patterns, width); for each skill weighted
    sums of P(family | answers), (parents' levels, levels).
    """
    tree = JunctionTree(layout.model(tables), layout.blocks)
    evidence = {scope: scores[:, block].reshape(-1, *(layout.sizes[skill] for skill in scope)) for scope, block in layout.blocks.items()}
    found = np.broadcast_to(tree.log_probability(evidence), (len(scores),))
    calibrated = [np.broadcast_to(table, (len(scores), *table.shape[1:])) for table in tree.calibrate(evidence)]
    configurations = np.empty_like(scores)
    for scope, block in layout.blocks.items():
        configurations[:, block] = tree.marginal(calibrated, scope).reshape(len(scores), -1) * weights[:, None]
    families = [np.tensordot(weights, tree.marginal(calibrated, layout.family(skill)), 1) for skill in range(len(layout.names))]
    return found, configurations, families


def check_size(layout: Layout) -> None:
    """Refuse banks whose junction tree would have too large a clique."""
    if layout.profiles <= JOINT:
        return
    more = "fewer skills in one question or fewer parents of one skill make it smaller"
    try:
        largest = largest_clique(layout)
    except QuaestorError as error:
        raise QuaestorError(f"learn: {error}; {more}") from error
    if largest > CLIQUE:
        rule = f"skills that depend on one another have at most {CLIQUE} combinations of levels between them"
        raise QuaestorError(f"learn: {rule}, got {largest}; {more}")


def largest_clique(layout: Layout) -> int:
    """The number of states of the largest clique of the junction tree."""
    uniform = []
    for above, size in zip(layout.parents, layout.sizes, strict=True):
        rows = int(np.prod([layout.sizes[parent] for parent in above]))
        uniform.append(np.full((rows, size), 1 / size))
    return JunctionTree(layout.model(Tables(tuple(uniform), ())), layout.blocks).largest
