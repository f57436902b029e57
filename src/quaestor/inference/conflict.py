"""Answers that cannot all be given: no network of the set allows them. The error names a smallest set of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from quaestor.bankfile.bank import Bank
from quaestor.bankfile.sentences import class_word
from quaestor.errors import AnswerError, NetworkError, got
from quaestor.i18n import say, together
from quaestor.inference.chooser import Chooser
from quaestor.inference.evidence import MISSING, Evidence, Stated
from quaestor.inference.layout import Answers
from quaestor.inference.model import Model, reduce
from quaestor.model.network import Network

_TRIES = 20_000


def possible(model: Model, takers: int = 1) -> NDArray[np.bool_]:
    """Whether some network of the set gives the evidence of each taker a positive probability, (takers,).

    The centre of the set allows whatever any network allows.
    """
    found = np.ones(takers, dtype=bool)
    if all(high.min(initial=0.0) > -np.inf for _, high in model.boxes.values()):
        return found
    excluded = [~np.isfinite(high).all(axis=tuple(range(1, high.ndim))) for _, high in model.boxes.values()]
    some = np.flatnonzero(np.logical_or.reduce(excluded))
    found[some] = Chooser(model.of_takers(some).centre(), len(some)).precise.is_possible
    return found


def refuse_conflict(evidence: Evidence, stated: Stated | None = None, answers: Answers | None = None) -> None:
    """Raise AnswerError when the answers of a taker cannot be given together, naming a smallest set of them (as in `answers`, if given)."""
    fine = possible(evidence.model, evidence.takers)
    if not fine.all():
        taker = int(np.flatnonzero(~fine)[0])
        questions, row = evidence.layout.questions, evidence.answers[taker]
        given = {questions[number].id: questions[number].classes[row[number]] for number in np.flatnonzero(row > MISSING)}
        raise AnswerError(_conflict_of_answers(evidence.layout.bank, answers or given, stated or evidence.stated))


def refuse_states(network: Network, observed: Mapping[int, int]) -> None:
    """Raise NetworkError when states cannot be observed together, naming a smallest set of them."""

    def fine(some: Iterable[str]) -> bool:
        wanted = {int(index) for index in some}
        return is_possible(reduce(network, {index: state for index, state in observed.items() if index in wanted})[0])

    if fine(str(index) for index in observed):
        return
    found = [int(index) for index in smallest_conflict([str(index) for index in observed], fine)]
    listed = ", ".join(f"{network.variables[i].name}={network.variables[i].states[observed[i]]}" for i in found)
    raise NetworkError(f"these states cannot be observed together: the network gives them probability zero, got {listed}")


def is_possible(model: Model) -> bool:
    """Whether some network of the set gives the evidence, without an axis over takers, a positive probability."""
    return bool(possible(model.batched)[0])


def _conflict_of_answers(bank: Bank, answers: Answers, stated: Stated) -> str:
    about = {f"what was stated of {skill}": skill for skill in stated}

    def fine(some: Iterable[str]) -> bool:
        kept = set(some)
        said = {skill: stated[skill] for name, skill in about.items() if name in kept}
        return bool(possible(Evidence.of(bank, {q: answers[q] for q in answers if q in kept}, said).model)[0])

    suspects = [question for question, answer in answers.items() if _excludes(Evidence.of(bank, {question: answer}).model)]
    named = []
    for name in smallest_conflict([*suspects, *about], fine):
        if name in about:
            named.append(say("what was stated of {skill}", skill=about[name]))
        else:
            named.append(together((name, class_word(str(answers[name]))), "="))
    return got(say("these answers cannot be given together: the bank gives them probability zero"), together(named, ", "))


def _excludes(model: Model) -> bool:
    """Whether evidence rules anything out."""
    return not all(np.isfinite(high).all() for _, high in model.boxes.values())


def smallest_conflict(items: Sequence[str], possible: Callable[[Iterable[str]], bool]) -> tuple[str, ...]:
    """A smallest subset that is not possible; when there are too many to try, one of which no member can be left out."""
    tried = 0
    for size in range(1, len(items) + 1):
        for subset in combinations(items, size):
            tried += 1
            if tried > _TRIES:
                return _irreducible(items, possible)
            if not possible(subset):
                return subset
    return tuple(items)


def _irreducible(items: Sequence[str], possible: Callable[[Iterable[str]], bool]) -> tuple[str, ...]:
    kept = list(items)
    for item in items:
        without = [other for other in kept if other != item]
        if not possible(without):
            kept = without
    return tuple(kept)
