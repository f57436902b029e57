"""A test without a server: one file that runs in any browser, and the results that come back from it."""
