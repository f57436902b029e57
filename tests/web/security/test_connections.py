"""Clients that keep the server waiting are cut off: slow heads, slow bodies, silence, responses that nobody reads."""

import asyncio
import socket
import time
from contextlib import ExitStack, asynccontextmanager, suppress

import pytest
from uvicorn.config import Config
from uvicorn.server import ServerState

from helpers.servers import Server
from quaestor.web.security.connections import Connection

LARGE = 30_000_000
GET = b"GET /%s HTTP/1.1\r\nhost: localhost\r\n\r\n"
HEAD = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\n"


class Quick(Connection):
    head, body, slowest, unread = 0.3, 0.3, 1000.0, 0.3


async def reader(scope, receive, send):
    """Reads all of a body, tells how long it was; `/large` gets a large answer, `/hasty` one before the body is read."""
    size, more = 0, scope["path"] != "/hasty"
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    answer = b"x" * LARGE if scope["path"] == "/large" else f"read {size}".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(answer)).encode())]})
    await send({"type": "http.response.body", "body": answer})


@asynccontextmanager
async def served(protocol=Quick):
    """A server in this loop: its address, and what it knows of its connections."""
    config, state = Config(reader, log_config=None), ServerState()
    config.load()
    server = await asyncio.get_running_loop().create_server(lambda: protocol(config, state, {}), "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname(), state
        await gone(state)  # or a transport would outlive its loop


async def gone(state):
    while state.connections:
        await asyncio.sleep(0.01)


def test_no_part_of_a_response_waits_for_another():
    """Where workers share a port, asyncio does not see that it is TCP: the body waited 40 ms until the head was acknowledged."""
    seen = []

    class Seen(Quick):
        def connection_made(self, transport):
            super().connection_made(transport)
            taken = transport.get_extra_info("socket")
            seen.append((taken.proto, taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))

    async def both():
        config, state = Config(reader, log_config=None), ServerState()
        config.load()
        with socket.socket() as port:  # as uvicorn opens it for its workers
            port.bind(("127.0.0.1", 0))
            async with await asyncio.get_running_loop().create_server(lambda: Seen(config, state, {}), sock=port):
                heard, tell = await asyncio.open_connection(*port.getsockname())
                tell.write(GET % b"")
                await heard.readuntil(b"read 0")
                tell.close()
                await tell.wait_closed()
                await gone(state)

    asyncio.run(both())
    assert seen == [(0, 1)]


def talk(say):
    """Let a client say something: what it heard until the connection was closed, and how long that took."""

    async def both():
        async with served() as (address, _):
            heard, tell = await asyncio.open_connection(*address)
            began = time.monotonic()
            try:
                answer = await asyncio.wait_for(say(heard, tell), 20)
                return answer, time.monotonic() - began
            finally:
                tell.close()
                with suppress(ConnectionError):
                    await tell.wait_closed()

    return asyncio.run(both())


async def until_closed(heard):
    """All that was heard; who still speaks when the other end closes is cut off rudely after it."""
    told = b""
    try:
        while piece := await heard.read(65536):
            told += piece
    except ConnectionError:
        return told or b"reset"
    return told


def sending(*pieces, pause=0.0):
    async def say(heard, tell):
        answer = asyncio.create_task(until_closed(heard))
        for piece in pieces:
            tell.write(piece)
            await asyncio.wait([answer], timeout=pause)
            if answer.done():
                break
        return await answer

    return say


@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET / HT"],
        [b"GET / HTTP/1.1\r\n", *(b"x-%d: y\r\n" % number for number in range(1000))],
        [HEAD],
        [HEAD, *[b"a"] * 1000],
        [b"POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n", *[b"1\r\na\r\n"] * 1000],
    ],
)
def test_a_request_that_does_not_end_is_cut_off(pieces):
    answer, took = talk(sending(*pieces, pause=0.05))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert 0.25 < took < 5


def test_who_says_nothing_is_told_nothing():
    assert talk(sending())[0] == b""


def test_bytes_that_begin_no_request_do_not_keep_a_connection():
    answer, took = talk(sending(GET % b"", *[b"\r\n"] * 1000, pause=0.05))
    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert answer.endswith(b"408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
    assert took < 5


def test_what_follows_an_answer_that_came_early_is_cut_off_too():
    early = HEAD.replace(b"POST / ", b"POST /hasty ")
    answer, took = talk(sending(early, *[b"a"] * 900, pause=0.05))
    assert answer.endswith(b"read 0")
    assert took < 5


def test_an_answer_that_nobody_reads_is_thrown_away():
    async def ask():
        async with served() as (address, state):
            loop = asyncio.get_running_loop()
            with socket.socket() as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                client.setblocking(False)
                await loop.sock_connect(client, address)
                await loop.sock_sendall(client, GET % b"large")
                while not state.connections:
                    await asyncio.sleep(0.01)
                await asyncio.wait_for(gone(state), 20)

    asyncio.run(ask())


def test_a_slow_line_may_take_its_time():
    """A body longer than its time allows at once, but as quick as is asked for; then another request on the same connection."""
    whole = HEAD.replace(b"length: 1000", b"length: 2000\r\nconnection: close")
    answer, took = talk(sending(whole, *[b"a" * 100] * 20, pause=0.06))
    assert b"read 2000" in answer
    assert took > 1

    async def twice(heard, tell):
        for path in (b"a", b"b"):
            for byte in GET % path:
                tell.write(bytes([byte]))
                await tell.drain()
            assert (await heard.readuntil(b"read 0")).startswith(b"HTTP/1.1 200")
        return b""

    talk(twice)


@pytest.mark.long
def test_half_open_requests_leave_a_real_server_free(make_database):
    database = make_database("sqlite")
    form = HEAD.replace(b"POST / ", b"POST /enter ").replace(b"host:", b"content-type: application/x-www-form-urlencoded\r\nhost:")
    with Server(database.engine.url.render_as_string(hide_password=False)) as server, ExitStack() as open_ones:
        address = ("127.0.0.1", server.port)
        begun = [open_ones.enter_context(socket.create_connection(address, timeout=90)) for _ in range(40)]
        for number, one in enumerate(begun):
            one.sendall(form if number % 2 else b"GET / HTTP/1.1\r\nx-slow: ")
        assert server.answers()
        began = time.monotonic()
        answers = [one.recv(1000) for one in begun]
        assert time.monotonic() - began < 60
        assert {answer[:12] for answer in answers} == {b"HTTP/1.1 408"}
        assert server.answers()
        assert "Traceback" not in server.said()
