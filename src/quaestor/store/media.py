"""Images and sounds of banks, stored once for each content.

The type is decided by the first bytes, never by the name; SVG, which can contain scripts, is refused.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import PurePosixPath

from sqlalchemy import delete, select, text
from sqlalchemy.orm import Session as Work

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, got
from quaestor.i18n import say
from quaestor.model.entries import SOUNDS
from quaestor.store.erasure import erased
from quaestor.store.inserts import insert
from quaestor.store.models import BankVersion, Edition, Media

MOST_BYTES, MOST_OF_SOUND, MOST_IN_ALL = 2_000_000, 5_000_000, 50_000_000


class MediaError(QuaestorError):
    """An image that is missing, too large, or not an image."""


def chosen(bank: Bank, images: Mapping[str, bytes]) -> dict[str, bytes]:
    """The checked images that the questions of a bank name; a file with that name in another folder is accepted if there is only one."""
    found: dict[str, bytes] = {}
    for question in bank.questions.values():
        for name in question.files:
            if name not in found and (name == question.media or _file(name, images)):  # a text may name one that is missing
                found[name] = _named(question.id, name, images)
    total = sum(map(len, found.values()))
    if total > MOST_IN_ALL:
        rule = say("the images of a bank have at most {most} MB", most=MOST_IN_ALL // 1_000_000)
        raise MediaError.at("media", got(rule, f"{total / 1e6:.1f} MB"))
    return found


def _named(question: str, name: str, images: Mapping[str, bytes]) -> bytes:
    place = f"questions.{question}.media"
    file = _file(name, images)
    if not file:
        raise MediaError.at(place, got(say("the image comes with the bank"), say("no file for {name}", name=format_value(name))))
    check_image(place, name, images[file])
    return images[file]


def _file(name: str, images: Mapping[str, bytes]) -> str:
    """The file that a name means; empty if there is none."""
    same = [file for file in images if PurePosixPath(file).name == PurePosixPath(name).name]
    return name if name in images else same[0] if len(same) == 1 else ""


def check_image(place: str, name: str, content: bytes) -> None:
    """Refuse an image or a sound that is too large or of an unsupported type: its content tells which, its name only what it should be."""
    if name.lower().endswith(SOUNDS):
        if len(content) > MOST_OF_SOUND:
            found = say("{size:.1f} MB in {name}", size=len(content) / 1e6, name=format_value(name))
            raise MediaError.at(place, got(say("a sound has at most {most} MB", most=MOST_OF_SOUND // 1_000_000), found))
        if not kind_of(content).startswith("audio/"):
            found = say("another kind of file in {name}", name=format_value(name))
            raise MediaError.at(place, got(say("a sound is an MP3, Ogg, WAV or M4A file"), found))
        return
    if len(content) > MOST_BYTES:
        found = say("{size:.1f} MB in {name}", size=len(content) / 1e6, name=format_value(name))
        raise MediaError.at(place, got(say("an image has at most {most} MB", most=MOST_BYTES // 1_000_000), found))
    if not kind_of(content).startswith("image/"):
        found = say("another kind of file in {name}", name=format_value(name))
        raise MediaError.at(place, got(say("an image is a PNG, JPEG, GIF or WebP file"), found))


def kind_of(content: bytes) -> str:
    """The media type of an image or a sound by its first bytes; empty if it is not supported."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if content.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if content[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(content[8:12], "")
    if content.startswith(b"OggS"):
        return "audio/ogg"
    if content[4:8] == b"ftyp":
        return "audio/mp4" if content[8:11] in (b"M4A", b"mp4", b"iso") else ""
    is_mp3 = content.startswith(b"ID3") or (len(content) > 1 and content[0] == 0xFF and content[1] & 0xE6 == 0xE2)  # layer III
    return "audio/mpeg" if is_mp3 else ""


def keep_images(work: Work, images: Mapping[str, bytes]) -> dict[str, str]:
    """Store images; returns their hashes by name."""
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in images.items()}
    for name, content in images.items():
        row = insert(work, Media).values(hash=hashes[name], kind=kind_of(content), content=content)
        work.execute(row.on_conflict_do_nothing())
    return hashes


def hash_of(media: Mapping[str, str]) -> str:
    """The hash of a map from names to image hashes; empty if there are none."""
    return hashlib.sha256(json.dumps(dict(media), sort_keys=True).encode()).hexdigest() if media else ""


def image(work: Work, kept: BankVersion, name: str) -> tuple[str, bytes]:
    """The media type (such as image/png) and the content of one of a bank's images."""
    found = work.execute(select(Media.kind, Media.content).where(Media.hash == kept.media.get(name, ""))).first()
    if found is None:
        raise MediaError(got(say("the bank has an image of this name"), say("none for {name}", name=format_value(name))))
    return found[0], found[1]


def drop_unused(work: Work) -> None:
    """Delete the images that no bank and no draft has any more; it waits for those who store some at this moment."""
    if work.get_bind().dialect.name == "postgresql":
        work.execute(text("lock table media in share row exclusive mode"))
    used = {one for column in (BankVersion.media, Edition.media) for found in work.scalars(select(column)) for one in found.values()}
    unused = [one for one in work.scalars(select(Media.hash)) if one not in used]
    for one in unused:
        work.execute(delete(Media).where(Media.hash == one))
    if unused:
        erased(work)
