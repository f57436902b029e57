"""What can be named in files and extended: scores, stop criteria, behaviours, rules, engines, each kind in a `Registry`.

What is built in stands there from the beginning. `quaestor.register` adds others. What an installed package declares as an entry point
(group `quaestor.scores`, `quaestor.stops`, ...; the name is that of the thing) is imported when its name is first asked for.

A `Named` is a thing with settings as a frozen value: in a file it stands by its name, `max_questions: 20`, or with several settings
`max_questions: {n: 5, skill: each}`. `named_by` makes such a kind of a plain function.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, field, fields, make_dataclass
from functools import cache
from inspect import Parameter, getdoc, signature
from string import Formatter
from typing import Any, ClassVar, Generic, TypeVar

from quaestor.errors import QuaestorError, format_kind, format_value, got, is_among, nearest
from quaestor.i18n import Said, say

Thing = TypeVar("Thing")
_NAME = re.compile(r"[A-Za-z][\w-]*")
_RESERVED = ("auto", "none", "each")  # words that mean something else where a name may stand
_KINDS: dict[object, tuple[str, tuple[type, ...]]] = {
    int: ("a whole number", (int,)),
    float: ("a number", (int, float)),
    str: ("a text", (str,)),
    bool: ("true or false", (bool,)),
}
_KINDS |= {kind.__name__: words for kind, words in _KINDS.items() if isinstance(kind, type)}


class RegisterError(QuaestorError):
    """Something that cannot be registered, or is not what it was registered as."""


class SettingError(RegisterError):
    """A setting of another kind than it was declared with: the `rule` in words, and the `value` as it is shown."""

    rule: str
    value: str


class Registry(dict[str, Thing], Generic[Thing]):
    """Things of one kind by their names. `taken`: names that nobody else may have; `marks`: sets of names that say more of some of them."""

    def __init__(self, kind: str, built_in: Mapping[str, Thing] | None = None, taken: Iterable[str] = (), **marks: set[str]) -> None:
        super().__init__(built_in or {})
        self.kind, self.marks, self._built_in = kind, marks, {*self, *taken}
        self._homes: dict[str, str] = {}

    def build_in(self, things: Mapping[str, Thing]) -> None:
        """Add what belongs to this package."""
        self.update(things)
        self._built_in |= set(things)

    def add(self, name: str, thing: Thing, home: str, marks: tuple[str, ...] = (), first: bool = False) -> None:
        """Add what somebody else has written; the same thing from the same `home` may come again, as when a notebook runs a cell twice."""
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
            raise RegisterError(f"{self.kind}: a name of letters, digits, - and _ that begins with a letter, got {name!r}")
        if name in self._built_in:
            raise RegisterError(f"{self.kind} {name}: a name that is not built in, got one that is")
        if name in self and self._homes.get(name, home) != home:
            raise RegisterError(f"{self.kind} {name}: a name that is free, got that of {self._homes[name]}")
        self._homes[name] = home
        if first:  # tried before the others
            others = {other: known for other, known in self.items() if other != name}
            self.clear()
            self.update({name: thing, **others})
        self[name] = thing
        for mark, names in self.marks.items():
            names.discard(name)
            if mark in marks:
                names.add(name)

    def remove(self, name: str) -> None:
        """Take away what was added."""
        if is_among(name, self._built_in):
            raise RegisterError(f"{self.kind} {name}: what was registered can be removed, got what is built in")
        if not is_among(name, self):
            hint = nearest(name, [one for one in self if self.is_own(one)])
            raise RegisterError(got(f"{self.kind}: a name that was registered", format_kind(name), hint))
        del self[name]
        self._homes.pop(name, None)
        for names in self.marks.values():
            names.discard(name)

    def is_own(self, name: object) -> bool:
        """Whether somebody has added it."""
        return name in self and name not in self._built_in

    def home(self, name: str) -> str:
        """Where it comes from, as `module:name`; empty for what is built in."""
        return self._homes.get(name, "")

    def marks_of(self, name: str) -> tuple[str, ...]:
        """What more is said of it."""
        return tuple(mark for mark, names in self.marks.items() if name in names)

    def knows(self, name: object) -> bool:
        """Whether there is such a name; the package that declares it is imported."""
        if not isinstance(name, str):
            return False
        if name not in self and name in _declared(self.kind):
            self._fetch(name)
        return name in self

    @property
    def names(self) -> list[str]:
        """All names, also those of packages that were not imported yet."""
        return list(dict.fromkeys([*self, *_declared(self.kind)]))

    def hint(self, name: object) -> str:
        """What to do about a name that is not known: the nearest one, or how to make it known."""
        way = f"qs.register.{self.kind}"
        return nearest(name, self.names) or say("one of your own is registered by {way} first: import its module", way=way)

    def _fetch(self, name: str) -> None:
        declared = _declared(self.kind)[name]
        try:
            declared.load()
        except Exception as error:  # whatever a package of somebody else raises
            words = f"{type(error).__name__}: {error}"
            raise RegisterError(f"{self.kind} {name}: what can be imported from {declared.value}, got {words}") from error
        if name not in self:
            raise RegisterError(f"{self.kind} {name}: {declared.value} registers it by qs.register.{self.kind}, got nothing of this name")


@cache
def _declared(kind: str) -> dict[str, Any]:
    """The entry points of installed packages, by name; looked for once, when a name is not known."""
    from importlib.metadata import entry_points  # only here: it takes long to import

    return {point.name: point for point in entry_points(group=f"quaestor.{kind}s")}


class Named:
    """A frozen value that stands in files by the `name` of its kind and its settings, the fields of a dataclass."""

    name = ""
    known: ClassVar[Registry[Any] | None] = None  # where its kind is registered

    @property
    def document(self) -> Any:
        """As it stands in a file: its name, with its first setting alone or a map of those that differ from the default."""
        self._refuse_disguise()
        listed = fields(self)  # type: ignore[arg-type]
        stated = {one.name: _as_written(getattr(self, one.name)) for one in listed if getattr(self, one.name) != one.default}
        if not stated:
            return self.name
        return {self.name: stated[listed[0].name] if list(stated) == [listed[0].name] else stated}

    def _refuse_disguise(self) -> None:
        """A class that has the name of another would be read back as that one."""
        kind = type(self)
        other = None if self.known is None else self.known.get(self.name)
        if "name" not in vars(kind) or (other is not None and place_of(other) != place_of(kind)):
            rule = f"a {getattr(self.known, 'kind', 'value')} that is saved has a name of its own"
            raise RegisterError(f"{kind.__name__}: {rule}, got that of another, {self.name!r}")


def _as_written(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def place_of(thing: Any) -> str:
    """Where a function or class was written, as `module:name`."""
    module = "__main__" if thing.__module__ == "__mp_main__" else thing.__module__  # the script, as other processes of Python call it
    return f"{module}:{getattr(thing, '__qualname__', type(thing).__name__)}"


def check_function(kind: str, thing: object, given: tuple[str, ...], with_settings: bool = False) -> None:
    """Refuse what cannot be called with these arguments, in this order, and by name with settings, if it has any."""
    rule = f"{kind}: a function of ({', '.join((*given, '**settings') if with_settings else given)})"
    if not callable(thing):
        raise RegisterError(f"{rule}, got {format_value(thing)}")
    try:
        parameters = list(signature(thing).parameters.values())
    except (TypeError, ValueError):  # of some functions written in C nothing is known
        return
    by_place = [one for one in parameters if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)]
    shown = f"{getattr(thing, '__name__', thing)}{signature(thing)}"
    if any(one.kind is Parameter.VAR_POSITIONAL for one in parameters) and not with_settings:
        return
    needed = [one for one in by_place[len(given) :] if one.default is Parameter.empty]
    strange = [one for one in parameters if one.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    if len(by_place) < len(given) or (strange and with_settings) or (needed and not with_settings):
        raise RegisterError(f"{rule}, got {shown}")


def named_by(base: type[Any], function: Callable[..., Any], given: tuple[str, ...], name: str, words: str) -> type[Any]:
    """A kind of `Named` values made of a function: what follows the `given` arguments are its settings.

    `words`: what it does, in which settings may be named in braces; the first line of its docstring unless it is said.
    """
    kind = base.known.kind if base.known is not None else "value"
    check_function(kind, function, given, with_settings=True)
    settings = list(signature(function).parameters.values())[len(given) :]
    words = words or (getdoc(function) or name).split("\n\n")[0].replace("\n", " ").rstrip(".")
    strange = {place for _, place, _, _ in Formatter().parse(words) if place is not None} - {one.name for one in settings}
    if strange:
        raise RegisterError(f"{kind} {name}: words that name its settings in braces, got '{{{min(strange)}}}'")
    listed: list[Any] = [
        (one.name, _kind_of(one), field(default=MISSING if one.default is Parameter.empty else one.default)) for one in settings
    ]
    made = make_dataclass(
        function.__name__,
        listed,
        bases=(base,),
        frozen=True,
        namespace={"name": name, "function": staticmethod(function), "pattern": words, "__post_init__": _check_settings},
    )
    made.__module__, made.__qualname__, made.__doc__ = function.__module__, function.__qualname__, function.__doc__
    return made


def _kind_of(one: Parameter) -> Any:
    return Any if one.annotation is Parameter.empty else one.annotation


def _check_settings(value: Any) -> None:
    """Refuse settings that no file could hold, or of another kind than the function says."""
    for one in fields(value):
        found = getattr(value, one.name)
        if isinstance(found, list):
            found = tuple(found)
            object.__setattr__(value, one.name, found)
        words, kinds = _KINDS.get(one.type, ("a number, a text, true or false, or a list of them", (int, float, str, bool)))
        each = found if isinstance(found, tuple) and one.type not in _KINDS else (found,)
        is_right = all(isinstance(part, kinds) and (bool in kinds or not isinstance(part, bool)) for part in each)
        if not is_right and not (found is None and one.default is None):
            error = SettingError.at(f"{value.name}.{one.name}", got(words, format_value(found)))
            error.rule, error.value = words, format_value(found)
            raise error


def settings_of(value: Any) -> dict[str, Any]:
    """The settings of a `Named` value."""
    return {one.name: getattr(value, one.name) for one in fields(value)}


def said_of(value: Any, end: str = "") -> Said:
    """What a value made of a function does, in the words of whoever wrote it, which no catalogue has; with an `end`, as a sentence."""
    words = value.pattern
    return Said(words[:1].upper() + words[1:] + end if end else words, settings_of(value))
