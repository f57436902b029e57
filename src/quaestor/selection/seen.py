"""What stop criteria see of many takers, worked out when one of them looks."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from quaestor.inference.chooser import Chooser
from quaestor.inference.engine import Ends
from quaestor.inference.evidence import Evidence
from quaestor.inference.layout import Layout, Numbers
from quaestor.lazy import lazy
from quaestor.model.skill import Skill
from quaestor.selection.stopping.criterion import ManyBounds


class Known(Mapping[str, ManyBounds]):
    """What is known of each skill, (takers, levels)."""

    def __init__(self, skills: Mapping[str, Skill], find: Callable[[str], Ends]) -> None:
        self._skills, self._find = skills, find

    def __getitem__(self, skill: str) -> ManyBounds:
        return ManyBounds(self._skills[skill].levels, *self._find(skill))

    def __iter__(self) -> Iterator[str]:
        return iter(self._skills)

    def __len__(self) -> int:
        return len(self._skills)


def prior_of(layout: Layout) -> Mapping[str, Ends]:
    """Lower and upper P(level) of each skill before anything is known, (levels,) each; kept with the layout."""
    if "prior" not in layout.kept:
        chooser = Chooser(layout.model, 1)
        found = {skill: chooser.now(layout.position[skill]).ends for skill in layout.bank.skills}
        layout.kept["prior"] = {skill: (low[0], high[0]) for skill, (low, high) in found.items()}
    kept: Mapping[str, Ends] = layout.kept["prior"]
    return kept


class Priors(Mapping[str, Ends]):
    """The same, worked out when one of them is looked at."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __getitem__(self, skill: str) -> Ends:
        return prior_of(self._layout)[skill]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layout.bank.skills)

    def __len__(self) -> int:
        return len(self._layout.bank.skills)


class Counts(Mapping[str, Numbers]):
    """How many questions that count were asked on each skill, (takers,) each."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence, self._skills = evidence, list(evidence.layout.bank.skills)

    @lazy
    def _counts(self) -> Numbers:
        on_skills = self._evidence.layout.of_skill[np.maximum(self._evidence.asked, 0)]
        return np.asarray((on_skills & self._evidence.counted[:, :, None]).sum(axis=1))

    def __getitem__(self, skill: str) -> Numbers:
        return self._counts[:, self._skills.index(skill)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._skills)

    def __len__(self) -> int:
        return len(self._skills)
