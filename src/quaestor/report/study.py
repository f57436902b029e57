"""A study as tables, figures and one page: what was compared, the curves, the conclusions, and how to repeat it."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from quaestor.bankfile.bank import Bank
from quaestor.formats.files import save
from quaestor.report import methods, page
from quaestor.report.figures import Line, curves, save_figure, svg
from quaestor.selection.ranking import second_score
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.behaviours import SHARES
from quaestor.simulate.curves import Curves
from quaestor.simulate.simulation import Simulation
from quaestor.simulate.study import Method, Study

Results = Mapping[str, tuple[Simulation, Curves | None]]
WORSE = ("brier", "brier_best", "brier_worst", "log_loss", "log_loss_best", "log_loss_worst", "not_upper")  # smaller is better


def write_files(study: Study, results: Results, folder: Path, command: str, version: str) -> None:
    """Write summary.csv, a table for each method, the figures and index.html; everything is computed before the first file is written."""
    shown = summary(study, results)
    tables = {"summary": shown, **{method.file: _table(*results[method.name]) for method in study.methods}}
    figures = {metric: curves(_lines(results, metric), metric.replace("_", " ")) for metric in study.metrics}
    parts = [page.text(study.description)] if study.description else []
    parts += [page.heading("What was compared"), page.listing(_compared(study))]
    parts += [page.heading("The curves")]
    parts += [page.figure(svg(figure), _caption(study, results, metric)) for metric, figure in figures.items()]
    parts += [page.heading("What to conclude"), page.listing(conclusions(study, results))]
    parts += [page.heading("In numbers"), *([page.text(_which_are_exact(study))] if study.exact else []), page.table(shown)]
    cited = [f"[{number}] {work}" for number, work in enumerate(methods.works(study, version), start=1)]
    parts += [page.heading("For the methods section of a paper"), page.text(methods.paragraph(study, version)), page.listing(cited)]
    parts += [page.heading("How to repeat it"), page.code(command), page.text(_versions(study, version))]
    parts += [
        page.heading("Every number, and the figures"),
        page.files([*(f"{name}.csv" for name in tables), *(f"{name}.svg" for name in figures)]),
    ]
    whole = page.page(study.title, parts).encode()
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        save(table.to_csv(lineterminator="\n", float_format="%.6f").encode(), folder / f"{name}.csv")
    for metric, figure in figures.items():
        save_figure(figure, folder, metric)
    save(whole, folder / "index.html")


def _table(simulated: Simulation, exact: Curves | None) -> pd.DataFrame:
    """The curves of one method: those of the sample, joined with the exact ones, if there are any."""
    frame = simulated.table()
    return frame if exact is None else frame.join(exact.table().add_suffix("_exact"), how="outer")


def _which_are_exact(study: Study) -> str:
    return (
        "Exact, without sampling: the curves, the conclusions, the mean lengths and the metrics of this table, and the columns that end in"
        f" `_exact` in the table of each method. From the sample of {study.students:,} students: its other columns, and how many questions"
        " were never used."
    )


def _versions(study: Study, version: str) -> str:
    others = f"; {_title(study.truth)} `{study.truth.version}`" if _is_other(study) and isinstance(study.truth, Bank) else ""
    return f"Quaestor {version}; seed {study.seed}; {_title(study.bank)}, version `{study.bank.version}`{others}."


def _is_other(study: Study) -> bool:
    """Whether the students come from another bank than the centre of the test's own."""
    return isinstance(study.truth, Bank) and study.truth.model_version != study.bank.centre().model_version


def _caption(study: Study, results: Results, metric: str) -> str:
    better = "less is better" if metric in WORSE else "more is better"
    has_bands = any(line.error is not None for line in _lines(results, metric))
    how = "; exact, without sampling" if study.exact else "; bands are two standard errors to each side" if has_bands else ""
    return f"{metric.replace('_', ' ').capitalize()} against the number of questions, mean over students and skills ({better}){how}."


def _lines(results: Results, metric: str) -> list[Line]:
    lines = []
    for style, (name, (simulated, exact)) in enumerate(results.items()):
        if exact is not None:
            lines.append(Line(name, getattr(exact, metric), None, style))
        else:
            error = 2 * simulated.error(metric)
            lines.append(Line(name, getattr(simulated, metric), error if np.isfinite(error).any() else None, style))
    return lines


def _compared(study: Study) -> list[str]:
    bank = study.bank
    points = [
        f"{_title(bank)}: {len(bank.questions)} questions on {len(bank.skills)} skill{'s' * (len(bank.skills) != 1)}.",
        f"{_students(study)}; the same ones for every method (seed {study.seed}).",
    ]
    if study.behaviour != Behaviour():
        points.append(f"They answer otherwise than the bank says: {_behaviour(study.behaviour)}.")
    return [*points, *(f"{method.name}: {_described(method)}." for method in study.methods)]


def _students(study: Study) -> str:
    who = "One student for every profile of levels" if study.students == "profiles" else f"{study.students:,} simulated students"
    if not isinstance(study.truth, Bank):
        return f"{who}, each from another network of the credal set of {_set(study)}"
    return f"{who}, drawn from {_title(study.truth)}" + (
        "" if study.bank.is_precise or _is_other(study) else " (the centre of its intervals)"
    )


def _set(study: Study) -> str:
    """The credal set that the students' networks come from, in words."""
    return f"{_title(study.bank)}" + (f", widened by {study.scatter:g}" if study.scatter else "")


def _behaviour(behaviour: Behaviour) -> str:
    words = [f"{name} {getattr(behaviour, name):g}" for name in SHARES if getattr(behaviour, name)]
    for one, given in behaviour.reveals.items():
        words += [f"{one} gives the best answer of {other} away to {share:.0%}" for other, share in given.items()]
    return ", ".join([*words, *(own.words for own in behaviour.own)])


def _title(bank: Bank) -> str:
    return bank.title or "the bank"


def _described(method: Method) -> str:
    """A method in words: its score, the width of its intervals, its stop rule, and what else differs from the default."""
    rules = method.rules
    second = second_score(rules.score, rules.then)
    words = [f"score {rules.score}" + (f", ties by {second}" if second else "")]
    if not method.bank.is_precise:
        width = f"every number widened by {method.widen:g} to each side" if method.widen else "the bank's own intervals"
        words.append(f"a credal bank, {width} ({rules.bound} bound)")
    words.append(f"stops when {rules.stop.words}" if rules.stop is not None else "stops when no question is left")
    others = {key: value for key, value in rules.document.items() if key not in ("score", "then", "bound", "stop")}
    return "; ".join([*words, *(f"{key}: {value}" for key, value in others.items())])


def _shown(results: Results) -> dict[str, Curves]:
    """The curves to report: the exact ones where there are any."""
    return {name: exact if exact is not None else simulated for name, (simulated, exact) in results.items()}


def summary(study: Study, results: Results) -> pd.DataFrame:
    """A row a method: mean length, the metrics of the study at some steps and at the end, questions never used."""
    steps = _steps(results)
    rows = {}
    for name, shown in _shown(results).items():
        row: dict[str, float] = {"mean length": float(shown.length)}
        for metric in study.metrics:
            values = getattr(shown, metric)
            row |= {f"{metric}, {_questions(step)}": float(values[min(step, len(values) - 1)]) for step in steps}
            row[f"{metric}, end"] = float(values[-1])
        row["never used in the sample" if study.exact else "never used"] = float(len(results[name][0].never_used))
        rows[name] = row
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "method"
    return frame


def _questions(count: int) -> str:
    return f"{count} question{'s' * (count != 1)}"


def _steps(results: Results) -> list[int]:
    return [step for step in (1, 2, 5, 10, 20, 30) if step < _longest(results)]


def _longest(results: Results) -> int:
    return max(len(shown.running) for shown in _shown(results).values()) - 1


def conclusions(study: Study, results: Results) -> list[str]:
    """Conclusions in sentences: which method leads at some steps, and which are behind by more than two standard errors."""
    metric = study.metrics[0]
    found = [_leaders(study, results, metric, step) for step in [*_steps(results), _longest(results)][-4:]]
    lengths = {name: shown.length for name, shown in _shown(results).items()}
    if max(lengths.values()) - min(lengths.values()) > 0.5:
        shortest = min(lengths, key=lambda name: lengths[name])
        others = ", ".join(f"{name} {length:.1f}" for name, length in lengths.items() if name != shortest)
        average = "on average, exactly" if study.exact else "on average"
        found.append(f"{shortest} needs the fewest questions, {lengths[shortest]:.1f} {average} ({others}).")
    return [sentence for sentence in found if sentence]


def _leaders(study: Study, results: Results, metric: str, step: int) -> str:
    """One sentence about one step; values that are equal to three digits are tied. Empty where the metric has no value."""
    curve = {name: getattr(shown, metric) for name, shown in _shown(results).items()}
    values = {name: float(y[min(step, len(y) - 1)]) for name, y in curve.items()}
    values = {name: value for name, value in values.items() if value == value}
    if not values:
        return ""
    best = max(values, key=lambda name: -values[name] if metric in WORSE else values[name])
    top = f"{values[best]:.3f}"
    first = [name for name, value in values.items() if f"{value:.3f}" == top]
    leading = f"{', '.join(first[:-1])} and {first[-1]} lead" if len(first) > 1 else f"{best} leads"
    if len(first) == len(results) > 2:
        leading = "all methods are level"
    sentence = f"After {_questions(step)} {leading} with {'an exact' if study.exact else 'a mean'} {metric.replace('_', ' ')} of {top}"
    behind = [name for name in values if name not in first]
    if study.exact:
        return sentence + (f"; behind: {_listed(behind, values)}." if behind else ".")
    far = [name for name in behind if _is_clear(results[best][0], results[name][0], metric, step)]
    near = [name for name in behind if name not in far]
    sentence += f"; clearly behind: {_listed(far, values)}" if far else ""
    return sentence + (f"; no clear difference to {_listed(near, values)}." if near else ".")


def _listed(names: list[str], values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} ({values[name]:.3f})" for name in names)


def _is_clear(one: Simulation, other: Simulation, metric: str, step: int) -> bool:
    """Whether two curves differ by more than two standard errors, of the paired difference where every student has a value."""
    if metric in one.by_student:
        apart, error = one.difference(other, metric)
        at = min(step, len(apart) - 1)
        return bool(abs(apart[at]) > 2 * error[at])
    ends = [(getattr(x, metric)[min(step, len(x.running) - 1)], x.error(metric)[min(step, len(x.running) - 1)]) for x in (one, other)]
    return bool(abs(ends[0][0] - ends[1][0]) > 2 * np.hypot(ends[0][1], ends[1][1]))
