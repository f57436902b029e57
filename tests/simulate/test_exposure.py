"""Sympson-Hetter tables: what they promise holds for other students, and what cannot be done is refused with words."""

import numpy as np
import pytest

import quaestor as qs
from quaestor.cli import main
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.exposure import exposure_table, rates
from quaestor.simulate.run import take

RULES = qs.Rules(stop=qs.max_questions(3))


def small(pilots=0):
    """Eight questions on one skill, some much better than others."""
    right = {f"q{n}": {"skill": "a", "right": [0.4 - 0.04 * n, 0.6 + 0.04 * n]} for n in range(8)}
    tried = {f"p{n}": {"skill": "a", "right": [0.05, 0.95], "pilot": True} for n in range(pilots)}
    return qs.Bank({"skills": {"a": {}}, "questions": right | tried})


def with_chances(table, rules=RULES):
    return qs.Rules(**{**vars(rules), "exposure": qs.Exposure(chances=table)})


def session_rates(bank, rules, students, seed):
    """The rates when every student takes the test in a session."""
    asked = take(bank, rules, Cohort(bank, bank, students, seed).part(0, students), Behaviour()).asked
    return np.bincount(asked[asked >= 0], minlength=len(bank.questions)) / students


def error(share, students):
    return np.sqrt(share * (1 - share) / students)


@pytest.mark.parametrize("most", [0.45, 0.7])
def test_a_table_holds_for_other_students_in_sessions(most):
    bank, students = small(), 200
    table = exposure_table(bank, RULES, most)
    found = session_rates(bank, with_chances(table), students, seed=77)
    assert (found <= most + 4 * error(most, students)).all()
    assert session_rates(bank, RULES, students, seed=77).max() == 1.0


def test_credal_banks_have_tables_too():
    bank = small().widen(0.05)
    table = exposure_table(bank, RULES, 0.6, students=300)
    assert max(rates(bank, with_chances(table), 1000, seed=9).values()) <= 0.6 + 4 * error(0.6, 300)


def test_questions_that_need_no_limit_keep_chance_one():
    bank, rules, most = qs.load("four-skills"), qs.Rules(stop=qs.max_questions(6)), 0.25
    table = exposure_table(bank, rules, most)
    after = rates(bank, with_chances(table, rules), seed=55)
    assert max(after.values()) <= most + 4 * error(most, 1000)
    assert sum(after.values()) == pytest.approx(6)
    assert list(table) == list(bank.questions)
    assert all(0 < chance <= 1 for chance in table.values())
    mine = rates(bank, with_chances(table, rules))  # of the students that the table was made with
    limited = [question for question, chance in table.items() if chance < 1]
    assert 0 < len(limited) < len(table) / 2
    assert all(abs(mine[question] - most) < 0.03 for question in limited)  # nothing is held back more than needed
    assert exposure_table(bank, rules, 1) == dict.fromkeys(bank.questions, 1.0)


def test_students_together_are_asked_as_in_sessions():
    bank, students = small(), 300
    rules = with_chances({"q7": 0.3, "q6": 0.5, "q2": 0.0})
    many, one = np.array(list(rates(bank, rules, 4000, seed=3).values())), session_rates(bank, rules, students, seed=4)
    assert (np.abs(many - one) <= 4 * error(many, students) + 4 * error(many, 4000)).all()
    assert list(rates(bank, RULES, students, seed=4).values()) == session_rates(bank, RULES, students, seed=4).tolist()


def test_when_all_are_held_back_the_best_is_asked():
    bank = small()
    rules = with_chances(dict.fromkeys(bank.questions, 0.0))
    assert list(rates(bank, rules, 50).values()) == session_rates(bank, rules, 50, 1).tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


def test_rules_that_keep_an_order_go_one_by_one():
    bank = small(pilots=1)
    rules = qs.Rules(stop=qs.max_questions(2), exclude=(("q7", "q6"),), pilots=1)
    table = exposure_table(bank, rules, 0.6, students=100)
    assert "p0" not in table
    assert max(session_rates(bank, with_chances(table, rules), 100, 5)[:8]) <= 0.6 + 4 * error(0.6, 100)


def test_the_same_seed_gives_the_same_table_and_rounds_are_told():
    told = []
    first = exposure_table(small(), RULES, 0.6, students=200, progress=lambda number, rate: told.append((number, rate)))
    assert first == exposure_table(small(), RULES, 0.6, students=200)
    assert first != exposure_table(small(), RULES, 0.6, students=200, seed=2)
    assert [number for number, _ in told] == list(range(1, len(told) + 1))
    assert told[0][1] == 1.0
    assert told[-1][1] <= 0.61


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"most": 0}, "most: a share above 0 and at most 1, got 0"),
        ({"most": 1.5}, "most: a share above 0 and at most 1, got 1.5"),
        ({"most": float("nan")}, "most: a share above 0 and at most 1, got nan"),
        ({"students": 0}, "students: a whole number of at least 1, got 0"),
        ({"rounds": True}, "rounds: a whole number of at least 1, got"),
        ({"rounds": 2}, "q.: asked of at most 0.6 of the takers, got 0.* after 2 rounds"),
        ({"most": 0.3}, "tests of 3 questions on average show each of 8 questions to 0.375 of the takers on average, got most 0.3"),
        ({"rules": qs.Rules(first=("q1",))}, "first: questions that everybody is asked cannot be held back, got q1"),
        ({"rules": qs.Rules(mandatory=("q1",))}, "mandatory: questions that everybody is asked cannot be held back, got q1"),
    ],
)
def test_what_cannot_be_done_is_refused(change, words):
    with pytest.raises(qs.QuaestorError, match=words):
        exposure_table(small(), **{"rules": RULES, "most": 0.6, "students": 100, **change})


def test_the_command_writes_rules_that_can_be_followed(tmp_path, capsys):
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_text("score: entropy\nstop: {max_questions: 4}\n")
    arguments = ["export", "single-skill", "--rules", str(before), "--exposure", "0.5", "--students", "300", "--out", str(after)]
    assert main(arguments) == 0
    assert "questions of 18 limited after" in capsys.readouterr().err
    rules = qs.load_rules(after)
    assert rules.score == "entropy"
    assert rules.stop == qs.max_questions(4)
    found = rates(qs.load("single-skill"), rules, 1000, seed=8)
    assert max(found.values()) <= 0.5 + 4 * error(0.5, 300)
    assert main([*arguments[:-2], "--seed", "-1"]) == 1
    assert "--seed: a whole number of at least 0, got -1" in capsys.readouterr().err
