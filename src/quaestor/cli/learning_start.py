"""What `learn` and `compare` start from: a bank, a Q-matrix or the answers alone; what is told, and what is chosen on held-out people."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from quaestor.errors import QuaestorError
from quaestor.formats.files import load
from quaestor.learn import SHAPES
from quaestor.learn.alternatives import LINKS, Alternative, Start, alternatives
from quaestor.learn.answers import Answers
from quaestor.learn.choice import Choice, begun, choose
from quaestor.learn.skeleton import NEEDS, read_matrix

if TYPE_CHECKING:
    from quaestor.cli.group_column import GroupColumn

GRAPHS = ("given", *LINKS)


def add_start(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that both commands have."""
    parser.add_argument("bank", nargs="?", metavar="BANK", help="a bank file, or the name of a bundled bank; without it one is begun")
    parser.add_argument("--matrix", metavar="FILE", help="instead of a bank: a Q-matrix (CSV), a row a question, a column a skill")
    parser.add_argument("--responses", required=True, metavar="FILE", help="the answers: CSV, XLSX or Parquet, a row a person")
    parser.add_argument("--person", metavar="COLUMN", help="a column of the answers that names the people")
    words = "without a bank or a Q-matrix: how many skills are looked for in the answers; 1 for one skill (default: chosen)"
    parser.add_argument("--skills", type=int, metavar="N", help=words)
    parser.add_argument("--levels", type=int, metavar="N", help="without a bank: levels of every skill (default: chosen from 2 to 5)")
    parser.add_argument("--needs", choices=NEEDS, help="with --matrix: how the skills of a question combine (default: chosen)")
    parser.add_argument("--graph", choices=GRAPHS, help="the links between skills (default: those of the bank; without one, chosen)")
    parser.add_argument("--shape", choices=SHAPES, help="each row of a table by itself, or curves of few numbers (default: chosen)")
    parser.add_argument("--seed", type=int, default=0)


def begin(arguments: argparse.Namespace, group: "GroupColumn | None" = None) -> tuple[Start, Answers]:
    """The start and the answers, read; `group`: the column of groups of people, which is read beside them."""
    from quaestor.cli.answer_files import read_file, tables  # only here: it needs an extra

    if arguments.bank is not None and arguments.matrix is not None:
        raise QuaestorError(f"{arguments.command}: a bank or --matrix, got both")
    if arguments.bank is not None:
        for name in ("levels", "needs", "skills"):
            if getattr(arguments, name) is not None:
                raise QuaestorError(f"{arguments.command}: --{name} is for a start without a bank, got it with '{arguments.bank}'")
        bank = load(arguments.bank)
        return begun(bank, read_file(arguments.responses, bank, arguments.person, group))
    if arguments.skills is not None and arguments.matrix is not None:
        raise QuaestorError(f"{arguments.command}: --skills is for answers alone, got it with --matrix")
    if arguments.graph == "given":
        raise QuaestorError(f"{arguments.command}: --graph given is for a bank, got none")
    matrix = read_matrix(arguments.matrix) if arguments.matrix else None
    return begun(matrix, list(tables(arguments.responses, arguments.person, group)))


def told(arguments: argparse.Namespace) -> dict[str, Any]:
    """What is not open."""
    links = None if arguments.graph == "given" else arguments.graph
    return {"levels": arguments.levels, "links": links, "shape": arguments.shape, "needs": arguments.needs, "skills": arguments.skills}


def only_one(start: Start, arguments: argparse.Namespace) -> Alternative | None:
    """The bank to learn where nothing is open; None where there is something to choose."""
    open_ones, _ = alternatives(start, told(arguments), limited=False, most=2)
    return open_ones[0] if len(open_ones) == 1 and not open_ones[0].found else None


def chosen(
    start: Start, answers: Answers, arguments: argparse.Namespace, folds: int, options: dict[str, Any], progress: Callable[..., None] | None
) -> Choice:
    """The choice among what is open."""
    return choose(start, answers, **told(arguments), folds=folds, seed=arguments.seed, progress=progress, **options)
