"""Reading and writing banks and networks."""
