"""Branch and bound: certified bounds on models with loops. `docs/branch-and-bound.md` explains the whole of it."""
