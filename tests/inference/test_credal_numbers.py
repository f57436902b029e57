"""Numbers far apart: evidence that contradicts itself, hundreds of answers, probabilities that no number can hold."""

from math import exp, log

import numpy as np
import pytest

from helpers.credal_checks import EXACT, agrees, fitting
from helpers.models import model_of, position
from quaestor import Bank, posterior
from quaestor.inference.engines.enumeration import enumerate_bounds


def contradicting(levels, answers, scopes, width, seed=0):
    """Skills A, B, C in a chain with hard prerequisites, and a bank and answers in which A says no and the others say yes."""
    rng = np.random.default_rng(seed)
    names = [str(level) for level in range(levels)]
    rows = {2: [[1, 0], [0.4, 0.6]], 3: [[1, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]]}[levels]
    skills = {"A": {"levels": names, "prior": [1 / levels] * levels}}
    for child, parent in ("BA", "CB"):
        skills[child] = {"levels": names, "parents": [parent], "table": dict(zip(names, rows, strict=True))}
    questions = {}
    for number in range(answers):
        for scope in scopes:
            shape = (levels,) * len(scope)
            middle = np.sort(rng.uniform(0.1, 0.9, shape), axis=0)
            lower, upper = np.clip(middle - width, 0.01, 1), np.clip(middle + width, 0, 0.99)
            ends = [(round(low, 6), round(high, 6)) for low, high in zip(lower.flat, upper.flat, strict=True)]
            flat = [[[round(1 - high, 6), round(1 - low, 6)], [low, high]] for low, high in ends]
            keys = [", ".join(names[level] for level in index) for index in np.ndindex(shape)]
            questions[f"{scope}{number}"] = {"skills": list(scope), "table": dict(zip(keys, flat, strict=True))}
    return Bank({"skills": skills, "questions": questions}), {name: "wrong" if name[0] == "A" else "right" for name in questions}


@pytest.mark.parametrize("answers", [5, 20, 40, 80])
@pytest.mark.parametrize("levels", [2, 3])
def test_evidence_that_contradicts_itself_where_tables_have_zeros(levels, answers):
    """What one skill's answers make tiny is all that another's leave: nothing may drown in rounding on the way."""
    bank, given_answers = contradicting(levels, answers, ("A", "B", "C"), 0.01)
    model = model_of(bank, given_answers)
    truth = {skill: enumerate_bounds(model, position(bank, skill)) for skill in bank.skills}
    for method in fitting(model):
        found = posterior(bank, given_answers, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])


@pytest.mark.parametrize("answers", [5, 20, 60])
@pytest.mark.parametrize("seed", range(4))
def test_many_answers_in_a_loop(answers, seed):
    """Likelihood boxes whose ends are orders of magnitude apart, on two skills and a question on both."""
    bank, given_answers = contradicting(2, answers, ("A", "B", "AB", "CB"), 0.02, seed)
    kept = {name: answer for name, answer in given_answers.items() if not name.startswith("CB") or int(name[2:]) < 2}
    model = model_of(bank, kept)
    truth = {skill: enumerate_bounds(model, position(bank, skill)) for skill in bank.skills}
    for method in ("auto", "branch", "bracket"):
        found = posterior(bank, kept, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])


def exclusive(answers):
    """B rules out A, and both get nothing but right answers: the probabilities of A and of B, whatever the number of answers."""
    skills = {"A": {"prior": [0.5, 0.5]}, "B": {"parents": ["A"], "table": {"no": [0.4, 0.6], "yes": [1, 0]}}}
    names = [f"{skill}{number}" for skill in "AB" for number in range(answers)]
    bank = Bank({"skills": skills, "questions": {name: {"skill": name[0], "right": [0.1, 0.9]} for name in names}})
    weights = {"neither": 0.4 * exp(-answers * log(9)), "B": 0.6, "A": 1.0}  # each times 0.5 * 0.9^n * 0.1^n
    return bank, dict.fromkeys(names, "right"), {skill: weights[skill] / sum(weights.values()) for skill in "AB"}


@pytest.mark.parametrize("answers", [10, 15, 20, 50, 150, 2000])
def test_log_odds_keep_what_is_tiny(answers):
    bank, given_answers, expected = exclusive(answers)
    for method in ("odds", "auto", "enumeration") if answers == 2000 else ("odds", "auto", "enumeration", "hulls", "branch"):
        found = posterior(bank, given_answers, method=method)
        assert found.exact
        for skill in "AB":
            assert found[skill].lower[1] == pytest.approx(expected[skill], abs=EXACT)
            assert found[skill].upper[1] == pytest.approx(expected[skill], abs=EXACT)


@pytest.mark.parametrize("method", ["hulls", "branch", "bracket"])
def test_contradictions_beyond_all_numbers_are_admitted(method):
    """Where likelihoods below 1e-308 matter, methods on plain numbers claim nothing."""
    bank, given_answers, expected = exclusive(2000)
    found = posterior(bank, given_answers, method=method)
    assert found.method == "bracket"
    assert not found.exact
    for skill in "AB":
        assert found[skill].lower.tolist() == [0, 0]
        assert found[skill].upper.tolist() == [1, 1]
        assert found[skill].inner_lower[1] == pytest.approx(expected[skill], abs=1e-11)


@pytest.mark.parametrize("levels", [2, 3])
def test_hundreds_of_contradicting_answers(levels):
    """Claimed or not, what is claimed is true."""
    bank, given_answers = contradicting(levels, 700, ("A", "B", "C"), 0.01)
    model = model_of(bank, given_answers)
    truth = {skill: enumerate_bounds(model, position(bank, skill)) for skill in bank.skills}
    for method in fitting(model):
        found = posterior(bank, given_answers, method=method)
        for skill in bank.skills:
            agrees(found[skill], truth[skill])


def test_two_thousand_answers_on_a_credal_bank():
    """Answers that agree with each other are no problem, however many there are."""
    rng = np.random.default_rng(3)
    names = {f"q{number}": f"s{number % 4}" for number in range(2000)}
    for levels, right in ((["0", "1"], [[0.25, 0.35], [0.85, 0.95]]), (["0", "1", "2"], [[0.15, 0.25], [0.45, 0.55], [0.85, 0.95]])):
        strength = {"levels": levels, "strength": 0.5}
        skills = {"s0": {"levels": levels}} | {f"s{number}": strength | {"parents": [f"s{number - 1}"]} for number in (1, 2, 3)}
        bank = Bank({"skills": skills, "questions": {name: {"skill": skill, "right": right} for name, skill in names.items()}})
        answers = {name: "right" if rng.random() < (0.97 if skill in ("s0", "s2") else 0.03) else "wrong" for name, skill in names.items()}
        found = posterior(bank, answers)
        assert found.exact
        for skill, level in (("s0", -1), ("s1", 0), ("s2", -1), ("s3", 0)):
            assert found[skill].lower[level] > 0.999
