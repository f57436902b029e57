"""Which question next, and when to stop."""
