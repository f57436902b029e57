"""How well a question separates neighbouring levels: the latent-class counterpart of item and test information.

    J(k) = sum over answers a of (P(a | k) - P(a | k + 1)) log(P(a | k) / P(a | k + 1)),

the divergence of Jeffreys between the answers at one level and at the next. On a fine scale, levels a small step d apart, it is I d^2 with
the information I of Fisher. Where each question asks one skill alone, answers are independent given its level, and the sum over questions
is the information of a test. Where a question asks other skills too, P(a | k) is what is expected while nothing is known of them.

Sources: H. Jeffreys, "An invariant form for the prior probability in estimation problems", 1946; for tests: H.-H. Chang, Z. Ying, "A global
information approach to computerized adaptive testing", Applied Psychological Measurement 20, 1996.
"""

import numpy as np

from quaestor.bankfile.bank import Bank, check_bank
from quaestor.errors import QuaestorError, format_value, is_among, nearest
from quaestor.inference.lookahead import Group, lookahead
from quaestor.model.table import Array


def information(bank: Bank, skill: str) -> Array:
    """How well every question separates each level of a skill from the next, (questions, levels - 1): the divergence of Jeffreys, in nats.

    J(k) = sum over answers a of (P(a | k) - P(a | k + 1)) log(P(a | k) / P(a | k + 1)), the counterpart of item information where levels
    are few: on a fine scale, levels a small step d apart, it is I d^2 with the information I of Fisher. Where each question asks one skill
    alone, the sum over the questions of a test is the information of the test. Of a credal bank it is that of its centre. Sources:
    Jeffreys (1946); Chang and Ying (1996), Applied Psychological Measurement 20.

    0 for questions that do not ask the skill, infinite where an answer is possible at one level and impossible at the next.
    """
    check_bank(bank)
    if not is_among(skill, bank.skills):
        hint = nearest(skill, bank.skills) if isinstance(skill, str) else ""
        raise QuaestorError(f"skill: one of the bank's, got {format_value(skill)}" + (f" ({hint})" if hint else ""))
    ahead = lookahead(bank.centre(), targets=[skill])
    names = list(bank.questions)
    found = np.zeros((len(names), len(bank.skills[skill].levels) - 1))
    for group in ahead.groups:
        found[group.batch.columns] = _neighbours(group)[group.batch.row]
    asks = [skill in question.skills for question in bank.questions.values()]
    return np.where(np.array(asks)[:, None], found, 0.0)


def _neighbours(group: Group) -> Array:
    """J of each table, (tables, levels - 1)."""
    rows = group.targets[0].rows[0][0]  # (tables, classes, levels)
    p, q = rows[..., :-1], rows[..., 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        each = (p - q) * np.log(p / q)
    return np.asarray(np.where((p == 0) & (q == 0), 0.0, each).sum(axis=1))
