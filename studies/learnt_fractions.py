"""Real people, learnt numbers: do eight skills foretell more than one, and does an adaptive order foretell sooner than a random one?

536 pupils answered 20 problems of fraction subtraction (Tatsuoka 1984). Banks are made from the published Q-matrix alone and learnt from
the answers: one skill of several levels; the eight skills, each problem needing `all` of its skills (one slip and one guess a problem) or
`each` helping; the skills independent, hanging on a common readiness, or in the tree that the answers tell. First, all are tried on people
held out in ten parts. Then, in each of 20 splits, banks are learnt from half of the people; the other half is asked 15 problems one by
one, in an adaptive or a random order, and 5 further problems, drawn anew for each split, are foretold. In the first split some people are
also asked by a credal bank, with the intervals of the imprecise Dirichlet model, made from the alternative Q-matrix of five skills for 15
of the problems: with eight skills one person takes minutes.

    python studies/learnt_fractions.py [FOLDER OF THE DATA]

The data are not part of this repository; without them the script says so.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.compare import Maker, compare
from quaestor.learn.graphs import learnt_tree
from quaestor.learn.intervals import imprecise
from quaestor.learn.skeleton import one_skill, read_matrix, skeleton

DATA = Path(__file__).parents[2] / "shared" / "data" / "fraction_subtraction"
RESULTS = Path(__file__).with_name("learnt-fractions")
FOLDS, SPLITS, HELD = 10, 20, 5
SHARES = (0.25, 0.5, 0.75)
CREDAL = {"qmatrix_15items_5skills.csv": 60}  # people by Q-matrix
STRENGTH = 2.0
KINDS = ("precise", f"credal, s = {STRENGTH:g}")
RULES = {
    "entropy": qs.Rules(score="entropy"),
    "entropy, all skills": qs.Rules(score="entropy", target="all"),
    "random": qs.Rules(score="random"),
}
TIED = {"tied": True}
Losses = dict[str, dict[str, list[float]]]  # by bank and rules, at each share of the length


def readiness(bank: qs.Bank) -> qs.Bank:
    """All skills hang on one more, of two levels, that no problem asks for."""
    document = bank.document
    hanging = {name: {**fields, "parents": ["readiness"], "strength": 0.6} for name, fields in document["skills"].items()}
    document["skills"] = {"readiness": {}, **hanging}
    return qs.Bank(document)


def models(matrix: pd.DataFrame, responses: pd.DataFrame, folds: int = FOLDS) -> pd.DataFrame:
    """Every bank on held-out people."""
    needed, helping = skeleton(matrix, needs="all"), skeleton(matrix, needs="each")
    candidates = {
        "all, independent": needed,
        "all, readiness": readiness(needed),
        "all, tree": Maker(lambda people: learnt_tree(needed, people, **TIED)),
        "each, readiness": readiness(helping),
        "each, tree": Maker(lambda people: learnt_tree(helping, people)),
    }
    options = {name: TIED for name in candidates if name.startswith("all")}
    rng = np.random.default_rng(1)
    return compare(candidates, responses, rng, folds, baselines=(2, 3, 4, 5, 6, 7), options=options).table()


def steps(asked: int) -> list[int]:
    """The numbers of questions at the shares of the length."""
    return [round(share * asked) for share in SHARES]


def split(matrix: pd.DataFrame, responses: pd.DataFrame, number: int) -> tuple[Losses, tuple[qs.Fit, pd.DataFrame, list[str]]]:
    """One split: log loss of the held-out problems by bank and rules at the steps; and what the credal bank needs to go on."""
    rng = np.random.default_rng([2, number])
    order = rng.permutation(len(responses))
    learning, asked = (responses.iloc[part] for part in np.array_split(order, 2))
    held = sorted(rng.choice(list(responses.columns), HELD, replace=False).tolist())
    needed = skeleton(matrix, needs="all")
    fits = {
        "all, tree": qs.learn(learnt_tree(needed, learning, **TIED), learning, **TIED),
        "one skill, 5 levels": qs.learn(one_skill(needed, 5), learning),
    }
    at = steps(len(responses.columns) - HELD)
    found: Losses = {}
    for name, fit in fits.items():
        for rules_name, rules in RULES.items():
            if len(fit.bank.skills) == 1 and rules_name == "entropy, all skills":
                continue
            run = qs.simulate(fit.bank, rules, responses=asked, holdout=held, seed=number)
            found.setdefault(name, {})[rules_name] = run.held_out_log_loss[at].tolist()
    return found, (fits["all, tree"], asked, held)


def orders(matrix: pd.DataFrame, responses: pd.DataFrame, splits: int = SPLITS) -> pd.DataFrame:
    """Means and standard errors over splits of the log loss, and of its paired difference to the random order."""
    losses: dict[tuple[str, str], list[list[float]]] = {}
    for number in range(splits):
        found, _ = split(matrix, responses, number)
        for bank, by_rules in found.items():
            for rules, values in by_rules.items():
                losses.setdefault((bank, rules), []).append(values)
    rows = []
    for (bank, rules), values in losses.items():
        own, base = np.array(values), np.array(losses[bank, "random"])
        row: dict[str, object] = {"bank": bank, "order": rules}
        for place, share in enumerate(SHARES):
            row |= {f"{share:.0%}": own[:, place].mean(), f"{share:.0%}, error": _error(own[:, place])}
            gain = base[:, place] - own[:, place]
            row |= {f"{share:.0%}, below random": gain.mean(), f"{share:.0%}, its error": _error(gain)}
        rows.append(row)
    return pd.DataFrame(rows).set_index("bank")


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def credal(matrix: pd.DataFrame, responses: pd.DataFrame, people: int, workers: int = 1, kinds: tuple[str, ...] = KINDS) -> pd.DataFrame:
    """Some people of the first split asked by the credal bank and by the precise one: log loss of the centres, own-skill targets."""
    responses = responses[list(matrix.index)]
    _, (fit, asked, held) = split(matrix, responses, 0)
    at = steps(len(responses.columns) - HELD)
    rows = []
    banks = dict(zip(KINDS, (fit.bank, imprecise(fit, STRENGTH)), strict=True))
    for kind in kinds:
        for order in ("entropy", "random"):
            rules = qs.Rules(score=order, stop=qs.max_questions(at[-1]))
            run = qs.simulate(banks[kind], rules, responses=asked.iloc[:people], holdout=held, seed=0, workers=workers)
            losses = run.by_student["held_out_log_loss"][:, at]
            row: dict[str, object] = {"skills": len(matrix.columns), "people": people, "bank": kind, "order": order}
            for place, share in enumerate(SHARES):
                row |= {f"{share:.0%}": losses[:, place].mean(), f"{share:.0%}, error": _error(losses[:, place])}
            rows.append(row)
    return pd.DataFrame(rows).set_index("skills")


def main(folder: Path, results: Path) -> int:
    """Run the study and write its tables."""
    if not (folder / "responses.csv").is_file():
        sys.stderr.write(f"The answers are not part of this repository: {folder.name}/responses.csv was not found.\n")
        return 1
    matrix, responses = read_matrix(folder / "qmatrix.csv"), pd.read_csv(folder / "responses.csv")
    results.mkdir(parents=True, exist_ok=True)
    _keep(models(matrix, responses), results / "models.csv")
    _keep(orders(matrix, responses), results / "orders.csv")
    parts = [credal(read_matrix(folder / name), responses, people) for name, people in CREDAL.items()]
    _keep(pd.concat(parts), results / "credal.csv")
    return 0


def _keep(frame: pd.DataFrame, path: Path) -> None:
    save(frame.to_csv(lineterminator="\n", float_format="%.4f").encode(), path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA, RESULTS))
