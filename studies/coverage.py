"""How often learnt intervals hold: predictions for new people, from five kinds of drawn people and two sets of real ones.

People are drawn from a truth that is known: a bank of the kind that is learnt (one skill of two levels, one of five, a chain of three
skills of three), a common factor behind four skills that are learnt as independent, a continuous ability (2PL) that is learnt as one skill
of three levels, or real people, drawn with replacement from all of them, who are then the population. A bank is learnt from 100, 400 and
1,600 of them with `intervals`. What is predicted:

- share: the share of right answers to each question in the population;
- after: that share among those who answered another question right (or wrong, in turn);
- class: the share of right answers in a class of 50 new people;
- skills: the share of people at each level; rows: P(right | level); both only where the learnt bank is of the kind of the truth.

`bank`: what the learnt credal bank says; `predict`: what `predict` says; beside them the imprecise Dirichlet model and the bootstrap of
every number by itself. Inside: the share of predictions whose interval holds the truth, with its standard error over repeats. Rank: the
rank correlation of width and error over all predictions of a cell, and over those of all numbers of people together.

    python studies/coverage.py
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

import quaestor as qs
from quaestor.formats.files import save
from quaestor.inference.chooser import Chooser
from quaestor.inference.evidence import OPEN, Evidence
from quaestor.inference.layout import layout_of
from quaestor.learn.calibration import calibrated, central, quantiles
from quaestor.learn.expect import beliefs
from quaestor.learn.fit import Fit
from quaestor.learn.graphs import chain
from quaestor.learn.intervals import bootstrap, imprecise
from quaestor.learn.layout import Tables, answered
from quaestor.learn.people import Patterns
from quaestor.learn.predictions import misfitting, predict
from quaestor.learn.shares import share_bounds
from quaestor.learn.skeleton import skeleton
from quaestor.report.figures import Line, curves, svg

RESULTS = Path(__file__).with_name("coverage")
DATA = Path(__file__).parents[1].parent / "shared" / "data"
PEOPLE = (100, 400, 1600)
LEVELS = (0.5, 0.9)
REPEATS = {"chain of 3 skills": 40, "common factor": 40, "fraction subtraction": 150, "German placement": 40}  # 60 of all others
BOOTSTRAPPED, SAMPLES = 5, 40
ANSWERED = 20  # repeats in which a bank of several skills predicts after an answer, which takes long
POPULATION, CLASS = 200_000, 50
ROUNDING = 1e-9
Ends = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Truth:
    """People to draw answers of, (people, questions): `start` is the bank to learn; `skills` and `rows` are true numbers of its kind."""

    start: qs.Bank
    draw: Callable[[int, np.random.Generator], np.ndarray]
    population: np.ndarray
    skills: np.ndarray | None = None
    rows: np.ndarray | None = None


def _matrix(questions: int, skills: int) -> pd.DataFrame:
    cells = np.arange(questions)[:, None] % skills == np.arange(skills)
    return pd.DataFrame(cells.astype(int), index=[f"Q{n + 1}" for n in range(questions)], columns=[f"s{n + 1}" for n in range(skills)])


def _right(rng: np.random.Generator, questions: int, levels: int) -> np.ndarray:
    """P(right | level), (questions, levels): it rises by at least 0.05 from level to level."""
    steps = rng.dirichlet(np.ones(levels + 1), questions) * (1 - 0.05 * (levels + 1)) + 0.05
    return np.cumsum(steps, axis=1)[:, :levels]


def _made(start: qs.Bank, draw: Callable[[int, np.random.Generator], np.ndarray], rng: np.random.Generator, **known: np.ndarray) -> Truth:
    return Truth(start, draw, draw(POPULATION, rng), **known)


def one_skill(rng: np.random.Generator, levels: int, questions: int = 20) -> Truth:
    """One skill."""
    right, prior = _right(rng, questions, levels), rng.dirichlet(np.full(levels, 8.0))

    def draw(people: int, luck: np.random.Generator) -> np.ndarray:
        level = luck.choice(levels, people, p=prior)
        return (luck.random((people, questions)) < right[:, level].T).astype(np.int8)

    return _made(skeleton(_matrix(questions, 1), levels), draw, rng, skills=prior, rows=right)


def three_skills(rng: np.random.Generator, levels: int = 3, questions: int = 24) -> Truth:
    """A chain of skills."""
    right, first = _right(rng, questions, levels), rng.dirichlet(np.full(levels, 8.0))
    near = 1 + 4 * np.exp(-np.abs(np.subtract.outer(np.arange(levels), np.arange(levels))))
    tables = [np.stack([rng.dirichlet(row) for row in near]) for _ in range(2)]

    def draw(people: int, luck: np.random.Generator) -> np.ndarray:
        found = [luck.choice(levels, people, p=first)]
        for table in tables:
            found.append((np.cumsum(table[found[-1]], axis=1)[:, :-1] <= luck.random((people, 1))).sum(axis=1))
        chances = np.stack([right[n][found[n % 3]] for n in range(questions)], axis=1)
        return (luck.random(chances.shape) < chances).astype(np.int8)

    shares = np.concatenate([first, first @ tables[0], first @ tables[0] @ tables[1]])
    return _made(chain(skeleton(_matrix(questions, 3), levels)), draw, rng, skills=shares, rows=right)


def common_factor(rng: np.random.Generator, questions: int = 24) -> Truth:
    """Four skills of two levels that share a normal factor; learnt as independent."""
    load, cut, right = rng.uniform(0.5, 0.9, 4), rng.normal(0, 0.4, 4), _right(rng, questions, 2)

    def draw(people: int, luck: np.random.Generator) -> np.ndarray:
        factor, own = luck.normal(size=(people, 1)), luck.normal(size=(people, 4))
        level = (load * factor + np.sqrt(1 - load**2) * own > cut).astype(int)
        chances = np.stack([right[n][level[:, n % 4]] for n in range(questions)], axis=1)
        return (luck.random(chances.shape) < chances).astype(np.int8)

    return _made(skeleton(_matrix(questions, 4), 2), draw, rng)


def continuous(rng: np.random.Generator, questions: int = 20) -> Truth:
    """A 2PL with a normal ability; learnt as one skill of three levels."""
    slope, place = rng.lognormal(0.3, 0.3, questions), rng.normal(0, 1, questions)

    def draw(people: int, luck: np.random.Generator) -> np.ndarray:
        chances = 1 / (1 + np.exp(-slope * (luck.normal(size=(people, 1)) - place)))
        return (luck.random(chances.shape) < chances).astype(np.int8)

    return _made(skeleton(_matrix(questions, 1), 3), draw, rng)


def real(folder: str, levels: int, alone: bool) -> Truth:
    """Real people, drawn with replacement. `alone`: learnt as one skill; else by the Q-matrix, its skills in a chain."""
    matrix = pd.read_csv(DATA / folder / "qmatrix.csv", index_col=0)
    people = pd.read_csv(DATA / folder / "responses.csv")[list(matrix.index)].to_numpy().astype(np.int8)
    start = skeleton(pd.DataFrame(1, index=matrix.index, columns=["all"]), levels) if alone else chain(skeleton(matrix, levels))
    return Truth(start, lambda number, luck: people[luck.integers(len(people), size=number)], people)


TRUTHS: dict[str, Callable[[np.random.Generator], Truth]] = {
    "one skill, 2 levels": lambda rng: one_skill(rng, 2),
    "one skill, 5 levels": lambda rng: one_skill(rng, 5),
    "chain of 3 skills": three_skills,
    "common factor": common_factor,
    "continuous ability": continuous,
}
REAL_TRUTHS: dict[str, Callable[[np.random.Generator], Truth]] = {
    "fraction subtraction": lambda rng: real("fraction_subtraction", 5, True),
    "German placement": lambda rng: real("german_placement", 3, False),
}


def _rights(fit: Fit, groups: tuple[np.ndarray, ...]) -> np.ndarray:
    """What groups say of the class right, in the order of the bank, (questions, ...)."""
    positions = np.concatenate([group.positions for group in fit.layout.groups])
    return np.concatenate([group[..., 1] for group in groups])[np.argsort(positions)]


def _skills(fit: Fit, tables: tuple[np.ndarray, ...]) -> np.ndarray:
    return np.concatenate([tables[fit.layout.names.index(name)] for name in fit.given.skills])


def by_bank(fit: Fit, low: Tables, high: Tables) -> dict[str, Ends]:
    """What a credal bank with these tables predicts."""
    bounds = share_bounds(fit.layout, low, high)
    share = tuple(_rights(fit, one.groups) for one in bounds)
    skills = tuple(_skills(fit, one.skills) for one in bounds)
    return {"share": share, "skills": skills, "rows": (_rights(fit, low.groups), _rights(fit, high.groups))}


def ends(fit: Fit, bank: qs.Bank) -> tuple[Tables, Tables]:
    """The tables of a credal bank as arrays."""
    laid = layout_of(bank)
    found = []
    for end in ("lower", "upper"):
        skills = tuple(getattr(table, end).reshape(-1, table.shape[-1]) for table in laid.model.tables)
        groups = [getattr(batch, {"lower": "low", "upper": "high"}[end]) for batch in laid.batches]
        tables = [group.reshape(*group.shape[:2], -1)[batch.row] for group, batch in zip(groups, laid.batches, strict=True)]
        found.append(Tables(skills, tuple(np.swapaxes(table, 1, 2) for table in tables)))
    return found[0], found[1]


def after(fit: Fit, given: np.ndarray) -> np.ndarray:
    """By every plausible table, P(right) of every question given the answers in its own row of `given`, (draws, questions)."""
    patterns = Patterns(tuple(given[:, group.positions] for group in fit.layout.groups))
    found = []
    rng = np.random.default_rng(0)
    for tables in fit.draws:
        at = beliefs(fit.layout, tables, patterns)[1]
        ours = zip(fit.layout.groups, tables.groups, strict=True)
        shares = [np.einsum("pc,pcx->px", at[group.positions, group.block], table) for group, table in ours]
        found.append(_rights(fit, tuple(misfitting(one[None], fit.unexplained, rng)[0] for one in shares)))
    return np.array(found)


def after_in_bank(fit: Fit, given: np.ndarray) -> Ends:
    """By the learnt credal bank: the same."""
    evidence = Evidence.of_rows(fit.bank, np.where(given < 0, OPEN, given).astype(np.int16))
    chooser = Chooser(evidence.model, len(given))
    low, high = np.empty(len(given)), np.empty(len(given))
    for batch in evidence.layout.batches:
        found = chooser.answers(batch)
        place = np.argmax(batch.index[:, None] == np.arange(len(given)), axis=0)[batch.index]
        low[batch.index], high[batch.index] = (end[batch.index, batch.row[place], 1] for end in found.ends)
    return low, high


def repeat(truth: Truth, people: int, rng: np.random.Generator, number: int) -> list[dict[str, object]]:
    """A row a method and kind of prediction: which are inside, their widths and errors; `number`: that of the repeat."""
    names = list(truth.start.questions)
    fit = qs.learn(truth.start, pd.DataFrame(truth.draw(people, rng), columns=names), intervals=0.9)
    others = (np.arange(len(names)) + rng.integers(1, len(names), len(names))) % len(names)
    said = np.arange(len(names)) % 2
    given = np.full((len(names), len(names)), -1, np.int16)
    given[np.arange(len(names)), others] = said
    chosen = [truth.population[truth.population[:, other] == answer, n] for n, (other, answer) in enumerate(zip(others, said, strict=True))]
    known = {"share": truth.population.mean(axis=0), "after": np.array([one.mean() for one in chosen])}
    known["class"] = truth.draw(CLASS, rng).mean(axis=0)
    if truth.rows is not None:
        known |= {"skills": truth.skills, "rows": truth.rows}
    made: dict[tuple[str, float], dict[str, Ends]] = {}
    answered_one = after(fit, given)
    for level in LEVELS:
        at = replace(fit, level=level)
        made["bank", level] = by_bank(fit, *calibrated(fit.layout, fit.tables, fit.draws, level, answered(fit.expected.counts)))
        whole, some = predict(at), predict(at, people=CLASS)
        middle = quantiles(fit.draws, level)
        made["predict", level] = {
            "share": tuple(np.array([getattr(whole.questions[name], end)[1] for name in names]) for end in ("lower", "upper")),
            "class": tuple(np.array([getattr(some.questions[name], end)[1] for name in names]) for end in ("lower", "upper")),
            "skills": tuple(np.concatenate([getattr(one, end) for one in whole.skills.values()]) for end in ("lower", "upper")),
            "rows": (_rights(fit, middle[0].groups), _rights(fit, middle[1].groups)),
            "after": tuple(central(answered_one, level)),
        }
    if number < ANSWERED or len(fit.layout.names) == 1:
        made["bank", 0.9]["after"] = after_in_bank(fit, given)
    for strength in (2, 8):
        made[f"imprecise Dirichlet, s = {strength}", np.nan] = by_bank(fit, *ends(fit, imprecise(fit, strength)))
    if number < BOOTSTRAPPED:
        made["bootstrap", 0.9] = by_bank(fit, *ends(fit, bootstrap(fit, rng, SAMPLES, 0.9)))
    rows = []
    for (method, level), found in made.items():
        for kind, (low, high) in found.items():
            if kind in known:
                inside = (low - ROUNDING <= known[kind]) & (known[kind] <= high + ROUNDING)
                error = np.abs((low + high) / 2 - known[kind])
                rows.append({"method": method, "level": level, "prediction": kind, "inside": inside, "width": high - low, "error": error})
    return rows


def cells(name: str) -> pd.DataFrame:
    """The rows of one truth."""
    number = [*TRUTHS, *REAL_TRUTHS].index(name)
    found = []
    for people in PEOPLE:
        for one in range(REPEATS.get(name, 60)):
            rng = np.random.default_rng([number, people, one])
            drawn = repeat({**TRUTHS, **REAL_TRUTHS}[name](rng), people, rng, one)
            found += [{"people": people, "repeat": one, **row} for row in drawn]
    table = pd.DataFrame(found)
    kinds = ["method", "level", "prediction"]
    ranks = {key: _rank(part)[0] for key, part in table.groupby(kinds, sort=False, dropna=False)}
    rows = []
    for (people, *kind), part in table.groupby(["people", *kinds], sort=False, dropna=False):
        each = np.array([one.mean() for one in part["inside"]])
        rank, width = _rank(part)
        shown = {"truth": name, "people": people, **dict(zip(kinds, kind, strict=True)), "repeats": len(each), "inside": each.mean()}
        error = each.std(ddof=1) / np.sqrt(len(each)) if len(each) > 1 else np.nan
        rows.append({**shown, "standard error": error, "width": width, "rank": rank, "rank, all": _of(ranks, tuple(kind))})
    return pd.DataFrame(rows)


def _of(ranks: dict[tuple[object, ...], float], kind: tuple[object, ...]) -> float:
    return next(rank for key, rank in ranks.items() if [str(one) for one in key] == [str(one) for one in kind])


def _rank(part: pd.DataFrame) -> tuple[float, float]:
    """The rank correlation of width and error, and the mean width."""
    width, error = (np.concatenate([one.reshape(-1) for one in part[column]]) for column in ("width", "error"))
    return float(spearmanr(width, error).statistic), float(width.mean())


def figure(table: pd.DataFrame) -> str:
    """Shares of right answers: the share of predictions that hold, by number of people, a mean over the truths."""
    shown = table[(table["prediction"] == "share") & (table["level"] != min(LEVELS))]
    lines = []
    for number, ((method, level), part) in enumerate(shown.groupby(["method", "level"], sort=False, dropna=False)):
        name = method if np.isnan(level) else f"{method}, {level:g}"
        lines.append(Line(name, part.groupby("people")["inside"].mean().to_numpy(), None, number))
    drawn = curves(lines, "share of predictions that hold", x="people")
    drawn.axes[0].set_xticks(range(len(PEOPLE)), [f"{people:,}" for people in PEOPLE])
    return svg(drawn)


def main(results: Path) -> int:
    """Run all truths that are there and write the table and the figure."""
    results.mkdir(parents=True, exist_ok=True)
    names = list(TRUTHS)
    if DATA.is_dir():
        names += list(REAL_TRUTHS)
    else:
        sys.stderr.write(f"real people are left out: {DATA} is not there\n")
    table = pd.concat([cells(name) for name in names])
    save(table.to_csv(index=False, lineterminator="\n", float_format="%.4f").encode(), results / "coverage.csv")
    save(figure(table).encode(), results / "coverage.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main(RESULTS))
