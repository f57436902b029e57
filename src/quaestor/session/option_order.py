"""The order in which a taker sees the options of a question: drawn from the seed of the session, so the same wherever it goes on."""

import hashlib
import re

from quaestor.model.entries import Part, loose
from quaestor.model.question import Question

_NUMBER = re.compile(r"[^\w]*\d")  # a digit at the beginning, possibly after a sign, a bracket or $
_OTHERS = re.compile(
    r"\b(none|all|any|both|neither|either) (of|are|is)\b|\b(above|below)\b|\bi (do not|don't) know\b|^(none|all|both|neither|other)$"
    r"|\b(kein\w*|alle\w*|beide\w*|nichts) (davon|von|der|antwort\w*|sind)\b|\bweiß (ich )?nicht\b|^(keine|alle|beide)$"
    r"|\b(aucune?|toutes|tous) (de ces|des|ces|les réponses|sont)\b|\bje ne sais pas\b|^(aucune?|toutes|tous|les deux)$"
)
_SCALE = {"yes", "no", "true", "false", "right", "wrong", "ja", "nein", "richtig", "falsch", "wahr", "oui", "non", "vrai", "faux"}


def option_order(seed: int, question: Question, part: Part | None = None) -> tuple[str, ...]:
    """The options of a question, or of one of its parts, in the order of the session with this seed.

    They are shuffled, except where the author's order has a meaning: all begin with a number, all are single letters, all are words such as
    yes and no or true and false, or one refers to the others (`none of the above`). What is to be matched or ordered is always shuffled:
    there the author's order is the solution.
    """
    options = question.options if part is None else part.options
    if question.kind not in ("matching", "ordering") and is_ordered(options):
        return options
    return tuple(sorted(options, key=lambda option: _draw(seed, question.id, option)))


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
