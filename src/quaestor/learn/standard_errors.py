"""Standard errors of all learnt numbers: the standard deviation of each over plausible tables.

Plausible tables (see `augmentation`) are draws from the posterior distribution of all tables together, so that the latent levels, the
prior, the monotone rule, tied rows and curves are in them; the inverse of the information matrix (Louis 1982) knows nothing of
the monotone rule, and fails where numbers are hardly determined, as with many levels and few people. Where a bank was learnt with intervals
its draws are used, otherwise they are drawn now. A number near a border, or decided by the prior, has a small error: it says how far the
number moves given prior and answers, not how good the prior is.
"""

import numpy as np

from quaestor.learn.augmentation import plausible
from quaestor.learn.fit import Fit
from quaestor.learn.layout import Tables, answered, by_id
from quaestor.learn.work import steps
from quaestor.model.table import Array


def standard_errors(fit: Fit, rng: np.random.Generator) -> dict[str, Array]:
    """The standard error of every number of the tables of skills and of questions with answers, by id, in the shapes of the tables."""
    draws = fit.draws
    if not draws:
        with steps(fit.layout, fit.people.patterns) as step:
            draws = plausible(fit.layout, fit.tables, fit.aim, fit.people, step, rng)
    skills, groups = (
        tuple(np.std(np.stack(one), axis=0, ddof=1) for one in zip(*arrays, strict=True))
        for arrays in ([one.skills for one in draws], [one.groups for one in draws])
    )
    return by_id(fit.bank, fit.layout, Tables(skills, groups), answered(fit.expected.counts))
