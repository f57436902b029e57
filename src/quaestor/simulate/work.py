"""A simulation cut into parts: worked out one after another, by several processes, or on a cluster; always the same parts, in order."""

import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.inference.engines.odds import applies as two_levels
from quaestor.inference.joint import LARGEST
from quaestor.inference.layout import Numbers, layout_of
from quaestor.parent import leave_with_parent
from quaestor.selection.rules import Rules
from quaestor.simulate import plain
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cluster import RETRIES, connected
from quaestor.simulate.cohort import Cohort, Students
from quaestor.simulate.files import Folder, to_bytes
from quaestor.simulate.library import CPU, library_of
from quaestor.simulate.plain import is_plain
from quaestor.simulate.run import Record, take
from quaestor.simulate.simulation import KEEP, Part, summarised

PART = 256  # students worked out together, at least; in simulations that take long, so that all processes have enough to do
_NUMBERS, _MOST = 16_000_000, 131_072  # students together x questions, and students, at most: they take some hundred megabytes
_ON_CARD = 1_000_000_000
_AHEAD = 4  # parts that a worker may work out while this process is at one


@dataclass(frozen=True)
class Job:
    """One simulation, in parts of `size` students. `keep`: numbers of students, or sums; `is_filed`: parts also as files."""

    bank: Bank
    rules: Rules
    cohort: Cohort
    behaviour: Behaviour
    held: Numbers | None = None
    is_filed: bool = False
    device: str = CPU
    size: int = PART
    keep: str = KEEP[0]

    def __len__(self) -> int:
        return -(-len(self.cohort) // self.size)

    def part(self, number: int) -> tuple[Part, bytes]:
        """Work out one part."""
        students = self.cohort.part(number * self.size, (number + 1) * self.size)
        record = taken(self.bank, self.rules, students, self.behaviour, self.held, self.device)
        if self.is_filed:
            record = record.unmerged
            return summarised(record, self.keep), to_bytes(record, self.bank)
        return summarised(record, self.keep), b""


def taken(bank: Bank, rules: Rules, students: Students, behaviour: Behaviour, held: Numbers | None = None, device: str = CPU) -> Record:
    """Let students take the test, all together where it is plain."""
    if students.asking is not None and is_plain(bank, rules, behaviour, device):
        return plain.take(bank, rules, students, behaviour, library_of(device))
    return take(bank, rules, students, behaviour, held)


def part_size(bank: Bank, rules: Rules, cohort: Cohort, behaviour: Behaviour, device: str) -> int:
    """How many students are worked out together: many where that is quick, since those who answer the same are worked out once."""
    model = layout_of(bank).model
    is_quick = bank.is_precise or (two_levels(model) and all(len(scope) == 1 for scope in model.scopes))
    if not is_quick or cohort.is_apart:
        return PART
    if device != CPU and is_plain(bank, rules, behaviour, device):
        return max(PART, _ON_CARD // len(bank.questions))
    numbers = len(bank.questions) if model.joint_size > LARGEST else max(len(bank.questions), int(model.joint_size))
    most = min(_MOST, max(PART, _NUMBERS // numbers))
    count = -(-len(cohort) // most)
    return -(-len(cohort) // (count + count % 2)) if count > 1 else most  # as many parts for each of two processes


def parts_of(job: Job, workers: int, cluster: str | None, folder: Folder | None, progress: Callable[[int], None] | None) -> Iterator[Part]:
    """All parts in order; those that a folder has are read, the others worked out and kept there."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise QuaestorError(f"a simulation has at least 1 worker, got {workers!r}")
    missing = [number for number in range(len(job)) if folder is None or not folder.has(number)]
    found = _worked_out(job, missing, workers, cluster)
    for number in range(len(job)):
        if folder is not None and folder.has(number):
            part = summarised(folder.read(number, job.bank), job.keep)
        else:
            part, data = next(found)
            if folder is not None:
                folder.write(number, data)
        if progress is not None:
            progress(part.count)
        yield part


def _worked_out(job: Job, numbers: list[int], workers: int, cluster: str | None) -> Iterator[tuple[Part, bytes]]:
    if cluster is not None:
        yield from _on_cluster(job, numbers, cluster)
    elif workers == 1 or len(numbers) < 2:
        yield from map(job.part, numbers)
    else:
        yield from _side_by_side(job, numbers, workers)


def _side_by_side(job: Job, numbers: list[int], workers: int) -> Iterator[tuple[Part, bytes]]:
    """Parts in order, of which this process and others take the next one whenever they are free."""
    context: Any = get_context("fork" if _has_one_thread() else "spawn")
    done: SimpleQueue[Future[int | None]] = SimpleQueue()
    found: dict[int, tuple[Part, bytes]] = {}
    with TemporaryDirectory(prefix="quaestor-") as folder:
        shared = _Shared(job, numbers, folder, context.Value("q", 0))
        with ProcessPoolExecutor(workers - 1, context, _hand_over, (shared,)) as pool:
            try:
                for _ in range(_AHEAD * (workers - 1)):
                    pool.submit(_work).add_done_callback(done.put)
                for number in numbers:
                    while number not in found:
                        own = shared.begin()
                        if own is not None:
                            found[own] = job.part(own)
                        while not done.empty() or (own is None and number not in found):
                            theirs = done.get().result()
                            if theirs is not None:
                                pool.submit(_work).add_done_callback(done.put)
                                found[theirs] = shared.fetched(theirs)
                    yield found.pop(number)
            except BrokenProcessPool as error:
                rule = "workers: each does its work to the end, and a script that has some begins with `if __name__ == '__main__':`"
                raise QuaestorError(f"{rule}, got one that ended before") from error
            finally:
                shared.close()


def _has_one_thread() -> bool:
    """Whether this process is known to have one thread only. Then it can be forked, which takes no time; locks that other threads hold
    would stay closed in a fork, so otherwise processes are started anew and import everything again.
    """
    threads = Path("/proc/self/task")
    return threads.is_dir() and len(list(threads.iterdir())) == 1


@dataclass(frozen=True)
class _Shared:
    """What processes share: the `numbers` of the parts to be worked out, how many of them were `begun`, and a folder for what is found: to
    send it through a pipe would take a tenth of the time that the work takes.
    """

    job: Job
    numbers: list[int]
    folder: str
    begun: Any  # a whole number

    def begin(self) -> int | None:
        """The next part that nobody has begun, which is begun now."""
        with self.begun.get_lock():
            place: int = self.begun.value
            self.begun.value = place + 1
        return self.numbers[place] if place < len(self.numbers) else None

    def close(self) -> None:
        """Let nobody begin another part."""
        self.begun.value = len(self.numbers)

    def keep(self, number: int) -> None:
        """Work out a part and put it in the folder."""
        with (Path(self.folder) / str(number)).open("wb") as file:
            pickle.dump(self.job.part(number), file, pickle.HIGHEST_PROTOCOL)

    def fetched(self, number: int) -> tuple[Part, bytes]:
        """A part from the folder."""
        path = Path(self.folder) / str(number)
        with path.open("rb") as file:
            found: tuple[Part, bytes] = pickle.load(file)
        path.unlink()
        return found


_handed: list[_Shared] = []  # of a worker process: handed over once, since reading a bank takes as long as a part


def _hand_over(shared: _Shared) -> None:
    leave_with_parent()
    _handed[:] = [shared]


def _work() -> int | None:
    """Work out the next part of those that are left; its number."""
    number = _handed[0].begin()
    if number is not None:
        _handed[0].keep(number)
    return number


def _on_cluster(job: Job, numbers: list[int], address: str) -> Iterator[tuple[Part, bytes]]:
    with connected(address) as client:
        shared = client.scatter(job, broadcast=True)
        futures = [client.submit(_part, shared, number, retries=RETRIES, pure=False) for number in numbers]
        for future in futures:
            yield future.result()
            future.release()


def _part(job: Job, number: int) -> tuple[Part, bytes]:
    return job.part(number)
