"""Figure 3 of the paper: four skills in a chain, 64 questions."""

import numpy as np
import pandas as pd

from quaestor.model.table import Array
from quaestor.report.reproduction.section import Section, overlaid
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.paper import published
from quaestor.simulate.paper.best import BestTest, left_after_one
from quaestor.simulate.paper.studies import PRINTED, Repeated, gaps, paired

FIGURE = "multi-skill-accuracy"
GRAIN = 256  # all printed values are multiples of 1/256
SKILLS = 4
DEPTH = 3
WORTH = 0.01  # a loss of accuracy that matters
STEPS = (4, 8, 12, 20, 30)
CREDAL = ("credal entropy", "credal mode")
BANDS = "Bands are two standard errors to each side."


def multi_section(multi: Repeated) -> Section:
    """The section on figure 3, with the findings on entropy and mode, credal and Bayesian."""
    section = Section("Figure 3: four skills, 64 questions")
    points = {name: published(FIGURE)[name].to_numpy() for name in PRINTED}
    best = [BestTest(multi.methods[-1].bank).after(questions) for questions in range(1, DEPTH + 1)]
    section.findings += [_meaning(multi, points, best), _mode(multi), _credal(multi)]
    grain = all(np.allclose(values * GRAIN, np.round(values * GRAIN), rtol=0, atol=1e-9) for values in points.values())
    section.say(
        "The paper speaks of real data here; we have none, and let students come from the network of the bank `four-skills`. "
        f"{'All' if grain else 'Not all'} printed values are multiples of 1/{GRAIN}: {GRAIN} students, or, as an accuracy is a mean "
        f"over {SKILLS} skills, {GRAIN // SKILLS}. We take {GRAIN // SKILLS} where standard errors of printed points are needed (the "
        f"more lenient choice). Ours are {multi.students} students."
    )
    lines = {name: multi.own[name].mean("accuracy") for name in PRINTED}
    figure = overlaid(lines, points, "accuracy, mean over skills", 0.48, 2, {name: multi.own[name].error("accuracy") for name in PRINTED})
    section.figure(
        "multi-accuracy", figure, f"Accuracy of {multi.students} students (lines) and printed (marks, every second one). {BANDS}"
    )
    worst = _gap(multi, "accuracy", PRINTED)["in errors"]
    section.say(
        f"Bayesian entropy, Bayesian mode and random are at most {worst['Bayesian entropy']:.1f}, {worst['Bayesian mode']:.1f} and "
        f"{worst['random']:.1f} standard errors from ours at any of {multi.steps} points: about what samples differ by. The credal "
        f"curves are {worst['credal entropy']:.1f} and {worst['credal mode']:.1f} away, and it is not our choice of questions. After "
        f"one question the best that any rule can reach on average is {best[0]:.3f}, worked out by trying every question and the best "
        f"decision ({_listed(best)}); printed are {points['credal entropy'][1]:.3f} and {points['credal mode'][1]:.3f}. They cannot be "
        "the accuracy of one decision for each skill. In the table: the largest and the mean gap, and the largest in standard errors; "
        "left: against the share not ruled out, see below."
    )
    section.table("gaps-multi", _gaps(multi), 4)
    section.say("What else can they be? The printed credal entropy curve against several measures of our own credal entropy runs:")
    found = readings(multi)
    section.table("multi-readings", found, 4)
    section.say(
        f"The nearest is: {found['mean'].astype(float).idxmin()}. This is the share of skills whose upper P(true level) is at least "
        "1/2; where the credal test cannot tell, it counts as right. In the figure it is drawn for both credal methods."
    )
    lines = {name: multi.own[name].mean("not_ruled_out") for name in CREDAL}
    bands = {name: multi.own[name].error("not_ruled_out") for name in CREDAL}
    figure = overlaid(lines, {name: points[name] for name in CREDAL}, "true level not ruled out", 0.75, 2, bands)
    words = f"Share of skills whose true level is not ruled out (lines) and the printed accuracy (marks). {BANDS}"
    section.figure("multi-not-ruled-out", figure, words)
    section.points(_cannot(multi, points))
    section.table("multi-honest", _honest(multi))
    section.frames["multi-curves"] = _curves(multi)
    return section


def errors(multi: Repeated, name: str, metric: str) -> Array:
    """Standard errors of the difference between a printed curve and ours."""
    run = multi.own[name]
    return np.asarray(np.hypot(run.spread(metric) / np.sqrt(GRAIN // SKILLS), run.error(metric)))


def _gap(multi: Repeated, metric: str, names: tuple[str, ...]) -> pd.DataFrame:
    curves = {name: multi.own[name].mean(metric) for name in names}
    return gaps(FIGURE, curves, {name: errors(multi, name, metric) for name in names})


def _meaning(multi: Repeated, points: dict[str, Array], best: list[float]) -> str:
    left = _gap(multi, "not_ruled_out", ("credal entropy",)).loc["credal entropy"]
    right = _gap(multi, "accuracy", ("credal entropy",)).loc["credal entropy"]
    return (
        "Figure 3: the printed credal curves cannot be accuracies of one decision a skill. After one question on this bank no rule "
        f"exceeds {best[0]:.3f} on average; printed are {points['credal entropy'][1]:.3f} and {points['credal mode'][1]:.3f}. The "
        "printed credal entropy curve is what comes out when a skill counts as right unless its true level is ruled out: mean "
        f"difference {left['mean']:.3f}, at most {left['in errors']:.1f} standard errors (as an accuracy of midpoints: "
        f"{right['mean']:.3f} and {right['in errors']:.1f}). The Bayesian curves, which must name one level, are held to a stricter "
        "measure in the same figure."
    )


def _mode(multi: Repeated) -> str:
    plain, error = paired(multi.own["Bayesian mode"], multi.own["Bayesian entropy"], "accuracy")
    tied, tied_error = paired(multi.own["Bayesian mode, ties by entropy"], multi.own["Bayesian entropy"], "accuracy")
    listed = ", ".join(f"{plain[step]:+.3f} ± {error[step]:.3f} after {step}" for step in STEPS)
    worst = int(np.argmax(np.abs(tied)))
    return (
        f"With four skills the plain mode score {_holds(plain, error)}: against Bayesian entropy its accuracy differs by {listed} "
        "questions. It has plateaus, where no answer can change the most probable level and every question scores 0. With ties broken "
        f"by entropy the largest difference is {tied[worst]:+.3f} ± {tied_error[worst]:.3f}: then the mode score "
        f"{_holds(tied, tied_error)}."
    )


def _holds(apart: Array, error: Array) -> str:
    """In words whether an accuracy falls behind by more than 0.01 and three standard errors at some step."""
    return "does not hold up" if ((apart < -WORTH) & (apart < -3 * error)).any() else "holds up"


def _credal(multi: Repeated) -> str:
    apart, error = paired(multi.own["credal entropy"], multi.own["Bayesian entropy"], "accuracy")
    listed = ", ".join(f"{apart[step]:+.3f} ± {error[step]:.3f} after {step}" for step in STEPS)
    above = int((apart[1:] > 2 * error[1:]).sum())
    words = (
        "With four skills the accuracy of credal entropy (midpoints) differs from that of Bayesian entropy on the same students by "
        f"{listed} questions; it is clearly ahead after {above} of {multi.steps} numbers of questions."
    )
    return words + (" Evaluations of the same quality need more questions, not fewer." if above == 0 else "")


def _listed(best: list[float]) -> str:
    return ", ".join(f"{value:.3f} after {number}" for number, value in enumerate(best[1:], 2))


def _gaps(multi: Repeated) -> pd.DataFrame:
    parts = {"acc.": _gap(multi, "accuracy", PRINTED), "left": _gap(multi, "not_ruled_out", CREDAL)}
    frame = pd.DataFrame(index=pd.Index(PRINTED, name="printed against"))
    for name, part in parts.items():
        for column, title in (("largest", "max"), ("mean", "mean"), ("in errors", "errors")):
            frame[f"{name} {title}"] = part[column] if title != "errors" else part[column].map("{:.1f}".format)
    return frame


def _cannot(multi: Repeated, points: dict[str, Array]) -> list[str]:
    left = left_after_one(multi.methods[0].bank)
    value = float(points["credal mode"][1])
    error = float(errors(multi, "credal mode", "not_ruled_out")[1])
    near = [f"{name} ({share:.3f})" for name, share in left.items() if abs(share - value) < 2 * error]
    mode = _gap(multi, "not_ruled_out", CREDAL).loc["credal mode"]
    return [
        f"Credal mode reproduces only roughly (mean difference {mode['mean']:.3f}). Its first printed value, {value:.3f}, is within "
        f"two standard errors of what one question can give that way: {len(near)} of the {len(left)} kinds of questions do, nearest "
        f"{_nearest(left, value)}. But on plateaus the choice is an accident of order and rounding that we do not know.",
        f"Before the first question nothing is ruled out, which would be 1 on this measure; printed is {points['credal entropy'][0]:g} "
        "for all methods.",
        "That this is what was plotted is our inference from the curve; the raw results of figure 3 are not at hand, so that digits "
        "cannot be compared and the Bayesian inference behind the printed curves cannot be checked.",
        f"The random curve falls by up to {_fall(points['random']):.3f} from one question to the next, ours by "
        f"{_fall(multi.own['random'].mean('accuracy')):.3f}: it may be one order of questions for all students rather than one for "
        "each.",
    ]


def _fall(curve: Array) -> float:
    return float(np.max(-np.diff(curve), initial=0.0))


def readings(multi: Repeated) -> pd.DataFrame:
    """The differences between the printed credal entropy curve and several measures of our own runs, a row a measure."""
    run = multi.own["credal entropy"]
    single = np.stack([METRICS["single_accuracy"](low[:, 1:], high[:, 1:], run.levels[:, k]) for k, (low, high) in enumerate(run.bounds)])
    measures = {
        "accuracy of the midpoint": run.mean("accuracy"),
        "accuracy where determinate": np.concatenate([[0.0], np.nanmean(single, axis=(0, 1))]),
        "mean upper P(true level)": 1 - run.mean("not_upper"),
        "true level not ruled out": run.mean("not_ruled_out"),
    }
    rows = {name: gaps(FIGURE, {"credal entropy": curve}).iloc[0] for name, curve in measures.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return frame.assign(**{"at question": [str(int(value)) for value in frame["at question"]]}).rename_axis(
        "printed credal entropy against"
    )


def _nearest(left: dict[str, float], value: float) -> str:
    name = min(left, key=lambda one: abs(left[one] - value))
    return f"{name} with {left[name]:.3f}"


def _honest(multi: Repeated) -> pd.DataFrame:
    rows = {}
    for name, run in multi.own.items():
        row: dict[str, float | str] = {"length": f"{run.lengths.mean():.1f}"}
        for metric, title, steps in (("accuracy", "acc.", (4, 12, 30)), ("brier", "Brier", (4, 12))):
            row |= {f"{title} {step}": float(run.mean(metric)[step]) for step in steps}
        rows[name] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def _curves(multi: Repeated) -> pd.DataFrame:
    columns = {}
    for name, run in multi.own.items():
        if name in PRINTED:
            columns[f"{name}, printed"] = published(FIGURE)[name].to_numpy()
        for metric in ("accuracy", "not_ruled_out") if name in CREDAL else ("accuracy",):
            columns[f"{name}, {metric.replace('_', ' ')}"] = run.mean(metric)
            columns[f"{name}, {metric.replace('_', ' ')}, error"] = run.error(metric)
    return pd.DataFrame(columns).rename_axis("questions")
