"""Plausible tables: draws from the posterior distribution of all tables together, given the answers.

Data augmentation (Tanner and Wong 1987): everybody gets a profile of levels at random, by its probability given the answers and the tables;
then the tables are drawn given the profiles, each row from the Dirichlet distribution of its counts and prior counts. Where a bank has
constraints (monotone, tied), the drawn rows are replaced by the nearest rows that obey them, as in the M-step, each row with its number of
answers as weight (a projected posterior: Lin and Dunson 2014). Curves are drawn from the normal approximation at their best numbers. In
turn these two steps reach tables in proportion to how well they explain the answers. A step costs as much as a step of EM.

Besides what the bank states, an answer has the prior count of Jeffreys' prior, 1/2: with 1 rows of few answers would be drawn towards equal
numbers, and predictions from an answer towards those without. A level has 1, the uniform prior: with less levels empty themselves (Rousseau
and Mengersen 2011), and the shares of people at the levels would hold less often than they say.

The draws vary together: where the data leave open which of two numbers is large, no draw has both large. So they are a joint region of the
tables, which intervals of single rows are not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.curves import drawn_curves
from quaestor.learn.expect import JOINT, chosen_answers, members, prior, scores_of
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim, maximise
from quaestor.learn.people import People
from quaestor.learn.resampled import RESAMPLED, resampled
from quaestor.learn.work import Step
from quaestor.model.table import Array

DRAWS = 200
BURN = 50  # of what is kept
APART = 3  # steps from one draw to the next, of few people: draws next to each other are much alike
CELLS = 10**8  # people times profiles in all steps, beyond which draws are less far apart
JEFFREYS, UNIFORM = 0.5, 1.0  # further prior counts of an answer, and of a level
CACHED = 2**18  # patterns times profiles in one batch: as much as stays in a core's cache
_TINY = 1e-300  # smaller probabilities count as this one in logarithms


def plausible(
    layout: Layout,
    tables: Tables,
    aim: Aim,
    people: People,
    step: Step,
    rng: np.random.Generator,
    progress: Callable[[int], None] | None = None,
) -> tuple[Tables, ...]:
    """`DRAWS` tables drawn one after another, beginning at the learnt `tables`; the first `BURN` are left out, and so are those between.

    Where the profiles are too many to draw one for everybody, tables learnt from people drawn with replacement.
    """
    if layout.profiles > JOINT:
        return resampled(layout, tables, aim, people, step, rng, RESAMPLED, progress)
    patterns = np.sort(people.pattern_of)
    size = max(CACHED // int(layout.profiles), 16)
    starts = range(0, len(people.patterns), size)
    parts = [chosen_answers(layout, people.patterns.part(start, start + size)) for start in starts]
    owners = [patterns[slice(*np.searchsorted(patterns, [start, start + size]))] - start for start in starts]
    configurations = _configurations(layout)
    apart = int(np.clip(CELLS // (len(people) * layout.profiles * (BURN + DRAWS)), 1, APART))
    found = []
    for number in range((BURN + DRAWS) * apart):
        log_prior = np.log(np.maximum(prior(layout, tables), _TINY))
        drawn = [_counts(layout, tables, log_prior, part, own, configurations, rng) for part, own in zip(parts, owners, strict=True)]
        counts = [sum(arrays) for arrays in zip(*drawn, strict=True)]
        tables = _tables(layout, aim, Tables(tuple(counts[: len(layout.names)]), tuple(counts[len(layout.names) :])), tables, rng)
        if number >= BURN * apart and number % apart == 0:
            found.append(tables)
        if progress is not None:
            progress(number + 1)
    return tuple(found)


def _configurations(layout: Layout) -> NDArray[np.intp]:
    """The position of each profile's configuration of each scope among all configurations, (scopes, profiles)."""
    member = members(layout)
    return np.stack([block.start + member[block].argmax(axis=0) for block in layout.blocks.values()])


def _counts(
    layout: Layout,
    tables: Tables,
    log_prior: Array,
    answers: list[Any],
    owners: NDArray[np.intp],
    configurations: NDArray[np.intp],
    rng: np.random.Generator,
) -> list[Array]:
    """Everybody's profile drawn once: the counts of the skills' tables and of the groups'.

    `answers`: of each group as indicators, (patterns, questions * classes); `owners`: everybody's pattern, (people,).
    """
    joint = scores_of(layout, tables, answers) @ members(layout) + log_prior
    joint -= joint.max(axis=1, keepdims=True)
    np.exp(joint, out=joint)
    halves = joint.reshape(len(joint), -1, int(np.prod(layout.sizes[len(layout.sizes) // 2 :])))
    first = _chosen(halves.sum(axis=2), owners, rng)  # the levels of the first skills, and then those of the others: two short sums
    profile = first * halves.shape[2] + _chosen(halves[owners, first], np.arange(len(owners)), rng)
    states = np.unravel_index(profile, layout.sizes)
    found: list[Array] = []
    for skill in range(len(layout.names)):
        sizes = tuple(layout.sizes[one] for one in layout.family(skill))
        index = np.ravel_multi_index(tuple(states[one] for one in layout.family(skill)), sizes)
        found.append(np.bincount(index, minlength=int(np.prod(sizes))).reshape(-1, sizes[-1]).astype(float))
    cells = (owners * layout.width + configurations[:, profile]).reshape(-1)
    placed = np.bincount(cells, minlength=len(joint) * layout.width).reshape(len(joint), layout.width).astype(float)
    for group, one in zip(layout.groups, answers, strict=True):
        counts = np.asarray(one.T @ placed[:, group.block])
        found.append(counts.reshape(len(group.positions), group.classes, -1).transpose(0, 2, 1))
    return found


def _chosen(weights: Array, owners: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    """One column for everybody, (people,), by the weights in the row of the owner; `weights`: (rows, columns)."""
    sums = np.cumsum(weights, axis=1)
    sums /= sums[:, -1:]
    sums += np.arange(len(sums))[:, None]
    drawn = np.searchsorted(sums.reshape(-1), owners + rng.random(len(owners)), side="right")
    result: NDArray[np.intp] = np.clip(drawn - owners * weights.shape[1], 0, weights.shape[1] - 1)
    return result


def _tables(layout: Layout, aim: Aim, counts: Tables, now: Tables, rng: np.random.Generator) -> Tables:
    """Tables drawn given the counts, and made to obey the constraints."""
    skills = tuple(_rows(count + own + UNIFORM, rng) for count, own in zip(counts.skills, aim.prior.skills, strict=True))
    if aim.curves:
        parts = zip(counts.groups, now.groups, aim.curves, strict=True)
        return aim.kept(Tables(skills, tuple(drawn_curves(count, table, own, aim.monotone, rng) for count, table, own in parts)), now)
    groups = [count + own + JEFFREYS for count, own in zip(counts.groups, aim.prior.groups, strict=True)]
    weighted = tuple(_rows(one, rng) * one.sum(axis=-1, keepdims=True) for one in groups)
    nothing = Tables(tuple(np.zeros_like(one) for one in skills), tuple(np.zeros_like(one) for one in groups))
    return maximise(layout, Tables(skills, weighted), now, Aim(nothing, aim.monotone, aim.ties, (), aim.fixed))


def _rows(shape: Array, rng: np.random.Generator) -> Array:
    drawn = rng.standard_gamma(shape)
    result: Array = drawn / drawn.sum(axis=-1, keepdims=True)
    return result
