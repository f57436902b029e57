"""Learning, slow and obvious: people one by one, all profiles listed, dictionaries; and answers drawn from a bank."""

from itertools import product

import numpy as np
import pandas as pd

import quaestor as qs
from oracles.students import chances_of, luck_of
from quaestor.simulate.cohort import Cohort


def document(skills, questions):
    return qs.Bank({"skills": skills, "questions": questions})


NO_YES, THREE = ["no", "yes"], ["low", "mid", "high"]
SMALL = {
    "one skill": document(
        {"a": {"prior": [0.4, 0.6]}}, {f"Q{n}": {"skill": "a", "right": [0.2 + 0.1 * n, 0.7 + 0.05 * n]} for n in range(3)}
    ),
    "three levels, three classes": document(
        {"a": {"levels": THREE, "prior": [0.3, 0.3, 0.4]}},
        {
            "Q1": {"skill": "a", "right": [0.2, 0.5, 0.9]},
            "Q2": {
                "skill": "a",
                "classes": ["wrong", "half", "right"],
                "table": {"low": [0.6, 0.3, 0.1], "mid": [0.3, 0.4, 0.3], "high": [0.1, 0.2, 0.7]},
            },
        },
    ),
    "two skills in one question": document(
        {"a": {"prior": [0.5, 0.5]}, "b": {"levels": THREE, "parents": ["a"], "strength": 0.5}},
        {
            "Q1": {
                "skills": ["b", "a"],
                "table": {
                    f"{b}, {a}": [1 - p, p] for (b, a), p in zip(product(THREE, NO_YES), [0.1, 0.2, 0.2, 0.5, 0.4, 0.9], strict=True)
                },
            },
            "Q2": {"skill": "a", "right": [0.3, 0.8]},
            "Q3": {"skill": "b", "right": [0.1, 0.5, 0.7]},
        },
    ),
    "two parents": document(
        {"a": {}, "b": {"prior": [0.3, 0.7]}, "c": {"parents": ["b", "a"], "strength": 0.7}},
        {
            "Q1": {"skill": "c", "right": [0.2, 0.8]},
            "Q2": {"skill": "a", "right": [0.4, 0.7]},
            "Q3": {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2},
        },
    ),
}


def school(seed=1):
    """Two skills of three levels, twelve questions each."""
    rng = np.random.default_rng(seed)
    skills = {"a": {"levels": ["1", "2", "3"]}, "b": {"levels": ["1", "2", "3"], "parents": ["a"], "strength": 0.6}}
    right = np.stack([rng.uniform(0.1, 0.3, 24), rng.uniform(0.4, 0.6, 24), rng.uniform(0.7, 0.9, 24)], axis=1).round(3)
    return qs.Bank({"skills": skills, "questions": {f"Q{n}": {"skill": "ab"[n // 12], "right": right[n].tolist()} for n in range(24)}})


def draw(bank, people, seed=1, missing=0.0):
    """Answers of people drawn from a bank, as class names; some cells empty; those without any are left out."""
    students = Cohort(bank, bank.centre(), people, seed).part(0, people)
    rng = np.random.default_rng(seed)
    columns = {}
    luck = luck_of(students)
    for place, question in enumerate(bank.questions.values()):
        rows = chances_of(students, place)[:, : len(question.classes)]
        chosen = (np.cumsum(rows, axis=1)[:, :-1] <= luck[:, [place]]).sum(axis=1)
        cells = np.array(question.classes, dtype=object)[chosen]
        cells[rng.random(people) < missing] = None
        columns[question.id] = cells
    return pd.DataFrame(columns).dropna(how="all")


def profiles(bank):
    return [
        dict(zip(bank.skills, levels, strict=True)) for levels in product(*(range(len(skill.levels)) for skill in bank.skills.values()))
    ]


def likelihood(bank, profile, answers):
    """P(profile and answers)."""
    p = 1.0
    for skill in bank.skills.values():
        p *= skill.table.lower[tuple(profile[parent] for parent in skill.parents)][profile[skill.id]]
    for name, answer in answers.items():
        question = bank.questions[name]
        p *= question.table.lower[tuple(profile[skill] for skill in question.skills)][question.classes.index(answer)]
    return p


def rows_of(frame):
    return [{name: cell for name, cell in row.items() if isinstance(cell, str)} for row in frame.to_dict("records")]


def log_likelihood(bank, frame):
    return sum(np.log(sum(likelihood(bank, profile, answers) for profile in profiles(bank))) for answers in rows_of(frame))


def em_step(bank, frame, prior, weight):
    """One step of EM without the monotone rule: tables by id."""
    counts = {variable.name: weight * table_of(prior, variable.name) for variable in bank.network.variables}
    for answers in rows_of(frame):
        shares = [likelihood(bank, profile, answers) for profile in profiles(bank)]
        for profile, share in zip(profiles(bank), shares, strict=True):
            part = share / sum(shares)
            for skill in bank.skills.values():
                counts[skill.id][(*(profile[parent] for parent in skill.parents), profile[skill.id])] += part
            for name, answer in answers.items():
                question = bank.questions[name]
                counts[name][(*(profile[skill] for skill in question.skills), question.classes.index(answer))] += part
    return {name: table / table.sum(axis=-1, keepdims=True) for name, table in counts.items()}


def table_of(bank, name):
    return np.array((bank.skills.get(name) or bank.questions[name]).table.lower)


def with_tables(bank, tables):
    return bank.with_tables({name: qs.Table.precise(table) for name, table in tables.items()})
