"""Random banks that are small enough to try every network, and what their questions would tell."""

import numpy as np

from helpers import random_models
from oracles.scores import work
from quaestor import QuaestorError, posterior
from quaestor.inference.lookahead import lookahead

EXACT = {"tolerance": 1e-10, "limit": 20_000}


def random_bank(kind, seed, most=1500):
    """A bank and answers to some of its questions, with at most so many networks of vertices for any open question."""
    rng = np.random.default_rng([seed, *kind.encode()])
    graph = {"precise": "loopy", "two skills": "tree", "hulls": "tree", "odds": "tree"}[kind]
    levels = {"odds": (2,), "hulls": (3,), "two skills": (2, 2, 3), "precise": (2, 3)}[kind]
    most_skills = 1 if kind in ("odds", "hulls") else 2
    while True:
        count = int(rng.integers(2, 4)) if kind in ("precise", "odds") else 2
        rows = ("precise",) if kind == "precise" else ("precise", "interval") if kind == "odds" else ("precise", "precise", "interval")
        scopes = random_models.scopes_of(rng, count, 4, most_skills)
        if kind == "two skills":
            scopes[0], scopes[1] = [1, 0], [0, 1]
        zeros = 0.15 if seed % 3 == 0 else 0.0
        made = random_models.bank(rng, random_models.GRAPHS[graph](rng, count), scopes, levels, (2, 2, 3), rows, 0.2, zeros)
        answers = {name: answer for name, answer in random_models.answer(rng, made, 0.4).items() if name != f"q{seed % 4}"}
        try:
            posterior(made, answers)
        except QuaestorError:
            continue
        if made.is_precise == (kind == "precise") and work(made, answers) <= most:
            return made, answers


def open_questions(bank, answers):
    return [(place, name) for place, name in enumerate(bank.questions) if name not in answers]


def looked(bank, answers, target="scope"):
    """What every question would tell, with bounds that meet."""
    ahead = lookahead(bank, answers, target, **EXACT)
    assert ahead.gap < 1e-8
    return ahead
