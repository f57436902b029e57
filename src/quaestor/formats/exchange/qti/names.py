"""Names of QTI: those of elements and attributes, which 3.0 writes in another way than 2.x, and those of items."""

import re
from collections.abc import Iterable

from quaestor.formats.exchange.xml import Element

NAMESPACE = "urn:quaestor:exchange:1"  # of our own elements in files of others
_MADE_BY_MACHINES = re.compile(r"[0-9a-f]{12}|[0-9A-F]{12}|[0-9a-f]{8}-[0-9a-f]{4}-")


def told_name(identifier: str, title: str) -> str:
    """The name of an item for people: its identifier, or its title where a machine made the identifier.

    >>> told_name("ITEM007", "Romeinse cijfers"), told_name("i61c2bf35142c25332962acd201a5bb45", "Question 5")
    ('ITEM007', 'Question 5')
    """
    return title if title and (not identifier or _MADE_BY_MACHINES.search(identifier)) else identifier


def kind(element: Element) -> str:
    """The name of an element as 2.x writes it: `choiceInteraction` for `qti-choice-interaction`."""
    return camel(element.tag.removeprefix("qti-")) if element.tag.startswith("qti-") else element.tag


def attribute(element: Element, name: str, default: str = "") -> str:
    """An attribute, by the name that it has in 2.x: `maxChoices`, in 3.0 `max-choices`."""
    found = element.attributes.get(name)
    return element.attributes.get(kebab(name), default) if found is None else found


def camel(name: str) -> str:
    """`max-choices` as `maxChoices`."""
    first, *rest = name.split("-")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def kebab(name: str) -> str:
    """`maxChoices` as `max-choices`."""
    return re.sub(r"[A-Z]", lambda letter: f"-{letter[0].lower()}", name)


def identifiers(names: Iterable[str]) -> list[str]:
    """Identifiers as XML has them, each once, that look like these names.

    >>> identifiers(["Q1", "a b", "a/b", "7"])
    ['Q1', 'a_b', 'a_b-3', '_7']
    """
    made: list[str] = []
    taken: set[str] = set()  # names of files may not differ in capital letters alone
    for number, name in enumerate(names, 1):
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name)[:64]
        plain = plain if re.match(r"[A-Za-z_]", plain) else f"_{plain}"
        while plain.lower() in taken:
            plain = f"{plain}-{number}"
        taken.add(plain.lower())
        made.append(plain)
    return made
