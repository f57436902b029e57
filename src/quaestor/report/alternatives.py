"""How a bank was chosen among alternatives: for a terminal, for a machine, and the rule in words."""

from typing import TYPE_CHECKING, Any

from quaestor.learn.choice import WITHIN, Choice
from quaestor.report.terminal import grid

if TYPE_CHECKING:
    from rich.table import Table

assert WITHIN == 0.5  # what RULE says
RULE = (
    "Every bank was learnt from some people and tried on others; the log loss is that of an answer of people held out (smaller is better),"
    " the error that of the difference to the bank taken, on the same people. Of all banks that are worse than the best by at most half a"
    " standard error, the one with the fewest free numbers is taken; skills found in the answers only if they predict better than one skill"
    " by two standard errors. Those with one fold were behind in it by more than three standard errors and were given up; their log loss is"
    " that of this fold. Where a bank states its skills, levels and links, others are shown only."
)
SHOWN = 12


def choice_grid(choice: Choice) -> "Table":
    """The alternatives as a table for a terminal, best first; the one taken is marked."""
    shown = grid("bank", "free numbers", "log loss", "worse by", "± error", "")
    listed = (*choice.trials, *choice.given_up)
    for one in [one for number, one in enumerate(listed) if number < SHOWN or one is choice.taken]:
        more, error = choice.apart(one)
        mark = "taken" if one is choice.taken else "" if one.eligible else "shown only"
        shown.add_row(one.name, str(one.numbers), f"{one.loss:.4f}", f"{more:+.4f}", f"{error:.4f}", mark)
    if len(listed) > SHOWN:
        shown.add_row(f"and {len(listed) - SHOWN} more", "", "", "", "", "")
    return shown


def plain_choice(choice: Choice | None) -> dict[str, Any] | None:
    """The choice for a machine; None where nothing was chosen."""
    if choice is None:
        return None
    rows = choice.table().reset_index().to_dict(orient="records")
    from quaestor.report.needed_skills import plain_found

    shown = {"taken": choice.taken.name, "why": choice.words, "people": choice.people, "folds": choice.folds, "alternatives": rows}
    return {**shown, "found": plain_found(choice.found)}
