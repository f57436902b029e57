"""Good without choosing: what is chosen on held-out people beside the former default and a two-parameter model, on people nobody has seen.

    python studies/defaults.py [chosen|small|orders] [FOLDER OF THE DATA]

`chosen`: banks are chosen and learnt from some people and predict the answers of all others, for real answers and for answers drawn from
five kinds of truth. `small`: curves of five levels beside a two-parameter model, for classes of 20 to 200. `orders`: held-out people are
asked by the rules' default (mode, then entropy), by entropy and at random. Log loss an answer. Without an argument all three. The real
answers are not part of this repository; without them only drawn ones are used.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.choice import choose
from quaestor.learn.compare import log_likelihoods_by_person
from quaestor.learn.graphs import every_link
from quaestor.learn.points import questions_of
from quaestor.learn.skeleton import one_skill, read_matrix, skeleton

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles import two_parameter as peer

DATA = Path(__file__).parents[2] / "shared" / "data"
RESULTS = Path(__file__).with_name("defaults")
REAL = {
    "fractions, 5 skills": ("fraction_subtraction", "qmatrix_15items_5skills.csv"),
    "German, 4 skills": ("german_placement", "qmatrix.csv"),
}
PEOPLE, OTHERS = (60,), 500
SMALL = (20, 50, 100, 200)
QUESTIONS = 24
SPLITS, HELD, ASKED = 10, 5, 10
Drawn = Callable[[int, np.random.Generator], tuple[pd.DataFrame, pd.DataFrame]]


def _frames(right: np.ndarray, needed: np.ndarray, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    names = [f"Q{number + 1}" for number in range(right.shape[1])]
    answers = pd.DataFrame((rng.random(right.shape) < right).astype(int), columns=names)
    return answers, pd.DataFrame(needed, index=names, columns=[f"s{number + 1}" for number in range(needed.shape[1])])


def _own(skills: int) -> np.ndarray:
    return np.eye(skills, dtype=int)[np.arange(QUESTIONS) % skills]


def two_parameter(people: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One ability, normal; slopes and places of questions vary."""
    slopes, places, theta = rng.lognormal(0, 0.3, QUESTIONS), rng.normal(0, 1, QUESTIONS), rng.normal(size=(people, 1))
    return _frames(1 / (1 + np.exp(-slopes * (theta - places))), _own(2), rng)


def independent_skills(people: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three independent skills of two levels: what the former default supposes."""
    return _levels(rng.integers(0, 2, (people, 3)), 2, rng)


def tree_of_skills(people: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three skills of three levels, each built on the one before."""
    levels = np.empty((people, 3), int)
    levels[:, 0] = rng.integers(0, 3, people)
    for skill in (1, 2):
        same = rng.random(people) < 0.6
        levels[:, skill] = np.where(same, levels[:, skill - 1], rng.integers(0, 3, people))
    return _levels(levels, 3, rng)


def common_factor(people: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Four abilities on a common factor, all normal."""
    theta = np.sqrt(0.6) * rng.normal(size=(people, 1)) + np.sqrt(0.4) * rng.normal(size=(people, 4))
    slopes, places = rng.lognormal(0.2, 0.3, QUESTIONS), rng.normal(0, 1, QUESTIONS)
    return _frames(1 / (1 + np.exp(-slopes * (theta[:, np.arange(QUESTIONS) % 4] - places))), _own(4), rng)


def all_needed(people: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three skills of two levels; a question needs all of its one to three skills."""
    needed = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]])[np.arange(QUESTIONS) % 6]
    able = (0.5 * rng.normal(size=(people, 1)) + rng.normal(size=(people, 3)) > -0.3).astype(int)
    reached = (able[:, None, :] >= needed).all(axis=2)
    slips, guesses = rng.uniform(0.05, 0.2, QUESTIONS), rng.uniform(0.1, 0.3, QUESTIONS)
    return _frames(np.where(reached, 1 - slips, guesses), needed, rng)


def _levels(levels: np.ndarray, count: int, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    steps = np.cumsum(rng.dirichlet(np.ones(count + 1), QUESTIONS) * (1 - 0.1 * (count + 1)) + 0.1, axis=1)[:, :count]
    skills = levels.shape[1]
    right = np.stack([steps[number][levels[:, number % skills]] for number in range(QUESTIONS)], axis=1)
    return _frames(right, _own(skills), rng)


TRUTHS: dict[str, Drawn] = {
    "drawn: two-parameter model": two_parameter,
    "drawn: independent skills": independent_skills,
    "drawn: tree of skills": tree_of_skills,
    "drawn: common factor": common_factor,
    "drawn: all skills needed": all_needed,
}


def sources(folder: Path) -> Iterator[tuple[str, int, pd.DataFrame, pd.DataFrame, pd.DataFrame]]:
    """Name, people, answers to learn from, answers of others, Q-matrix."""
    for people in PEOPLE:
        for number, (name, draw) in enumerate(TRUTHS.items()):
            answers, matrix = draw(people + OTHERS, np.random.default_rng([people, number]))
            yield name, people, answers.iloc[:people], answers.iloc[people:], matrix
        for name, (data, file) in REAL.items():
            if (folder / data).is_dir():
                matrix = read_matrix(folder / data / file)
                answers = pd.read_csv(folder / data / "responses.csv")[list(matrix.index)]
                order = np.random.default_rng(people).permutation(len(answers))
                yield name, people, answers.iloc[order[:people]], answers.iloc[order[people:]], matrix


def chosen(folder: Path) -> pd.DataFrame:
    """A row a kind of answers and number of people: log losses of people nobody has seen, and paired differences with errors over them."""
    rows = []
    for name, people, learning, others, matrix in sources(folder):
        count = others.shape[1]
        choice = choose(matrix, learning)
        former = qs.learn(skeleton(matrix), learning).bank
        losses = {
            "former default": -log_likelihoods_by_person(former, others) / count,
            "chosen": -log_likelihoods_by_person(choice.learn(learning).bank, others) / count,
            "two parameters": -peer.log_likelihoods(peer.fitted(learning.to_numpy(float)), others.to_numpy(float)) / count,
        }
        row: dict[str, object] = {"answers": name, "people": people, **{kind: own.mean() for kind, own in losses.items()}}
        for other in ("former default", "two parameters"):
            apart = losses["chosen"] - losses[other]
            row |= {f"chosen - {other}": apart.mean(), f"error, {other}": apart.std(ddof=1) / np.sqrt(len(apart))}
        rows.append({**row, "taken": choice.taken.name})
        sys.stderr.write(f"{rows[-1]}\n")
    return pd.DataFrame(rows).set_index("answers")


def small(folder: Path) -> pd.DataFrame:
    """A row a kind of answers and a number of people: curves of five levels minus the two-parameter model."""
    rows = []
    kinds = {name: folder / data / "responses.csv" for name, (data, _) in REAL.items() if (folder / data).is_dir()}
    for name in (*kinds, "drawn: two-parameter model"):
        for people in SMALL:
            apart = []
            for repeat in range(4):
                rng = np.random.default_rng([people, repeat])
                answers = pd.read_csv(kinds[name]) if name in kinds else two_parameter(people + 400, rng)[0]
                answers = answers.iloc[rng.permutation(len(answers))]
                learning, others = answers.iloc[:people], answers.iloc[people:]
                fit = qs.learn(one_skill(questions_of(learning), 5), learning, shape="curves")
                theirs = peer.log_likelihoods(peer.fitted(learning.to_numpy(float)), others.to_numpy(float))
                apart.append((theirs - log_likelihoods_by_person(fit.bank, others)).mean() / others.shape[1])
            rows.append({"answers": name, "people": people, "difference": np.mean(apart), "error": np.std(apart, ddof=1) / 2})
    return pd.DataFrame(rows).set_index("answers")


def orders(folder: Path) -> pd.DataFrame:
    """A row a bank, order and number of questions asked: log loss of questions not asked, and its paired difference to the default."""
    rules = {"mode, then entropy": qs.Rules(), "entropy": qs.Rules(score="entropy"), "random": qs.Rules(score="random")}
    rows = []
    for name, (data, file) in REAL.items():
        if not (folder / data).is_dir():
            continue
        matrix = read_matrix(folder / data / file)
        answers = pd.read_csv(folder / data / "responses.csv")[list(matrix.index)]
        banks = {"one skill, 5 levels": one_skill(skeleton(matrix), 5), "the skills, 2 levels, all links": every_link(skeleton(matrix))}
        losses: dict[tuple[str, str], list[np.ndarray]] = {}
        for split in range(SPLITS):
            rng = np.random.default_rng([split, 5])
            order = rng.permutation(len(answers))
            learning, asked = answers.iloc[order[: len(order) // 2]], answers.iloc[order[len(order) // 2 :]]
            held = sorted(rng.choice(list(answers.columns), HELD, replace=False).tolist())
            for bank_name, start in banks.items():
                learnt = qs.learn(start, learning).bank
                for rule, own in rules.items():
                    run = qs.simulate(learnt, own, responses=asked, holdout=held, seed=split)
                    losses.setdefault((bank_name, rule), []).append(run.held_out_log_loss)
        for (bank_name, rule), values in losses.items():
            for step in (3, 5, ASKED):
                own = np.array([value[step] for value in values])
                base = np.array([value[step] for value in losses[bank_name, "mode, then entropy"]])
                apart = own - base
                error = apart.std(ddof=1) / np.sqrt(len(apart))
                found = {"log loss": own.mean(), "more": apart.mean(), "error": error}
                rows.append({"answers": name, "bank": bank_name, "order": rule, "asked": step, **found})
    return pd.DataFrame(rows).set_index("answers")


def main(what: list[str], folder: Path, results: Path) -> int:
    """Run the parts and write their tables."""
    results.mkdir(parents=True, exist_ok=True)
    for name in what:
        frame = {"chosen": chosen, "small": small, "orders": orders}[name](folder)
        save(frame.to_csv(lineterminator="\n", float_format="%.5f").encode(), results / f"{name}.csv")
    return 0


if __name__ == "__main__":
    parts = ["chosen", "small", "orders"]
    given = [word for word in sys.argv[1:] if word in parts]
    others = [word for word in sys.argv[1:] if word not in parts]
    sys.exit(main(given or parts, Path(others[0]) if others else DATA, RESULTS))
