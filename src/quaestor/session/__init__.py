"""One test being taken."""
