"""Does the whole bank fit, and who does not fit it: how often is a sound bank blamed, and what is found?

People are drawn from the three banks of `faults.py` (20, 20 and 24 questions). `fit.csv`: the shares of p-values below .05 of the two tests
(SRMSR against replicates, M2) and of both together, and how often the verdict is fits, close or misfit: for banks that are right, learnt
from their true tables as prior (weight 2), with 200, 400 and 1,000 people; with 3 in 10 cells empty; for banks that are wrong, 400 people:
one skill learnt where two are true, two levels where five are, skills without a link where they have one, a copy among the questions.

`people.csv`: of 400 people 20 guess (a coin for every answer), or are turned round (they solve the harder half of the questions with
chance .8 and the easier half with .2). Found and falsely blamed at a false discovery rate of 5 %, and the share of p-values of the
others below .05. A fourth bank has 40 questions from easy to hard, on which such answers can be told from others at all; and sound people
in an adaptive test of ten questions.

`errors.csv`: the root mean square of standard errors beside the standard deviation of the learnt numbers over repeated samples, and how
often the truth is within 1.96 errors.

    python studies/goodness.py [REPETITIONS]
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from faults import BANKS, drawn, one_skill, two_skills

import quaestor as qs
from quaestor.formats.files import save
from quaestor.learn.chance import discoveries
from quaestor.learn.goodness import goodness
from quaestor.learn.person_fit import CHANCE, person_fit
from quaestor.learn.skeleton import one_skill as on_one_skill
from quaestor.learn.skeleton import skeleton
from quaestor.learn.standard_errors import standard_errors

RESULTS = Path(__file__).with_name("goodness")
REPETITIONS, PEOPLE, ODD, ASKED = 50, 400, 20, 10
ERRORS = 10  # samples whose standard errors are worked out
Made = Callable[[int, int, np.random.Generator], tuple[qs.Bank, pd.DataFrame]]


def sound(name: str, missing: float = 0.0) -> Made:
    """The bank itself, and answers to it."""

    def made(seed: int, people: int, rng: np.random.Generator) -> tuple[qs.Bank, pd.DataFrame]:
        frame = drawn(MORE[name](seed), people, rng).astype(float)
        return MORE[name](seed), frame.mask(rng.random(frame.shape) < missing)

    return made


def copied(name: str) -> Made:
    """A question that copies another."""

    def made(seed: int, people: int, rng: np.random.Generator) -> tuple[qs.Bank, pd.DataFrame]:
        bank, frame = sound(name)(seed, people, rng)
        return bank, frame.assign(Q8=frame["Q3"])

    return made


def coarse(levels: int) -> Made:
    """One skill of five levels is true, and one of fewer is learnt."""
    return lambda seed, people, rng: (on_one_skill(one_skill(5, seed), levels), drawn(one_skill(5, seed), people, rng))


def single(levels: int) -> Made:
    """Two skills are true, and one is learnt."""
    return lambda seed, people, rng: (on_one_skill(two_skills(seed), levels), drawn(two_skills(seed), people, rng))


def apart(seed: int, people: int, rng: np.random.Generator) -> tuple[qs.Bank, pd.DataFrame]:
    """Two skills that are linked are learnt without the link."""
    bank = two_skills(seed)
    matrix = pd.DataFrame([{skill: int(skill in one.skills) for skill in bank.skills} for one in bank.questions.values()], bank.questions)
    return skeleton(matrix, 3), drawn(bank, people, rng)


def ladder(seed: int) -> qs.Bank:
    """Forty questions from easy to hard on one skill of five levels, each of them steep somewhere."""
    rng = np.random.default_rng(seed)
    middle = np.linspace(-1, 5, 40) + rng.normal(0, 0.3, 40)
    right = 0.05 + 0.9 / (1 + np.exp(-rng.uniform(1, 2.5, (40, 1)) * (np.arange(5) - middle[:, None])))
    skills = {"a": {"levels": [str(level + 1) for level in range(5)]}}
    return qs.Bank({"skills": skills, "questions": {f"Q{n}": {"skill": "a", "right": right[n].round(3).tolist()} for n in range(40)}})


MORE: dict[str, Callable[[int], qs.Bank]] = {**BANKS, "easy to hard, 5 levels": ladder}


def whole(case: str, made: Made, people: int, repetitions: int) -> dict[str, object]:
    """A row: how often a kind of bank is blamed."""
    found = []
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, 1])
        found.append(goodness(qs.learn(*made(seed, people, rng)), rng))
    told = [one for one in found if one.srmsr is not None]
    verdicts = [one.verdict for one in told]
    return {
        "case": case,
        "people": people,
        "SRMSR": round(float(np.mean([one.srmsr for one in told])), 4),
        "by chance": round(float(np.mean([one.by_chance for one in told])), 4),
        "SRMSR p < .05": round(float(np.mean([one.chance < 0.05 for one in told])), 2),
        "M2 p < .05": round(float(np.mean([one.test is not None and one.test.chance < 0.05 for one in told])), 2),
        "both p < .05": round(float(np.mean([one.both < 0.05 for one in told])), 2),
        **{verdict: verdicts.count(verdict) for verdict in ("fits", "close", "misfit")},
        "not told": len(found) - len(told),
    }


def planted(kind: str, frame: pd.DataFrame, rng: np.random.Generator) -> int:
    """Plant odd people in the first rows; their number."""
    if kind == "none":
        return 0
    chance = np.full(frame.shape[1], 0.5)
    if kind == "turned round":
        chance = np.where(frame.mean() < frame.mean().median(), 0.8, 0.2)
    frame.iloc[:ODD] = (rng.random((ODD, frame.shape[1])) < chance).astype(int)
    return ODD


def adaptive(bank: qs.Bank, frame: pd.DataFrame) -> pd.DataFrame:
    """Of one skill, the questions that an adaptive test would have asked: ten, each the most informative after the answers before."""
    right = np.stack([question.table.lower[:, 1] for question in bank.questions.values()])
    answers, people = frame.to_numpy(), np.arange(len(frame))
    belief, asked = np.full((len(frame), right.shape[1]), 1 / right.shape[1]), np.zeros(frame.shape, bool)
    entropy = -(right * np.log(right) + (1 - right) * np.log(1 - right))
    for _ in range(ASKED):
        mean = belief @ right.T
        gain = -(mean * np.log(mean) + (1 - mean) * np.log(1 - mean)) - belief @ entropy.T
        best = np.where(asked, -1, gain).argmax(axis=1)
        asked[people, best] = True
        belief = belief * np.where(answers[people, best][:, None] == 1, right[best], 1 - right[best])
        belief /= belief.sum(axis=1, keepdims=True)
    return frame.astype(float).where(asked)


def persons(name: str, kind: str, repetitions: int) -> dict[str, object]:
    """A row: odd people in a kind of bank."""
    found, blamed, low, others = 0, 0, 0, 0
    for seed in range(repetitions):
        bank, rng = MORE[name](seed), np.random.default_rng([seed, 2])
        frame = drawn(bank, PEOPLE, rng)
        odd = 0 if kind == "adaptive" else planted(kind, frame, rng)
        chances = person_fit(qs.learn(bank, adaptive(bank, frame) if kind == "adaptive" else frame), rng)[1]
        told = discoveries(chances, CHANCE)
        found, blamed, others = found + int(told[:odd].sum()), blamed + int(told[odd:].sum()), others + PEOPLE - odd
        low += int((chances[odd:] < 0.05).sum())
    return {
        "bank": name,
        "odd": kind,
        "found": found if kind in ("guessing", "turned round") else "",
        "of": ODD * repetitions if kind in ("guessing", "turned round") else "",
        "falsely blamed": blamed,
        "others": others,
        "others' p < .05": round(low / others, 3),
    }


def errors(name: str, people: int, repetitions: int) -> dict[str, object]:
    """A row: standard errors of P(right) beside the spread over samples of people from one bank."""
    bank = MORE[name](0)
    truth = np.concatenate([question.table.lower[:, 1] for question in bank.questions.values()])
    learnt, told = [], []
    for seed in range(repetitions):
        rng = np.random.default_rng([seed, 3])
        fit = qs.learn(bank, drawn(bank, people, rng))
        learnt.append(np.concatenate([question.table.lower[:, 1] for question in fit.bank.questions.values()]))
        if seed < ERRORS:
            own = standard_errors(fit, rng)
            told.append(np.concatenate([own[question][:, 1] for question in bank.questions]))
    return {
        "bank": name,
        "people": people,
        "standard error": round(float(np.sqrt(np.mean(np.square(told)))), 4),
        "spread": round(float(np.sqrt(np.mean(np.var(learnt, axis=0, ddof=1)))), 4),
        "truth within 1.96": round(float(np.mean(np.abs(np.array(learnt[:ERRORS]) - truth) < 1.96 * np.array(told))), 3),
    }


def main(repetitions: int, results: Path = RESULTS) -> int:
    """Run the study and write its tables."""
    fits = [whole(name, sound(name), people, repetitions) for name in BANKS for people in (200, PEOPLE, 1000)]
    fits += [whole(f"{name}, 3 in 10 empty", sound(name, 0.3), PEOPLE, repetitions) for name in BANKS]
    fits += [whole(f"{name}, a copy", copied(name), PEOPLE, repetitions) for name in BANKS]
    fits += [whole("two levels where five are true", coarse(2), people, repetitions) for people in (PEOPLE, 1000)]
    fits += [whole("one skill of 3 levels where two skills are true", single(3), PEOPLE, repetitions)]
    fits += [whole("one skill of 5 levels where two skills are true", single(5), PEOPLE, repetitions)]
    fits += [whole("two skills without their link", apart, PEOPLE, repetitions)]
    people = [persons(name, kind, repetitions) for name in MORE for kind in ("none", "guessing", "turned round")]
    people += [persons(name, "adaptive", repetitions) for name in MORE if name != "two skills, 3 levels"]
    spreads = [errors(name, people, repetitions) for name in BANKS for people in (PEOPLE, 1000)]
    results.mkdir(parents=True, exist_ok=True)
    for name, rows in (("fit", fits), ("people", people), ("errors", spreads)):
        save(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode(), results / f"{name}.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else REPETITIONS))
