"""The page `/metrics`, for Prometheus and its kin: there only when a token was set, and only for those who send it.

Why a token and not the caller's address: behind a reverse proxy on the same machine everybody's address may be 127.0.0.1.
"""

import asyncio
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from hmac import compare_digest
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from quaestor import __version__
from quaestor.store import counters, job_queue, memory
from quaestor.store.database import Database, UnavailableError
from quaestor.web.settings import Settings

EVERY = 10  # seconds
FOLDER = "PROMETHEUS_MULTIPROC_DIR"  # the variable by which prometheus_client knows where several processes keep their counts


def add(app: FastAPI, settings: Settings, database: Database) -> None:
    """Add the page, where the settings name a token."""
    if not settings.metrics:
        return
    expected = f"Bearer {settings.metrics}".encode()

    @app.get("/metrics", include_in_schema=False)
    def metrics(request: Request) -> Response:
        if not compare_digest(request.headers.get("authorization", "").encode(), expected):
            return Response("a bearer token is needed\n", 401, {"www-authenticate": "Bearer"}, "text/plain")
        return Response(written(settings, database), media_type=CONTENT_TYPE_LATEST)


def written(settings: Settings, database: Database) -> bytes:
    """All figures in Prometheus' text format, those of other workers too."""
    take_stock()
    now = CollectorRegistry()
    now.register(_Now(settings, database))
    return generate_latest(_counted()) + generate_latest(now)


def uncounted(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that does not serve: it would leave files of its own in the folder of the counts."""
    return {name: value for name, value in environment.items() if name != FOLDER}


def take_stock() -> None:
    """Note how large this worker and its caches are."""
    counters.WORKERS.set(1)
    counters.MEMORY.set(counters.resident())
    for kind, (entries, weight) in memory.cached.stock().items():
        counters.CACHE_ENTRIES.labels(kind).set(entries)
        counters.CACHE_BYTES.labels(kind).set(weight)


async def keep_stock() -> None:
    """Take stock every few seconds, for the worker that is asked may be another one."""
    while True:
        take_stock()
        await asyncio.sleep(EVERY)


def _counted() -> CollectorRegistry:
    """What was counted: by this process, or by all where they keep it in a folder; sizes count for workers that live."""
    folder = os.environ.get(FOLDER)
    if folder is None:
        return counters.REGISTRY
    for process in {int(path.stem.rpartition("_")[2]) for path in Path(folder).glob("gauge_live*.db")}:
        if not _lives(process):
            mark_process_dead(process, folder)  # type: ignore[no-untyped-call]
    together = CollectorRegistry()
    MultiProcessCollector(together, folder)  # type: ignore[no-untyped-call]
    return together


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class _Now:
    """What is looked up when it is asked for, the same from every worker."""

    def __init__(self, settings: Settings, database: Database) -> None:
        self._settings, self._database = settings, database

    def collect(self) -> Iterator[Metric]:
        """The figures of this moment."""
        yield _gauge("quaestor_info", "The version that serves.", [((__version__,), 1)], "version")
        if not self._settings.database:
            disk = shutil.disk_usage(self._settings.data)
            yield _gauge("quaestor_disk_free_bytes", "Space left where the data folder is.", [((), disk.free)])
            yield _gauge("quaestor_disk_bytes", "Size of the disk where the data folder is.", [((), disk.total)])
        try:
            with self._database.read() as work:
                counts = job_queue.counts(work)
        except UnavailableError:
            counts = None
        yield _gauge("quaestor_database_up", "1 if the database answers.", [((), counts is not None)])
        if counts is not None:
            yield _gauge("quaestor_jobs", "Background jobs by state.", [((state,), count) for state, count in counts.items()], "state")


def _gauge(name: str, words: str, values: Iterable[tuple[tuple[str, ...], float]], *labels: str) -> GaugeMetricFamily:
    made = GaugeMetricFamily(name, words, labels=labels)
    for label, value in values:
        made.add_metric(label, value)
    return made
