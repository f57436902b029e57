"""The experiments of Antonucci, Mangili, Bonesana and Adorni, "A New Score for Adaptive Tests in Bayesian and Credal Networks", repeated.

The printed numbers come with the package (`published`): table 1 and the points of the curves of figures 2 and 3. They are compared with our
own simulations, with exact expectations, and with the authors' raw results, if these are given.
"""

from importlib import resources

import pandas as pd

NAMES = {
    "credal_entropy": "credal entropy",
    "credal_mode": "credal mode",
    "random": "random",
    "bayesian_entropy": "Bayesian entropy",
    "bayesian_mode": "Bayesian mode",
}


def published(name: str) -> pd.DataFrame:
    """Numbers printed in the paper: `table-1`, or the points of a figure, with a row for each number of questions and a column for each
    method.

    The figures: `single-skill-accuracy`, `single-skill-brier` (figure 2), `multi-skill-accuracy` (figure 3).
    """
    with (resources.files("quaestor") / "published" / f"{name}.csv").open("r", encoding="utf-8") as file:
        if name == "table-1":
            return pd.read_csv(file, dtype={"Q1": str, "Q2": str})
        return pd.read_csv(file, index_col="questions").rename(columns=NAMES)
