"""Functions that stand in a script, in another process: the script is run there once more, under another name, up to the simulation.

What a simulation needs was registered before it was called, so the script is left at the first simulation that finds all of it there. What
stands behind `if __name__ == "__main__":` is not run at all. What the script prints is not seen twice.
"""

import os
import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from quaestor.errors import QuaestorError

MAIN = "__main__"


class ReachedSignal(BaseException):
    """All that is needed of a script is there; no error, and not to be caught by the script."""


@dataclass(frozen=True)
class Script:
    """The script that this process runs: its file, its package, and the names in it that are needed elsewhere."""

    path: str
    package: str | None
    names: tuple[str, ...]

    def run(self) -> None:
        """Run it under another name, until all names are there."""
        module = ModuleType("__mp_main__")  # the name that Python's own processes give it
        module.__file__, module.__package__ = self.path, self.package
        code = compile(Path(self.path).read_bytes(), self.path, "exec")
        sys.modules[MAIN] = sys.modules["__mp_main__"] = module
        _running[:] = [(self, module)]
        try:
            with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
                exec(code, vars(module))
        except (ReachedSignal, SystemExit):
            pass
        finally:
            _running.clear()


_running: list[tuple[Script, ModuleType]] = []


def is_running() -> bool:
    """Whether this process runs a script only for what stands in it; leaves it where all of that is there."""
    for script, module in _running:
        if all(hasattr(module, name) for name in script.names):
            raise ReachedSignal
    return bool(_running)


def script_of(things: Iterable[object]) -> Script | None:
    """The script in which some of these functions and classes stand; None where all stand in modules."""
    names = [thing.__qualname__ for thing in things if getattr(thing, "__module__", "") == MAIN and hasattr(thing, "__qualname__")]
    if not names:
        return None
    main = sys.modules[MAIN]
    path = getattr(main, "__file__", None)
    if path is None or not Path(path).is_file():
        rule = "workers: what is registered stands in a module or script, so that other processes find it"
        raise QuaestorError(f"{rule}, got {names[0]} of a notebook or prompt: put it into a file of its own and import it")
    return Script(str(Path(path).resolve()), main.__package__, tuple(name.split(".")[0] for name in names))
