"""Simulated students are who they should be, answer as they should, and are the same for every method."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from helpers import sessions
from oracles.students import chances_of, luck_of, probabilities, students_of
from quaestor.credal.intervals import pick
from quaestor.simulate import Behaviour, simulate
from quaestor.simulate.cohort import Cohort

IN_ORDER = qs.Rules(score="order")
MANY = 4000


def check_frequencies(counts, probabilities):
    """Counts of each state lie within 4.5 standard deviations of what the probabilities say."""
    counts, p = np.asarray(counts, dtype=float), np.asarray(probabilities, dtype=float)
    total = counts.sum(axis=-1, keepdims=True)
    assert (np.abs(counts - total * p) <= 4.5 * np.sqrt(total * p * (1 - p)) + 1e-9).all()


def profile_probabilities(bank):
    """P(profile) of every profile of levels in the centre of a bank, in the order of the profiles, by the product of the rows."""
    centre, found = bank.centre(), []
    for levels in product(*(range(len(skill.levels)) for skill in bank.skills.values())):
        at = dict(zip(bank.skills, levels, strict=True))
        rows = [skill.table.lower[tuple(at[parent] for parent in skill.parents)][at[skill.id]] for skill in centre.skills.values()]
        found.append(float(np.prod(rows)))
    return np.array(found)


@pytest.mark.parametrize("name", ["german", "fractions", "four-skills"])
@pytest.mark.parametrize("width", [0.0, 0.1])
def test_levels_follow_the_network(name, width):
    bank = qs.load(name).widen(width) if width else qs.load(name)
    levels = students_of(bank, MANY).levels
    sizes = [len(skill.levels) for skill in bank.skills.values()]
    counts = np.bincount(np.ravel_multi_index(tuple(levels.T), sizes), minlength=int(np.prod(sizes)))
    p = profile_probabilities(bank)
    check_frequencies(counts, p)
    expected = MANY * p
    chi_square = ((counts - expected) ** 2 / expected).sum()
    assert chi_square < len(p) - 1 + 4.5 * np.sqrt(2 * (len(p) - 1))


def test_answers_follow_the_tables():
    bank = qs.load("fractions")
    x = simulate(bank, IN_ORDER, students=MANY, seed=5)
    for place, question in enumerate(bank.questions.values()):
        at = tuple(x.levels[:, list(bank.skills).index(skill)] for skill in question.skills)
        for levels in product(*(range(len(bank.skills[skill].levels)) for skill in question.skills)):
            mine = np.logical_and.reduce([column == level for column, level in zip(at, levels, strict=True)])
            counts = np.bincount(x.answers[mine, place], minlength=len(question.classes))
            check_frequencies(counts, question.table.lower[levels])


def test_profiles():
    bank = qs.load("fractions")
    x = simulate(bank, qs.Rules(stop=qs.max_questions(2)), students="profiles")
    sizes = [len(skill.levels) for skill in bank.skills.values()]
    assert x.levels.tolist() == [list(levels) for levels in product(*(range(size) for size in sizes))]


def test_levels_by_name_and_by_number():
    bank = qs.Bank({
        "skills": {"a": {"levels": ["low", "mid", "high"]}, "b": {}},
        "questions": {"Q": {"skill": "a", "right": [0.1, 0.5, 0.9]}, "R": {"skill": "b", "right": [0.2, 0.8]}},
    })  # fmt: skip
    mixed = pd.DataFrame({"b": ["no", 1, "yes"], "a": ["high", "low", 1]})
    assert simulate(bank, students=mixed).levels.tolist() == [[2, 0], [0, 1], [1, 1]]
    for table in (np.array([[2, 0], [0, 1]]), [[2, 0], [0, 1]], [["high", "no"], ["low", "yes"]]):
        assert simulate(bank, students=table).levels.tolist() == [[2, 0], [0, 1]]
    assert len(simulate(bank, students=np.int64(5)).levels) == 5


def test_given_levels_decide_the_answers():
    bank = sessions.bank()
    weak, strong = (simulate(bank, IN_ORDER, students=np.full((MANY // 4, 2), level)) for level in (0, 1))
    for x, level in ((weak, 0), (strong, 1)):
        for place, question in enumerate(bank.questions.values()):
            check_frequencies(np.bincount(x.answers[:, place], minlength=2), question.table.lower[level])
    assert (weak.answers <= strong.answers).all()  # the same luck


def test_students_from_another_bank():
    """Another structure (b depends on nothing, a on b and a talent) and other tables; beliefs stay those of the bank."""
    bank = sessions.bank()
    skills = {"talent": {"prior": [0.3, 0.7]}, "b": {"prior": [0.8, 0.2]}, "a": {"parents": ["talent", "b"], "strength": 0.7}}
    right = {name: {"skills": [name[0]], "right": [0.3, 0.6]} for name in bank.questions}
    truth = qs.Bank({"skills": skills, "questions": right})
    x = simulate(bank, IN_ORDER, students=MANY, seed=2, truth=truth)
    assert x.levels.shape == (MANY, 2)
    p = profile_probabilities(truth).reshape(2, 2, 2).sum(axis=0).T.ravel()  # of (a, b)
    check_frequencies(np.bincount(x.levels @ [2, 1], minlength=4), p)
    for place, name in enumerate(bank.questions):
        own = x.levels[:, 0 if name[0] == "a" else 1]
        for level in (0, 1):
            check_frequencies(np.bincount(x.answers[own == level, place], minlength=2), [[0.7, 0.3], [0.4, 0.6]][level])
    assert x.log_loss[0] == pytest.approx(np.log(2))  # the bank's own prior, not the truth's


def test_every_student_from_another_network_of_the_set():
    bank = sessions.bank(skills={"a": {"prior": [[0.2, 0.6], [0.4, 0.8]]}, "b": {}}).widen(0.1)
    students = Cohort(bank, bank, 800, 3, apart=True).part(0, 800)
    centred = Cohort(bank, bank, 800, 3).part(0, 800)
    for place, question in enumerate(bank.questions.values()):
        own = students.levels[:, 0 if question.skills == ("a",) else 1]
        p = chances_of(students, place)
        assert np.abs(p.sum(axis=1) - 1).max() < 1e-12
        assert (p >= question.table.lower[own] - 1e-12).all()
        assert (p <= question.table.upper[own] + 1e-12).all()
        assert len(np.unique(p[:, 1])) == 800
        assert (p != chances_of(centred, place)).any()
        for level in (0, 1):  # all of the interval is used
            ends = question.table.lower[level, 1], question.table.upper[level, 1]
            assert np.ptp(p[own == level, 1]) > 0.9 * (ends[1] - ends[0])
    assert (luck_of(students) == luck_of(centred)).all()
    many = 1500
    x = simulate(bank, IN_ORDER, students=many, seed=3, truth="random")
    prior = bank.skills["a"].table
    share, error = (x.levels[:, 0] == 1).mean(), 4.5 * 0.5 / np.sqrt(many)
    assert prior.lower[1] - error < share < prior.upper[1] + error
    for place, question in enumerate(bank.questions.values()):
        own = x.levels[:, 0 if question.skills == ("a",) else 1]
        for level in (0, 1):
            right = x.answers[own == level, place]
            error = 4.5 * 0.5 / np.sqrt(len(right))
            assert question.table.lower[level, 1] - error < right.mean() < question.table.upper[level, 1] + error


def test_a_random_truth_of_a_precise_bank_is_the_bank():
    bank = sessions.bank()
    one, other = (simulate(bank, IN_ORDER, students=50, truth=truth) for truth in (None, "random"))
    assert (one.answers == other.answers).all()


# How students answer


BEHAVIOURS = {
    "none": Behaviour(),
    "fatigue": Behaviour(fatigue=0.2),
    "guessing": Behaviour(guessing=0.4),
    "slips": Behaviour(slips=0.3),
    "reveals": Behaviour(reveals={"a1": {"b1": 0.7}, "a2": {"b1": 0.5, "a1": 1.0}}),
    "all": Behaviour(fatigue=0.1, guessing=0.2, slips=0.1, reveals={"a1": {"b1": 0.7}, "a3": {"b3": 0.5}}),
}


def three_class_bank():
    """The six questions, one of them with three classes."""
    table = {"no": [0.5, 0.3, 0.2], "yes": [0.1, 0.2, 0.7]}
    document = sessions.bank().document
    questions = {**document["questions"], "b2": {"skills": ["b"], "classes": ["wrong", "half", "right"], "table": table}}
    return qs.Bank({**document, "questions": questions})


@pytest.mark.parametrize("behaviour", BEHAVIOURS.values(), ids=BEHAVIOURS)
def test_behaviour_does_what_it_says(behaviour):
    bank = three_class_bank()
    x = simulate(bank, IN_ORDER, students=MANY, seed=9, behaviour=behaviour)
    students, ids = students_of(bank, MANY, seed=9), list(bank.questions)
    assert (x.levels == students.levels).all()
    for place, name in enumerate(ids):
        assert (x.asked_places[:, place] == place).all()
        own = x.levels[:, 0 if name[0] == "a" else 1]
        for level in (0, 1):
            mine = np.flatnonzero(own == level)
            p = probabilities(bank, behaviour, students, mine[0], name, ids[:place])
            check_frequencies(np.bincount(x.answers[mine, place], minlength=len(p)), p)


def right_shares(behaviour, level=1):
    bank = sessions.bank()
    x = simulate(bank, IN_ORDER, students=np.full((MANY, 2), level), seed=9, behaviour=behaviour)
    return (x.answers == 1).mean(axis=0)


def test_behaviour_in_numbers():
    """P(right) of a1, a2, ... at the highest level is .9 .8 .9 .8 .7 .75, at the lowest .1 .2 .3 .25 .3 .4."""
    error = 4.5 * 0.5 / np.sqrt(MANY)
    high, low = np.array([0.9, 0.8, 0.9, 0.8, 0.7, 0.75]), np.array([0.1, 0.2, 0.3, 0.25, 0.3, 0.4])
    assert right_shares(Behaviour()) == pytest.approx(high, abs=error)
    fresh = 0.8 ** np.arange(6)
    assert right_shares(Behaviour(fatigue=0.2)) == pytest.approx(fresh * high + (1 - fresh) * low, abs=error)
    assert right_shares(Behaviour(guessing=0.4)) == pytest.approx(0.6 * high + 0.2, abs=error)
    assert right_shares(Behaviour(slips=0.3)) == pytest.approx(0.7 * high, abs=error)
    told = right_shares(Behaviour(reveals={"a1": {"b1": 0.5}, "b3": {"a1": 1.0}}), level=0)  # b3 comes too late to help
    assert told == pytest.approx([0.1, 0.2, 0.3, 0.625, 0.3, 0.4], abs=error)


def test_everybody_always():
    assert right_shares(Behaviour(slips=1.0)).tolist() == [0.0] * 6
    assert right_shares(Behaviour(reveals={"a1": {"b1": 1.0}}), level=0)[3] == 1.0


def test_skipping():
    bank = sessions.bank()
    plain, skips = (simulate(bank, IN_ORDER, students=MANY, seed=9, behaviour=Behaviour(skipping=share)) for share in (0.0, 0.25))
    skipped = skips.answers < 0
    assert (skips.lengths == 6).all()
    assert skipped.mean(axis=0) == pytest.approx([0.25] * 6, abs=4.5 * 0.5 / np.sqrt(MANY))
    assert (skips.answers == plain.answers)[~skipped].all()
    for level in (0, 1):  # whoever skips does not do so because of what they know
        assert skipped[skips.levels[:, 0] == level].mean() == pytest.approx(0.25, abs=4.5 * 0.5 / np.sqrt(MANY * 3))


def test_the_same_students_serve_every_method():
    bank = qs.load("german")
    rules = [qs.Rules(score=score, stop=qs.max_questions(12)) for score in ("entropy", "mode", "random", "order", "right")]
    rules.append(qs.Rules(among=4, stop=qs.max_questions(6)))
    behaviour = Behaviour(guessing=0.1, slips=0.1, skipping=0.1)
    found = [simulate(bank, rule, students=60, seed=8, behaviour=behaviour) for rule in rules]
    given, seen = {}, 0
    for x in found:
        assert (x.levels == found[0].levels).all()
        for student, step in np.argwhere(x.asked_places >= 0).tolist():
            key = student, x.asked[student, step]
            seen += key in given
            assert given.setdefault(key, x.answers[student, step]) == x.answers[student, step]
    assert seen > 500


def test_a_wider_bank_has_the_same_students():
    bank = qs.load("german")
    one, other = (simulate(made, IN_ORDER, students=100) for made in (bank, bank.widen(0.02)))
    assert (one.levels == other.levels).mean() > 0.99  # widening leaves the centre where it was, but for rows near 0 and 1
    assert (one.answers == other.answers).mean() > 0.98


def test_students_are_told_apart_by_seed_and_number():
    bank = sessions.bank()
    one, other = students_of(bank, 100, seed=1), students_of(bank, 100, seed=2)
    assert len(set(one.seeds.tolist()) | set(other.seeds.tolist())) == 200
    luck, moods = luck_of(one), luck_of(one, "moods")
    assert len(np.unique(luck)) == luck.size
    assert not np.isin(luck, moods).any()
    assert np.abs(np.corrcoef(luck.T) - np.eye(6)).max() < 0.45


def test_students_draw_what_a_generator_of_each_would_draw():
    bank = qs.load("german")
    skills, questions = len(bank.skills), len(bank.questions)
    cohort = Cohort(bank, bank, 1_000_000, 2**40 + 3)
    for start in (0, 300, 999_990):
        students = cohort.part(start, start + 10)
        luck, moods = luck_of(students), luck_of(students, "moods")
        for row, number in enumerate(students.numbers.tolist()):
            rng = np.random.default_rng([2**40 + 3, number])
            drawn = rng.random(skills + 2 * questions)
            assert (luck[row] == drawn[skills : skills + questions]).all()
            assert (moods[row] == drawn[skills + questions :]).all()
            assert students.seeds[row] == rng.integers(2**31)


def test_pick():
    p = np.array([[0.2, 0.3, 0.5]] * 5)
    assert pick(p, np.array([0.0, 0.2, 0.49, 0.5, 1 - 1e-16])).tolist() == [0, 1, 1, 2, 2]
    assert pick(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.0, 0.999999])).tolist() == [1, 0]
