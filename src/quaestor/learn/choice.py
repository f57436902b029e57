"""Good without choosing: the alternatives are tried on people they have not seen, and one is taken by a stated rule.

All alternatives (see `alternatives`) are cross-validated on the same folds of at most `TRIED` people, drawn at random. The rule: the best
held-out log loss wins, but of all alternatives that are not worse than it by more than half a standard error of the paired difference, the
one with the fewest free numbers is taken. So a more complex bank must earn its numbers, while a clear gain is never given away. What is far
behind after the first fold is not tried further. The bank taken is then learnt from all people.

Skills that are found in the answers (see `discovery`) are found anew for every fold. They are taken only if they predict people held out
better than one skill does, by at least `CLEARLY` standard errors, and if `STABLE` of their rows are found again in other samples.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, expect_call, expect_number, several
from quaestor.extras import from_extra
from quaestor.learn import learn
from quaestor.learn.alternatives import ONE, Alternative, Start, alternatives
from quaestor.learn.answers import Answers, Responses, read_answers
from quaestor.learn.compare import log_likelihoods_by_person
from quaestor.learn.discovery import SURE, Stability, found_matrix, likely_skills, stability
from quaestor.learn.fit import Fit
from quaestor.learn.folds import fold_of
from quaestor.learn.points import questions_of
from quaestor.learn.skeleton import check_matrix, skeleton
from quaestor.model.table import Array

if TYPE_CHECKING:
    import pandas as pd

FOLDS = 5
TRIED = 500  # people that the alternatives are tried on
WITHIN = 0.5  # standard errors
CLEARLY = 2.0  # standard errors by which skills that are found predict better than one skill
STABLE = 0.6  # the share of rows that are found again in other samples, for skills to be told
BEHIND = 3.0  # standard errors in the first fold; what is farther behind is given up
FEW, FRONT = 8, 2  # a tree takes long to learn: of more alternatives, only where other links are among the first two is one tried
ENOUGH = 40  # people in the first fold; with fewer nothing is given up
SHOWN = 10  # questions that a sentence names
_LOOSE = 1e-3  # of the log-likelihood for each person: enough to tell alternatives apart


@dataclass(frozen=True)
class Trial:
    """One alternative on held-out people: its log loss an answer, (people,), in the folds that were tried; `numbers`: free parameters."""

    alternative: Alternative
    losses: Array
    numbers: int
    eligible: bool

    @property
    def name(self) -> str:
        """The alternative in a few words."""
        return self.alternative.name

    @property
    def loss(self) -> float:
        """The mean held-out log loss an answer."""
        return float(self.losses.mean())


@dataclass(frozen=True)
class Found:
    """Skills that were found in the answers, as a Q-matrix, and how stable its rows are; `trial`: how a bank with them predicts."""

    matrix: "pd.DataFrame"
    stability: Stability
    trial: Trial

    @property
    def is_told(self) -> bool:
        """Whether rows are found again in other samples often enough."""
        return float(self.stability.same.mean()) >= STABLE

    @property
    def unsure(self) -> tuple[str, ...]:
        """The questions whose row is not stable."""
        return tuple(name for name, same in zip(self.matrix.index, self.stability.same, strict=True) if same < SURE)


@dataclass(frozen=True)
class Choice:
    """The alternatives on held-out people, and the one that was taken. `trials`: those tried in all folds, best first.

    `given_up`: those far behind after the first fold, best first. `people`, `folds`: what they were tried on. `found`: the skills that were
    found in the answers and how stable they are, whether they were taken or not.
    """

    start: Start
    trials: tuple[Trial, ...]
    given_up: tuple[Trial, ...]
    taken: Trial
    people: int
    folds: int
    found: Found | None = None

    @property
    def best(self) -> Trial:
        """The eligible alternative with the smallest held-out log loss; skills that were found count where such are taken."""
        found = bool(self.taken.alternative.found)
        return next(one for one in self.trials if one.eligible and (found or not one.alternative.found))

    def apart(self, one: Trial) -> tuple[float, float]:
        """How much larger the log loss of an alternative is than that of the one taken, and the standard error; on the same people."""
        return _apart(one.losses, self.taken.losses)

    def table(self) -> "pd.DataFrame":
        """A row an alternative, best first: free numbers, held-out log loss an answer, how much worse than the one taken, and its error."""
        with from_extra():
            import pandas as pd

        rows = {}
        for one in (*self.trials, *self.given_up):
            more, error = self.apart(one)
            folds = self.folds if one in self.trials else 1
            rows[one.name] = {"numbers": one.numbers, "log loss": one.loss, "worse by": more, "error": error, "folds": folds}
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "bank"
        return frame.astype({"numbers": int, "folds": int})

    def learn(self, responses: Responses, **options: Any) -> Fit:
        """The bank that was taken, learnt from all people; `options` as in `quaestor.learn`."""
        answers = read_answers(self.start.questions, responses)
        alternative = self.taken.alternative
        same = {name: value for name, value in options.items() if name not in ("progress", "restarts", "folds", "intervals")}
        return learn(self.start.made(alternative, answers, **same), answers, **{**alternative.options, **options})

    @property
    def words(self) -> str:
        """Why this one was taken, in a sentence or two."""
        tried = f"{len(self.trials) + len(self.given_up)} banks were tried on {self.people:,} people held out in {self.folds} parts"
        said = f"{tried}; taken: {self.taken.name}, log loss {self.taken.loss:.4f} an answer."
        single = min((one for one in self.trials if one.alternative.skills == ONE), key=lambda one: one.loss, default=None)
        if self.taken.alternative.skills != ONE and single is not None:
            more, error = self.apart(single)
            if more < 0:
                said += f" One skill predicts better than these skills, by {-more:.4f} ± {error:.4f} ({single.name})."
        if self.best is not self.taken:
            more, error = _apart(self.taken.losses, self.best.losses)
            said += (
                f" The best, {self.best.name}, is better by {more:.4f} ± {error:.4f}, at most half a standard error, and needs"
                f" {self.best.numbers} free numbers instead of {self.taken.numbers}."
            )
        return f"{said} {self._found_words()}".rstrip()

    def _found_words(self) -> str:
        """What is known of skills that were found in the answers."""
        trial = self.found.trial if self.found else next((one for one in self.trials if one.eligible and one.alternative.found), None)
        single = min((one for one in self.trials if one.alternative.skills == ONE), key=lambda one: one.loss, default=None)
        if trial is None or single is None:
            return ""
        more, error = _apart(single.losses, trial.losses)
        count, by = trial.alternative.found, f"{more:.4f} ± {error:.4f} an answer"
        if self.found is None:
            return (
                f"{count} skills found in the answers predict better by {by}, which is not clear enough to name them." if more > 0 else ""
            )
        again, of = round(float(self.found.stability.same.mean()) * 100), self.found.stability.samples
        sure = f"in {of} other samples of these people a question keeps its skills in {again} % of the cases"
        if not self.found.is_told and self.taken.alternative.found:
            return f"You asked for {count} skills. They predict better than one skill by {by}, but {sure}: do not read much into them."
        if not self.found.is_told:
            return f"{count} skills found in the answers predict better by {by}, but {sure}: too few to name them."
        unsure = self.found.unsure
        listed = f" Unsure: {', '.join(unsure[:SHOWN])}{' and more' if len(unsure) > SHOWN else ''}." if unsure else ""
        return f"These skills were found in the answers. They predict better than one skill by {by}; {sure}.{listed}"


def choose(
    start: "Bank | pd.DataFrame | Start | None",
    responses: Responses,
    levels: int | None = None,
    links: str | None = None,
    shape: str | None = None,
    needs: str | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    skills: int | None = None,
    **options: Any,
) -> Choice:
    """Try alternatives on held-out people, and take one.

    `start`: a bank (its skills, levels and links are kept; alternatives to them are only shown), a Q-matrix (a row a question, a column a
    skill, 1 where it is needed), or None, where there are only answers. `levels` (2 to 5 without it), `links` (`independent`, `chain`,
    `tree`, `all`), `shape` (`tables`, `curves`) and `needs` (`each`, `all`, `any`) are chosen unless they are told. From answers alone, so
    are the skills that questions need; `skills` tells how many (1: one skill, nothing is looked for). `options` as in `learn`. `progress`
    is called with the number of fits so far, and the most there can be.
    """
    expect_number("choose: seed", seed, whole=True)
    expect_call("choose: progress", progress)
    begin, answers = (start, read_answers(start.questions, responses)) if isinstance(start, Start) else begun(start, responses)
    some = answers.chosen(answers.counts > 0)
    rng = np.random.default_rng([seed, 7])
    if len(some) > TRIED:
        some = some.chosen(np.isin(np.arange(len(some)), rng.choice(len(some), TRIED, replace=False)))
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= len(some):
        raise QuaestorError(f"choose: folds are between 2 and the number of people, got {folds!r} for {len(some)} people")
    fold = fold_of(len(some), folds, rng)
    alone = begin.matrix is None and begin.stated is None
    if skills is not None and not alone:
        raise QuaestorError(f"choose: skills are looked for in answers alone, got skills={skills!r} with a bank or a Q-matrix")
    most = likely_skills(some, np.random.default_rng([seed, 8])) if alone and skills is None else 1
    told = {"levels": levels, "links": links, "shape": shape, "needs": needs, "skills": skills}
    open_ones, shown = alternatives(begin, told, most=most)
    loose = {**options, "tolerance": max(_LOOSE * len(some), options.get("tolerance", 0.0)), "seed": seed}
    trials, given_up = _tried(begin, open_ones, shown, some, fold, loose, progress)
    eligible = [one for one in trials if one.eligible]
    singles = [one for one in trials if one.alternative.skills == ONE]
    clear = [one for one in eligible if not one.alternative.found or skills or _is_clear(one, singles)]
    taken = _taken(clear)
    found = None
    if taken.alternative.found:
        matrix = found_matrix(answers, taken.alternative.found)
        assert matrix is not None
        found = Found(matrix, stability(answers, matrix, np.random.default_rng([seed, 9])), taken)
        if not found.is_told and not skills:
            taken = _taken(singles)
    return Choice(begin, trials, given_up, taken, len(some), folds, found)


def _taken(trials: list[Trial]) -> Trial:
    """Of all that are worse than the best by at most half a standard error, the one with the fewest free numbers."""
    best = min(trials, key=lambda one: one.loss)
    return min((one for one in trials if _within(_apart(one.losses, best.losses))), key=lambda one: (one.numbers, one.loss))


def _is_clear(one: Trial, singles: list[Trial]) -> bool:
    """Whether skills that are found predict clearly better than one skill."""
    more, error = _apart(min(singles, key=lambda single: single.loss).losses, one.losses)
    return more > CLEARLY * error


def begun(start: "Bank | pd.DataFrame | None", responses: Responses) -> tuple[Start, Answers]:
    """What is known before the answers, and the answers, read once."""
    if isinstance(start, Bank):
        return Start(start, None, start), read_answers(start, responses)
    if start is not None and not hasattr(start, "columns"):
        raise QuaestorError(f"choose: a bank, a Q-matrix (a table) or None, got {type(start).__name__}")
    is_whole = hasattr(responses, "columns") or isinstance(responses, Answers)
    kept: Any = responses if is_whole else several("responses", responses, "a table, or a list of tables, is expected")
    if start is None:
        questions = questions_of(kept)
        return Start(questions), read_answers(questions, kept)
    matrix = check_matrix(start)
    classes: Mapping[str, tuple[str, ...]] = {name: one.classes for name, one in questions_of(kept).questions.items()}
    lacking = [name for name in classes if name not in set(map(str, matrix.index))]
    if lacking:
        cure = " (are its rows the skills? turn it round)" if set(classes) & set(map(str, matrix.columns)) else ""
        raise QuaestorError(f"Q-matrix: every question with answers has a row, got none for {', '.join(lacking[:SHOWN])}{cure}")
    questions = skeleton(matrix, classes={name: classes[name] for name in map(str, matrix.index) if name in classes})
    return Start(questions, matrix), read_answers(questions, kept)


def _tried(
    start: Start,
    open_ones: list[Alternative],
    shown: list[Alternative],
    some: Answers,
    fold: Array,
    options: Mapping[str, Any],
    progress: Callable[[int, int], None] | None,
) -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
    """All alternatives in the first fold, and those not far behind in all of them; both best first."""
    folds, done = int(fold.max()) + 1, 0
    everyone = [(one, True) for one in open_ones] + [(one, False) for one in shown]
    parts = [(some.chosen(fold != number), some.chosen(fold == number)) for number in range(folds)]
    everyone = [(one, is_open) for one, is_open in everyone if all(start.is_there(one, learning) for learning, _ in parts)]
    if not any(is_open for _, is_open in everyone):
        raise QuaestorError(f"choose: {open_ones[0].found} skills with two questions each are found in the answers, got fewer (tell fewer)")
    first: list[Trial] = []

    def losses(one: Alternative, number: int) -> tuple[Array, int]:
        nonlocal done
        learning, own = parts[number]
        fit = start.fit(one, learning, **options)
        done += 1
        if progress is not None:
            progress(done, len(everyone) * folds)
        return -log_likelihoods_by_person(fit.bank, own) / own.counts, fit.parameters

    later = len(everyone) >= FEW and any(one.links != "tree" for one in open_ones)
    for one, eligible in everyone:
        if one.links != "tree" or not later:
            first.append(Trial(one, *losses(one, 0), eligible))
    front = sorted((one for one in first if one.alternative.skills != ONE), key=lambda one: one.loss)[:FRONT]
    for one, eligible in everyone if later else ():
        if one.links == "tree" and any(replace(one, links=other.alternative.links) == other.alternative for other in front):
            first.append(Trial(one, *losses(one, 0), eligible))
    best = min((one for one in first if one.eligible), key=lambda one: one.loss)
    single = min((one for one in first if one.alternative.skills == ONE), key=lambda one: one.loss, default=best)
    trials = []
    for trial in first:
        more, error = _apart(trial.losses, best.losses)
        if len(best.losses) < ENOUGH or more <= BEHIND * error or trial in (best, single):
            rest = [losses(trial.alternative, number)[0] for number in range(1, folds)]
            trials.append(Trial(trial.alternative, np.concatenate([trial.losses, *rest]), trial.numbers, trial.eligible))
    kept = {one.alternative for one in trials}
    left = [one for one in first if one.alternative not in kept]
    return tuple(sorted(trials, key=lambda one: one.loss)), tuple(sorted(left, key=lambda one: one.loss))


def _apart(one: Array, other: Array) -> tuple[float, float]:
    """The mean difference over the people that both were tried on, and its standard error; those of the first fold come first."""
    both = min(len(one), len(other))
    apart = one[:both] - other[:both]
    return float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(both)) if both > 1 else 0.0


def _within(apart: tuple[float, float]) -> bool:
    return apart[0] <= WITHIN * apart[1]
