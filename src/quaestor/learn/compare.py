"""Which bank predicts people it has not seen best? Candidates are compared by cross-validation, all on the same folds.

One-skill banks of several levels are always among them, as baselines: skills that predict no better than the best of these are not worth
their parameters.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, nearest
from quaestor.extras import from_extra
from quaestor.learn import learn
from quaestor.learn.answers import Answers, Responses, is_long, read_answers
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.fit import Fit
from quaestor.learn.folds import fold_of
from quaestor.learn.layout import layout_of, tables_of
from quaestor.learn.people import read_people
from quaestor.learn.skeleton import one_skill
from quaestor.model.table import Array

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (2, 3, 4, 5)


@dataclass(frozen=True)
class Maker:
    """A candidate whose graph is learnt too: `make` turns answers into a bank, and is called again for every training set.

    It is given a wide table if `compare` was given one, else `Answers`; `learn` and `learnt_tree` take both.
    """

    make: Callable[[Any], Bank]


@dataclass(frozen=True)
class CandidateFit:
    """One candidate: the fit to all people, and the held-out log P(answers) of each person, (people,)."""

    name: str
    fit: Fit
    held_out: Array
    is_baseline: bool


@dataclass(frozen=True)
class Comparison:
    """All candidates, cross-validated on the same folds."""

    candidates: tuple[CandidateFit, ...]

    @property
    def baseline(self) -> CandidateFit:
        """The one-skill bank with the largest mean held-out log-likelihood."""
        return max((one for one in self.candidates if one.is_baseline), key=lambda one: one.held_out.mean())

    @property
    def best(self) -> CandidateFit:
        """The candidate with the largest mean held-out log-likelihood."""
        return max(self.candidates, key=lambda one: one.held_out.mean())

    def table(self) -> "pd.DataFrame":
        """A row a candidate, best first: fit to all people, mean held-out log-likelihood, and its paired difference to `baseline`.

        `error` is the standard error of that difference.
        """
        with from_extra():
            import pandas as pd

        rows = {}
        for one in sorted(self.candidates, key=lambda one: -one.held_out.mean()):
            apart = one.held_out - self.baseline.held_out
            rows[one.name] = {
                "skills": len(one.fit.bank.skills),
                "parameters": one.fit.parameters,
                "log-likelihood": one.fit.log_likelihood,
                "BIC": one.fit.bic,
                "held out": float(one.held_out.mean()),
                "above one skill": float(apart.mean()),
                "error": float(apart.std(ddof=1) / np.sqrt(len(apart))),
            }
        frame = pd.DataFrame.from_dict(rows, orient="index")
        frame.index.name = "bank"
        return frame


def compare(
    candidates: "Mapping[str, Bank | Maker]",
    responses: Responses,
    rng: np.random.Generator,
    folds: int = 5,
    baselines: Sequence[int] = LEVELS,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **common: Any,
) -> Comparison:
    """Cross-validate the candidates and the one-skill baselines.

    `responses` as in `learn`, but without people who answered nothing. `baselines`: the number of levels of each one-skill bank.
    `options`: options of `learn` for single candidates, by name; `common`: options for all of them.
    """
    _check_names(candidates, baselines, options or {})
    given, table = _read(candidates, responses)
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= len(table):
        raise QuaestorError(f"compare: folds are between 2 and the number of people, got {folds!r}")
    everyone: dict[str, Bank | Maker] = {baseline_name(levels): one_skill(given, levels) for levels in baselines}
    fold = fold_of(len(table), folds, rng)
    fits = []
    for name, candidate in {**everyone, **candidates}.items():
        chosen = {**common, **(options or {}).get(name, {})}
        found = held_out_log_likelihoods(candidate, table, fold, **chosen)
        fits.append(CandidateFit(name, learn(_made(candidate, table), table, **chosen), found, name in everyone))
    return Comparison(tuple(fits))


def held_out_log_likelihoods(candidate: Bank | Maker, table: Any, fold: Array, **options: Any) -> Array:
    """log P(answers) of each person, (people,), under the candidate made and learnt without that person's fold.

    `table`: a wide table or `Answers`; `fold`: the number of each person's fold, (people,), from 0 on.
    """
    found = np.empty(len(table))
    for number in range(int(fold.max()) + 1):
        rest, own = _chosen(table, fold != number), _chosen(table, fold == number)
        found[fold == number] = log_likelihoods_by_person(learn(_made(candidate, rest), rest, **options).bank, own)
    return found


def baseline_name(levels: int) -> str:
    """The name of a one-skill bank among the candidates."""
    return f"one skill, {levels} levels"


def _check_names(candidates: Mapping[str, Any], baselines: Sequence[int], options: Mapping[str, Any]) -> None:
    if not candidates:
        raise QuaestorError("compare: at least one candidate, got none")
    if not len(baselines):
        raise QuaestorError("compare: baselines name the levels of at least one one-skill bank, got none")
    known = [*candidates, *(baseline_name(levels) for levels in baselines)]
    for name in options:
        if name not in known:
            hint = nearest(name, known)
            raise QuaestorError(f"compare: options are those of a candidate, got {format_value(name)}" + (f" ({hint})" if hint else ""))


def _read(candidates: "Mapping[str, Bank | Maker]", responses: Responses) -> tuple[Bank, Any]:
    """A bank with the questions of all candidates, and the answers: a wide table unchanged, everything else as `Answers`."""
    kept: Any = responses if hasattr(responses, "columns") else list(responses)
    listed = list(candidates.values())
    given = next((one for one in listed if isinstance(one, Bank)), None) or _made(listed[0], kept)
    table = read_answers(given, kept)
    if not table.counts.all():
        raise QuaestorError(f"compare: every person has an answer, got {int((table.counts == 0).sum())} without any")
    is_wide = hasattr(kept, "columns") and not is_long(kept)
    return given, kept if is_wide else table


def _chosen(table: Any, people: Any) -> Any:
    return table.chosen(people) if isinstance(table, Answers) else table[people]


def _made(candidate: Bank | Maker, responses: Any) -> Bank:
    return candidate if isinstance(candidate, Bank) else candidate.make(responses)


def log_likelihoods_by_person(bank: Bank, responses: Responses) -> Array:
    """log P(answers) of each person under a bank, (people,); people without answers are refused."""
    layout = layout_of(bank)
    answers = read_answers(bank, responses)
    people = read_people(bank, layout, answers)
    if len(people) < len(answers):
        raise QuaestorError(f"compare: every person has an answer, got {len(answers) - len(people)} without any")
    found: Array = log_likelihoods(layout, tables_of(bank, layout), people.patterns)[people.pattern_of]
    return found
