"""A simulation cut into parts: worked out one after another, by several processes, or on a cluster; always the same parts, in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.inference.engines.odds import applies as two_levels
from quaestor.inference.joint import LARGEST
from quaestor.inference.layout import Numbers, layout_of
from quaestor.selection.rules import Rules
from quaestor.simulate import plain
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cluster import RETRIES, Sent, connected
from quaestor.simulate.cohort import Cohort, Students
from quaestor.simulate.files import Folder, to_bytes
from quaestor.simulate.library import CPU, library_of
from quaestor.simulate.own import Own, own_of
from quaestor.simulate.plain import is_plain
from quaestor.simulate.processes import side_by_side
from quaestor.simulate.run import Record, take
from quaestor.simulate.script import is_running
from quaestor.simulate.simulation import KEEP, Part, summarised

PART = 256  # students worked out together, at least; in simulations that take long, so that all processes have enough to do
_NUMBERS, _MOST = 16_000_000, 131_072  # students together x questions, and students, at most: they take some hundred megabytes
_ON_CARD = 1_000_000_000


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

    def __reduce__(self) -> tuple[Any, ...]:
        own = own_of(self.bank, self.rules, self.behaviour)  # what is known by name here is made known there
        return _arrived, (type(self), own, tuple(getattr(self, one.name) for one in fields(self)))

    def part(self, number: int) -> tuple[Part, bytes]:
        """Work out one part."""
        students = self.cohort.part(number * self.size, (number + 1) * self.size)
        record = taken(self.bank, self.rules, students, self.behaviour, self.held, self.device)
        if self.is_filed:
            record = record.unmerged
            return summarised(record, self.keep), to_bytes(record, self.bank)
        return summarised(record, self.keep), b""


def _arrived(kind: type[Job], own: Own, values: tuple[Any, ...]) -> Job:
    own.make_known()
    return kind(*values)


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


def parts_of(job: Job, workers: int, cluster: Any, folder: Folder | None, progress: Callable[[int], None] | None) -> Iterator[Part]:
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


def _worked_out(job: Job, numbers: list[int], workers: int, cluster: Any) -> Iterator[tuple[Part, bytes]]:
    own = own_of(job.bank, job.rules, job.behaviour)
    if cluster is not None:
        yield from _on_cluster(job, numbers, cluster)
    elif workers == 1 or len(numbers) < 2 or is_running():
        yield from map(job.part, numbers)
    else:
        yield from side_by_side(job, numbers, workers, own.script)


def _on_cluster(job: Job, numbers: list[int], cluster: Any) -> Iterator[tuple[Part, bytes]]:
    with connected(cluster) as client:
        shared = client.scatter(Sent.of(job), broadcast=True)
        futures = [client.submit(_part, shared, number, retries=RETRIES, pure=False) for number in numbers]
        for future in futures:
            yield future.result()
            future.release()


def _part(sent: Sent, number: int) -> tuple[Part, bytes]:
    found: tuple[Part, bytes] = sent.job.part(number)
    return found
