"""Guessing codes, passwords, tokens and who has an account: it ends soon, and nobody else is shut out."""

import asyncio
import re
import time
from collections import Counter
from threading import Event, get_ident

import pytest
from fastapi.testclient import TestClient
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy import select
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from helpers.browsing import Browser, application, give
from helpers.databases import KINDS
from helpers.school import PASSWORD
from quaestor.store import limits, teachers
from quaestor.store.attempts.invitations import invited
from quaestor.store.database import Database
from quaestor.store.models import Tries
from quaestor.store.secrets import hashed
from quaestor.web.security.browsers import address
from quaestor.web.taker import front_page


def few(monkeypatch, kind, failures):
    """A lower limit for all browsers of an address."""
    monkeypatch.setitem(limits.LIMITS, f"{kind} by address", limits.Limit(failures, 10))


@pytest.mark.parametrize("kind", KINDS)
def test_guessing_codes_ends_for_all_workers_and_a_class_is_not_shut_out(make_database, monkeypatch, kind):
    """Several workers are several applications on one database."""
    few(monkeypatch, "code", 30)
    first = make_database(kind)
    second = Database(first.engine.url.render_as_string(hide_password=False))
    apps = [application(first), application(second)]
    code = give(first)
    for number in range(40):  # a class behind one address, some of whom mistype
        browser = Browser(apps[number % 2])
        assert browser.go(f"/c/{code}").status_code == 200
        if number % 4 == 0:
            assert browser.go("/c/TYPEDWRONG").status_code == 404
    statuses = [Browser(apps[number % 2]).go(f"/c/GUESS{number}").status_code for number in range(25)]
    assert statuses == [404] * 20 + [429] * 5
    assert Browser(apps[1]).go(f"/c/{code}").status_code == 429
    assert TestClient(apps[0], client=("203.0.113.5", 1)).get(f"/c/{code}").status_code == 200
    second.close()


def test_a_child_who_types_anything_does_not_shut_the_class_out(school):
    for number in range(limits.LIMITS["code"].failures):
        assert school.get("anonymous", f"/c/GUESS{number}").status_code == 404
    assert school.get("anonymous", f"/c/{school.places['code']}").status_code == 429
    assert school.get("taker", f"/c/{school.places['code']}").status_code == 200
    assert school.client.get(f"/c/{school.places['code']}").status_code == 200


def counts(work):
    return work.scalars(select(Tries.count)).all()


@pytest.fixture
def seen(monkeypatch):
    """What the counters say when a code is looked up."""
    found = []

    def look(work, code, **how):
        found.append(counts(work))
        return invited(work, code, **how)

    monkeypatch.setattr(front_page, "invited", look)
    return found


def test_a_class_waits_for_no_counter_while_hardly_any_code_is_wrong(school, seen):
    assert school.get("anonymous", f"/c/{school.places['code']}").status_code == 200
    for _ in range(limits.CALM):
        assert school.get("anonymous", "/c/WRONG").status_code == 404
    assert school.get("anonymous", f"/c/{school.places['code']}").status_code == 200
    assert seen[:3] == [[], [], [1, 1]]  # a right one; a wrong one, looked up, then counted and looked up
    assert seen[-1] == [limits.CALM + 1] * 2  # now a right one is counted first, too
    with school.database.read() as work:
        assert counts(work) == [limits.CALM] * 2


def test_a_code_is_counted_before_it_is_looked_up_and_a_right_one_not_at_all(school, monkeypatch, seen):
    monkeypatch.setattr(limits, "CALM", 0)
    for code, status in ((school.places["code"], 200), ("WRONG", 404), (school.places["code"], 200)):
        assert school.get("anonymous", f"/c/{code}").status_code == status
    assert seen == [[1, 1], [1, 1], [2, 2]]  # of the browser, and of its address
    with school.database.read() as work:
        assert counts(work) == [1, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_hundred_codes_at_once_hardly_more_are_looked_at_than_the_limit(make_database, monkeypatch, kind):
    """Also of those that wait for the database: a right one among them must not be found."""
    database, guessed = make_database(kind), set()
    monkeypatch.setattr(front_page, "invited", lambda work, code, **how: (guessed.add(code), invited(work, code, **how))[1])

    async def flood():
        async with AsyncClient(transport=ASGITransport(application(database)), base_url="http://testserver") as client:
            sent = [client.get(f"/c/GUESS{number}", headers={"cookie": "visit=flood"}) for number in range(100)]
            return Counter(reply.status_code for reply in await asyncio.gather(*sent))

    most = limits.LIMITS["code"].failures
    assert asyncio.run(flood()) == {404: most, 429: 100 - most}
    assert len(guessed) <= most + limits.CALM
    assert [limits.looks_at_once(workers) for workers in (1, 2, 3, 10)] == [10, 5, 3, 1]


@pytest.mark.parametrize("cookies", [lambda number: {}, lambda number: {"cookie": f"visit=made-up-{number}"}])
def test_throwing_cookies_away_does_not_help(school, monkeypatch, cookies):
    few(monkeypatch, "code", 12)
    statuses = [school.client.get(f"/c/GUESS{number}", headers=cookies(number)).status_code for number in range(14)]
    assert statuses == [404] * 12 + [429] * 2


def test_failed_sign_ins_count_by_browser_by_address_and_by_email(school, monkeypatch):
    def tries(who, email):
        return school.post(who, "/sign-in", {"email": email, "password": "wrong"}).status_code

    few(monkeypatch, "sign-in", 15)
    assert [tries("anonymous", f"{number}@school.example") for number in range(11)] == [400] * 10 + [429]
    assert school.post("taker", "/sign-in", {"email": "other@school.example", "password": PASSWORD}).status_code == 303
    assert [tries("taker", f"{number}@school.example") for number in range(6)] == [400] * 5 + [429]
    assert tries("other_taker", "nobody@school.example") == 429


@pytest.mark.parametrize(
    "written", ["OTHER@school.example", " other@school.example ", "other@\u200bschool.example", "ot\u00adher@school.example"]
)
def test_one_account_has_one_counter_however_its_address_is_written(school, written):
    fields = {"email": written, "password": PASSWORD}
    assert school.post("anonymous", "/sign-in", fields).status_code == 303
    for number in range(limits.LIMITS["sign-in"].failures):
        school.client.post(
            "/sign-in",
            data={"email": "other@school.example", "password": "wrong", "form_token": hashed(f"form {number}")},
            headers={"cookie": f"visit={number}"},
        )
    assert school.post("anonymous", "/sign-in", fields).status_code == 429


def test_codes_sent_by_the_form_count_too(school):
    for number in range(limits.LIMITS["code"].failures):
        assert school.post("anonymous", "/enter", {"code": f"GUESS{number}"}).headers["location"] == f"/?code=GUESS{number}"
    assert school.post("anonymous", "/enter", {"code": school.places["code"]}).status_code == 429


def test_a_guesser_cannot_shake_off_the_limit_by_headers(school, monkeypatch):
    """Only addresses that the settings name may say who asks; the others count under their own."""
    few(monkeypatch, "code", 30)
    proxied = ProxyHeadersMiddleware(school.app, trusted_hosts="127.0.0.1")
    stranger = TestClient(proxied, client=("203.0.113.9", 1))
    for number in range(30):
        said = {"x-forwarded-for": f"10.0.0.{number}", "x-real-ip": f"10.0.0.{number}", "forwarded": f"for=10.0.0.{number}"}
        assert stranger.get(f"/c/GUESS{number}", headers=said).status_code == 404
    assert stranger.get("/c/GUESS", headers={"x-forwarded-for": "10.9.9.9"}).status_code == 429
    through = TestClient(proxied, client=("127.0.0.1", 1))
    assert through.get("/c/GUESS", headers={"x-forwarded-for": "203.0.113.9"}).status_code == 429
    assert through.get("/c/GUESS", headers={"x-forwarded-for": "10.1.1.1, 203.0.113.9"}).status_code == 429
    assert through.get("/c/GUESS", headers={"x-forwarded-for": "203.0.113.10"}).status_code == 404


@pytest.mark.parametrize(
    ("host", "who"),
    [("203.0.113.9", "203.0.113.9"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("::1", "::/64"), ("testclient", "testclient"),
     ("fe80::1%eth0", "fe80::/64"), ("a:b", "a:b"), ("::ffff:203.0.113.9", "203.0.113.9"), ("::FFFF:CB00:7109", "203.0.113.9")],
)  # fmt: skip
def test_an_ipv6_network_counts_as_one_and_an_ipv4_address_as_itself(host, who):
    class Asked:
        client = type("Client", (), {"host": host})

    assert address(Asked) == who


def test_guessing_tokens_ends(school):
    for number in range(limits.LIMITS["token"].failures):
        assert school.call("GET", "/api/v1/banks", f"guess-{number}").status_code == 401
    assert school.call("GET", "/api/v1/banks", "guess").status_code == 429
    assert school.call("GET", "/api/v1/banks", school.tokens["banks"]).status_code == 200  # a good token is never shut out


def test_nobody_learns_who_has_an_account(school, monkeypatch):
    """The same status, words and work: a password is hashed whether there is an account, with or without a password."""
    hashes, pages = [], []
    real = teachers.password_fits
    monkeypatch.setattr(teachers, "password_fits", lambda kept, given: hashes.append(kept) or real(kept, given))
    for email in ("other@school.example", "teacher@school.example", "nobody@school.example", "<b>", ""):
        page = school.post("anonymous", "/sign-in", {"email": email, "password": "wrong password"})
        pages.append((page.status_code, re.sub(r'value="[^"]*"', "", page.text)))
    assert len(set(pages)) == 1
    assert len(hashes) == 5


def test_a_flood_of_sign_ins_hashes_one_password_at_a_time_and_holds_up_no_page(school, monkeypatch):
    """More sign-ins than there are threads for pages: a page is answered while the first is still being hashed."""
    under_way, most, begun, go_on = set(), [], Event(), Event()

    def slow(kept, given):
        under_way.add(get_ident())
        most.append(len(under_way))
        begun.set()
        assert go_on.wait(30)
        under_way.remove(get_ident())
        return False

    async def flood():
        async with AsyncClient(transport=ASGITransport(school.app), base_url="http://testserver") as client:
            fields = {"form_token": hashed("form flood"), "password": "wrong"}
            sent = [
                client.post("/sign-in", data={**fields, "email": f"{one}@school.example"}, headers={"cookie": "visit=flood"})
                for one in range(60)
            ]
            waiting = asyncio.gather(*sent)
            try:
                assert await asyncio.to_thread(begun.wait, 30)
                return (await asyncio.wait_for(client.get("/sign-in"), 10)).status_code
            finally:
                go_on.set()
                replies.extend(reply.status_code for reply in await waiting)

    replies = []
    monkeypatch.setattr(teachers, "password_fits", slow)
    assert asyncio.run(flood()) == 200
    assert Counter(replies) == {400: 10, 429: 50}
    assert most == [1] * 10


@pytest.mark.long
def test_sign_in_takes_as_long_for_nobody(make_database):
    """With real hashes: medians of five tries differ by less than half."""
    database = make_database("sqlite")
    with database.work() as work:
        teachers.set_password(work, teachers.owner(work, "owner@school.example"), teachers.new_password(PASSWORD))
    app, times = application(database), {}
    for email in ("owner@school.example", "nobody@school.example"):
        browser = Browser(app)
        took = []
        for _ in range(5):
            browser.go("/sign-in")
            began = time.process_time()
            browser.fill("/sign-in", email=email, password="wrong")
            took.append(time.process_time() - began)
        times[email] = sorted(took)[2]
    low, high = sorted(times.values())
    assert high < 1.5 * low
