"""Flags on questions that a teacher should check. All rules have minimum counts, so that a few answers never raise a flag.

- *The share right differs from the table*: at least 10 takers of a level (`statistics`); the share lies 15 percentage points or more
  outside the interval that the table predicts for these takers; and a two-sided binomial test at the nearer end of the interval has a
  p-value below 5 % divided by the number of comparisons (Bonferroni): if all tables are right, about one report in twenty has such a flag.
- *A wrong option attracts strong takers*: at least 8 strong takers answered, at least 5 and a third of them chose it, and that share is
  larger than the table allows for its answer class.
- *An entry that the key may lack*: at least 8 takers and half of all who answered typed it, or at least 5 and a fifth of the strong takers.
- *Often skipped*: asked at least 10 times, skipped in at least 3 of 10.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import bdtr, bdtrc

from quaestor.i18n import say, together
from quaestor.report.tallies import AtLevel, Option, Tally
from quaestor.session.explain.wording import percent

AT_LEVEL, POINTS, FALSE_ALARMS = 10, 0.15, 0.05
STRONG, CHOSE, STRONG_SHARE = 8, 5, 1 / 3
TYPED, TYPED_SHARE = 8, 0.5
STRONG_TYPED, STRONG_TYPED_SHARE = 5, 0.2
ASKED, SKIPPED_SHARE = 10, 0.3
FEWEST = min(AT_LEVEL, CHOSE, TYPED, STRONG_TYPED, ASKED)  # a question that was asked less often has no flag


def flags(tallies: Sequence[Tally]) -> list[tuple[str, ...]]:
    """The flags of each question, in words. All questions are judged together, since the test of shares corrects for their number."""
    compared = [(number, share) for number, one in enumerate(tallies) for share in one.shares if share.count >= AT_LEVEL]
    odd: dict[int, list[AtLevel]] = {}
    for (number, share), chance in zip(compared, _p_values([share for _, share in compared]), strict=True):
        if chance < FALSE_ALARMS / len(compared) and _points_off(share) >= POINTS:
            odd.setdefault(number, []).append(share)
    return [(*map(_share_words, odd.get(number, ())), *_answers(one), *_skips(one)) for number, one in enumerate(tallies)]


def _points_off(share: AtLevel) -> float:
    return max(share.least - share.seen, share.seen - share.most)


def _p_values(shares: Sequence[AtLevel]) -> list[float]:
    """Two-sided binomial p-values of the shares, at the nearer end of the predicted interval; 1 inside it."""
    if not shares:
        return []
    count, right = np.array([[share.count, share.right] for share in shares]).T
    low, high = np.array([[share.least, share.most] for share in shares]).T
    below, above = bdtr(right, count, low), bdtrc(right - 1, count, high)
    chances: list[float] = np.minimum(1, 2 * np.where(right < count * low, below, np.where(right > count * high, above, 1))).tolist()
    return chances


def _share_words(share: AtLevel) -> str:
    return say(
        "At level “{level}” {right} of {count} were right; the table says {share}: have a look at the key, the text and the difficulty.",
        level=together(share.levels, ", "),
        right=share.right,
        count=share.count,
        share=percent(share.least, share.most),
    )


def _answers(one: Tally) -> list[str]:
    if one.is_typed:
        return [_entry_words(one, option) for option in one.options if _is_frequent(one, option)]
    return [_option_words(one, option) for option in one.options if _attracts(one, option)]


def _attracts(one: Tally, option: Option) -> bool:
    share = option.strong / one.strong if one.strong else 0.0
    return not option.right and one.strong >= STRONG and option.strong >= CHOSE and share >= STRONG_SHARE and share > option.allowed


def _is_frequent(one: Tally, option: Option) -> bool:
    many = option.count >= TYPED and option.count >= TYPED_SHARE * one.answered
    return many or (option.strong >= STRONG_TYPED and option.strong >= STRONG_TYPED_SHARE * one.strong)


def _option_words(one: Tally, option: Option) -> str:
    return say(
        "{count} of {all} strong takers chose “{option}”, which counts as wrong: is the key right, or is the text unclear?",
        count=option.strong,
        all=one.strong,
        option=option.text,
    )


def _entry_words(one: Tally, option: Option) -> str:
    return say(
        "{count} of {all} typed “{entry}”, {strong} of them strong; it counts as wrong: a typical mistake, or does the key lack it?",
        count=option.count,
        all=one.answered,
        entry=option.text,
        strong=option.strong,
    )


def _skips(one: Tally) -> list[str]:
    if one.asked < ASKED or one.skipped < SKIPPED_SHARE * one.asked:
        return []
    return [
        say("{count} of {all} skipped it: is it understood, and is it taught already?", count=one.skipped, all=one.asked),
    ]
