"""Many simulated students take a test: curves with standard errors (`simulate`), or without sampling (`expected`)."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import pandas as pd

from quaestor.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.rules import Rules
from quaestor.simulate.cohort import Behaviour, Cohort, Levels
from quaestor.simulate.exact import expected
from quaestor.simulate.run import take
from quaestor.simulate.simulation import Part, Simulation, summarised
from quaestor.simulate.truth import check_truth, levels_of

__all__ = ["Behaviour", "Simulation", "expected", "simulate"]

CHUNK = 256  # students worked out together: fixed, since matrix products of other shapes round differently
Progress = Callable[[int], None]  # is told how many more students are done


@dataclass(frozen=True)
class Job:
    """One simulation, cut into parts that can be worked out anywhere."""

    bank: Bank
    rules: Rules
    cohort: Cohort
    behaviour: Behaviour

    def __len__(self) -> int:
        return -(-len(self.cohort) // CHUNK)

    def part(self, number: int) -> Part:
        """Work out one part."""
        students = self.cohort.part(number * CHUNK, (number + 1) * CHUNK)
        return summarised(take(self.bank, self.rules, students, self.behaviour))


def simulate(
    bank: Bank,
    rules: Rules | None = None,
    students: int | str | pd.DataFrame | Levels = 1024,
    seed: int = 1,
    truth: Bank | str | None = None,
    behaviour: Behaviour | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Simulation:
    """Let simulated students take a test by the same steps as a `Session`.

    `students`: how many, drawn from the network of the `truth` (default: the centre of the bank); `"profiles"`: one for every profile of
    levels; or a table of true levels, a column a skill. `truth`: another bank that the students come from, or `"random"`: each student
    from another network of the credal set. `behaviour`: how they answer otherwise than the bank says. The same seed gives the same
    students, whatever the rules; results do not depend on `workers`.
    """
    rules = rules or Rules()
    rules.check(bank)
    job = Job(bank, rules, _cohort(bank, students, seed, truth), behaviour or Behaviour())
    parts = list(_parts(job, workers, progress))
    return Simulation.of(parts, tuple(bank.skills), tuple(bank.questions))


def _cohort(bank: Bank, students: int | str | pd.DataFrame | Levels, seed: int, truth: Bank | str | None) -> Cohort:
    if isinstance(truth, str) and truth != "random":
        raise QuaestorError(f"truth is a bank or 'random', got '{truth}'")
    source = truth if isinstance(truth, Bank) else bank
    check_truth(bank, source)
    if isinstance(students, int):
        if students < 1 or isinstance(students, bool):
            raise QuaestorError(f"a simulation has at least 1 student, got {students}")
        return Cohort(bank, source, students, seed, truth == "random")
    levels = levels_of(bank, students)
    return Cohort(bank, source, len(levels), seed, truth == "random", levels)


def _parts(job: Job, workers: int, progress: Progress | None) -> Iterator[Part]:
    """The parts in order, however many work on them."""
    if workers < 1:
        raise QuaestorError(f"a simulation has at least 1 worker, got {workers}")
    numbers: Sequence[int] = range(len(job))
    if workers == 1 or len(job) == 1:
        found: Iterator[Part] = map(job.part, numbers)
        yield from _counted(found, progress)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield from _counted(pool.map(job.part, numbers), progress)


def _counted(parts: Iterator[Part], progress: Progress | None) -> Iterator[Part]:
    for part in parts:
        if progress is not None:
            progress(len(part.asked))
        yield part
