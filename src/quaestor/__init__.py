"""Quaestor: adaptive tests on Bayesian and credal networks."""

from quaestor.bank import Bank
from quaestor.beliefs import Beliefs, Bounds
from quaestor.errors import AnswerError, BankError, NetworkError, Problem, QuaestorError
from quaestor.formats import bundled_banks, dump, load, read_network, write_network
from quaestor.inference import bounds, posterior
from quaestor.network import Network, Variable
from quaestor.question import Question
from quaestor.skill import Skill
from quaestor.table import Table

__version__ = "0.1.0"

__all__ = [
    "AnswerError",
    "Bank",
    "BankError",
    "Beliefs",
    "Bounds",
    "Network",
    "NetworkError",
    "Problem",
    "QuaestorError",
    "Question",
    "Skill",
    "Table",
    "Variable",
    "bounds",
    "bundled_banks",
    "dump",
    "load",
    "posterior",
    "read_network",
    "write_network",
]
