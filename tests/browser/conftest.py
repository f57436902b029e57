"""A server, and Chromium."""

from helpers.chromium import browse, chromium, site

__all__ = ["browse", "chromium", "site"]
