"""How far apart the answers of different levels are: the scores of cognitive diagnosis (`kl`, `pwkl`, `mpwkl`, `gdi`, `jensen_shannon`,
`mutual_information`).

The latent classes c are the levels of a target skill, the score is the weighted mean over the targets; with the target `joint` they are the
attribute profiles of the literature. With p_c = P(c | answers), w_c = P(Q | c) and s the most probable class (of tied ones the lowest):

- kl:     sum_c KL(w_s || w_c)                (Xu, Chang and Douglas 2003, paper at the NCME; Cheng 2009, Psychometrika 74, 619-632)
- pwkl:   sum_c p_c KL(w_s || w_c)            (Cheng 2009)
- mpwkl:  sum_d sum_c p_d p_c KL(w_d || w_c)  (Kaplan, de la Torre and Barrada 2015, Applied Psychological Measurement 39, 167-188)
- gdi:    sum_c p_c (w_c - sum_d p_d w_d)^2 of P(right) (de la Torre and Chiu 2016, Psychometrika 81, 253-273; Kaplan et al. 2015); it was
  defined for two answer classes: of more it is half the sum over them, which for two is the same number
- jensen_shannon: H(sum_c p_c w_c) - sum_c p_c H(w_c) (Lin 1991, IEEE Transactions on Information Theory 37, 145-151; in adaptive tests
  Minchen and de la Torre 2016)
- mutual_information: I(S; Q) (Wang 2013, Educational and Psychological Measurement 73, 1017-1035)

The last two are one number, and in precise banks that of `entropy`: one function serves all three, in units of log(number of classes). The
others are in nats (gdi: a variance).

In credal banks each is the lower (`bound="upper"`, cautious) or the upper value over the credal set (see `divergence_bounds`). There mutual
information is not the difference of upper entropies that `entropy` is.
"""

import numpy as np

from quaestor.credal.vectors import parts
from quaestor.draws import Draws
from quaestor.inference.engine import JointTarget
from quaestor.inference.lookahead import Group, Lookahead, Target
from quaestor.model.table import Array
from quaestor.selection.scores.divergence_bounds import bounds_of
from quaestor.selection.scores.kernels import BLOCK
from quaestor.selection.scores.uncertainty import Score, entropy, joint_gain


def _information(name: str) -> Score:
    def information(ahead: Lookahead, bound: str, draws: Draws) -> Array:
        def of_group(group: Group) -> Array:
            if group.joint is not None:
                return joint_gain(name, group, group.joint)
            total, weights = np.zeros((len(ahead.open), len(group.batch.low))), 0.0
            for target in group.targets:
                total += target.weight * _of_target(name, group, target, bound)
                weights += target.weight
            return total / weights if weights else total

        return ahead.spread(of_group)

    return information


def _of_target(name: str, group: Group, target: Target, bound: str) -> Array:
    """The score for one target, (takers, tables)."""
    (low, high), is_own = target.now, group.batch.skills == (target.skill,)
    if low is high and is_own:
        return joint_gain(name, group, JointTarget(low.shape[1], low, low, None))  # the skill is the whole joint of its scope
    rows = (group.batch.low[None], group.batch.high[None]) if is_own else target.rows
    size = rows[0][0].size * low.shape[1]
    found = np.empty((len(low), rows[0].shape[1]))
    for some in parts(len(low), max(1, BLOCK // size)):
        told = rows if is_own else (rows[0][some], rows[1][some])
        found[some] = bounds_of(name, (low[some], high[some]), told)[0 if bound == "upper" else 1]
    return found


def _mutual_information(ahead: Lookahead, bound: str, draws: Draws) -> Array:
    is_precise = all(target.now[0] is target.now[1] for group in ahead.groups for target in group.targets)
    return entropy(ahead, bound, draws) if is_precise else _BOUNDED(ahead, bound, draws)


_BOUNDED = _information("mutual_information")
mutual_information = _mutual_information
gdi, mpwkl, pwkl, kl = (_information(name) for name in ("gdi", "mpwkl", "pwkl", "kl"))
