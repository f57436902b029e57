"""The ranking of open questions: ties, minutes, pilots, parts by skill, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.small_banks import bank as bank_of
from quaestor import AnswerError, QuaestorError, load, rank
from quaestor.selection.scores.known import SCORES

RIGHTS = {"Q1": [0.4, 0.6], "Q2": [0.2, 0.8], "Q3": [0.3, 0.9], "Q4": [0.2, 0.8], "Q5": [0.4, 0.6]}
PLAIN = bank_of({name: {"skill": "a", "right": right} for name, right in RIGHTS.items()})
BANKS = {"precise": load("four-skills"), "credal": load("four-skills").widen(0.05), "two skills": load("fractions")}


@pytest.fixture
def made(monkeypatch):
    """A function that puts a score with these gains, one for each question of the bank, among the others."""

    def put(name, gains):
        monkeypatch.setitem(SCORES, name, lambda ahead, bound, draws: np.array([gains], dtype=float))

    return put


def gains_by_id(ranking):
    return dict(zip(ranking.ids.tolist(), ranking.gains.tolist(), strict=True))


# Order and ties


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("kind", BANKS)
def test_ids_and_gains_are_arrays_best_first(kind, score):
    bank = BANKS[kind]
    answers = dict.fromkeys(list(bank.questions)[:3], 0)
    ranking = rank(bank, answers, score=score)
    assert isinstance(ranking.ids, np.ndarray)
    assert isinstance(ranking.gains, np.ndarray)
    assert len(ranking) == len(ranking.ids) == len(ranking.gains) == len(bank.questions) - 3
    assert set(ranking.ids) == set(bank.questions) - set(answers)
    assert (np.diff(ranking.gains) <= 1e-9).all()
    assert list(ranking.numbers) == [list(bank.questions).index(name) for name in ranking.ids]


def test_a_ranking_is_a_sequence_of_candidates():
    ranking = rank(PLAIN, score="entropy")
    first = ranking[0]
    assert first.question is PLAIN.questions[first.question.id]
    assert isinstance(first.gain, float)
    assert [one.question.id for one in ranking] == ranking.ids.tolist()
    assert [one.gain for one in ranking] == ranking.gains.tolist()
    assert [one.question.id for one in ranking[1:3]] == ranking.ids[1:3].tolist()
    assert ranking[-1].question.id == ranking.ids[-1]
    assert list(ranking[10:]) == []
    with pytest.raises(IndexError):
        ranking[5]


def test_when_all_is_answered_nothing_is_left():
    ranking = rank(PLAIN, dict.fromkeys(RIGHTS, "right"))
    assert len(ranking) == 0
    assert list(ranking) == []
    assert (ranking.ids.shape, ranking.gains.shape) == ((0,), (0,))


def test_equal_questions_keep_the_order_of_the_bank():
    """Q2 and Q4 are alike, so are Q1 and Q5; Q3 tells as much of the mode as Q2 and Q4, but more by the others."""
    assert rank(PLAIN, score="gini").ids.tolist() == ["Q3", "Q2", "Q4", "Q1", "Q5"]
    assert rank(PLAIN, score="mode", then=None).ids.tolist() == ["Q2", "Q3", "Q4", "Q1", "Q5"]
    assert rank(PLAIN, score="mode").gains == pytest.approx([0.6, 0.6, 0.6, 0.2, 0.2])
    assert rank(PLAIN, score="mode", then="order").ids.tolist() == ["Q2", "Q3", "Q4", "Q1", "Q5"]
    assert rank(PLAIN, score="mode").ids.tolist() == ["Q3", "Q2", "Q4", "Q1", "Q5"]
    assert rank(PLAIN, score="mode", then="entropy").ids.tolist() == rank(PLAIN, score="mode").ids.tolist()


def test_on_a_plateau_of_the_mode_entropy_decides():
    """When no answer can change the mode every gain is 0; the plain rule keeps the bank's order."""
    certain = bank_of({name: {"skill": "a", "right": right} for name, right in RIGHTS.items()}, {"a": {"prior": [0.02, 0.98]}})
    plain = rank(certain, score="mode", then=None)
    assert plain.gains == pytest.approx(np.zeros(5), abs=1e-12)
    assert plain.ids.tolist() == list(RIGHTS)
    assert rank(certain, score="mode").ids.tolist() == rank(certain, score="entropy").ids.tolist() != list(RIGHTS)
    assert rank(certain, score="entropy", then="auto").ids.tolist() == rank(certain, score="entropy", then=None).ids.tolist()


STEPS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-4, 4), st.integers(-4, 4)), min_size=5, max_size=5)


@given(STEPS)
def test_ties_are_broken_by_the_second_score_and_then_by_place(steps):
    """Gains are far apart or within rounding of one another: 1e-10 in all."""
    gains = np.array([first + off * 1e-11 for first, _, off, _ in steps])
    seconds = np.array([second + off * 1e-11 for _, second, _, off in steps])
    with pytest.MonkeyPatch.context() as patch:
        for name, values in (("one", gains), ("two", seconds)):
            patch.setitem(SCORES, name, lambda ahead, bound, draws, values=values: values[None])
        plain, settled = rank(PLAIN, score="one"), rank(PLAIN, score="one", then="two")
    assert plain.numbers.tolist() == sorted(range(5), key=lambda place: (-steps[place][0], place))
    assert settled.numbers.tolist() == sorted(range(5), key=lambda place: (-steps[place][0], -steps[place][1], place))
    np.testing.assert_array_equal(settled.gains, gains[settled.numbers])


def test_gains_further_apart_than_rounding_are_not_tied(made):
    made("one", [0.5, 0.5 + 2e-9, 0.5 + 1e-8, 0.1, 0.1 + 5e-10])
    assert rank(PLAIN, score="one").ids.tolist() == ["Q3", "Q2", "Q1", "Q4", "Q5"]
    made("two", [0, 0, 0, 0.3, 0.3 + 2e-9])
    assert rank(PLAIN, score="one", then="two").ids.tolist() == ["Q3", "Q2", "Q1", "Q5", "Q4"]


# Minutes and pilots

MINUTES = {"Q1": 2, "Q2": 4, "Q3": None, "Q4": 0.5, "Q5": 3}
TIMED = bank_of({n: {"skill": "a", "right": right} | ({"minutes": MINUTES[n]} if MINUTES[n] else {}) for n, right in RIGHTS.items()})


def test_per_minute_divides_positive_gains_and_leaves_the_others(made):
    made("one", [0.8, 0.8, -0.2, 0.0, -0.3])
    ranking = rank(TIMED, score="one", per="minute")
    assert gains_by_id(ranking) == pytest.approx({"Q1": 0.4, "Q2": 0.2, "Q4": 0.0, "Q3": -0.2, "Q5": -0.3})
    assert ranking.ids.tolist() == ["Q1", "Q2", "Q4", "Q3", "Q5"]


@pytest.mark.parametrize("score", ["entropy", "mode", "gini", "right"])
def test_per_minute_takes_one_minute_where_none_is_stated(score):
    whole, shared = gains_by_id(rank(TIMED, score=score)), gains_by_id(rank(TIMED, score=score, per="minute"))
    assert shared == pytest.approx({name: gain / (MINUTES[name] or 1) for name, gain in whole.items()})
    assert next(iter(shared)) == "Q4"
    for one in rank(TIMED, score=score, per="minute"):
        assert sum(one.by_skill.values()) == pytest.approx(one.gain if one.by_skill else 0)


def test_per_minute_also_holds_for_the_score_that_breaks_ties(made):
    made("one", [0.0] * 5)
    made("two", [1, 1, 1, 1, 1])
    assert rank(TIMED, score="one", then="two", per="minute").ids.tolist() == ["Q4", "Q3", "Q1", "Q5", "Q2"]


def test_pilots_are_left_out_and_their_answers_do_not_count():
    questions = {name: {"skill": "a", "right": right} for name, right in RIGHTS.items()}
    questions["Q2"]["pilot"] = True
    bank = bank_of(questions)
    assert "Q2" not in rank(bank).ids
    assert len(rank(bank)) == 4
    assert gains_by_id(rank(bank, {"Q2": "right"})) == gains_by_id(rank(bank))
    assert gains_by_id(rank(bank)) == pytest.approx({name: gain for name, gain in gains_by_id(rank(PLAIN)).items() if name != "Q2"})


# Parts by skill


@pytest.mark.parametrize("target", ["scope", "all", {"S1": 1.0, "S3": 2.5}, ["S2", "S4"]])
@pytest.mark.parametrize("score", ["entropy", "mode", "gini"])
@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("kind", ["precise", "credal"])
def test_parts_by_skill_average_to_the_gain(kind, bound, score, target):
    bank = BANKS[kind].subset(list(BANKS[kind].questions)[::7])
    first = next(iter(bank.questions))
    for one in rank(bank, {first: "right"}, score=score, bound=bound, target=target):
        weights = dict.fromkeys(one.question.skills if target == "scope" else bank.skills if target == "all" else target, 1.0)
        weights |= target if isinstance(target, dict) else {}
        assert set(one.by_skill) == set(weights)
        mean = sum(one.by_skill[skill] * weight for skill, weight in weights.items()) / sum(weights.values())
        assert one.gain == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("score", ["entropy", "mode", "gini"])
def test_parts_by_skill_of_questions_on_two_skills(score, bound):
    bank = BANKS["two skills"]
    several = [one for one in rank(bank, score=score, bound=bound) if len(one.question.skills) > 1]
    assert several
    for one in several:
        assert set(one.by_skill) == set(one.question.skills)
        assert one.gain == pytest.approx(np.mean(list(one.by_skill.values())), abs=1e-12)


def test_scores_without_targets_and_the_joint_have_no_parts():
    for score in ("right", "random", "order"):
        assert rank(PLAIN, score=score)[0].by_skill == {}
    assert rank(BANKS["precise"], score="entropy", target="joint")[0].by_skill == {}


# Scores that look at no uncertainty


def test_right_prefers_even_chances():
    """P(right) is .5, .5, .6, .5, .5 before any answer."""
    ranking = rank(PLAIN, score="right")
    assert gains_by_id(ranking) == pytest.approx({"Q1": 1, "Q2": 1, "Q4": 1, "Q5": 1, "Q3": 0.8})
    assert ranking.ids.tolist() == ["Q1", "Q2", "Q4", "Q5", "Q3"]
    wide = PLAIN.widen(0.05)  # Q3 then has P(right) from .45 * .85 + .55 * .25 = .52 to .55 * .95 + .45 * .35 = .68
    assert gains_by_id(rank(wide, score="right", bound="upper"))["Q3"] == pytest.approx(1 - 2 * 0.18)
    assert gains_by_id(rank(wide, score="right", bound="lower"))["Q3"] == pytest.approx(1 - 2 * 0.02)


def test_random_is_a_matter_of_the_seed():
    bank = BANKS["precise"]
    same = [rank(bank, score="random", seed=4).ids.tolist() for _ in range(2)]
    assert same[0] == same[1]
    orders = {tuple(rank(bank, score="random", seed=seed).ids) for seed in range(8)}
    assert len(orders) == 8
    firsts = {rank(bank, score="random", seed=seed).ids[0] for seed in range(40)}
    assert len(firsts) > 15


def test_order_is_the_order_of_the_bank():
    bank = BANKS["precise"]
    second = list(bank.questions)[1]
    assert rank(bank, {second: "right"}, score="order").ids.tolist() == [name for name in bank.questions if name != second]


# What is refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"score": "entropie"},
            r"score is one of entropy, mode, gini, variance, .*, order, got 'entropie' \(did you mean 'entropy'\?\)",
        ),
        ({"score": None}, "score is one of entropy, mode, gini, variance, .*, order, got None"),
        ({"bound": "uper"}, r"bound is one of upper, lower, got 'uper' \(did you mean 'upper'\?\)"),
        ({"then": "none"}, "then is one of auto, entropy, mode, gini, variance, .*, order, got 'none'"),
        ({"per": "hour"}, "per is one of minute, got 'hour'"),
        ({"target": "every"}, "a target is 'scope', 'all', 'joint', a list of skills or weights by skill, got 'every'"),
        ({"target": "al"}, r"a target is .*, got 'al' \(did you mean 'all'\?\)"),
        ({"target": ["b"]}, "unknown skill, got 'b'"),
        ({"target": []}, "a target names at least one skill, got none"),
        ({"target": {"a": 0}}, "a: the weight of a target is a number above 0, got 0"),
        ({"target": {"a": float("nan")}}, "a: the weight of a target is a number above 0, got nan"),
    ],
)
def test_wrong_options_are_named(options, words):
    with pytest.raises(QuaestorError, match=words):
        rank(PLAIN, **options)


def test_wrong_answers_are_named():
    with pytest.raises(AnswerError, match=r"unknown question, got 'Q11' \(did you mean 'Q1'\?\)"):
        rank(PLAIN, {"Q11": "right"})
    with pytest.raises(AnswerError, match="Q1: an answer class is one of wrong, right, got 'maybe'"):
        rank(PLAIN, {"Q1": "maybe"})


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("prior", [[0.5, 0.5], [[0.4, 0.6], [0.4, 0.6]]])
@pytest.mark.parametrize("several", [False, True])
def test_answers_that_cannot_be_given_together_are_no_gains(prior, several, score):
    """Whatever the way of inference: an error with its words, never a number."""
    skills = {"a": {"prior": prior}} | ({"b": {"parents": ["a"], "strength": 0.5}} if several else {})
    questions = {
        "Q1": {"skill": "a", "right": [0.0, 1.0]},
        "Q2": {"skill": "a", "right": [0.0, 1.0]},
        "Q3": {"skill": "a", "right": [0.3, 0.8]},
    }
    if several:
        questions["Q4"] = {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2}
    bank = bank_of(questions, skills)
    with pytest.raises(AnswerError, match=r"these answers cannot be given together: .*, got Q1=right, Q2=wrong"):
        rank(bank, {"Q3": "right", "Q1": "right", "Q2": "wrong"}, score=score)
