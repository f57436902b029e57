"""Real people: how well does an adaptive test foretell the answers it has not asked for?

536 pupils answered 20 problems of fraction subtraction (Tatsuoka 1984). The bank is made here, from the published Q-matrix (which skills a
problem needs) and numbers that were stated before looking at any answer: a general readiness that all skills build on, one slip and one
guess for all problems. In each of four turns five problems are held out and foretold from the answers to the others, asked one by one.

    python studies/fraction_subtraction.py [FOLDER OF THE DATA]

The data are not part of this repository; without them the script says so.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.report import page
from quaestor.report.figures import Line, curves, save_figure, svg

DATA = Path(__file__).parents[2] / "shared" / "data" / "fraction_subtraction"
RESULTS = Path(__file__).with_suffix("").with_name("fraction-subtraction")
SLIP, GUESS = 0.1, 0.15
READY = [0.35, 0.9]  # P(a skill | not ready), P(a skill | ready)
TURNS = 4
METHODS = {
    "entropy": qs.Rules(score="entropy"),
    "mode": qs.Rules(score="mode"),
    "entropy, all skills": qs.Rules(score="entropy", target="all"),
    "random": qs.Rules(score="random"),
}


def read(folder: Path) -> tuple[qs.Bank, pd.DataFrame]:
    """The bank that the Q-matrix makes, and the answers."""
    matrix = pd.read_csv(folder / "qmatrix.csv", index_col="item")
    problems = pd.read_csv(folder / "items.csv", index_col="item")["problem"]
    skills: dict[str, object] = {"readiness": {"prior": [0.5, 0.5]}}
    for skill in matrix.columns:
        skills[skill] = {"parents": ["readiness"], "table": {"no": [1 - READY[0], READY[0]], "yes": [1 - READY[1], READY[1]]}}
    questions = {}
    for item, row in matrix.iterrows():
        needed = [skill for skill in matrix.columns if row[skill] == 1]
        stated = {"skills": needed, "needs": "all"} if len(needed) > 1 else {"skill": needed[0], "needs": "all"}
        questions[str(item)] = {"text": f"{problems[item]} = ?", "kind": "choice", "slip": SLIP, "guess": GUESS, **stated}
    return qs.Bank({"title": "Fraction subtraction", "skills": skills, "questions": questions}), pd.read_csv(folder / "responses.csv")


def foretell(bank: qs.Bank, responses: pd.DataFrame) -> dict[str, dict[str, np.ndarray]]:
    """For each method the held-out log loss and accuracy by person and number asked, the mean over the turns: (people, steps)."""
    found: dict[str, dict[str, np.ndarray]] = {}
    items = list(bank.questions)
    for name, rules in METHODS.items():
        turns = [qs.simulate(bank, rules, responses=responses, holdout=items[turn::TURNS], seed=turn) for turn in range(TURNS)]
        found[name] = {metric: np.mean([x.by_student[metric] for x in turns], axis=0) for metric in turns[0].by_student}
    return found


def base_rates(responses: pd.DataFrame) -> float:
    """The log loss of foretelling every problem by its share of right answers among all others: what knowing the class alone gives."""
    total, count = responses.sum(), len(responses)
    share = (total - responses) / (count - 1)
    return float(-np.log(np.where(responses == 1, share, 1 - share)).mean())


def summary(found: dict[str, dict[str, np.ndarray]]) -> pd.DataFrame:
    """A row a method: the means after some numbers of questions, with standard errors over people."""
    rows = {}
    for name, values in found.items():
        row = {}
        for metric, by_person in values.items():
            for step in (0, 1, 2, 3, 5, 10, 15):
                row[f"{metric.removeprefix('held_out_')}, {step} asked"] = float(by_person[:, step].mean())
            row[f"{metric.removeprefix('held_out_')}, error"] = float(by_person[:, 5].std(ddof=1) / np.sqrt(len(by_person)))
        rows[name] = row
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index.name = "method"
    return frame


def conclusions(found: dict[str, dict[str, np.ndarray]], rate: float) -> list[str]:
    """What the numbers say."""
    loss = {name: values["held_out_log_loss"] for name, values in found.items()}
    said = []
    for name, step in (("entropy, all skills", 1), ("entropy, all skills", 5), ("entropy", 1), ("entropy", 5), ("entropy", 10)):
        apart = loss["random"][:, step] - loss[name][:, step]
        error = apart.std(ddof=1) / np.sqrt(len(apart))
        word = "better than" if apart.mean() > 2 * error else "worse than" if apart.mean() < -2 * error else "no clearer than"
        means = f"{loss[name][:, step].mean():.3f} against {loss['random'][:, step].mean():.3f}"
        said.append(
            f"After {step} question{'s' * (step > 1)} `{name}` foretells held-out answers {word} random questions: log loss {means}"
            f" (paired difference {apart.mean():.3f} ± {2 * error:.3f})."
        )
    said.append(
        "The target decides more than the score: counting only a question's own skills (`scope`) is a poor guide to answers that need"
        " other skills; counting what it tells of all skills is the better one here."
    )
    apart = loss["mode"][:, 5] - loss["entropy"][:, 5]
    error = apart.std(ddof=1) / np.sqrt(len(apart))
    said.append(f"Mode (ties by entropy) and entropy differ by {apart.mean():.3f} ± {2 * error:.3f} after 5 questions.")
    first = next((step for step in range(loss["entropy"].shape[1]) if loss["entropy"][:, step].mean() < rate), None)
    said.append(
        f"Knowing nothing of the person but how the others did has a log loss of {rate:.3f}; the test is better "
        + (f"from question {first} on." if first is not None else "at no point.")
    )
    end = loss["entropy"][:, -1].mean()
    said.append(
        f"With all 15 other answers known the log loss is {end:.3f}; what is left is what a bank of stated, not fitted, numbers misses."
    )
    return said


def main(folder: Path, results: Path) -> int:
    """Run the study and write its results."""
    if not (folder / "responses.csv").is_file():
        sys.stderr.write(f"The answers are not part of this repository: {folder.name}/responses.csv was not found.\n")
        return 1
    bank, responses = read(folder)
    found, rate = foretell(bank, responses), base_rates(responses)
    results.mkdir(parents=True, exist_ok=True)
    table = summary(found)
    save(table.to_csv(lineterminator="\n", float_format="%.6f").encode(), results / "summary.csv")
    parts = [page.text(" ".join((__doc__ or "").split("\n\n")[1].split()))]
    for metric, quantity in (("held_out_log_loss", "log loss of answers held out"), ("held_out_accuracy", "accuracy of foretelling")):
        lines = []
        for style, (name, values) in enumerate(found.items()):
            error = 2 * values[metric].std(axis=0, ddof=1) / np.sqrt(len(responses))
            lines.append(Line(name, values[metric].mean(axis=0), error, style))
        figure = curves(lines, quantity)
        save_figure(figure, results, metric)
        caption = f"{quantity.capitalize()} against the number of questions asked; bands are two standard errors to each side."
        parts.append(page.figure(svg(figure), caption))
    parts += [page.heading("What it says"), page.listing(conclusions(found, rate)), page.heading("In numbers"), page.table(table, 3)]
    parts += [page.heading("How to repeat it"), page.code("python studies/fraction_subtraction.py")]
    save(page.page("Fraction subtraction: foretelling real answers", parts).encode(), results / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA, RESULTS))
