"""Skills: what a test measures."""

from dataclasses import dataclass

from quaestor.model.table import Table


@dataclass(frozen=True)
class Skill:
    """A latent skill with ordered levels, lowest first, and P(skill | parents), shape (*parents' levels, levels).

    `abilities`: the levels on the ability scale of item response theory, for questions stated by `irt`. `link`: where to practise it.
    """

    id: str
    levels: tuple[str, ...]
    parents: tuple[str, ...]
    table: Table
    abilities: tuple[float, ...]
    title: str = ""
    description: str = ""
    link: str = ""
