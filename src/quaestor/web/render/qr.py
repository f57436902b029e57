"""QR codes as SVG without styles."""

import io

import segno
from markupsafe import Markup


def inline(address: str, words: str = "") -> Markup:
    """A QR code inside a page."""
    made = segno.make(address, error="m", micro=False)
    return Markup(made.svg_inline(omitsize=True, svgclass="qr", lineclass=None, border=2, title=words or None))


def image(address: str) -> bytes:
    """A QR code as a picture of its own."""
    out = io.BytesIO()
    segno.make(address, error="m", micro=False).save(out, kind="svg", scale=10, svgclass=None, lineclass=None)
    return out.getvalue()
