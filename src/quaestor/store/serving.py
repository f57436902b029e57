"""What a server must not do where others wait: it is asked for by an error, done elsewhere, and what came of it is there at the next try.

`web.jobs.execution.patiently` catches the error, `web.jobs.slow_steps` has it done by a process with limits. Programs that serve
nobody else (the command line, jobs) do everything at once.
"""

from contextvars import ContextVar
from typing import Any

BANK = "reading"  # of a large bank; the other kinds are those of `session.limited`
is_serving: ContextVar[bool] = ContextVar("is_serving", default=False)  # whether this is done for one of many who wait


class SlowError(Exception):
    """Something that may take long is needed where others wait: `kind` of thing, for a bank (its version), and what is `asked`.

    `key`: equal for equal things.
    """

    def __init__(self, kind: str, bank: str, asked: Any, key: str) -> None:
        super().__init__(f"a {kind} of bank {bank} may take long")
        self.kind, self.bank, self.asked, self.key = kind, bank, asked, key
