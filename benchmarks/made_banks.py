"""Banks of any size, and the answers of a taker to them."""

import numpy as np

import quaestor as qs


def chain_bank(skills: int, levels: int, questions: int, width: float = 0.0, seed: int = 1, text: bool = False) -> qs.Bank:
    """Skills in a chain, every question with its own numbers; with a text and options where it is to be shown to people."""
    random = np.random.default_rng(seed)
    names = [str(level) for level in range(levels)]
    listed: dict[str, dict[str, object]] = {"s0": {"levels": names}}
    for number in range(1, skills):
        listed[f"s{number}"] = {"levels": names, "parents": [f"s{number - 1}"], "strength": 0.6}
    right = np.sort(random.uniform(0.1, 0.9, (questions, levels)), axis=1).round(4)
    asked: dict[str, dict[str, object]] = {
        f"Q{number}": {"skill": f"s{number % skills}", "right": right[number].tolist()} for number in range(questions)
    }
    if text:
        for number, question in enumerate(asked.values()):
            options = [str(number + wrong) for wrong in range(4)]
            question |= {"text": f"What is ${number} + 0$?", "options": options, "correct": str(number)}
    return qs.Bank({"skills": listed, "questions": asked, **({"imprecision": width} if width else {})})


def graded_bank(levels: int, classes: int, questions: int, width: float, seed: int = 1) -> qs.Bank:
    """One skill, every question with several answer classes and its own numbers."""
    random = np.random.default_rng(seed)
    names, worth = [str(level) for level in range(levels)], [f"c{number}" for number in range(classes)]
    rows = random.dirichlet(np.full(classes, 2.0), (questions, levels))
    asked = {f"Q{n}": {"skill": "s", "classes": worth, "table": dict(zip(names, rows[n].tolist(), strict=True))} for n in range(questions)}
    return qs.Bank({"skills": {"s": {"levels": names}}, "questions": asked, "imprecision": width})


def tree_bank(skills: int, questions: int) -> qs.Bank:
    """A binary tree of two-level skills."""
    listed: dict[str, dict[str, object]] = {"s0": {}}
    for number in range(1, skills):
        listed[f"s{number}"] = {"parents": [f"s{(number - 1) // 2}"], "strength": 0.6}
    asked = {f"Q{number}": {"skill": f"s{number % skills}", "right": [0.3, 0.8]} for number in range(questions)}
    return qs.Bank({"skills": listed, "questions": asked})


def answers_of(bank: qs.Bank, count: int, seed: int = 0) -> dict[str, int]:
    """Answers of one simulated taker to random questions."""
    random = np.random.default_rng(seed)
    truth = {skill.id: int(random.integers(len(skill.levels))) for skill in bank.skills.values()}
    found = {}
    for name in random.permutation(list(bank.questions))[:count]:
        question = bank.questions[str(name)]
        row = question.table.centre().lower[tuple(truth[skill] for skill in question.skills)]
        found[str(name)] = int(random.choice(len(row), p=row / row.sum()))
    return found
