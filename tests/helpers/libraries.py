"""Libraries with the array API that simulations run on: numpy, the strict one of the standard, and PyTorch on the processor where it is."""

import array_api_strict
import pytest

from quaestor.simulate.library import Library, library_of

STRICT = Library("strict", array_api_strict, array_api_strict.Device("CPU_DEVICE"))


def library(name):
    """A library by name: numpy, strict or torch; the test is skipped where PyTorch is not installed."""
    if name == "torch":
        pytest.importorskip("torch", reason="PyTorch is not installed (extra gpu)")
        return library_of("torch:cpu")
    return {"numpy": library_of("cpu"), "strict": STRICT}[name]
