"""Ways to choose the next question, side by side: how much is known after so many questions, how long a test takes, and the regret.

Four banks: one skill (`single-skill-as-run`), a chain of four skills (`four-skills`), five skills with questions on two of them
(`fractions`), and one learnt from the answers of 536 pupils to 20 problems (Tatsuoka 1984; left out where the data are absent). Each is
taken with its numbers and widened by 0.05; the students come from the numbers themselves. Accuracy is the mean over skills; differences to
`entropy` are paired, over the same students. Length: questions until every skill has a level of probability 0.9 or more, at most 20.

Then, without sampling, the regret: how much less is known, after so many questions, than after the best test that there is (`qs.optimal`).

    python studies/selection_methods.py [FOLDER OF THE DATA]
"""

import sys
from pathlib import Path

import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.skeleton import one_skill, read_matrix, skeleton
from quaestor.report.figures import Line, curves, svg

DATA = Path(__file__).parents[2] / "shared" / "data" / "fraction_subtraction"
RESULTS = Path(__file__).with_name("selection-methods")
AT = (4, 8, 12)
STUDENTS = {"single-skill-as-run": (4000, 4000), "four-skills": (4000, 2000), "fractions": (2000, 100), "learnt": (2000, 200)}
WIDTH, SURE, LONGEST, SEED = 0.05, 0.9, 20, 1
METHODS = {
    "entropy (mutual information)": {"score": "entropy"},
    "mode, then entropy": {"score": "mode"},
    "mode alone": {"score": "mode", "then": None},
    "gini": {"score": "gini"},
    "variance (MEPV)": {"score": "variance"},
    "GDI": {"score": "gdi"},
    "KL": {"score": "kl"},
    "PWKL": {"score": "pwkl"},
    "MPWKL": {"score": "mpwkl"},
    "nearest to one half": {"score": "right"},
    "random": {"score": "random"},
    "one of the best 3": {"score": "entropy", "among": 3},
    "progressive": {"score": "entropy", "progressive": 1},
    "proportional": {"score": "entropy", "proportional": 1},
    "two questions ahead": {"score": "entropy", "target": "all", "ahead": 2},
}
SLOW = ("two questions ahead",)
REGRET = {"single-skill-as-run": 18, "four-skills": 6}  # how far the best tests are followed
DRAWN = {"among", "progressive", "proportional"}
EXACT = [name for name, fields in METHODS.items() if not DRAWN & set(fields) and fields["score"] != "random"]


def learnt(folder: Path) -> qs.Bank:
    """One skill of three levels learnt from the answers of real pupils."""
    responses = pd.read_csv(folder / "responses.csv")
    return qs.learn(one_skill(skeleton(read_matrix(folder / "qmatrix.csv")), 3), responses).bank


def compared(name: str, bank: qs.Bank, widen: float, students: int) -> pd.DataFrame:
    """A row a method: accuracy after so many questions, paired differences, and the length of a test that stops when sure."""
    given = bank.widen(widen) if widen else bank
    most = min(max(AT), len(bank.questions) - 1)
    rows, base = [], None
    for method, fields in METHODS.items():
        if widen and "ahead" in fields:
            continue
        count = students // 10 if method in SLOW else students
        fixed = qs.simulate(given, qs.Rules(**fields, stop=qs.max_questions(most)), count, SEED, truth=bank)
        until = qs.any_of(qs.probability_above(SURE), qs.max_questions(min(LONGEST, len(bank.questions))))
        sure = qs.simulate(given, qs.Rules(**fields, stop=until), count, SEED, truth=bank)
        base = fixed if base is None else base
        row = {"bank": name, "numbers": f"±{widen:g}" if widen else "exact", "method": method, "students": count}
        for step in AT:
            if step <= most:
                row |= {f"accuracy {step}": fixed.accuracy[step], f"error {step}": fixed.error()[step]}
                if fixed is not base and count == students:
                    difference, error = fixed.difference(base)
                    row |= {f"difference {step}": difference[step], f"difference error {step}": error[step]}
        rows.append({**row, "length": sure.length, "accuracy when sure": sure.accuracy[-1]})
    return pd.DataFrame(rows)


def regrets(name: str, questions: int) -> pd.DataFrame:
    """Exact: the accuracy of the best test of each length, and how much each method falls short of it; a row a length."""
    bank = qs.load(name)
    best = qs.optimal(bank, questions)
    table = {"best": best.values}
    for method in EXACT:
        far = METHODS[method].get("ahead", 1) > 1
        for widen in (0.0,) if far else (0.0, WIDTH):
            rules = qs.Rules(**METHODS[method], stop=qs.max_questions(questions))
            found = qs.expected(bank.widen(widen) if widen else bank, rules, truth=bank).accuracy
            table[f"{method}, ±{widen:g}" if widen else method] = best.values - found
    frame = pd.DataFrame(table)
    frame.index.name = "questions"
    return frame


def figure(table: pd.DataFrame) -> str:
    """The regret of a few methods."""
    shown = ["entropy (mutual information)", "mode, then entropy", "GDI", "nearest to one half", "two questions ahead"]
    lines = [Line(name, table[name].to_numpy() + 0.0, None, number) for number, name in enumerate(one for one in shown if one in table)]
    return svg(curves(lines, "regret: accuracy below the best test"))


def main(results: Path, data: Path = DATA) -> int:
    """Write both tables and the figures."""
    results.mkdir(parents=True, exist_ok=True)
    banks = {name: qs.load(name) for name in STUDENTS if name != "learnt"}
    if (data / "responses.csv").exists():
        banks["learnt"] = learnt(data)
    else:
        sys.stderr.write(f"{data} is not there: the learnt bank is left out\n")
    found = []
    for name, bank in banks.items():
        precise, credal = STUDENTS[name]
        found.append(compared(name, bank, 0.0, precise))
        found.append(compared(name, bank, WIDTH, credal))
    save(pd.concat(found).to_csv(index=False, lineterminator="\n", float_format="%.4f").encode(), results / "methods.csv")
    for name, questions in REGRET.items():
        table = regrets(name, questions)
        save(table.to_csv(lineterminator="\n", float_format="%.6f").encode(), results / f"regret-{name}.csv")
        save(figure(table).encode(), results / f"regret-{name}.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main(RESULTS, *map(Path, sys.argv[1:2])))
