"""Repeat the experiments of the paper behind this package: its table and figures, beside our own results."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from quaestor.report.terminal import console

if TYPE_CHECKING:
    from quaestor.report.reproduction.section import Section

MISSING = (
    "The authors' raw results of figure 2 were not given (`--raw FOLDER`). Left out: the printed points from the raw results, "
    "honest metrics of the raw results, and how the study was run."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("what", nargs="?", default="all", choices=["table1", "single", "multi", "all"], help="which part (default: all)")
    parser.add_argument("--raw", metavar="FOLDER", help="the authors' raw results of figure 2, a CSV file a method")
    parser.add_argument(
        "--out", metavar="FOLDER", default="reproduction", help="where tables, figures and the page go (default: reproduction)"
    )
    parser.add_argument("--students", type=int, default=1024, metavar="N", help="how many of our own students (default: 1024)")


def run(arguments: argparse.Namespace) -> int:
    """Repeat the studies, write the page and print the findings."""
    from quaestor.report.reproduction import write_reproduction
    from quaestor.report.reproduction.audit import audit_section
    from quaestor.report.reproduction.knowledge import knowledge_section
    from quaestor.report.reproduction.multi import multi_section
    from quaestor.report.reproduction.single import single_section
    from quaestor.report.reproduction.table import table_section
    from quaestor.simulate.paper.raw import read_raw
    from quaestor.simulate.paper.studies import check_students, repeat_multi, repeat_single

    what, out = arguments.what, console()
    check_students(arguments.students)
    raw = read_raw(arguments.raw) if arguments.raw is not None and what in ("single", "all") else None
    single = multi = None
    sections: list[Section] = []
    if what in ("table1", "all"):
        sections.append(table_section())
    with out.status("students take the tests"):
        if what in ("single", "all"):
            single = repeat_single(arguments.students, raw)
            sections.append(single_section(single))
            sections += [audit_section(raw)] if raw is not None else []
        if what in ("multi", "all"):
            multi = repeat_multi(arguments.students)
            sections.append(multi_section(multi))
        if single is not None or multi is not None:
            sections.append(knowledge_section(single, multi))
    missing = MISSING if single is not None and raw is None else ""
    words = ["quaestor reproduce", what, *(["--raw FOLDER"] if raw is not None else []), f"--students {arguments.students}"]
    write_reproduction(sections, Path(arguments.out), " ".join(words), missing)
    for finding in (finding for section in sections for finding in section.findings):
        out.print(f"- {finding}", highlight=False, markup=False)
    if missing:
        out.print(missing.replace("`", ""), highlight=False, markup=False)
    out.print(f"Written to {Path(arguments.out) / 'index.html'}", highlight=False, markup=False)
    return 0
