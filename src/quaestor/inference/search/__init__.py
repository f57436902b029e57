"""Branch and bound: certified bounds on models with loops."""
