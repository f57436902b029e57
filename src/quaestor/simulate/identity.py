"""Whose a simulation is: two of them can be compared student by student only where their students are the same.

A simulated student is a true level for every skill and one uniform number for every question; the numbers come from the seed, each by its
place among those drawn. Real people are their answers. Rules, the bank's tables and behaviour do not make another student.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Identity:
    """What makes students these ones, their levels apart. `seed`: None for real people.

    `answers`: for each question what decides its answers: the place of its uniform number, or a hash of what real people answered.
    """

    students: int
    seed: int | None
    answers: Mapping[str, int | str]

    @staticmethod
    def drawn(students: int, seed: int, questions: Sequence[str], before: int) -> "Identity":
        """Simulated students; `before`: how many numbers are drawn before those of the questions."""
        return Identity(students, seed, {name: before + place for place, name in enumerate(questions)})

    @staticmethod
    def of_people(questions: Sequence[str], responses: NDArray[np.intp]) -> "Identity":
        """Real people, by their answers (people, questions)."""
        columns = zip(questions, responses.T, strict=True)
        return Identity(len(responses), None, {name: hashlib.sha256(given.astype("<i8").tobytes()).hexdigest() for name, given in columns})

    def difference(self, other: "Identity") -> str:
        """What differs, in words; nothing where the students are the same. Questions that only one of both has decide nothing."""
        if (self.seed is None) != (other.seed is None):
            kinds = ["real people" if one.seed is None else "simulated students" for one in (self, other)]
            return " and ".join(kinds)
        if self.students != other.students:
            return f"{self.students} and {other.students} {'people' if self.seed is None else 'students'}"
        if self.seed != other.seed:
            return f"the seeds {self.seed} and {other.seed}"
        shared = [name for name in self.answers if name in other.answers]
        if self.seed is None and not shared:
            return "real people without a question in common"
        apart = [name for name in shared if self.answers[name] != other.answers[name]]
        if not apart:
            return ""
        return f"other answers to '{apart[0]}'" if self.seed is None else f"another number drawn for '{apart[0]}'"
