"""The small school."""

from helpers.school import school, shared_school

__all__ = ["school", "shared_school"]
