"""Zip packages of strangers: looked at as a whole before anything in them is unpacked, and never unpacked onto the disk.

Refused: too many files, too much when unpacked, files packed far more densely than texts and pictures are, names that lead out of the
package, links, encryption, two files of one name, and anything packed in a way other than the usual ones.
"""

import io
import re
import stat
import zipfile
import zlib
from pathlib import PurePosixPath
from urllib.parse import unquote

from quaestor.errors import format_value
from quaestor.formats.limits import LARGEST_FILE, LARGEST_SHEET, refusal
from quaestor.i18n import say

MOST_FILES = 5_000
LARGEST_UNPACKED = LARGEST_SHEET
DENSEST = 200  # bytes that one packed byte may become, of files above `SMALL`
SMALL = 1_000_000
_LONGEST_NAME = 500
_DRIVE = re.compile(r"[A-Za-z]:")
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, ValueError, IndexError)


def is_package(data: bytes) -> bool:
    """Whether this is a zip file, by its first bytes."""
    return data[:4] in (b"PK\x03\x04", b"PK\x05\x06")


class Package:
    """The files of a package by name; contents are unpacked when asked for."""

    def __init__(self, data: bytes) -> None:
        if len(data) > LARGEST_FILE:
            rule = say("a file has at most {most:,} bytes", most=LARGEST_FILE)
            raise refusal(rule, say("{count:,} {count:byte|bytes}", count=len(data)))
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            entries = [entry for entry in self._zip.infolist() if not entry.is_dir()]
        except _BROKEN as error:
            raise refusal(say("the file is a zip package"), format_value(str(error))) from error
        if len(self._zip.infolist()) > MOST_FILES:
            raise refusal(say("a package has at most {most:,} files", most=MOST_FILES), f"{len(self._zip.infolist()):,}")
        size = sum(entry.file_size for entry in entries)
        if size > LARGEST_UNPACKED:
            rule = say("a package has at most {most:,} bytes when unpacked", most=LARGEST_UNPACKED)
            raise refusal(rule, say("{count:,} {count:byte|bytes}", count=size))
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            _check(entry)
            if entry.filename in self._entries:
                raise refusal(say("each file of a package has a name of its own"), format_value(entry.filename))
            self._entries[entry.filename] = entry
        self.names = tuple(self._entries)

    def read(self, name: str) -> bytes:
        """The content of a file."""
        try:
            return self._zip.read(self._entries[name])
        except KeyError as error:
            raise refusal(say("the package has the file that it names"), format_value(name)) from error
        except _BROKEN as error:
            raise refusal(say("a file of the package can be unpacked"), format_value(f"{name}: {error}")) from error

    def find(self, href: str, beside: str = "") -> str:
        """The name of the file that an address means, as seen from the file `beside`; empty where there is none.

        Addresses of the web, and what leads out of the package, mean none.
        """
        plain = unquote(href.partition("#")[0].partition("?")[0]).replace("\\", "/")
        for folder in (PurePosixPath(beside).parent, PurePosixPath()):
            parts: list[str] = []
            for part in (folder / plain.lstrip("/")).parts:
                if part == ".." and not parts:
                    break
                parts = parts[:-1] if part == ".." else [*parts, part]
            else:
                if (name := "/".join(parts)) in self._entries:
                    return name
        return ""


def _check(entry: zipfile.ZipInfo) -> None:
    name = entry.filename
    shown = format_value(name)
    leads_out = name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in re.split(r"[/\\]", name)
    if leads_out or len(name) > _LONGEST_NAME or not name.isprintable():
        raise refusal(say("a file of a package has a name below its folder"), shown)
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise refusal(say("a package has no links"), shown)
    if entry.flag_bits & 0x1:
        raise refusal(say("a package is not encrypted"), shown, say("unpack it with its password and pack it again without one"))
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise refusal(say("a package is packed in the usual way (deflate)"), shown)
    if entry.file_size > SMALL and entry.file_size > DENSEST * max(entry.compress_size, 1):
        rule = say("a file of a package becomes at most {most} times as large when unpacked", most=DENSEST)
        raise refusal(rule, say("{count:,} bytes from {packed:,} in {name}", count=entry.file_size, packed=entry.compress_size, name=shown))
