"""Skills that need one another, and answers that contradict that: what one skill's answers make tiny is all that another's leave."""

import numpy as np

from helpers import random_models
from quaestor.bankfile.bank import Bank
from quaestor.inference.engines.enumeration import combinations
from quaestor.inference.evidence import Evidence
from quaestor.model.table import Table

GRAPHS = {"two": [(), (0,)], "chain": [(), (0,), (1,)], "star": [(), (0,), (0,)], "meeting": [(), (), (0, 1)], "loop": [(), (0,), (0, 1)]}
TIMES = (20, 60, 130, 300, 800)


def _row(rng, allowed, kind):
    """A row as bounds or vertices in which only some states are allowed; intervals may reach down to zero."""
    centre = rng.dirichlet(np.ones(len(allowed))) * allowed
    centre = centre / centre.sum()
    if kind == "vertices" and allowed.sum() > 1:
        others = rng.dirichlet(np.ones(len(allowed)), 2) * allowed
        points = 0.7 * centre + 0.3 * others / others.sum(axis=1, keepdims=True)
        return points.min(axis=0), points.max(axis=0), points
    reach = float(rng.choice([0.02, 0.1, 0.5])) * (kind == "interval") * allowed
    return np.maximum(centre - reach, 0), np.minimum(centre + reach, 1), None


def _table(rng, levels, parents, kinds, is_hard):
    """P(skill | parents): where it `is_hard`, no level is above the lowest of the parents' levels, but for chance."""
    lower, upper, vertices = [], [], {}
    for number, above in enumerate(np.ndindex((levels,) * parents)):
        allowed = (np.arange(levels) <= min(above)).astype(float) if parents and is_hard else np.ones(levels)
        low, high, points = _row(rng, allowed, str(rng.choice(kinds)))
        lower.append(low)
        upper.append(high)
        if points is not None:
            vertices[number] = points
    shape = ((levels,) * parents + (levels,)) if parents else (levels,)
    return Table(np.reshape(lower, shape), np.reshape(upper, shape), vertices)


def contradicting(seed, levels, graph="two", most=1000, least=2):
    """A credal bank with two questions a skill, `q00` to `q21`, that has between `least` and `most` networks once all are answered."""
    rng = np.random.default_rng([seed, levels, *graph.encode()])
    names, graph = [f"l{level}" for level in range(levels)], GRAPHS[graph]
    while True:
        kinds = [("precise",), ("precise", "interval"), ("interval",), ("precise", "vertices")][int(rng.integers(4))]
        is_hard = rng.random() < 0.8
        skills, questions = {}, {}
        for child, above in enumerate(graph):
            rows = random_models.stated(_table(rng, levels, len(above), kinds, is_hard), [names] * len(above))
            how = {"parents": [f"s{parent}" for parent in above], "table": rows} if above else {"prior": rows[""]}
            skills[f"s{child}"] = {"levels": names, **how}
            for number in range(2):
                right = np.sort(rng.uniform(0.05, 0.95, levels))
                width = 0.03 * rng.random(levels) * (rng.random() < 0.4)
                ends = zip(np.maximum(right - width, 0.02).tolist(), np.minimum(right + width, 0.98).tolist(), strict=True)
                questions[f"q{child}{number}"] = {
                    "skill": f"s{child}",
                    "right": [low if low == high else [low, high] for low, high in ends],
                }
        made = Bank({"skills": skills, "questions": questions})
        if not made.is_precise and least <= combinations(evidence_of(made, [(name, 0, 1) for name in questions]).model) <= most:
            return made


def answered(seed, made, times):
    """On every skill so many answers (question, class, how many): the first says low, the second high, a third one or the other."""
    rng = np.random.default_rng([seed, times])
    given = []
    for number in range(len(made.skills)):
        side = number if number < 2 else int(rng.integers(2))
        first = int(rng.integers(times + 1))
        given += [(f"q{number}0", side, first), (f"q{number}1", side, times - first)]
        given += [(f"q{number}0", 1 - side, int(times * rng.choice([0, 0, 0.2])))]
    return given


def evidence_of(made, *takers):
    """The evidence of takers who gave answers (question, class, how many times): as many questions with equal tables would give it."""
    ids = list(made.questions)
    lines = [[(ids.index(name), answer) for name, answer, times in given for _ in range(times)] for given in takers]
    most = max(map(len, lines))
    filled = np.array([[*line, *[(-1, -1)] * (most - len(line))] for line in lines], dtype=np.int32).reshape(len(lines), most, 2)
    return Evidence.begin(made, len(lines)).with_rows(filled[..., 0], filled[..., 1])
