"""What can be read can be asked for without its body: the same status and headers, and nothing after them."""

import asyncio

import pytest

from helpers.rights import OK, ROWS, address, where
from helpers.school import opened
from quaestor.web.teacher import live

READ = [key for key in ROWS if key.startswith("GET ")]


@pytest.fixture(scope="module")
def school(tmp_path_factory, migrated_file):
    with opened(tmp_path_factory.mktemp("school"), migrated_file) as made:
        yield made


def ask(school, method, key):
    """A request for what a row is about, from somebody who may; where nobody may, from the first who is refused."""
    one, places = ROWS[key], where(school, key)
    if one.scope:
        headers = {"authorization": f"Bearer {school.tokens[one.scope.partition(', ')[0]]}"}
    else:
        who = next((who for who, expected in one.who.items() if expected == OK), next(iter(one.who)))
        headers = school.headers(who, places["attempt"] if "{attempt}" in key else None)
    return school.client.request(method, address(key, places), headers=headers)


@pytest.mark.parametrize("key", READ)
def test_everything_that_can_be_read_has_a_head(school, key):
    one, head = ROWS[key], ask(school, "HEAD", key)
    expected = one.ok or 200 if OK in one.who.values() else next(iter(one.who.values()))
    assert (head.status_code, head.content) == (expected, b"")
    assert "content-security-policy" in head.headers


@pytest.mark.parametrize("key", ["GET /", "GET /static", "GET /health", "GET /teacher", "GET /take/{attempt}", "GET /api/v1/banks"])
def test_a_head_is_that_of_the_page(school, key):
    page, head = ask(school, "GET", key), ask(school, "HEAD", key)
    assert int(page.headers["content-length"]) == len(page.content) > 0
    numbers = [reply.headers.pop("x-request-id") for reply in (head, page)]
    assert len(set(numbers)) == 2
    assert dict(head.headers) == dict(page.headers)


@pytest.mark.parametrize("path", ["/nowhere", "/teacher", "/take/1", "/api/v1/banks", "/enter"])
def test_refusals_have_heads_too(school, path):
    page = school.get("anonymous", path)
    head = school.client.head(path, headers=school.headers("anonymous"))
    assert (head.status_code, head.content) == (page.status_code, b"")
    assert head.status_code in (303, 401, 403, 404, 405)


def test_the_head_of_what_never_ends_does(school, monkeypatch):
    """Nothing of the body is sent, and whoever makes it is told that nobody listens."""
    monkeypatch.setattr(live, "LIFE", 3600)
    monkeypatch.setattr(live, "LOOK", 0.01)
    path = f"/teacher/tests/{school.places['test']}/live/events"
    cookie = school.headers("teacher")["cookie"].encode()
    sent, over = [], asyncio.Event()
    scope = {
        **{"type": "http", "method": "HEAD", "path": path, "raw_path": path.encode(), "query_string": b"", "http_version": "1.1"},
        **{"headers": [(b"cookie", cookie), (b"host", b"localhost")], "scheme": "http", "root_path": "", "server": ("localhost", 80)},
        **{"client": ("here", 1), "asgi": {"version": "3.0", "spec_version": "2.3"}},
    }

    async def receive():
        await over.wait()
        return {"type": "http.disconnect"}

    async def answer(message):
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body"):
            over.set()  # as a server does once a response is complete

    asyncio.run(asyncio.wait_for(school.app(scope, receive, answer), 10))
    assert [(message["type"], message.get("body", b"")) for message in sent] == [("http.response.start", b""), ("http.response.body", b"")]
