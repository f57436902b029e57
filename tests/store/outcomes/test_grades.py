"""Grades by cut-offs."""

from datetime import datetime

import pytest

from quaestor.errors import QuaestorError
from quaestor.store.outcomes import grades
from quaestor.store.outcomes.outcome import Finding, Outcome

SCHOOL = "92 1\n81 2\n67 3\n50 4\n30 5\n0 6"


def outcome(points=0.0, counted=3, levels=(), **more):
    names = ("no", "partly", "yes")
    skills = {}
    for number, (place, answers) in enumerate(levels):
        shares = tuple(0.9 if one == place else 0.05 for one in range(3)) if place is not None else (0.4, 0.4, 0.2)
        skills[str(number)] = Finding(names[place or 0], names, shares, shares, answers, 2, 0.8)
    told = {"state": "over", "points": points, "counted": counted, **more}
    return Outcome(1, None, "Ada", "ABCD", told.pop("state"), datetime(2026, 5, 4), None, 1, 3, 2, "", skills, None, **told)


@pytest.mark.parametrize(
    ("points", "counted", "grade"),
    [(3, 3, "1"), (2, 3, "4"), (1 / 3 + 1 / 3 + 1 / 3, 2, "4"), (0, 3, "6"), (0, 0, ""), (2.01, 3, "3"), (0.1 + 0.2, 0.6, "4")],
)
def test_by_points(points, counted, grade):
    assert grades.read(SCHOOL, "points").grade(outcome(points, counted)) == grade


@pytest.mark.parametrize(
    ("levels", "grade"),
    [
        ([(2, 2), (2, 5)], "passed with distinction"),
        ([(1, 2), (1, 2)], "passed"),
        ([(0, 2), (1, 2)], "failed"),
        ([(2, 2), (2, 1)], ""),
        ([(None, 2), (2, 2)], ""),
    ],
)
def test_by_levels(levels, grade):
    scheme = grades.read("100% passed with distinction\n50: passed\n\n0 = failed\n", "levels")
    assert scheme.grade(outcome(levels=levels)) == grade
    assert grades.stored(scheme.document) == scheme
    assert grades.read(scheme.text, "levels") == scheme


def test_nobody_is_graded_too_early():
    scheme = grades.read(SCHOOL, "points")
    assert scheme.grade(outcome(3, state="running")) == ""
    assert scheme.grade(outcome(3, waits=True)) == ""
    assert grades.read(" \n", "points") is None
    assert grades.stored(None) is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("good", "line 1: a percentage from 0 to 100, then the grade, such as: 50 passed, got good"),
        ("101 A\n0 B", "line 1: a percentage from 0 to 100"),
        ("50 A\n50 B\n0 C", "line 2: less than in the line above, 50, got 50"),
        ("50 A\n\n60 B\n0 C", "line 3: less than in the line above, 50, got 60"),
        ("50", "line 1: a grade of 1 to 40 letters, got none"),
        ("50 A\n10 B", "the last grade begins at 0, so that everybody gets one, got 10"),
        ("\n".join(f"{100 - n} g{n}" for n in range(31)), "at most 30 grades, got 31"),
    ],
)
def test_a_scheme_that_cannot_be_is_refused(text, words):
    with pytest.raises(QuaestorError, match=words):
        grades.read(text, "points")
    with pytest.raises(QuaestorError, match="by: one of points, levels, got luck"):
        grades.read("0 A", "luck")
