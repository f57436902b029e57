"""A session that starts from what earlier tests of the same taker told, and forgets it by and by.

The answers are independent of one another once the levels are given, so all that the answers to questions of one skill say is the
likelihood L of its levels, in credal banks a box of lower and upper ones. With a half-life of h days, what was told d days ago counts

    L ** weight,   weight = 2 ** (-d / h),

and several earlier tests multiply. The product is stated at the start of the session, as evidence that is no answer (`Late`); the prior is
the bank's own. So with no time between, what is known is what the answers of both tests tell together; after a long time, or with a
half-life of 0, it is the prior. A power is monotone: the box of the powers is exactly the powers of the box, and bounds stay bounds.

Not carried: answers to questions of several skills (they would tie skills together), and what an earlier test itself started from (it is
among the earlier tests). A level that was ruled out is carried as very improbable (`FLOOR`), as certainty would never be forgotten.
"""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, got
from quaestor.i18n import say
from quaestor.model.table import Array
from quaestor.session.log import Late, Weight
from quaestor.session.session import Session

FLOOR = 1e-9  # the least likelihood of a level that is carried, beside that of the likeliest one


class Earlier(NamedTuple):
    """An earlier session of the same taker, and how many days ago it ended."""

    session: Session
    days: float


def weight(days: float, half_life: float) -> float:
    """How much counts what was told so many days ago: 1 now, a half after one half-life; nothing with a half-life of 0."""
    if not half_life >= 0:
        raise QuaestorError.at("half_life", got(say("a number of days of at least 0"), format_value(half_life)))
    return float(2.0 ** (-max(days, 0.0) / half_life)) if half_life else 0.0


def told(session: Session) -> dict[str, tuple[Array, Array]]:
    """Logarithms of the lower and upper likelihood of the levels of each skill that something was said of, (levels,); the likeliest 0."""
    evidence = Session(session.bank, session.rules, session.seed, session.log).evidence
    found = {}
    for skill, number in evidence.layout.position.items():
        if (number,) in evidence.boxes:
            low, high = (end[0] for end in evidence.boxes[(number,)])
            found[skill] = np.maximum(low - high.max(), log(FLOOR)), np.maximum(high - high.max(), log(FLOOR))
    return found


def is_same(earlier: Bank, bank: Bank, skill: str) -> bool:
    """Whether a skill of an earlier bank is that of another one: the same id and the same levels; and intervals need intervals."""
    both = skill in earlier.skills and skill in bank.skills
    return both and earlier.skills[skill].levels == bank.skills[skill].levels and (earlier.is_precise or not bank.is_precise)


def start(bank: Bank, earlier: Sequence[Earlier], half_life: float, note: str = "") -> tuple[Late, ...]:
    """The start of a session with a bank: for each skill that earlier tests told something of, the likelihood of its levels.

    `Session(bank, rules, seed, start=start(bank, earlier, half_life))` begins with it.
    """
    total: dict[str, tuple[Array, Array]] = {}
    for session, days in earlier:
        counts = weight(days, half_life)
        for skill, (low, high) in told(session).items() if counts else ():
            if is_same(session.bank, bank, skill):
                before = total.get(skill, (0.0, 0.0))
                total[skill] = before[0] + counts * low, before[1] + counts * high
    return tuple(Late(skill, _weights(total[skill]), note) for skill in bank.skills if skill in total)


def _weights(ends: tuple[Array, Array]) -> tuple[Weight, ...]:
    most = ends[1].max()
    low, high = (np.exp(np.maximum(end - most, log(FLOOR))).tolist() for end in ends)
    return tuple(one if one == other else (one, other) for one, other in zip(low, high, strict=True))
