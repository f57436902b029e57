"""What credal tests know that Bayesian ones do not: their accuracy where one level is left, and where several are."""

import pandas as pd

from quaestor.report.reproduction.section import Section
from quaestor.simulate.paper.split import split
from quaestor.simulate.paper.studies import Repeated

SINGLE_STEPS, MULTI_STEPS = (2, 3, 5, 8, 10, 18), (1, 2, 4, 8, 12, 20, 30, 64)
REPORTED = 12  # the number of questions of the finding
NEAR = 0.05  # smaller differences of accuracy count as about equal


def knowledge_section(single: Repeated | None, multi: Repeated | None) -> Section:
    """The section on determinate answers."""
    tables: list[pd.DataFrame] = []
    section = Section("What credal tests know: determinate answers")
    section.say(
        "A credal answer is determinate when one level dominates in every network of the set; otherwise the test says that it cannot "
        "tell. The tables show the accuracy of the credal test (midpoints) there and elsewhere, the accuracy of the Bayesian test on "
        "the same students and skills, and, as a control, what the Bayesian test can do by itself: it sets aside as many answers, "
        "those with the smallest probability of the level it names (surest: what it keeps; others: what it sets aside)."
    )
    if single is not None:
        section.say(f"One skill, credal entropy against Bayesian entropy, our {single.students} students:")
        own = split(single.own["credal entropy"], single.own["Bayesian entropy"], SINGLE_STEPS)
        section.table("split-single", own)
        tables.append(own)
        if single.raw is not None:
            section.say("The same from the authors' raw results:")
            section.table("split-raw", split(single.raw.runs["credal entropy"], single.raw.runs["Bayesian entropy"], SINGLE_STEPS))
    if multi is not None:
        section.say(f"Four skills, our {multi.students} students:")
        table = split(multi.own["credal entropy"], multi.own["Bayesian entropy"], MULTI_STEPS)
        section.table("split-multi", table)
        tables.append(table)
        section.findings.append(_finding(table.loc[[REPORTED]].iloc[0]))
    section.say(
        "So the doubt of a credal test is real, and it comes without anybody having to choose a threshold for a probability. It is "
        f"hardly knowledge that the Bayesian test lacks: {_sorting(pd.concat(tables))}. Tests that stop early keep their last answer "
        "in these tables."
    )
    return section


def _sorting(table: pd.DataFrame) -> str:
    flagged, by_itself = table["Bayes there"] - table["Bayes else"], table["surest"] - table["others"]
    known = flagged.notna()
    return (
        f"the accuracy of Bayesian answers differs by {flagged[known].mean():.3f} on average between the answers that the credal test "
        f"finds determinate and the others, and by {by_itself[known].mean():.3f} between those that the Bayesian test itself is surest "
        "of and the others"
    )


def _finding(row: pd.Series) -> str:
    flagged, by_itself = row["Bayes there"] - row["Bayes else"], row["surest"] - row["others"]
    verdict = "but Bayesian probabilities sort about as well" if by_itself > flagged - NEAR else "and Bayesian probabilities sort less well"
    return (
        f"What do credal tests know? With four skills after {REPORTED} questions {row['determinate']:.0%} of the credal answers are "
        f"determinate; of these {row['credal there']:.1%} are right, of the others {row['credal else']:.1%}. Bayesian entropy is right "
        f"on {row['Bayes there']:.1%} and {row['Bayes else']:.1%} of the same answers; when it sets aside as many by its own "
        f"probabilities, on {row['surest']:.1%} and {row['others']:.1%}. The credal doubt is real, {verdict}."
    )
