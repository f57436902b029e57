"""Serve tests in the browser: pages for takers and teachers, and the API.

The first start makes a data folder with the bundled banks and a demo test; it prints the owner's one-time sign-in link.
"""

import argparse
import errno
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from quaestor.cli.web import add_settings, database_of, settings_of
from quaestor.errors import QuaestorError

if TYPE_CHECKING:
    from quaestor.web.settings import Settings

STOP = 3  # seconds that open pages of the live view may delay a shutdown
TAKEN = 3.0  # seconds that a start waits for its port
HANGS = 60  # seconds without a heartbeat after which a worker is replaced; on a busy machine a healthy one may be slow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_settings(parser)
    parser.add_argument(
        "--demo",
        action="store_true",
        help="add a test with a class of 25 simulated takers, who work while the server runs, to see the pages with",
    )


def run(arguments: argparse.Namespace) -> int:
    """Prepare the database, print the addresses, and serve until stopped."""
    import uvicorn

    from quaestor.store.secrets import share_secret
    from quaestor.web.operations import demo, demo_class, logs
    from quaestor.web.operations.installation import begin
    from quaestor.web.security.connections import Connection
    from quaestor.web.security.openid import provider_of
    from quaestor.web.settings import to_environment

    settings = settings_of(arguments)
    provider_of(settings)  # what is wrong with it is said before anything begins
    settings = replace(settings, port=_free(settings.host, settings.port))
    with database_of(settings, make=True) as database:
        begun = begin(database, settings)
        example = demo.add(database) if arguments.demo else None
    where = settings.public_address
    print(f"Quaestor serves at {where}/  (stop with Ctrl-C)")
    if begun.demo:
        print(f"  Take the demo test:  {where}/c/{begun.demo}  (class code {begun.demo})")
    if begun.sign_in:
        print(f"  Sign in as owner:    {where}/sign-in/{begun.sign_in}  (works once; `quaestor sign-in` makes a new one)")
    else:
        print(f"  Teachers sign in at  {where}/sign-in")
    if example is not None:
        print(f"  Watch the class:     {where}/teacher/tests/{example}/live  (simulated; sign in first)")
    print("", flush=True)
    os.environ.update(to_environment(settings))
    share_secret()
    logs.set_up(settings.log)
    with demo_class.at_work(settings.database_url, example), _counted_together(settings):
        uvicorn.run(
            "quaestor.web.app:served",
            factory=True,
            host=settings.host,
            port=settings.port,
            workers=settings.workers,
            root_path=settings.root,
            proxy_headers=True,
            forwarded_allow_ips=settings.proxies,
            access_log=False,
            server_header=False,
            log_config=None,  # its lines go where ours go
            log_level="warning",
            http=Connection,
            loop="asyncio",  # uvloop accepts one connection a turn: under load most clients wait for one
            timeout_graceful_shutdown=STOP,
            timeout_worker_healthcheck=HANGS,
        )
    return 0


@contextmanager
def _counted_together(settings: "Settings") -> Iterator[None]:
    """A folder in which several workers keep their counts for /metrics, while they serve."""
    from quaestor.web.operations.counts_folder import clear_abandoned, counts_folder
    from quaestor.web.operations.metrics import FOLDER

    clear_abandoned()
    if settings.workers == 1 or not settings.metrics:
        yield
        return
    with counts_folder() as folder:
        os.environ[FOLDER] = folder
        yield


def _free(host: str, port: int) -> int:
    """The port, or a free one for 0; QuaestorError if it is taken, and stays so: the workers of a server that was killed leave soon."""
    end = time.monotonic() + TAKEN
    while True:
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            with socket.create_server((host, port), family=family) as server:
                found: int = server.getsockname()[1]
                return found
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < end:
                time.sleep(0.05)
                continue
            raise QuaestorError(f"port: free on {host}, got {port} ({error.strerror}); choose another one with --port") from error
