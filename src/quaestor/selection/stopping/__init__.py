"""When to stop: criteria on where a test stands, and how they combine."""
