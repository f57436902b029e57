"""Numbers as people write them, read exactly.

`0.75`, `0,75`, `.75`, `75 %`, `3/4`, `1 1/2`, `1½`, `-2`, `−2` (a real minus sign), `1e-3`, and digits grouped by spaces or
apostrophes (`12 000`, `12'000`). A comma is a decimal comma, never a thousands separator. The result is a Fraction, so that comparing
`0.1` with `1/10` involves no rounding.
"""

import re
import unicodedata
from fractions import Fraction

LONGEST = 60  # characters; also keeps exponents and digits from growing into a denial of service

_DECIMAL = r"(?:\d+(?:\.\d*)?|\.\d+)"
_FORM = re.compile(
    rf"(?P<sign>[+-]?)\s*(?:(?P<whole>\d+)\s+(?P<mixed_top>\d+)/(?P<mixed_bottom>\d+)"
    rf"|(?P<top>{_DECIMAL})\s*/\s*(?P<bottom>{_DECIMAL})"
    rf"|(?P<number>{_DECIMAL})(?P<exponent>[eE][+-]?\d{{1,2}})?)\s*(?P<percent>%?)"
)
_GROUPED = re.compile(r"\d{1,3}(?:[ '](?=\d{3}(?!\d))\d{3})+(?![\d/])")
_PLAIN = str.maketrans({"−": "-", "–": "-", "⁄": "/", "∕": "/", "’": "'", ",": "."})


def read_number(text: str) -> Fraction | None:
    """Read a number written by a person; None when it is not one.

    >>> read_number(" 1 1/2 "), read_number("0,75"), read_number("fifty")
    (Fraction(3, 2), Fraction(3, 4), None)
    """
    if len(text) > LONGEST:
        return None
    forms = [unicodedata.decomposition(c).partition(" ")[0] for c in text]
    if "<super>" in forms or "<sub>" in forms:  # 5² is not 52
        return None
    # A vulgar fraction such as ½ becomes " 1/2 ", so that 1½ reads as a mixed number.
    spread = "".join(f" {c} " if form == "<fraction>" else c for c, form in zip(text, forms, strict=True))
    plain = " ".join(unicodedata.normalize("NFKC", spread).translate(_PLAIN).split())
    plain = _GROUPED.sub(lambda match: re.sub("[ ']", "", match[0]), plain)
    match = _FORM.fullmatch(plain)
    if match is None:
        return None
    part = match.groupdict()
    if part["number"] is not None:
        value = Fraction(part["number"] + (part["exponent"] or ""))
    else:
        bottom = Fraction(part["bottom"] or part["mixed_bottom"])
        if bottom == 0:
            return None
        value = int(part["whole"] or 0) + Fraction(part["top"] or part["mixed_top"]) / bottom
    if part["percent"]:
        value /= 100
    return -value if part["sign"] == "-" else value
