"""Robust rules: many networks of the credal set vote on the next question."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from helpers.sessions import notes
from quaestor.errors import AnswerError
from quaestor.inference.layout import layout_of
from quaestor.selection.robust import sample

BANK = sessions.bank()


CREDAL = sessions.bank().widen(0.08)


def by_hand(bank, session, rules):
    """How many of the sampled networks have which question first."""
    votes = Counter()
    for network in sample(layout_of(bank), rules.robust.networks, rules.robust.seed):
        try:
            found = qs.rank(network, session.answers, rules.score, rules.bound, rules.target, rules.then)
        except AnswerError:
            continue
        votes[found.ids[0]] += 1
    return votes


@pytest.mark.parametrize("score", ["mode", "entropy"])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_vote_is_that_of_each_network_on_its_own(score, seed):
    rules = qs.Rules(score=score, robust=qs.Robust(networks=24, seed=seed))
    session = qs.Session(CREDAL, rules)
    several = 0
    for answer in ("right", "wrong", "right", "right"):
        votes = by_hand(CREDAL, session, rules)
        assert session.choice.votes == dict(votes)
        assert sum(votes.values()) == 24
        assert votes[session.next.id] == max(votes.values())
        texts = [note.text for note in session.choice.narrowed]
        assert f"{votes[session.next.id]} of 24 sampled networks would ask {session.next.id}" in texts
        if len(votes) > 1 and len(votes) < len(session.choice.ranking):
            several += 1
            assert texts[0] == f"{len(votes)} questions are the best for at least one of the sampled networks"
        session = session.answer(session.next.id, answer)
    assert several


def test_sampled_networks_are_vertices_of_the_set():
    for network in sample(layout_of(CREDAL), 8, 0):
        assert network.is_precise
        for name, question in network.questions.items():
            table = CREDAL.questions[name].table
            assert (np.isclose(question.table.lower, table.lower) | np.isclose(question.table.lower, table.upper)).all()
    assert sample(layout_of(CREDAL), 8, 0) == sample(layout_of(CREDAL), 8, 0)
    assert sample(layout_of(CREDAL), 8, 0) != sample(layout_of(CREDAL), 8, 1)


def test_the_least_exposed_of_the_questions_that_are_best_for_some_network():
    robust = qs.Rules(score="entropy", robust=qs.Robust(networks=24, choose="least exposed"))
    votes = by_hand(CREDAL, qs.Session(CREDAL), robust)
    assert len(votes) > 1
    names = list(votes)
    for wanted in names:
        rates = {name: 0.1 if name == wanted else 0.2 for name in names}
        session = qs.Session(CREDAL, replace(robust, exposure=qs.Exposure(rates=rates)))
        assert session.next.id == wanted
        assert notes(session)[-1][:2] == ("robust", f"{wanted} is the least exposed of the questions that are best for some network")
    untouched = qs.Session(CREDAL, robust)  # none was seen: the one with most votes
    assert votes[untouched.next.id] == max(votes.values())


def test_robust_rules_change_nothing_in_a_precise_bank():
    session = qs.Session(BANK, qs.Rules(robust=qs.Robust()))
    assert session.choice.votes == {}
    assert sessions.asked(session) == sessions.asked(qs.Session(BANK))


def test_networks_that_exclude_the_answers_abstain():
    tables = {"no": [[0.9, 1.0], [0.0, 0.1]], "yes": [0.5, 0.5]}
    made = qs.Bank(
        {
            "skills": {"a": {"prior": [[0.9, 1.0], [0.0, 0.1]]}},
            "questions": {
                "z": {"skill": "a", "table": tables},
                **{n: {"skill": "a", "right": [0.2, r]} for n, r in (("x", 0.7), ("y", 0.6))},
            },
        }
    )
    session = qs.Session(made, qs.Rules(robust=qs.Robust(networks=16))).answer("z", "right")
    assert 0 < sum(session.choice.votes.values()) < 16
