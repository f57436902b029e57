"""Small banks whose steps take very long: questions on three skills each tie all skills together, and every number is an interval."""

from itertools import combinations, product
from typing import Any

import numpy as np


def slow_document(skills: int = 6, levels: int = 2, questions: int = 12, seed: int = 1) -> dict[str, Any]:
    """A document of a bank of a few kilobytes that no engine can solve while somebody waits."""
    rng = np.random.default_rng(seed)
    names, steps = [f"skill {number}" for number in range(1, skills + 1)], [f"level {number}" for number in range(levels)]
    scopes = list(combinations(names, 3))
    asked: dict[str, Any] = {}
    for number, place in enumerate(np.resize(rng.permutation(len(scopes)), questions), 1):
        rows = {}
        for row in product(range(levels), repeat=3):
            right = round(0.2 + 0.6 * sum(row) / (3 * (levels - 1)) + rng.uniform(-0.1, 0.1), 2)
            rows[", ".join(steps[level] for level in row)] = [round(1 - right, 2), right]
        fields = {"text": f"Is statement {number} true?", "options": ["yes", "no"], "correct": "yes"}
        asked[f"Q{number}"] = {**fields, "skills": list(scopes[place]), "table": rows}
    return {"quaestor": 2, "title": "Slow", "imprecision": 0.05, "skills": {name: {"levels": steps} for name in names}, "questions": asked}
