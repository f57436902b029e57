"""Pictures: each draws what it was given into the Axes it was given, and says what it cannot draw."""

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.plot import beliefs, calibration, class_map, course, curves, exposure, information, network, reliability

BANK = qs.load("four-skills")
CREDAL = BANK.widen(0.05)


def axes():
    return Figure().add_subplot()


def answered(bank):
    return qs.Session(bank, qs.Rules(score="entropy", stop=qs.max_questions(6))).answer("Q25", "right").answer("Q9", "wrong").skip("Q1")


@pytest.fixture(scope="module")
def simulation():
    return qs.simulate(BANK, qs.Rules(score="entropy", stop=qs.max_questions(6)), students=60)


@pytest.fixture(scope="module")
def drawings(simulation):
    session = answered(CREDAL)
    return {
        "beliefs": lambda to: beliefs(session, to),
        "course": lambda to: course(session, "S2", axes=to),
        "curves": lambda to: curves({"entropy": simulation, "exact": qs.expected(BANK, qs.Rules(stop=qs.max_questions(3)))}, axes=to),
        "exposure": lambda to: exposure(simulation, to),
        "reliability": lambda to: reliability(qs.reliability(BANK, qs.Rules(stop=qs.max_questions(4)), students=50), to),
        "calibration": lambda to: calibration(simulation, axes=to),
        "class_map": lambda to: class_map({"Ada": session.beliefs, "Ben": qs.posterior(BANK, {})}, to),
        "information": lambda to: information(BANK, "S1", axes=to),
        "network": lambda to: network(BANK, to),
    }


@pytest.mark.parametrize(
    "name", ["beliefs", "course", "curves", "exposure", "reliability", "calibration", "class_map", "information", "network"]
)
def test_it_draws_into_what_it_is_given_or_into_its_own(drawings, name):
    mine = axes()
    assert drawings[name](mine) is mine
    assert mine.has_data() or mine.texts
    assert isinstance(drawings[name](None), Axes)
    with pytest.raises(QuaestorError, match="axes: an Axes of matplotlib is expected, got str"):
        drawings[name]("here")


def test_beliefs_are_bars_with_bands():
    session = answered(CREDAL)
    drawn = beliefs(session, axes())
    solid, pale = drawn.containers
    low = np.concatenate([bounds.lower for bounds in session.beliefs.values()])
    high = np.concatenate([bounds.upper for bounds in session.beliefs.values()])
    assert [bar.get_width() for bar in solid] == pytest.approx(low)
    assert [bar.get_x() + bar.get_width() for bar in pale] == pytest.approx(high)
    assert len(beliefs(answered(BANK), axes()).containers) == 1  # a precise bank has no bands


def test_a_course_goes_from_the_start_through_every_answer():
    session = answered(BANK)
    drawn = course(session, "S2", axes=axes())
    (line,) = drawn.get_lines()
    assert line.get_ydata() == pytest.approx([then.beliefs["S2"].lower[1] for then in session.so_far])
    assert [label.get_text() for label in drawn.get_xticklabels()] == ["start", "Q25 +", "Q9 −", "Q1 ·"]
    assert len(course(session, axes=axes()).get_lines()) == 4


def test_curves_are_those_of_the_simulation(simulation):
    drawn = curves(simulation, "brier", axes())
    assert drawn.get_lines()[0].get_ydata() == pytest.approx(simulation.brier)
    assert drawn.get_ylabel() == "brier"


def test_calibration_shows_shares(simulation):
    drawn = calibration(simulation, 3, axes())
    points = np.asarray(drawn.collections[0].get_offsets())
    count, stated, true = simulation.calibration[3].T
    assert points[:, 0] == pytest.approx(stated[count > 0] / count[count > 0])
    assert points[:, 1] == pytest.approx(true[count > 0] / count[count > 0])


def test_information_is_a_sum_or_that_of_questions():
    whole = information(BANK, "S1", axes=axes())
    assert [bar.get_height() for bar in whole.containers[0]] == pytest.approx(qs.information(BANK, "S1").sum(axis=0))
    assert len(information(BANK, "S1", ["Q1", "Q5"], axes()).containers) == 2


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: beliefs(3), "beliefs: a Beliefs or a Session is expected, got 3"),
        (lambda: course(answered(BANK), "S9"), "skill: one of the bank's, got 'S9'"),
        (lambda: course(answered(BANK), "S1", "high"), "level: one of "),
        (lambda: curves({}), "curves: 1 to 8 can be told apart, got 0"),
        (lambda: curves({"a": 1}), "curves.a: a simulation, or a dict of name: simulation, is expected, got 1"),
        (lambda: curves(qs.expected(BANK, qs.Rules(stop=qs.max_questions(1))), "speed"), "metric: one of accuracy"),
        (lambda: exposure(None), "exposure: a Simulation is expected, got None"),
        (lambda: class_map({}), "class_map: beliefs of at least one person, got none"),
        (lambda: information(BANK, "S1", ["Q99"]), "questions: a question of the bank, got 'Q99'"),
        (lambda: network("four-skills"), "bank: a Bank is expected, got 'four-skills'"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, words):
    with pytest.raises(QuaestorError) as refused:
        draw()
    assert words in str(refused.value)


def test_a_step_that_is_not_there(simulation):
    with pytest.raises(QuaestorError, match="step: a whole number from 0 to 6, got 9"):
        calibration(simulation, 9)
