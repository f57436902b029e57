"""Rules of one's own that narrow the choice of the next question: values made of functions, which `Rules.narrow` names.

A function looks at where N takers stand and says which questions may be asked, (takers, questions) or (questions,) for everybody.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from quaestor.i18n import Said
from quaestor.registry import Named, RegisterError, Registry, said_of, settings_of

RULES: "Registry[type[OwnRule]]" = Registry("rule")


class OwnRule(Named):
    """A rule made of a function (`quaestor.register.rule`). `or_all`: it does nothing where it would leave nothing; `draws`: it draws."""

    known = RULES
    function: ClassVar[Callable[..., Any]]
    pattern: ClassVar[str]
    or_all: ClassVar[bool] = False
    draws: ClassVar[bool] = False

    @property
    def words(self) -> Said:
        """What it does, in words."""
        return said_of(self)

    def wanted(self, now: Any, shape: tuple[int, ...]) -> Any:
        """The questions that it leaves, of shape (takers, questions) or (questions,)."""
        found = np.asarray(self.function(now, **settings_of(self)))
        if found.dtype != bool or found.shape not in (shape, shape[1:]):
            shown = f"an array of {found.dtype} of shape {found.shape}"
            raise RegisterError(f"rule {self.name}: true or false for each question, shape (takers, questions) = {shape}, got {shown}")
        return found


def own_rules(stated: Any) -> tuple[OwnRule, ...]:
    """Rules from values and from names; what is neither stays as it is, to be refused."""
    made = []
    for one in stated:
        kind = RULES.get(one) if isinstance(one, str) and RULES.knows(one) else one
        try:
            made.append(kind() if isinstance(kind, type) and issubclass(kind, OwnRule) else one)
        except TypeError as error:
            raise RegisterError(f"rule {getattr(kind, 'name', kind)}: called with its settings, got none ({error})") from error
    return tuple(made)
