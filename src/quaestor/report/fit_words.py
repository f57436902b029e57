"""The fit of a learnt bank as a whole, and the people whose answers do not fit, in words, on a page and as plain data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from quaestor.learn.fit import Fit
from quaestor.learn.goodness import Goodness, goodness
from quaestor.learn.person_fit import CHANCE, Stranger, strangers
from quaestor.report import page

SHOWN = 20  # people that a list names


@dataclass(frozen=True)
class Quality:
    """How well a bank fits, and who does not fit it."""

    whole: Goodness
    people: tuple[Stranger, ...]


def quality_of(fit: Fit, seed: int) -> Quality:
    """The quality of a fit; the seed draws replicates, and people to compare with."""
    return Quality(goodness(fit, np.random.default_rng([seed, 3])), strangers(fit, np.random.default_rng([seed, 4])))


def people_words(found: Quality) -> list[str]:
    """Sentences: how many people do not fit, and what is odd about each, the oddest first."""
    if not found.people:
        return ["Nobody's answers stand out."]
    count = len(found.people)
    opening = (
        f"The answers of {count} {'person' if count == 1 else 'people'} do not fit the bank (at most {CHANCE:.0%} of those named are"
        " expected to be chance). They may have guessed, copied, slipped by a line, or learnt differently: a reason to talk, not a proof."
    )
    if found.whole.verdict == "misfit":
        opening += " But the bank as a whole does not fit, and then people are named whom a better bank would explain."
    more = [f"{count - SHOWN} more."] if count > SHOWN else []
    return [opening, *(one.words for one in found.people[:SHOWN]), *more]


def quality_parts(found: Quality) -> list[str]:
    """The two sections of the page."""
    opening, *people = people_words(found)
    return [
        page.heading("How well the bank fits"),
        page.text(" ".join(found.whole.words)),
        page.heading("People whose answers do not fit"),
        page.text(opening),
        *([page.listing(people)] if people else []),
    ]


def plain_quality(found: Quality) -> dict[str, Any]:
    """The same as plain data; people without a limit on their number."""
    whole, test = found.whole, found.whole.test
    return {
        "fit": {
            "verdict": whole.verdict,
            "words": " ".join(whole.words),
            "srmsr": whole.srmsr,
            "srmsr_by_chance": None if whole.srmsr is None else whole.by_chance,
            "chance": whole.chance,
            "pairs": whole.pairs,
            "m2": None
            if test is None
            else {
                "statistic": test.statistic,
                "df": test.df,
                "chance": test.chance,
                "rmsea": test.rmsea,
                "interval": list(test.interval),
                "questions": test.questions,
            },
        },
        "people_who_do_not_fit": [
            {
                "person": str(one.person),
                "answers": one.answers,
                "size": one.size,
                "chance": one.chance,
                "missed": list(one.missed),
                "solved": list(one.solved),
            }
            for one in found.people
        ],
    }
