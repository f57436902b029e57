"""One slow bank must not stop a school: a server with a small bank that no engine can solve in time, and a class beside it."""

import asyncio
import os
import signal
import time
from datetime import datetime
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import update

import quaestor as qs
from helpers.servers import Server, publish, until
from helpers.slow_banks import slow_document
from helpers.takers import Browser, Taker
from quaestor.store.models import Published

pytestmark = pytest.mark.long
MEMORY = 1_500  # megabytes of all processes of the server


def memory(pid: int) -> float:
    """The megabytes that a process and all that it has started hold for themselves."""
    total = 0.0
    for one in [pid, *children(pid)]:
        try:
            status = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in status.splitlines() if line.startswith("Private_")) / 1000
    return total


def children(pid: int) -> list[int]:
    """All processes below a process."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*"):
        for child in (task / "children").read_text().split():
            found += [int(child), *children(int(child))]
    return found


class Watched(Taker):
    """A taker who notes how long each answer took, from sending it to the next question."""

    def __post_init__(self):
        super().__post_init__()
        self.took = []

    async def answer(self, page):
        begun = time.perf_counter()
        answered = await super().answer(page)
        self.took.append(time.perf_counter() - begun)
        return answered


async def quickly(takers, pause):
    """A class that answers now and then, until everybody is done."""
    for taker in takers:
        page = await taker.enter()
        while not (page := await taker.get(page.to)).to.endswith("/result"):
            await asyncio.sleep(pause)
            page = await taker.answer(page)
            if page.to.endswith("/result"):
                break


@pytest.mark.parametrize(("skills", "levels"), [(6, 2), (5, 3)])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_others_do_not_wait_for_a_slow_bank(make_database, record_property, kind, skills, levels):
    database = make_database(kind)
    slow, quick = publish(database, qs.Bank(slow_document(skills, levels)), 11), publish(database, qs.load("german"), 10)
    with Server(database.engine.url.render_as_string(hide_password=False)) as server:
        slow_takers = [Watched(server.port, slow, f"slow {number}") for number in range(4)]
        rows = [[Watched(server.port, quick, f"taker {row}.{number}") for number in range(3)] for row in range(10)]

        async def both():
            stuck = [asyncio.create_task(taker.take()) for taker in slow_takers]
            await asyncio.sleep(2)
            before = sum(len(taker.took) for taker in slow_takers)
            await asyncio.gather(*(quickly(row, 0.5) for row in rows))
            done = sum(len(taker.took) for taker in slow_takers) - before
            for task in stuck:
                task.cancel()
            await asyncio.gather(*stuck, return_exceptions=True)
            for taker in chain(slow_takers, *rows):
                taker.browser.close()
            return done

        done = asyncio.run(both())
        took = np.array([seconds for row in rows for taker in row for seconds in taker.took])
        held = memory(server.process.pid)
        told = f"{len(took)} answers, 99 of 100 in {1000 * np.quantile(took, 0.99):.0f} ms; {done} slow ones; {held:.0f} MB"
        record_property(f"{kind}, {skills} skills of {levels} levels", told)
        assert done >= 3, "the slow test goes on too"
        assert np.quantile(took, 0.99) < 0.15, told
        assert held < MEMORY, told
        begun = time.monotonic()
        os.kill(server.process.pid, signal.SIGTERM)
        server.process.wait(20)
        assert time.monotonic() - begun < 5
        assert "Traceback" not in server.said()


def large_bank(count):
    asked = {"options": ["a", "b", "c"], "correct": "a", "skill": "a"}
    right = [[0.2, 0.5, round(0.6 + number / 1000, 3)] for number in range(300)]
    questions = {f"Q{number}": {**asked, "text": f"What is {number} + 1?", "right": right[number % 300]} for number in range(count)}
    return qs.Bank({"quaestor": 2, "title": "Large", "skills": {"a": {"levels": ["no", "partly", "yes"]}}, "questions": questions})


def test_others_do_not_wait_for_a_large_bank(make_database, record_property):
    database = make_database("sqlite")
    quick, large = publish(database, qs.load("german"), 10), publish(database, large_bank(100_000), 5)
    with database.work() as work:  # not one of those that are read before the server answers
        work.execute(update(Published).where(Published.code == large).values(closes=datetime(2100, 1, 1)))
    with Server(database.engine.url.render_as_string(hide_password=False)) as server:
        rows = [[Watched(server.port, quick, f"taker {row}.{number}") for number in range(6)] for row in range(10)]
        first = Watched(server.port, large, "Ada")

        async def both():
            others = asyncio.gather(*(quickly(row, 0.5) for row in rows))
            await asyncio.sleep(2)
            begun = time.monotonic()
            page = await first.enter()
            page = await first.get(page.to)
            opened = time.monotonic() - begun
            await others
            for taker in chain([first], *rows):
                taker.browser.close()
            return page, opened

        page, opened = asyncio.run(both())
        took = np.array([seconds for row in rows for taker in row for seconds in taker.took])
        told = f"{len(took)} answers, 99 of 100 in {1000 * np.quantile(took, 0.99):.0f} ms, the slowest {1000 * took.max():.0f} ms"
        told += f"; opened after {opened:.0f} s; {memory(server.process.pid):.0f} MB"
        record_property("a bank of 100,000 questions", told)
        assert "What is" in page.text
        assert np.quantile(took, 0.99) < 0.15, told


def test_what_nobody_waits_for_is_ended(make_database):
    database = make_database("sqlite")
    code = publish(database, qs.Bank(slow_document(6, 2)), 11)
    with Server(database.engine.url.render_as_string(hide_password=False)) as server:

        async def leave():
            for number in range(6):
                taker = Taker(server.port, code, f"taker {number}")
                page = await taker.enter()
                browser: Browser = taker.browser
                task = asyncio.create_task(browser.get(page.to))
                await asyncio.sleep(0.3)
                task.cancel()
                browser.close()

        asyncio.run(leave())

        def work():
            return sum(int(Path(f"/proc/{one}/stat").read_text().split()[13]) for one in children(server.process.pid))

        time.sleep(2)
        before = work()
        time.sleep(2)
        assert work() - before < 50, "ticks of a hundredth of a second"


def test_processes_leave_with_the_server(make_database):
    database = make_database("sqlite")
    code = publish(database, qs.Bank(slow_document(6, 2)), 11)
    with Server(database.engine.url.render_as_string(hide_password=False)) as server:
        taker = Taker(server.port, code, "Ada")

        async def begin():
            await taker.enter()
            taker.browser.close()

        asyncio.run(begin())
        left = children(server.process.pid)
        assert left
        os.kill(server.process.pid, signal.SIGKILL)
        until(lambda: not any(Path(f"/proc/{one}").exists() for one in left), 10)
