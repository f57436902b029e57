"""What stop criteria see of many takers, worked out when one of them looks."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from quaestor.inference.engine import Ends
from quaestor.inference.evidence import Evidence
from quaestor.inference.layout import Numbers
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
