"""Forty random networks far beyond enumeration: exact, or a certified bracket and its gap, and how long it takes.

The cases are those of the tests: run with the folder of the tests on the path, as `make bench` does.
"""

import time

from machine import describe

import quaestor as qs
from helpers.large_models import Case, large_cases

LIMIT = 500  # nodes of branch and bound


def line(case: Case) -> tuple[qs.Bounds, float]:
    """What is found for a case, and in how many milliseconds."""
    start = time.perf_counter()
    found = qs.bounds(case.network, case.target, dict(case.evidence), limit=LIMIT)
    return found, 1e3 * (time.perf_counter() - start)


def main() -> None:
    print(f"## Far beyond enumeration\n\n{describe()}; one run each, single thread, at most {LIMIT:,} nodes of branch and bound\n")
    print("| shape | variables that matter, of | networks | states | observed | method | gap | ms |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for case in large_cases():
        found, milliseconds = line(case)
        sizes = sorted({len(variable.states) for variable in case.network.variables})
        size = f"{case.matter} of {len(case.network.variables)} | 10^{case.magnitude:.0f} | {sizes[0]}–{sizes[-1]}"
        gap = "exact" if found.exact else f"{found.gap:.1e}"
        print(f"| {case.shape} | {size} | {len(case.evidence) or '–'} | {found.method} | {gap} | {milliseconds:.1f} |", flush=True)


if __name__ == "__main__":
    main()
