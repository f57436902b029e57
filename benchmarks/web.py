"""The server under load on loopback: answers a second and what takers wait, and how much of it is the engine's.

`quaestor serve` runs in processes of its own, the takers in another (`load.py`), all on this machine, so both share its cores. Needs the
folder `tests` on its path, for the takers, the server and PostgreSQL. `--write` puts the figures into README.md, `--quick` measures for a
second each, to see that all works; `--only german` and the like take the rows whose name has these words, `--tables` some of the tables.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
from machine import describe
from made_banks import chain_bank

import quaestor as qs
from helpers.databases import Cluster
from helpers.servers import Server, publish
from quaestor.store.database import Database

HERE = Path(__file__).parent
TITLE = "## The server under load"
PACE = 150  # answers a second: the aim
LIMIT = 150  # milliseconds that 99 of 100 answers may take, with the next question
FIRST, STEP, MOST = 100, 25, 600  # rates that are tried
QUESTIONS = 20  # of a test
DISTURBED, TRIES = 0.1, 2  # processors that others take
TABLES = ["load", "cores", "beside", "engine"]


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


def published(url: str, bank: qs.Bank) -> str:
    """The code of a test of a bank, in a database that may be new."""
    database = Database(url)
    database.migrate()
    code = publish(database, bank, QUESTIONS, retakes="any")
    database.close()
    return code


def takers_of(server: Server, code: str, takers: int, seconds: float, rate: float) -> list[str]:
    """The command of takers in a process of their own."""
    return [sys.executable, str(HERE / "load.py"), str(server.port), code, str(takers), str(seconds), str(rate)]


def load(server: Server, code: str, takers: int, seconds: float, rate: float) -> tuple[float, np.ndarray]:
    """Answers a second, and milliseconds `(answers, 2)`: of the answer and of the next question.

    Measured again where others took more of the processors than `DISTURBED` meanwhile: the least disturbed of some tries.
    """
    tries = []
    for _ in range(TRIES):
        before, begun = busy() - sum(used(server)), time.monotonic()
        command = takers_of(server, code, takers, seconds, rate)
        done = subprocess.run(command, capture_output=True, text=True, timeout=240 + 4 * seconds)
        assert done.returncode == 0, f"the takers gave up: {done.stderr[-2000:]}\nthe server said: {server.said()}"
        found = json.loads(done.stdout)
        waits = np.array(found["waits"], dtype=float).reshape(-1, 2)
        others = (busy() - sum(used(server)) - before) / (time.monotonic() - begun)
        tries.append((others, len(waits) / found["seconds"], waits))
        if others < DISTURBED:
            break
    others, answers, waits = min(tries, key=lambda one: one[0])
    if others >= DISTURBED:
        print(f"others took {others:.2f} of a processor beside {takers} takers", file=sys.stderr, flush=True)
    return answers, waits


def busy() -> float:
    """The seconds that all processors together have worked."""
    user, nice, system, _, _, hard, soft, *_ = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + hard + soft) / os.sysconf("SC_CLK_TCK")


def used(server: Server) -> list[float]:
    """The seconds of the processor that the server, its database (where that is a process) and takers that have ended have taken."""
    assert server.process is not None
    found = [spent(server.process.pid)]
    folder = parse_qs(urlsplit(server.url).query).get("host")
    if folder:
        found.append(spent(int((Path(folder[0]) / "data/postmaster.pid").read_text().split()[0])))
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return [*found, ended.ru_utime + ended.ru_stime]


def spent(root: int) -> float:
    """The seconds of the processor that a process and all below it have taken, those that have ended included."""
    parent, ticks = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has ended
            fields = path.read_text().rpartition(")")[2].split()
            parent[int(path.parent.name)], ticks[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    found, below = 0, [root]
    while below:
        found += sum(ticks[one] for one in below if one in ticks)
        below = [one for one, its in parent.items() if its in below]
    return found / os.sysconf("SC_CLK_TCK")


def percentiles(waits: np.ndarray) -> str:
    return ", ".join(f"{value:.0f}" for value in np.percentile(waits, (50, 95, 99))) if waits.size else "–"


def row(server: Server, code: str, takers: int, seconds: float, rate: float) -> str:
    """The cells of a measurement."""
    answers, waits = load(server, code, takers, seconds, rate)
    cells = [percentiles(waits[:, 0]), percentiles(waits[:, 1]), percentiles(waits.sum(axis=1))]
    return f"{takers} | {'thinking' if rate else 'flat out'} | {answers:.0f} | {' | '.join(cells)}"


def highest(server: Server, code: str, seconds: float) -> tuple[float, str]:
    """The highest rate of 200 takers at which 99 of 100 wait less than the limit, and the lowest one that is too high; the first is found
    in large steps, then between two in small ones. The rate, and both in words.
    """
    kept, missed = (0, 0.0, "none"), (0, "–")
    rate = FIRST
    while rate <= MOST:
        answers, waits = load(server, code, 200, seconds, rate)
        slow = float(np.percentile(waits.sum(axis=1), 99)) if waits.size else np.inf
        told = f"{answers:.0f} a second: {slow:.0f} ms"
        if slow < LIMIT and answers >= 0.85 * rate:
            kept = rate, answers, told
        else:
            missed = rate, told
        if missed[0] and missed[0] - kept[0] <= STEP:
            break
        rate = (kept[0] + missed[0]) // (2 * STEP) * STEP if missed[0] else kept[0] + FIRST
    return kept[1], f"{kept[2]} | {missed[1]}"


def configurations(only: str) -> Iterator[tuple[str, Callable[[], qs.Bank], str, int]]:
    """What is measured: the name of a row, a bank, a kind of database, workers."""
    banks = {"german": lambda: qs.load("german"), "10,000 questions": lambda: chain_bank(4, 2, 10_000, text=True)}
    for name, bank in banks.items():
        for kind in ("SQLite", "PostgreSQL"):
            for workers in (1, 2):
                title = f"{name} | {kind} | {workers}"
                if all(word in title for word in only.split()):
                    yield title, bank, kind, workers


def loads(seconds: float, only: str, takers: list[int]) -> None:
    """Print the tables of the server."""
    print("### What takers wait\n\nMilliseconds that half, 95 and 99 of 100 answers took at most.\n")
    print("| bank | database | workers | takers | pace | answers a second | answer | next question | both |")
    print(f"| {' | '.join(['---'] * 9)} |")
    best = []
    with databases() as make:
        for title, bank, kind, workers in configurations(only):
            url = make(kind)
            code = published(url, bank())
            with Server(url, workers) as server:
                load(server, code, 20, min(seconds, 3), 0)  # banks and templates are read
                best.append(f"| {title} | {highest(server, code, seconds)[1]} |")  # before any row leaves takers behind
                for count in takers:
                    for rate in (PACE, 0):
                        print(f"| {title} | {row(server, code, count, seconds, rate)} |", flush=True)
    print(f"\n### The highest rate with 99 of 100 answers under {LIMIT} ms, next question included, 200 takers\n")
    print("| bank | database | workers | the highest rate | the one after it |\n| --- | --- | --- | --- | --- |")
    print("\n".join(best), flush=True)


def cores(seconds: float, only: str) -> None:
    """Print what workers serve that have as many cores as they are, database and takers on them too: else these would take what is missing.

    And what an answer takes of the processor, coming in counted along.
    """
    print("\n### As many cores as workers: one worker, takers and database on one core, and two of them on two\n")
    print(
        "| bank | database | workers | the highest rate | the one after it | times one worker | an answer: server, database, takers (ms) |"
    )
    print(f"| {' | '.join(['---'] * 7)} |")
    every = os.sched_getaffinity(0)
    for kind in ("SQLite", "PostgreSQL"):
        alone = 0.0
        for workers in (1, 2):
            if not all(word in f"german {kind} {workers}" for word in only.split()):
                continue
            os.sched_setaffinity(0, sorted(every)[:workers])  # what is started from here on has no others
            try:
                with databases() as make:
                    url = make(kind)
                    code = published(url, qs.load("german"))
                    with Server(url, workers) as server:
                        load(server, code, 20, min(seconds, 3), 0)
                        best, told = highest(server, code, seconds)
                        spent = costs(server, code, seconds)
            finally:
                os.sched_setaffinity(0, every)
            alone = alone or best
            print(f"| german | {kind} | {workers} | {told} | {best / alone if alone else 0:.2f} | {spent} |", flush=True)


def costs(server: Server, code: str, seconds: float) -> str:
    """Milliseconds of the processor for an answer of 50 takers: of the server, the database (where it is a process) and the takers."""
    before = used(server)
    answers, _ = load(server, code, 50, 2 * seconds, 100)
    each = [f"{1000 * (now - then) / (answers * 2 * seconds):.1f}" for now, then in zip(used(server), before, strict=True)]
    return ", ".join(each if len(each) == 3 else [each[0], "–", each[1]])


def beside(seconds: float) -> None:
    """Print what takers of a quick test wait beside a class whose test is slow to work out."""
    print("\n### Beside a class of 25 on a slow bank: `fractions` ±.05, an answer every 20 s each\n")
    print("| bank | database | workers | the class | takers | answers a second | both |")
    print(f"| {' | '.join(['---'] * 7)} |")
    with databases() as make:
        url = make("SQLite")
        quick, slow = published(url, qs.load("german")), published(url, qs.load("fractions").widen(0.05))
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
    parser.add_argument("--takers", nargs="+", type=int, default=[50, 200, 500])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    wanted = parser.parse_args()
    told = io.StringIO()
    with contextlib.redirect_stdout(_Both(told)):
        print(f"\n{TITLE}\n\n{describe()}; takers, server and database share the machine\n")
        seconds = 1 if wanted.quick else 5
        if "load" in wanted.tables:
            loads(seconds, wanted.only, wanted.takers)
        if "cores" in wanted.tables:
            cores(seconds, wanted.only)
        if "beside" in wanted.tables:
            beside(2 * seconds)
        if "engine" in wanted.tables:
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
