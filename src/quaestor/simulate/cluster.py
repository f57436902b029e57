"""A cluster of machines: the way to a Dask scheduler that somebody else started, by its address, a client or a cluster of Dask."""

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socket import create_connection
from typing import Any

from quaestor.errors import QuaestorError, format_value
from quaestor.lazy import lazy

RETRIES = 5  # a part that a lost worker of a cluster did not finish is tried again


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """A client of the scheduler at this address, of this cluster, or this client itself, which stays open."""
    address = cluster if isinstance(cluster, str) else getattr(cluster, "scheduler_address", None)
    if hasattr(cluster, "scatter") and hasattr(cluster, "submit"):
        if cluster.asynchronous or cluster.status != "running":
            raise QuaestorError(f"cluster: a client of Dask that is connected and waits for results, got {format_value(cluster)}")
        yield cluster
        return
    if not isinstance(address, str):
        raise QuaestorError(f"cluster: the address of a Dask scheduler, a client or a cluster of Dask, got {format_value(cluster)}")
    try:
        from distributed import Client
    except ImportError as error:
        raise QuaestorError("a cluster needs the extra `cluster`: pip install 'quaestor[cluster]'") from error
    try:
        _knock(address)
        client: Any = Client(address, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise QuaestorError(f"cluster: a Dask scheduler that answers, got {address} ({error})") from error
    with client:
        yield client


@dataclass(frozen=True, eq=False)
class Sent:
    """Something on its way to a machine, which reads it when it is first asked for: what it cannot import there is an error of ours."""

    data: bytes

    @staticmethod
    def of(job: Any) -> "Sent":
        """Functions of a script or notebook travel with it; those of modules are imported where it arrives."""
        import cloudpickle  # type: ignore[import-untyped]  # Dask brings it

        return Sent(cloudpickle.dumps(job))

    @lazy
    def job(self) -> Any:
        """What was sent."""
        try:
            return pickle.loads(self.data)
        except (ImportError, AttributeError) as error:
            rule = "cluster: every machine can import the modules of what is registered (client.upload_file sends one)"
            raise QuaestorError(f"{rule}, got {error}") from error


def _knock(address: str) -> None:
    """Raise OSError or ValueError unless somebody listens there: a client that cannot connect leaves threads behind."""
    from distributed.comm.addressing import get_address_host_port

    host, port = get_address_host_port(address)
    with create_connection((host, port), timeout=10):
        pass
