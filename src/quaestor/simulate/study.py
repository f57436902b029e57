"""Studies as files: a bank, the methods to compare, a cohort and a seed, from which all results can be reproduced."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.readers import Reader, Report, entries, fields, flag, items, map_or, name, number, one_of, text, word
from quaestor.errors import BankError, Locate, Place, Problem, QuaestorError, Words, located, nearest
from quaestor.formats.documents import read_document
from quaestor.formats.files import load
from quaestor.html_tables import html_table
from quaestor.selection.rules import Rules, RulesError
from quaestor.selection.rules_file import FIELDS as RULES_FIELDS
from quaestor.selection.rules_file import made_of, read_rules
from quaestor.simulate import STUDENTS, Scattered, simulate
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.behaviours import BEHAVIOURS
from quaestor.simulate.curves import Curves
from quaestor.simulate.exact import expected
from quaestor.simulate.library import CPU
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.simulation import Simulation
from quaestor.simulate.truth import check_truth


class StudyError(QuaestorError):
    """An invalid study file; all broken rules are in `problems`."""

    def __init__(self, problems: list[Problem], source: str = "") -> None:
        self.problems, self.source = tuple(problems), source
        super().__init__("\n".join(f"{source}:{problem}" if source else str(problem) for problem in problems))


@dataclass(frozen=True)
class Method:
    """One of the methods that a study compares: a bank, possibly widened, and rules."""

    name: str
    bank: Bank
    rules: Rules
    widen: float = 0.0

    @property
    def file(self) -> str:
        """The name of its table's file, without ending."""
        return "".join(letter if letter.isalnum() else "-" for letter in self.name.lower())


@dataclass(frozen=True)
class Study:
    """A study: methods, students and metrics."""

    title: str
    bank: Bank
    methods: tuple[Method, ...]
    truth: Bank | Scattered
    description: str = ""
    students: int | str = STUDENTS
    seed: int = 1
    behaviour: Behaviour = field(default_factory=Behaviour)
    metrics: tuple[str, ...] = ("accuracy", "brier")
    exact: bool = False
    scatter: float = 0.0  # with a random truth: the half-width by which the bank was widened to the students' credal set

    def __repr__(self) -> str:
        return f"<Study {self.title!r}: {len(self.methods)} methods, {self.students} students, seed {self.seed}>"

    def _repr_html_(self) -> str:
        rows = [(method.name, method.rules.score, f"±{method.widen:g}" if method.widen else "as they are") for method in self.methods]
        return html_table(repr(self).strip("<>"), ("method", "score", "numbers"), rows, len(rows))

    def run(
        self, workers: int = 1, cluster: Any = None, progress: Callable[[int], None] | None = None, device: str = CPU
    ) -> dict[str, tuple[Simulation, Curves | None]]:
        """The simulation of every method on the same students, and its exact curves, if the study wants them."""
        found: dict[str, tuple[Simulation, Curves | None]] = {}
        for method in self.methods:
            try:
                exact = expected(method.bank, method.rules, self._one_truth) if self.exact else None
                simulated = simulate(
                    method.bank,
                    method.rules,
                    self.students,
                    self.seed,
                    self.truth,
                    self.behaviour,
                    workers=workers,
                    cluster=cluster,
                    device=device,
                    progress=progress,
                )
            except QuaestorError as error:
                raise QuaestorError(f"methods.{method.name}: {error}") from error
            found[method.name] = simulated, exact
        return found

    @property
    def _one_truth(self) -> Bank:
        if isinstance(self.truth, Scattered):
            raise QuaestorError("exact: students who come from one network, got a random truth")
        return self.truth


def load_study(path: str | Path | Mapping[str, Any]) -> Study:
    """Read and check a study: a file, or the same fields as a dict; banks are bundled ones by name, or files relative to the study file.

    Raises StudyError with every problem. `study.run()` simulates it, and `qs.write_study` writes a page with tables and figures.
    """
    if isinstance(path, Mapping):
        return read_study(path, Path())
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
    bank = _bank(found["bank"], folder, ("bank",), report)
    if bank is None:
        raise StudyError(located(report.errors, locate), source)
    methods = [_method(one, given or {}, bank, report) for one, given in found["methods"].items()]
    _check_names(methods, report)
    if report.errors:
        raise StudyError(located(report.errors, locate), source)
    known = tuple(method for method in methods if method is not None)
    truth = _truth(found.get("truth"), bank, known, folder, report)
    behaviour = found.get("behaviour", Behaviour())
    _check_reveals(behaviour, bank, report)
    if found.get("exact"):
        _check_exact(found, report)
    if report.errors or truth is None:
        raise StudyError(located(report.errors, locate), source)
    return Study(
        found["title"],
        bank,
        known,
        truth,
        found.get("description", ""),
        found.get("students", STUDENTS),
        found.get("seed", 1),
        behaviour,
        tuple(found.get("metrics", ("accuracy", "brier"))),
        found.get("exact", False),
        _scatter(found.get("truth"), known),
    )


def _bank(named: str, folder: Path, place: Place, report: Report) -> Bank | None:
    """A bank; problems inside the bank's file are raised as its BankError."""
    beside = folder / named
    try:
        return load(beside if beside.is_file() else named)
    except BankError as error:
        if [problem.place for problem in error.problems] != ["file"]:
            raise
        report.error(place, error.problems[0].rule, named, error.problems[0].hint)
        return None


def _truth(stated: Any, bank: Bank, methods: tuple[Method, ...], folder: Path, report: Report) -> Bank | Scattered | None:
    """The bank or credal set that the students of all methods come from."""
    if stated is None:
        return bank.centre()
    if stated == "random":
        if len({method.widen for method in methods}) > 1 or methods[0].bank.is_precise:
            words = "random is for methods that share one credal bank; say how wide the set is, such as {random: 0.05}"
            report.error(("truth",), words, stated)
            return None
        return Scattered(methods[0].bank)
    if isinstance(stated, dict):
        try:
            source = bank.widen(stated["random"]) if stated.get("random") else bank
        except QuaestorError as error:
            report.error(("truth", "random"), _rule(error), stated["random"])
            return None
        if source.is_precise:
            report.error(("truth", "random"), "a width above 0, since the bank is precise", stated.get("random"))
            return None
        return Scattered(source)
    found = _bank(stated, folder, ("truth",), report)
    if found is not None:
        try:
            check_truth(bank, found)
        except QuaestorError as error:
            report.error(("truth",), _rule(error).removeprefix("truth: "), Words(str(error).rpartition(", got ")[2]))
    return found


def _scatter(stated: Any, methods: tuple[Method, ...]) -> float:
    if isinstance(stated, dict):
        return float(stated.get("random", 0.0))
    return methods[0].widen if stated == "random" else 0.0


def _check_names(methods: list[Method | None], report: Report) -> None:
    taken = {"summary": "the summary of the study", "index": "the page of the study"}
    for method in methods:
        if method is not None:
            if method.file in taken:
                words = f"a name whose file is not that of another, {method.file}.csv is taken by {taken[method.file]}"
                report.error(("methods", method.name), words, method.name)
            taken.setdefault(method.file, f"'{method.name}'")


def _check_reveals(behaviour: Behaviour, bank: Bank, report: Report) -> None:
    for one, given in behaviour.reveals.items():
        for question, place in ((one, ("behaviour", "reveals", one)), *((other, ("behaviour", "reveals", one, other)) for other in given)):
            if question not in bank.questions:
                report.error(place, "a question of the bank", question, nearest(question, bank.questions))


def _check_exact(found: Mapping[str, Any], report: Report) -> None:
    """Refuse what `expected` does not support: behaviour, random networks, and students that are not drawn from the truth."""
    others = {
        "a behaviour": found.get("behaviour", Behaviour()) != Behaviour(),
        "a random truth": found.get("truth") == "random" or isinstance(found.get("truth"), dict),
        "students: profiles": found.get("students") == "profiles",
    }
    for what, is_given in others.items():
        if is_given:
            report.error(("exact",), "exact curves are for students drawn from one bank who answer as it says", Words(f"{what} as well"))


def _rule(error: QuaestorError) -> str:
    return str(error).rpartition(", got ")[0]


def _method(named: str, given: Mapping[str, Any], bank: Bank, report: Report) -> Method | None:
    try:
        rules = read_rules(given.get("rules", {}))
        widened = bank.widen(given["widen"]) if given.get("widen") else bank
        rules.check(widened)
        return Method(named, widened, rules, given.get("widen", 0.0))
    except RulesError as error:
        for problem in error.problems:
            report.error(("methods", named, "rules", *problem.place.split(".")), problem.rule, problem.value.strip("'"), problem.hint)
    except QuaestorError as error:
        report.error(("methods", named, "widen"), _rule(error), given.get("widen"))
    return None


def _kept(value: Any, place: Place, report: Report) -> Any:
    """Rules, checked but not converted: they are read when the bank is known."""
    if not isinstance(value, Mapping):
        report.error(place, "a map of rules is expected", value)
        return None
    fields(RULES_FIELDS)(value, place, report)
    return value


def _share(value: Any, place: Place, report: Report) -> float | None:
    found = number(value, place, Report())
    if found is None or not 0 <= found <= 1:
        report.error(place, "a share between 0 and 1", value)
        return None
    return found


def _behaviour(value: Any, place: Place, report: Report) -> Behaviour | None:
    before = report.count
    schema: dict[str, Reader] = dict.fromkeys(("fatigue", "guessing", "slips", "skipping"), _share)
    schema["reveals"] = entries(name, entries(name, _share))
    own = {one: setting for one, setting in value.items() if one not in schema} if isinstance(value, Mapping) else {}
    found = fields(schema)({one: value[one] for one in value if one in schema} if own else value, place, report)
    made = []
    for one, setting in own.items():
        if BEHAVIOURS.knows(one):
            made.append(made_of(BEHAVIOURS, one, {} if setting in ("", None) else setting, place, report))
        else:
            hint = nearest(one, schema) or BEHAVIOURS.hint(one)
            report.error((*place, str(one)), f"a known behaviour: {', '.join((*schema, *BEHAVIOURS.names))}", one, hint)
    return Behaviour(**found, own=tuple(made)) if found is not None and report.count == before else None


def _whole(least: int, or_else: str = "") -> Reader:
    """A reader of whole numbers of at least `least`, or of the word `or_else`."""

    def read(value: Any, place: Place, report: Report) -> int | str | None:
        if or_else and value == or_else:
            return or_else
        found = number(value, place, Report())
        if not isinstance(found, int) or found < least:
            report.error(place, f"a whole number of at least {least}" + f", or {or_else}" * bool(or_else), value)
            return None
        return found

    return read


FIELDS: dict[str, Reader] = {
    "title": word,
    "description": text,
    "bank": word,
    "truth": map_or(fields({"random": number}), word),
    "students": _whole(1, "profiles"),
    "seed": _whole(0),
    "behaviour": _behaviour,
    "metrics": items(one_of(*METRICS), unique=True),
    "exact": flag,
    "methods": entries(word, fields({"widen": number, "rules": _kept})),
}
