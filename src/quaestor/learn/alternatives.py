"""The banks that answers could be learnt with: how many skills and levels, which links between the skills, tables or curves.

A Q-matrix states the skills: levels, links and shape are open. Without one there may be one skill or several that are found in the answers,
and levels, links and shape are open too. A bank states skills, levels and links: then only the shape is open. Other structures, one skill
above all, are alternatives to look at. An alternative is a recipe, made anew for every set of people it is learnt from, since skills and
trees are learnt too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, is_among
from quaestor.i18n import say, together
from quaestor.learn import SHAPES, learn
from quaestor.learn.answers import Answers
from quaestor.learn.discovery import MOST as MOST_SKILLS
from quaestor.learn.discovery import found_matrix
from quaestor.learn.fit import Fit
from quaestor.learn.graphs import chain, every_link, independent, learnt_tree
from quaestor.learn.skeleton import one_skill, skeleton

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (2, 3, 4, 5)
FOUND_LEVELS = (2, 3)  # of skills that are found
LINKS = ("independent", "chain", "tree", "all")
MOST = 1024  # profiles of levels of all skills; banks with more are not among the alternatives with linked skills
ROWS = 32  # of a question's table; with more of them only curves are
ONE = "one skill"


@dataclass(frozen=True)
class Alternative:
    """One bank that could be learnt. `skills`: "one skill" or "the skills"; `levels` 0 and `links` "given": as in the bank.

    `needs`: how the skills of a question combine in the start from a Q-matrix. `found`: the number of skills that are found in the answers.
    """

    skills: str
    levels: int
    links: str
    shape: str
    needs: str = "each"
    found: int = 0

    @property
    def name(self) -> str:
        """The alternative in a few words."""
        levels = f"{self.levels} levels" if self.levels else "as stated"
        links = {"independent": "independent", "given": "", "all": "all links"}.get(self.links, self.links)
        if self.skills == ONE:
            links = ""
        needs = f"needs {self.needs}" if self.needs != "each" else ""
        return ", ".join(part for part in (self.skills, levels, needs, links, self.shape) if part)

    @property
    def words(self) -> str:
        """The alternative in words of the reader's language."""
        skills = say("one skill") if self.skills == ONE else say("the skills as they are")
        if self.found:
            skills = say("{count} {count:skill|skills} found in the answers", count=self.found)
        levels = say("{count} {count:level|levels}", count=self.levels) if self.levels else ""
        links = {"independent": say("not linked"), "tree": say("linked as a tree"), "all": say("all linked")}.get(self.links, "")
        shape = say("curves of few numbers") if self.shape == "curves" else say("tables row by row")
        return together([part for part in (skills, levels, links if self.skills != ONE else "", shape) if part], ", ")

    @property
    def is_learnt(self) -> bool:
        """Whether skills or links are learnt from the answers."""
        return self.links == "tree" or bool(self.found)

    @property
    def options(self) -> dict[str, Any]:
        """Its options of `learn`."""
        return {"shape": self.shape, "tied": self.needs != "each"}


@dataclass(frozen=True)
class Start:
    """What is known before the answers: a bank, a Q-matrix, or nothing (then the questions alone, on one skill)."""

    questions: Bank
    matrix: "pd.DataFrame | None" = None
    stated: Bank | None = None

    def made(self, one: Alternative, answers: Answers, **options: Any) -> Bank:
        """The bank to learn with; `options` of `learn` are those of a learnt tree."""
        if one.skills == ONE:
            return one_skill(self.questions, one.levels)
        bank = self.stated
        if bank is None:
            matrix = self.matrix if not one.found else found_matrix(answers, one.found)
            assert matrix is not None
            classes = {name: question.classes for name, question in self.questions.questions.items()}
            bank = skeleton(matrix, one.levels, one.needs, self.questions.title, classes)
        if one.links == "tree":
            return learnt_tree(bank, answers, **{**one.options, **options})
        graphs = {"independent": independent, "chain": chain, "all": every_link}
        return graphs[one.links](bank) if one.links in graphs else bank

    def is_there(self, one: Alternative, answers: Answers) -> bool:
        """Whether the alternative can be made: skills that are looked for may not be found."""
        return not one.found or found_matrix(answers, one.found) is not None

    def fit(self, one: Alternative, answers: Answers, **options: Any) -> Fit:
        """The alternative learnt from these answers."""
        return learn(self.made(one, answers, **options), answers, **{**one.options, **options})

    def rows(self, one: Alternative) -> int:
        """The number of rows of the largest table of a question; of skills that are found, questions need two at most, as a rule."""
        if one.found:
            return one.levels**2
        if self.stated is not None:
            return max(question.table.lower[..., 0].size for question in self.stated.questions.values())
        assert self.matrix is not None
        return int(one.levels ** self.matrix.sum(axis=1).max())

    def profiles(self, one: Alternative) -> float:
        """The number of combinations of levels of all skills."""
        if one.skills == ONE:
            return float(one.levels)
        if self.stated is not None:
            return float(np.prod([len(skill.levels) for skill in self.stated.skills.values()], dtype=float))
        if one.found:
            return float(one.levels) ** one.found
        assert self.matrix is not None
        return float(one.levels) ** len(self.matrix.columns)


def alternatives(start: Start, told: Mapping[str, Any], limited: bool = True, most: int = 1) -> tuple[list[Alternative], list[Alternative]]:
    """The alternatives to choose among, and those that are only shown; simple ones first.

    `told`: what is not open, any of `levels`, `links`, `shape`, `needs` and `skills`. `limited`: without those that take long to learn.
    `most`: from answers alone, how many skills are looked for in them.
    """
    _check(told)
    shapes: Sequence[str] = (told["shape"],) if told.get("shape") else SHAPES[::-1]
    levels: Sequence[int] = (told["levels"],) if told.get("levels") else LEVELS
    singles = [Alternative(ONE, level, "independent", shape) for level in levels for shape in shapes]
    if start.stated is not None:
        own = [Alternative("the skills", 0, told.get("links") or "given", shape) for shape in shapes]
        others = [replace(own[-1], links=links) for links in ("independent", "tree", "all") if not told.get("links")]
        return own, [*([] if len(start.stated.skills) == 1 else _fitting(start, others)), *singles]
    if start.matrix is None:
        return _from_answers(start, told, singles, shapes, most)
    several = len(start.matrix.columns) > 1
    links: Sequence[str] = (told["links"],) if told.get("links") else ("independent", "tree", "all") if several else ("independent",)
    needs: Sequence[str] = (told["needs"],) if told.get("needs") else ("each",)
    own = [Alternative("the skills", level, link, shape, need) for level in levels for link in links for shape in shapes for need in needs]
    if not told.get("needs") and 2 in levels and "tables" in shapes and (start.matrix.sum(axis=1) > 1).any():
        own += [Alternative("the skills", 2, link, "tables", "all") for link in links]
    fitting = _fitting(start, own) if limited else own
    if not fitting:
        raise QuaestorError(f"choose: a bank of at most {MOST:,} combinations of levels of all skills, got none; name levels and links")
    return fitting, singles if several else []


def _from_answers(
    start: Start, told: Mapping[str, Any], singles: list[Alternative], shapes: Sequence[str], most: int
) -> tuple[list[Alternative], list[Alternative]]:
    """One skill, or several that are found."""
    counts = (told["skills"],) if told.get("skills") else range(2, most + 1)
    links = (told["links"],) if told.get("links") else ("tree", "all")
    levels = (told["levels"],) if told.get("levels") else FOUND_LEVELS
    found = [
        Alternative(f"{count} skills found", level, link, shape, found=count)
        for count in counts
        if count > 1
        for level in levels
        for link in links
        for shape in shapes
    ]
    return (_fitting(start, found), singles) if told.get("skills", 1) not in (1, None) else ([*singles, *_fitting(start, found)], [])


def _fitting(start: Start, listed: Sequence[Alternative]) -> list[Alternative]:
    """Those that are learnt in a short time."""
    return [one for one in listed if start.profiles(one) <= MOST and (one.shape == "curves" or start.rows(one) <= ROWS)]


def _check(told: Mapping[str, Any]) -> None:
    levels, links, shape = told.get("levels"), told.get("links"), told.get("shape")
    skills = told.get("skills")
    if skills is not None and (isinstance(skills, bool) or not isinstance(skills, int) or not 1 <= skills <= MOST_SKILLS):
        raise QuaestorError(f"choose: between 1 and {MOST_SKILLS} skills are looked for, got {skills!r}")
    if levels is not None and (isinstance(levels, bool) or not isinstance(levels, int) or levels < 2):
        raise QuaestorError(f"choose: a skill has at least 2 levels, got {levels!r}")
    if links is not None and not is_among(links, LINKS):
        raise QuaestorError(f"choose: links is one of {', '.join(LINKS)}, got {format_value(links)}")
    if shape is not None and not is_among(shape, SHAPES):
        raise QuaestorError(f"choose: shape is one of {', '.join(SHAPES)}, got {format_value(shape)}")


def simplest(start: Start, told: Mapping[str, Any]) -> Alternative:
    """What is taken where there are too few people to try alternatives: curves on few levels, whose numbers are shrunk."""
    open_ones, _ = alternatives(start, told)
    return min(open_ones, key=lambda one: (one.shape != "curves", one.levels, one.links != "independent"))
