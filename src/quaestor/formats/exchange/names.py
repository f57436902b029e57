"""Names of other systems as names here: ids of questions and skills, tags, names of files."""

import re
import unicodedata
from collections.abc import Container

LONGEST_NAME = 80
_OTHER = re.compile(r"[^\w .'()+-]+|_{2,}")


def clean_name(text: str) -> str:
    """A name as an id: one line of letters, digits and a few signs that mean nothing in a bank file or an address.

    >>> clean_name("  What is 2 + 2 = ?\\n(easy, quick)"), clean_name("../../etc"), len(clean_name("x" * 1000))
    ('What is 2 + 2 (easy quick)', 'etc', 80)
    """
    plain = _OTHER.sub(" ", unicodedata.normalize("NFC", text[: 10 * LONGEST_NAME]))
    plain = "".join(letter for letter in plain if letter.isprintable())
    return " ".join(plain.split())[:LONGEST_NAME].strip(" .")


def unique(name: str, taken: Container[str], form: str = " ({number})", last: dict[str, int] | None = None) -> str:
    """The name, or the name with the first number from 2 that makes it another than those taken; a question without a name is Q1, Q2, ...

    `last`: the number that each name had last, where many have the same one.

    >>> unique("Q", ["Q", "Q (2)"]), unique("", ["Q1"])
    ('Q (3)', 'Q2')
    >>> unique("Q", ["Q", "Q (2)", "Q (7)"], last={"Q": 7})
    'Q (8)'
    """
    if name and name not in taken:
        return name
    known = {} if last is None else last
    number = known.get(name, 2 if name else 1)
    while (made := name + form.format(number=number) if name else f"Q{number}") in taken:
        number += 1
    known[name] = number
    return made
