"""What a simulation or an exact evaluation tells: curves over the number of questions asked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quaestor.model.table import Array
from quaestor.simulate.metrics import METRICS

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "the true levels of real people are not known; use holdout= to see how well answers are foretold"


@dataclass(frozen=True, eq=False)
class Curves:
    """Means over students by step (0: before the first question) and skill; after a stop the last value is kept.

    `means`: for each metric of `simulate.metrics` an array (steps, skills). `running`: the share of students who were still asked the
    step's question, (steps,); 1 at step 0.
    """

    skills: tuple[str, ...]
    means: dict[str, Array]
    running: Array

    def __getattr__(self, name: str) -> Array:
        """`x.accuracy`, `x.brier`, ...: the mean over the skills by step; `x.accuracy_by_skill`: by step and skill."""
        metric, means = name.removesuffix("_by_skill"), self.__dict__.get("means", {})
        if metric not in means:
            known = f"; there are {', '.join(means)}" if metric in METRICS and means else ""
            why = f": {UNKNOWN}" if metric in METRICS and METRICS.keys().isdisjoint(means) else ""
            raise AttributeError(f"no {name}{why}{known}")
        return self.means[metric] if metric != name else _mean_over_skills(self.means[metric])

    def __dir__(self) -> list[str]:
        """The metrics as well."""
        return sorted({*super().__dir__(), *self.means, *(f"{name}_by_skill" for name in self.means)})

    @property
    def length(self) -> Any:
        """The number of questions asked: here its mean; in a simulation that of each student."""
        return self.mean_length

    @property
    def mean_length(self) -> float:
        """The mean number of questions asked."""
        return float(self.running[1:].sum())

    def table(self) -> "pd.DataFrame":
        """A row a step: the share still running and every metric, the mean over the skills."""
        import pandas as pd  # only here: it takes long to import

        columns = {name: getattr(self, name) for name in self.means}
        frame = pd.DataFrame({"running": self.running, **columns})
        frame.index.name = "step"
        return frame


def _mean_over_skills(values: Array) -> Array:
    """The mean over the skills that have a value; NaN where none has."""
    count = (~np.isnan(values)).sum(axis=1)
    total = np.nansum(values, axis=1)
    return np.asarray(np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0))
