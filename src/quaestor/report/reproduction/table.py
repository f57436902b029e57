"""Table 1 of the paper compared with the exact numbers."""

import pandas as pd

from quaestor.report.reproduction.section import Section
from quaestor.simulate.paper.table import CLOSE, DIGIT, compared, table_1


def table_section() -> Section:
    """The section on table 1."""
    table = table_1()
    bounds = compared(table)
    right, near = bounds["from exact"] <= DIGIT, bounds["from exact"] <= CLOSE
    two = bounds["from the two"] <= CLOSE
    other = bounds[~two]
    worst = bounds.iloc[int(bounds["from exact"].argmax())]
    precise = float((table["Bayesian, printed"] - table["Bayesian"]).abs().max())
    section = Section("Table 1: two questions on multiplication")
    section.findings.append(
        f"Table 1: the Bayesian column is right. Of the {len(bounds)} credal bounds {int(near.sum())} agree with the exact ones to "
        f"0.001 ({int(right.sum())} to the printed digit); the furthest is {worst['printed']:.3f} where {worst['exact']:.3f} is exact. "
        f"{int(two.sum())} of the {len(bounds)} come out, to 0.001, from just two networks of the credal set."
    )
    section.say(
        "The bank `multiplication`: a uniform prior, P(right | does not know, knows) = 0.3, 0.9 for Q1 and 0.4, 0.6 for Q2, every "
        "number ± 0.05 in the credal case. An answer is 0 (wrong), 1 (right) or - (not asked). All bounds are of P(knows | answers)."
    )
    shown = table.rename(columns={"sharp": "net 1", "blunt": "net 2", **_short("Bayesian", "P"), **_short("lower"), **_short("upper")})
    section.table("table-1", shown)
    section.say(
        f"The Bayesian numbers agree to the printed digit (largest difference {precise:.4f}). For the bounds there is one explanation "
        "of nearly all of them. Network 1 (net 1) has the prior 0.05 lower, each P(right | knows) 0.05 higher and each P(right | does "
        "not know) 0.05 lower; network 2 (net 2) has everything the other way round. After wrong answers the exact bounds are at "
        "these two networks, so their printed bounds are right (to 0.001, but for one). After a right answer the bounds are at other "
        "networks: the prior and the questions must move the same way. The printed bounds are the smaller and the larger value of the "
        f"same two networks in {int(two.sum())} of {len(bounds)} cases{_others(other)}."
    )
    right_rows = table[["1" in str(answers) for answers in table.index]]
    printed, exact = (_width(right_rows, suffix) for suffix in (", printed", ""))
    section.say(
        f"It matters to the argument: after right answers the printed intervals are {printed:.3f} wide on average, the exact ones "
        f"{exact:.3f}. The credal model is less sure after a right answer than the table suggests."
    )
    section.frames["table-1-bounds"] = bounds.set_index("answers")
    return section


def _others(other: pd.DataFrame) -> str:
    """The bounds that the two networks do not explain."""
    listed = []
    for _, row in other.iterrows():
        outside = row["printed"] > row["exact"] + DIGIT if row["bound"] == "upper" else row["printed"] < row["exact"] - DIGIT
        words = f"the {row['bound']} bound of {row['answers']} is printed {row['printed']:.3f}, exact {row['exact']:.3f}"
        listed.append(words + (", so no network of the set gives it" if outside else ""))
    return f" (the exception: {'; '.join(listed)})" if listed else ""


def _short(column: str, title: str = "") -> dict[str, str]:
    return {f"{column}, printed": f"printed {title or column}", column: title or column}


def _width(rows: pd.DataFrame, suffix: str) -> float:
    return float((rows[f"upper{suffix}"] - rows[f"lower{suffix}"]).mean())
