"""Figure 2 of the paper: one skill, 18 questions."""

import numpy as np
import pandas as pd

from quaestor.model.table import Array
from quaestor.report.reproduction.section import Section, overlaid
from quaestor.simulate.paper import published
from quaestor.simulate.paper.audit import ends
from quaestor.simulate.paper.studies import PRINTED, Repeated, gaps

EQUAL = 1e-9
STEPS = (5, 10)
AUTHORS = 1024  # students of the printed figure
BAND = "Random is the mean of our own students; its band is two standard errors to each side."
NUMBERS = (("accuracy", "single-skill-accuracy", "strict_accuracy"), ("not_upper", "single-skill-brier", "wrong_lower"))


def shown(single: Repeated, metric: str) -> dict[str, Array]:
    """The curve of each printed method: exact, except for random, where it is that of our own students."""
    return {name: single.exact_curve(name, metric) if name in single.exact else single.own[name].mean(metric) for name in PRINTED}


def _drawn(single: Repeated, metric: str) -> dict[str, Array]:
    """Standard errors of the curves that are those of our own students."""
    return {name: single.own[name].error(metric) for name in PRINTED if name not in single.exact}


def single_section(single: Repeated) -> Section:
    """The section on figure 2, with the findings on entropy and mode, credal and Bayesian."""
    section = Section("Figure 2: one skill, 18 questions")
    points = {name: {method: frame[method].to_numpy() for method in PRINTED} for _, name, _ in NUMBERS for frame in [published(name)]}
    section.findings += [_wrong(single), _mode(single), _credal(single)]
    section.say(
        "Lines are exact expectations (no sampling; random: our own students), open marks the printed points. In the printed accuracy "
        "a tie between the two levels counts as wrong, here as one half; that is why it is printed as 0 before the first question, "
        "and why printed Bayesian entropy, which often is at a tie after an even number of questions, is below the line there. Step 0 "
        "is left out of all comparisons."
    )
    figure = overlaid(shown(single, "accuracy"), points["single-skill-accuracy"], "accuracy", 0.68, errors=_drawn(single, "accuracy"))
    section.figure("single-accuracy", figure, f"Accuracy: exact (lines) and printed (marks). {BAND}")
    section.say(
        "The second printed figure is called Brier distance. What is plotted is the mean probability of the wrong level, and for the "
        "credal methods its lower probability, that is 1 - upper P(true level): the most favourable network is picked for each "
        "student after the truth is known. Under this name it reproduces:"
    )
    figure = overlaid(
        shown(single, "not_upper"), points["single-skill-brier"], "1 - upper P(true level)", 0.0, errors=_drawn(single, "not_upper")
    )
    section.figure(
        "single-not-upper", figure, f"1 - upper P(true level), printed as Brier distance: exact (lines) and printed (marks). {BAND}"
    )
    section.say(
        "A Brier score is the sum over the levels of the squared difference between the probability and the truth. Of the midpoint, "
        f"on which the paper's decisions are based, it looks like this: {_above(single)}."
        + (" Marks: the same score of the authors' raw results." if single.raw else "")
    )
    raw = {name: run.mean("brier") for name, run in single.raw.runs.items()} if single.raw else {}
    figure = overlaid(shown(single, "brier"), raw, "Brier score of the midpoint", 0.0, errors=_drawn(single, "brier"), marks="raw results")
    shown_are = "exact (lines) and raw (marks)" if raw else "exact"
    section.figure("single-brier", figure, f"Brier score of the midpoint (less is better): {shown_are}. {BAND}")
    _gaps(single, section)
    section.say(
        "All methods under honest metrics, exactly (length: questions asked on average; accuracy, Brier score of the midpoint and 1 - "
        f"upper P(true level) after {STEPS[0]} and {STEPS[1]} questions); the last {len(single.exact) - len(PRINTED) + 1} are not in "
        "the paper."
    )
    section.table("single-honest", _honest(single))
    section.say(_in_doubt(single))
    for metric, name, own in NUMBERS:
        section.frames[name] = _curves(single, metric, name, own)
    return section


def _wrong(single: Repeated) -> str:
    end = {name: float(single.exact_curve(name, "brier")[-1]) for name in single.exact}
    words = (
        "Figure 2: the printed Brier distance is 1 - upper P(true level), not a Brier score. The Brier score of the midpoint ends at "
        f"{end['credal entropy']:.3f} (credal entropy) and {end['credal mode']:.3f} (credal mode) against "
        f"{end['Bayesian entropy']:.3f} (Bayesian), so the printed advantage of credal tests is one of the definition."
    )
    if single.raw is None:
        return words
    found = {name: float(run.mean("brier")[-1]) for name, run in single.raw.runs.items()}
    apart = max(_raw_gap(single, name, own) for _, name, own in NUMBERS)
    same = "equal the printed points to 1e-9" if apart < EQUAL else f"differ from the printed points by up to {apart:.2g}"
    return words + (
        f" With the paper's own definitions the raw results {same}; honestly scored they end at {found['credal entropy']:.3f} and "
        f"{found['credal mode']:.3f} against {found['Bayesian entropy']:.3f}."
    )


def _raw_gap(single: Repeated, name: str, own: str) -> float:
    assert single.raw is not None
    points = published(name)
    return max(float(np.abs(points[method].to_numpy() - run.mean(own)).max()) for method, run in single.raw.runs.items())


def _mode(single: Repeated) -> str:
    apart = {name: single.exact_curve(name, "accuracy") - single.exact_curve("Bayesian entropy", "accuracy") for name in single.exact}
    plain, tied = apart["Bayesian mode"], apart["Bayesian mode, ties by entropy"]
    lengths = {name: single.exact[name].length for name in single.exact}
    return (
        f"Does the mode score hold up against entropy? With one skill nearly: Bayesian mode is on average {-plain[1:].mean():.3f} less "
        f"accurate than Bayesian entropy (at worst {-plain.min():.3f}, after {int(plain.argmin())} questions), and "
        f"{abs(tied[1:].mean()):.4f} {'less' if tied[1:].mean() < 0 else 'more'} when ties of the mode are broken by entropy. Credal "
        f"tests of the mode need {lengths['credal mode']:.1f} questions (lower M), {lengths['credal mode, upper']:.1f} (upper M) or "
        f"{lengths['credal mode, ties by entropy']:.1f} (upper M, ties by entropy) until they stop; of entropy "
        f"{lengths['credal entropy']:.1f}."
    )


def _credal(single: Repeated) -> str:
    accuracy, brier = (
        single.exact_curve("credal entropy, all asked", metric) - single.exact_curve("Bayesian entropy", metric)
        for metric in ("accuracy", "brier")
    )
    ahead = [step for step in range(1, len(accuracy)) if accuracy[step] > 1e-9]
    return (
        "Do credal approaches beat Bayesian ones? Not with one skill, under honest metrics: credal entropy without an early stop is "
        f"on average {-accuracy[1:].mean():.4f} less accurate than Bayesian entropy (more accurate after {len(ahead)} of "
        f"{len(accuracy) - 1} numbers of questions), and its Brier score is {brier[1:].mean():.3f} worse."
    )


def _above(single: Repeated) -> str:
    apart = [
        single.exact_curve(f"credal {name}", "brier") - single.exact_curve(f"Bayesian {name}", "brier") for name in ("entropy", "mode")
    ]
    counts = [int((one[1:] > 0).sum()) for one in apart]
    return f"the credal curves are above the Bayesian ones after {counts[0]} (entropy) and {counts[1]} (mode) of {single.steps} questions"


def _in_doubt(single: Repeated) -> str:
    accuracy, brier = ({name: float(run.mean(m)[1:].mean()) for name, run in single.in_doubt.items()} for m in ("accuracy", "brier"))
    return (
        "The students above come from the centre of the intervals, which is what the Bayesian test believes. Credal models are meant "
        f"for the case that nobody knows the right numbers. So we let each of {single.students} students come from another network of "
        f"the credal set: the accuracy, mean over all numbers of questions, is then {accuracy['credal entropy']:.3f} (credal entropy) "
        f"and {accuracy['Bayesian entropy']:.3f} (Bayesian entropy), the Brier score {brier['credal entropy']:.3f} and "
        f"{brier['Bayesian entropy']:.3f}. The midpoint of the bounds is no better a guess than the posterior of the midpoints; what "
        "bounds add is described below under determinate answers."
    )


def _gaps(single: Repeated, section: Section) -> None:
    """Add tables of the differences between the printed points and ours, and their reasons."""
    for metric, name, own in NUMBERS:
        exact = gaps(name, {method: single.exact_curve(method, metric) for method in PRINTED if method in single.exact})
        printed = {m: np.hypot(single.own[m].error(own), single.own[m].spread(own) / np.sqrt(AUTHORS)) for m in PRINTED}
        mine = gaps(name, {method: single.own[method].mean(own) for method in PRINTED}, printed)
        frame = pd.DataFrame({"exact max": exact["largest"], "at": exact["at question"], "exact mean": exact["mean"]}).reindex(PRINTED)
        frame["at"] = ["" if value != value else str(int(value)) for value in frame["at"]]
        frame[["own max", "own mean", "errors"]] = mine.loc[list(PRINTED), ["largest", "mean", "in errors"]]
        frame["errors"] = [f"{value:.1f}" for value in frame["errors"]]
        if single.raw is not None:
            raw = gaps(name, {method: run.mean(own) for method, run in single.raw.runs.items()})
            frame["raw max"] = [f"{value:.0e}" if value else "0" for value in raw.loc[list(PRINTED), "largest"]]
        section.say(
            f"Gaps between the printed {'accuracy' if metric == 'accuracy' else 'Brier distance'} and the exact curve (the largest, at "
            "which question), our own students (with the paper's definition; the largest also in standard "
            f"errors){', and the raw results' if single.raw is not None else ''}:"
        )
        section.table(f"gaps-{name}", frame.rename_axis("printed against"), 4)
    section.points(
        [
            "Bayesian methods: the rest is the luck of two samples, and in the exact accuracy ties. Printed and our own curves differ "
            "by what samples of this size differ by.",
            f"Credal entropy: {_early(single)}",
            "Credal mode: the rule of the authors' choices is known only roughly (see the raw results), so that other questions are "
            "asked; no sample size closes that gap.",
            "Random: the rest is luck and the order of the questions, which the printed runs do not draw evenly (see the raw results).",
        ]
    )


def _early(single: Repeated) -> str:
    if single.raw is None:
        return "the raw results show that about a fifth of the printed tests ended early; later points repeat their last values."
    row = ends(single.raw).loc[["credal entropy"]].iloc[0]
    return (
        f"the {row['ended early']:.1%} of the printed tests that ended early keep their last values at later points. They end with an "
        f"accuracy of {row['accuracy of those']:.3f}, the others with {row['of the others']:.3f}."
    )


def _honest(single: Repeated) -> pd.DataFrame:
    rows = {}
    for name in single.exact:
        row: dict[str, float | str] = {"length": f"{single.exact[name].length:.1f}"}
        for metric, title, steps in (("accuracy", "acc.", STEPS), ("brier", "Brier", STEPS), ("not_upper", "1 - up.", STEPS[1:])):
            curve = single.exact_curve(name, metric)
            row |= {f"{title} {step}": float(curve[step]) for step in steps}
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def _curves(single: Repeated, metric: str, name: str, own: str) -> pd.DataFrame:
    frame, columns = published(name), {}
    for method in PRINTED:
        columns[f"{method}, printed"] = frame[method].to_numpy()
        if method in single.exact:
            columns[f"{method}, exact"] = single.exact_curve(method, metric)
        columns[f"{method}, own students"] = single.own[method].mean(own)
        if single.raw is not None:
            columns[f"{method}, raw"] = single.raw.runs[method].mean(metric)
            columns[f"{method}, raw as printed"] = single.raw.runs[method].mean(own)
    return pd.DataFrame(columns).rename_axis("questions")
