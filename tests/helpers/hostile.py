"""Texts that want to be markup, script or templates, and a look at pages for what could run or reach elsewhere."""

import re
from html.parser import HTMLParser

SCRIPT = "<script>alert(7)</script>"
QUOTES = "'\" onfocus=alert(7) autofocus='\"><img src=x onerror=alert(7)>"
LINKS = "[a](javascript:alert(7)) $\\href{javascript:alert(7)}{c}$"
TEMPLATE = "{{7*191}} {0.__class__}"
HOSTILE = f"{SCRIPT}{QUOTES} {LINKS} {TEMPLATE}"  # 200 letters fit everywhere
LONG = f"{HOSTILE} <a href=javascript:alert(7)>b</a> ![d](javascript:alert(7)) <javascript:alert(7)> {{% raw %}} %(x)s ${{7*191}}"
SHORT = f"{SCRIPT}{{{{7*191}}}}"  # for ids, which have 100 letters


class Inspector(HTMLParser):
    """Notes everything in a page that could run or reach elsewhere."""

    FORBIDDEN = ("iframe", "object", "embed", "base", "style", "applet", "frame", "audio", "video", "foreignobject", "animate", "set")
    LINKING = ("href", "src", "action", "formaction", "xlink:href", "data", "poster", "srcset", "background", "ping")

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "script" and not (values.get("src") or "").startswith("/static/"):
            self.found.append(f"<script {values}>")
        if tag in self.FORBIDDEN or (tag == "meta" and "http-equiv" in values and not (values["content"] or "").isdecimal()):
            self.found.append(f"<{tag} {values}>")
        for name, value in attributes:
            if name.startswith("on") or name in ("style", "srcdoc"):
                self.found.append(f"{tag} {name}={value}")
            if name in self.LINKING and not re.match(r"[/#?]|data:image/|http://testserver/|https?://localhost", (value or "#").strip()):
                self.found.append(f"{tag} {name}={value}")


def harmless(response):
    """A page (or a part of one) in which nothing of ours runs and nothing was worked out."""
    assert response.status_code < 500, response.text
    assert "\n" not in "".join(response.headers.values())
    assert "alert(7)" not in response.headers.get("location", "")
    if response.headers.get("content-type", "").startswith(("text/html", "image/svg")):
        assert Inspector(response.text).found == []
        assert "1337" not in response.text
        assert "class &#39;" not in response.text
    return response
