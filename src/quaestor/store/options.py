"""The order in which the options of a question are shown: drawn for each attempt, the same on every device and after every restart."""

import hashlib
import re

from quaestor.model.question import Question, loose
from quaestor.store.models import Attempt

_NUMBER = re.compile(r"[^\w]*\d")  # begins with a digit, perhaps after a sign, a bracket or $
_OTHERS = re.compile(
    r"\b(none|all|any|both|neither|either) (of|are|is)\b|\b(above|below)\b|\bi (do not|don't) know\b|^(none|all|both|neither|other)$"
    r"|\b(kein\w*|alle\w*|beide\w*|nichts) (davon|von|der|antwort\w*|sind)\b|\bweiß (ich )?nicht\b|^(keine|alle|beide)$"
)
_SCALE = {"yes", "no", "true", "false", "right", "wrong", "ja", "nein", "richtig", "falsch", "wahr", "oui", "non", "vrai", "faux"}


def option_order(attempt: Attempt, question: Question) -> tuple[str, ...]:
    """The options of a question as this attempt is shown them.

    Those of `choice` and `choices` are shuffled by the attempt's seed, but stay as the author wrote them where the order means something:
    all begin with a number, all are single letters, all are like yes and no or true and false, or one speaks of the others (`none of the
    above`).
    """
    if question.kind not in ("choice", "choices") or _is_ordered(question.options):
        return question.options
    return tuple(sorted(question.options, key=lambda option: _draw(attempt.seed, question.id, option)))


def _is_ordered(options: tuple[str, ...]) -> bool:
    plain = [loose(option) for option in options]
    return (
        all(_NUMBER.match(option) for option in plain)
        or all(len(option) == 1 for option in plain)
        or all(option in _SCALE for option in plain)
        or any(_OTHERS.search(option) for option in plain)
    )


def _draw(seed: int, question: str, option: str) -> bytes:
    return hashlib.sha256(f"{seed}\n{question}\n{option}".encode(errors="backslashreplace")).digest()
