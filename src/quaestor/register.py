"""The one way to add a score, a stop criterion, a behaviour, a rule or an engine of your own: write a function (an engine is a class of
three methods), and put `@qs.register.score` (`stop`, `behaviour`, `rule`, `engine`) above it, at the top level of a module or script.

What is registered is named like what is built in: in rules, studies and saved sessions. It reaches the worker processes and machines of a
simulation. Its name is that of the function unless `name` says another. A package declares what it registers as entry points, and the
module is imported when the name is first asked for: `[project.entry-points."quaestor.scores"]` with `shift = "my_package.scores"`; the
groups of the other kinds end in `stops`, `behaviours`, `rules` and `engines`. `quaestor.testing` checks what you wrote.

Settings are what a function takes after the arguments named here, with a type where only one is right (`n: int`) and a default where one
makes sense. A function with settings becomes a class of frozen values: `missed(2)` is a criterion. What it does in words is `words`, or the
first line of its docstring; settings may stand in it in braces.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from quaestor.errors import expect, is_among
from quaestor.registry import RegisterError, check_function, named_by, place_of

if TYPE_CHECKING:
    from quaestor.inference.layout import Batch
    from quaestor.inference.model import Model

Function = TypeVar("Function", bound=Callable[..., Any])


def score(function: Any = None, *, name: str = "", draws: bool = False, blind: bool = False) -> Any:
    """Register a score, `function(ahead, bound, draws)`: how much asking each question is worth, (takers, questions), larger is better.

    `ahead` is a `quaestor.inference.lookahead.Lookahead`, `bound` is `upper` or `lower`, for credal banks. `draws`: it draws, from `draws`;
    `blind`: it reads none of the groups of the look-ahead. The function stays what it is.
    """

    def added(function: Function) -> Function:
        from quaestor.selection.scores.known import SCORES

        check_function("score", function, ("ahead", "bound", "draws"))
        marks = (*("draws",) * bool(draws), *("blind",) * bool(blind))
        SCORES.add(_name(function, name), function, place_of(function), marks)
        return function

    return added if function is None else added(function)


def stop(function: Any = None, *, name: str = "", words: str = "") -> Any:
    """Register a stop criterion, `function(now, **settings)`: whether the test is over, for one taker or for each of many, (takers,).

    `now` is a `quaestor.selection.stopping.criterion.Situation`; `words` go after "stops when". A subclass of
    `quaestor.selection.stopping.criterion.Criterion`, a frozen dataclass with a `name`, can say more, such as a reason with numbers.
    """

    def added(function: Any) -> Any:
        from quaestor.selection.stopping.combined import COMBINED
        from quaestor.selection.stopping.criteria import SIMPLE
        from quaestor.selection.stopping.criterion import Criterion, OwnCriterion

        if isinstance(function, type):
            _check_class("stop", function, Criterion)
            made: Any = function
        else:
            made = named_by(OwnCriterion, function, ("now",), _name(function, name), words)
        if made.name in COMBINED:
            raise RegisterError(f"stop {made.name}: a name that is not built in, got one that is")
        SIMPLE.add(made.name, made, place_of(made))
        return made

    return added if function is None else added(function)


def rule(function: Any = None, *, name: str = "", words: str = "", or_all: bool = False, draws: bool = False) -> Any:
    """Register a rule, `function(now, **settings)`: which questions may be asked, (takers, questions), or (questions,) for everybody.

    `now` is a `quaestor.selection.narrowing.Standing`; `Rules(narrow=[...])` follows it, after all built-in rules that close questions.
    `or_all`: where it would leave no question it does nothing; `draws`: it draws, from `now.draws(takers, purpose)`.
    """

    def added(function: Any) -> Any:
        from quaestor.selection.own_rules import RULES, OwnRule

        made = named_by(OwnRule, function, ("now",), _name(function, name), words)
        made.or_all, made.draws = bool(or_all), bool(draws)
        RULES.add(made.name, made, place_of(made))
        return made

    return added if function is None else added(function)


def behaviour(function: Any = None, *, name: str = "", words: str = "") -> Any:
    """Register a behaviour of simulated students, `function(p, now, **settings)`: the probabilities of the answer classes, changed.

    `p`: those of the bank, (students, classes), a question each; `now` is a `quaestor.simulate.behaviours.Asked`. What a row lacks to 1 is
    the probability of a skip.
    """

    def added(function: Any) -> Any:
        from quaestor.simulate.behaviours import BEHAVIOURS, OwnBehaviour

        made = named_by(OwnBehaviour, function, ("p", "now"), _name(function, name), words)
        BEHAVIOURS.add(made.name, made, place_of(made))
        return made

    return added if function is None else added(function)


def engine(
    kind: Any = None,
    *,
    fits: "Callable[[Model], bool]",
    needs: str,
    name: str = "",
    serves: "Callable[[Batch], bool] | None" = None,
    in_logarithms: bool = False,
) -> Any:
    """Register an engine, a class that is made of `(model, takers)`, with the methods of `quaestor.inference.engine.Engine`.

    It is tried before those that are built in, on models that it `fits`, which `needs` says in words, and for questions that it `serves`
    (those on one skill, unless it is said); `in_logarithms`: no evidence is too much for it.
    """

    def added(kind: Function) -> Function:
        from quaestor.inference.chooser import ENGINES, Entry

        check_function("engine", kind, ("model", "takers"))
        lacking = [method for method in ("now", "answers", "after") if isinstance(kind, type) and not callable(getattr(kind, method, None))]
        if lacking:
            raise RegisterError(f"engine: a class with the methods now, answers and after, got one without {lacking[0]}")
        entry = Entry(kind, fits, needs, in_logarithms=bool(in_logarithms))
        if serves is not None:
            entry = Entry(kind, fits, needs, serves, bool(in_logarithms))
        ENGINES.add(_name(kind, name), entry, place_of(kind), first=True)
        return kind

    for what, given, arguments in (("fits", fits, ("model",)), ("serves", serves, ("batch",))):
        if given is not None:
            check_function(f"engine: {what}", given, arguments)
    if not isinstance(needs, str) or not needs:
        raise RegisterError(f"engine: needs says in words which models it fits, got {needs!r}")
    return added if kind is None else added(cast(Any, kind))


def remove(kind: str, name: str) -> None:
    """Take away what was registered: `qs.register.remove("score", "shift")`."""
    from quaestor.inference.chooser import ENGINES
    from quaestor.selection.own_rules import RULES
    from quaestor.selection.scores.known import SCORES
    from quaestor.selection.stopping.criteria import SIMPLE
    from quaestor.simulate.behaviours import BEHAVIOURS

    known = {registry.kind: registry for registry in (SCORES, SIMPLE, BEHAVIOURS, RULES, ENGINES)}
    if not is_among(kind, known):
        raise RegisterError(f"kind is one of {', '.join(known)}, got {kind!r}")
    known[kind].remove(name)


def _name(function: Any, name: str) -> str:
    expect("name", name, str, "a text is expected")
    return name or getattr(function, "__name__", "")


def _check_class(kind: str, found: type, base: type) -> None:
    if not issubclass(found, base) or not hasattr(found, "__dataclass_fields__"):
        raise RegisterError(f"{kind}: a function, or a frozen dataclass that is a {base.__name__}, got {found.__name__}")
    if not vars(found).get("name"):
        raise RegisterError(f"{kind}: a class with a name of its own, got {found.__name__} without one")
