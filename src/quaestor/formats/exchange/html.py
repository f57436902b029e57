r"""HTML of other systems as our prose: Markdown with LaTeX between dollar signs, one text, nothing that runs.

Emphasis, lists, tables, code and headings stay; what only decorates goes. Formulas come in many forms: `\( \)`, `\[ \]`, `$$ $$`, images
that stand for an equation, MathML. A picture that is in the file is kept by the name that `keep` gives it; of another its description
stays, and a note tells. Scripts, styles and handlers never get anywhere: only texts and names of elements are looked at.
"""

import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser

from quaestor.errors import format_value
from quaestor.formats.exchange.markdown import code, escaped, formula, line_starts, prose_of
from quaestor.formats.exchange.xml import DEEPEST, Element
from quaestor.i18n import say

Keep = Callable[[str], str]  # from the address of a picture or sound to its name in the bank; empty where it is not in the file
Instead = Callable[[Element], str | None]  # an element's Markdown, where it is not to be read as HTML
LONGEST_HTML, LONGEST_TAG = 100_000, 4_000
SOUNDS = (".mp3", ".ogg", ".oga", ".wav", ".m4a")
_BLOCKS = {
    *("p", "div", "section", "article", "header", "footer", "address", "figure", "figcaption", "center", "dl", "dt", "dd", "form", "main"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "hr", "table", "tr", "caption"),
}
_MARKS = {"b": "**", "strong": "**", "i": "*", "em": "*", "s": "~~", "del": "~~", "strike": "~~"}
_SILENT = {"script", "style", "head", "title", "template", "noscript", "svg"}
_VOID = {"br", "hr", "img", "source", "input", "embed", "area", "col", "wbr", "link", "meta", "param", "track", "base"}
_LANGUAGE, _OTHER = "multilang", "another language"  # what the end of a text in a language needs
_ANGLE = re.compile("[<>]")
_DATA = re.compile(r"data:[\w/+.-]{1,100};base64,[A-Za-z0-9+/=\s]*")
_DECLARED = re.compile(r"<!DOCTYPE[^<>]{0,200}>|<\?[^<>]{0,200}>", re.I)
_EXPONENT = re.compile(r"[\w+\-−., ()]*")


def from_html(html: str, keep: Keep, is_line: bool = False) -> "Prose":
    """HTML as prose; `is_line`: as one line, such as an option."""
    made = Prose(keep, is_line)
    reader = _Reader(made)
    if len(html) > LONGEST_HTML:
        made.notes.append(say("a text of {count:,} characters was cut at {most:,}", count=len(html), most=LONGEST_HTML))
    reader.feed(_plain_html(html[:LONGEST_HTML]))
    reader.close()
    return made


def _plain_html(html: str) -> str:
    """HTML without comments and declarations, over which the parser of the standard library takes long where they do not end."""
    parts, begin = [], 0
    while (at := html.find("<!--", begin)) >= 0:
        parts.append(html[begin:at])
        end = html.find("-->", at + 4)
        if end < 0:
            return _declared(parts)
        begin = end + 3
    return _declared([*parts, html[begin:]])


def _declared(parts: list[str]) -> str:
    """The parts together, without declarations; a tag that does not end soon is text."""
    html = _DATA.sub("data:", _DECLARED.sub("", "".join(parts))).replace("<!", "&lt;!").replace("<?", "&lt;?")
    far: set[int] = set()  # where a tag begins that does not end soon
    until = -1
    for found in reversed(list(_ANGLE.finditer(html))):
        if found[0] == ">":
            until = found.start()
        elif not 0 <= until - found.start() <= LONGEST_TAG:
            far.add(found.start())
    return _ANGLE.sub(lambda found: "&lt;" if found.start() in far else found[0], html)


def from_element(element: Element, keep: Keep, is_line: bool = False, instead: Instead | None = None) -> "Prose":
    """What an element of XHTML holds as prose; `instead` may give the Markdown of elements that are none of HTML."""
    made = Prose(keep, is_line)
    waiting: list[str | Element | tuple[str]] = list(reversed(element.content))
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            made.text(part)
        elif isinstance(part, tuple):
            made.end(part[0])
        elif instead is not None and (given := instead(part)) is not None:
            made.put(given)
        else:
            made.start(part.tag.lower(), part.attributes)
            waiting += [(part.tag.lower(),), *reversed(part.content)]
    return made


class _Reader(HTMLParser):
    """Tells a `Prose` what stands in HTML."""

    def __init__(self, prose: "Prose") -> None:
        super().__init__(convert_charrefs=True)
        self._prose = prose

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._prose.start(tag, {name: value or "" for name, value in attrs})
        if tag in _VOID:
            self._prose.end(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._prose.start(tag, {name: value or "" for name, value in attrs})
        self._prose.end(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self._prose.end(tag)

    def handle_data(self, data: str) -> None:
        self._prose.text(data)


class Prose:
    """A text that is written piece by piece; `notes` tell what of it was lost, `sounds` are the names of those that it plays."""

    def __init__(self, keep: Keep, is_line: bool) -> None:
        self.notes: list[str] = []
        self.sounds: list[str] = []
        self._keep, self._is_line = keep, is_line
        self._blocks: list[tuple[str, bool]] = []  # each with whether it is an item of a list
        self._now: list[str] = []  # of the present block
        self._open: list[tuple[str, int, str]] = []  # element, where it began in the present block, what its end needs
        self._lists: list[int] = []  # of every list around: 0 without numbers, else the number of the next item
        self._item = ""  # the mark of an item that has begun
        self._waiting: list[str] = []  # text that came in several pieces
        self._silent = 0
        self._language = ""  # in which the text before is, where it goes on in others that are left out
        self._maths: list[str] | None = None
        self._rows: list[list[str]] | None = None

    def __str__(self) -> str:
        """The whole prose."""
        self._settle()
        while self._open:
            self.end(self._open[-1][0])
        self._flush()
        if self._is_line:
            return " ".join(" ".join(block.split()) for block, _ in self._blocks)
        text, was_item = "", False
        for block, is_item in self._blocks:
            text += ("\n" if was_item and is_item else "\n\n") * bool(text) + block
            was_item = is_item
        return text

    def put(self, markdown: str) -> None:
        """Add Markdown as it is."""
        self._settle()
        if not self._silent:
            self._now.append(markdown)

    def text(self, data: str) -> None:
        """Add plain text."""
        self._waiting.append(data)

    def _settle(self) -> None:
        """Put the text that came since the last element."""
        data, self._waiting = "".join(self._waiting), []
        if data.strip() and not self._is_in_language():
            self._language = ""
        if self._maths is not None:
            self._maths.append(data)
        elif data and not self._silent:
            self._now.append(data if self._in("pre", "code") else self._prose(data))

    def _prose(self, data: str) -> str:
        plain = re.sub(r"[\s\xa0]+", " ", data)
        if plain.startswith(" ") and (not self._now or self._now[-1].endswith((" ", "\n"))):
            plain = plain[1:]
        return prose_of(plain, self._now[-1] if self._now else "")

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        self._settle()
        if tag in _SILENT:
            self._silent += 1
            if tag == "script":
                self.notes.append(say("a script was left out"))
        if tag in _BLOCKS:
            self._flush()
        need = self._need(tag, attributes)
        place = len(self._now)
        begin = {"img": self._picture, "math": self._formula, "table": self._table, "ul": self._list, "ol": self._list}.get(tag)
        if begin is not None:
            begin(attributes)
            if tag == "ol":
                self._lists[-1] = 1
        elif tag == "br":
            self._now.append(" " if self._is_line or self._rows is not None else "  \n")
        elif tag == "li":
            number = self._lists[-1] if self._lists else 0
            self._item = f"{number}. " if number else "- "
            if number:
                self._lists[-1] += 1
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("audio", "video", "source", "embed", "object", "iframe"):
            self._played(attributes.get("src") or attributes.get("data") or "")
        elif tag == "annotation" and self._maths is not None and "tex" in attributes.get("encoding", "").lower():
            self._maths.clear()
        if tag not in _VOID and len(self._open) < DEEPEST:
            self._open.append((tag, place, need))
            self._silent += need == _OTHER

    def _need(self, tag: str, attributes: Mapping[str, str]) -> str:
        """What the end of an element needs: an address, an encoding, or whether its text is in another language than the one before.

        Moodle shows of texts side by side, each with its language (`<span class="multilang" lang="de">`), the reader's.
        """
        if tag == "span" and "multilang" in attributes.get("class", "").split():
            language, before = attributes.get("lang", "?") or "?", self._language
            if before and language != before:
                words = say("a text stands there in several languages: only that in {language} was kept", language=format_value(before))
                self.notes += [words] * (words not in self.notes)
                return _OTHER
            self._language = language
            return _LANGUAGE
        if not self._is_in_language():
            self._language = ""
        return attributes.get("href" if tag == "a" else "encoding", "")

    def _is_in_language(self) -> bool:
        return any(need in (_LANGUAGE, _OTHER) for _, _, need in self._open)

    def end(self, tag: str) -> None:
        """An element ends; so do those in it that were left open. An end without a beginning is passed over."""
        self._settle()
        if tag in _VOID or tag not in (name for name, _, _ in self._open):
            return
        while True:
            name, begin, address = self._open.pop()
            self._close(name, min(begin, len(self._now)), address)
            if name == tag:
                return

    def _close(self, tag: str, begin: int, address: str) -> None:
        if tag in _SILENT or address == _OTHER:
            self._silent -= 1
        elif tag in _MARKS:
            self._wrap(begin, _MARKS[tag], _MARKS[tag])
        elif tag in ("sub", "sup"):
            self._raise(begin, "_" if tag == "sub" else "^")
        elif tag == "code" and not self._in("pre"):
            inside = "".join(self._now[begin:])
            self._now[begin:] = [code(inside)] if inside.strip() else []
        elif tag == "a":
            self._link(begin, address)
        elif tag == "annotation" and self._maths is not None and "tex" in address.lower():
            self._now.append("".join(self._maths))
            self._maths.clear()
        elif tag == "math":
            self._now[begin:] = [formula("".join(self._now[begin:][-1:]) or "".join(self._maths or []))]
            self._maths = None
        elif tag in ("td", "th") and self._rows:
            self._rows[-1].append(" ".join("".join(self._now).split()).replace("|", "\\|"))
            self._now = []
        elif tag == "table":
            self._end_table()
        elif tag in ("ul", "ol"):
            self._flush()
            self._lists = self._lists[:-1]
        elif tag == "pre":
            self._fence(begin)
        elif tag in _BLOCKS:
            self._flush("### " if tag in ("h1", "h2", "h3", "h4", "h5", "h6") else "> " if tag == "blockquote" else "")

    def _in(self, *tags: str) -> bool:
        return any(name in tags for name, _, _ in self._open)

    def _wrap(self, begin: int, before: str, after: str) -> None:
        """Put marks round what stands since; they touch it, spaces stay outside."""
        inside = "".join(self._now[begin:])
        plain = inside.strip()
        if plain and before not in plain:
            left, right = inside[: len(inside) - len(inside.lstrip())], inside[len(inside.rstrip()) :]
            self._now[begin:] = [left, before + plain + after, right]

    def _raise(self, begin: int, sign: str) -> None:
        inside = "".join(self._now[begin:]).strip()
        if not inside:
            return
        if _EXPONENT.fullmatch(inside):
            words = f"\\text{{{inside}}}" if re.search(r"[^\W\d]{2}| ", inside) else inside
            self._now[begin:] = [formula(f"{sign}{{{words}}}")]
        else:
            self._now[begin:] = [f"{sign}({inside})"]

    def _link(self, begin: int, address: str) -> None:
        inside = "".join(self._now[begin:])
        if self._is_sound(address):
            self._played(address)
        elif address.startswith(("http://", "https://")) and escaped(address) not in inside:
            words = inside.rstrip()
            self._now[begin:] = [f"{words} ({escaped(address)})", inside[len(words) :]]

    def _is_sound(self, address: str) -> bool:
        return address.partition("?")[0].lower().endswith(SOUNDS)

    def _played(self, address: str) -> None:
        if not address:
            return
        name = self._keep(address) if self._is_sound(address) else ""
        if name:
            self.sounds.append(name)
        else:
            self.notes.append(
                say("{name} is not in the file, or can neither be shown nor played here: it was left out", name=_shown(address))
            )

    def _picture(self, attributes: Mapping[str, str]) -> None:
        alt = " ".join(attributes.get("alt", "").split())
        latex = attributes.get("data-equation-content") or (alt.removeprefix("LaTeX:").strip() if alt.startswith("LaTeX:") else "")
        if self._silent:
            return
        if latex:
            self._now.append(formula(latex))
        elif name := self._keep(attributes.get("src", "")):
            self._now.append(f"![{escaped(alt).replace('[', '(').replace(']', ')')}]({name})")
        else:
            self._now.append(escaped(f"({alt})") if alt else "")
            rule = say(
                "the picture {name} is not in the file, or is of a kind that is not shown here", name=_shown(attributes.get("src", ""))
            )
            self.notes.append(
                say("{words}; its description stands for it", words=rule) if alt else say("{words}: it was left out", words=rule)
            )

    def _formula(self, attributes: Mapping[str, str]) -> None:
        self._maths = []
        if alone := attributes.get("alttext", ""):
            self._now.append(alone)

    def _list(self, _: Mapping[str, str]) -> None:
        self._lists.append(0)

    def _table(self, _: Mapping[str, str]) -> None:
        if self._rows is None:
            self._rows = []

    def _end_table(self) -> None:
        if self._in("table"):
            return
        rows, self._rows = [row for row in self._rows or [] if row], None
        width = max(map(len, rows), default=0)
        if self._is_line or width < 2:
            self._now = ["  \n".join(" ".join(row) for row in rows)]
            self._flush()
        elif rows:
            lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
            self._blocks.append(("\n".join([lines[0], "|" + " --- |" * width, *lines[1:]]), False))

    def _fence(self, begin: int) -> None:
        inside = "".join(self._now[begin:]).strip("\n")
        self._now = self._now[:begin]
        if self._is_line or not inside:
            self._now.append(code(inside) if inside else "")
        else:
            fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", inside)), default=0))
            self._blocks.append((f"{fence}\n{inside}\n{fence}", False))

    def _flush(self, mark: str = "") -> None:
        """End the present block."""
        if self._rows is not None:  # a cell is one line
            self._now.append(" ")
            return
        inside = "".join(self._now).strip()
        self._now = []
        self._open = [(name, 0, needs) for name, _, needs in self._open]
        if not inside:
            return
        item, self._item = self._item, ""
        indent = "   " * max(0, len(self._lists) - 1) if item else "   " * len(self._lists)
        begin = indent + (item or mark)
        lines = (inside if self._is_line else line_starts(inside)).split("\n")
        rest = "> " if mark == "> " else " " * (len(indent) + len(item))
        if self._is_line:
            self._blocks.append(((item if item.strip("- ") else "") + " ".join(lines), False))
        else:
            self._blocks.append((begin + f"\n{rest}".join(lines), bool(self._lists)))


def _shown(address: str) -> str:
    return format_value(address.replace("@@PLUGINFILE@@/", "")[:100])
