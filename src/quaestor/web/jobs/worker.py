"""A job being worked off, in a process of its own: `python -m quaestor.web.jobs.worker NUMBER WORKER PARENT`.

A pulse beside it says every now and then that somebody is at it, and how far. A job that takes too long ends with what it has, and one that
needs too much memory fails; if it does neither, it is killed (`jobs`).
"""

import contextlib
import logging
import os
import secrets
import sys
import time
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.i18n import said, say
from quaestor.parent import leave_with
from quaestor.report.trial import too_short
from quaestor.selection.rules_file import read_rules
from quaestor.simulate.shortfall import shortfall
from quaestor.simulate.trial import try_out
from quaestor.store import drafts, job_queue
from quaestor.store.database import Database, UnavailableError
from quaestor.store.models import BankVersion, Draft
from quaestor.store.outcomes import rescoring
from quaestor.store.publishing import MissingError, open_bank
from quaestor.web.jobs import learning
from quaestor.web.jobs.runner import LONGEST
from quaestor.web.operations.process_limits import limit_memory
from quaestor.web.settings import from_environment

NICENESS = 5
TRIED = 0.8  # how far a trial is when the test itself was tried
_log = logging.getLogger("quaestor.web")
GoOn = Callable[[float], bool]


class Pulse:
    """A thread that says that the worker is at it; `go_on` tells it how far, and is told whether to go on."""

    def __init__(self, database: Database, number: int, worker: str, longest: float = LONGEST) -> None:
        self._database, self._number, self._worker = database, number, worker
        self._share, self._end = 0.0, time.monotonic() + longest
        self._over, self._lost = Event(), Event()
        self._thread = Thread(target=self._run, name="pulse", daemon=True)

    def __enter__(self) -> "Pulse":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def go_on(self, share: float) -> bool:
        """Note how far it is; False when it is time to end, LostError when the job is no longer ours."""
        self._share = share
        if self._lost.is_set():
            raise job_queue.LostError(f"job {self._number}: claimed by {self._worker}, got another worker or none")
        return time.monotonic() < self._end

    def _run(self) -> None:
        while not self._over.wait(job_queue.BEAT):
            try:
                with self._database.work() as work:
                    job_queue.beat(work, self._number, self._worker, self._share)
            except UnavailableError:
                continue
            except job_queue.LostError:
                self._lost.set()
                return


def work_off(database: Database, number: int, worker: str, longest: float = LONGEST) -> None:
    """Do a job that was claimed, and write what came of it."""
    with database.read() as work:
        kind, asked = job_queue.asked_of(work, number, worker)
    found: Any = None
    words = ""
    with Pulse(database, number, worker, longest) as pulse:
        try:
            found = KINDS[kind](database, asked, pulse.go_on)
        except (job_queue.LostError, UnavailableError):
            raise
        except QuaestorError as error:
            words = said(error)
        except MemoryError:
            words = say("it needs more memory than a job may have; a smaller bank, fewer students or exact numbers take less")
        except Exception as error:
            noted = secrets.token_hex(4)
            _log.error("unforeseen error %s in job %d", noted, number, exc_info=error)
            words = say("something went wrong that we did not foresee; it was noted under the number {number}", number=noted)
    with database.work() as work:
        if words:
            job_queue.fail(work, number, worker, words)
        else:
            job_queue.finish(work, number, worker, found)


def trial(database: Database, asked: dict[str, Any], go_on: GoOn) -> dict[str, Any]:
    """Simulated students take a test by the rules that were asked for; then longer ones, where it is too short."""
    bank = bank_of_source(database, asked["source"])
    sets = [read_rules(one["rules"]) for one in asked["sets"]]
    found = try_out(bank, sets, asked["students"], asked["seed"], lambda share: go_on(TRIED * share))
    skills, seed = list(bank.skills), found["seed"]
    found["shortfalls"] = [
        [
            shortfall(bank, rules, skills[place], found["sets"][number]["levels"][place], seed, lambda: go_on(TRIED))
            for place in too_short(found, number)
        ]
        for number, rules in enumerate(sets)
    ]
    return found


def bank_of_source(database: Database, source: dict[str, int]) -> Bank:
    """The bank of an edition of a draft, or a kept one: both never change."""
    with database.read() as work:
        if "draft" in source:
            draft = work.get(Draft, source["draft"])
            if draft is None:
                raise MissingError(say("the bank was deleted meanwhile"))
            return Bank(drafts.document_of(drafts.edition(work, draft, source["edition"])))
        kept = work.get(BankVersion, source["bank"])
        if kept is None:
            raise MissingError(say("the bank was deleted meanwhile"))
        return open_bank(kept)


def score(database: Database, asked: dict[str, Any], go_on: GoOn) -> dict[str, int]:
    """What is left to be worked out of a test's attempts."""
    return rescoring.score_all(database, asked["test"], go_on)


KINDS: dict[str, Callable[[Database, dict[str, Any], GoOn], Any]] = {
    "trial": trial,
    learning.KIND: learning.improve,
    rescoring.KIND: score,
}
SHORT = (rescoring.KIND,)  # what takes seconds never waits for what takes minutes
LONG = tuple(kind for kind in KINDS if kind not in SHORT)


def main(number: int, worker: str, parent: int) -> int:
    """Do one job on the database of the environment; when the server is gone, whoever comes next takes the job up."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    if hasattr(os, "nice"):
        os.nice(NICENESS)
    leave_with(parent)
    settings = from_environment()
    limit_memory(settings.job_memory)
    database = Database(settings.database_url)
    with contextlib.suppress(job_queue.LostError):  # cancelled, or taken up by another: nothing is left to do
        work_off(database, number, worker)
    database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
