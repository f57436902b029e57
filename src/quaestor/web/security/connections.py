"""Connections whose clients keep others waiting are cut off: a request that does not come to its end, a response that nobody reads.

The server itself waits for ever, and each such connection costs memory and one of the files that a process may have open. Nothing is
measured of a request that arrives in one piece, as nearly all do.
"""

import asyncio
import socket
from asyncio import TimerHandle

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Connection(HttpToolsProtocol):
    """A connection with limits: seconds for the head of a request, for its body, and without reading anything of a response.

    A large body may take longer, in proportion to what has arrived of it.
    """

    head: float = 20
    body: float = 30
    slowest: float = 10_000  # bytes of a body in a second, on average
    unread: float = 60

    _part = "head"  # what is awaited of a request; empty between two
    _seen = ""  # what the timer is for
    _received = 0  # bytes since it began
    _begun = 0.0
    _timer: TimerHandle | None = None
    _stalled: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request; the head and the body of a response do not wait for one another."""
        super().connection_made(transport)
        taken = transport.get_extra_info("socket")
        if taken is not None and taken.family in (socket.AF_INET, socket.AF_INET6):  # asyncio forgets it where workers share a port
            taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """See what is still missing."""
        super().data_received(data)
        self._received += len(data)
        is_idle = not self._part and self.timeout_keep_alive_task is None and self.cycle is not None and self.cycle.response_complete
        if is_idle and not self.pipeline:  # bytes that begin no request ended the server's own waiting for one
            self._part = "head"
        self._watch()

    def on_message_begin(self) -> None:
        """The head begins."""
        super().on_message_begin()
        self._part = "head"

    def on_headers_complete(self) -> None:
        """The body begins."""
        super().on_headers_complete()
        self._part = "body"

    def on_message_complete(self) -> None:
        """All of the request is there."""
        super().on_message_complete()
        self._part = ""

    def pause_writing(self) -> None:
        """The client does not read what is sent to it."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.unread, self.transport.abort)

    def resume_writing(self) -> None:
        """It reads again."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._part = ""
        self._watch()
        super().connection_lost(exc)
        if self._stalled is not None:
            self._stalled.cancel()

    def _watch(self) -> None:
        """Have a timer for the part that is awaited, and none where nothing is."""
        if self._part == self._seen:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._seen, self._timer = self._part, None
        if self._part:
            self._begun, self._received = self.loop.time(), 0
            self._timer = self.loop.call_at(self._end(), self._look)

    def _end(self) -> float:
        return self._begun + (self.head if self._part == "head" else self.body + self._received / self.slowest)

    def _look(self) -> None:
        if self._part == "body" and self.flow.read_paused:  # it is us who are slow
            self._begun = self.loop.time()
        if self.loop.time() < self._end():
            self._timer = self.loop.call_at(self._end(), self._look)
            return
        is_asked = self._received if self._part == "head" else not self.cycle.response_started
        if is_asked and not self.transport.is_closing():
            self.transport.write(TOO_LATE)
        self.transport.close()
