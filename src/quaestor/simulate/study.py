"""Studies are files: a bank, the methods to compare, a cohort and a seed. Everything else follows from them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quaestor.bank import Bank
from quaestor.errors import Locate, Place, Problem, QuaestorError, located
from quaestor.fields import Reader, Report, entries, fields, flag, items, name, number, one_of, text, word
from quaestor.formats import load, read_document
from quaestor.rules import Rules, RulesError
from quaestor.rules_file import FIELDS as RULES_FIELDS
from quaestor.rules_file import read_rules
from quaestor.simulate import simulate
from quaestor.simulate.cohort import Behaviour
from quaestor.simulate.curves import Curves
from quaestor.simulate.exact import expected
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.simulation import Simulation


class StudyError(QuaestorError):
    """A study file that breaks rules, all of them in `problems`."""

    def __init__(self, problems: list[Problem], source: str = "") -> None:
        self.problems, self.source = tuple(problems), source
        super().__init__("\n".join(f"{source}:{problem}" if source else str(problem) for problem in problems))


@dataclass(frozen=True)
class Method:
    """One of the methods that a study compares: a bank (perhaps widened) and rules."""

    name: str
    bank: Bank
    rules: Rules


@dataclass(frozen=True)
class Study:
    """What is compared, on whom, and by which metrics."""

    title: str
    methods: tuple[Method, ...]
    truth: Bank | str
    description: str = ""
    students: int | str = 1024
    seed: int = 1
    behaviour: Behaviour = field(default_factory=Behaviour)
    metrics: tuple[str, ...] = ("accuracy", "brier")
    exact: bool = False

    def run(
        self, workers: int = 1, cluster: str | None = None, progress: Callable[[int], None] | None = None
    ) -> dict[str, tuple[Simulation, Curves | None]]:
        """Simulate every method on the same students; beside it the exact curves, where the study wants them."""
        found: dict[str, tuple[Simulation, Curves | None]] = {}
        for method in self.methods:
            simulated = simulate(
                method.bank,
                method.rules,
                self.students,
                self.seed,
                self.truth,
                self.behaviour,
                workers=workers,
                cluster=cluster,
                progress=progress,
            )
            truth = self.truth if isinstance(self.truth, Bank) else None
            found[method.name] = (simulated, expected(method.bank, method.rules, truth) if self.exact else None)
        return found


def load_study(path: str | Path) -> Study:
    """Read and check a study; banks are found by their bundled names or relative to the study's file."""
    document, locate = read_document(path)
    return read_study(document, Path(path).parent, str(path), locate)


def read_study(document: Any, folder: Path, source: str = "", locate: Locate | None = None) -> Study:
    """A study from plain data."""
    report = Report()
    found = fields(FIELDS)(document, (), report) or {}
    for needed in ("title", "bank", "methods"):
        if needed not in found and not report.errors:
            report.error((needed,), "a study has it", "nothing")
    if report.errors:
        raise StudyError(located(report.errors, locate), source)
    bank = _bank(found["bank"], folder)
    truth: Bank | str = found.get("truth", "")
    if truth != "random":
        truth = _bank(str(truth), folder) if truth else bank.centre()
    methods = [_method(one, given, bank, report) for one, given in found["methods"].items()]
    if report.errors:
        raise StudyError(located(report.errors, locate), source)
    return Study(
        found["title"],
        tuple(method for method in methods if method is not None),
        truth,
        found.get("description", ""),
        found.get("students", 1024),
        found.get("seed", 1),
        found.get("behaviour", Behaviour()),
        tuple(found.get("metrics", ("accuracy", "brier"))),
        found.get("exact", False),
    )


def _bank(named: str, folder: Path) -> Bank:
    beside = folder / named
    return load(beside if beside.exists() else named)


def _method(named: str, given: Mapping[str, Any], bank: Bank, report: Report) -> Method | None:
    try:
        rules = read_rules(given.get("rules", {}))
        widened = bank.widen(given["widen"]) if given.get("widen") else bank
        rules.check(widened)
        return Method(named, widened, rules)
    except RulesError as error:
        for problem in error.problems:
            report.error(("methods", named, "rules", *problem.place.split(".")), problem.rule, problem.value.strip("'"), problem.hint)
    except QuaestorError as error:
        report.error(("methods", named, "widen"), str(error).rpartition(", got ")[0], given.get("widen"))
    return None


def _kept(value: Any, place: Place, report: Report) -> Any:
    """Rules as they stand: they are read, with their places, when the bank is known."""
    if not isinstance(value, Mapping):
        report.error(place, "a map of rules is expected", value)
        return None
    fields(RULES_FIELDS)(value, place, report)
    return value


def _behaviour(value: Any, place: Place, report: Report) -> Behaviour | None:
    schema: dict[str, Reader] = dict.fromkeys(("fatigue", "guessing", "slips", "skipping"), number)
    schema["reveals"] = entries(name, entries(name, number))
    found = fields(schema)(value, place, report)
    try:
        return Behaviour(**found) if found is not None else None
    except QuaestorError as error:
        report.error(place, str(error).rpartition(", got ")[0], found)
        return None


def _students(value: Any, place: Place, report: Report) -> int | str | None:
    if value == "profiles":
        return "profiles"
    found = number(value, place, report)
    if found is not None and (not isinstance(found, int) or found < 1):
        report.error(place, "a whole number of at least 1, or profiles", found)
        return None
    return found


FIELDS: dict[str, Reader] = {
    "title": word,
    "description": text,
    "bank": word,
    "truth": word,
    "students": _students,
    "seed": number,
    "behaviour": _behaviour,
    "metrics": items(one_of(*METRICS), unique=True),
    "exact": flag,
    "methods": entries(word, fields({"widen": number, "rules": _kept})),
}
