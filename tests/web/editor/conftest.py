"""Teachers who are signed in."""

from helpers.teacher_pages import ada, join, kept, teacher_app, visit

__all__ = ["ada", "join", "kept", "teacher_app", "visit"]
