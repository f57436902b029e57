"""What operators watch of a running server: counts, durations and sizes, in the form of Prometheus; `web.operations.metrics` shows them.

Each worker counts for itself. With one worker the counts are in its memory; with several, prometheus_client keeps those of each in files of
a folder (`PROMETHEUS_MULTIPROC_DIR`, made by `quaestor serve`), and whichever worker is asked adds them up. A count takes 1 to 5 µs.
Labels come from small sets that the code knows (routes, kinds of limits, kinds of caches): no names, codes or addresses.
"""

from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

REGISTRY = CollectorRegistry()
_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_SECONDS = (0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0)  # of a request
_STEP = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)  # of a step: above 0.03 it is slow (`store.attempts.pace`)

_requests = Counter("quaestor_requests", "Requests by route and class of status.", ["method", "route", "status"], registry=REGISTRY)
_durations = Histogram("quaestor_request_seconds", "Seconds a request took.", ["route"], buckets=_SECONDS, registry=REGISTRY)
UNFORESEEN = Counter("quaestor_unforeseen_errors", "Errors that nobody foresaw; each has a number in the log.", registry=REGISTRY)
ANSWERS = Counter("quaestor_answers", "Answers and skips that were written.", registry=REGISTRY)
STEPS = Histogram("quaestor_step_seconds", "Seconds of computing that a step of a test took.", buckets=_STEP, registry=REGISTRY)
REFUSALS = Counter("quaestor_refusals", "Requests refused after too many failures, by kind of limit.", ["limit"], registry=REGISTRY)
DATABASE_ERRORS = Counter("quaestor_database_errors", "Units of work that met a database that cannot be used.", registry=REGISTRY)
CACHE_READS = Counter("quaestor_cache_reads", "Looks into the cache, by kind of thing.", ["kind", "found"], registry=REGISTRY)
_live = {"multiprocess_mode": "livesum", "registry": REGISTRY}
CACHE_BYTES = Gauge("quaestor_cache_bytes", "Estimated bytes of what is cached, by kind of thing.", ["kind"], **_live)  # type: ignore[arg-type]
CACHE_ENTRIES = Gauge("quaestor_cache_entries", "Things that are cached, by kind.", ["kind"], **_live)  # type: ignore[arg-type]
WORKERS = Gauge("quaestor_workers", "Processes that serve.", **_live)  # type: ignore[arg-type]
MEMORY = Gauge("quaestor_memory_bytes", "Resident memory of the processes that serve.", **_live)  # type: ignore[arg-type]


def request(method: str, route: str, status: int, seconds: float) -> None:
    """Count a request; `route`: the template of its path."""
    _requests.labels(method if method in _METHODS else "other", route, f"{status // 100}xx").inc()
    _durations.labels(route).observe(seconds)


def resident() -> int:
    """The resident memory of this process in bytes; 0 where the system does not tell."""
    try:
        return 1024 * int(Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()[0])
    except (OSError, IndexError):
        return 0
