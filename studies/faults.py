"""Faults planted in drawn answers: how many are found, and what is falsely blamed?

People are drawn from three banks: one skill of two levels, one of five, and two skills of three levels (20, 20 and 24 questions). One fault
is planted: the key of a question is reversed; a question is answered by a coin; a question is a copy of another; a twentieth of the people
did not take a section, and all its answers are wrong (two skills only). The bank is learnt from the answers, from its true tables as prior
with weight 2, and diagnosed. `found`: repetitions in which the fault was named; `falsely blamed`: other questions flagged as key, misfit or
alike (`nothing` is not counted: some of the drawn questions do tell next to nothing), or sections of people who took them. The last rows
are answers of a continuous ability to four sections of four questions, in banks of two and three levels without links: all were taken.

    python studies/faults.py [REPETITIONS]
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.diagnose import diagnose
from quaestor.learn.sections import untaken
from quaestor.learn.skeleton import skeleton

RESULTS = Path(__file__).with_name("faults")
REPETITIONS, PEOPLE = 50, 400
FIRST, SECOND = "Q3", "Q8"
BLAMED = {"key", "misfit", "alike"}


def one_skill(levels: int, seed: int) -> qs.Bank:
    """Twenty questions on one skill, P(right) rising from level to level by random steps."""
    right = np.sort(np.random.default_rng(seed).uniform(0.1, 0.9, (20, levels)), axis=1).round(3).tolist()
    skills = {"a": {"levels": [str(level + 1) for level in range(levels)]}}
    return qs.Bank({"skills": skills, "questions": {f"Q{n}": {"skill": "a", "right": right[n]} for n in range(20)}})


def two_skills(seed: int) -> qs.Bank:
    """Twelve questions on each of two linked skills of three levels."""
    rng = np.random.default_rng(seed)
    skills = {"a": {"levels": ["1", "2", "3"]}, "b": {"levels": ["1", "2", "3"], "parents": ["a"], "strength": 0.6}}
    right = np.stack([rng.uniform(0.1, 0.3, 24), rng.uniform(0.4, 0.6, 24), rng.uniform(0.7, 0.9, 24)], axis=1).round(3)
    return qs.Bank({"skills": skills, "questions": {f"Q{n}": {"skill": "ab"[n // 12], "right": right[n].tolist()} for n in range(24)}})


BANKS: dict[str, Callable[[int], qs.Bank]] = {
    "one skill, 2 levels": lambda seed: one_skill(2, seed),
    "one skill, 5 levels": lambda seed: one_skill(5, seed),
    "two skills, 3 levels": two_skills,
}


def drawn(bank: qs.Bank, people: int, rng: np.random.Generator) -> pd.DataFrame:
    """Answers of people drawn from a bank, 0 or 1."""
    levels: dict[str, np.ndarray] = {}
    for skill in bank.skills.values():
        rows = skill.table.lower[tuple(levels[parent] for parent in skill.parents)]
        shares = np.broadcast_to(rows, (people, rows.shape[-1]))
        levels[skill.id] = (rng.random((people, 1)) > np.cumsum(shares, axis=1)[:, :-1]).sum(axis=1)
    columns = {}
    for question in bank.questions.values():
        right = question.table.lower[tuple(levels[skill] for skill in question.skills)][:, 1]
        columns[question.id] = (rng.random(people) < right).astype(int)
    return pd.DataFrame(columns)


def planted(fault: str, frame: pd.DataFrame, rng: np.random.Generator) -> set[str]:
    """Plant a fault; the questions it concerns."""
    if fault == "key":
        frame[FIRST] = 1 - frame[FIRST]
    elif fault == "useless":
        frame[FIRST] = rng.integers(0, 2, len(frame))
    elif fault == "copy":
        frame[SECOND] = frame[FIRST]
        return {FIRST, SECOND}
    return {FIRST} if fault != "none" else set()


def is_found(fault: str, flags: dict[str, tuple[str, ...]], pairs: set[tuple[str, str]]) -> bool:
    """Whether the fault was named."""
    if fault == "copy":
        return (FIRST, SECOND) in pairs
    return {"key": "key", "useless": "nothing", "none": ""}[fault] in flags[FIRST]


def questions(name: str, fault: str, repetitions: int) -> dict[str, object]:
    """A row: a fault of a question in one kind of bank."""
    found = blamed = asked = 0
    for seed in range(repetitions):
        bank, rng = BANKS[name](seed), np.random.default_rng([seed, 1])
        frame = drawn(bank, PEOPLE, rng)
        own = planted(fault, frame, rng)
        diagnoses = diagnose(qs.learn(bank, frame))
        flags = {one.question: one.flags for one in diagnoses}
        found += is_found(fault, flags, {(pair.first, pair.second) for one in diagnoses for pair in one.pairs})
        blamed += sum(bool(BLAMED & set(own_flags)) for question, own_flags in flags.items() if question not in own)
        asked += len(flags) - len(own)
    return {
        "bank": name,
        "fault": fault,
        "found": found if fault != "none" else "",
        "repetitions": repetitions,
        "falsely blamed": blamed,
        "others": asked,
    }


def absent(repetitions: int) -> dict[str, object]:
    """A row: a twentieth of the people did not take the second section."""
    found = blamed = 0
    for seed in range(repetitions):
        bank = two_skills(seed)
        frame = drawn(bank, PEOPLE, np.random.default_rng([seed, 1]))
        frame.loc[: PEOPLE // 20 - 1, [f"Q{n}" for n in range(12, 24)]] = 0
        sections = untaken(qs.learn(bank, frame))
        own = [one for one in sections if one.row < PEOPLE // 20 and one.section == "b"]
        found, blamed = found + len(own), blamed + len(sections) - len(own)
    people = repetitions * PEOPLE // 20
    return {
        "bank": "two skills, 3 levels",
        "fault": "untaken",
        "found": found,
        "repetitions": people,
        "falsely blamed": blamed,
        "others": 39 * people,
    }


def weak(levels: int, repetitions: int) -> dict[str, object]:
    """A row: all sections were taken, in a bank that has too few levels."""
    blamed = 0
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, 2])
        level = 1.5 * rng.normal(size=(PEOPLE, 1)) + np.repeat(0.5 * rng.normal(size=(PEOPLE, 4)), 4, axis=1)
        right = rng.random(level.shape) < 1 / (1 + np.exp(rng.normal(size=16) - level))
        frame = pd.DataFrame(right.astype(int), columns=[f"Q{n}" for n in range(16)])
        matrix = pd.DataFrame(np.repeat(np.eye(4, dtype=int), 4, axis=0), index=frame.columns, columns=list("abcd"))
        blamed += len(untaken(qs.learn(skeleton(matrix, levels), frame)))
    bank = f"ability, {levels} levels"
    return {
        "bank": bank,
        "fault": "none untaken",
        "found": "",
        "repetitions": repetitions,
        "falsely blamed": blamed,
        "others": 4 * PEOPLE * repetitions,
    }


def main(repetitions: int, results: Path = RESULTS) -> int:
    """Run the study and write its table."""
    rows = [questions(name, fault, repetitions) for name in BANKS for fault in ("none", "key", "useless", "copy")]
    rows += [absent(repetitions), weak(2, repetitions), weak(3, repetitions)]
    results.mkdir(parents=True, exist_ok=True)
    save(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode(), results / "faults.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS))
