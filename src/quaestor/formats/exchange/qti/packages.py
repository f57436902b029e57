"""Files and packages of QTI: which items they hold, in which order, and where their pictures are.

A package is a zip file with a manifest. What the manifest names is looked at first: tests, whose sections name items; items; files of QTI
1.2. Some programs name items only in the test, or write the same quiz twice: an item is read once, and of two versions of one quiz the
fuller one.
"""

from collections.abc import Iterator
from pathlib import PurePath

from quaestor.errors import BankError, format_value
from quaestor.formats.exchange import own, xml
from quaestor.formats.exchange.html import Keep
from quaestor.formats.exchange.imported import Collection, Imported
from quaestor.formats.exchange.keys import Refused
from quaestor.formats.exchange.media import is_shown
from quaestor.formats.exchange.package import Package, is_package
from quaestor.formats.exchange.qti import items, old_tests
from quaestor.formats.exchange.qti.names import NAMESPACE, attribute, kind, told_name
from quaestor.formats.exchange.xml import Element
from quaestor.formats.limits import refusal
from quaestor.i18n import said, say

MANIFEST = "imsmanifest.xml"
TESTS = ("assessmentTest", "qti-assessment-test")
SECTIONS = ("assessmentSection", "qti-assessment-section")
ROOTS = (old_tests.ROOT, *items.ROOTS, *TESTS)
_BASES = ("$IMS-CC-FILEBASE$", "$IMS_CC_FILEBASE$", "$IMS_CC_FILE_BASE$", "%24IMS-CC-FILEBASE%24", "%24IMS_CC_FILEBASE%24")
_DEEPEST = 20  # sections of a test that stand in files of their own


def recognise(data: bytes, name: str) -> bool:
    """Whether this is an item, a test or a package of QTI."""
    try:
        if is_package(data):
            return any(PurePath(one).name == MANIFEST for one in Package(data).names)
        return data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and xml.outermost(data).tag in ROOTS
    except BankError:  # to be refused for what is wrong with it
        return any(sign.encode() in data for sign in ((MANIFEST,) if is_package(data) else ROOTS))


def read(data: bytes, name: str) -> Imported:
    """The questions of a file or a package."""
    if is_package(data):
        return _Reader(Package(data), PurePath(name).stem).read()
    root = xml.parse(data)
    found = Collection(_title_of(root) or PurePath(name).stem)
    if root.tag == old_tests.ROOT:
        old_tests.read_tests(root, found, _nothing)
    elif root.tag in items.ROOTS:
        _read_item(root, found, _nothing)
    else:
        raise refusal(say("a test of QTI comes in a package with its items"), say("the test alone"))
    return found.finished()


def _title_of(root: Element) -> str:
    return old_tests.title(root) if root.tag == old_tests.ROOT else attribute(root, "title")


def _ours(element: Element) -> str:
    """What an element of our own says in the metadata of a package or a resource."""
    metadata = element.first("metadata")
    found = metadata.first("quaestor") if metadata is not None else None
    return found.text if found is not None and found.namespace == NAMESPACE else ""


def _nothing(address: str) -> str:
    """Pictures of a file that stands alone are not in it."""
    return ""


def _read_item(
    root: Element, found: Collection, keep: Keep, file: str = "", path: tuple[str, ...] = (), tags: tuple[str, ...] = (), ours: str = ""
) -> None:
    name = told_name(attribute(root, "identifier"), attribute(root, "title"))
    place = old_tests.place(root, file)
    notes: list[str] = []
    reason, visible = "", None
    try:
        visible = items.read_item(root, keep, notes)
    except Refused as refused:
        reason = said(refused)
    fields, kept = own.merged(visible, [ours], notes)
    if fields is None:
        found.refuse(name, place, reason)
    else:
        found.add(kept or name, fields, place, notes, path, tags, is_ours=bool(kept))


class _Reader:
    """A package that is being read."""

    def __init__(self, package: Package, stem: str) -> None:
        self._package = package
        manifests = [one for one in package.names if PurePath(one).name == MANIFEST]
        if not manifests:
            raise refusal(say("a package of QTI has a manifest, {name}", name=MANIFEST), say("none"))
        self._manifest = min(manifests, key=len)
        self._root = xml.parse(package.read(self._manifest))
        self._found = Collection(stem)
        self._ours = {self._package.find(one.attributes.get("href", ""), self._manifest): _ours(one) for one in self._resources()}
        self._roots: dict[str, Element] = {}  # of all files that are of QTI
        self._done: set[str] = set()

    def read(self) -> Imported:
        """All of it."""
        for name in self._listed():
            if (root := self._parsed(name)) is not None:
                self._roots[name] = root
        roots = self._fullest()
        titles = [_title_of(root) for root in roots.values() if root.tag in (*TESTS, old_tests.ROOT)]
        self._found.title = (titles[0] if len(titles) == 1 else self._title()) or self._found.title
        for name, root in roots.items():
            if root.tag in TESTS:
                self._read_test(root, name)
        for name, root in roots.items():
            if root.tag == old_tests.ROOT:
                old_tests.read_tests(root, self._found, self._keeper(name), name)
            elif root.tag in items.ROOTS and name not in self._done:
                self._read_file(name, root)
        self._found.bank = own.bank_of([_ours(self._root)])
        for name, kept in self._media_of(self._found.bank.pop("media", None)):
            self._found.media[name] = self._package.read(kept)
        return self._found.finished()

    def _media_of(self, names: object) -> Iterator[tuple[str, str]]:
        """The names that pictures and sounds have in our own bank, with their files."""
        for name, kept in names.items() if isinstance(names, dict) else ():
            if file := self._package.find(f"media/{kept}", self._manifest):
                yield str(name), file

    def _resources(self) -> list[Element]:
        return [one for one in self._root.walk() if one.tag == "resource"]

    def _title(self) -> str:
        """The title in the manifest."""
        metadata = self._root.first("metadata")
        general = next((one for one in metadata.walk() if one.tag == "general"), None) if metadata is not None else None
        title = general.first("title") if general is not None else None
        return " ".join(title.whole_text().split()) if title is not None else ""

    def _listed(self) -> list[str]:
        """The files that the manifest names and that may be of QTI, then all others that may; missing ones are told."""
        named: dict[str, None] = {}
        missing: dict[str, Element] = {}
        for resource in self._resources():
            for one in (resource, *resource.all("file")):
                href = one.attributes.get("href", "")
                if not href:
                    continue
                if name := self._package.find(href, self._manifest):
                    named[name] = None
                else:
                    missing.setdefault(href, one)
        for href, one in missing.items():
            words = say("the package does not hold the file {name} that it names", name=format_value(href))
            self._found.note(old_tests.place(one, self._manifest), words)
        rest = [name for name in self._package.names if name not in named]
        return [name for name in (*named, *rest) if name.lower().endswith((".xml", ".qti"))]

    def _parsed(self, name: str) -> Element | None:
        """The root of a file, where it is of QTI; a broken file is told."""
        if name == self._manifest:
            return None
        try:
            data = self._package.read(name)
            return xml.parse(data) if xml.outermost(data).tag in (*ROOTS, *SECTIONS) else None
        except BankError as error:
            self._found.refuse(PurePath(name).name, name, said(error))
            return None

    def _fullest(self) -> dict[str, Element]:
        """All files but those of QTI 1.2 that hold less of a quiz which another file holds too."""
        best: dict[str, str] = {}
        for name, root in self._roots.items():
            quiz = next((one.attributes.get("ident", "") for one in root.all("assessment")), "") or name
            other = best.setdefault(quiz, name)
            if other != name:
                more, less = (name, other) if old_tests.items(root) > old_tests.items(self._roots[other]) else (other, name)
                words = say("it holds less of the quiz that is in {file}, which was read", file=more)
                self._found.note(less, words)
                best[quiz] = more
        read = set(best.values())
        return {name: root for name, root in self._roots.items() if name in read}

    def _read_test(self, test: Element, name: str) -> None:
        for one in test.walk():
            if kind(one) in ("outcomeProcessing", "testFeedback", "timeLimits", "selection", "preCondition", "branchRule", "weight"):
                words = say("rules of the test were left out: {name}", name=kind(one))
                self._found.note(old_tests.place(one, name), words)
        for part in test.children:
            if kind(part) == "testPart":
                self._read_section(part, name, (), 0)

    def _read_section(self, section: Element, file: str, path: tuple[str, ...], depth: int) -> None:
        for part in section.children:
            place = old_tests.place(part, file)
            if kind(part) == "assessmentSection":
                title = attribute(part, "title")
                self._read_section(part, file, (*path, title) if title else path, depth)
            elif kind(part) in ("assessmentItemRef", "assessmentSectionRef"):
                href, identifier = attribute(part, "href"), attribute(part, "identifier")
                target = self._package.find(href, file)
                root = self._roots.get(target)
                if root is None:
                    self._found.refuse(
                        identifier, place, say("the package does not hold the file {name} that it names", name=format_value(href))
                    )
                elif kind(part) == "assessmentItemRef":
                    if target not in self._done:
                        self._read_file(target, root, path, tuple(attribute(part, "category").split()))
                elif root.tag not in SECTIONS:
                    self._refuse_root(target, root, "<assessmentSection>")
                elif depth == _DEEPEST or target in self._done:
                    self._found.note(place, say("a section that holds itself was left out: {name}", name=format_value(href)))
                else:
                    self._done.add(target)
                    self._read_section(root, target, path, depth + 1)

    def _read_file(self, name: str, root: Element, path: tuple[str, ...] = (), tags: tuple[str, ...] = ()) -> None:
        self._done.add(name)
        if root.tag not in items.ROOTS:
            self._refuse_root(name, root, "<assessmentItem>")
        else:
            _read_item(root, self._found, self._keeper(name), name, path, tags, self._ours.get(name, ""))

    def _refuse_root(self, name: str, root: Element, wanted: str) -> None:
        words = say("a file that a test names holds {wanted}, got {found}", wanted=wanted, found=f"<{root.tag}>")
        self._found.refuse(PurePath(name).name, name, words)

    def _keeper(self, file: str) -> Keep:
        """Keeps the pictures and sounds that a file of the package names."""

        def keep(address: str) -> str:
            plain = address
            for base in _BASES:
                plain = plain.removeprefix(base)
            name = self._package.find(plain, file) or self._by_end(plain)
            content = self._package.read(name) if name else b""
            return self._found.keep(name, content) if is_shown(content) else ""

        return keep

    def _by_end(self, address: str) -> str:
        """The only file whose name ends with this address, as some programs leave folders out."""
        plain = address.lstrip("./")
        alike = [name for name in self._package.names if name.endswith(f"/{plain}")] if plain else []
        return alike[0] if len(alike) == 1 else ""
