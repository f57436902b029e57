"""The library and device that a simulation runs on: numpy, or one that has graphics cards, PyTorch or CuPy."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

import numpy as np

from quaestor.arrays import namespace
from quaestor.errors import QuaestorError, is_among
from quaestor.selection.scores.kernels import BLOCK
from quaestor.simulate.answering import Asking
from quaestor.streams import Streams

CPU = "cpu"
_ON_CARD = 64_000_000  # numbers of one array
_BANKS = 256  # and sizes of banks that kernels are compiled for
_LIBRARIES = {"torch": "PyTorch", "cupy": "CuPy"}
_NAME = re.compile(r"(?:(?P<library>torch|cupy):)?(?P<place>cuda(?::\d+)?|(?<=torch:)cpu)")
_KNOWN = "'cpu', or a graphics card: 'cuda', 'cuda:1', with a library 'torch:cuda', 'cupy:cuda'"


@dataclass(frozen=True, eq=False)
class Library:
    """A library with the array API, `xp`, and a device of it. `name`: as it is asked for."""

    name: str
    xp: Any
    device: Any = None
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda function: function

    @property
    def block(self) -> int:
        """How many gains are worked out at once."""
        return BLOCK if self.is_numpy else _ON_CARD

    @property
    def is_numpy(self) -> bool:
        """Whether arrays are numpy's own."""
        return self.device is None

    def put(self, array: Any) -> Any:
        """An array of numpy on the device."""
        return array if self.is_numpy else self.xp.asarray(array, device=self.device)

    def moved(self, asking: Asking) -> Asking:
        """How students answer, on the device."""
        if self.is_numpy:
            return asking
        arrays = {one.name: self.put(getattr(asking, one.name)) for one in fields(asking) if one.name != "streams"}
        return replace(asking, streams=Streams(self.put(asking.streams.states)), **arrays)


def fetched(array: Any) -> Any:
    """An array of any library as one of numpy."""
    if isinstance(array, np.ndarray):
        return array
    return array.get() if hasattr(array, "get") else np.asarray(array.cpu() if hasattr(array, "cpu") else array)


def library_of(device: str) -> Library:
    """The library and device of this name: `cpu` (numpy), `cuda`, `cuda:1`, ..., or with the library's name before it, `torch:cpu`."""
    if is_among(device, (CPU,)):
        return Library(device, namespace(np.empty(0)))
    asked = _NAME.fullmatch(device) if isinstance(device, str) else None
    if asked is None:
        raise QuaestorError(f"device: {_KNOWN}, got {device!r}")
    for name in [asked["library"]] if asked["library"] else list(_LIBRARIES):
        try:
            library, xp = import_module(name), import_module(f"array_api_compat.{name}")
        except ImportError:
            continue
        return _checked(device, name, library, xp, asked["place"])
    wanted = f"{_LIBRARIES[asked['library']]} is not installed" if asked["library"] else "neither PyTorch nor CuPy is installed"
    hint = "" if asked["library"] == "cupy" else "; pip install 'quaestor[gpu]' brings PyTorch"
    raise QuaestorError(f"device: {wanted}{hint}, got '{device}'")


def _checked(asked: str, name: str, library: Any, xp: Any, place: str) -> Library:
    """The device, after a first number was put there."""
    kind, _, number = place.partition(":")
    try:
        if name == "cupy":
            made: Any = library.cuda.Device(int(number or 0))
            made.use()
        else:
            made = library.device(place)
        (xp.asarray(np.ones(1), device=made) + 1.0).sum()
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        raise QuaestorError(f"device: {_LIBRARIES[name]} finds it, got '{asked}' ({reason})") from error
    compiled = _compiled(library) if name == "torch" and kind == "cuda" else (lambda function: function)
    return Library(asked, xp, made, compiled)


def _compiled(torch: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """PyTorch's compiler, which makes one kernel of many operations."""

    def made(function: Callable[..., Any]) -> Callable[..., Any]:
        quick = torch.compile(function)

        def called(*arrays: Any) -> Any:
            with torch._dynamo.config.patch(recompile_limit=_BANKS):
                return quick(*arrays)

        return called

    return made
