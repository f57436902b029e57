"""Which bank foretells people it has not seen? Candidates are learnt from some people and tried on the others, the same for all of them.

One-skill banks of several levels are always among them: skills that do not beat the best of these are not worth their numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quaestor.bankfile.bank import Bank
from quaestor.errors import QuaestorError, format_value, nearest
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
    """A candidate whose graph is learnt too: from answers to a bank, made anew from the people learnt from each time.

    The answers are a wide table if `compare` was given one, else `Answers`; `learn` and `learnt_tree` take both.
    """

    make: Callable[[Any], Bank]


@dataclass(frozen=True)
class Rival:
    """One candidate: the fit to everybody, and log P(answers) of each person under the bank learnt from the others, (people,)."""

    name: str
    fit: Fit
    held_out: Array
    is_baseline: bool


@dataclass(frozen=True)
class Comparison:
    """All candidates on the same held-out people."""

    rivals: tuple[Rival, ...]

    @property
    def baseline(self) -> Rival:
        """The best one-skill bank on held-out people."""
        return max((rival for rival in self.rivals if rival.is_baseline), key=lambda rival: rival.held_out.mean())

    @property
    def best(self) -> Rival:
        """The best of all on held-out people."""
        return max(self.rivals, key=lambda rival: rival.held_out.mean())

    def table(self) -> "pd.DataFrame":
        """A row a candidate, best first: means for each person, and how far above the best one-skill bank, with its standard error."""
        import pandas as pd

        rows = {}
        for rival in sorted(self.rivals, key=lambda one: -one.held_out.mean()):
            apart = rival.held_out - self.baseline.held_out
            rows[rival.name] = {
                "skills": len(rival.fit.bank.skills),
                "parameters": rival.fit.parameters,
                "log-likelihood": rival.fit.log_likelihood,
                "BIC": rival.fit.bic,
                "held out": float(rival.held_out.mean()),
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
    """Learn every candidate from all parts of the people but one, in turn, and foretell that one.

    `responses` as in `learn`; everybody has an answer. `baselines`: levels of the one-skill banks. `options` of `learn` by candidate,
    `common` ones for all.
    """
    _check_names(candidates, baselines, options or {})
    given, table = _read(candidates, responses)
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= len(table):
        raise QuaestorError(f"compare: folds are between 2 and the number of people, got {folds!r}")
    everyone: dict[str, Bank | Maker] = {baseline_name(levels): one_skill(given, levels) for levels in baselines}
    part = fold_of(len(table), folds, rng)
    rivals = []
    for name, candidate in {**everyone, **candidates}.items():
        chosen = {**common, **(options or {}).get(name, {})}
        found = foretold_in_turn(candidate, table, part, **chosen)
        rivals.append(Rival(name, learn(_made(candidate, table), table, **chosen), found, name in everyone))
    return Comparison(tuple(rivals))


def foretold_in_turn(candidate: Bank | Maker, table: Any, part: Array, **options: Any) -> Array:
    """log P(answers) of each person under the candidate made and learnt from the other parts alone, (people,).

    `table`: a wide table or `Answers`; `part`: the number of each person's part, (people,), from 0 on.
    """
    found = np.empty(len(table))
    for number in range(int(part.max()) + 1):
        rest, own = _chosen(table, part != number), _chosen(table, part == number)
        found[part == number] = foretold(learn(_made(candidate, rest), rest, **options).bank, own)
    return found


def baseline_name(levels: int) -> str:
    """What a one-skill bank is called among the candidates."""
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
    """A bank with the questions of all candidates, and the answers with a row a person: a wide table as it is, all else as `Answers`."""
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


def foretold(bank: Bank, responses: Responses) -> Array:
    """log P(answers) of each person under a bank, (people,); everybody has an answer."""
    layout = layout_of(bank)
    answers = read_answers(bank, responses)
    people = read_people(bank, layout, answers)
    if len(people) < len(answers):
        raise QuaestorError(f"compare: every person has an answer, got {len(answers) - len(people)} without any")
    found: Array = log_likelihoods(layout, tables_of(bank, layout), people.patterns)[people.pattern_of]
    return found
