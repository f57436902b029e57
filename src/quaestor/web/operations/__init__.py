"""Running a server: the first start, logs, metrics, health, memory, the demo class."""
