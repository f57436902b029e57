"""Mantel and Haenszel's comparison of two groups, stratum by stratum of the rest score: the field's standard for questions that differ."""

import numpy as np


def mantel_haenszel(answers, focal, question):
    """The common log odds ratio of the focal group against the other, and its standard error (Robins, Breslow and Greenland 1986).

    `answers`: 0 and 1, (people, questions); `focal`: whether a person is of the focal group, (people,).
    """
    rest = np.delete(answers, question, axis=1).sum(axis=1)
    over, under, first, both, last = 0.0, 0.0, 0.0, 0.0, 0.0
    for score in np.unique(rest):
        stratum = rest == score
        a, b = (int((answers[stratum & focal, question] == value).sum()) for value in (1, 0))
        c, d = (int((answers[stratum & ~focal, question] == value).sum()) for value in (1, 0))
        total = a + b + c + d
        r, s, p, q = a * d / total, b * c / total, (a + d) / total, (b + c) / total
        over, under = over + r, under + s
        first, both, last = first + p * r, both + p * s + q * r, last + q * s
    variance = first / (2 * over**2) + both / (2 * over * under) + last / (2 * under**2)
    return np.log(over / under), np.sqrt(variance)
