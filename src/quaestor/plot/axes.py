"""The Axes that a picture is drawn into."""

from typing import TYPE_CHECKING

from quaestor import errors
from quaestor.errors import QuaestorError
from quaestor.extras import from_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_of(given: "Axes | None", width: float = 7.2, height: float = 4.2) -> "Axes":
    """The Axes that were given, or those of a new figure."""
    with from_extra():
        from matplotlib.axes import Axes
        from matplotlib.figure import Figure
    if given is None:
        return Figure(figsize=(width, height), layout="constrained").add_subplot()
    if not isinstance(given, Axes):
        raise QuaestorError(f"axes: an Axes of matplotlib is expected, got {type(given).__name__}")
    return given


def expect(name: str, value: object, *kinds: type) -> None:
    """Refuse what a picture cannot show."""
    words = " or ".join(f"a {kind.__name__}" for kind in kinds)
    errors.expect(name, value, kinds, f"{words} is expected")
