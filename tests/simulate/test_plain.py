"""Plain tests, all students together on any library: the same questions, answers and ends as by the steps of a session."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import quaestor as qs
from helpers.libraries import library
from helpers.records import check_same, check_summaries
from oracles.students import students_of
from quaestor.selection import narrowing
from quaestor.simulate import plain, simulate
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.run import take
from quaestor.simulate.simulation import Simulation
from quaestor.simulate.work import Job, parts_of

STOPS = {
    "length": qs.max_questions(6),
    "entropy": qs.any_of(qs.entropy_below(0.4), qs.max_questions(8)),
    "gain": qs.all_of(qs.min_questions(2), qs.gain_below(0.02)),
    "joint": qs.any_of(qs.entropy_below(0.5, over="joint"), qs.max_questions(5, skill="each")),
    "none": None,
}


def graded(seed):
    """Skills of three and two levels, the second before the first in the file, questions of two to four classes in mixed order."""
    rng, classes = np.random.default_rng(seed), ["a", "b", "c", "d"]
    skills = {"t": {"levels": ["1", "2"], "parents": ["s"], "table": {"1": [0.7, 0.3], "2": [0.5, 0.5], "3": [0.2, 0.8]}}}
    skills["s"] = {"levels": ["1", "2", "3"], "prior": [0.5, 0.3, 0.2]}
    asked = {}
    for number in range(14):
        skill, count = "st"[number % 2], 2 + number % 3
        rows = rng.dirichlet(np.full(count, 2.0), len(skills[skill]["levels"]))
        table = dict(zip(skills[skill]["levels"], rows.tolist(), strict=True))
        asked[f"Q{number}"] = {"skill": skill, "classes": classes[:count], "table": table}
    return qs.Bank({"skills": skills, "questions": asked})


ODD = Behaviour(fatigue=0.05, guessing=0.1, slips=0.05, skipping=0.1)


@pytest.mark.parametrize("name", ["strict", "torch"])
@pytest.mark.parametrize("score", ["variance", "mutual_information", "gdi", "kl", "pwkl", "mpwkl"])
def test_every_library_knows_the_scores_of_cognitive_diagnosis(name, score):
    bank, rules, used = graded(3), qs.Rules(score=score, stop=qs.any_of(qs.max_questions(5), qs.sprt(0.1, 0.1))), library(name)
    assert plain.is_plain(bank, rules, ODD)
    students = students_of(bank, 25, seed=5)
    check_same(take(bank, rules, students, ODD), plain.take(bank, rules, students, ODD, used))


@pytest.mark.parametrize("name", ["numpy", "strict", "torch"])
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("score", ["entropy", "mode", "gini"])
def test_every_library_takes_the_test_as_sessions_do(name, stop, score):
    used = library(name)
    for bank, behaviour in ((qs.load("german"), Behaviour()), (qs.load("single-skill-as-run"), ODD), (graded(3), ODD)):
        rules = qs.Rules(score=score, stop=STOPS[stop])
        assert plain.is_plain(bank, rules, behaviour)
        students = students_of(bank, 40, seed=5)
        expected, found = take(bank, rules, students, behaviour), plain.take(bank, rules, students, behaviour, used)
        check_same(expected, found)
        check_summaries(expected, found)


def test_skips_that_count_as_wrong():
    bank, rules = qs.load("german"), qs.Rules(score="entropy", skips="wrong", stop=qs.max_questions(8))
    students, behaviour = students_of(bank, 60), Behaviour(skipping=0.4)
    check_same(take(bank, rules, students, behaviour), plain.take(bank, rules, students, behaviour, library("numpy")))
    with pytest.raises(qs.QuaestorError, match="the rules let no question be skipped, got a student who skips"):
        simulate(bank, replace(rules, may_skip=False), 60, behaviour=behaviour)


@pytest.mark.parametrize(
    ("bank", "rules", "behaviour"),
    [
        (qs.load("fractions").widen(0.05), qs.Rules(), Behaviour()),
        (qs.load("fractions"), qs.Rules(), Behaviour()),
        (qs.load("german"), qs.Rules(score="random"), Behaviour()),
        (qs.load("german"), qs.Rules(mandatory=["Q1"]), Behaviour()),
        (qs.load("german"), qs.Rules(exposure=qs.Exposure(most=0.5, rates={"Q1": 0.7})), Behaviour()),
        (qs.load("german"), qs.Rules(), Behaviour(reveals={"Q1": {"Q2": 0.5}})),
    ],
    ids=["credal", "several skills", "random", "rules", "worn", "reveals"],
)
def test_what_is_not_plain(bank, rules, behaviour):
    assert not plain.is_plain(bank, rules, behaviour)


def test_rules_that_somebody_added_are_not_plain(monkeypatch):
    bank, rules = qs.load("german"), qs.Rules(score="entropy", stop=qs.max_questions(3))
    assert plain.is_plain(bank, rules, Behaviour())
    monkeypatch.setattr(narrowing, "KEEPING", [*narrowing.KEEPING, lambda now, left: None])
    assert not plain.is_plain(bank, rules, Behaviour())


def test_answers_that_contradict_are_not_plain():
    bank = qs.Bank({"skills": {"s": {}}, "questions": {"Q": {"skill": "s", "right": [0.0, 0.7]}}})
    assert not plain.is_plain(bank, qs.Rules(), Behaviour())


def asked_in(bank, rules, students, size):
    """What is asked with parts of so many students."""
    job = Job(bank, rules, students, Behaviour(), size=size)
    made = Simulation.of(parts_of(job, 1, None, None, None), tuple(bank.skills), tuple(bank.questions))
    return made.asked_places, made.accuracy


@pytest.mark.parametrize("score", ["entropy", "mode", "gini"])
def test_parts_of_any_size_ask_the_same(score):
    bank = qs.load("four-skills")
    rules, cohort = qs.Rules(score=score, stop=qs.max_questions(12)), Cohort(bank, bank, 300, 1)
    whole, accuracy = asked_in(bank, rules, cohort, 300)
    for size in (1, 7, 256):
        asked, its = asked_in(bank, rules, cohort, size)
        assert (asked == whole).all()
        np.testing.assert_allclose(its, accuracy, rtol=0, atol=1e-9)


PROGRAM = """
import hashlib
import quaestor as qs
found = hashlib.sha256()
for name in ("four-skills", "single-skill-as-run", "german"):
    for score in ("entropy", "mode", "gini"):
        x = qs.simulate(qs.load(name), qs.Rules(score=score, stop=qs.max_questions(15)), 400)
        found.update(x.asked_places.astype("<i4").tobytes(order="C"))
print(found.hexdigest())
"""


def test_threads_and_kernels_of_the_matrix_library_ask_the_same():
    """Products round otherwise with other kernels and threads; gains that differ by rounding are ties."""
    settings = [
        {"OPENBLAS_NUM_THREADS": "1"},
        {"OPENBLAS_NUM_THREADS": "2"},
        {"OPENBLAS_CORETYPE": "Nehalem"},
        {"OPENBLAS_CORETYPE": "Haswell"},
    ]
    found = set()
    for setting in settings:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, **setting}, capture_output=True, text=True, check=True, timeout=120
        )
        found.add(done.stdout.strip())
    assert len(found) == 1
