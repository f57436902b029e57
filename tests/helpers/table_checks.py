"""What the tests of credal tables share: random rows and tables, and a general solver to check bounds with."""

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from helpers.strategies import interval_rows, tables

SOLVER = 1e-9  # these problems are so small that HiGHS ends at a vertex, exact but for rounding
ROUNDING = 1e-11  # a few sums of numbers below one, and the 1e-12 that construction leaves alone

any_table = st.tuples(st.lists(st.integers(1, 3), max_size=2), st.integers(2, 4)).flatmap(lambda shape: tables(*shape))
any_interval_row = st.integers(2, 5).flatmap(interval_rows)


def optimum(lower, upper, goal):
    """The largest value of goal . p over all distributions p between the bounds, by a general solver."""
    found = linprog(-np.asarray(goal), A_eq=[[1.0] * len(goal)], b_eq=[1.0], bounds=list(zip(lower, upper, strict=True)))
    assert found.success
    return -found.fun
