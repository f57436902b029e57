"""Banks as packages of QTI 3.0, or 2.1: an item a question, a test whose sections are the skills, and a manifest.

Our own numbers stand in the manifest, in an element of our own namespace in the metadata of the package and of each item, where the
standard has room for such elements.
"""

import io
import zipfile
from collections.abc import Iterable
from html import escape
from itertools import groupby
from urllib.parse import quote

from quaestor.bankfile.bank import Bank
from quaestor.formats.exchange import own
from quaestor.formats.exchange.exported import Exported, Media, skill_names
from quaestor.formats.exchange.imported import Collection, Fields, Note
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.package import MOST_FILES
from quaestor.formats.exchange.qti import items
from quaestor.formats.exchange.qti.item_writer import ItemWriter, Version, element
from quaestor.formats.exchange.qti.names import NAMESPACE, identifiers
from quaestor.formats.exchange.xml import parse
from quaestor.formats.limits import refusal
from quaestor.i18n import say

VERSIONS = ("3.0", "2.1")
_MOMENT = (1980, 1, 1, 0, 0, 0)  # of every file in a package: the same bank gives the same bytes


def write(bank: Bank, media: Media, version_of_qti: str = VERSIONS[0]) -> Exported:
    """The bank as a package; `media`: contents of the pictures and sounds that its questions name."""
    version, notes = Version(version_of_qti == VERSIONS[0]), list[Note]()
    kept = Collection()
    names = {name: kept.keep(name, content) for name, content in media.items()}
    files: dict[str, bytes] = {f"media/{name}": content for name, content in kept.media.items()}
    stated = bank.document["questions"]
    first, *rest = identifiers(["test", *bank.questions, *kept.media])
    called = dict(zip(bank.questions, rest, strict=False))
    resources: list[str] = []
    for question in bank.questions.values():
        writer = ItemWriter(question, names, version)
        name, text = f"items/{called[question.id]}.xml", writer.item(called[question.id], bank.language)
        files[name] = text.encode()
        comment = own.question_comment(question.id, stated[question.id], _seen(text))
        resources.append(_resource(called[question.id], f"imsqti_item_{version.kind}", name, _ours(comment), writer.used))
        notes += [Note(name, question.id, words) for words in dict.fromkeys(writer.notes)]
    files["test.xml"] = _test(bank, called, version).encode()
    if len(files) >= MOST_FILES:
        rule = say("a package has at most {most:,} files", most=MOST_FILES)
        raise refusal(rule, say("{count:,} {count:question|questions}", count=len(bank.questions)))
    test = _resource(first, f"imsqti_test_{version.kind}", "test.xml", "", (), called.values())
    others = [_resource(one, "webcontent", f"media/{name}") for one, name in zip(rest[len(called) :], kept.media, strict=True)]
    about = own.bank_comment({**bank.document, "media": names} if names else bank.document)
    files = {"imsmanifest.xml": _manifest(bank, version, about, [test, *resources, *others]).encode(), **files}
    return Exported(_zipped(files), tuple(notes))


def _seen(text: str) -> Fields:
    """What our own reader understands of an item; nothing where it is none for other programs."""
    try:
        return items.read_item(parse(text.encode()), lambda address: address.rpartition("/")[2], [])
    except Refused:
        return {}


def _ours(text: str) -> str:
    return element("quaestor", escape(text, quote=False), xmlns=NAMESPACE)


def _resource(identifier: str, kind: str, name: str, ours: str = "", media: Iterable[str] = (), needs: Iterable[str] = ()) -> str:
    inside = [f"<metadata>{ours}</metadata>" if ours else "", *(element("file", href=quote(one)) for one in (name, *media))]
    inside += [element("dependency", identifierref=one) for one in needs]
    return element("resource", *inside, identifier=identifier, type=kind, href=quote(name))


def _manifest(bank: Bank, version: Version, about: str, resources: list[str]) -> str:
    schema, number = version.about
    metadata = element("metadata", f"<schema>{schema}</schema><schemaversion>{number}</schemaversion>", _ours(about))
    inside = (metadata, "<organizations/>", element("resources", *(f"\n{one}" for one in resources), "\n"))
    made = element("manifest", *inside, xmlns=version.manifest, identifier=f"quaestor-{bank.version}")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{made}\n'


def _test(bank: Bank, called: dict[str, str], version: Version) -> str:
    """A test of all questions in their order; those on the same skills one after the other are a section."""
    sections = []
    for number, (title, group) in enumerate(groupby(bank.questions.values(), skill_names), 1):
        refs = [version.element("assessmentItemRef", identifier=called[one.id], href=quote(f"items/{called[one.id]}.xml")) for one in group]
        sections.append(version.element("assessmentSection", *refs, identifier=f"section{number}", title=title, visible="true"))
    part = version.element("testPart", *sections, identifier="part", navigationMode="nonlinear", submissionMode="individual")
    return version.root("assessmentTest", part, identifier="test", title=bank.title or "test")


def _zipped(files: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _MOMENT), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()
