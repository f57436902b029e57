"""Quaestor: adaptive tests on Bayesian and credal networks."""

from quaestor.bank import Bank
from quaestor.beliefs import Beliefs, Bounds
from quaestor.errors import AnswerError, BankError, NetworkError, Problem, QuaestorError
from quaestor.explain import explain
from quaestor.formats import bundled_banks, dump, load, read_network, write_network
from quaestor.inference import bounds, posterior
from quaestor.learn import Fit, learn
from quaestor.log import SessionError
from quaestor.network import Network, Variable
from quaestor.question import Question
from quaestor.ranking import Candidate, Ranking, rank
from quaestor.reasons import Explanation
from quaestor.rules import Content, Exposure, Robust, Rules, RulesError, Variety
from quaestor.rules_file import load_rules
from quaestor.session import Session, Stop
from quaestor.simulate import Behaviour, Simulation, expected, simulate
from quaestor.simulate.exposure import exposure_table
from quaestor.simulate.policy import policy
from quaestor.skill import Skill
from quaestor.stopping import (
    all_of,
    any_of,
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
from quaestor.table import Table

__version__ = "0.1.0"

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
