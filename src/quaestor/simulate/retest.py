"""How far the results of a test can be relied on: the same simulated students take it twice.

Given the true levels two takings are independent, so what they have in common is what the test measures. For each skill, with d the level
that is decided on and m = sum_k k P(k | answers) the expected level number (0: the lowest) at the end of the test:

    accuracy      P(d = true level)
    consistency   P(d of one taking = d of the other)
    kappa         (consistency - chance) / (1 - chance), chance = sum_k P(d = k)^2: agreement beyond that of two strangers
    reliability   the correlation of m in the two takings: parallel forms
    error         sqrt E (m - true level number)^2: the root mean squared error of m, in levels. It is that of the estimate, bias
                  included, and not the standard error of measurement of classical test theory, SD(m) sqrt(1 - reliability), which
                  is smaller where m is drawn towards the prior: such a test is consistent, yet wrong

Both takings have one distribution of d. So P(d = k) is counted over both together: that is the kappa of Scott (and Fleiss); Cohen's, with a
distribution for each, has the same limit.

In credal banks d and P are of the centre of the bounds. Sources: Y. Cui, M. J. Gierl, H.-H. Chang, "Estimating classification consistency
and accuracy for cognitive diagnostic assessment", Journal of Educational Measurement 49, 2012; W. A. Scott, "Reliability of content
analysis: the case of nominal scale coding", Public Opinion Quarterly 19, 1955; J. Cohen, "A coefficient of agreement for nominal scales",
1960; F. M. Lord, M. R. Novick, "Statistical theories of mental test scores", 1968 (parallel forms).
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import best
from quaestor.errors import QuaestorError
from quaestor.inference.evidence import MISSING, OPEN, Evidence
from quaestor.model.table import Array, centre
from quaestor.selection.rules import Rules, rules_of
from quaestor.selection.step import step
from quaestor.simulate import simulate
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.simulation import Simulation

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Reliability:
    """What of each skill can be relied on, (skills,) each, from two takings of the same test by the same simulated students.

    With d the level that is decided on and m = sum_k k P(k | answers) the expected level number (0: the lowest) at the end of a test:

    - `accuracy`: P(d = true level).
    - `consistency`: P(d of one taking = d of the other).
    - `kappa`: (consistency - chance) / (1 - chance) with chance = sum_k P(d = k)^2, Cohen's kappa.
    - `reliability`: the correlation of m in the two takings, as of parallel forms.
    - `error`: sqrt(E (m - true level number)^2), the root mean squared error of m, in levels. It contains the bias of m, so it is not
      SD(m) sqrt(1 - reliability), the standard error of measurement of classical test theory: a test can be reliable, yet wrong.
    - `accuracy_error`, `consistency_error`, `reliability_error`: the standard errors of the simulation, which more students make smaller.

    `kappa` and `reliability` are NaN where everybody ends with the same result. In credal banks d and m are of the centre of the bounds.
    Sources: Cui, Gierl and Chang (2012), Journal of Educational Measurement 49; Cohen (1960); Lord and Novick (1968).
    """

    skills: tuple[str, ...]
    students: int
    accuracy: Array
    accuracy_error: Array
    consistency: Array
    consistency_error: Array
    kappa: Array
    reliability: Array
    reliability_error: Array
    error: Array

    def table(self) -> "pd.DataFrame":
        """A row a skill."""
        import pandas as pd  # only here: it takes long to import

        columns = {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("skills", "students")}
        return pd.DataFrame(columns, index=pd.Index(self.skills, name="skill"))


def reliability(
    bank: Bank,
    rules: Rules | None = None,
    students: int = 1024,
    seed: int = 1,
    truth: Bank | None = None,
    behaviour: Behaviour | None = None,
) -> Reliability:
    """Let the same students take a test twice and compare; the arguments are those of `simulate`, the second taking has the next seed."""
    if not isinstance(truth, Bank | None):
        raise QuaestorError(f"truth: a bank is expected, since the same students come twice, got {truth!r}")
    rules = rules_of(rules)
    first = simulate(bank, rules, students, seed, truth, behaviour)
    if first.count < 2:
        raise QuaestorError(f"students: at least 2 are compared, got {first.count}")
    second = simulate(bank, rules, first.levels, seed + 1, truth, behaviour)
    ends = [_ends(bank, rules, taking) for taking in (first, second)]
    rows = [_compared(first.levels[:, number], *(end[number] for end in ends)) for number in range(len(bank.skills))]
    return Reliability(tuple(bank.skills), first.count, *np.array(rows).T)


def _ends(bank: Bank, rules: Rules, taking: Simulation) -> list[tuple[NDArray[np.intp], Array]]:
    """For each skill the levels decided on and the expected level numbers at the end of a test, (students,) each."""
    sets = np.full((taking.count, len(bank.questions)), OPEN, dtype=np.int16)
    student, place = np.nonzero(taking.asked_places >= 0)
    answers = taking.answers[student, place]
    sets[student, taking.asked_places[student, place]] = np.where(answers < 0, MISSING, answers)
    known = step(rules, Evidence.of_rows(bank, sets)).bounds
    return [(best(*bracket.ends), centre(*bracket.ends) @ np.arange(bracket.ends[0].shape[1])) for bracket in known]


def _compared(truth: NDArray[np.intp], one: tuple[NDArray[np.intp], Array], other: tuple[NDArray[np.intp], Array]) -> list[float]:
    """The numbers of one skill, in the order of `Reliability`."""
    count = len(truth)
    right = np.concatenate([one[0] == truth, other[0] == truth]).reshape(2, count).mean(axis=0)
    agree = one[0] == other[0]
    shares = np.bincount(np.concatenate([one[0], other[0]])) / (2 * count)
    chance = float((shares**2).sum())
    spread = one[1].std() * other[1].std()
    together = float(((one[1] - one[1].mean()) * (other[1] - other[1].mean())).mean() / spread) if spread > 0 else np.nan
    return [
        float(right.mean()),
        float(right.std(ddof=1) / np.sqrt(count)),
        float(agree.mean()),
        float(agree.std(ddof=1) / np.sqrt(count)),
        float((agree.mean() - chance) / (1 - chance)) if chance < 1 else np.nan,
        together,
        (1 - together**2) / np.sqrt(count),
        float(np.sqrt((np.concatenate([one[1] - truth, other[1] - truth]) ** 2).mean())),
    ]
