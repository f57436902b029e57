"""The accuracy of a credal test where it is determinate, and where it is not.

The Bayesian test is evaluated on the same students and skills. As a control it sets aside as many results as the credal test by itself:
those with the smallest probability of the most probable level.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from quaestor.model.table import Array, centre
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.paper.runs import Run


def split(credal: Run, bayesian: Run, steps: tuple[int, ...]) -> pd.DataFrame:
    """A row for each number of questions: the share of determinate results (one for each student and skill) and accuracies.

    `there`: where the credal result is determinate; `else`: where it is not. `surest`, `others`: the results of the Bayesian test that it
    keeps and that it sets aside by its own probabilities.
    """
    rows = {}
    for step in steps:
        clear = _all(credal, "determinate", step) > 0
        theirs, its = _all(credal, "accuracy", step), _all(bayesian, "accuracy", step)
        certain = surest(_certainty(bayesian, step), float(clear.mean()))
        rows[step] = {
            "determinate": float(clear.mean()),
            "credal there": _mean(theirs, clear),
            "credal else": _mean(theirs, ~clear),
            "Bayes there": _mean(its, clear),
            "Bayes else": _mean(its, ~clear),
            "surest": _mean(its, certain),
            "others": _mean(its, 1 - certain),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("asked")


def surest(certainty: Array, share: float) -> Array:
    """Weights that select this share of the largest values, (values,); values tied at the border have fractional weights."""
    values, place, counts = np.unique(np.round(-certainty, 9), return_inverse=True, return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)[:-1]])
    picked = np.clip((share * len(certainty) - before) / counts, 0, 1)
    return np.asarray(picked[place.reshape(-1)]) if len(values) else np.zeros(0)


def _all(run: Run, metric: str, step: int) -> Array:
    parts = [METRICS[metric](low[:, [step]], high[:, [step]], run.levels[:, skill])[:, 0] for skill, (low, high) in enumerate(run.bounds)]
    return np.concatenate(parts)


def _certainty(run: Run, step: int) -> Array:
    return np.concatenate([centre(low[:, step], high[:, step]).max(axis=1) for low, high in run.bounds])


def _mean(values: Array, weights: Array | NDArray[np.bool_]) -> float:
    total = float(np.sum(weights))
    return float((values * weights).sum() / total) if total > 0 else float("nan")
