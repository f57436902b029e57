"""How figure 2 was made, according to the authors' raw results."""

import pandas as pd

from quaestor.report.reproduction.section import Section
from quaestor.simulate.paper.audit import agreement, ends, first_question, random_order, shares_right
from quaestor.simulate.paper.raw import Raw

SHORT = {
    "mean length": "length",
    "no question left": "none left",
    "ended early": "early",
    "accuracy of those": "accuracy of early",
    "of the others": "of others",
}


def audit_section(raw: Raw) -> Section:
    """The section on the first study as it was run."""
    section = Section("Figure 2: how it was run, from the raw results")
    shares, agreed, ended = shares_right(raw), agreement(raw), ends(raw)
    seventh = shares.loc["T7"]
    section.say(
        f"The {len(raw.levels)} students are {int((raw.levels == 0).sum())} without and {int((raw.levels == 1).sum())} with the skill; "
        "the nine templates are asked twice each. Template 7 was not run as written: the text gives P(right | 0) = "
        f"{seventh['as written, 0']:.2f}, the raw share is {seventh['right at 0']:.3f}, {abs(seventh['z as written, 0']):.0f} standard "
        f"errors away; with {seventh['as run, 0']:.2f} it is {abs(seventh['z as run, 0']):.1f}. As run no share is further than "
        f"{_furthest(shares):.1f} standard errors from its table. Our runs use the tables as run (bank `single-skill-as-run`)."
    )
    section.say(
        "Which score made the choices? For every raw choice all open questions are scored from the same answers. Best: the question "
        "asked had the largest gain, or one equal to it. By chance: how often any open question would have. Decisive: the share of "
        "choices where all the best ones have the same table, so that the choice tells something; best there: how often it was then "
        "taken."
    )
    section.table("single-choices", agreed)
    upper, lower = agreed.loc["credal entropy: upper entropy"], agreed.loc["credal entropy: lower entropy"]
    bayesian = agreed.loc["Bayesian mode: mode"]
    mode, other = agreed.loc["credal mode: lower mode"], agreed.loc["credal mode: upper mode"]
    section.points(
        [
            f"Credal entropy: the text speaks of lower entropies; the raw choices are those of the upper ones ({upper['best']:.1%} "
            f"against {lower['best']:.1%}; ties go to the first question in {upper['first']:.1%} of all choices).",
            f"Credal mode: lower M agrees better than upper M ({mode['best']:.1%} against {other['best']:.1%}){_first(raw)}. But M is "
            f"flat so often that chance alone would give {mode['by chance']:.1%}; only {mode['decisive']:.1%} of the choices are "
            f"decisive, and of those {mode['best there']:.1%} agree. So the runs follow lower M at most roughly; we do not know their "
            "exact rule.",
            f"Bayesian mode: all choices are best ones, but {1 - bayesian['decisive']:.0%} of them are ties between different "
            "questions, decided by rounding or order.",
        ]
    )
    section.table("single-ends", ended.drop(columns="went on below 0.1").rename(columns=SHORT))
    early = ended["ended early"]
    orders, first, last = random_order(raw)
    section.say(
        f"The credal runs stop when the upper entropy is below 0.1 (none was asked on below it). But {early['credal entropy']:.1%} "
        f"(entropy) and {early['credal mode']:.1%} (mode) of them end above it with questions left; after the end the last values are "
        "repeated in the printed curves. Bayesian and random runs ask all questions. The order of random runs differs between "
        f"students ({orders} orders), but the first question is one of {first} and the last one of {last}, not of all 18."
    )
    return section


def _first(raw: Raw) -> str:
    number, best = first_question(raw)
    only = [bound for bound, is_best in best.items() if is_best]
    return f"; the first question, {number}, is a best one of {only[0]} M only" if len(only) == 1 else ""


def _furthest(shares: pd.DataFrame) -> float:
    z = shares[["z as run, 0", "z as run, 1"]].abs()
    return float(z.to_numpy().max())
