"""One attempt: coming in, its answer log, the session rebuilt from it, its state, and what its answers came to."""
