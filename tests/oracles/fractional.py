"""One credal skill by linear programs: the bounds of an expectation after evidence, by the transformation of Charnes and Cooper."""

import numpy as np
from scipy.optimize import linprog


def largest(goal, low, high, prior_low, prior_high):
    """max of sum_s g(s) L(s) p(s) / sum_s L(s) p(s) over p between the ends of the prior and L between those of the likelihood.

    For each way to set L to its ends one program would do; of these only the ones matter in which L is high where the goal is above some
    level and low elsewhere, since that is what the derivative in L(s) says.
    """
    found = []
    for level in (*np.unique(goal), np.inf):
        likelihood = np.where(goal >= level, high, low)
        states = len(goal)
        if not likelihood.any():
            continue
        scale = likelihood.max()
        weights = np.append(goal * likelihood / scale, 0.0)  # y = t p and, last, t itself
        bounds = np.concatenate([np.column_stack([np.eye(states), -prior_high]), np.column_stack([-np.eye(states), prior_low])])
        equal = np.stack([np.append(likelihood / scale, 0.0), np.append(np.ones(states), -1.0)])
        solved = linprog(-weights, A_ub=bounds, b_ub=np.zeros(2 * states), A_eq=equal, b_eq=[1.0, 0.0], method="highs")
        if solved.status == 0:
            found.append(-solved.fun)
    return max(found)


def bounds(low, high, prior_low, prior_high):
    """Lower and upper P(s | evidence), (states,)."""
    states = np.eye(len(low))
    upper = [largest(goal, low, high, prior_low, prior_high) for goal in states]
    lower = [-largest(-goal, low, high, prior_low, prior_high) for goal in states]
    return np.array(lower), np.array(upper)
