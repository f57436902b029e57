"""The HTTP API: sessions, banks and tests for other programs, as `docs/http-api.md` tells."""

PREFIX = "/api/v1"
