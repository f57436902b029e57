"""Takers in a process of their own, who answer for a while: what the server confirmed, and how long they waited.

`python benchmarks/load.py PORT CODE TAKERS SECONDS RATE`: RATE is how many answers a second all takers together would give (each thinks
by chance between half and one and a half times as long as that needs), 0 is flat out, without any thinking. One who is through begins
again under another name. Nothing counts before all have answered once. Prints one line of JSON: seconds, milliseconds of every answer's
POST and of the question after it. Needs the folder `tests` on its path.
"""

import asyncio
import json
import sys
import time

from helpers.takers import Page, Taker

COMING = 100  # takers who come in a second, at the beginning: hundreds of connections in the same moment lose some on the way


class Load:
    """Takers at work, and what they saw since the measurement began."""

    def __init__(self, port: int, code: str, takers: int, rate: float) -> None:
        self.port, self.code, self.takers = port, code, takers
        self.think = takers / rate if rate else 0.0
        self.waits: list[tuple[float, float]] = []
        self.begun = 0
        self.measured = 0.0  # when the measurement began

    async def run(self, seconds: float) -> dict[str, object]:
        at_work = [asyncio.create_task(self.somebody(number)) for number in range(self.takers)]
        while self.begun < self.takers:
            await asyncio.sleep(0.05)
            for task in at_work:
                if task.done():
                    task.result()
        self.measured = time.perf_counter()
        finished, _ = await asyncio.wait(at_work, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
        took, waits = time.perf_counter() - self.measured, list(self.waits)
        for task in finished:
            task.result()
        for task in at_work:
            task.cancel()
        await asyncio.gather(*at_work, return_exceptions=True)
        return {"seconds": took, "waits": waits}

    async def somebody(self, number: int) -> None:
        await asyncio.sleep(number / COMING)
        for turn in range(1_000_000):
            taker = Taker(self.port, self.code, f"taker {number}, turn {turn}")
            page = await taker.get((await taker.enter()).to)
            await asyncio.sleep(self.think * taker.random.random())
            while not page.to:
                page = await self.answer(taker, page)
                self.begun += not turn and len(taker.acknowledged) == 1
                await asyncio.sleep(self.think * (0.5 + taker.random.random()))
            taker.browser.close()

    async def answer(self, taker: Taker, page: Page) -> Page:
        """Answer, and get the next question or the result; the page with the question, or the redirect to the result."""
        sent = time.perf_counter()
        confirmed = await taker.answer(page)
        between = time.perf_counter()
        shown = await taker.get(confirmed.to)
        if self.measured:
            self.waits.append((1000 * (between - sent), 1000 * (time.perf_counter() - between)))
        return confirmed if confirmed.to.endswith("/result") else shown


def main(port: str, code: str, takers: str, seconds: str, rate: str) -> None:
    print(json.dumps(asyncio.run(Load(int(port), code, int(takers), float(rate)).run(float(seconds)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
