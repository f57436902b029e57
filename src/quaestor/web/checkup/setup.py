"""Checks of the settings, one against another, and of the server that runs with them."""

import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener

from quaestor.version import VERSION
from quaestor.web.checkup.finding import Finding, advice, fine, wrong
from quaestor.web.settings import PREFIX, Settings

LOCAL = ("127.0.0.1", "::1", "localhost")
EVERYWHERE = ("0.0.0.0", "::")
COMMON = ("", "quaestor", "postgres", "password", "secret", "change-me", "changeme")
KNOWN = {PREFIX + field.name.upper() for field in fields(Settings)}
SHARED = "QUAESTOR_SECRET"  # no setting, but what several machines may share (`store.secrets`)
PATIENCE = 5  # seconds that a server may take to answer
_open = build_opener(ProxyHandler({})).open  # by no proxy, whatever the environment says: the server is asked itself


def names(environment: Mapping[str, str] = os.environ) -> list[Finding]:
    """Whether every variable that begins like a setting is one."""
    for name in sorted(set(environment) - KNOWN - {SHARED}):
        if name.startswith(PREFIX):
            near = get_close_matches(name, KNOWN, 1)
            meant = f" Perhaps {near[0]} is meant." if near else ""
            return wrong(
                "names",
                f"{name} is set, but there is no such setting.{meant}",
                f"Rename or remove {name}; docs/server.md lists the settings.",
            )
    count = len(KNOWN & set(environment))
    return fine(
        "names", f"{count or 'None'} of the settings {'is' if count == 1 else 'are'} set in the environment, and all names are known."
    )


def address(settings: Settings) -> list[Finding]:
    """Whether what people type, what the server listens on and what a proxy does fit together."""
    shown, is_local = urlsplit(settings.address), settings.host in LOCAL
    path = shown.path.rstrip("/")
    if settings.address and path != settings.root:
        words = (
            f"People reach the server below '{path or '/'}' (--address), but it makes its links below '{settings.root or '/'}' (--root)."
        )
        return wrong("address", words, f"Set --root {path}" if path else "Leave --root out, or add its path to --address.")
    if shown.scheme == "https" and not is_local and settings.proxies == Settings.proxies:
        words = (
            f"People come by https (--address), and the server listens on {settings.host}, but only a proxy on this machine is believed "
            "(--proxies): from any other one the server sees http, so cookies are not Secure, and all people share one address."
        )
        return wrong("address", words, "Set --proxies to the address of the proxy; or --host 127.0.0.1 if the proxy is on this machine.")
    if settings.proxies.strip() == "*" and not is_local:
        words = f"The server listens on {settings.host} and believes everybody who says for whom they ask (--proxies '*')."
        return advice("address", words, "Name the proxy's address in --proxies, unless nobody but the proxy can reach this port.")
    if not settings.address and not is_local:
        words = f"The server listens on {settings.host}, and nothing says how people reach it: printed links would not work elsewhere."
        return wrong("address", words, "Set --address to what people type, e.g. https://tests.school.example")
    if shown.scheme == "http" and shown.hostname not in LOCAL:
        words = f"People reach the server at {settings.address}: passwords, codes and answers cross the network unencrypted."
        return wrong(
            "address",
            words,
            "Put a proxy with https before it and set --address https://...; docs/how-to/run-it-for-a-school.md shows one.",
        )
    return fine("address", f"People reach the server at {settings.public_address}/ .")


def secrets(settings: Settings) -> list[Finding]:
    """Whether passwords in the settings can be guessed. The server itself has none: what is random is made when it is needed."""
    there = urlsplit(settings.database)
    if there.password is not None and (there.password in COMMON or there.password == there.username):
        words = "The password of the database can be guessed."
        return wrong("secrets", words, "Choose a long random one: python -c 'import secrets; print(secrets.token_urlsafe())'")
    if settings.metrics and len(set(settings.metrics)) < 8:
        words = "The token of /metrics (--metrics) can be guessed: it has few different characters."
        return wrong("secrets", words, "Choose a random one: python -c 'import secrets; print(secrets.token_urlsafe())'")
    return fine("secrets", "No password or token of the settings is one that many people use.")


def server(settings: Settings) -> list[Finding]:
    """Whether the server runs and is well, or the port is free for it."""
    host = "127.0.0.1" if settings.host in EVERYWHERE else settings.host
    where = f"port {settings.port} of {settings.host}"
    try:
        socket.create_connection((host, settings.port), PATIENCE).close()
    except OSError:
        return _free(settings, where)
    try:
        with _open(f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/health", timeout=PATIENCE) as response:
            told = json.load(response)
            version = str(told["version"]) if told["status"] == "well" else ""
    except HTTPError as error:
        if error.code == 503 and (reasons := _reasons(error)) is not None:
            return _unwell(reasons)
        version = ""
    except (URLError, OSError, ValueError, KeyError, TypeError):
        version = ""
    if not version:
        words = f"Something else than Quaestor answers at {where}."
        return wrong("server", words, "Stop it, or choose another port with --port.")
    if version != VERSION:
        words = f"The server that runs is version {version}; installed is {VERSION}."
        return advice("server", words, "Start it again: systemctl restart quaestor")
    return fine("server", f"The server runs at {where} and is well.")


def _reasons(error: HTTPError) -> list[str] | None:
    """What /health says is wrong; None if it is not that of Quaestor."""
    try:
        told = json.load(error)
        return [str(one) for one in told["wrong"]] if told["status"] == "unwell" else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _unwell(reasons: Sequence[str]) -> list[Finding]:
    words = f"The server runs, but says that it is not well: {'; '.join(reasons)}."
    mends = []
    if any("folder with room to write" in one for one in reasons):
        mends.append("Make room on the disk, or let the user of the server write there; nothing has to be restarted.")
    if any(one.startswith("database:") for one in reasons):
        mends.append("See what is said of the database here.")
    return wrong("server", words, " ".join(mends) or "See its log: journalctl --unit quaestor")


def _free(settings: Settings, where: str) -> list[Finding]:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        socket.create_server((settings.host, settings.port), family=family).close()
    except (OSError, OverflowError) as error:
        words = f"The server does not run, and cannot listen at {where}: {getattr(error, 'strerror', None) or error}."
        return wrong("server", words, "Choose another --host or --port; ports below 1024 are for root, leave them to the proxy.")
    return fine("server", f"The server does not run; {where} is free for it.")
