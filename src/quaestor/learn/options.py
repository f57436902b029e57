"""Checks of numerical options: numpy's number types are accepted, booleans are not."""

from numbers import Integral, Real

from quaestor.errors import QuaestorError, format_value


def is_number(value: object) -> bool:
    """Whether a value is a real number, and no boolean."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: object, least: int) -> bool:
    """Whether a value is a whole number of at least `least`, and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def check_level(level: object, place: str = "learn: intervals") -> None:
    """Refuse what is not a share between 0 and 1, or None."""
    if level is None or (is_number(level) and 0 < level < 1):  # type: ignore[operator]
        return
    meant = f"; for {level:g} in 100 write {level / 100:g}" if is_number(level) and 1 < level < 100 else ""  # type: ignore[operator]
    raise QuaestorError(f"{place}: a share above 0 and below 1, such as 0.9, got {format_value(level)}{meant}")
