"""Table 1: P(knows multiplication | answers) for every set of answers to two questions, precise and with all numbers +- 0.05."""

import numpy as np
import pandas as pd

from quaestor.bankfile.bank import Bank
from quaestor.formats.files import load
from quaestor.inference.posterior import posterior
from quaestor.simulate.paper import published

WIDTH = 0.05
DIGIT = 0.0005 + 1e-9  # half a unit of the last printed digit
CLOSE = 0.001 + 1e-9


def table_1() -> pd.DataFrame:
    """A row for each set of answers: printed and exact numbers, and those of two networks of the credal set (`sharp` and `blunt`).

    `sharp`: the prior 0.05 lower, every P(right | knows) 0.05 higher and every P(right | does not know) 0.05 lower. `blunt`: the opposite.
    The bounds are attained at these two networks after wrong answers, and only then.
    """
    bank = load("multiplication")
    credal = bank.widen(WIDTH)
    rows = []
    for given in published("table-1").to_dict("records"):
        answers = {name: int(given[name]) for name in ("Q1", "Q2") if given[name] != "-"}
        exact, precise = posterior(credal, answers)["multiplication"], posterior(bank, answers)["multiplication"]
        row = {"answers": f"({given['Q1']}, {given['Q2']})", "Bayesian, printed": given["bayesian"], "Bayesian": float(precise.lower[1])}
        row |= {"lower, printed": given["lower"], "lower": float(exact.lower[1])}
        row |= {"upper, printed": given["upper"], "upper": float(exact.upper[1])}
        rows.append(row | {name: _moved(bank, answers, way) for name, way in (("sharp", 1), ("blunt", -1))})
    return pd.DataFrame(rows).set_index("answers")


def _moved(bank: Bank, answers: dict[str, int], way: int) -> float:
    """P(knows | answers) in the network `sharp` (`way` 1) or `blunt` (-1), with prior 0.5 - way * 0.05."""
    weights = np.array([0.5, 0.5]) + way * WIDTH * np.array([1, -1])
    for name, answer in answers.items():
        right = bank.questions[name].table.lower[:, 1] + way * WIDTH * np.array([-1, 1])
        weights = weights * (right if answer else 1 - right)
    return float(weights[1] / weights.sum())


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """A row for each printed bound: its distances to the exact one and to the corresponding value of the two networks."""
    rows = []
    for answers, row in table.iterrows():
        ends = sorted((row["sharp"], row["blunt"]))
        for name, end in zip(("lower", "upper"), ends, strict=True):
            printed = row[f"{name}, printed"]
            apart = {"from exact": abs(printed - row[name]), "from the two": abs(printed - end)}
            rows.append({"answers": answers, "bound": name, "printed": printed, "exact": row[name], "of the two": end, **apart})
    return pd.DataFrame(rows)
