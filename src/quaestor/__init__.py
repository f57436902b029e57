"""Quaestor: adaptive tests on Bayesian and credal networks.

A public name is imported when it is first asked for, so that a short command or a worker process of a simulation imports what it uses.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from quaestor.version import VERSION

if TYPE_CHECKING:
    from quaestor import plot, register, testing
    from quaestor.bankfile.bank import Bank
    from quaestor.bankfile.networks import bank_from_network
    from quaestor.credal import decisions
    from quaestor.errors import AnswerError, BankError, NetworkError, Problem, QuaestorError
    from quaestor.formats.exchange.imported import Imported
    from quaestor.formats.exchange.registry import read_questions
    from quaestor.formats.files import ExchangeWarning, bundled_banks, dump, load, read_network, write_network
    from quaestor.inference.divergence import information
    from quaestor.inference.posterior import bounds, posterior
    from quaestor.learn import Fit, learn
    from quaestor.learn.choice import Choice, choose
    from quaestor.learn.linking import Link, link
    from quaestor.model.beliefs import Beliefs, Bounds
    from quaestor.model.network import Network, Variable
    from quaestor.model.question import Question
    from quaestor.model.skill import Skill
    from quaestor.model.table import Table
    from quaestor.report.writing import write_study
    from quaestor.selection.ranking import Candidate, Ranking, rank
    from quaestor.selection.rules import Content, Exposure, Robust, Rules, RulesError, Variety
    from quaestor.selection.rules_file import load_rules
    from quaestor.selection.stopping.classification import loss_below, same_decision, sprt
    from quaestor.selection.stopping.combined import all_of, any_of
    from quaestor.selection.stopping.criteria import (
        dominant,
        entropy_below,
        gain_below,
        gini_below,
        max_questions,
        min_questions,
        minutes,
        mode_below,
        probability_above,
        right_answers,
    )
    from quaestor.session.explain.reasons import Explanation
    from quaestor.session.explain.why import explain
    from quaestor.session.log import SessionError
    from quaestor.session.session import Session, Stop
    from quaestor.simulate import Behaviour, Simulation, expected, simulate
    from quaestor.simulate.exposure import exposure_table
    from quaestor.simulate.optimum import Optimum, optimal
    from quaestor.simulate.policy import policy
    from quaestor.simulate.retest import Reliability, reliability
    from quaestor.simulate.study import Study, StudyError, load_study

__version__ = VERSION

__all__ = [
    "AnswerError",
    "Bank",
    "BankError",
    "Behaviour",
    "Beliefs",
    "Bounds",
    "Candidate",
    "Choice",
    "Content",
    "ExchangeWarning",
    "Explanation",
    "Exposure",
    "Fit",
    "Imported",
    "Link",
    "Network",
    "NetworkError",
    "Optimum",
    "Problem",
    "QuaestorError",
    "Question",
    "Ranking",
    "Reliability",
    "Robust",
    "Rules",
    "RulesError",
    "Session",
    "SessionError",
    "Simulation",
    "Skill",
    "Stop",
    "Study",
    "StudyError",
    "Table",
    "Variable",
    "Variety",
    "all_of",
    "any_of",
    "bank_from_network",
    "bounds",
    "bundled_banks",
    "choose",
    "decisions",
    "dominant",
    "dump",
    "entropy_below",
    "expected",
    "explain",
    "exposure_table",
    "gain_below",
    "gini_below",
    "information",
    "learn",
    "link",
    "load",
    "load_rules",
    "load_study",
    "loss_below",
    "max_questions",
    "min_questions",
    "minutes",
    "mode_below",
    "optimal",
    "plot",
    "policy",
    "posterior",
    "probability_above",
    "rank",
    "read_network",
    "read_questions",
    "register",
    "reliability",
    "right_answers",
    "same_decision",
    "simulate",
    "sprt",
    "testing",
    "write_network",
    "write_study",
]

_HOMES = {
    "bankfile.bank": "Bank",
    "bankfile.networks": "bank_from_network",
    "credal": "decisions",
    "errors": "AnswerError BankError NetworkError Problem QuaestorError",
    "formats.exchange.imported": "Imported",
    "formats.exchange.registry": "read_questions",
    "formats.files": "ExchangeWarning bundled_banks dump load read_network write_network",
    "inference.divergence": "information",
    "inference.posterior": "bounds posterior",
    "learn": "Fit learn",
    "learn.choice": "Choice choose",
    "learn.linking": "Link link",
    "model.beliefs": "Beliefs Bounds",
    "model.network": "Network Variable",
    "model.question": "Question",
    "model.skill": "Skill",
    "model.table": "Table",
    "report.writing": "write_study",
    "selection.ranking": "Candidate Ranking rank",
    "selection.rules": "Content Exposure Robust Rules RulesError Variety",
    "selection.rules_file": "load_rules",
    "selection.stopping.classification": "loss_below same_decision sprt",
    "selection.stopping.combined": "all_of any_of",
    "selection.stopping.criteria": "dominant entropy_below gain_below gini_below max_questions min_questions minutes mode_below "
    "probability_above right_answers",
    "session.explain.reasons": "Explanation",
    "session.explain.why": "explain",
    "session.log": "SessionError",
    "session.session": "Session Stop",
    "simulate": "Behaviour Simulation expected simulate",
    "simulate.exposure": "exposure_table",
    "simulate.optimum": "Optimum optimal",
    "simulate.policy": "policy",
    "simulate.retest": "Reliability reliability",
    "simulate.study": "Study StudyError load_study",
}
_MODULES = ("plot", "register", "testing")
_HOME = {name: f"quaestor.{module}" for module, names in _HOMES.items() for name in names.split()}

if not TYPE_CHECKING:  # hidden from type checkers, which would accept any name

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"quaestor.{name}")
        if name not in _HOME:
            raise AttributeError(f"module 'quaestor' has no attribute '{name}'")
        found = globals()[name] = getattr(__import__(_HOME[name], fromlist=[name]), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The functions `simulate` and `learn` have the names of packages, which their import would put in the functions' place."""

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOME or not isinstance(value, ModuleType):
            super().__setattr__(name, value)
            return
        value.__class__ = _Room
        for module in [one for one in vars(value).items() if isinstance(one[1], ModuleType)]:
            setattr(value, *module)


class _Room(ModuleType):
    """A package with the name of a function: its modules are found at the function too, so that `import quaestor.learn.graphs` works."""

    def __setattr__(self, name: str, value: object) -> None:
        super().__setattr__(name, value)
        if isinstance(value, ModuleType):
            setattr(getattr(self, self.__name__.rpartition(".")[2]), name, value)


sys.modules[__name__].__class__ = _Package
