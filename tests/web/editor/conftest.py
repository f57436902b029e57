"""Teachers who are signed in."""

from helpers.teacher_pages import ada, desk_app, join, kept, visit

__all__ = ["ada", "desk_app", "join", "kept", "visit"]
