"""The server: pages for takers and teachers, and the API, on a database of its own. Installed with the extra `web`."""
