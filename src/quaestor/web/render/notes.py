"""A note from a form to the page after it, in a cookie for the path of that page: an entry that was refused, or a secret to be shown once.

A refused form answers with a redirect, so that Back and reload never ask whether to send it again. The page that is opened then reads the
note, tries the entry once more, and says what is wrong with it; a page that shows a secret looks first whether it opens something of this
teacher. So a note needs no signature, works with any number of workers, and leaves nothing on the server. A cookie holds 4 kB; a form that
does not fit in is shown again directly.
"""

import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from fastapi import Request
from starlette.responses import Response

from quaestor.web.security.browsers import drop_cookie, set_cookie

NOTE = "note"
SECONDS = 600
MOST, MOST_READ = 3500, 100_000  # letters of the cookie's value; bytes of what it says


def leave(request: Request, response: Response, path: str, content: dict[str, Any]) -> bool:
    """Give a response a note for the page at a path; False when it is too long for one."""
    plain = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
    value = urlsafe_b64encode(zlib.compress(plain)).decode()
    if len(plain) > MOST_READ or len(value) > MOST:
        return False
    set_cookie(request, response, NOTE, value, path, SECONDS)
    return True


def read(request: Request) -> dict[str, Any]:
    """The note for this page; empty where there is none that can be read."""
    value = request.cookies.get(NOTE, "")
    if not value:
        return {}
    try:
        plain = zlib.decompressobj().decompress(urlsafe_b64decode(value), MOST_READ)
        found = json.loads(plain.decode("utf-8", "surrogatepass"))
    except (ValueError, zlib.error, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def drop(request: Request, response: Response, path: str) -> None:
    """Forget the note for a page, if there is one."""
    if NOTE in request.cookies:
        drop_cookie(request, response, NOTE, path)
