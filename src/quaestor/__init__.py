"""Quaestor: adaptive tests on Bayesian and credal networks."""

from quaestor.bankfile.bank import Bank
from quaestor.credal import decisions
from quaestor.errors import AnswerError, BankError, NetworkError, Problem, QuaestorError
from quaestor.formats.files import bundled_banks, dump, load, read_network, write_network
from quaestor.inference.posterior import bounds, posterior
from quaestor.learn import Fit, learn
from quaestor.model.beliefs import Beliefs, Bounds
from quaestor.model.network import Network, Variable
from quaestor.model.question import Question
from quaestor.model.skill import Skill
from quaestor.model.table import Table
from quaestor.selection.ranking import Candidate, Ranking, rank
from quaestor.selection.rules import Content, Exposure, Robust, Rules, RulesError, Variety
from quaestor.selection.rules_file import load_rules
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
from quaestor.simulate.policy import policy
from quaestor.version import VERSION

__version__ = VERSION

__all__ = [
    "AnswerError",
    "Bank",
    "BankError",
    "Behaviour",
    "Beliefs",
    "Bounds",
    "Candidate",
    "Content",
    "Explanation",
    "Exposure",
    "Fit",
    "Network",
    "NetworkError",
    "Problem",
    "QuaestorError",
    "Question",
    "Ranking",
    "Robust",
    "Rules",
    "RulesError",
    "Session",
    "SessionError",
    "Simulation",
    "Skill",
    "Stop",
    "Table",
    "Variable",
    "Variety",
    "all_of",
    "any_of",
    "bounds",
    "bundled_banks",
    "decisions",
    "dominant",
    "dump",
    "entropy_below",
    "expected",
    "explain",
    "exposure_table",
    "gain_below",
    "gini_below",
    "learn",
    "load",
    "load_rules",
    "max_questions",
    "min_questions",
    "minutes",
    "mode_below",
    "policy",
    "posterior",
    "probability_above",
    "rank",
    "read_network",
    "right_answers",
    "simulate",
    "write_network",
]
