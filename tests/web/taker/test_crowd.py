"""A crowd that comes while the server is busy: everybody is let in before those who came first are served again and again."""

import asyncio

import pytest

import quaestor as qs
from helpers.servers import Server, publish
from helpers.takers import Taker
from helpers.taking import url

PEOPLE, QUESTIONS = 40, 10
APART = 0.01  # seconds between two who come: more than the server can keep up with


async def crowd(port, code):
    """Who began and who was through, in the order in which it happened."""
    seen = []

    async def somebody(number):
        await asyncio.sleep(number * APART)
        taker = Taker(port, code, f"taker {number}")
        page = await taker.enter()
        seen.append("begun")
        while not page.to.endswith("/result"):
            page = await taker.answer(await taker.get(page.to))
        seen.append("through")
        taker.browser.close()

    await asyncio.gather(*(somebody(number) for number in range(PEOPLE)))
    return seen


@pytest.mark.long
def test_nobody_is_through_before_everybody_has_begun(make_database):
    database = make_database("sqlite")
    code = publish(database, qs.load("german"), QUESTIONS)
    with Server(url(database)) as server:
        seen = asyncio.run(crowd(server.port, code))
    assert seen == ["begun"] * PEOPLE + ["through"] * PEOPLE
