"""A proof that settles choices in the order of elimination: quick where few of them are in doubt.

A part of the elimination (see `elimination`) makes a choice for each of its groups. Where one choice is the best in all contexts it is
settled, whatever is still to come: later factors are never negative. Only where contexts disagree is a node parted, into one for each
choice that is not worse in all of them. A message is common to all groups, so it is settled only where it is the best with every vertex of
every row, and parted before any row is. Each node keeps the f that its choices have led to, so its bound needs only the parts that are
left, and no slopes. What is left after the last part is a complete network that exceeds the threshold.

Branching on whatever matters most (`branch`) needs far fewer nodes where much is in doubt; here a node costs far less.
"""

from dataclasses import dataclass

import numpy as np

from quaestor.inference.model import Scope
from quaestor.inference.search.choices import Choices, Numbers
from quaestor.inference.search.elimination import Elimination, Multiply, Part, SumOut

_ROUNDING = 1e-13  # of the sizes of scores: contexts that disagree by less agree


@dataclass
class _Verdict:
    """For each node the message, (nodes,), and the choice of each group, (groups, nodes), that are the best over all contexts.

    `group`: the one whose contexts disagree most, -1 for the message, (nodes,); `is_open`: whether they disagree at all, (nodes,).
    `scores`: of the choices of each group with that message, (groups, choices, nodes, contexts).
    """

    message: Numbers
    choice: Numbers
    group: Numbers
    is_open: Numbers
    scores: Numbers


def settle(plan: Elimination, nodes: Choices, f: Numbers, goal: Scope, most: int) -> tuple[Numbers, Numbers, Choices, int]:
    """Whether F is positive in no network of each node, (nodes,); networks in which it is, with the number of the node of each; the work.

    Nothing is shown for nodes that part into more than `most` on the way. The work is the number of nodes made, all together.
    """
    count = len(f)
    owner, failed, used = np.arange(count), np.zeros(count, dtype=bool), np.zeros(count, dtype=int)
    program = plan.program(goal)
    for number, part in enumerate(program):
        done: list[tuple[Numbers, Choices, Numbers]] = []
        while len(owner):
            scores = plan.scores(f, part, nodes)
            left = part.placed(scores.max(axis=1))
            kept = np.flatnonzero((plan.finish(nodes, left, program, number + 1, nodes.shares) > 0) & ~failed[owner])
            if not len(kept):
                break
            f, nodes, owner, left, scores = f[kept], nodes.take(kept), owner[kept], left[kept], scores[:, :, kept]
            verdict = _judge(plan, part, scores)
            settled, parted = np.flatnonzero(~verdict.is_open), np.flatnonzero(verdict.is_open)
            done.append((left[settled], _settled(part, nodes.take(settled), verdict, settled), owner[settled]))
            nodes, of = _parted(part, nodes, verdict, parted)
            f, owner = f[of], owner[of]
            used += np.bincount(owner, minlength=count)
            failed |= used > most
        if not done:
            return ~failed, owner[:0], nodes.take(slice(0)), int(used.sum())
        f, owner = np.concatenate([left for left, _, _ in done]), np.concatenate([of for _, _, of in done])
        nodes = Choices.join([made for _, made, _ in done])
    found = np.flatnonzero(~failed[owner])
    return ~failed & ~np.isin(np.arange(count), owner), owner[found], nodes.take(found), int(used.sum())


def _judge(plan: Elimination, part: Part, scores: Numbers) -> _Verdict:
    """Where the contexts of a part agree, and on what."""
    groups, _, nodes, contexts = scores.shape
    best = scores.max(axis=1)
    noise = _ROUNDING * np.abs(best).sum(axis=(0, 2))
    message, apart = np.zeros(nodes, dtype=int), np.zeros(nodes)
    if isinstance(part, SumOut):
        split = scores.reshape(groups, -1, len(plan.messages[part.variable]), nodes, contexts)
        most = split.max(axis=2)[:, :, None]
        behind = np.where(np.isneginf(most), 0.0, most - np.where(np.isneginf(most), 0.0, split))
        loss = behind.sum(axis=(0, 1, 4))  # (messages, nodes): nothing where a message is the best with every vertex of a row
        message, apart = loss.argmin(axis=0), loss.min(axis=0)
        scores = split[:, :, message, np.arange(nodes)]
        best = scores.max(axis=1)
    loss = (best[:, None] - scores).sum(axis=3)  # (groups, choices, nodes)
    choice, losses = loss.argmin(axis=1), loss.min(axis=1)
    in_doubt = apart > noise
    group = np.where(in_doubt, -1, losses.argmax(axis=0))
    return _Verdict(message, choice, group, in_doubt | (losses.max(axis=0) > noise), scores)


def _settled(part: Part, nodes: Choices, verdict: _Verdict, of: Numbers) -> Choices:
    """The nodes (those of this number in the verdict) with the choices of a part as the contexts agree."""
    choice = verdict.choice[:, of].T
    if isinstance(part, SumOut):
        nodes.messages[part.variable] = _only(nodes.messages[part.variable], verdict.message[of])
        if part.own_row:
            nodes.rows[part.variable] = _only(nodes.rows[part.variable], choice)
    elif part.child is not None:
        nodes.rows[part.child] = _only(nodes.rows[part.child], choice)
    else:
        ends = np.where(choice == 1, nodes.high[part.scope], nodes.low[part.scope])
        nodes.low[part.scope], nodes.high[part.scope] = ends, ends.copy()
    return nodes


def _only(allowed: Numbers, vertex: Numbers) -> Numbers:
    """One vertex allowed instead of several, (..., vertices) from (...)."""
    return np.asarray(np.arange(allowed.shape[-1]) == vertex[..., None])


def _parted(part: Part, nodes: Choices, verdict: _Verdict, some: Numbers) -> tuple[Choices, Numbers]:
    """Some of the nodes, each parted in the choice in doubt, and the number of each in the verdict."""
    by_message, by_group = some[verdict.group[some] < 0], some[verdict.group[some] >= 0]
    found = [_parted_by_group(part, nodes, verdict, by_group)]
    if len(by_message) and isinstance(part, SumOut):
        node, vertex = np.nonzero(nodes.messages[part.variable][by_message])
        made = nodes.take(by_message[node])
        made.messages[part.variable] = _only(made.messages[part.variable], vertex)
        found.append((made, by_message[node]))
    return Choices.join([one for one, _ in found]), np.concatenate([of for _, of in found])


def _parted_by_group(part: Part, nodes: Choices, verdict: _Verdict, some: Numbers) -> tuple[Choices, Numbers]:
    """A node for each choice of the group in doubt that is better than the best one in some context, and for that one."""
    group, every = verdict.group[some], np.arange(len(some))
    mine, best = verdict.scores[group, :, some], verdict.choice[group, some]  # (nodes, choices, contexts)
    useful = np.asarray((mine > mine[every, best][:, None]).any(axis=2))
    useful[every, best] = True
    node, choice = np.nonzero(useful)
    made, row, every = nodes.take(some[node]), group[node], np.arange(len(node))
    if isinstance(part, Multiply) and part.child is None:
        low, high = made.low[part.scope], made.high[part.scope]
        low[every, row] = high[every, row] = np.where(choice == 1, high[every, row], low[every, row])
    else:
        rows = made.rows[part.variable if isinstance(part, SumOut) else part.child or 0]
        rows[every, row] = _only(rows[every, row], choice)
    return made, some[node]
