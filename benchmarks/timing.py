"""How long a call takes."""

import time
from collections.abc import Callable

import numpy as np

import quaestor as qs
from quaestor.inference.lookahead import Lookahead, lookahead


def full_step(bank: qs.Bank, answers: dict[str, int]) -> Lookahead:
    """The look-ahead with everything worked out, also what is otherwise left until a score asks for it."""
    ahead = lookahead(bank, answers)
    for group in ahead.groups:
        for target in group.targets:
            _ = target.after
    return ahead


def median(function: Callable[[], object], repeats: int) -> float:
    """Milliseconds, after one run that warms caches."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3
