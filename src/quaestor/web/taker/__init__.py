"""The pages of a taker: coming in, one question a page, the result."""
