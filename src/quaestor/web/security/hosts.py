"""By which names the server may be asked: a page elsewhere whose name was made to point here gets nothing.

Such a name has a dot and belongs to somebody. So addresses in digits, names without a dot and names of the local network are always
taken; others must be named in the settings. Where the settings name none but the path that a reverse proxy shows (`--root`), that proxy
sees to it.
"""

import re
import socket
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from quaestor.web.settings import Settings

LOCAL = (".localhost", ".local")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]*)(:[0-9]{1,5})?")


def known(settings: Settings) -> Callable[[str], bool]:
    """Whether a server with these settings is meant by what a request says in its `Host`."""
    named = {one.strip().lower() for one in settings.hosts.split(",")}
    address = urlsplit(settings.address).hostname
    exact = {name.lower() for name in (settings.host, address, socket.gethostname()) if name} | named
    takes_all = "*" in named or bool(settings.root and not settings.address and not settings.hosts)
    ends = tuple(one[1:] for one in named if one.startswith("*.")) + LOCAL

    def is_known(host: str) -> bool:
        found = _HOST.fullmatch(host.lower())
        if takes_all or found is None:
            return takes_all
        name = found[1].rstrip(".")
        return name in exact or "." not in name or name.endswith(ends) or _is_address(name)

    return is_known


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
