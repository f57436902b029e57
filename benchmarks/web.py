"""The server under load on loopback: answers a second and what takers wait, and how much of it is the engine's.

`quaestor serve` runs in processes of its own, the takers in another (`load.py`), all on this machine, so both share its cores. Needs the
folder `tests` on its path, for the takers, the server and PostgreSQL. `--write` puts the figures into README.md, `--quick` measures for a
second each, to see that all works; `--only german` and the like take the rows whose name has these words.
"""

import argparse
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from machine import describe
from made_banks import chain_bank

import quaestor as qs
from helpers.databases import Cluster
from helpers.servers import Server, publish
from quaestor.store.database import Database

HERE = Path(__file__).parent
TITLE = "## The server under load"
TAKERS = (50, 200, 500)
PACE = 150  # answers a second: the aim
LIMIT = 150  # milliseconds that 99 of 100 answers may take, with the next question
RATES = (50, 100, 125, 150, 175, 200, 225, 250, 275, 300, 350, 400, 450, 500)
QUESTIONS = 20  # of a test


class Durable(Cluster):
    """PostgreSQL as it is run in earnest: what is confirmed is on the disk."""

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c shared_buffers=128MB"
        self._run("pg_ctl", "-D", self.folder / "data", "-l", self.folder / "log", "-w", "-o", options, "start")


@contextlib.contextmanager
def databases() -> Iterator[Callable[[str], str]]:
    """A function that gives the address of a new, empty database of a kind."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    clusters: list[Cluster] = []
    with tempfile.TemporaryDirectory() as folder:

        def make(kind: str) -> str:
            name = f"load_{time.monotonic_ns()}"
            if kind == "SQLite":
                return f"sqlite:///{folder}/{name}.db"
            if not clusters:
                clusters.append(Durable(programs[-1]))
            clusters[0].execute(f"create database {name}")
            return clusters[0].url(name)

        try:
            yield make
        finally:
            for cluster in clusters:
                cluster.close()


def takers_of(server: Server, code: str, takers: int, seconds: float, rate: float) -> list[str]:
    """The command of takers in a process of their own."""
    return [sys.executable, str(HERE / "load.py"), str(server.port), code, str(takers), str(seconds), str(rate)]


def load(server: Server, code: str, takers: int, seconds: float, rate: float) -> tuple[float, np.ndarray]:
    """Answers a second, and milliseconds `(answers, 2)`: of the answer and of the next question."""
    command = takers_of(server, code, takers, seconds, rate)
    done = subprocess.run(command, capture_output=True, text=True, timeout=240 + 4 * seconds)
    assert done.returncode == 0, f"the takers gave up: {done.stderr[-2000:]}\nthe server said: {server.said()}"
    found = json.loads(done.stdout)
    return len(found["waits"]) / found["seconds"], np.array(found["waits"], dtype=float).reshape(-1, 2)


def percentiles(waits: np.ndarray) -> str:
    return ", ".join(f"{value:.0f}" for value in np.percentile(waits, (50, 95, 99))) if waits.size else "–"


def row(server: Server, code: str, takers: int, seconds: float, rate: float) -> str:
    """The cells of a measurement."""
    answers, waits = load(server, code, takers, seconds, rate)
    cells = [percentiles(waits[:, 0]), percentiles(waits[:, 1]), percentiles(waits.sum(axis=1))]
    return f"{takers} | {'thinking' if rate else 'flat out'} | {answers:.0f} | {' | '.join(cells)}"


def highest(server: Server, code: str, seconds: float) -> str:
    """The highest rate of 200 takers at which 99 of 100 wait less than the limit, and what comes next."""
    best = "none"
    for rate in RATES:
        answers, waits = load(server, code, 200, seconds, rate)
        slow = float(np.percentile(waits.sum(axis=1), 99)) if waits.size else np.inf
        if slow >= LIMIT or answers < 0.85 * rate:
            return f"{best} | {answers:.0f} a second: {slow:.0f} ms"
        best = f"{answers:.0f} a second: {slow:.0f} ms"
    return f"{best} | –"


def configurations(only: str) -> Iterator[tuple[str, Callable[[], qs.Bank], str, int]]:
    """What is measured: the name of a row, a bank, a kind of database, workers."""
    banks = {"german": lambda: qs.load("german"), "10,000 questions": lambda: chain_bank(4, 2, 10_000, text=True)}
    for name, bank in banks.items():
        for kind in ("SQLite", "PostgreSQL"):
            for workers in (1, 2):
                title = f"{name} | {kind} | {workers}"
                if all(word in title for word in only.split()):
                    yield title, bank, kind, workers


def loads(seconds: float, only: str) -> None:
    """Print the tables of the server."""
    print("### What takers wait\n\nMilliseconds that half, 95 and 99 of 100 answers took at most.\n")
    print("| bank | database | workers | takers | pace | answers a second | answer | next question | both |")
    print(f"| {' | '.join(['---'] * 9)} |")
    best = []
    with databases() as make:
        for title, bank, kind, workers in configurations(only):
            url = make(kind)
            database = Database(url)
            database.migrate()
            code = publish(database, bank(), QUESTIONS, retakes="any")
            database.close()
            with Server(url, workers) as server:
                load(server, code, 20, min(seconds, 3), 0)  # banks and templates are read
                best.append(f"| {title} | {highest(server, code, seconds)} |")  # before any row leaves takers behind
                for takers in TAKERS:
                    for rate in (PACE, 0):
                        print(f"| {title} | {row(server, code, takers, seconds, rate)} |", flush=True)
    print(f"\n### The highest rate with 99 of 100 answers under {LIMIT} ms, next question included, 200 takers\n")
    print("| bank | database | workers | the highest rate | the one after it |\n| --- | --- | --- | --- | --- |")
    print("\n".join(best), flush=True)


def beside(seconds: float) -> None:
    """Print what takers of a quick test wait beside a class whose test is slow to work out."""
    print("\n### Beside a class of 25 on a slow bank: `fractions` ±.05, an answer every 20 s each\n")
    print("| bank | database | workers | the class | takers | answers a second | both |")
    print(f"| {' | '.join(['---'] * 7)} |")
    with databases() as make:
        url = make("SQLite")
        database = Database(url)
        database.migrate()
        quick, slow = (publish(database, bank, QUESTIONS, retakes="any") for bank in (qs.load("german"), qs.load("fractions").widen(0.05)))
        database.close()
        with Server(url) as server:
            load(server, quick, 20, min(seconds, 3), 0)
            for told, wait in (("is away", 0.0), ("is there", 25.0)):
                others = subprocess.Popen(takers_of(server, slow, 25, 600, 25 / 20), stdout=subprocess.DEVNULL) if wait else None
                time.sleep(wait)  # until the class has come in
                answers, waits = load(server, quick, 50, 2 * seconds, 50)
                print(f"| german | SQLite | 1 | {told} | 50 | {answers:.0f} | {percentiles(waits.sum(axis=1))} |", flush=True)
                if others is not None:
                    others.kill()
                    others.wait()


def engine() -> None:
    """Print what the engine needs of an answer: the answer taken, the stop looked at, the next question chosen."""
    print("\n### The engine's share of an answer, milliseconds of the processor\n")
    print("| bank | median, ms | 99 of 100, ms | aim, ms |\n| --- | --- | --- | --- |")
    german = qs.load("german")
    for name, bank, aim in (
        ("german, 64 questions", german, 5),
        ("10,000 questions", chain_bank(4, 2, 10_000, text=True), 10),
        ("german ±.05", german.widen(0.05), 30),
    ):
        times = []
        for seed in range(6):
            session = qs.Session(bank, qs.Rules(stop=qs.max_questions(QUESTIONS)), seed=seed)
            while (question := session.next) is not None:
                answer = question.classes[(seed + len(times)) % len(question.classes)]
                start = time.process_time()
                session = session.answer(question.id, answer)
                session.stopped, session.next  # noqa: B018
                times.append(1000 * (time.process_time() - start))
        middle, slow = np.percentile(times[QUESTIONS:], (50, 99))  # the first test warms caches
        print(f"| {name} | {middle:.1f} | {slow:.1f} | {aim} |", flush=True)


def write(section: str) -> None:
    """Put the section into README.md, in place of the one before."""
    path = HERE / "README.md"
    before, _, after = path.read_text(encoding="utf-8").partition(TITLE)
    rest = after.partition("\n## ")
    kept = after.partition("\n<!-- read by people -->\n")[2].partition("\n## ")[0] if after else ""
    words = f"\n<!-- read by people -->\n{kept}" if kept else ""
    path.write_text(before.rstrip() + f"\n\n{section.strip()}\n{words}" + (f"\n## {rest[2]}" if rest[1] else ""), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="The server under load.")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    wanted = parser.parse_args()
    told = io.StringIO()
    with contextlib.redirect_stdout(_Both(told)):
        print(f"\n{TITLE}\n\n{describe()}; takers, server and database share the machine\n")
        loads(1 if wanted.quick else 5, wanted.only)
        beside(1 if wanted.quick else 10)
        engine()
    if wanted.write:
        write(told.getvalue())


class _Both(io.TextIOBase):
    """Writes to the screen and into a text."""

    def __init__(self, text: io.StringIO) -> None:
        self.text, self.screen = text, sys.stdout

    def write(self, written: str) -> int:
        self.screen.write(written)
        return self.text.write(written)

    def flush(self) -> None:
        self.screen.flush()


if __name__ == "__main__":
    main()
