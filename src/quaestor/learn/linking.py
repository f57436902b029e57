"""Two forms of a test that share questions, on one scale: the old form's tables are held, and the new form's questions are calibrated.

The shared questions (the anchors) say what the levels mean: their tables are held fixed at those of the old bank while the tables of the
new questions, and how many of the new people are at each level, are learnt from the new answers. So the new people may be better or worse
than the old ones without their questions looking easier or harder. That an anchor has stayed the same is tested first: its right answers
are compared with those predicted from the person's other answers. The one that has moved most (at a false discovery rate of 5 %) is learnt
anew like the new questions, and the others are tested again, since one that has moved makes the others look moved the other way. The test
takes the old tables as exact, so a difference must also be at least 0.05.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from quaestor.bankfile.bank import Bank, check_bank
from quaestor.errors import QuaestorError, format_value
from quaestor.learn import learn
from quaestor.learn.answers import Responses, read_answers
from quaestor.learn.chance import discoveries
from quaestor.learn.fit import Fit
from quaestor.learn.predicted import predictions

SHARE = 0.05  # of false discoveries among anchors that are said to have moved
GAP = 0.05  # an anchor that has moved differs by at least this share of best answers
FEWEST = 3  # anchors that have to stay


@dataclass(frozen=True)
class Anchor:
    """A shared question: `answers` in the new form, share of best answers `expected` by its old table and `observed`, p-value `chance`."""

    question: str
    answers: int
    expected: float
    observed: float
    chance: float
    moved: bool


@dataclass(frozen=True)
class Link:
    """Both forms as one bank, `bank`, on the scale of the old one; `fit`: what was learnt from the new form.

    `anchors`: the shared questions. The skills' tables are those of the new people.
    """

    fit: Fit
    anchors: tuple[Anchor, ...]

    @property
    def bank(self) -> Bank:
        """The questions of both forms."""
        return self.fit.bank

    @property
    def moved(self) -> tuple[str, ...]:
        """The anchors that are easier or harder than they were, and so were learnt anew."""
        return tuple(one.question for one in self.anchors if one.moved)


def link(old: Bank, new: Bank, responses: Responses, **options: Any) -> Link:
    """Put a new form of a test on the scale of an old one.

    `old`: the old form's bank, learnt before; `new`: the new form's, with the same skills and levels, and at least three of the old
    questions under the same ids; `responses`: the answers to the new form; `options` as in `learn`.
    """
    joined, shared = _joined(old, new)
    answers = read_answers(new, responses)
    everyone = read_answers(joined, _padded(joined, answers))
    fixed = [*options.pop("fixed", ()), *old.questions]
    moved: list[str] = []
    found: dict[str, Anchor] = {}
    while True:
        fit = learn(joined, everyone, fixed=[name for name in fixed if name not in moved], **options)
        anchors = _tested(fit, [name for name in shared if name not in moved])
        worst = min((one for one in anchors if one.moved), key=lambda one: one.chance, default=None)
        if worst is None:
            break
        moved.append(worst.question)
        found[worst.question] = worst
        if len(shared) - len(moved) < FEWEST:
            rule = f"link: at least {FEWEST} shared questions have stayed as they were"
            raise QuaestorError(f"{rule}, got {len(shared) - len(moved)}; easier or harder now: {', '.join(moved)}")
    found |= {one.question: one for one in anchors}
    return Link(fit, tuple(found[name] for name in shared))


def _padded(joined: Bank, answers: Any) -> Any:
    """The answers to the new form as answers to both: none to the questions of the old one alone."""
    place = {name: number for number, name in enumerate(answers.columns)}
    cells = answers.cells.toarray() - 1 if scipy.sparse.issparse(answers.cells) else answers.cells
    wide = np.full((len(answers), len(joined.questions)), -1, dtype=np.int16)
    for number, name in enumerate(joined.questions):
        if name in place:
            wide[:, number] = cells[:, place[name]]
    classes = tuple(question.classes for question in joined.questions.values())
    return replace(answers, columns=tuple(joined.questions), classes=classes, cells=wide)


def _joined(old: Bank, new: Bank) -> tuple[Bank, list[str]]:
    """The old bank with the new questions, and the shared ones."""
    for place, bank in (("old", old), ("new", new)):
        check_bank(bank, f"link: {place}")
    for name in {*old.skills, *new.skills}:
        levels = [bank.skills[name].levels if name in bank.skills else () for bank in (old, new)]
        if name in new.skills and levels[0] != levels[1]:
            rule = f"link: skill {format_value(name)} has the same levels in both forms"
            raise QuaestorError(f"{rule}, got {', '.join(levels[0]) or 'none'} and {', '.join(levels[1])}")
    shared = [name for name in new.questions if name in old.questions]
    for name in shared:
        one, other = old.questions[name], new.questions[name]
        if (one.skills, one.classes) != (other.skills, other.classes):
            raise QuaestorError(f"link: a shared question has the same skills and classes in both forms, got others of '{name}'")
    if len(shared) < FEWEST:
        raise QuaestorError(f"link: two forms share at least {FEWEST} questions, got {len(shared)}")
    document, further = old.document, new.document
    for name, entry in further["questions"].items():
        if name not in old.questions:
            document["questions"][name] = entry
    templates = {**further.get("templates", {}), **document.get("templates", {})}
    if templates:
        document["templates"] = templates
    joined = Bank(document)
    stated = {**{name: one.table for name, one in new.questions.items()}, **{name: one.table for name, one in old.questions.items()}}
    return joined.with_tables({name: table for name, table in stated.items() if joined.questions[name].table != table}), shared


def _tested(fit: Fit, shared: list[str]) -> tuple[Anchor, ...]:
    found = []
    for name in shared:
        chances, right = predictions(fit, name)
        spread = float(np.sqrt((chances * (1 - chances)).sum()))
        score = float((right - chances).sum()) / spread if spread > 0 else 0.0
        found.append(
            (name, len(right), float(chances.mean()) if len(right) else np.nan, float(right.mean()) if len(right) else np.nan, score)
        )
    tails = np.array([2 * float(scipy.special.ndtr(-abs(score))) if count else np.nan for _, count, _, _, score in found])
    apart = np.array([abs(observed - expected) for _, _, expected, observed, _ in found])
    flagged = discoveries(tails, SHARE) & (apart >= GAP)
    return tuple(
        Anchor(name, count, expected, observed, float(tail), bool(moved))
        for (name, count, expected, observed, _), tail, moved in zip(found, tails, flagged, strict=True)
    )
