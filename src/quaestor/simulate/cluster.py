"""A cluster of machines: the way to a Dask scheduler that somebody else started."""

from collections.abc import Iterator
from contextlib import contextmanager
from socket import create_connection
from typing import Any

from quaestor.errors import QuaestorError

RETRIES = 5  # a part that a lost worker of a cluster did not finish is tried again


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the scheduler at this address."""
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


def _knock(address: str) -> None:
    """Raise OSError or ValueError unless somebody listens there: a client that cannot connect leaves threads behind."""
    from distributed.comm.addressing import get_address_host_port

    host, port = get_address_host_port(address)
    with create_connection((host, port), timeout=10):
        pass
