"""How many bytes of memory things take: every object that can be reached from them is counted once."""

import gc
import sys
from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.inference.layout import Batch, Layout, layout_of
from quaestor.model.question import Question
from quaestor.model.skill import Skill
from quaestor.model.table import Table
from quaestor.selection.rules import Rules
from quaestor.session.session import Session

_BANK = (Bank, Question, Skill, Table)  # what a bank is from the beginning
_SHARED = (type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)  # there once, whoever uses them


def size_of(thing: Any, without: tuple[type, ...] = (), but: Iterable[Any] = ()) -> int:
    """The bytes of a thing with all that it holds, except things of the types `without` and the things `but`."""
    ends = (*_SHARED, *without)
    seen = {id(one) for one in but}
    total, todo = 0, [thing]
    while todo:
        one = todo.pop()
        if id(one) in seen or (isinstance(one, ends) and one is not thing):
            continue
        seen.add(id(one))
        total += sys.getsizeof(one)
        if isinstance(one, np.ndarray) and one.base is not None:  # a view: its memory is another's
            todo.append(one.base)
        todo.extend(gc.get_referents(one))
    return total


def layout_size(bank: Bank) -> int:
    """The bytes of what was worked out of a bank since it was read: it grows as tests are taken."""
    return size_of(layout_of(bank), _BANK)


def session_size(session: Session) -> int:
    """The bytes of a session without what it shares with other sessions of its bank."""
    layout = layout_of(session.bank)
    shared = [*vars(layout).values(), *vars(layout.model).values()]
    return size_of(session, (*_BANK, Layout, Batch, Rules), shared)
