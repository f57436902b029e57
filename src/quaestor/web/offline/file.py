"""A test as one file that runs in any browser, without a server: its questions, its engine or decision graph, and all its words.

The key is in the file, since the file marks by itself: who looks for it finds it, and the file says so. By the check sums of results those
of other tests, and slips in copying, are noticed; they protect against nobody who tries.
"""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from html import escape
from importlib import resources
from typing import Any

from markupsafe import Markup

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, got
from quaestor.formats import json_text
from quaestor.i18n import say
from quaestor.model.entries import Part
from quaestor.model.question import ONE_CHOICE, Question
from quaestor.numerals import read_number
from quaestor.selection.rules import Rules
from quaestor.selection.sureness import sure_above
from quaestor.session.option_order import is_ordered
from quaestor.session.session import Session
from quaestor.simulate.policy import policy
from quaestor.store.media import chosen, kind_of
from quaestor.web.offline.engine import UnsupportedError, engine_of, skipped
from quaestor.web.offline.words import Speak, findings, interface
from quaestor.web.render import prose
from quaestor.web.render.language import LANGUAGES, translate

FORMAT = 1
SCRIPTS = ("engine.js", "steps.js", "entries.js", "code.js", "qr.js", "page.js")
MOST_NODES = 500  # of a decision graph
DEEPEST = 100


def html_of(bank: Bank, rules: Rules, language: str = "en", images: Mapping[str, bytes] | None = None, with_graph: bool = True) -> str:
    """The file; QuaestorError where this test cannot be given without a server, and why. `with_graph`: also as a decision graph, which may
    take long to work out.
    """
    if language not in LANGUAGES:
        raise QuaestorError(got(say("a language is one of {languages}", languages=", ".join(LANGUAGES)), f"'{language}'"))
    rules.check(bank)
    for question in bank.questions.values():
        if not question.takes_entries:
            raise QuaestorError(got(say("a test without a server has questions that can be entered"), question.id))
    test = _content(bank, rules, language, chosen(bank, images or {})) | _following(bank, rules, with_graph)
    folder = resources.files("quaestor.web")
    style = (folder / "static" / "quaestor.css").read_text("utf-8") + (folder / "offline" / "page.css").read_text("utf-8")
    script = "\n".join((folder / "offline" / name).read_text("utf-8") for name in SCRIPTS)
    kept = {"bank": json.loads(json_text.write(bank.document)), "rules": rules.document}
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
        "img-src data:; media-src data:; base-uri 'none'; form-action 'none'\">\n"
        f"<title>{escape(test['title'])}</title>\n<style>\n{style}</style>\n</head>\n"
        f'<body class="narrow taking">\n<main><noscript><p class="wrong">{escape(translate(language, _NO_SCRIPT))}</p></noscript></main>\n'
        f'<script type="application/json" id="test">{_embedded(test)}</script>\n'
        f'<script type="application/json" id="bank">{_embedded(kept)}</script>\n'
        f"<script>\n{script}</script>\n</body>\n</html>\n"
    )


_NO_SCRIPT = say("This test works in the browser itself and needs JavaScript, which is switched off here.")


def identity(bank: Bank, rules: Rules) -> str:
    """What names a test: the same bank and the same rules."""
    told = json.dumps([FORMAT, bank.version, rules.document], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:10]


def result_key(bank: Bank, rules: Rules) -> str:
    """What the check sums of results are made with."""
    return hashlib.sha256(f"result {identity(bank, rules)} {bank.model_version}".encode()).hexdigest()[:16]


def _embedded(value: Any) -> str:
    """JSON inside of HTML: nothing in it can end the element that it stands in."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c").replace("\u2028", "\\u2028")


def _content(bank: Bank, rules: Rules, language: str, images: Mapping[str, bytes]) -> dict[str, Any]:
    speak, about = partial(translate, language), str(bank.document.get("description", ""))
    return {
        "format": FORMAT,
        "id": identity(bank, rules),
        "key": result_key(bank, rules),
        "title": bank.title or speak(say("A test")),
        "description": str(prose.block(about)) if about else "",
        "language": language,
        "tongue": bank.language or language,
        "words": interface(rules, speak),
        "sure": sure_above(rules),
        "most": Session(bank, rules).at_most,
        "maySkip": rules.may_skip,
        "skills": findings(bank, rules, speak),
        "questions": [_question(question, bank, rules, images, speak) for question in bank.questions.values()],
    }


def _following(bank: Bank, rules: Rules, with_graph: bool) -> dict[str, Any]:
    """How the next question is found: by the engine, or by the decision graph of a test that is small enough."""
    try:
        return {"engine": engine_of(bank, rules)}
    except UnsupportedError as error:
        if not with_graph:
            raise QuaestorError(got(say("a test without a server has a precise bank and plain rules"), str(error))) from error
        try:
            return {"graph": _graph(bank, rules)}
        except QuaestorError:  # too many nodes, or rules that draw at random
            rule = say(
                "a test without a server has a precise bank and plain rules, or a decision graph of at most {most} nodes", most=MOST_NODES
            )
            raise QuaestorError(got(rule, str(error))) from error


def _graph(bank: Bank, rules: Rules) -> list[dict[str, Any]]:
    numbers = {name: number for number, name in enumerate(bank.questions)}
    made = policy(bank, rules, depth=min(DEEPEST, len(bank.questions) + 1), limit=MOST_NODES, skips=rules.may_skip)
    found: list[dict[str, Any]] = []
    for node in made["nodes"]:
        if "ask" in node:
            next_of = [node["then"][kind] for kind in bank.questions[node["ask"]].classes]
            found.append({"ask": numbers[node["ask"]], "then": next_of, **({"skip": node["skip"]} if "skip" in node else {})})
        else:
            bounds = [{end: node["beliefs"][skill][end] for end in ("lower", "upper")} for skill in bank.skills]
            found.append({"rule": node.get("stop") or node["end"], "findings": bounds})
    return found


def _question(question: Question, bank: Bank, rules: Rules, images: Mapping[str, bytes], speak: Speak) -> dict[str, Any]:
    place = {kind: number for number, kind in enumerate(question.classes)}

    def drawn(html: Markup) -> str:
        return str(prose.with_pictures(html, lambda name: _address(images[name]) if name in images else ""))

    found: dict[str, Any] = {
        "id": question.id,
        "html": drawn(prose.block(question.text)),
        "kind": "choice" if question.kind in ONE_CHOICE else question.kind,
        "classes": len(question.classes),
        "skip": skipped(question.id, bank, rules),
        "pilot": question.pilot,
    }
    if question.media:
        found |= {"media": _address(images[question.media]), "alt": question.alt, "sound": question.has_sound}
    if question.parts:
        found["parts"] = [_part(question, part) for part in question.parts]
    elif question.options:
        classes = question.option_classes
        shown = {"true": say("True"), "false": say("False")} if question.kind == "truefalse" else {}
        found["options"] = [
            {"html": speak(shown[one]) if one in shown else drawn(prose.inline(one)), "answer": place.get(classes.get(one, ""), 0)}
            for one in question.options
        ]
        found["shuffled"] = not is_ordered(question.options)
        found["correct"] = [number for number, one in enumerate(question.options) if one in question.correct]
    else:
        found["accept"] = [[text, place[kind]] for text, kind in question.accept.items() if _is_readable(question.kind, text)]
        found["tolerance"] = _exactly(question.tolerance)
    return found


def _part(question: Question, part: Part) -> dict[str, Any]:
    """A part of a question: a gap, a place in an order, or what stands on the left of a match."""
    label = str(prose.inline(part.name)) if question.kind == "matching" else ""
    found: dict[str, Any] = {"name": part.name, "label": label, "kind": part.kind}
    if part.kind == "choice":
        right = [number for number, one in enumerate(part.options) if one in part.accept]
        return {**found, "options": [str(prose.inline(one)) for one in part.options], "right": right}
    accept = [[text, 1] for text in part.accept if _is_readable(part.kind, text)]
    return {**found, "accept": accept, "tolerance": _exactly(part.tolerance)}


def _address(content: bytes) -> str:
    return f"data:{kind_of(content)};base64,{b64encode(content).decode()}"


def _is_readable(kind: str, text: str) -> bool:
    return kind == "text" or read_number(text) is not None


def _exactly(number: Fraction) -> list[str]:
    return [str(number.numerator), str(number.denominator)]
