"""The order of a question's options on the page: random for each attempt, but the same on every device and after every restart."""

import hashlib
import re

from quaestor.model.entries import loose
from quaestor.model.question import Question
from quaestor.store.models import Attempt

_NUMBER = re.compile(r"[^\w]*\d")  # a digit at the beginning, possibly after a sign, a bracket or $
_OTHERS = re.compile(
    r"\b(none|all|any|both|neither|either) (of|are|is)\b|\b(above|below)\b|\bi (do not|don't) know\b|^(none|all|both|neither|other)$"
    r"|\b(kein\w*|alle\w*|beide\w*|nichts) (davon|von|der|antwort\w*|sind)\b|\bweiß (ich )?nicht\b|^(keine|alle|beide)$"
    r"|\b(aucune?|toutes|tous) (de ces|des|ces|les réponses|sont)\b|\bje ne sais pas\b|^(aucune?|toutes|tous|les deux)$"
)
_SCALE = {"yes", "no", "true", "false", "right", "wrong", "ja", "nein", "richtig", "falsch", "wahr", "oui", "non", "vrai", "faux"}


def option_order(attempt: Attempt, question: Question) -> tuple[str, ...]:
    """The options of a question in the order of this attempt.

    Options of `choice` and `choices` are shuffled by the attempt's seed, except where the author's order has a meaning: all begin with a
    number, all are single letters, all are words such as yes and no or true and false, or one refers to the others (`none of the above`).
    """
    if question.kind not in ("choice", "choices") or is_ordered(question.options):
        return question.options
    return tuple(sorted(question.options, key=lambda option: _draw(attempt.seed, question.id, option)))


def is_ordered(options: tuple[str, ...]) -> bool:
    """Whether the author's order of some options has a meaning."""
    plain = [loose(option) for option in options]
    return (
        all(_NUMBER.match(option) for option in plain)
        or all(len(option) == 1 for option in plain)
        or all(option in _SCALE for option in plain)
        or any(_OTHERS.search(option) for option in plain)
    )


def _draw(seed: int, question: str, option: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{question}\n{option}".encode(errors="backslashreplace")).digest()
