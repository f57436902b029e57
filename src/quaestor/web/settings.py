"""How the server is set up: one table of settings, each a flag of `quaestor serve` and an environment variable.

Several worker processes are told by the environment, so whatever the flags say is written there before they start.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from quaestor.errors import QuaestorError
from quaestor.store.texts import checked_email

PREFIX = "QUAESTOR_"
LOGS = ("text", "json")
_TOKEN = re.compile(r"[\w.~+/=-]{16,}", re.ASCII)
LONGEST_ISSUER = 255
RANGES = {
    "port": (0, 65535),
    "workers": (1, 64),
    "upload": (1, 50),
    "step_seconds": (1, 60),
    "step_memory": (100, 100_000),
    "job_memory": (100, 1_000_000),
    "cache": (16, 100_000),
}


@dataclass(frozen=True)
class Settings:
    """What the server needs to know; every field has a default that works on one's own machine."""

    data: str = "quaestor-data"
    database: str = ""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    root: str = ""
    address: str = ""
    hosts: str = ""
    inner_hosts: str = ""
    proxies: str = "127.0.0.1"
    upload: int = 10
    step_seconds: int = 3
    step_memory: int = 1000
    job_memory: int = 3000
    email: str = "owner@localhost"
    cache: int = 256
    metrics: str = ""
    log: str = "text"
    openid: str = ""
    openid_client: str = ""
    openid_secret: str = ""
    openid_secret_file: str = ""
    openid_name: str = ""

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise QuaestorError(f"{name}: a whole number from {least} to {most}, got {getattr(self, name)}")
        if self.root and (not self.root.startswith("/") or self.root.endswith("/")):
            raise QuaestorError(f"root: a path such as /quaestor, got '{self.root}'")
        if self.address and not self.address.startswith(("http://", "https://")):
            raise QuaestorError(f"address: begins with http:// or https://, got '{self.address}'")
        for name in filter(None, self.hosts.split(",")):
            if not re.fullmatch(r"\*|(\*\.)?[A-Za-z0-9._-]+", name.strip()):
                raise QuaestorError(f"hosts: names such as tests.school.example, got '{name.strip()}'")
        for name in filter(None, self.inner_hosts.split(",")):
            if not re.fullmatch(r"\*|[A-Za-z0-9._:-]+", name.strip()):
                raise QuaestorError(f"inner_hosts: names or addresses such as moodle.school.lan, got '{name.strip()}'")
        checked_email(self.email)
        if self.metrics and not _TOKEN.fullmatch(self.metrics):
            raise QuaestorError(f"metrics: a token of at least 16 letters, digits and -._~+/=, got one of {len(self.metrics)} characters")
        if self.log not in LOGS:
            raise QuaestorError(f"log: one of {', '.join(LOGS)}, got '{self.log}'")
        self._check_openid()

    def _check_openid(self) -> None:
        """An issuer is an address without anything that a path could be put after; https, unless it is tried out on this machine."""
        if not self.openid:
            return
        if not (is_https(self.openid) or is_here(self.openid)) or "?" in self.openid or "#" in self.openid:
            raise QuaestorError(f"openid: the address of an issuer such as https://login.school.example, got '{self.openid}'")
        if len(self.openid) > LONGEST_ISSUER:
            raise QuaestorError(f"openid: at most {LONGEST_ISSUER} characters, got {len(self.openid)}")
        if not self.openid_client:
            raise QuaestorError("openid_client: the name under which the provider knows this server, got none")
        if self.openid_secret and self.openid_secret_file:
            raise QuaestorError("openid_secret: itself or a file with it, got both")

    def client_secret(self) -> str:
        """The secret of this server at the provider of `openid`, itself or from its file; empty where there is none."""
        if find_spec("authlib") is None or find_spec("httpx2") is None:
            raise QuaestorError("openid: needs Authlib and httpx2, got neither or one of them; pip install 'quaestor[web,openid]'")
        if not self.openid_secret_file:
            return self.openid_secret
        try:
            found = Path(self.openid_secret_file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "no text"
            raise QuaestorError(f"openid_secret_file: a file that can be read, got {self.openid_secret_file} ({why})") from error
        if not found:
            raise QuaestorError(f"openid_secret_file: a file with the secret, got {self.openid_secret_file}, which is empty")
        return found

    @property
    def database_url(self) -> str:
        """The address of the database; a file in the data folder unless another one is named."""
        return self.database or f"sqlite:///{Path(self.data) / 'quaestor.db'}"

    @property
    def public_address(self) -> str:
        """Where people reach the server, for links that are printed: no final slash."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.address or f"http://{host}:{self.port}{self.root}").rstrip("/")


MEANINGS = {
    "data": "the folder of the embedded database; `serve` and `restore` make it when it is missing",
    "database": "another database, e.g. postgresql+psycopg://user:password@host/name",
    "host": "the address to listen on, e.g. ::1; 0.0.0.0 for all of the machine's",
    "port": "the port to listen on; 0 takes a free one",
    "workers": "how many processes serve; more than one needs no further set-up",
    "root": "the path below which a reverse proxy shows the server, e.g. /quaestor",
    "address": "where people reach the server, for printed links, e.g. https://tests.school.example/quaestor",
    "hosts": "further names of the server, with commas, e.g. tests.school.example or *.school.example; * for any",
    "inner_hosts": "learning platforms inside the server's own network that it may ask, with commas, e.g. moodle.school.lan; * for any",
    "proxies": "addresses whose X-Forwarded-For and X-Forwarded-Proto are believed, with commas; * for all",
    "upload": "the largest upload, in megabytes",
    "step_seconds": "how long a step of a test may take, in seconds; what takes longer goes on with what is known by then",
    "step_memory": "the memory that a step of a test may take, in megabytes",
    "job_memory": "the memory that a trial or another job may take, in megabytes",
    "email": "the address of the owner's account, used when it is first made",
    "cache": "the most that each process keeps of sessions, banks and texts, in megabytes",
    "metrics": "a token of at least 16 characters: who sends it may read /metrics; without one the page is not there",
    "log": "text, or json: a line for each request",
    "openid": "the issuer by which teachers may sign in (OpenID Connect), e.g. https://login.school.example",
    "openid_client": "the name under which that provider knows this server (client id)",
    "openid_secret": "the secret of this server there; better in its variable or a file, as lists of processes show flags",
    "openid_secret_file": "a file that holds this secret",
    "openid_name": "what teachers call the provider, e.g. School login; else its host",
}


def is_https(address: str) -> bool:
    """Whether an address is one that is asked by https."""
    return _scheme_and_host(address)[0] == "https" and bool(_scheme_and_host(address)[1])


def is_here(address: str) -> bool:
    """Whether an address is one of this machine, where http is as good as https."""
    scheme, host = _scheme_and_host(address)
    return scheme in ("http", "https") and host in ("127.0.0.1", "::1", "localhost")


def _scheme_and_host(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname or ""
    except ValueError:  # brackets of an IPv6 address that are none
        return "", ""


def from_environment(environment: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
    """The settings of the environment, changed by those flags that are not None. The flag `data` alone means the file in that folder."""
    found: dict[str, Any] = {}
    if flags.get("data") is not None and flags.get("database") is None:
        flags["database"] = ""
    for field in fields(Settings):
        given = flags.get(field.name)
        written = environment.get(PREFIX + field.name.upper())
        if given is None and written is None:
            continue
        value = given if given is not None else written
        try:
            found[field.name] = int(str(value)) if isinstance(field.default, int) else str(value)
        except ValueError as error:
            raise QuaestorError(f"{field.name}: a whole number, got '{value}'") from error
    return Settings(**found)


def to_environment(settings: Settings) -> dict[str, str]:
    """The settings as environment variables, for the worker processes."""
    return {PREFIX + field.name.upper(): str(getattr(settings, field.name)) for field in fields(Settings)}
