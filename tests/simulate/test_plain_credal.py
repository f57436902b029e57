"""Plain credal tests, all students together on any library: the same questions, answers and ends as by the steps of a session."""

from functools import partial
from itertools import product

import numpy as np
import pytest

import quaestor as qs
from helpers.libraries import library
from helpers.records import check_same, check_summaries
from oracles.students import students_of
from quaestor.simulate import plain
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.library import fetched
from quaestor.simulate.metrics import METRICS, two_level_values
from quaestor.simulate.run import take

STOPS = {
    "length": qs.max_questions(6),
    "entropy": qs.any_of(qs.entropy_below(0.6), qs.max_questions(8)),
    "gain": qs.any_of(qs.all_of(qs.min_questions(2), qs.gain_below(-0.01)), qs.max_questions(9)),
    "each": qs.any_of(qs.probability_above(0.9), qs.max_questions(2, skill="each")),
    "none": None,
}
PARENTS = {
    "single": [[]],
    "chain": [[], [0], [1], [2]],
    "tree": [[], [0], [0], [1], [1]],
    "two parents": [[], [], [0, 1], [2]],
    "apart": [[], [], [1]],
}
ODD = Behaviour(fatigue=0.05, guessing=0.1, slips=0.05, skipping=0.1)
LIBRARIES = ["numpy", "strict", "torch"]


def interval(rng, widest=0.2):
    """Bounds of a probability; some are exact, and some begin at zero."""
    low, high = np.sort(rng.uniform(0.02, 0.98, 2))
    return {0: (low, low), 1: (0.0, 0.05), 2: (0.0, 0.0)}.get(int(rng.integers(9)), (low, min(high, low + widest)))


def row(low, high):
    return [[1 - high, 1 - low], [low, high]]


def credal(shape, seed, questions=12):
    """Skills of two levels, children first in the file, and questions in mixed order, some of them with the same numbers."""
    rng, levels = np.random.default_rng(seed), ["no", "yes"]
    skills = {}
    for number, parents in enumerate(PARENTS[shape]):
        if not parents:
            skills[f"s{number}"] = {"levels": levels, "prior": row(*np.sort(rng.uniform(0.2, 0.8, 2)))}
            continue
        rows = [", ".join(levels[place] for place in np.unravel_index(at, (2,) * len(parents))) for at in range(2 ** len(parents))]
        table = {name: row(*interval(rng)) for name in rows}
        skills[f"s{number}"] = {"levels": levels, "parents": [f"s{parent}" for parent in parents], "table": table}
    asked, names = {}, list(skills)
    for number in range(questions):
        low, high = np.sort(rng.uniform(0.05, 0.9, 2))
        ends = [(one, min(one + rng.choice([0.0, 0.1]), 0.95)) for one in (low, high)]
        ends[0] = (0.0, 0.1) if number % 5 == 0 else ends[0]
        ends[1] = (0.9, 1.0) if number % 7 == 0 else ends[1]
        asked[f"Q{number}"] = {
            "skill": names[rng.integers(len(names))],
            "table": dict(zip(levels, [row(*one) for one in ends], strict=True)),
        }
    asked["Q3"] = {**asked["Q5"]}  # equal gains
    asked["Q0"] = {"skill": "s0", "right": [[0.2, 0.3], [0.7, 0.8]]}
    return qs.Bank({"skills": dict(reversed(skills.items())), "questions": asked})


def check(bank, rules, students, behaviour, name):
    """A library takes a test as the steps of a session do; what it found."""
    expected, found = take(bank, rules, students, behaviour), plain.take(bank, rules, students, behaviour, library(name))
    check_same(expected, found)
    check_summaries(expected, found)
    return found


def check_shape(shape, name, stops, seed=0):
    """All scores and bounds, with some of the stop rules each."""
    for place, (score, bound) in enumerate(product(("entropy", "mode", "gini"), ("upper", "lower"))):
        for title in stops(place):
            bank = credal(shape, [seed, place, list(STOPS).index(title)])
            rules, behaviour = qs.Rules(score=score, bound=bound, stop=STOPS[title]), Behaviour() if title == "length" else ODD
            assert plain.is_plain(bank, rules, behaviour)
            check(bank, rules, students_of(bank, 15, seed=place), behaviour, name)


@pytest.mark.parametrize("name", ["strict", "torch"])
@pytest.mark.parametrize("score", ["variance", "mutual_information", "gdi", "kl", "pwkl", "mpwkl"])
def test_every_library_knows_the_scores_of_cognitive_diagnosis(name, score):
    for place, bound in enumerate(("upper", "lower")):
        bank = credal(next(iter(PARENTS)), [place, len(score)])
        rules = qs.Rules(score=score, bound=bound, stop=qs.any_of(qs.max_questions(5), qs.loss_below(0.05)))
        assert plain.is_plain(bank, rules, ODD)
        check(bank, rules, students_of(bank, 12, seed=place), ODD, name)


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("shape", PARENTS)
def test_every_library_takes_the_test_as_sessions_do(name, shape):
    first = list(PARENTS).index(shape)
    check_shape(shape, name, lambda place: [list(STOPS)[(first + place) % len(STOPS)]])


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("shape", PARENTS)
def test_every_library_and_every_stop_rule(name, shape, seed):
    check_shape(shape, name, lambda place: STOPS, seed)


@pytest.mark.parametrize("name", LIBRARIES)
def test_evidence_beyond_what_probabilities_hold(name):
    """Log-odds of more than a thousand: probabilities are 0 and 1, and gains are numbers still."""
    right = {"no": [[1 - 2e-9, 1 - 1e-9], [1e-9, 2e-9]], "yes": [[1e-9, 2e-9], [1 - 2e-9, 1 - 1e-9]]}
    skills = {"s": {"levels": ["no", "yes"], "prior": [[0.3, 0.5], [0.5, 0.7]]}, "t": {"levels": ["no", "yes"], "parents": ["s"]}}
    skills["t"]["table"] = {"no": [1.0, 0.0], "yes": [[0.2, 0.3], [0.7, 0.8]]}
    bank = qs.Bank({"skills": skills, "questions": {f"Q{number}": {"skill": "st"[number % 2], "table": right} for number in range(120)}})
    rules, students = qs.Rules(score="entropy"), students_of(bank, 6)
    assert check(bank, rules, students, Behaviour(), name).asked.shape == (6, 120)


@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("name", LIBRARIES)
def test_what_is_certain_stays_so(name, bound):
    """A level that nobody has, and answers that some networks allow at no other level."""
    skills = {"s": {"prior": [1.0, 0.0]}, "t": {"prior": [[0.4, 0.6], [0.4, 0.6]]}}
    rows = [{"no": [[0.9, 1.0], [0.0, 0.1]], "yes": [[0.2, 0.3], [0.7, 0.8]]}, {"no": [0.6, 0.4], "yes": [[0.0, 0.2], [0.8, 1.0]]}]
    bank = qs.Bank({"skills": skills, "questions": {f"Q{n}": {"skill": "st"[n % 2], "table": rows[n // 2 % 2]} for n in range(8)}})
    for score in ("entropy", "mode", "gini"):
        check(bank, qs.Rules(score=score, bound=bound), students_of(bank, 20), ODD, name)


def test_skips_that_count_as_wrong():
    bank, rules = credal("chain", 7), qs.Rules(score="entropy", skips="wrong", stop=qs.max_questions(8))
    students, behaviour = students_of(bank, 60), Behaviour(skipping=0.4)
    for name in ("numpy", "strict"):
        check(bank, rules, students, behaviour, name)


def test_students_from_networks_of_their_own():
    bank, rules = credal("tree", 8), qs.Rules(score="mode", stop=qs.max_questions(8))
    students = Cohort(bank, bank, 40, 3, True).part(0, 40)
    for name in ("numpy", "strict"):
        check(bank, rules, students, Behaviour(), name)


def levels_of_three():
    table = {"1": [0.8, 0.2], "2": [0.5, 0.5], "3": [0.2, 0.8]}
    return qs.Bank({"skills": {"s": {"levels": list("123")}}, "questions": {"Q": {"skill": "s", "table": table}}, "imprecision": 0.05})


def impossible_answers():
    table = {"no": [1.0, 0.0], "yes": [[0.2, 0.3], [0.7, 0.8]]}
    return qs.Bank({"skills": {"s": {}}, "questions": {"Q": {"skill": "s", "table": table}}})


def with_questions(**asked):
    return qs.Bank({"skills": {"s": {}, "t": {"parents": ["s"], "strength": 0.5}}, "questions": asked, "imprecision": 0.05})


@pytest.mark.parametrize(
    ("bank", "rules"),
    [
        (levels_of_three(), qs.Rules()),
        (with_questions(Q={"skills": ["s", "t"], "needs": "all", "slip": 0.1, "guess": 0.2}), qs.Rules()),
        (
            with_questions(Q={"skill": "s", "classes": ["a", "b", "c"], "table": {"no": [0.5, 0.3, 0.2], "yes": [0.2, 0.3, 0.5]}}),
            qs.Rules(),
        ),
        (impossible_answers(), qs.Rules()),
        (with_questions(Q={"skill": "s", "right": [0.3, 0.7]}), qs.Rules(target="all")),
    ],
    ids=["three levels", "two skills", "three classes", "impossible answers", "targets"],
)
def test_what_is_not_plain(bank, rules):
    assert not bank.is_precise
    assert not plain.is_plain(bank, rules, Behaviour())


def test_skills_in_a_loop_are_not_plain():
    table = {name: [0.5, 0.5] for name in ("no, no", "no, yes", "yes, no", "yes, yes")}
    skills = {"a": {}, "b": {"parents": ["a"], "strength": 0.5}, "c": {"parents": ["a"], "strength": 0.5}}
    bank = qs.Bank(
        {
            "skills": {**skills, "d": {"parents": ["b", "c"], "table": table}},
            "questions": {"Q": {"skill": "d", "right": [0.3, 0.7]}},
            "imprecision": 0.05,
        }
    )
    assert not plain.is_plain(bank, qs.Rules(), Behaviour())


def test_the_joint_uncertainty_is_for_precise_banks():
    bank, rules = credal("chain", 1), qs.Rules(stop=qs.entropy_below(0.3, over="joint"))
    for taken in (take, partial(plain.take, library=library("numpy"))):
        with pytest.raises(qs.QuaestorError, match="the joint uncertainty is for precise banks, got a credal one"):
            taken(bank, rules, students_of(bank, 3), Behaviour())


@pytest.mark.parametrize("name", LIBRARIES)
def test_metrics_of_two_levels(name):
    """Worked out together or one by one; bounds that are attained and bounds that are not, ties, certainty and impossible levels."""
    rng, put = np.random.default_rng(4), library(name).put
    low = rng.uniform(0, 0.6, (400, 2))
    low[:, 1] = np.minimum(low[:, 1], 1 - low[:, 0])
    high = np.minimum(1 - low[:, ::-1] + rng.choice([0.0, 0.05], (400, 1)), 1.0)
    low[:4], high[:4] = [[0.2, 0.8], [0.3, 0.3], [0.0, 1.0], [0.0, 0.9]], [[0.2, 0.8], [0.7, 0.7], [0.0, 1.0], [0.1, 1.0]]
    truth = rng.integers(2, size=400)
    truth[:4] = [0, 1, 0, 0]
    found = two_level_values(put(low), put(high), put(truth))
    assert list(found) == list(METRICS)
    for metric, values in found.items():
        expected = METRICS[metric](low[:, None], high[:, None], truth)[:, 0]
        np.testing.assert_allclose(fetched(values), expected, rtol=1e-12, atol=1e-12, err_msg=metric)
