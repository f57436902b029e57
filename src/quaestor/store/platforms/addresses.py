"""Addresses that platforms and owners give us: https with a host, nothing hidden in them; http only on this very machine, for trials."""

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from quaestor.errors import QuaestorError, got
from quaestor.i18n import say
from quaestor.store.platform_tables import ADDRESS
from quaestor.store.texts import line

_HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")  # what stands in a policy as it is must be nothing but a host


def is_loopback(host: str) -> bool:
    """Whether a name or address means the machine itself."""
    if host in ("localhost", "localhost."):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def parts(written: str) -> SplitResult | None:
    """The parts of an address that may be asked or opened; None if it is none, or could mean something else than it shows."""
    if len(written) > ADDRESS or not written.isascii() or line(written) != written or " " in written or "\\" in written:
        return None
    try:
        found = urlsplit(written)
        port, host = found.port, found.hostname
    except ValueError:
        return None
    if not host or port == 0 or _HOST.fullmatch(found.netloc.lower()) is None or found.fragment:
        return None
    return found if found.scheme == "https" or (found.scheme == "http" and is_loopback(host)) else None


def checked(field: str, written: str) -> str:
    """An address that was entered, without spaces around it; QuaestorError if it cannot be one."""
    found = written.strip()
    if parts(found) is None:
        raise QuaestorError.at(field, got(say("an address that begins with https://"), f"'{found[:80]}'"))
    return found


def origin(written: str) -> str:
    """The origin of an address, such as https://moodle.school.example; empty if it is none."""
    found = parts(written)
    return "" if found is None else f"{found.scheme}://{found.netloc.lower()}"
