"""What a running test tells of its questions while answers come in, in words: those that became easier or harder, and pilot questions."""

from collections.abc import Sequence
from itertools import product

from quaestor.bankfile.bank import Bank
from quaestor.i18n import say, together
from quaestor.learn.arrivals import Arrival, watched
from quaestor.learn.drift import Drift, drifts
from quaestor.learn.pilots import FEWEST, Pilot, calibrated
from quaestor.session.explain.wording import percent

MOST = 4  # combinations of levels that a sentence names


def watch(bank: Bank, lines: Sequence[Arrival]) -> tuple[dict[str, str], dict[str, str]]:
    """By question: a sentence for each that became easier or harder, and one for each pilot with answers; `lines` as they came in."""
    found = watched(bank, lines)
    pilots = {name for name in found if bank.questions[name].pilot}
    moved = {name: drift_words(one) for name, one in drifts(found, pilots=pilots).items()}
    tried = {name: pilot_words(bank, calibrated(found[name])) for name in pilots if len(found[name].best) >= FEWEST}
    return moved, tried


def drift_words(one: Drift) -> str:
    """A question that became easier or harder."""
    shares = {"before": percent(one.before), "after": percent(one.after), "since": one.since, "later": one.answers - one.since}
    if one.easier:
        return say(
            "It has become easier: of takers like these, {before} were right in the first {since} answers, {after} in the {later} since"
            " then. It may be known by now: another question in its place tells more.",
            **shares,
        )
    return say(
        "It has become harder: of takers like these, {before} were right in the first {since} answers, {after} in the {later} since then."
        " Have a look at its text, and at what was taught.",
        **shares,
    )


def pilot_words(bank: Bank, one: Pilot) -> str:
    """A pilot question: where its shares of right answers lie by now, and whether that is enough."""
    question = bank.questions[one.question]
    levels = list(product(*(bank.skills[skill].levels for skill in question.skills)))
    shown = range(len(levels)) if len(levels) <= MOST else (0, len(levels) - 1)
    said = together(
        [
            say(
                "at level “{level}” {share}",
                level=together(levels[place], ", "),
                share=percent(float(one.lower[place]), float(one.upper[place])),
            )
            for place in shown
        ],
        ", ",
    )
    if one.is_ready:
        return say(
            "It is being tried out and does not count. {count} answers say: right {shares} (nine in ten such ranges hold). That is enough"
            " to use it: learn the bank from these answers.",
            count=one.answers,
            shares=said,
        )
    return say(
        "It is being tried out and does not count. {count} answers say: right {shares} (nine in ten such ranges hold). About {more} more"
        " {more:answer|answers} make it ready for use.",
        count=one.answers,
        shares=said,
        more=one.more,
    )
