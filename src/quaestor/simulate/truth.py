"""Students that are not drawn from the test's own bank: from another bank, or with given true levels."""

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, nearest
from quaestor.extras import from_extra
from quaestor.simulate.cohort import Levels

if TYPE_CHECKING:
    import pandas as pd


def check_truth(bank: Bank, truth: Bank) -> None:
    """Refuse a bank of the students that lacks a skill or question of the test's bank, or has other levels or answer classes."""
    for skill in bank.skills.values():
        levels = truth.skills[skill.id].levels if skill.id in truth.skills else None
        if levels != skill.levels:
            found = "no such skill" if levels is None else ", ".join(levels)
            raise QuaestorError(f"truth: {skill.id} has the levels {', '.join(skill.levels)}, got {found}")
    for question in bank.questions.values():
        classes = truth.questions[question.id].classes if question.id in truth.questions else None
        if classes != question.classes:
            found = "no such question" if classes is None else ", ".join(classes)
            raise QuaestorError(f"truth: {question.id} has the answer classes {', '.join(question.classes)}, got {found}")


def levels_of(bank: Bank, students: "str | pd.DataFrame | Levels") -> Levels:
    """True levels, (students, skills): of every profile (`"profiles"`), or a table with a column a skill (levels by name or number)."""
    sizes = [len(skill.levels) for skill in bank.skills.values()]
    if isinstance(students, str):
        if students != "profiles":
            raise QuaestorError(f"students are a number, 'profiles' or a table of levels, got '{students}'")
        return np.array(list(product(*(range(size) for size in sizes))))
    with from_extra():
        import pandas as pd  # only here: it takes long to import

    if not isinstance(students, pd.DataFrame):
        if np.ndim(students) != 2:
            raise QuaestorError(f"students are a number, 'profiles' or a table of levels, got {students!r}")
        students = pd.DataFrame(
            np.asarray(students), columns=list(bank.skills) if np.ndim(students) == 2 and np.shape(students)[1] == len(sizes) else None
        )
    for column in students.columns:
        if column not in bank.skills:
            hint = nearest(column, bank.skills)
            raise QuaestorError(f"students: a column is a skill, got '{column}'" + (f" ({hint})" if hint else ""))
    if not students.columns.is_unique:
        raise QuaestorError(f"students: a skill has one column, got two of '{students.columns[students.columns.duplicated()][0]}'")
    missing = [skill for skill in bank.skills if skill not in students.columns]
    if missing or not len(students):
        raise QuaestorError(
            f"students: a row a student with the level of every skill, got {'no column ' + missing[0] if missing else 'no row'}"
        )
    return np.stack([_levels(bank, skill, students[skill]) for skill in bank.skills], axis=1)


def _levels(bank: Bank, skill: str, column: "pd.Series") -> Levels:
    names = bank.skills[skill].levels
    found = []
    for row, value in enumerate(column):
        if str(value) in names:  # a level named 1 is meant by the number 1
            found.append(names.index(str(value)))
        elif isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < len(names):
            found.append(int(value))
        else:
            raise QuaestorError(f"students: row {row}, {skill}: a level is one of {', '.join(names)}, got {value!r}")
    return np.array(found)
