"""Which engine serves a question of inference: the one place that knows all engines, every guard and every fallback.

A `Chooser` is made for a model and the evidence of N takers, and replies as an engine does. Takers fall into parts that share the
structure of their evidence (a box over several skills ties them together only for those who have one) and the guard against underflow.
In each part, for `auto`:

| model | engine |
| --- | --- |
| precise | `joint` where the joint is small, else `junction` |
| singly connected, two states each | `odds`: closed form, in logarithms, so that no evidence is too much |
| singly connected, few states | `hulls`: sets of messages, unless they grow too large |
| singly connected, evidence on single variables | `fills`: rows filled greedily, in logarithms too; polytrees as brackets |
| narrow loops | `separators`: sets of messages over several variables, unless they grow too large |
| else, few networks | `enumeration` |
| else | `branch`: branch and bound, certified to a tolerance or as near as a limit of nodes allows |

The posterior of a variable looks at the part of the model that matters for it, which may be simpler than the whole. Questions on several
skills go to `separators`, too, or to `branch`. Evidence that contradicts itself beyond what plain numbers hold goes to an engine that works
in logarithms, or to enumeration where the networks are few; otherwise nothing is claimed, and the gap says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import log10
from time import monotonic

import numpy as np

from quaestor.credal.rows import open_states
from quaestor.credal.vectors import TooLargeError
from quaestor.errors import QuaestorError, is_among
from quaestor.inference.engine import Bracket, CheckedEngine, Ends, Engine, joined_methods, mended
from quaestor.inference.engines.enumeration import EnumerationEngine, combinations
from quaestor.inference.engines.fills import WORK, FillEngine, fits, is_forest
from quaestor.inference.engines.hulls import HullEngine
from quaestor.inference.engines.loops import ExactEngine, LoopEngine, both
from quaestor.inference.engines.odds import OddsEngine, applies
from quaestor.inference.engines.precise import PreciseEngine
from quaestor.inference.engines.separators import SeparatorEngine
from quaestor.inference.engines.vacuous import VacuousEngine
from quaestor.inference.joint import LARGEST
from quaestor.inference.layout import Batch
from quaestor.inference.model import Model
from quaestor.inference.partition import Takers, joined, partition, underflows
from quaestor.inference.search.reach import Known
from quaestor.lazy import lazy
from quaestor.registry import Registry

TOLERANCE = 5e-4  # outer and inner bounds this close are close enough to choose a question
NODES = 20_000
FEW = 64  # networks that are simply all tried
FEW_IN_LOGARITHMS = 1024  # networks that are all tried where plain numbers cannot hold the evidence
MOST = 10_000_000  # networks that are tried when asked for by name
_FEW_IN_TREES = 4  # states; with more, greedy fills are faster
_FEW_IN_POLYTREES = 5  # open states; with more, hulls may take minutes, and so may branch and bound with as many
_PATIENCE = 16  # times the work of `fills`, for method exact


@dataclass(frozen=True)
class Settings:
    """What the caller wants: a method by name or `auto`, how near is near enough, how many nodes, and for `exact` how many seconds."""

    method: str = "auto"
    tolerance: float = TOLERANCE
    limit: int = NODES
    seconds: float | None = None
    began: float = field(default_factory=monotonic, compare=False)

    def __post_init__(self) -> None:
        if not is_among(self.method, (*methods(), *PRECISE)) and not ENGINES.knows(self.method):
            raise QuaestorError(f"method is one of {', '.join(methods())}, got {self.method!r} ({ENGINES.hint(self.method)})")
        for name, value in (("tolerance", self.tolerance), ("limit", self.limit), ("seconds", self.seconds)):
            is_right = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
            if not is_right and not (name == "seconds" and value is None):
                raise QuaestorError(f"{name} is a number of at least 0, got {value!r}")
        if self.seconds is not None and self.method != "exact":
            raise QuaestorError(f"seconds go with method 'exact' only, so that all else repeats, got method {self.method!r}")

    @property
    def end(self) -> float | None:
        """The moment of `time.monotonic` after which nothing more is searched."""
        return None if self.seconds is None else self.began + self.seconds

    @property
    def is_free(self) -> bool:
        """Whether the chooser may take any engine."""
        return self.method in ("auto", "exact")


def on_one_skill(batch: Batch) -> bool:
    """Whether questions are on one skill each."""
    return len(batch.scope) == 1


@dataclass(frozen=True)
class Entry:
    """An engine that `auto` tries: how it is made, which models it fits (`needs` says it in words), and which questions it can be asked.

    `in_logarithms`: no evidence is too much for it. An engine that finds a problem too large raises TooLargeError, and the next is tried.
    """

    make: Callable[[Model, int], Engine]
    fits: Callable[[Model], bool]
    needs: str
    serves: Callable[[Batch], bool] = on_one_skill
    in_logarithms: bool = False


ENGINES: Registry[Entry] = Registry(  # for credal models, tried in this order before enumeration and branch and bound
    "engine",
    {
        "odds": Entry(OddsEngine, applies, "a singly connected model of two-state variables", in_logarithms=True),
        "hulls": Entry(HullEngine, lambda model: model.is_singly_connected, "a singly connected model"),
        "fills": Entry(FillEngine, fits, "a singly connected model with evidence on single variables", in_logarithms=True),
        "separators": Entry(SeparatorEngine, lambda model: model.is_tied, "loops, or questions on several skills", lambda batch: True),
    },
)
PRECISE = ("joint", "junction")


def methods() -> tuple[str, ...]:
    """The methods for credal models, by name."""
    return ("auto", *ENGINES, "enumeration", "branch", "bracket", "exact")


class Chooser:
    """Inference on a model whose boxes have a leading axis over takers, by the best engine that fits (or the method named)."""

    def __init__(
        self,
        model: Model,
        takers: int = 1,
        method: str = "auto",
        tolerance: float = TOLERANCE,
        limit: int = NODES,
        seconds: float | None = None,
    ) -> None:
        self._settings = Settings(method, tolerance, limit, seconds)
        self._model, self._takers = model, takers
        self._now: dict[int, Bracket] = {}
        self._given: dict[tuple[int, int], tuple[Chooser, dict[int, int]]] = {}
        if model.is_precise and (self._settings.is_free or method in PRECISE):
            self._parts: list[tuple[Takers | None, Engine]] = [(None, self.precise)]
        elif method in PRECISE:
            raise QuaestorError(f"method {method} is for precise models; for credal ones: {', '.join(methods())}")
        else:
            self._parts = [(some, _Part(part, count, self._settings)) for some, part, count in partition(model, takers)]

    @lazy
    def precise(self) -> PreciseEngine:
        """The engine of a precise model, which knows its joint distribution too."""
        method = self._settings.method
        if method not in PRECISE:
            method = "joint" if self._model.joint_size <= LARGEST else "junction"
        return PreciseEngine(self._model, self._takers, method)

    def now(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states)."""
        if variable not in self._now:
            self._now[variable] = joined([(some, engine.now(variable)) for some, engine in self._parts], self._takers)
        return self._now[variable]

    @property
    def known(self) -> Mapping[int, Bracket]:
        """The bounds of variables that were asked for."""
        return self._now

    def roughly(self, variable: int) -> Bracket:
        """P(variable | evidence), (takers, states): outer bounds lie around those of `now`, inner ones inside; they never take long."""
        if variable in self._now or self._model.is_precise:
            return self.now(variable)
        return joined([(some, engine.roughly(variable)) for some, engine in self._parts if isinstance(engine, _Part)], self._takers)

    def answers(self, batch: Batch) -> Bracket:
        """P(class | evidence), (takers, tables, classes)."""
        return joined([(some, engine.answers(batch)) for some, engine in self._parts], self._takers)

    def after(self, batch: Batch, variable: int) -> Bracket:
        """P(variable | evidence, class), (takers, tables, classes, states).

        After an answer that cannot be given nothing is known (0 to 1; in precise models zeros); after one that tells nothing, what is
        known now.
        """
        found = joined([(some, engine.after(batch, variable)) for some, engine in self._parts], self._takers)
        if found.lower is found.upper:
            return found
        return mended(found, self.now(variable) if batch.is_silent.any() else None, batch.is_silent)

    def rows(self, batch: Batch, variable: int) -> Ends:
        """Bounds of P(class | state of the variable, evidence), (takers, tables, classes, states): the answers once it is known."""
        shape = (self._takers, *batch.low.shape[:2], self._model.sizes[variable])
        if batch.scope == (variable,):
            if self._takers == 1:
                return batch.low[None], batch.high[None]
            return np.broadcast_to(batch.low, shape), np.broadcast_to(batch.high, shape)
        low, high = np.zeros(shape), np.ones(shape)
        centre = self._centre.now(variable).lower  # which allows whatever any network allows
        if self._model.is_precise:
            both, place = (
                self.after(batch, variable).lower * self.answers(batch).lower[..., None],
                np.broadcast_to(centre[:, None, None], shape),
            )
            return np.divide(both, place, out=low, where=place > 0), np.divide(both, place, out=high, where=place > 0)
        for state in range(shape[-1]):
            some = np.flatnonzero(centre[:, state] > 0)  # of a state that nobody can have nothing is known
            if len(some):
                given, number = self._knowing(variable, state, some)
                asked = batch.without(variable, state)
                found = given.answers(replace(asked, scope=tuple(number[v] for v in asked.scope)))
                low[some, ..., state], high[some, ..., state] = found.lower, found.upper
        for table in np.flatnonzero(batch.is_silent):  # whatever is known, the answers are as likely as they stand there
            low[:, table] = high[:, table] = batch.low[table].reshape(shape[2], -1)[:, :1]
        return low, high

    @lazy
    def _centre(self) -> "Chooser":
        """Inference in the centre of the set."""
        return self if self._model.is_precise else Chooser(self._model.centre(), self._takers)

    def _knowing(self, variable: int, state: int, takers: Takers) -> "tuple[Chooser, dict[int, int]]":
        """Inference of some takers (always the same) once a variable is known, and the new numbers of the others."""
        if (variable, state) not in self._given:
            wanted = self._settings
            model, number = self._model.given(variable, state, self._takers)
            if len(takers) < self._takers:
                model = model.of_takers(takers)
            chooser = Chooser(model, len(takers), wanted.method, wanted.tolerance, wanted.limit, wanted.seconds)
            self._given[variable, state] = chooser, number
        return self._given[variable, state]


class _Part:
    """Takers whose evidence has one structure: engines from the fastest to the most patient, each made when something needs it."""

    def __init__(self, model: Model, takers: int, settings: Settings, known: list[Known] | None = None) -> None:
        self._model, self._takers, self._settings = model, takers, settings
        self._known: list[Known] = known or [{} for _ in range(takers)]
        self._made: dict[str, Engine] = {}
        self._smaller: dict[tuple[str, ...], _Part] = {}
        self._renumbered: dict[tuple[int, tuple[str, ...]], tuple[Batch, Batch]] = {}

    def now(self, variable: int) -> Bracket:
        return self._about(variable, roughly=False)

    def roughly(self, variable: int) -> Bracket:
        return self._about(variable, roughly=True)

    def _about(self, variable: int, roughly: bool) -> Bracket:
        """P(variable | evidence), (takers, states); where that takes a search, only from its beginning, if that is asked for."""
        if self._is_large or not self._model.is_singly_connected:
            part, number = self._part(variable)
            if part is not self and (self._is_large or part._model.is_singly_connected):
                return part._about(number[variable], roughly)  # without loops, or with fewer of many levels, others are faster
        known = None
        for name in self._fitting:
            try:
                found = self._engine(name).now(variable)
            except TooLargeError:
                if not self._settings.is_free:
                    raise
                if self._takers > 1:
                    return self._each(lambda alone: alone._about(variable, roughly))
                continue
            if not found.gap or self._settings.method != "exact":
                return found
            known = found
        part, number = self._part(variable)
        if self._model.is_singly_connected and part is not self:
            found = part._about(number[variable], roughly)
        else:  # the sets of messages of a part with loops are those of the whole: they have been tried
            found = part._patiently(lambda engine: _known(engine, number[variable], roughly))
        return found if known is None else both(known, found)

    @lazy
    def _is_large(self) -> bool:
        """Whether some variable has so many states that sets of messages over them explode."""
        return max(self._model.sizes) > _FEW_IN_TREES

    def _patiently(self, ask: Callable[[Engine], Bracket], asked: bool = False) -> Bracket:
        """The reply of the engine for all other models; where even that is too large, nothing is claimed (by name: an error)."""
        try:
            return ask(self._engine(self._patient(asked)))
        except TooLargeError:
            if not self._settings.is_free:
                raise
            return ask(self._engine("vacuous"))

    def _part(self, *variables: int) -> "tuple[_Part, dict[int, int]]":
        """What matters for some variables, and their numbers there; all of it where a method of the table is asked for by name."""
        if self._settings.method not in ENGINES:
            part, number = self._model.relevant_to(variables)
            if len(part.sizes) < len(self._model.sizes):
                if part.names not in self._smaller:
                    self._smaller[part.names] = _Part(part, self._takers, self._settings, self._known)
                return self._smaller[part.names], number
        return self, {variable: variable for variable in variables}

    def _each(self, ask: "Callable[[_Part], Bracket]") -> Bracket:
        """Every taker alone: which sets are too large depends on the numbers, and nobody's bounds may depend on who else is there."""
        found = [ask(alone) for alone in self._alone]
        ends = [np.concatenate([bracket[end] for bracket in found]) for end in range(4)]
        return Bracket(ends[0], ends[1], ends[2], ends[3], joined_methods(bracket.method for bracket in found))

    @lazy
    def _alone(self) -> "list[_Part]":
        return [_Part(self._model.of_takers(np.array([taker])), 1, self._settings, [self._known[taker]]) for taker in range(self._takers)]

    def answers(self, batch: Batch) -> Bracket:
        part, same, _ = self._asked(batch)
        return part._first(same, lambda engine: engine.answers(same))

    def after(self, batch: Batch, variable: int) -> Bracket:
        part, same, number = self._asked(batch, variable)
        return part._first(same, lambda engine: engine.after(same, number[variable]))

    def _asked(self, batch: Batch, *others: int) -> "tuple[_Part, Batch, dict[int, int]]":
        """The part of a large model that matters for questions and other variables, the questions there, and the variables' numbers."""
        variables = (*batch.scope, *others)
        part, number = self._part(*variables) if self._is_large else (self, {variable: variable for variable in variables})
        if part is self:
            return self, batch, number
        key = id(batch), part._model.names
        if key not in self._renumbered:
            self._renumbered[key] = batch, replace(batch, scope=tuple(number[v] for v in batch.scope))
        return part, self._renumbered[key][1], number

    def _first(self, batch: Batch, ask: Callable[[Engine], Bracket]) -> Bracket:
        """The reply of the first engine that can give one."""
        for name in self._fitting:
            if ENGINES[name].serves(batch):
                try:
                    return ask(self._engine(name))
                except TooLargeError:
                    if not self._settings.is_free:
                        raise
                    if self._takers > 1:
                        return self._each(lambda alone: alone._first(batch, ask))
        return self._patiently(ask, asked=True)

    @lazy
    def _underflows(self) -> bool:
        """Whether plain numbers may lose likelihoods of one of the takers; `partition` puts those into parts of their own."""
        return bool(underflows(self._model, self._takers).any())

    @lazy
    def _fitting(self) -> list[str]:
        """The engines of the table that fit, the faster first; the one asked for by name must."""
        method = self._settings.method
        if method in ENGINES and not ENGINES[method].fits(self._model):
            raise QuaestorError(f"method {method} needs {ENGINES[method].needs}")
        wanted = ENGINES if self._settings.is_free else {name: ENGINES[name] for name in (method,) if name in ENGINES}
        found = [name for name, entry in wanted.items() if entry.fits(self._model) and (entry.in_logarithms or not self._underflows)]
        return [name for name in found if self._is_worth(name)] if self._settings.is_free else found

    def _is_worth(self, name: str) -> bool:
        """Whether `auto` tries an engine that fits: hulls of many states explode, fills leave a gap on polytrees."""
        if is_forest(self._model):
            return name != "hulls" or not self._is_large
        if name == "hulls":
            return self._most_open <= _FEW_IN_POLYTREES
        if name == "fills":
            return combinations(self._model) > FEW_IN_LOGARITHMS if self._underflows else self._most_open >= _FEW_IN_POLYTREES
        return True

    @lazy
    def _most_open(self) -> int:
        """The most states of one table or box that have a width: with these grow the sets that hulls and branch and bound list."""
        rows = self._model.keep("open states", lambda: max(len(open_states(table)) for table in self._model.tables))
        boxes = [int((low != high).reshape(-1, low.shape[-1]).any(axis=0).sum()) for low, high in self._model.boxes.values()]
        return max(rows, *boxes, 0)

    def _patient(self, asked: bool = False) -> str:
        """The engine for all other models; questions that are only `asked` about are not worth enumeration."""
        if self._settings.method == "enumeration":
            tries = combinations(self._model)
            if tries > MOST:
                raise QuaestorError(f"method enumeration tries at most {MOST} combinations of vertices, got 10^{log10(tries):.0f}")
            return "enumeration"
        free = self._settings.is_free
        if self._underflows:
            return "enumeration" if free and combinations(self._model) <= FEW_IN_LOGARITHMS else "vacuous"
        if free and not asked and combinations(self._model) <= FEW:
            return "enumeration"
        return "exact" if self._settings.method == "exact" else "branch"

    def _engine(self, name: str) -> Engine:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Engine:
        if name == "fills" and self._settings.method == "exact":
            return FillEngine(self._model, self._takers, _PATIENCE * WORK, self._settings.end)
        if name == "separators":
            return SeparatorEngine(self._model, self._takers, self._settings.end)
        if name in ENGINES:
            made = ENGINES[name].make(self._model, self._takers)
            return CheckedEngine(name, made, tuple(self._model.sizes), self._takers) if ENGINES.is_own(name) else made
        if name == "enumeration":
            return EnumerationEngine(self._model, self._takers)
        if name == "vacuous":
            return VacuousEngine(self._model, self._takers)
        if name == "exact":
            return ExactEngine(self._model, self._takers, self._settings.limit, self._settings.end)
        limit = 0 if self._settings.method == "bracket" else self._settings.limit
        return LoopEngine(self._model, self._takers, self._settings.tolerance, limit, None, self._known)


def _known(engine: Engine, variable: int, roughly: bool) -> Bracket:
    return engine.roughly(variable) if roughly and isinstance(engine, LoopEngine) else engine.now(variable)
