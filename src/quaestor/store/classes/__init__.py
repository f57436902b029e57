"""Classes above tests: their pupils, how they grow, and all that is kept of one child."""
