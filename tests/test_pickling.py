"""Questions and beliefs travel: pickled, copied, or sent to another process, they are equal and still do not change."""

import pickle
import subprocess
import sys
from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, astuple

import numpy as np
import pytest

import quaestor as qs

ECHO = "import pickle, sys; pickle.dump(pickle.load(sys.stdin.buffer), sys.stdout.buffer)"


def pickled(given):
    return pickle.loads(pickle.dumps(given))


def sent(given):
    """To a new process, that knows nothing of this one, and back."""
    done = subprocess.run([sys.executable, "-c", ECHO], input=pickle.dumps(given), capture_output=True, check=True)
    return pickle.loads(done.stdout)


WAYS = pytest.mark.parametrize("way", [pickled, copy, deepcopy, sent])
BANK = qs.Bank(
    {
        "skills": {"a": {"levels": ["low", "middle", "high"]}, "b": {}},
        "questions": {
            "choice": {"skill": "b", "right": [0.2, 0.9], "options": {"50": "right", "15": "wrong"}, "tags": ["sums"]},
            "number": {"skill": "b", "right": [[0.1, 0.2], 0.9], "kind": "number", "correct": "1/3", "tolerance": "0.1", "minutes": 2},
            "hulls": {
                "skill": "a",
                "classes": ["wrong", "half", "right"],
                "table": {
                    "low": {"vertices": [[0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]},
                    "middle": [0.2, 0.3, 0.5],
                    "high": [0.1, 0.3, 0.6],
                },
            },
        },
    }
)


@WAYS
def test_questions(way):
    given = list(BANK.questions.values())
    found = way(given)
    assert found == given
    assert [hash(question) for question in found] == [hash(question) for question in given]
    assert found[1].classify("0.4") == "right"


@WAYS
def test_a_question_still_does_not_change(way):
    found = way(BANK.questions["choice"])
    assert found.option_classes == {"50": "right", "15": "wrong"}
    with pytest.raises(TypeError):
        found.option_classes["15"] = "right"
    with pytest.raises(FrozenInstanceError):
        found.text = "?"


@WAYS
def test_beliefs(way):
    given = qs.posterior(BANK, {"hulls": "half", "number": "right"})
    found = way(given)
    assert list(found) == list(given)
    assert (found.gap, found.method) == (given.gap, given.method)
    for skill in given:
        for ours, theirs in zip(astuple(given[skill]), astuple(found[skill]), strict=True):
            np.testing.assert_array_equal(ours, theirs)


@WAYS
def test_beliefs_still_do_not_change(way):
    found = way(qs.posterior(BANK, {}))
    with pytest.raises(TypeError):
        found.skills["a"] = found["b"]
    for array in (found["a"].lower, found["a"].upper, found["a"].inner_lower, found["a"].inner_upper):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("name", ["four-skills", "fractions", "german", "single-skill-as-run"])
def test_bundled_questions(name):
    given = dict(qs.load(name).questions)
    assert pickled(given) == given
