"""Requests that the server makes: nowhere but to public addresses, no further than the first reply, and never for long."""

import socket
import threading
import time
from contextlib import contextmanager

import pytest

from quaestor.web.security import outgoing
from quaestor.web.security.outgoing import OutgoingError, ask, inner_hosts, is_public
from quaestor.web.settings import Settings

HERE = frozenset({"127.0.0.1"})


@contextmanager
def answering(content, pause=0.0, step=0):
    """A server that answers one request with these bytes, so many at a time with pauses between; its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with server.accept()[0] as client:
                client.recv(65536)
                try:
                    for first in range(0, len(content), step or len(content)):
                        client.sendall(content[first : first + (step or len(content))])
                        time.sleep(pause)
                except OSError:
                    return

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
        "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "::ffff:10.0.0.1", "2002:0a00:0001::", "64:ff9b::10.0.0.1", "ff02::1", "::",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"])
def test_addresses_that_are(address):
    assert is_public(address)


def test_a_name_that_points_inside_is_not_asked(monkeypatch):
    monkeypatch.setattr(outgoing, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("93.184.216.34", 443)), (0, 0, 0, "", ("10.0.0.1", 443))])
    monkeypatch.setattr(outgoing, "create_connection", lambda *_, **__: pytest.fail("it was asked"))
    with pytest.raises(OutgoingError, match="own network"):
        ask("https://moodle.example/keys", frozenset({"other.example"}))


def test_who_runs_the_server_may_allow_a_host():
    with answering(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}") as port:
        assert ask(f"http://127.0.0.1:{port}/", inner_hosts(Settings(inner_hosts="moodle.lan, 127.0.0.1"))).json() == {}
    with pytest.raises(OutgoingError, match="own network"):
        ask("http://127.0.0.1:9/", frozenset())


@pytest.mark.parametrize(
    "url", ["http://moodle.example/", "ftp://x/", "file:///etc/passwd", "https://", "https://a@b/", "", "gopher://127.0.0.1"]
)
def test_only_https(url):
    with pytest.raises(OutgoingError, match="https"):
        ask(url, frozenset({"*"}))


def test_redirects_are_not_followed():
    with (
        answering(b"HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n") as port,
        pytest.raises(OutgoingError, match="do not follow"),
    ):
        ask(f"http://127.0.0.1:{port}/", HERE)


def test_a_reply_has_a_largest_size():
    with answering(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 1_100_000) as port, pytest.raises(OutgoingError, match="more than"):
        ask(f"http://127.0.0.1:{port}/", HERE)


def test_a_server_that_drips_is_cut_off(monkeypatch):
    monkeypatch.setattr(outgoing, "SECONDS", 0.4)
    began = time.monotonic()
    with answering(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 60, pause=0.1, step=2) as port, pytest.raises(OutgoingError):
        ask(f"http://127.0.0.1:{port}/", HERE)
    assert time.monotonic() - began < 5


def test_what_is_no_http_is_an_error_in_words():
    with answering(b"nonsense\r\n\r\n") as port, pytest.raises(OutgoingError, match="could not be reached"):
        ask(f"http://127.0.0.1:{port}/", HERE)
