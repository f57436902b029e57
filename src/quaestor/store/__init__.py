"""The database: teachers, banks, published tests and the answer logs of their takers, in SQLite or PostgreSQL."""
