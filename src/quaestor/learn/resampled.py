"""The bootstrap: tables learnt again from people drawn with replacement."""

from collections.abc import Callable

import numpy as np

from quaestor.learn.em import run
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.maximise import Aim
from quaestor.learn.people import People
from quaestor.learn.work import Step

RESAMPLED = 100
_TOLERANCE = 1e-2  # of the EM runs, which start at the fit


def resampled(
    layout: Layout,
    tables: Tables,
    aim: Aim,
    people: People,
    step: Step,
    rng: np.random.Generator,
    samples: int,
    progress: Callable[[int], None] | None = None,
) -> tuple[Tables, ...]:
    """Tables learnt from `samples` resamples of the people, each beginning at the learnt `tables`."""
    found = []
    for number, child in enumerate(rng.spawn(samples)):
        weights = people.weights(child.integers(len(people), size=len(people)))
        found.append(run(layout, tables, aim, step, weights, _TOLERANCE, 200).tables)
        if progress is not None:
            progress(number + 1)
    return tuple(found)
