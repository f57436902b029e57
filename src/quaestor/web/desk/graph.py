"""The graph of the skills inside a page: our policy allows no styles in pictures, so the style sheet colours it."""

import re
from collections.abc import Callable

from markupsafe import Markup

from quaestor.bank import Bank
from quaestor.report.graph import skill_graph

_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def drawn(bank: Bank, translate: Callable[[str], str]) -> Markup:
    """The picture, or nothing for a single skill. All texts in it are escaped where it is made."""
    if len(bank.skills) < 2:
        return Markup()
    return Markup(_STYLE.sub("", skill_graph(bank, translate), count=1).replace("<svg ", '<svg class="graph" ', 1))
