"""Many simulated students take a test: curves with standard errors (`simulate`), or without sampling (`expected`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, expect_call, is_among, several
from quaestor.selection.rules import Rules, rules_of
from quaestor.simulate.answering import Behaviour, behaviour_of
from quaestor.simulate.behaviours import OwnBehaviour
from quaestor.simulate.cohort import Cohort, Levels
from quaestor.simulate.exact import expected
from quaestor.simulate.files import Folder
from quaestor.simulate.library import CPU, library_of
from quaestor.simulate.own import own_of
from quaestor.simulate.responses import held_out, read_responses
from quaestor.simulate.simulation import KEEP, Simulation
from quaestor.simulate.truth import check_truth, levels_of
from quaestor.simulate.work import PART, Job, part_size, parts_of

__all__ = ["Behaviour", "Simulation", "expected", "simulate"]

if TYPE_CHECKING:
    import pandas as pd

Students: TypeAlias = "int | str | pd.DataFrame | Levels"
STUDENTS = 1024  # how many, unless it is said


@dataclass(frozen=True, eq=False)
class Scattered:
    """A truth: each student comes from another network of the credal set of this bank, whatever bank the test uses."""

    bank: Bank


def simulate(
    bank: Bank,
    rules: Rules | None = None,
    students: "Students | None" = None,
    seed: int = 1,
    truth: Bank | Scattered | str | None = None,
    behaviour: Behaviour | OwnBehaviour | None = None,
    responses: "pd.DataFrame | None" = None,
    holdout: Sequence[str] = (),
    workers: int = 1,
    cluster: Any = None,
    out: str | Path | None = None,
    device: str = CPU,
    progress: Callable[[int], None] | None = None,
    keep: str = KEEP[0],
) -> Simulation:
    """Let simulated students take a test by the same steps as a `Session`.

    `students`: how many (1024 unless it is said), drawn from the network of the `truth` (default: the centre of the bank); `"profiles"`:
    one for every profile of levels; or a table of true levels, a column a skill. `truth`: another bank that the students come from, or
    `"random"`: each student from another network of the credal set. `behaviour`: how they answer otherwise than the bank says.
    `responses`: answers of real people instead, a row a person and a column a question; `holdout`: questions that are never asked, only
    predicted. The same seed gives the same students, whatever the rules. `workers` and `cluster` (the address of a Dask scheduler, a
    client or a cluster of Dask) do not change results. `out`: a folder for every step of every student; a run that was interrupted goes
    on from there. `device`: `"cuda"` works out plain tests on a graphics card (docs/large-simulations.md); the questions are the same.
    `progress` is told how many more are done. `keep="sums"`: only sums over the students, so that memory does not grow with their number;
    the curves and their errors are the same.
    """
    rules = rules_of(rules)
    rules.check(bank)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise QuaestorError(f"a seed is a whole number of at least 0, got {seed!r}")
    seed = int(seed)
    behaviour = behaviour_of(behaviour)
    for name in (*behaviour.reveals, *(other for given in behaviour.reveals.values() for other in given)):
        if name not in bank.questions:
            raise QuaestorError(f"behaviour.reveals: a question of the bank, got '{name}'")
    if responses is not None and (truth is not None or behaviour != Behaviour()):
        raise QuaestorError("responses: real people answer as they did, got a truth or a behaviour as well")
    if responses is not None and students is not None:
        raise QuaestorError("responses: the rows are the people, got students as well")
    students = STUDENTS if students is None else students
    cohort = _people(bank, responses, seed) if responses is not None else _students(bank, students, seed, truth)
    holdout = several("holdout", holdout, "a list of questions is expected")
    if holdout and responses is None:
        raise QuaestorError("holdout: questions are held out from responses of real people, got simulated students")
    held = held_out(bank, holdout, list(responses.columns) if responses is not None else ())
    expect_call("progress", progress)
    if not is_among(keep, KEEP):
        raise QuaestorError(f"keep is one of {', '.join(map(repr, KEEP))}, got {keep!r}")
    library_of(device)  # which says if there is none
    size = part_size(bank, rules, cohort, behaviour, device) if out is None else PART  # a file a part, as in folders of earlier versions
    job = Job(bank, rules, cohort, behaviour, held, out is not None, device, size, keep)
    folder = Folder(out, _described(job, seed, truth)) if out is not None else None
    parts = parts_of(job, workers, cluster, folder, progress)
    return Simulation.of(parts, tuple(bank.skills), tuple(bank.questions), len(cohort), cohort.identity)


def _people(bank: Bank, responses: "pd.DataFrame", seed: int) -> Cohort:
    given = read_responses(bank, responses)
    return Cohort(bank, bank, len(given), seed, responses=given)


def _students(bank: Bank, students: Students, seed: int, truth: Bank | Scattered | str | None) -> Cohort:
    if not isinstance(truth, Bank | Scattered | None) and not (isinstance(truth, str) and truth == "random"):
        raise QuaestorError(f"truth is a bank or 'random', got {truth!r}")
    apart = isinstance(truth, Scattered) or truth == "random"
    source = truth.bank if isinstance(truth, Scattered) else truth if isinstance(truth, Bank) else bank
    check_truth(bank, source)
    if isinstance(students, int | np.integer):
        students = students if isinstance(students, bool) else int(students)
        if students < 1 or isinstance(students, bool):
            raise QuaestorError(f"a simulation has at least 1 student, got {students}")
        return Cohort(bank, source, students, seed, apart)
    levels = levels_of(bank, students)
    return Cohort(bank, source, len(levels), seed, apart, levels)


def _described(job: Job, seed: int, truth: Bank | Scattered | str | None) -> dict[str, Any]:
    """What makes a simulation the same one."""
    source = truth.version if isinstance(truth, Bank) else truth or "the bank's centre"
    if isinstance(truth, Scattered):
        source = f"random: {truth.bank.version}"
    return {
        "bank": {"title": job.bank.title, "version": job.bank.version},
        "rules": job.rules.document,
        "students": len(job.cohort),
        "cohort": job.cohort.fingerprint,
        "seed": seed,
        "truth": source,
        "behaviour": job.behaviour.document,
        **({"own": homes} if (homes := own_of(job.bank, job.rules, job.behaviour).homes) else {}),
        **({"holdout": [list(job.bank.questions)[place] for place in job.held.tolist()]} if job.held is not None else {}),
    }
