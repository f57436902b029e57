"""XML of strangers: read by a parser that knows no entities and no other files, within limits, and remembers lines.

A document type with declarations of its own is refused, since entities could be declared there; one that only names a file is passed over
and the file never opened. Names are told apart from their namespaces: `tag` is the name alone. What an element holds, texts and elements,
stays in its order.
"""

from collections.abc import Iterator
from contextlib import suppress
from html.entities import html5
from typing import NoReturn
from xml.parsers.expat import ExpatError, ParserCreate, errors

from quaestor.errors import format_value
from quaestor.formats.limits import LARGEST_FILE, refusal
from quaestor.i18n import say

DEEPEST = 200
MOST_ELEMENTS = 2_000_000
MOST_ATTRIBUTES = 100
LONGEST_ATTRIBUTE = 100_000
LONGEST_TEXT = 20_000_000  # of one element: a picture may be a text
_LONGEST_NAME = 1_000


class Element:
    """An element: its name, namespace, attributes, what it holds in order, its line, and the comments directly in it."""

    __slots__ = ("attributes", "comments", "content", "line", "namespace", "tag")

    def __init__(self, tag: str, namespace: str, attributes: dict[str, str], line: int) -> None:
        self.tag, self.namespace, self.attributes, self.line = tag, namespace, attributes, line
        self.content: list[str | Element] = []
        self.comments: tuple[str, ...] = ()

    @property
    def children(self) -> list["Element"]:
        """The elements that it holds directly."""
        return [part for part in self.content if isinstance(part, Element)]

    @property
    def text(self) -> str:
        """Its own text, without that of elements in it."""
        return "".join(part for part in self.content if isinstance(part, str))

    @property
    def place(self) -> str:
        """Where it begins."""
        return say("line {line}", line=self.line)

    def all(self, *tags: str) -> list["Element"]:
        """The elements of these names that it holds directly."""
        return [part for part in self.content if isinstance(part, Element) and part.tag in tags]

    def first(self, *path: str) -> "Element | None":
        """The first element of this name, in the first one of the name before, and so on."""
        found: Element | None = self
        for tag in path:
            found = next((part for part in found.content if isinstance(part, Element) and part.tag == tag), None) if found else None
        return found

    def words(self, *path: str) -> str:
        """The text of the first element there, without space around it; empty where there is none."""
        found = self.first(*path)
        return found.text.strip() if found else ""

    def walk(self) -> Iterator["Element"]:
        """It and all elements in it, in the order of the file."""
        waiting = [self]
        while waiting:
            found = waiting.pop()
            yield found
            waiting += reversed(found.children)

    def whole_text(self) -> str:
        """All text in it, that of the elements in it too."""
        parts: list[str] = []
        waiting: list[str | Element] = [self]
        while waiting:
            found = waiting.pop()
            if isinstance(found, str):
                parts.append(found)
            else:
                waiting += reversed(found.content)
        return "".join(parts)


class _Builder:
    """Builds the tree, and ends at the first limit."""

    def __init__(self) -> None:
        self.parser = ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._document_type
        self.parser.EntityDeclHandler = self._entity
        self.parser.SkippedEntityHandler = self._skipped
        self.parser.CommentHandler = self._comment
        self.root = Element("", "", {}, 0)
        self._open = [self.root]
        self._lengths = [0]
        self._count = 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        self._count += 1
        if self._count > MOST_ELEMENTS:
            self._refuse(say("a file has at most {most:,} elements", most=MOST_ELEMENTS), say("more"))
        if len(self._open) > DEEPEST:
            self._refuse(say("elements are nested at most {most} deep", most=DEEPEST), say("more"))
        if len(name) > _LONGEST_NAME:
            self._refuse(say("a name has at most {most:,} letters", most=_LONGEST_NAME), format_value(name))
        if attributes:
            self._check(attributes)
            attributes = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        namespace, _, tag = name.rpartition(" ")
        made = Element(tag, namespace, attributes, self.parser.CurrentLineNumber)
        self._open[-1].content.append(made)
        self._open.append(made)
        self._lengths.append(0)

    def _check(self, attributes: dict[str, str]) -> None:
        if len(attributes) > MOST_ATTRIBUTES:
            self._refuse(say("an element has at most {most} attributes", most=MOST_ATTRIBUTES), f"{len(attributes):,}")
        for key, value in attributes.items():
            if len(value) > LONGEST_ATTRIBUTE or len(key) > _LONGEST_NAME:
                self._refuse(say("an attribute has at most {most:,} characters", most=LONGEST_ATTRIBUTE), format_value(key))

    def _end(self, name: str) -> None:
        self._open.pop()
        self._lengths.pop()

    def _text(self, data: str) -> None:
        self._lengths[-1] += len(data)
        if self._lengths[-1] > LONGEST_TEXT:
            self._refuse(say("a text in an element has at most {most:,} characters", most=LONGEST_TEXT), say("more"))
        self._open[-1].content.append(data)

    def _document_type(self, name: str, system: str | None, public: str | None, has_own: int) -> None:
        if has_own:
            self._refuse(say("an XML file declares nothing of its own (no entities)"), say("a document type with declarations"))

    def _entity(self, name: str, *_: object) -> None:
        self._refuse(say("an XML file declares nothing of its own (no entities)"), format_value(name))

    def _skipped(self, name: str, is_parameter: int) -> None:
        letter = html5.get(f"{name};")
        if letter is None or is_parameter:
            self._refuse(say("an entity is one of XML or HTML"), format_value(f"&{name};"))
        self._text(letter)

    def _comment(self, data: str) -> None:
        self._open[-1].comments += (data,)

    def _refuse(self, rule: str, found: str) -> NoReturn:
        raise refusal(rule, found, where=say("line {line}", line=self.parser.CurrentLineNumber))


def parse(data: bytes) -> Element:
    """The outermost element of an XML file; BankError with the line where it is not one, or more than the limits allow."""
    if len(data) > LARGEST_FILE:
        rule = say("a file has at most {most:,} bytes", most=LARGEST_FILE)
        raise refusal(rule, say("{count:,} {count:byte|bytes}", count=len(data)))
    builder = _Builder()
    _run(builder, data)
    return builder.root.children[0]


class _Found(Exception):
    """The outermost element was met."""


def outermost(data: bytes) -> Element:
    """The outermost element with its attributes alone, to tell what a file is; BankError where there is none."""
    builder = _Builder()

    def stop(name: str, attributes: dict[str, str]) -> None:
        builder.start(name, attributes)
        raise _Found

    builder.parser.StartElementHandler = stop
    with suppress(_Found):
        _run(builder, data[:LARGEST_FILE])
    return builder.root.children[0]


def _run(builder: _Builder, data: bytes) -> None:
    try:
        builder.parser.Parse(data, True)  # in one piece: a long text in many is read anew with each
    except ExpatError as error:
        found = errors.messages.get(error.code, str(error))
        raise refusal(say("the file is well-formed XML"), found, where=say("line {line}", line=error.lineno)) from error
    except (ValueError, LookupError) as error:  # an encoding that Python does not know, or one of several bytes a letter
        raise refusal(say("the file names an encoding that can be read, such as UTF-8"), format_value(str(error))) from error
