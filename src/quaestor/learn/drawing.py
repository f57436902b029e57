"""People drawn from a learnt bank: levels from the skills' tables, and answers at these levels from the questions'."""

import numpy as np
from numpy.typing import NDArray

from quaestor.learn.layout import Layout, Tables


def drawn(layout: Layout, tables: Tables, people: int, rng: np.random.Generator) -> NDArray[np.int16]:
    """Class numbers of the answers of people to all questions, (people, questions)."""
    levels: list[NDArray[np.intp]] = []
    for parents, table in zip(layout.parents, tables.skills, strict=True):
        sizes = tuple(layout.sizes[parent] for parent in parents)
        row = np.ravel_multi_index(tuple(levels[parent] for parent in parents), sizes) if parents else np.zeros(people, dtype=np.intp)
        levels.append((rng.random((people, 1)) > np.cumsum(table, axis=1)[row, :-1]).sum(axis=1))
    found = np.empty((people, layout.questions), dtype=np.int16)
    for group, table in zip(layout.groups, tables.groups, strict=True):
        at = np.ravel_multi_index(tuple(levels[skill] for skill in group.scope), group.sizes)
        bounds = np.cumsum(table, axis=2)[..., :-1].transpose(1, 0, 2)  # (configurations, questions, classes - 1)
        chance = rng.random((people, len(group.positions)))
        found[:, group.positions] = sum((chance > bounds[at, :, one]).astype(np.int16) for one in range(group.classes - 1))
    return found
