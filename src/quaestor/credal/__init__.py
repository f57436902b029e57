"""Mathematics on interval sets and sets of vectors."""
