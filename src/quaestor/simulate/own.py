"""What somebody has registered and a simulation needs: it travels with it to other processes and machines."""

import pickle
from dataclasses import dataclass
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.inference.chooser import ENGINES
from quaestor.registry import Registry, place_of
from quaestor.selection.rules import Rules
from quaestor.selection.scores.known import SCORES
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.script import Script, script_of

_KNOWN: dict[str, Registry[Any]] = {"score": SCORES, "engine": ENGINES}  # what is looked up by name when a test is taken


@dataclass(frozen=True)
class Own:
    """`named`: kind, name, thing, where it comes from and its marks, for what is looked up by name; `others`: classes of values."""

    named: tuple[tuple[str, str, Any, str, tuple[str, ...]], ...]
    others: tuple[type, ...]

    @property
    def things(self) -> list[Any]:
        """All functions and classes that other processes need."""
        found: list[Any] = list(self.others)
        for _, _, thing, _, _ in self.named:
            found += [thing.make, thing.fits, thing.serves] if hasattr(thing, "make") else [thing]
        return found

    @property
    def homes(self) -> dict[str, str]:
        """Where each comes from, by name."""
        return {f"{kind} {name}": home for kind, name, _, home, _ in self.named} | {
            f"{kind.known.kind} {kind.name}": place_of(kind)  # type: ignore[attr-defined]
            for kind in self.others
        }

    def make_known(self) -> None:
        """Register all of it in this process."""
        for kind, name, thing, home, marks in reversed(self.named):
            _KNOWN[kind].add(name, thing, home, marks, first=kind == "engine")

    def script(self) -> Script | None:
        """The script in which some of it stands; what a new process could not find is refused."""
        for thing in self.things:
            try:
                pickle.dumps(thing)
            except (pickle.PicklingError, AttributeError, TypeError) as error:
                rule = "workers: what is registered stands at the top level of a module or script, below its decorator"
                raise QuaestorError(f"{rule}, so that other processes find it, got {place_of(thing)}") from error
        return script_of(self.things)


def own_of(bank: Bank, rules: Rules, behaviour: Behaviour) -> Own:
    """What a simulation needs that is not built in."""
    scores = [name for name in dict.fromkeys((rules.score, rules.then)) if name and SCORES.is_own(name)]
    engines = [] if bank.is_precise else [name for name in ENGINES if ENGINES.is_own(name)]
    named = [_named(SCORES, name) for name in scores] + [_named(ENGINES, name) for name in engines]
    criteria = [one for stop in (rules.stop, rules.retire) if stop is not None for one in stop.simple()]
    values = [type(one) for one in (*criteria, *rules.narrow, *behaviour.own)]
    strange = [kind for kind in dict.fromkeys(values) if not str(kind.__module__).startswith("quaestor.")]
    return Own(tuple(named), tuple(strange))


def _named(known: Registry[Any], name: str) -> tuple[str, str, Any, str, tuple[str, ...]]:
    return known.kind, name, known[name], known.home(name), known.marks_of(name)
