"""A process that works out what may take long: `python -m quaestor.web.jobs.slow_process MEGABYTES PARENT`.

Its input tells it what (`slow_steps`).
"""

import os
import pickle
import signal
import sys
from collections import OrderedDict
from contextlib import suppress
from typing import Any

from quaestor.bankfile.bank import Bank, put_together, take_apart
from quaestor.errors import QuaestorError
from quaestor.formats.files import load_bytes
from quaestor.i18n import packed, said
from quaestor.parent import leave_with
from quaestor.session.limited import KINDS
from quaestor.session.session import Session
from quaestor.store.serving import BANK
from quaestor.store.sizes import size_of
from quaestor.web.operations.process_limits import limit_memory

BANKS = 8  # that a process remembers
NICENESS = 5


def main(megabytes: int, parent: int) -> int:
    """Do what is asked for, until the other end is gone."""
    leave_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which closes the input
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    limit_memory(megabytes)
    asking, telling = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    banks: OrderedDict[str, Bank] = OrderedDict()
    with suppress(EOFError, OSError):
        while True:
            kind, asked, seconds = pickle.load(asking)
            value, error = None, ""
            try:
                value = _read(asked) if kind == BANK else KINDS[kind](_session(banks, *asked), seconds)
            except QuaestorError as refused:
                error = packed(said(refused))
            pickle.dump((value, error), telling)
            telling.flush()
    return 0


def _read(content: str) -> tuple[bytes, int]:
    """A bank taken apart and pickled, with what takes long to work out of it, and the bytes of memory that it takes."""
    bank = load_bytes(content.encode(), ".yaml")
    _ = bank.version, bank.model_version
    return pickle.dumps(take_apart(bank)), size_of(bank)


def _session(banks: OrderedDict[str, Bank], version: str, content: bytes | None, *rest: Any) -> Session:
    """A session of a bank that is known or told."""
    if content is not None:
        banks[version] = put_together(pickle.loads(content))
    banks.move_to_end(version)
    while len(banks) > BANKS:
        banks.popitem(last=False)
    return Session(banks[version], *rest)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
