"""Missing answers: does it depend on how well people do which questions they answered?

If it does not, those who answered two questions are like everybody, and their answers can be compared with what the bank says of everybody.
In an adaptive test it does, and where people leave out what they cannot do.
"""

import numpy as np
from scipy.special import ndtr

from quaestor.learn.chance import discoveries
from quaestor.learn.expect import batch
from quaestor.learn.fit import Fit
from quaestor.learn.moments import Observed

CHANCE = 0.001  # false discovery rate over all questions: a test chooses clearly or not at all
UNLIKE = 0.2  # standard deviations between those who answered a question and those who did not


def is_chosen(fit: Fit, seen: Observed) -> bool:
    """Whether those who answered some question do better elsewhere, or worse, than those who did not.

    A person's standing is the mean difference of the other scores from the means of these questions; the standings of the two parts are
    compared by a test of means, over all questions at a false discovery rate, and by at least `UNLIKE` standard deviations.
    """
    asked = np.diag(seen.both)
    if (asked == len(fit.people)).all():
        return False
    means = np.divide(np.diag(seen.sums), asked, out=np.zeros_like(asked), where=asked > 0)
    tops = np.empty(fit.layout.questions)
    for group in fit.layout.groups:
        tops[group.positions] = group.classes - 1
    sums = np.zeros((2, 3, len(asked)))  # not answered and answered: people, standing, its square
    weights, step = fit.people.weights(), batch(fit.layout)
    for start in range(0, len(fit.people.patterns), step):
        classes = fit.people.patterns.part(start, start + step).classes(fit.layout)
        given = classes >= 0
        apart = np.where(given, classes / tops - means, 0.0)
        others = given.sum(axis=1, keepdims=True) - given
        standing = np.divide(apart.sum(axis=1, keepdims=True) - apart, others, out=np.zeros_like(apart), where=others > 0)
        for number, part in enumerate((~given, given)):
            own = weights[start : start + step, None] * (part & (others > 0))
            sums[number] += [(own * term).sum(axis=0) for term in (np.ones_like(standing), standing, standing**2)]
    enough = (sums[:, 0] >= 2).all(axis=0)
    count = np.maximum(sums[:, 0], 2)
    mean = sums[:, 1] / count
    variance = np.maximum(sums[:, 2] / count - mean**2, 1e-12)
    size = np.abs(mean[1] - mean[0]) / np.sqrt(variance.mean(axis=0))
    tails = 2 * ndtr(-np.abs(mean[1] - mean[0]) / np.sqrt((variance / count).sum(axis=0)))
    return bool((discoveries(np.where(enough, tails, np.nan), CHANCE) & (size >= UNLIKE)).any())
