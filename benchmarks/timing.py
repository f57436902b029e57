"""How long a call takes."""

import time
from collections.abc import Callable

import numpy as np


def median(function: Callable[[], object], repeats: int) -> float:
    """Milliseconds, after one run that warms caches."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return float(np.median(times)) * 1e3
