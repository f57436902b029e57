"""Which library an array is of: numpy, or another that speaks the array API."""

from typing import Any

import numpy as np


def namespace(array: Any) -> Any:
    """The functions of an array's library, by the names of the array API."""
    if isinstance(array, np.ndarray) and hasattr(np, "astype"):  # numpy has them all itself, from 2.1 on
        return np
    from array_api_compat import array_namespace  # only here: it takes as long to import as numpy

    return array_namespace(array)


def device(array: Any) -> Any:
    """Where an array is, as functions that make arrays take it."""
    if isinstance(array, np.ndarray):
        return None
    from array_api_compat import device as place

    return place(array)
