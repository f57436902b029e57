"""What a picture or sound of a stranger is, by its first bytes; SVG, which can hold scripts, is none."""

import base64
import binascii
from collections.abc import Mapping
from urllib.parse import unquote

from quaestor.formats.exchange.html import Keep
from quaestor.formats.exchange.imported import Collection

_FIRST = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"ID3", b"OggS", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2")


def is_shown(content: bytes) -> bool:
    """Whether a picture (PNG, JPEG, GIF, WebP) or sound (MP3, Ogg, WAV, M4A) can be shown or played."""
    riff = content[:4] == b"RIFF" and content[8:12] in (b"WEBP", b"WAVE")
    return content.startswith(_FIRST) or riff or content[4:8] == b"ftyp"


def from_base64(text: str) -> bytes:
    """The content of a file that stands as a text; empty where it is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return b""


def keeper(found: Collection, files: Mapping[str, bytes], prefix: str = "@@PLUGINFILE@@/") -> Keep:
    """How the pictures and sounds among these files are kept; their addresses begin with a prefix."""

    def keep(address: str) -> str:
        name = unquote(address.partition("?")[0]).removeprefix(prefix)
        content = files.get(name, b"")
        return found.keep(name, content) if address.startswith(prefix) and is_shown(content) else ""

    return keep
