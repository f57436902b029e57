"""An audit of the authors' raw results: with which tables, scores and stop rules the first study was run."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.credal.decisions import TIED
from quaestor.credal.indices import INDICES
from quaestor.formats.files import load
from quaestor.inference.evidence import OPEN, Evidence, distinct_rows
from quaestor.model.table import Array
from quaestor.selection.rules import Rules
from quaestor.selection.step import step
from quaestor.simulate.paper.methods import WIDTH
from quaestor.simulate.paper.raw import Raw
from quaestor.simulate.paper.runs import Run

STOP = 0.1  # upper entropy
TEMPLATES = 9
WAYS = {
    "credal entropy": (("entropy", "upper"), ("entropy", "lower")),
    "credal mode": (("mode", "lower"), ("mode", "upper")),
    "Bayesian entropy": (("entropy", "upper"),),
    "Bayesian mode": (("mode", "upper"),),
}


def shares_right(raw: Raw) -> pd.DataFrame:
    """For each template and level the share of right answers, P(right) in the tables as written and as run, and z, the difference in
    standard errors.
    """
    rows = {}
    for template in range(TEMPLATES):
        row: dict[str, float] = {}
        for level in (0, 1):
            given = raw.answers[raw.levels == level][:, [template, template + TEMPLATES]]
            row[f"right at {level}"] = share = float(given.mean())
            for name in ("single-skill", "single-skill-as-run"):
                p = float(list(load(name).questions.values())[template].table.lower[level, 1])
                words = "as run" if name.endswith("run") else "as written"
                row[f"{words}, {level}"], row[f"z {words}, {level}"] = p, (share - p) / np.sqrt(p * (1 - p) / given.size)
        rows[f"T{template + 1}"] = row
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("template")


@dataclass(frozen=True)
class Choices:
    """All choices of a run: the distinct answer sets, `states` (states, questions), and the `state` and the question `chosen` of each."""

    states: NDArray[np.int16]
    state: NDArray[np.intp]
    chosen: NDArray[np.int32]


def choices(run: Run) -> Choices:
    """The choices of all students at all steps; equal answer sets are merged."""
    now = np.full((len(run.levels), run.asked.shape[1]), OPEN, dtype=np.int16)
    sets, chosen = [], []
    for number in range(run.asked.shape[1]):
        on = np.flatnonzero(run.asked[:, number] >= 0)
        sets.append(now[on])
        chosen.append(run.asked[on, number])
        now[on, run.asked[on, number]] = run.answers[on, number]
    together = np.concatenate(sets)
    first, state = distinct_rows(together)
    return Choices(together[first], state, np.concatenate(chosen))


def gains(bank: Bank, states: NDArray[np.int16], score: str, bound: str) -> Array:
    """The gains of all questions after these answer sets, (states, questions); -inf for answered questions."""
    found = step(Rules(score=score, bound=bound, then=None), Evidence.of_rows(bank, states))
    return np.where(found.open, found.gains, -np.inf)


def agreement(raw: Raw) -> pd.DataFrame:
    """How often the raw choices agree with a score, a row for each method and score.

    `best`: the share of choices with the largest gain, ties included; `by chance`: that share for a random open question; `first`: the
    share of choices that are the first of the tied ones. `decisive`: the share of choices where all tied questions have the same table;
    `best there`: the share of best ones among these.
    """
    precise = load("single-skill-as-run")
    credal = precise.widen(WIDTH)
    rows = {}
    for method, ways in WAYS.items():
        made = choices(raw.runs[method])
        for score, bound in ways:
            bank = credal if method.startswith("credal") else precise
            found = gains(bank, made.states, score, bound)
            tied = found >= found.max(axis=1, keepdims=True) - TIED
            best = tied[made.state, made.chosen]
            decisive = (tied[:, :TEMPLATES] | tied[:, TEMPLATES:]).sum(axis=1)[made.state] == 1
            rows[f"{method}: {bound + ' ' if bank is credal else ''}{score}"] = {
                "best": float(best.mean()),
                "by chance": float((tied.sum(axis=1) / np.isfinite(found).sum(axis=1))[made.state].mean()),
                "first": float((tied.argmax(axis=1)[made.state] == made.chosen).mean()),
                "decisive": float(decisive.mean()),
                "best there": float(best[decisive].mean()),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("raw choices against a score")


def ends(raw: Raw) -> pd.DataFrame:
    """How the credal runs ended: at the upper entropy of the stop rule, with no question left, or before either."""
    rows = {}
    for method in ("credal entropy", "credal mode"):
        run = raw.runs[method]
        (low, high), length = run.bounds[0], run.lengths
        uncertain = INDICES["entropy"].upper(low.reshape(-1, 2), high.reshape(-1, 2)).reshape(low.shape[:2])
        last = uncertain[np.arange(len(length)), length]
        asked_on = sum(int((uncertain[length > step, step] < STOP).sum()) for step in range(run.asked.shape[1]))
        whole = run.asked.shape[1]
        early, right = (last >= STOP) & (length < whole), run.values("accuracy")[:, -1]
        rows[method] = {
            "mean length": float(length.mean()),
            "below 0.1": float((last < STOP).mean()),
            "no question left": float(((last >= STOP) & (length == whole)).mean()),
            "ended early": float(early.mean()),
            "accuracy of those": float(right[early].mean()),
            "of the others": float(right[~early].mean()),
            "went on below 0.1": str(asked_on),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def random_order(raw: Raw) -> tuple[int, int, int]:
    """In the raw "random" runs the numbers of different orders, of different first questions, and of different last ones."""
    asked = raw.runs["random"].asked
    return len(np.unique(asked, axis=0)), len(np.unique(asked[:, 0])), len(np.unique(asked[:, -1]))


def first_question(raw: Raw) -> tuple[int, dict[str, bool]]:
    """The number of the question that credal mode asks first, and whether it maximises lower M and upper M."""
    first = int(raw.runs["credal mode"].asked[0, 0])
    credal = load("single-skill-as-run").widen(WIDTH)
    nothing = np.full((1, len(credal.questions)), OPEN, dtype=np.int16)
    found = {bound: gains(credal, nothing, "mode", bound)[0] for bound in ("lower", "upper")}
    return first + 1, {bound: bool(gain[first] >= gain.max() - TIED) for bound, gain in found.items()}
