"""Small banks with the answers of several takers, every engine that fits them, and what it means that a reply agrees with the truth."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from helpers import random_models
from quaestor.bankfile.bank import Bank
from quaestor.credal.vectors import TooLargeError
from quaestor.inference.chooser import Chooser
from quaestor.inference.conflict import possible
from quaestor.inference.engines.enumeration import EnumerationEngine, combinations
from quaestor.inference.engines.fills import FillEngine, fits
from quaestor.inference.engines.hulls import HullEngine
from quaestor.inference.engines.loops import ExactEngine, LoopEngine
from quaestor.inference.engines.odds import OddsEngine, applies
from quaestor.inference.engines.precise import PreciseEngine
from quaestor.inference.engines.separators import SeparatorEngine
from quaestor.inference.engines.vacuous import VacuousEngine
from quaestor.inference.evidence import OPEN, Evidence

TIGHT = 1e-10
SAFE = 1e-11  # outer bounds may round, no more


@dataclass(frozen=True)
class Kind:
    """How an engine is made, the models it fits, the questions it serves, and how near it must be where it says that it is exact."""

    make: Callable
    fits: Callable = lambda model: True
    serves: Callable = lambda batch: True
    near: float = 1e-9


def _alone(batch):
    return len(batch.scope) == 1


ENGINES = {
    "joint": Kind(lambda model, takers: PreciseEngine(model, takers, "joint"), lambda model: model.is_precise),
    "junction": Kind(lambda model, takers: PreciseEngine(model, takers, "junction"), lambda model: model.is_precise),
    "odds": Kind(OddsEngine, applies, _alone),
    "hulls": Kind(HullEngine, lambda model: model.is_singly_connected, _alone),
    "fills": Kind(FillEngine, fits, _alone),
    "separators": Kind(SeparatorEngine, lambda model: model.is_tied),
    "branch": Kind(lambda model, takers: LoopEngine(model, takers, TIGHT, 20_000), near=2e-9),
    "bracket": Kind(lambda model, takers: LoopEngine(model, takers, TIGHT, 0), near=2e-9),
    "exact": Kind(lambda model, takers: ExactEngine(model, takers, 20_000, None), near=2e-9),
    "enumeration": Kind(EnumerationEngine),
    "vacuous": Kind(VacuousEngine),
    "chooser": Kind(lambda model, takers: Chooser(model, takers, tolerance=TIGHT), near=2e-9),
}
CREDAL = [name for name in ENGINES if name not in ("joint", "junction")]

# Graphs, numbers of levels, the most skills of a question, kinds of rows
BANKS = {
    "precise": (("tree", "polytree", "loopy"), (2, 3), 2, ("precise",)),
    "binary": (("tree", "polytree"), (2,), 1, random_models.KINDS),
    "levels": (("tree", "polytree"), (2, 3, 3, 4), 1, random_models.KINDS),
    "many levels": (("tree",), (), 1, ("vertices",)),
    "loops": (("loopy",), (2, 2, 3), 2, ("precise", "precise", "interval", "vertices")),
    "two skills": (("tree",), (2, 2, 3), 2, ("precise", "precise", "interval", "vertices")),
}
_STAR = [(), (0,), (0,), (0,)]
_MOSTLY = (*["precise"] * 7, "interval")


@dataclass(frozen=True, eq=False)
class Case:
    """A bank and takers by their answers, question ids to class numbers."""

    bank: Bank
    takers: list[dict[str, int]]

    @cached_property
    def evidence(self):
        return evidence_of(self.bank, self.takers)

    @property
    def model(self):
        return self.evidence.model

    @property
    def batches(self):
        return self.evidence.layout.batches

    @cached_property
    def truth(self):
        """Every reply by enumeration."""
        return replies_of("enumeration", self)

    @cached_property
    def kept(self):
        return {}


def evidence_of(bank, takers):
    """The evidence of takers by their answers."""
    rows = [[given.get(question, OPEN) for question in bank.questions] for given in takers]
    return Evidence.of_rows(bank, np.array(rows, dtype=np.int16))


def work(case):
    """How many networks the slowest reply of enumeration goes through."""
    most = combinations(case.model)
    ends = [
        2 ** int((b.low != b.high).reshape(*b.low.shape[:2], -1).sum(axis=2).max()) * b.low.shape[0] * b.low.shape[1] for b in case.batches
    ]
    return most * max(ends)


@lru_cache(maxsize=256)
def case(kind, seed, takers=3, most=1200):
    """A random case of a kind, few enough networks for enumeration; evidence that somebody cannot have is drawn again."""
    rng = np.random.default_rng([seed, *kind.encode()])
    graphs, levels, scope, rows = BANKS[kind]
    while True:
        count = 2 if kind == "many levels" else int(rng.integers(2, 5 if kind in ("precise", "binary") else 4))
        graph = random_models.GRAPHS[graphs[int(rng.integers(len(graphs)))]](rng, count)
        graph = _STAR[:count] if rng.random() < 0.2 and "tree" in graphs else graph
        sizes = [int(level) for level in rng.permutation([2, 5 + seed % 4])] if kind == "many levels" else None
        scopes = random_models.scopes_of(rng, count, 4, scope)
        zeros = 0.15 if seed % 3 == 2 else 0.0
        width = float(rng.choice([0.05, 0.2, 0.5]))
        if kind == "many levels" and max(sizes) < 7:  # sets of eight levels and more than a few vertices take long
            rows = (("precise", "vertices"), ("precise", "precise", "interval"))[int(rng.integers(2))]
        asked = _MOSTLY if kind == "many levels" else None
        bank = random_models.bank(rng, graph, scopes, levels, (2, 2, 3), rows, width, zeros, sizes, asked)
        found = Case(bank, [{}, *(random_models.answer(rng, bank, 0.5) for _ in range(takers - 1))])
        if bank.is_precise == (kind == "precise") and work(found) <= most and possible(found.model, takers).all():
            return found


def replies(engine, evidence, serves=lambda batch: True):
    """All that an engine says of the takers with this evidence, by what it was asked; questions that are too large for it are left out."""
    variables = range(len(evidence.model.sizes))
    found = {("now", variable): engine.now(variable) for variable in variables}
    for number, batch in enumerate(evidence.layout.batches):
        if serves(batch):
            with suppress(TooLargeError):
                found["answers", number] = engine.answers(batch)
                found |= {("after", number, variable): engine.after(batch, variable) for variable in variables}
    return found


def engine_of(name, of):
    """The engine made for a case."""
    return ENGINES[name].make(of.model, len(of.takers))


def replies_of(name, of):
    """All that an engine says of a case, worked out once."""
    if name not in of.kept:
        of.kept[name] = replies(engine_of(name, of), of.evidence, ENGINES[name].serves)
    return of.kept[name]


def fitting(kind, names=tuple(ENGINES)):
    """The engines that may fit the models of a kind of banks."""
    without = {
        "precise": (),
        "binary": ("joint", "junction"),
        "levels": ("joint", "junction", "odds"),
        "many levels": ("joint", "junction", "odds"),
        "loops": ("joint", "junction"),
        "two skills": ("joint", "junction"),
    }[kind]
    return [name for name in names if name not in without]


def told(expected):
    """Where enumeration says anything: some network allows the answer."""
    return np.isfinite(expected.lower) & np.isfinite(expected.upper)


def check(found, expected, near=1e-9, with_inner=True):
    """Outer bounds hold the truth, the truth holds the inner bounds, and what is called exact is."""
    for end in (found.lower, found.upper, found.inner_lower, found.inner_upper):
        assert end.shape == expected.lower.shape
        assert not np.isnan(end).any()
    known = told(expected)
    low, high = (end[known] for end in found.ends)
    lower, upper = expected.lower[known], expected.upper[known]
    assert ((low >= -SAFE) & (high <= 1 + SAFE)).all()
    assert (low <= high + SAFE).all()
    assert (low <= lower + SAFE).all(), (low - lower).max()
    assert (high >= upper - SAFE).all(), (upper - high).max()
    if found.gap == 0:
        assert np.abs(low - lower).max(initial=0) <= near, np.abs(low - lower).max()
        assert np.abs(high - upper).max(initial=0) <= near, np.abs(high - upper).max()
    if with_inner:
        inner = found.inner_lower[known], found.inner_upper[known]
        assert (low <= inner[0] + SAFE).all()
        assert (high >= inner[1] - SAFE).all()
        assert (inner[0] >= lower - near).all(), (lower - inner[0]).max()
        assert (inner[1] <= upper + near).all(), (inner[1] - upper).max()
