"""A small valid bank document, to be broken in one place at a time: what the tests of the rules share.

A problem reads `place: rule, got value (hint)`. A change maps places to new values; `GONE` takes a field away.
"""

from copy import deepcopy

import pytest

from quaestor.bankfile.bank import Bank
from quaestor.errors import BankError

CHANCES = "impossible, almost impossible, very unlikely, unlikely, even, likely, very likely, almost certain, certain"
QUESTION_FIELDS = (
    "template, text, kind, options, pairs, gaps, correct, accept, tolerance, skill, skills, classes, right, difficulty, discrimination, "
    "needs, at_least, slip, guess, irt, gdina, rrum, table, confidence, explanation, media, alt, minutes, group, tags, pilot"
)

ONE_WAY = "a question states its probabilities in one way: right, table, difficulty, needs, irt, gdina, rrum"

GONE = object()
EVEN = {"no": [0.5, 0.5], "yes": [0.25, 0.75]}

VALID = {
    "skills": {
        "a": {},
        "b": {"levels": ["low", "mid", "high"], "prior": [0.25, 0.5, 0.25]},
        "c": {"parents": ["a"], "table": {"no": [0.5, 0.5], "yes": [0.25, 0.75]}},
    },
    "templates": {"t": {"minutes": 1}},
    "questions": {
        "Q": {"skill": "a", "right": [0.25, 0.75]},
        "O": {"skill": "a", "right": [0.25, 0.75], "options": ["x", "y"], "correct": "x"},
        "M": {"skill": "a", "right": [0.25, 0.75], "kind": "choices", "options": ["x", "y"], "correct": ["x", "y"]},
        "N": {"skill": "a", "right": [0.25, 0.75], "kind": "number", "correct": 5},
        "W": {"skill": "a", "right": [0.25, 0.75], "kind": "text", "correct": "five"},
        "D": {"skill": "a", "difficulty": "easy", "discrimination": "weak"},
        "I": {"skill": "a", "irt": {"b": 0}},
        "S": {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2},
        "T": {"skill": "a", "table": EVEN},
    },
}


def with_changes(changes, document=VALID):
    """The document with some fields changed, given by their places."""
    changed = deepcopy(document)
    for place, value in changes.items():
        *steps, last = place.split(".")
        section = changed
        for step in steps:
            section = section[step]
        if value is GONE:
            del section[last]
        else:
            section[last] = value
    return changed


def problems(document):
    """The problems of a document, as text."""
    try:
        Bank(document)
    except BankError as error:
        return [str(problem) for problem in error.problems]
    return []


def cases(*pairs):
    return pytest.mark.parametrize(("changes", "problem"), pairs, ids=[problem[:90] for _, problem in pairs])


def check(changes, problem):
    assert problems(with_changes(changes)) == [problem]
