"""The authors' raw results, replayed: the same questions and answers give the same posteriors."""

import csv
from collections import Counter
from functools import cache

import pytest

from helpers.paths import SHARED
from quaestor import load, posterior

REPLAY = SHARED / "paper" / "replay"
STUDENTS, QUESTIONS = 1024, 18
HALF_UNIT = 5e-5 + 1e-9  # of four printed decimals

ABSENT = "the authors' raw results are not beside this repository (../shared/paper/replay)"
pytestmark = pytest.mark.skipif(not REPLAY.is_dir(), reason=ABSENT)


def steps(method):
    """For each student and step the answers so far, as a map from question to answer, and the row as it is printed."""
    answers = {}
    with (REPLAY / f"{method}.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["step"] == "0":
                answers = {}
            else:
                assert len(answers) == int(row["step"]) - 1
                answers = answers | {int(row["question"]): int(row["answer"])}
            yield int(row["student"]), answers, row


@cache
def bank(epsilon):
    return load("single-skill-as-run").widen(epsilon)


def replayer(epsilon, method):
    """Posteriors by answers, each different set worked out once: the questions are nine templates, asked twice."""
    known = {}

    def replayed(answers):
        key = frozenset(Counter(((question - 1) % 9, answer) for question, answer in answers.items()).items())
        if key not in known:
            found = posterior(bank(epsilon), {f"Q{question}": answer for question, answer in answers.items()}, method=method)
            assert found.exact
            known[key] = (found["S"].lower.tolist(), found["S"].upper.tolist())
        return known[key]

    return replayed


def test_questions_ten_to_eighteen_repeat_the_first_nine():
    questions = list(bank(0).questions.values())
    assert [question.id for question in questions] == [f"Q{number}" for number in range(1, QUESTIONS + 1)]
    assert all(one.table == other.table for one, other in zip(questions[:9], questions[9:], strict=True))


def test_replayed_answers_are_the_students_answers():
    with (REPLAY / "answers.csv").open(newline="") as file:
        given = {int(row["student"]): row for row in csv.DictReader(file)}
    for method in ("bayesian_entropy", "bayesian_mode", "random", "credal_entropy", "credal_mode"):
        for student, answers, _ in steps(method):
            assert all(given[student][f"Q{question}"] == str(answer) for question, answer in answers.items())


@pytest.mark.parametrize(
    "method", ["bayesian_entropy", *(pytest.param(name, marks=pytest.mark.long) for name in ("bayesian_mode", "random"))]
)
def test_bayesian_posteriors_equal_the_printed_digits(method):
    posteriors, seen = replayer(0, "auto"), Counter()
    for student, answers, row in steps(method):
        lower, upper = posteriors(answers)
        assert lower == upper
        assert abs(lower[0] - float(row["p0"])) <= HALF_UNIT
        assert abs(lower[1] - float(row["p1"])) <= HALF_UNIT
        seen[student] += 1
    assert len(seen) == STUDENTS
    assert set(seen.values()) == {QUESTIONS + 1}


@pytest.mark.parametrize("method", ["credal_entropy", pytest.param("credal_mode", marks=pytest.mark.long)])
def test_credal_posteriors_equal_enumeration_and_nearly_the_authors(method):
    ours, oracle, furthest, seen = replayer(0.05, "auto"), replayer(0.05, "enumeration"), 0.0, set()
    for student, answers, row in steps(method):
        lower, upper = ours(answers)
        for found, true in zip((*lower, *upper), (*oracle(answers)[0], *oracle(answers)[1]), strict=True):
            assert abs(found - true) <= 1e-9
        printed = [float(row[name]) for name in ("lower0", "lower1", "upper0", "upper1")]
        furthest = max(furthest, *(abs(found - theirs) for found, theirs in zip((*lower, *upper), printed, strict=True)))
        seen.add(student)
    assert len(seen) == STUDENTS
    assert 1e-4 < furthest <= 1e-3  # theirs come from a local search: not far off, and not exact either
