"""The best test equals a plain recursion over all answers, and no score does better."""

import numpy as np
import pytest

import quaestor as qs
from helpers.sessions import random_bank
from quaestor.errors import QuaestorError
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.optimum import KNOWN, optimal

SMALL = {"accuracy": False, "brier": True, "log_loss": True}


def best_value(bank, left, metric, answers, weight):
    """The plain recursion: every question, every answer, one session after another."""
    beliefs = qs.posterior(bank, answers)
    now = np.mean([expected_metric(beliefs[skill].lower, metric) for skill in bank.skills])
    if left == 0:
        return weight * now
    found = []
    for question in bank.questions.values():
        if question.id not in answers:
            chances = class_chances(bank, question, answers)
            after = [
                best_value(bank, left - 1, metric, {**answers, question.id: answer}, weight * chance)
                for answer, chance in zip(question.classes, chances, strict=True)
                if chance > 1e-12
            ]
            found.append(sum(after))
    return min(found) if SMALL[metric] else max(found)


def expected_metric(p, metric):
    """The mean of a metric of the package over true levels drawn from p."""
    values = [METRICS[metric](p[None, None], p[None, None], np.array([level]))[0, 0] for level in range(len(p))]
    return sum(chance * value for chance, value in zip(p, values, strict=True) if chance > 0)


def class_chances(bank, question, answers):
    """P(answer | answers), summed over all profiles of levels."""
    skills = list(bank.skills)
    sizes = [len(bank.skills[skill].levels) for skill in skills]
    joint = {}
    for profile in np.ndindex(*sizes):
        level = dict(zip(skills, profile, strict=True))
        weight = 1.0
        for skill in skills:
            at = tuple(level[parent] for parent in bank.skills[skill].parents)
            weight *= bank.skills[skill].table.lower[(*at, level[skill])]
        for name, answer in answers.items():
            asked = bank.questions[name]
            weight *= asked.table.lower[(*(level[skill] for skill in asked.skills), asked.classes.index(answer))]
        joint[profile] = weight
    total = sum(joint.values())
    rows = [w / total * question.table.lower[tuple(p[skills.index(s)] for s in question.skills)] for p, w in joint.items()]
    return np.sum(rows, axis=0)


@pytest.mark.parametrize("metric", KNOWN)
@pytest.mark.parametrize("seed", range(3))
def test_it_is_what_a_plain_recursion_finds(seed, metric):
    bank = random_bank(np.random.default_rng(seed), skills=2, questions=4, zeros=0.2 * (seed == 2))
    found = optimal(bank, 2, metric)
    assert found.values == pytest.approx([best_value(bank, left, metric, {}, 1.0) for left in range(3)], abs=1e-12)


def twins(copies):
    """Questions of which several have equal tables."""
    rows = [[0.3, 0.9], [0.2, 0.6], [0.4, 0.95]]
    skills = {"a": {}, "b": {"parents": ["a"], "table": {"no": [0.8, 0.2], "yes": [0.3, 0.7]}}}
    asked = {f"{skill}{n}{copy}": {"skill": skill, "right": rows[n]} for skill in skills for n in range(3) for copy in range(copies)}
    return qs.Bank({"skills": skills, "questions": asked})


def test_equal_questions_are_followed_once():
    together, apart = optimal(twins(2), 3), optimal(twins(1), 3)
    assert together.states == (1, 12, 15 * 4 + 6 * 3, 20 * 8 + 30 * 6)  # of six kinds with two answers, at most two of a kind
    assert together.values[3] > apart.values[3] + 1e-4
    assert together.values[1] == pytest.approx(apart.values[1], abs=1e-15)
    assert together.values[2] == pytest.approx(best_value(twins(2), 2, "accuracy", {}, 1.0), abs=1e-12)


@pytest.mark.parametrize("metric", KNOWN)
def test_no_score_does_better_and_all_questions_are_equal_for_all(metric):
    bank = twins(1)
    found = optimal(bank, 6, metric)
    for score in ("entropy", "mode", "gini", "order"):
        curve = getattr(qs.expected(bank, qs.Rules(score=score)), metric)
        regret = (curve - found.values) * (1 if SMALL[metric] else -1)
        assert (regret > -1e-12).all()
        assert regret[6] == pytest.approx(0, abs=1e-12)
    assert regret.max() > 1e-3  # a fixed order is not the best


def test_the_first_question_is_the_best_of_one_step():
    bank = qs.load("four-skills")
    found = optimal(bank, 1)
    ranked = qs.rank(bank, {}, score="mode", target="all")
    assert found.first[0][0] == ranked.ids[0]
    assert found.values[1] - found.values[0] == pytest.approx(ranked.gains[0] / 2, abs=1e-12)  # M = 2 (1 - max p) of two levels


def test_the_single_skill_of_the_paper():
    bank = qs.load("single-skill-as-run")
    found = optimal(bank, 6)
    assert found.values[:4].round(4).tolist() == [0.5, 0.8, 0.86, 0.902]
    greedy = qs.expected(bank, qs.Rules(score="entropy", then=None, stop=qs.max_questions(6))).accuracy
    assert (found.values - greedy).round(4).tolist() == [0, 0, 0, 0, 0.0195, 0, 0.009]
    assert found.first[3] == ("Q6",)  # of four questions, not the best of one


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"questions": 0}, "questions: a whole number of at least 1, got 0"),
        ({"questions": True}, "questions: a whole number of at least 1, got True"),
        ({"questions": 7}, "questions: at most as many as the bank has that count, 6, got 7"),
        ({"metric": "speed"}, "metric: one of accuracy, brier, log_loss, got 'speed'"),
        ({"limit": 2.5}, "limit: a whole number of at least 1, got 2.5"),
        ({"limit": 70}, "at most 70 states of one depth, got more after 3 questions; ask for at most 2, or raise the limit"),
    ],
)
def test_what_cannot_be_is_said(changes, words):
    with pytest.raises(QuaestorError) as refused:
        optimal(twins(1), **({"questions": 4} | changes))
    assert words in str(refused.value)


def test_a_credal_bank_is_refused():
    with pytest.raises(QuaestorError, match=r"precise banks, got a credal one; compare a credal test with that of bank\.centre\(\)"):
        optimal(twins(1).widen(0.05), 2)
