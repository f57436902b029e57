"""Python's collector of cyclic garbage while takers wait: a server keeps many sessions, and looking through all of them stops everybody.

What survives a full collection has probably come to stay, so later ones leave it alone (`gc.freeze`) and look only at what came since: 17
to 45 ms instead of 40 to 110 with 200 takers. What is dropped is freed all the same when nothing refers to it any more; only circles
among things that were left alone wait for `look_at_all`, every hour.
"""

import gc
from collections.abc import Mapping
from typing import Any


def spare_survivors() -> None:
    """Leave alone what is there now, and from now on what survives a full collection."""
    if _spare not in gc.callbacks:
        gc.callbacks.append(_spare)
    gc.collect()


def look_at_all() -> None:
    """Look through everything once, where survivors were spared."""
    if _spare in gc.callbacks:
        gc.unfreeze()
        gc.collect()


def _spare(phase: str, about: Mapping[str, Any]) -> None:
    if phase == "stop" and about["generation"] == 2:
        gc.freeze()
