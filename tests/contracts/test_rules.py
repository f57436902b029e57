"""One step for many takers is, for every rule, exactly the step of each taker's own session; and so is a simulation."""

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from helpers.rule_cases import RULES, assert_same, bank, histories, levelled_bank, rules, together
from oracles.students import check_same, students_of
from quaestor.simulate.answering import Behaviour

TAKERS = 12
SLOW = (
    "content least",
    "testlets",
    "variety",
    "exposure chances",
    "retire",
    "pilots",
    "robust",
    "per minute",
    "gain_below",
    "many together",
)
long = pytest.mark.long


def check(made, wanted, takers, seed=0, near=1e-12):
    """A batch of takers with different histories; how many of them have a question left."""
    listed = histories(made, wanted, takers, seed)
    decision = together(listed)
    assert_same(decision, listed, near)
    return int((decision.question >= 0).sum())


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kind", ["precise", "binary"])
def test_a_step_of_twelve_takers_is_that_of_twelve_sessions(kind, name):
    assert check(bank(kind), rules(name), TAKERS) > 0


def test_all_skills_together_are_a_target_of_precise_banks():
    wanted = qs.Rules(score="entropy", target="joint", stop=qs.any_of(qs.entropy_below(0.4, over="joint"), qs.max_questions(6)))
    assert check(bank("precise"), wanted, TAKERS) > 0


@pytest.mark.parametrize("name", [name if name in SLOW else pytest.param(name, marks=long) for name in RULES])
def test_a_step_of_takers_with_three_levels_is_that_of_their_sessions(name):
    assert check(bank("levels"), rules(name), 6) > 0


@pytest.mark.parametrize("name", [name if name in ("testlets", "many together") else pytest.param(name, marks=long) for name in RULES])
def test_a_step_of_takers_of_a_bank_with_a_loop_is_that_of_their_sessions(name):
    assert check(bank("loop"), rules(name), 3) > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kind", ["precise", "binary"])
def test_other_histories(kind, name, seed):
    check(bank(kind), rules(name), TAKERS, seed)


@pytest.mark.parametrize("seed", [*range(10), *(pytest.param(seed, marks=long) for seed in range(10, 200))])
@pytest.mark.parametrize("kind", ["precise", "credal"])
def test_random_rules_together(kind, seed):
    rng = np.random.default_rng([seed, len(kind)])
    made = sessions.random_bank(rng, kind)
    check(made, sessions.random_rules(rng, made), 8, seed)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=long) for seed in range(2, 40))])
def test_random_rules_together_where_skills_have_three_levels(seed):
    rng = np.random.default_rng([seed, 3])
    made = levelled_bank(rng)
    check(made, sessions.random_rules(rng, made), 4, seed)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("kind", ["precise", pytest.param("binary", marks=long)])
def test_a_simulation_is_a_session_for_each_student(kind, name):
    """Asked, answered, believed and stopped as alone, whatever the rules draw: the seeds are those of the students."""
    made = bank(kind)
    found = check_same(made, rules(name), students_of(made, 8), Behaviour(skipping=0.15))
    assert any(taken.asked for taken in found)


LOOP = pytest.param("loop", marks=[long])


@pytest.mark.parametrize("kind", ["levels", LOOP])
def test_a_simulation_of_a_slow_bank_is_a_session_for_each_student(kind):
    made = bank(kind)
    for name in ("testlets", "many together"):
        check_same(made, rules(name, stop=qs.max_questions(3)), students_of(made, 3), Behaviour(skipping=0.15))
