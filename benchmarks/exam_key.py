"""The key of an exam tried out over HTTP: of how many of 15 questions two attackers find the right option of four.

The stranger has nothing but the pages; the expert has the software, the rules and all tables, everything but the key
(`helpers.key_attack`). Chance finds 3.75. Needs the folder `tests` on its path.
"""

import tempfile

from machine import describe

from helpers.key_attack import Expert, Stranger, Visitor, found, publish_exam, small_bank, targets, try_out
from helpers.servers import Server
from quaestor.store.database import Database

LOT = "score: random\nstop: {max_questions: 15}\nskips: wrong"
OPEN = {"by_list": "no"}
EXAMS: tuple[tuple[str, dict[str, str], type, int], ...] = (
    ("class list (the default)", {}, Expert, 100),
    ("open code", OPEN, Stranger, 101),
    ("open code", OPEN, Expert, 10),
    ("open code", OPEN, Expert, 25),
    ("open code, results at once", {**OPEN, "results": "at once"}, Expert, 25),
    ("open code, questions drawn by lot", {**OPEN, "rules": LOT}, Expert, 25),
)


def main() -> None:
    """Print a table."""
    bank = small_bank()
    print(f"{describe()}\n\n| exam | attacker | attempts | requests | keys found of {len(targets(bank))} |")
    print("| --- | --- | --- | --- | --- |")
    for words, fields, kind, tries in EXAMS:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/quaestor.db"
            database = Database(url)
            database.migrate()
            code, rules = publish_exam(database, bank, **fields)
            attacker = Expert(bank, rules) if kind is Expert else Stranger(bank)
            with Server(url) as server:
                visitor = Visitor(server.port, code)
                try_out(attacker, visitor, tries)
            database.close()
        ended = ", then refused" if visitor.refused else ""
        keys = found(attacker, bank) if visitor.attempts else "none"
        print(f"| {words} | {kind.__name__.lower()} | {visitor.attempts}{ended} | {visitor.requests} | {keys} |", flush=True)


if __name__ == "__main__":
    main()
