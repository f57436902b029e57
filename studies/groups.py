"""Questions that work differently for a group, planted in drawn answers: how many are found, and what is falsely blamed?

Half of the people belong to group B. At the same level, the log-odds of a right answer to one question are lower for them by 0, 0.5, 1 or
1.5; in the rows with impact they are also weaker by half a standard deviation in every skill. The truth is a bank of one skill of five
levels, one of two linked skills of three levels (20 and 24 questions), or a continuous ability with curves of two parameters (20 questions,
learnt as one skill of three levels). The bank is learnt from all answers, and `differences` is asked. `found`: repetitions in which the
question was named; `falsely blamed`: other questions named. Beside them the standard of the field, Mantel and Haenszel's common odds ratio
with people matched by the score on the other questions, at the same false discovery rate and least size. `estimate`: the mean estimated
difference of log-odds of the planted question; `error`: the root mean square of its error.

    python studies/groups.py [REPETITIONS]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import ndtr

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.chance import discoveries
from quaestor.learn.differential import CHANCE, DELTA, MODERATE, differences
from quaestor.learn.skeleton import skeleton

RESULTS = Path(__file__).with_name("groups")
REPETITIONS = 50
PLANTED = 3  # the number of the question
SHIFTS = (0.0, 0.5, 1.0, 1.5)
IMPACT = 0.5  # standard deviations
KINDS = ("one skill, 5 levels", "two skills, 3 levels", "ability, 3 levels")


def right(logits: np.ndarray) -> np.ndarray:
    """Log-odds as probabilities."""
    return np.asarray(1 / (1 + np.exp(-logits)))


def ability(rng: np.random.Generator, people: int, shift: float, impact: float) -> tuple[qs.Bank, np.ndarray]:
    """A bank to start from, and answers by a continuous ability, (people, questions); the second half is group B."""
    focal = np.arange(people) >= people // 2
    level = rng.normal(size=people) - impact * focal
    logits = rng.uniform(0.6, 2, 20) * (level[:, None] - rng.normal(size=20))
    logits[focal, PLANTED] -= shift
    matrix = pd.DataFrame(1, index=[f"Q{number}" for number in range(20)], columns=["a"])
    return skeleton(matrix, 3), (rng.random(logits.shape) < right(logits)).astype(int)


def levels(rng: np.random.Generator, people: int, shift: float, impact: float, skills: int) -> tuple[qs.Bank, np.ndarray]:
    """A bank with one or two skills, and answers drawn from it."""
    if skills == 1:
        table = np.sort(rng.uniform(0.1, 0.9, (20, 5)), axis=1)
    else:
        table = np.stack([rng.uniform(low, low + 0.2, 24) for low in (0.1, 0.4, 0.7)], axis=1)
    names = [str(level + 1) for level in range(table.shape[1])]
    stated = {"a": {"levels": names}, "b": {"levels": names, "parents": ["a"], "strength": 0.6}}
    questions = {f"Q{n}": {"skill": "ab"[n * skills // len(table)], "right": row.round(3).tolist()} for n, row in enumerate(table)}
    bank = qs.Bank({"skills": {name: stated[name] for name in "ab"[:skills]}, "questions": questions})
    focal = np.arange(people) >= people // 2
    step = np.arange(len(names)) / np.std(np.arange(len(names)))
    found: dict[str, np.ndarray] = {}
    for skill in bank.skills.values():
        rows = np.broadcast_to(skill.table.lower[tuple(found[parent] for parent in skill.parents)], (people, len(names)))
        rows = rows * np.exp(-impact * np.outer(focal, step))
        rows = rows / rows.sum(axis=1, keepdims=True)
        found[skill.id] = (rng.random((people, 1)) > np.cumsum(rows, axis=1)[:, :-1]).sum(axis=1)
    share = np.stack([one.table.lower[found[one.skills[0]], 1] for one in bank.questions.values()], axis=1)
    logits = np.log(share / (1 - share))
    logits[focal, PLANTED] -= shift
    return bank, (rng.random(logits.shape) < right(logits)).astype(int)


def drawn(kind: str, rng: np.random.Generator, people: int, shift: float, impact: float) -> tuple[qs.Bank, np.ndarray]:
    """A bank to start from, and answers."""
    if kind.startswith("ability"):
        return ability(rng, people, shift, impact)
    return levels(rng, people, shift, impact, 1 if kind.startswith("one") else 2)


def mantel_haenszel(answers: np.ndarray, focal: np.ndarray) -> np.ndarray:
    """The common log odds ratio of each question and its standard error, (2, questions), people matched by the score on the others."""
    total = answers.sum(axis=1)
    found = []
    for own in answers.T:
        rest = total - own
        a, b, c, d = (
            np.bincount(rest[(focal == side) & (own == value)], minlength=answers.shape[1]) for side in (1, 0) for value in (1, 0)
        )
        size = np.maximum(a + b + c + d, 1)
        r, s, p, q = a * d / size, b * c / size, (a + d) / size, (b + c) / size
        over, under = r.sum(), s.sum()
        with np.errstate(divide="ignore", invalid="ignore"):  # without any wrong answer in a group there is no ratio, and nothing is named
            variance = (p @ r) / (2 * over**2) + (p @ s + q @ r) / (2 * over * under) + (q @ s) / (2 * under**2)
            found.append((np.log(over / under), np.sqrt(variance)))
    return np.array(found).T


def named_by_them(answers: np.ndarray, focal: np.ndarray) -> np.ndarray:
    """The questions that Mantel and Haenszel name, (questions,)."""
    log_odds, error = mantel_haenszel(answers, focal)
    return np.asarray(discoveries(2 * ndtr(-np.abs(log_odds / error)), CHANCE) & (np.abs(DELTA * log_odds) >= MODERATE))


def row(kind: str, people: int, impact: float, shift: float, repetitions: int) -> dict[str, object]:
    """Count over all repetitions."""
    own, other, estimates, asked = np.zeros(2, int), np.zeros(2, int), [], 0
    focal = np.arange(people) >= people // 2
    for seed in range(repetitions):
        bank, answers = drawn(kind, np.random.default_rng([seed, people, KINDS.index(kind), 2]), people, shift, impact)
        found = differences(qs.learn(bank, pd.DataFrame(answers, columns=list(bank.questions))), np.where(focal, "B", "A"))
        named = np.array([one.is_told for one in found.questions])
        for counts, those in ((own, named), (other, named_by_them(answers, focal))):
            is_found = bool(shift) and bool(those[PLANTED])
            counts += (is_found, those.sum() - is_found)
        estimates.append(found.questions[PLANTED].log_odds)
        asked += len(named) - bool(shift)
    return {
        "truth": kind,
        "people": people,
        "impact": "yes" if impact else "no",
        "shift": -shift if shift else 0.0,
        "repetitions": repetitions,
        "found": own[0] if shift else "",
        "falsely blamed": own[1],
        "others": asked,
        "Mantel-Haenszel found": other[0] if shift else "",
        "Mantel-Haenszel blamed": other[1],
        "estimate": round(float(np.mean(estimates)), 3),
        "error": round(float(np.sqrt(np.mean((np.array(estimates) + shift) ** 2))), 3),
    }


def main(repetitions: int, results: Path = RESULTS) -> int:
    """Run the study and write its table."""
    rows = [
        row(kind, people, impact, shift, repetitions)
        for kind in KINDS
        for people in (400, 1000)
        for impact in (0.0, IMPACT)
        for shift in SHIFTS
    ]
    results.mkdir(parents=True, exist_ok=True)
    save(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode(), results / "groups.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS))
