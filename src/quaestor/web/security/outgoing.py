"""Requests that the server itself makes, to addresses that others have given it.

Such an address must not become a way into the network that the server stands in. So: https only (http on this very machine); no redirects;
the name is looked up once, every address that it has must be a public one, and the connection goes to the address that was looked at, so
that a name cannot point elsewhere a moment later. An owner whose platform is inside the same network names it (`--inner_hosts`). A reply
has a largest size, and all of it a time limit.
"""

import json
import ssl
from collections.abc import Collection, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from socket import SHUT_RDWR, SOCK_STREAM, create_connection, getaddrinfo, socket
from threading import Timer
from typing import Any

from quaestor.errors import QuaestorError
from quaestor.i18n import say
from quaestor.store.platforms import addresses
from quaestor.web.settings import Settings

SECONDS = 10.0  # that a request may take altogether
MOST = 1_000_000  # bytes of a reply
_TRANSLATED = IPv6Network("64:ff9b::/96")  # IPv4 addresses as a translator shows them to IPv6


class OutgoingError(QuaestorError):
    """A request that was not made, or not answered as it should be. The message is for whoever runs the server."""


@dataclass(frozen=True)
class Reply:
    """A reply: `headers` by their names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; OutgoingError if it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise OutgoingError(say("the platform did not answer with JSON")) from error


def inner_hosts(settings: Settings) -> frozenset[str]:
    """The hosts inside the server's own network that it may ask."""
    return frozenset(one.strip().lower() for one in settings.inner_hosts.split(",") if one.strip())


def ask(
    url: str, inner: Collection[str], method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> Reply:
    """Make one request. `inner`: hosts that may have addresses that are not public; `*` for all."""
    found = addresses.parts(url)
    if found is None or found.hostname is None:
        raise OutgoingError(say("the address of a platform begins with https://, got {url}", url=url[:80]))
    host, is_safe = found.hostname, found.scheme == "https"
    port = found.port or (443 if is_safe else 80)
    path = (found.path or "/") + (f"?{found.query}" if found.query else "")
    try:
        with closing(_connected(host, port, inner)) as plain:
            timer = Timer(SECONDS, _cut, [plain])
            timer.start()
            try:
                return _asked(plain, host, port, is_safe, method, path, body, headers or {})
            finally:
                timer.cancel()
    except (OSError, HTTPException) as error:
        words = say("{host} could not be reached: {why}", host=host, why=_why(error))
        raise OutgoingError(words) from error


def _asked(
    plain: socket, host: str, port: int, is_safe: bool, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
) -> Reply:
    connection = (HTTPSConnection if is_safe else HTTPConnection)(host, port, timeout=SECONDS)
    with closing(connection):
        connection.sock = _context().wrap_socket(plain, server_hostname=host) if is_safe else plain
        connection.request(method, path, body, {"user-agent": "Quaestor", "accept-encoding": "identity", **headers})
        response = connection.getresponse()
        content = response.read(MOST + 1)
    if len(content) > MOST:
        raise OutgoingError(say("{host} answered with more than {most} MB", host=host, most=MOST // 1_000_000))
    if 300 <= response.status < 400:
        raise OutgoingError(say("{host} sends us to another address, which we do not follow", host=host))
    return Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, content)


@cache
def _context() -> ssl.SSLContext:
    return ssl.create_default_context()


def _connected(host: str, port: int, inner: Collection[str]) -> socket:
    """A connection to one of the addresses of a host, all of which may be asked."""
    found = list(dict.fromkeys(str(entry[4][0]) for entry in getaddrinfo(host, port, type=SOCK_STREAM)))
    if not ("*" in inner or host in inner):
        for one in found:
            if not is_public(one):
                words = say(
                    "{host} is inside the server's own network; whoever runs the server can allow that: `quaestor serve --inner_hosts`",
                    host=host,
                )
                raise OutgoingError(words)
    last: OSError = OSError("no address")
    for one in found:
        try:
            return create_connection((one, port), timeout=SECONDS)
        except OSError as error:
            last = error
    raise last


def is_public(address: str) -> bool:
    """Whether an address is one of the whole world's: not this machine's, not a local network's, and none that hides another in it."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inside = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo is not None else None)
        if found in _TRANSLATED:
            inside = IPv4Address(int(found) & 0xFFFFFFFF)
        if inside is not None:
            return inside.is_global and not inside.is_multicast
    return found.is_global and not found.is_multicast


def _cut(plain: socket) -> None:
    with suppress(OSError):
        plain.shutdown(SHUT_RDWR)


def _why(error: Exception) -> str:
    """What went wrong, in few words and without addresses."""
    return str(getattr(error, "verify_message", "") or getattr(error, "strerror", "") or type(error).__name__)[:100]
