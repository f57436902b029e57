"""The results of a simulation or an exact evaluation: curves over the number of questions asked.

Every metric is an attribute: `x.accuracy` is the mean over the skills by step, `x.accuracy_by_skill` by step and skill. `Metrics` lists the
names, so that a type checker knows them and refuses others.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quaestor.errors import nearest
from quaestor.extras import from_extra
from quaestor.html_tables import html_table
from quaestor.model.table import Array
from quaestor.simulate.metrics import METRICS

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "the true levels of real people are not known; use holdout= to see how well answers are predicted"


class Metrics:
    """The metrics by name, (steps,), or by skill, (steps, skills): declared for type checkers, computed by `Curves.__getattr__`."""

    accuracy: Array
    brier: Array
    brier_best: Array
    brier_worst: Array
    log_loss: Array
    log_loss_best: Array
    log_loss_worst: Array
    not_upper: Array
    determinate: Array
    single_accuracy: Array
    set_accuracy: Array
    u65: Array
    u80: Array
    held_out_log_loss: Array
    held_out_accuracy: Array
    accuracy_by_skill: Array
    brier_by_skill: Array
    brier_best_by_skill: Array
    brier_worst_by_skill: Array
    log_loss_by_skill: Array
    log_loss_best_by_skill: Array
    log_loss_worst_by_skill: Array
    not_upper_by_skill: Array
    determinate_by_skill: Array
    single_accuracy_by_skill: Array
    set_accuracy_by_skill: Array
    u65_by_skill: Array
    u80_by_skill: Array


@dataclass(frozen=True, eq=False)
class Curves(Metrics):
    """Means over students by step (0: before the first question) and skill; after a stop the last value is kept.

    `means`: for each metric of `simulate.metrics` an array (steps, skills). `running`: the share of students who were still asked the
    step's question, (steps,); 1 at step 0.
    """

    skills: tuple[str, ...]
    means: dict[str, Array]
    running: Array

    def __repr__(self) -> str:
        last = f"accuracy {self.accuracy[-1]:.3f}" if "accuracy" in self.means else f"{len(self.means)} metrics"
        return (
            f"<{type(self).__name__}{self._whose()}: {len(self.skills)} skills, {self.length:.1f} questions on average, {last} at the end>"
        )

    def _whose(self) -> str:
        """Whose curves they are, in words."""
        return " without sampling"

    def _repr_html_(self) -> str:
        steps = range(len(self.running))
        names = [name for name in ("accuracy", "brier", "log_loss", "held_out_log_loss", "held_out_accuracy") if name in self.means]
        columns = [getattr(self, name) for name in names]
        rows = [(step, float(self.running[step]), *(float(column[step]) for column in columns)) for step in steps]
        return html_table(repr(self).strip("<>"), ("questions", "still running", *names), rows, len(rows))

    if not TYPE_CHECKING:  # hidden from type checkers, which would accept any name as a metric

        def __getattr__(self, name: str) -> Array:
            """`x.accuracy`, `x.brier`, ...: the mean over the skills by step; `x.accuracy_by_skill`: by step and skill."""
            metric, means = name.removesuffix("_by_skill"), self.__dict__.get("means", {})
            if metric not in means:
                known = f"; there are {', '.join(means)}" if metric in METRICS and means else ""
                why = f": {UNKNOWN}" if metric in METRICS and METRICS.keys().isdisjoint(means) else ""
                hint = "" if name.startswith("_") or metric in METRICS else nearest(name, dir(self))
                raise AttributeError(f"no {name}{why}{known}" + (f" ({hint})" if hint else ""))
            return self.means[metric] if metric != name else _mean_over_skills(self.means[metric])

    def __dir__(self) -> list[str]:
        """The attributes, with the metrics."""
        return sorted({*super().__dir__(), *self.means, *(f"{name}_by_skill" for name in self.means)})

    @property
    def length(self) -> np.float64:
        """The mean number of questions asked."""
        return np.float64(self.running[1:].sum())

    def table(self) -> "pd.DataFrame":
        """A row a step: the share of tests still running, and every metric (mean over the skills)."""
        with from_extra():
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
