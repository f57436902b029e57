"""What an option may be: a number or a count of any kind, numpy's too, but no truth value."""

from numbers import Integral, Real


def is_number(value: object) -> bool:
    """Whether it is a number."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: object, least: int) -> bool:
    """Whether it is a whole number of at least so many."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
