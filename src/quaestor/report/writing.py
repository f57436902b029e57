"""A study written to a folder, from Python: what that needs of pandas and matplotlib is imported when it is done."""

from collections.abc import Mapping
from pathlib import Path

from quaestor.errors import QuaestorError, expect, path_of
from quaestor.extras import from_extra
from quaestor.simulate.curves import Curves
from quaestor.simulate.simulation import Simulation
from quaestor.simulate.study import Study
from quaestor.version import VERSION

IN_PYTHON = "qs.write_study(study, study.run(), folder)"


def write_study(
    study: Study,
    results: Mapping[str, tuple[Simulation, Curves | None]],
    folder: str | Path,
    command: str = IN_PYTHON,
    version: str = VERSION,
) -> None:
    """Write the results of `study.run()` to a folder: index.html, summary.csv, a table for each method and a figure for each metric.

    `command`: how to repeat it, as the page shows it. Everything is computed before the first file is written.
    """
    expect("study", study, Study, "a study is expected, as qs.load_study gives it")
    expect("results", results, Mapping, "what study.run() gives is expected")
    path = path_of("folder", folder)
    with from_extra():
        from quaestor.report.study import write_files
    try:
        write_files(study, results, path, command, version)
    except OSError as error:
        raise QuaestorError(f"{path}: a folder that can be written, got {error.strerror or error}") from error
