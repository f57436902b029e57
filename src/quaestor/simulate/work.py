"""A simulation cut into parts: worked out one after another, by several processes, or on a cluster; always the same parts, in order."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.inference.engines.odds import applies as two_levels
from quaestor.inference.joint import LARGEST
from quaestor.inference.layout import Numbers, layout_of
from quaestor.selection.rules import Rules
from quaestor.simulate import plain
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cluster import RETRIES, connected
from quaestor.simulate.cohort import Cohort, Students
from quaestor.simulate.files import Folder, to_bytes
from quaestor.simulate.library import CPU, library_of
from quaestor.simulate.plain import is_plain
from quaestor.simulate.run import Record, take
from quaestor.simulate.simulation import Part, summarised

PART = 256  # students worked out together, at least; in simulations that take long, so that all processes have enough to do
_NUMBERS, _MOST = 8_000_000, 131_072  # students together x questions, and students, at most: what is kept of them is some hundred megabytes
_ON_CARD = 1_000_000_000


@dataclass(frozen=True)
class Job:
    """One simulation, in parts of `size` students. `keep`: also give each part as the content of a file."""

    bank: Bank
    rules: Rules
    cohort: Cohort
    behaviour: Behaviour
    held: Numbers | None = None
    keep: bool = False
    device: str = CPU
    size: int = PART

    def __len__(self) -> int:
        return -(-len(self.cohort) // self.size)

    def part(self, number: int) -> tuple[Part, bytes]:
        """Work out one part."""
        students = self.cohort.part(number * self.size, (number + 1) * self.size)
        record = taken(self.bank, self.rules, students, self.behaviour, self.held, self.device)
        if self.keep:
            record = record.unmerged
            return summarised(record), to_bytes(record, self.bank)
        return summarised(record), b""


def taken(bank: Bank, rules: Rules, students: Students, behaviour: Behaviour, held: Numbers | None = None, device: str = CPU) -> Record:
    """Let students take the test, all together where it is plain."""
    if students.asking is not None and is_plain(bank, rules, behaviour):
        return plain.take(bank, rules, students, behaviour, library_of(device))
    return take(bank, rules, students, behaviour, held)


def part_size(bank: Bank, rules: Rules, cohort: Cohort, behaviour: Behaviour, device: str) -> int:
    """How many students are worked out together: many where that is quick, since those who answer the same are worked out once."""
    model = layout_of(bank).model
    is_quick = bank.is_precise or (two_levels(model) and all(len(scope) == 1 for scope in model.scopes))
    if not is_quick or cohort.is_apart:
        return PART
    if device != CPU and is_plain(bank, rules, behaviour):
        return max(PART, _ON_CARD // len(bank.questions))
    numbers = len(bank.questions) if model.joint_size > LARGEST else max(len(bank.questions), int(model.joint_size))
    return min(_MOST, max(PART, _NUMBERS // numbers))


def parts_of(job: Job, workers: int, cluster: str | None, folder: Folder | None, progress: Callable[[int], None] | None) -> Iterator[Part]:
    """All parts in order; those that a folder has are read, the others worked out and kept there."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise QuaestorError(f"a simulation has at least 1 worker, got {workers!r}")
    missing = [number for number in range(len(job)) if folder is None or not folder.has(number)]
    found = _worked_out(job, missing, workers, cluster)
    for number in range(len(job)):
        if folder is not None and folder.has(number):
            part = summarised(folder.read(number, job.bank))
        else:
            part, data = next(found)
            if folder is not None:
                folder.write(number, data)
        if progress is not None:
            progress(len(part.asked))
        yield part


def _worked_out(job: Job, numbers: list[int], workers: int, cluster: str | None) -> Iterator[tuple[Part, bytes]]:
    if cluster is not None:
        yield from _on_cluster(job, numbers, cluster)
    elif workers == 1 or len(numbers) < 2:
        yield from map(job.part, numbers)
    else:
        with ProcessPoolExecutor(workers - 1, get_context("spawn"), _hand_over, (job,)) as pool:
            yield from _side_by_side(job, {number: pool.submit(_work, number) for number in numbers})


def _side_by_side(job: Job, others: dict[int, Future[tuple[Part, bytes]]]) -> Iterator[tuple[Part, bytes]]:
    """Parts in order, of which other processes begin with the first and this one with the last, which need not wait for them."""
    own: dict[int, tuple[Part, bytes]] = {}
    waiting = list(others)
    for number in list(reversed(others)):
        if number in others and others[number].cancel():
            own[number] = job.part(number)
        while waiting and others[waiting[0]].done() and not others[waiting[0]].cancelled():
            yield others.pop(waiting.pop(0)).result()
    for number in waiting:
        yield own.pop(number) if number in own else others.pop(number).result()


_handed: list[Job] = []  # the job of a worker process: handed over once, since reading a bank takes as long as a part


def _hand_over(job: Job) -> None:
    _handed[:] = [job]


def _work(number: int) -> tuple[Part, bytes]:
    return _handed[0].part(number)


def _on_cluster(job: Job, numbers: list[int], address: str) -> Iterator[tuple[Part, bytes]]:
    with connected(address) as client:
        shared = client.scatter(job, broadcast=True)
        futures = [client.submit(_part, shared, number, retries=RETRIES, pure=False) for number in numbers]
        for future in futures:
            yield future.result()
            future.release()


def _part(job: Job, number: int) -> tuple[Part, bytes]:
    return job.part(number)
