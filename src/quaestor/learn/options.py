"""Checks of numerical options: numpy's number types are accepted, booleans are not."""

from numbers import Integral, Real


def is_number(value: object) -> bool:
    """Whether a value is a real number, and no boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: object, least: int) -> bool:
    """Whether a value is a whole number of at least `least`, and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
