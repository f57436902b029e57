"""Many guesses at the same moment, against a running server with two workers: the limits hold to the very last one.

All attacks come from this machine, are a fixed number of requests, and end by themselves.
"""

import asyncio
from collections import Counter

import pytest
from sqlalchemy import delete

import quaestor as qs
from helpers.databases import KINDS
from helpers.servers import Server, publish
from helpers.takers import Browser
from helpers.taking import url
from quaestor.formats.files import dump_bytes
from quaestor.store import leaving, teachers
from quaestor.store.models import Token, Tries
from quaestor.store.secrets import hashed

PASSWORD = "four plain words here"
OWNER = "owner@localhost"  # as `publish` makes it
BANK = dump_bytes(qs.load("multiplication"), ".yaml").decode()


def at_once(port, send, count):
    """The statuses of requests that are sent at the same moment, each over a connection of its own."""

    async def one(number):
        browser = Browser(port, {"visit": f"browser-{number}"})
        page = await send(browser, number)
        browser.close()
        return page.status

    async def all_of_them():
        return await asyncio.gather(*(one(number) for number in range(count)))

    return Counter(asyncio.run(all_of_them()))


async def code(browser, number):
    return await browser.get(f"/c/GUESS{number}")


def sign_in(password):
    async def send(browser, number):
        token = hashed("form " + browser.cookies["visit"])
        return await browser.post("/sign-in", [("form_token", token), ("email", OWNER), ("password", password)])

    return send


async def guess(browser, number):
    browser.headers = {"Authorization": f"Bearer guess-{number}"}
    return await browser.get("/api/v1/banks")


def codes(port, database, opens):
    right = lambda browser, number: browser.get(f"/c/{opens}")  # noqa: E731
    assert at_once(port, right, 600) == {200: 600}  # twice the limit: right ones never count
    assert at_once(port, code, 1000) == {404: 300, 429: 700}
    assert at_once(port, right, 5) == {429: 5}


def passwords(port, database):
    for _ in range(3):
        assert at_once(port, sign_in(PASSWORD), 8) == {303: 8}  # right ones do not count
    assert at_once(port, sign_in("wrong"), 60) == {400: 10, 429: 50}
    assert at_once(port, sign_in(PASSWORD), 5) == {429: 5}


def tokens(port, database):
    assert at_once(port, guess, 200) == {401: 60, 429: 140}


def ended(port, database):
    """Tokens that are withdrawn, and a teacher who is locked, while two hundred requests are under way that write with them."""
    with database.work() as work:
        found = teachers.use_link(work, teachers.invitation(work, teachers.owner(work, OWNER), "ada@localhost"))
        number, secrets = found.id, [teachers.api_token(work, found, "platform", ["banks"]) for _ in range(20)]

    def end():
        with database.work() as work:
            work.execute(delete(Token).where(Token.teacher_id == number, Token.id % 2 == 0))
        with database.work() as work:
            leaving.lock(work, number)

    async def upload(browser, one):
        browser.headers = {"Authorization": f"Bearer {secrets[one % 20]}", "Idempotency-Key": f"{one}"}
        if one == 60:
            await asyncio.to_thread(end)
        return await browser.post_json("/api/v1/banks", {"ending": ".yaml", "content": f"{BANK}# {one}"})

    statuses = at_once(port, upload, 200)
    assert set(statuses) <= {201, 401, 429}, statuses  # 429: a token that is gone is a wrong one, and counts
    assert statuses[401] > 0
    with database.work() as work:
        work.execute(delete(Tries))


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_attacks(make_database, kind):
    database = make_database(kind)
    opens = publish(database, qs.load("german"), 4)
    with database.work() as work:
        teachers.set_password(work, teachers.owner(work, OWNER), teachers.new_password(PASSWORD))
    with Server(url(database), workers=2) as server:
        ended(server.port, database)
        codes(server.port, database, opens)
        passwords(server.port, database)
        tokens(server.port, database)
