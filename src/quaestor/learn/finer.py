"""The same bank with one more level of every skill, to ask whether something is only due to too few levels.

A table over L levels is read at L + 1 equally spaced points between the lowest and the highest level, by linear interpolation; shares of
levels are then divided by their sum. Skills that are not linked to one another get all links, since without them nobody who is weak in one
can be weak in another: a skill's table is the same for all levels of its new parents. This is a start to learn from, and a prior of the
same weight.
"""

from dataclasses import replace

import numpy as np

from quaestor.learn.curves import curves_of
from quaestor.learn.expect import JOINT
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim, aim_of
from quaestor.learn.order import levels_order
from quaestor.model.table import Array


def finer(fit: Fit, own: Tables) -> tuple[Layout, Tables, Aim] | None:
    """Layout, tables and aim of a bank of one more level; `own`: the tables of the given bank.

    None where it would be too large (more than `JOINT` profiles, or orders of levels that are too many to list), or tables are held fixed.
    """
    layout = _layout(fit.layout)
    if layout.profiles > JOINT or fit.aim.fixed is not None or any(levels_order(group.sizes).sets is None for group in layout.groups):
        return None
    skills = []
    for skill, table in enumerate(own.skills):
        shaped = table.reshape(*(fit.layout.sizes[one] for one in fit.layout.family(skill)))
        shares = np.transpose(_read(shaped, shaped.ndim), (*np.argsort(fit.layout.parents[skill]), shaped.ndim - 1))
        family = sorted(layout.family(skill))
        sizes = [layout.sizes[one] for one in family]
        linked = np.broadcast_to(
            shares.reshape([size if one in fit.layout.family(skill) else 1 for one, size in zip(family, sizes, strict=True)]), sizes
        )
        skills.append((linked / linked.sum(axis=-1, keepdims=True)).reshape(-1, layout.sizes[skill]))
    groups = []
    for group, table in zip(fit.layout.groups, own.groups, strict=True):
        by_question = [_read(one.reshape(*group.sizes, group.classes), len(group.sizes)).reshape(-1, group.classes) for one in table]
        groups.append(np.stack(by_question))
    tables = Tables(tuple(skills), tuple(groups))
    aim = aim_of(layout, tables, fit.weight, fit.aim.monotone, any(fit.aim.ties), bool(fit.aim.curves))
    if aim.curves:
        pairs = zip(curves_of(layout, tables), fit.aim.curves, strict=True)
        aim = replace(aim, curves=tuple(replace(new, centre=old.centre, spread=old.spread) for new, old in pairs))
    return layout, tables, aim


def _layout(layout: Layout) -> Layout:
    states = tuple((*names, "") for names in layout.states)
    blocks, width = {}, 0
    for scope in layout.blocks:
        size = int(np.prod([len(states[skill]) for skill in scope]))
        blocks[scope] = slice(width, width + size)
        width += size
    groups = (replace(group, sizes=tuple(size + 1 for size in group.sizes), block=blocks[group.scope]) for group in layout.groups)
    apart = sum(not above for above in layout.parents) > 1
    parents = tuple(tuple(range(skill)) if apart else tuple(sorted(above)) for skill, above in enumerate(layout.parents))
    return replace(layout, states=states, parents=parents, groups=tuple(groups), blocks=blocks, width=width)


def _read(table: Array, axes: int) -> Array:
    """A table read at one more point of each of its first `axes`."""
    for axis in range(axes):
        size = table.shape[axis]
        places = np.linspace(0, size - 1, size + 1)
        low = np.minimum(places.astype(int), size - 2)
        part = (places - low).reshape(-1, *(1,) * (table.ndim - axis - 1))
        table = (1 - part) * table.take(low, axis) + part * table.take(low + 1, axis)
    return table
