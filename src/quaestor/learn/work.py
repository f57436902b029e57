"""The E-step in parallel: on threads of this machine, or on a Dask cluster whose workers keep the answers between steps.

The people are always divided into the same batches and the sums added in the same order, so results do not depend on the number of workers.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import reduce
from operator import add
from typing import Any

from quaestor.errors import QuaestorError
from quaestor.learn.expect import Expected, batch, expect
from quaestor.learn.layout import Layout, Tables
from quaestor.learn.options import is_count
from quaestor.learn.people import Patterns
from quaestor.model.table import Array
from quaestor.simulate.cluster import RETRIES, connected

Step = Callable[[Tables, Array], Expected]  # an E-step: from tables and the weights of all patterns to expected counts


@contextmanager
def steps(layout: Layout, patterns: Patterns, workers: int = 1, cluster: Any = None) -> Iterator[Step]:
    """A function that computes one E-step over all patterns."""
    if not is_count(workers, 1):
        raise QuaestorError(f"learn: at least 1 worker, got {workers!r}")
    size = batch(layout)
    starts = range(0, len(patterns), size)
    parts = [patterns.part(start, start + size) for start in starts]
    if cluster is not None:
        with connected(cluster) as client:
            yield _on_cluster(client, layout, parts, size)
    elif workers == 1 or len(parts) == 1:
        yield lambda tables, weights: _sum(
            [expect(layout, tables, part, weights[start : start + size]) for start, part in zip(starts, parts, strict=True)]
        )
    else:
        with ThreadPoolExecutor(workers) as pool:

            def step(tables: Tables, weights: Array) -> Expected:
                def one(number: int) -> Expected:
                    return expect(layout, tables, parts[number], weights[number * size : (number + 1) * size])

                return _sum(list(pool.map(one, range(len(parts)))))

            yield step


def _sum(parts: list[Expected]) -> Expected:
    return reduce(add, parts)


def _on_cluster(client: Any, layout: Layout, parts: list[Patterns], size: int) -> Step:
    """Each batch of patterns is held by a worker as the result of a task, so that Dask recomputes it if the worker is lost."""
    shared = client.scatter(layout, broadcast=True)
    held = [client.submit(_hold, part, retries=RETRIES, pure=False) for part in parts]

    def step(tables: Tables, weights: Array) -> Expected:
        futures = [
            client.submit(_part, shared, tables, part, weights[number * size : (number + 1) * size], retries=RETRIES, pure=False)
            for number, part in enumerate(held)
        ]
        return _sum(client.gather(futures))

    return step


def _hold(part: Patterns) -> Patterns:
    return part


def _part(layout: Layout, tables: Tables, part: Patterns, weights: Array) -> Expected:
    return expect(layout, tables, part, weights)
