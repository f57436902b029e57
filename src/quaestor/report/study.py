"""A study as tables, figures and one page: what was compared, the curves, what to conclude, how to repeat it."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from quaestor.bank import Bank
from quaestor.formats import save
from quaestor.ranking import second_score
from quaestor.report import page
from quaestor.report.figures import Line, curves, save_figure, svg
from quaestor.simulate.curves import Curves
from quaestor.simulate.simulation import KEPT, Simulation
from quaestor.simulate.study import Method, Study

Results = Mapping[str, tuple[Simulation, Curves | None]]
WORSE = ("brier", "log_loss", "log_loss_best", "log_loss_worst", "not_upper")  # metrics of which less is better


def write_study(study: Study, results: Results, folder: Path, command: str) -> None:
    """Write summary.csv, a table a method, the figures, and index.html."""
    folder.mkdir(parents=True, exist_ok=True)
    save(summary(study, results).to_csv(lineterminator="\n", float_format="%.6f").encode(), folder / "summary.csv")
    for name, (simulated, _) in results.items():
        save(simulated.table().to_csv(lineterminator="\n", float_format="%.6f").encode(), folder / f"{_file(name)}.csv")
    parts = [page.text(study.description)] if study.description else []
    parts += [page.heading("What was compared"), *_compared(study, results)]
    parts += [page.heading("The curves")]
    for metric in study.metrics:
        figure = curves(_lines(results, metric), metric.replace("_", " "))
        save_figure(figure, folder, metric)
        parts.append(page.figure(svg(figure), _caption(study, metric)))
    parts += [page.heading("What to conclude"), page.listing(conclusions(study, results))]
    parts += [page.heading("In numbers"), page.table(summary(study, results))]
    parts += [page.heading("How to repeat it"), page.code(command)]
    save(page.page(study.title, parts).encode(), folder / "index.html")


def _file(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _caption(study: Study, metric: str) -> str:
    better = "less is better" if metric in WORSE else "more is better"
    band = "; bands are two standard errors to each side" if metric in KEPT else ""
    return f"{metric.replace('_', ' ').capitalize()} against the number of questions, mean over students and skills ({better}){band}."


def _lines(results: Results, metric: str) -> list[Line]:
    lines = []
    for style, (name, (simulated, exact)) in enumerate(results.items()):
        if exact is not None:
            lines.append(Line(name, getattr(exact, metric), None, style))
        else:
            error = 2 * simulated.error(metric) if metric in simulated.by_student else None
            lines.append(Line(name, getattr(simulated, metric), error, style))
    return lines


def _compared(study: Study, results: Results) -> list[str]:
    first = study.methods[0].bank
    who = "one student for every profile of levels" if study.students == "profiles" else f"{study.students:,} simulated students"
    source = "each from another network of the credal set" if isinstance(study.truth, str) else f"drawn from {_title(study.truth)}"
    points = [
        f"{_title(first)}: {len(first.questions)} questions on {len(first.skills)} skill{'s' * (len(first.skills) != 1)}.",
        f"{who[0].upper()}{who[1:]}, {source}; the same ones for every method (seed {study.seed}).",
    ]
    points += [f"{method.name}: {_described(method)}." for method in study.methods]
    return [page.listing(points)]


def _title(bank: Bank) -> str:
    return bank.title or "the bank"


def _described(method: Method) -> str:
    """A method in words: its score, how it stops, and what else differs from the default."""
    rules = method.rules
    second = second_score(rules.score, rules.then)
    words = [f"score {rules.score}" + (f", ties by {second}" if second else "")]
    if not method.bank.is_precise:
        words.append(f"a credal bank ({rules.bound} bound)")
    words.append(f"stops when {rules.stop.words}" if rules.stop is not None else "stops when no question is left")
    others = {key: value for key, value in rules.document.items() if key not in ("score", "then", "bound", "stop")}
    return "; ".join([*words, *(f"{key}: {value}" for key, value in others.items())])


def summary(study: Study, results: Results) -> pd.DataFrame:
    """A row a method: mean length, the metrics of the study at some steps and at the end, questions never used."""
    steps = _steps(results)
    rows = {}
    for name, (simulated, exact) in results.items():
        shown = exact if exact is not None else simulated
        row: dict[str, float] = {"mean length": shown.mean_length}
        for metric in study.metrics:
            values = getattr(shown, metric)
            row |= {f"{metric}, {step} questions": float(values[min(step, len(values) - 1)]) for step in steps}
            row[f"{metric}, end"] = float(values[-1])
        row["never used"] = float(len(simulated.never_used))
        rows[name] = row
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "method"
    return frame


def _steps(results: Results) -> list[int]:
    longest = max(len(simulated.running) for simulated, _ in results.values()) - 1
    return [step for step in (1, 2, 5, 10, 20, 30) if step < longest]


def conclusions(study: Study, results: Results) -> list[str]:
    """Sentences that follow from the numbers: the best method at some steps, and which others differ by more than chance."""
    found = []
    metric = study.metrics[0]
    if metric not in KEPT:
        return [f"Errors are not kept for {metric}; see the table."]
    sign = -1 if metric in WORSE else 1
    for step in [*_steps(results), max(len(simulated.running) for simulated, _ in results.values()) - 1][-4:]:
        values = {name: float(s.by_student[metric][:, min(step, len(s.running) - 1)].mean()) for name, (s, _) in results.items()}
        best = max(values, key=lambda name: sign * values[name])
        sentence = f"After {step} questions {best} has the best {metric} ({values[best]:.3f})"
        near: list[str] = []
        far: list[str] = []
        for name, (simulated, _) in results.items():
            if name != best:
                apart, error = results[best][0].difference(simulated, metric)
                at = min(step, len(apart) - 1)
                (far if abs(apart[at]) > 2 * error[at] else near).append(f"{name} ({values[name]:.3f})")
        sentence += f"; clearly behind: {', '.join(far)}" if far else ""
        sentence += f"; no clear difference to {', '.join(near)}" if near else ""
        found.append(sentence + ".")
    lengths = {name: simulated.mean_length for name, (simulated, _) in results.items()}
    if max(lengths.values()) - min(lengths.values()) > 0.5:
        shortest = min(lengths, key=lambda name: lengths[name])
        others = ", ".join(f"{name} {length:.1f}" for name, length in lengths.items() if name != shortest)
        found.append(f"{shortest} needs the fewest questions, {lengths[shortest]:.1f} on average ({others}).")
    return found
