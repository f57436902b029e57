"""`qs.simulate`: the same students always, however many others there are; what cannot be simulated is refused in words."""

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from helpers import sessions
from quaestor.errors import AnswerError, QuaestorError
from quaestor.simulate import Behaviour, Scattered, expected, simulate
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.run import take

RULES = {
    "entropy": qs.Rules(score="entropy", stop=qs.max_questions(6)),
    "mode": qs.Rules(stop=qs.any_of(qs.entropy_below(0.5), qs.max_questions(6))),
    "random": qs.Rules(score="random", stop=qs.max_questions(6)),
    "among": qs.Rules(among=3, stop=qs.max_questions(3)),
}


@pytest.mark.parametrize(("name", "width"), [(name, 0.0) for name in RULES] + [(name, 0.05) for name in RULES if name != "among"])
def test_other_students_change_nothing(name, width):
    rules, bank = RULES[name], qs.load("german") if name != "among" else sessions.bank()
    bank = bank.widen(width) if width else bank
    found = {count: simulate(bank, rules, students=count, seed=4) for count in (1, 7, 1000)}
    for count in (1, 7):
        few, many = found[count], found[1000]
        length = few.asked_places.shape[1]
        assert (few.asked_places == many.asked_places[:count, :length]).all()
        assert (many.asked_places[:count, length:] == -1).all()
        assert (few.answers == many.answers[:count, :length]).all()
        assert (few.levels == many.levels[:count]).all()
        for name, values in few.by_student.items():
            assert np.abs(values - many.by_student[name][:count, : length + 1]).max() <= 1e-6  # kept as float32


@pytest.mark.parametrize("width", [0.0, 0.05])
def test_the_part_of_a_cohort_that_is_worked_out_changes_nothing(width):
    """Students 0 to 6 together, alone, and among 300; beliefs may differ by the rounding of larger matrix products."""
    bank = qs.load("four-skills").widen(width) if width else qs.load("four-skills")
    cohort, rules = Cohort(bank, bank, 300, 4), RULES["entropy"]
    many = take(bank, rules, cohort.part(0, 300), Behaviour())
    for start, stop in ((0, 7), (3, 4), (100, 140)):
        few = take(bank, rules, cohort.part(start, stop), Behaviour())
        assert (few.numbers == np.arange(start, stop)).all()
        assert (few.asked == many.asked[start:stop]).all()
        assert (few.answers == many.answers[start:stop]).all()
        for (low, high), (all_low, all_high) in zip(few.bounds, many.bounds, strict=True):
            assert np.abs(low - all_low[start:stop]).max() <= 1e-12
            assert np.abs(high - all_high[start:stop]).max() <= 1e-12


def test_the_same_seed_gives_the_same_and_another_seed_gives_others():
    bank, rules = sessions.bank(), RULES["random"]
    one, again, other = (simulate(bank, rules, students=300, seed=seed) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(one.table(), again.table(), check_exact=True)
    assert (one.asked == again.asked).all()
    assert (one.levels != other.levels).any()
    assert (one.asked != other.asked).any()


def test_students_of_one_set_of_networks_whatever_the_bank():
    """A study draws the students of all its methods from one set."""
    bank = sessions.bank()
    source, rules = Scattered(bank.widen(0.1)), qs.Rules(score="order")
    one, other = (simulate(used, rules, 300, truth=source) for used in (bank, bank.widen(0.02)))
    assert (one.levels == other.levels).all()
    assert (one.answers == other.answers).all()
    same = simulate(bank.widen(0.1), rules, 300, truth="random")
    assert (same.answers == one.answers).all()
    assert (simulate(bank, rules, 300).answers != one.answers).any()


def test_how_many_students_unless_it_is_said():
    assert len(simulate(sessions.bank(), RULES["entropy"]).lengths) == 1024


def test_one_student_has_no_standard_error():
    table = simulate(sessions.bank(), students=1).table()
    assert table["accuracy_error"].isna().all()
    assert table["accuracy"].between(0, 1).all()


def test_progress_is_told_how_many_are_done():
    done = []
    levels = {"s": {"levels": ["1", "2", "3"]}}
    bank = qs.Bank({"skills": levels, "questions": {"Q": {"skill": "s", "right": [0.2, 0.5, 0.8]}}, "imprecision": 0.1})
    simulate(bank, RULES["entropy"], students=600, progress=done.append)
    assert done == [256, 256, 88]
    done.clear()
    simulate(sessions.bank(), RULES["entropy"], students=600, progress=done.append)  # so few are worked out at once
    assert done == [600]


def test_a_test_without_questions():
    x = simulate(sessions.bank(), qs.Rules(stop=qs.probability_above(0.5)), students=5)
    assert x.lengths.tolist() == [0] * 5
    assert x.accuracy.shape == (1,)
    assert x.stops == {"probability_above": 5}
    assert x.exposure.tolist() == [0.0] * 6
    assert x.overlap == 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"students": 0}, "a simulation has at least 1 student, got 0"),
        ({"students": -3}, "a simulation has at least 1 student, got -3"),
        ({"students": True}, "a simulation has at least 1 student, got True"),
        ({"students": 2.5}, "students are a number, 'profiles' or a table of levels, got 2.5"),
        ({"students": "all"}, "students are a number, 'profiles' or a table of levels, got 'all'"),
        ({"students": [0, 1]}, "students are a number, 'profiles' or a table of levels, got [0, 1]"),
        ({"students": pd.DataFrame({"a": ["no"], "b": ["maybe"]})}, "students: row 0, b: a level is one of no, yes, got 'maybe'"),
        ({"students": pd.DataFrame({"a": [0, 2], "b": [1, 1]})}, "students: row 1, a: a level is one of no, yes, got 2"),
        ({"students": pd.DataFrame({"a": [True], "b": [1]})}, "students: row 0, a: a level is one of no, yes, got True"),
        ({"students": pd.DataFrame({"a": [np.nan], "b": [1]})}, "students: row 0, a: a level is one of no, yes, got nan"),
        ({"students": pd.DataFrame({"a": [0], "c": [1]})}, "students: a column is a skill, got 'c'"),
        ({"students": pd.DataFrame({"a": [0]})}, "students: a row a student with the level of every skill, got no column b"),
        ({"students": pd.DataFrame({"a": [], "b": []})}, "students: a row a student with the level of every skill, got no row"),
        ({"students": pd.DataFrame([[0, 1, 1]], columns=list("abb"))}, "students: a skill has one column, got two of 'b'"),
        ({"students": np.zeros((2, 3), dtype=int)}, "students: a column is a skill, got '0'"),
        ({"truth": "elsewhere"}, "truth is a bank or 'random', got 'elsewhere'"),
        ({"truth": 5}, "truth is a bank or 'random', got 5"),
        ({"seed": -1}, "a seed is a whole number of at least 0, got -1"),
        ({"seed": 1.5}, "a seed is a whole number of at least 0, got 1.5"),
        ({"seed": None}, "a seed is a whole number of at least 0, got None"),
        ({"workers": 0}, "a simulation has at least 1 worker, got 0"),
        ({"workers": True}, "a simulation has at least 1 worker, got True"),
        ({"workers": "2"}, "a simulation has at least 1 worker, got '2'"),
        ({"holdout": ["a1"]}, "holdout: questions are held out from responses of real people, got simulated students"),
        ({"behaviour": Behaviour(reveals={"a9": {"a1": 0.5}})}, "behaviour.reveals: a question of the bank, got 'a9'"),
        ({"behaviour": Behaviour(reveals={"a1": {"b9": 0.5}})}, "behaviour.reveals: a question of the bank, got 'b9'"),
        ({"rules": qs.Rules(first=("a9",))}, "first: a question of the bank, got 'a9'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_simulated(options, words):
    with pytest.raises(QuaestorError) as error:
        simulate(sessions.bank(), **{"students": 3, **options})
    assert str(error.value) == words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"fatigue": 1.5}, "behaviour.fatigue: a share between 0 and 1, got 1.5"),
        ({"guessing": -0.1}, "behaviour.guessing: a share between 0 and 1, got -0.1"),
        ({"slips": "often"}, "behaviour.slips: a share between 0 and 1, got 'often'"),
        ({"skipping": True}, "behaviour.skipping: a share between 0 and 1, got True"),
        ({"skipping": float("nan")}, "behaviour.skipping: a share between 0 and 1, got nan"),
        ({"reveals": {"a": {"b": 2}}}, "behaviour.reveals.a.b: a share between 0 and 1, got 2"),
    ],
)
def test_bad_behaviour(fields, words):
    with pytest.raises(QuaestorError) as error:
        Behaviour(**fields)
    assert str(error.value) == words


def test_a_truth_that_does_not_fit():
    bank = sessions.bank()
    with pytest.raises(QuaestorError, match=r"^truth: a has the levels no, yes, got no such skill$"):
        simulate(bank, truth=qs.load("german"))
    levels = {"a": {"levels": ["low", "mid", "high"]}, "b": {}}
    questions = {name: {"skill": "b", "right": [0.2, 0.8]} for name in bank.questions}
    for call in (simulate, expected):
        with pytest.raises(QuaestorError, match=r"^truth: a has the levels no, yes, got low, mid, high$"):
            call(bank, truth=qs.Bank({"skills": levels, "questions": questions}))
        with pytest.raises(QuaestorError, match=r"^truth: b3 has the answer classes wrong, right, got no such question$"):
            call(bank, truth=qs.Bank({"skills": sessions.LEVELS, "questions": {k: v for k, v in questions.items() if k != "b3"}}))
    other = {
        **questions,
        "a1": {"skills": ["a"], "classes": ["wrong", "half", "right"], "table": {"no": [0.5, 0.3, 0.2], "yes": [0.1, 0.3, 0.6]}},
    }
    with pytest.raises(QuaestorError, match=r"^truth: a1 has the answer classes wrong, right, got wrong, half, right$"):
        simulate(bank, truth=qs.Bank({"skills": sessions.LEVELS, "questions": other}))


def skill_bank(levels, **right):
    return qs.Bank({"skills": {"a": {"levels": levels}}, "questions": {name: {"skill": "a", "right": row} for name, row in right.items()}})


@pytest.mark.parametrize("stop", [None, qs.max_questions(2)])
@pytest.mark.parametrize("call", [simulate, expected])
def test_answers_that_the_bank_excludes_are_an_error_and_no_number(call, stop):
    truth = skill_bank(["no", "yes"], x=[0.5, 0.5], y=[0.5, 0.5])
    rules, words = (
        qs.Rules(stop=stop),
        "^these answers cannot be given together: the bank gives them probability zero, got x=right, y=wrong$",
    )
    with pytest.raises(AnswerError, match=words):
        call(skill_bank(["no", "yes"], x=[0.0, 0.5], y=[0.2, 1.0]), rules, truth=truth)
    with pytest.raises(AnswerError, match=words):
        call(skill_bank(["no", "yes"], x=[0.0, [0.4, 0.5]], y=[[0.1, 0.2], 1.0]), rules, truth=truth)
    levels = ["low", "mid", "high"]
    truth = skill_bank(levels, x=[0.5] * 3, y=[0.5] * 3)
    with pytest.raises(AnswerError, match=words):
        call(skill_bank(levels, x=[0.0, 0.0, [0.4, 0.5]], y=[0.2, 0.3, 1.0]), rules, truth=truth)


def test_answers_that_exclude_a_level_are_no_error():
    x = simulate(skill_bank(["no", "yes"], x=[0.0, 0.5], y=[0.2, 1.0]), students=200)
    assert np.isfinite(x.brier).all()
    assert x.accuracy[-1] > 0.8
