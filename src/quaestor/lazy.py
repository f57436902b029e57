"""Values worked out when first asked for and kept: `functools.cached_property` without its lock, which until Python 3.12 is one for all
instances of a class, so that a slow value of one would make all others wait. Two threads may work out the same value; both get it right.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801
    """A method without arguments as an attribute: called once, then its value stands in the instance."""

    def __init__(self, func: Callable[[Any], Value]) -> None:
        self.func, self.__doc__, self._name = func, func.__doc__, func.__name__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "lazy[Value]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: object | None, owner: type) -> "lazy[Value] | Value":
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self.func(instance)
        return value
