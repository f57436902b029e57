"""Which bank foretells people it has not seen? Candidates are learnt from some people and tried on the others, the same for all of them.

One-skill banks of several levels are always among them: skills that do not beat the best of these are not worth their numbers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from quaestor.bank import Bank
from quaestor.errors import QuaestorError
from quaestor.learn import learn
from quaestor.learn.expect import log_likelihoods
from quaestor.learn.fit import Fit
from quaestor.learn.folds import fold_of
from quaestor.learn.layout import layout_of, tables_of
from quaestor.learn.people import read_people
from quaestor.learn.skeleton import one_skill
from quaestor.table import Array

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (2, 3, 4, 5)


@dataclass(frozen=True)
class Maker:
    """A candidate whose graph is learnt too: from answers to a bank, made anew from the people learnt from each time."""

    make: "Callable[[pd.DataFrame], Bank]"


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
    responses: "pd.DataFrame",
    rng: np.random.Generator,
    folds: int = 5,
    baselines: Sequence[int] = LEVELS,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    **common: Any,
) -> Comparison:
    """Learn every candidate from all parts of the people but one, in turn, and foretell that one.

    `baselines`: levels of the one-skill banks. `options` of `learn` by candidate, `common` ones for all.
    """
    if not candidates:
        raise QuaestorError("compare: at least one candidate, got none")
    if isinstance(folds, bool) or not isinstance(folds, int) or not 2 <= folds <= len(responses):
        raise QuaestorError(f"compare: folds are between 2 and the number of people, got {folds!r}")
    first = next(iter(candidates.values()))
    given = first if isinstance(first, Bank) else first.make(responses)
    everyone = {f"one skill, {levels} levels": one_skill(given, levels) for levels in baselines}
    part = fold_of(len(responses), folds, rng)
    rivals = []
    for name, candidate in {**everyone, **candidates}.items():
        chosen = {**common, **(options or {}).get(name, {})}
        found = np.empty(len(responses))
        for number in range(folds):
            rest, own = responses[part != number], responses[part == number]
            fit = learn(_made(candidate, rest), rest, **chosen)
            found[part == number] = foretold(fit.bank, own)
        rivals.append(Rival(name, learn(_made(candidate, responses), responses, **chosen), found, name in everyone))
    return Comparison(tuple(rivals))


def _made(candidate: Bank | Maker, responses: "pd.DataFrame") -> Bank:
    return candidate if isinstance(candidate, Bank) else candidate.make(responses)


def foretold(bank: Bank, responses: "pd.DataFrame") -> Array:
    """log P(answers) of each person under a bank, (people,); everybody has an answer."""
    layout = layout_of(bank)
    people = read_people(bank, layout, responses)
    if len(people) < len(responses):
        raise QuaestorError(f"compare: every person has an answer, got {len(responses) - len(people)} without any")
    found: Array = log_likelihoods(layout, tables_of(bank, layout), people.patterns)[people.pattern_of]
    return found
