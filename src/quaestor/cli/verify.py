"""Say which stored outcomes the present engine would give otherwise: every answer log is replayed."""

import argparse
import json

from quaestor.cli.web import add_settings, database_of, settings_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--test", type=int, metavar="NUMBER", help="only this test; by default all")
    parser.add_argument("--json", action="store_true", help="print every difference as JSON")
    add_settings(parser, "data", "database")


def run(arguments: argparse.Namespace) -> int:
    """Replay the logs, print what differs; 1 if anything does."""
    settings = settings_of(arguments)
    from sqlalchemy import select

    from quaestor.errors import QuaestorError
    from quaestor.store.models import Published
    from quaestor.store.outcomes.rescoring import waiting
    from quaestor.store.outcomes.verify import verify

    with database_of(settings) as database, database.read() as work:
        chosen = select(Published).order_by(Published.id)
        tests = work.scalars(chosen.where(Published.id == arguments.test) if arguments.test is not None else chosen).all()
        if arguments.test is not None and not tests:
            raise QuaestorError(f"test: the number of a test is expected, got {arguments.test}")
        found = [one for test in tests for one in verify(work, test)]
        left = sum(len(waiting(work, test)) for test in tests)
    other = [one for one in found if one.differences]
    if arguments.json:
        print(
            json.dumps({"verified": len(found), "waiting": left, "different": [vars(one) for one in other]}, ensure_ascii=False, indent=1)
        )
        return 1 if other else 0
    for one in other:
        print(f"test {one.test}, attempt {one.attempt}, revision {one.revision}, stored by version {one.engine}:")
        for what, stored, now in one.differences:
            print(f"  {what}: stored {stored}, now {now}")
    print(f"{len(found)} stored outcome{'s' * (len(found) != 1)} verified: {len(other) or 'none'} would be otherwise now")
    if left:
        print(f"of {left} attempt{'s' * (left != 1)} something is still to be worked out; a running server does it in the background")
    return 1 if other else 0
