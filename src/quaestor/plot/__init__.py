"""Pictures for notebooks and papers, on matplotlib: every function draws into the Axes that it is given as `axes=`, or into those of a new
figure, and returns them. Two side by side: `figure, (left, right) = plt.subplots(1, 2)`, then `qs.plot.beliefs(session, axes=left)` and
`qs.plot.course(session, axes=right)`.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart. A picture's module is imported when it is first
asked for, so that nobody needs matplotlib who draws nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from quaestor.extras import from_extra

if TYPE_CHECKING:
    from quaestor.plot.bank_figures import information, network
    from quaestor.plot.curve_figures import curves, exposure, reliability
    from quaestor.plot.people_figures import calibration, class_map
    from quaestor.plot.session_figures import beliefs, course
    from quaestor.plot.taking_widget import take

__all__ = ["beliefs", "calibration", "class_map", "course", "curves", "exposure", "information", "network", "reliability", "take"]

_HOMES = {
    "bank_figures": ("information", "network"),
    "curve_figures": ("curves", "exposure", "reliability"),
    "people_figures": ("calibration", "class_map"),
    "session_figures": ("beliefs", "course"),
    "taking_widget": ("take",),
}
_HOME = {name: f"quaestor.plot.{module}" for module, names in _HOMES.items() for name in names}

if not TYPE_CHECKING:  # hidden from type checkers, which would accept any name

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'quaestor.plot' has no attribute '{name}'")
        with from_extra():
            return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
