"""Skills found in answers alone: which questions need the same skill, for a given number of skills.

Factors (see `factors`) give the first rows of a Q-matrix, one skill for each question. Then, in turn, a bank with these rows is learnt,
with all links between skills, and every question gets the row that explains its answers best (see `q_matrix`), until nothing changes:
with two levels for each skill, and then with three if these explain the answers better by BIC. How many skills there are is decided by
people held out, in `choice`: all of this is done anew without them.

Rows differ from sample to sample. `stability` finds them again in people drawn with replacement: the share of samples that give a question
the same skills.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from quaestor.errors import QuaestorError
from quaestor.extras import from_extra
from quaestor.learn import learn
from quaestor.learn.answers import Answers
from quaestor.learn.factors import correlations, high_answers, likely_factors, loadings
from quaestor.learn.fit import Fit
from quaestor.learn.graphs import every_link
from quaestor.learn.q_matrix import best_rows
from quaestor.learn.skeleton import skeleton
from quaestor.model.table import Array

if TYPE_CHECKING:
    import pandas as pd

MOST = 6  # skills
LEAST = 3  # questions for each skill, on the whole
PEOPLE = 100  # with an answer to both, for most pairs of questions
LEVELS = (2, 3)  # that rows are found with; three only where they explain the answers better
PROFILES = 243  # with more combinations of levels the rows stay those of two levels
ROUNDS = 8
SAMPLES = 20
SURE = 0.8  # of the samples, for a row to be called stable
_LOOSE = 1e-3  # of the log-likelihood for each person


def likely_skills(answers: Answers, rng: np.random.Generator) -> int:
    """How many skills are worth trying: one more than parallel analysis finds, at most `MOST`, and `LEAST` questions for each; one where
    most pairs of questions were answered by fewer than `PEOPLE`.
    """
    given = (answers.class_numbers >= 0).astype(float)
    asked = int(given.any(axis=0).sum())
    if np.median(given.T @ given) < PEOPLE:
        return 1
    return int(min(likely_factors(high_answers(answers), rng) + 1, MOST, asked // LEAST))


@lru_cache(maxsize=2 * MOST)  # the alternatives of one choice ask for the same matrices again and again
def found_matrix(answers: Answers, skills: int) -> "pd.DataFrame | None":
    """The Q-matrix with so many skills that explains the answers best, the skill of most questions first; None where one of them is left
    with fewer than two questions.
    """
    with from_extra():
        import pandas as pd

    if skills < 1 or skills > len(answers.columns) // 2:
        raise QuaestorError(f"discovery: at least one skill, and two questions for each, got {skills} for {len(answers.columns)} questions")
    pull = loadings(correlations(high_answers(answers)), skills)
    matrix: Array | None = np.eye(skills, dtype=int)[pull.argmax(axis=1)]
    best = -np.inf
    for levels in LEVELS if skills > 1 else ():
        if levels**skills > PROFILES or matrix is None:
            break
        found, bic = _settled(answers, matrix, levels)
        if found is None or bic <= best:
            break
        matrix, best = found, bic
    if matrix is None or (matrix.sum(axis=0) < 2).any() or (skills > 1 and best == -np.inf):
        return None
    order = np.lexsort((matrix.argmax(axis=0), -matrix.sum(axis=0)))  # of equal ones, that of the first question
    return pd.DataFrame(matrix[:, order], index=list(answers.columns), columns=[f"skill {number + 1}" for number in range(skills)])


def _settled(answers: Answers, matrix: Array, levels: int) -> tuple[Array | None, float]:
    """Rows that no longer change, and the BIC of a bank with them, the larger the better; None where a skill is left without questions."""
    seen: list[Array] = []
    while True:
        if (matrix.sum(axis=0) < 2).any():
            return None, -np.inf
        fit = _learnt(answers, matrix, levels)
        seen.append(matrix)
        better = matrix.copy()
        for position, scope in best_rows(fit).items():
            better[position] = 0
            better[position, [int(fit.layout.names[skill]) for skill in scope]] = 1
        if len(seen) == ROUNDS or any((better == before).all() for before in seen):
            return matrix, -fit.bic
        matrix = better


def _learnt(answers: Answers, matrix: Array, levels: int) -> Fit:
    """A bank with these rows and all links between its skills."""
    with from_extra():
        import pandas as pd

    names = [str(number) for number in range(matrix.shape[1])]
    classes = dict(zip(answers.columns, answers.classes, strict=True))
    bank = skeleton(pd.DataFrame(matrix, index=list(answers.columns), columns=names), levels, classes=classes)
    return learn(every_link(bank), answers, tolerance=_LOOSE * len(answers))


@dataclass(frozen=True)
class Stability:
    """How well rows are found again in other samples of the people: `same`, (questions,), the share of samples with the same row.

    `samples`: how many were drawn; in `failed` of them so many skills could not be found at all.
    """

    same: Array
    samples: int
    failed: int


def stability(answers: Answers, matrix: "pd.DataFrame", rng: np.random.Generator, samples: int = SAMPLES) -> Stability:
    """Find the rows again in people drawn with replacement; skills are matched by the questions that they share."""
    own, same, failed = matrix.to_numpy(), np.zeros(len(matrix)), 0
    for child in rng.spawn(samples):
        found = found_matrix(answers.drawn(child), own.shape[1])
        if found is None:
            failed += 1
            continue
        same += (matched(own, found.to_numpy()) == own).all(axis=1)
    return Stability(same / samples, samples, failed)


def matched(own: Array, other: Array) -> Array:
    """The other matrix with its columns in the order that fits this one best."""
    from scipy.optimize import linear_sum_assignment  # only here: it takes long to import

    alike = own.T @ other / np.sqrt(own.sum(axis=0)[:, None] * other.sum(axis=0))
    result: Array = other[:, linear_sum_assignment(-alike)[1]]
    return result
