"""Sessions that start from what earlier tests told: the formula, its limits, and that what is saved is what was begun."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from helpers import random_models, sessions
from quaestor.errors import QuaestorError
from quaestor.session.log import Late
from quaestor.session.start import FLOOR, Earlier, is_same, start, told, weight

SEEDS = st.integers(0, 10_000)
ANGLES = {"levels": ["low", "middle", "high"], "prior": [0.5, 0.3, 0.2]}


def one_skill(right=(0.2, 0.5, 0.9), prior=(0.5, 0.3, 0.2)):
    questions = {f"Q{number}": {"skill": "angles", "right": list(right)} for number in range(4)}
    return qs.Bank({"skills": {"angles": {**ANGLES, "prior": list(prior)}}, "questions": questions})


def answered(bank, answers, begun=()):
    session = qs.Session(bank, start=tuple(begun))
    for question, answer in answers.items():
        session = session.answer(question, answer)
    return session


def drawn(seed, credal):
    """A random tree of skills with questions of one skill, and two sets of answers to different questions."""
    rng = np.random.default_rng(seed)
    parents = random_models.tree(rng, int(rng.integers(1, 4)))
    levels, kinds = ((2,), ("precise", "interval")) if credal else ((2, 3), ("precise",))
    bank = random_models.bank(rng, parents, random_models.scopes_of(rng, len(parents), 6), levels=levels, kinds=kinds)
    answers = random_models.answer(rng, bank, 0.7)
    first = {question: answer for question, answer in answers.items() if int(question[1:]) % 2}
    return bank, first, {question: answer for question, answer in answers.items() if question not in first}


def near(one, other):
    for skill in one:
        np.testing.assert_allclose(one[skill].lower, other[skill].lower, atol=1e-9)
        np.testing.assert_allclose(one[skill].upper, other[skill].upper, atol=1e-9)


@given(SEEDS, st.booleans())
def test_with_no_time_between_both_tests_tell_what_all_answers_tell_together(seed, credal):
    bank, first, second = drawn(seed, credal)
    begun = start(bank, [Earlier(answered(bank, first), 0.0)], half_life=90)
    near(answered(bank, second, begun).beliefs, qs.posterior(bank, {**first, **second}))


@given(SEEDS, st.booleans())
def test_with_a_half_life_of_nothing_or_after_ages_it_is_the_prior(seed, credal):
    bank, first, _ = drawn(seed, credal)
    assert start(bank, [Earlier(answered(bank, first), 0.0)], half_life=0) == ()
    begun = start(bank, [Earlier(answered(bank, first), 1e6)], half_life=30)
    near(qs.Session(bank, start=begun).beliefs, qs.posterior(bank, {}))


@given(SEEDS, st.floats(0, 500), st.floats(1, 500))
def test_the_formula(seed, days, half_life):
    rng = np.random.default_rng(seed)
    right, prior = np.sort(rng.uniform(0.05, 0.95, 3)), rng.dirichlet([1, 1, 1])
    bank = one_skill(right.tolist(), prior.tolist())
    answers = {f"Q{number}": ["wrong", "right"][int(rng.integers(2))] for number in range(3)}
    likelihood = np.prod([right if answer == "right" else 1 - right for answer in answers.values()], axis=0)
    expected = prior * likelihood ** (2 ** (-days / half_life))
    begun = start(bank, [Earlier(answered(bank, answers), days)], half_life)
    np.testing.assert_allclose(qs.Session(bank, start=begun).beliefs["angles"].lower, expected / expected.sum(), atol=1e-9)


@given(SEEDS, st.floats(0, 500), st.floats(1, 500))
def test_bounds_hold_for_every_network_in_the_set(seed, days, half_life):
    bank, first, second = drawn(seed, credal=False)
    wide = bank.widen(0.1)
    inner = answered(bank, second, start(bank, [Earlier(answered(bank, first), days)], half_life)).beliefs
    outer = answered(wide, second, start(wide, [Earlier(answered(wide, first), days)], half_life)).beliefs
    for skill in bank.skills:
        assert (outer[skill].lower <= inner[skill].lower + 1e-9).all()
        assert (outer[skill].upper >= inner[skill].upper - 1e-9).all()


def test_several_earlier_tests_multiply_and_what_one_started_from_is_not_carried_twice():
    bank = one_skill()
    first = answered(bank, {"Q0": "right", "Q1": "right"})
    second = answered(bank, {"Q2": "wrong"}, start(bank, [Earlier(first, 30)], 60))
    begun = start(bank, [Earlier(first, 90), Earlier(second, 60)], 60)
    right = np.array([0.2, 0.5, 0.9])
    expected = np.array([0.5, 0.3, 0.2]) * right ** (2 * 2**-1.5) * (1 - right) ** 0.5
    np.testing.assert_allclose(qs.Session(bank, start=begun).beliefs["angles"].lower, expected / expected.sum(), atol=1e-9)


def test_certainty_is_carried_as_very_probable_and_is_forgotten():
    bank = one_skill(right=(0.0, 0.5, 1.0))
    sure = answered(bank, {"Q0": "right"})
    assert sure.beliefs["angles"].upper[0] == 0
    assert told(sure)["angles"][0][0] == pytest.approx(np.log(FLOOR))
    now = qs.Session(bank, start=start(bank, [Earlier(sure, 0)], 30)).beliefs["angles"].lower
    later = qs.Session(bank, start=start(bank, [Earlier(sure, 3000)], 30)).beliefs["angles"].lower
    assert 0 < now[0] < 1e-8
    np.testing.assert_allclose(later, [0.5, 0.3, 0.2], atol=1e-6)
    assert answered(bank, {"Q1": "wrong"}, start(bank, [Earlier(sure, 0)], 30)).beliefs["angles"].lower[1] > 0.9


def test_only_the_same_skill_with_the_same_levels_is_carried():
    bank = one_skill()
    document = bank.document
    others = {
        "id": {**document, "skills": {"lines": ANGLES}, "questions": {"Q0": {"skill": "lines", "right": [0.2, 0.5, 0.9]}}},
        "levels": {**document, "skills": {"angles": {**ANGLES, "levels": ["low", "mid", "high"]}}},
    }
    for other in map(qs.Bank, others.values()):
        assert not is_same(bank, other, "angles")
        assert start(other, [Earlier(answered(bank, {"Q0": "right"}), 0)], 30) == ()
    assert is_same(bank, bank.widen(0.1), "angles")
    assert not is_same(bank.widen(0.1), bank, "angles")  # what is known by bounds only tells a bank of exact numbers nothing


def test_answers_on_several_skills_are_not_carried():
    document = sessions.bank().document
    document["questions"]["ab"] = {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2}
    bank = qs.Bank(document)
    assert start(bank, [Earlier(qs.Session(bank).answer("ab", "right"), 0)], 30) == ()


@pytest.mark.parametrize("credal", [False, True])
def test_a_saved_session_begins_as_it_began(credal):
    bank = one_skill().widen(0.05) if credal else one_skill()
    begun = start(bank, [Earlier(answered(bank, {"Q0": "right"}), 10)], 30, "one earlier test")
    session = answered(bank, {"Q1": "wrong"}, begun)
    document = json.loads(session.to_json())
    assert (document["session"], document["start"][0]["note"]) == (2, "one earlier test")
    for again in (qs.Session.from_json(bank, session.to_json()), pickle.loads(pickle.dumps(session))):
        assert sessions.same(session, again)
        assert again.start == begun
        assert again.undo().start == begun
    assert sessions.lower(session) != pytest.approx(sessions.lower(answered(bank, {"Q1": "wrong"})))
    assert json.loads(qs.Session(bank).to_json())["session"] == 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"session": 1}, r"^start: a saved session of format 2 has it as list"),
        ({"start": None}, r"^start: a saved session of format 2 has it as list"),
        ({"start": [{"question": "Q0", "answer": "right"}]}, r"^start\[0\]: a session starts from what was seen of skills"),
        ({"start": [{"skill": "angles", "likelihood": [1, 2, 3]}]}, r"^start\[0\]: angles: a weight is a number between 0 and 1"),
    ],
)
def test_a_saved_start_is_checked(changed, words):
    bank = one_skill()
    document = json.loads(qs.Session(bank, start=(Late("angles", (0.1, 0.2, 1.0)),)).to_json())
    with pytest.raises(QuaestorError, match=words):
        qs.Session.from_json(bank, json.dumps({**document, **changed}))


def test_it_is_said_why():
    bank = one_skill()
    begun = start(bank, [Earlier(answered(bank, {"Q0": "right"}), 10)], 30)
    words = "The test began with what earlier tests told."
    assert words in qs.explain(answered(bank, {"Q1": "wrong"}, begun)).text
    assert words not in qs.explain(answered(bank, {"Q1": "wrong"})).text


def test_the_weight():
    assert [weight(0, 30), weight(30, 30), weight(60, 30), weight(-5, 30), weight(7, 0)] == [1, 0.5, 0.25, 1, 0]
    with pytest.raises(QuaestorError, match=r"^half_life: a number of days of at least 0, got -1"):
        weight(1, -1)
