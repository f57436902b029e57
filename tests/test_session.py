"""One test being taken: answers, skips, late evidence, undo, errors, history, and sessions that are saved and go on elsewhere."""

import copy
import json
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
import random_models
import sessions
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from quaestor.errors import AnswerError, QuaestorError
from quaestor.rules import RulesError
from quaestor.session import Answer, Late, SessionError

BANK = sessions.bank()
CREDAL = BANK.widen(0.05)
TYPED = {
    "c": {"skill": "a", "right": [0.3, 0.9], "options": ["15", "50"], "correct": "50"},
    "m": {"skill": "a", "right": [0.2, 0.9], "kind": "choices", "options": ["x", "y", "z"], "correct": ["x", "y"]},
    "n": {"skill": "b", "right": [0.2, 0.8], "kind": "number", "correct": 5},
    "t": {"skill": "b", "right": [0.1, 0.7], "kind": "text", "correct": "five"},
}
ENTERED = qs.Bank({"skills": {"a": {}, "b": {}}, "questions": TYPED})


def same(one, other):
    """Whether two sessions stand at the same place."""
    return (
        one == other
        and one.next == other.next
        and one.stopped == other.stopped
        and np.array_equal(sessions.lower(one), sessions.lower(other))
        and np.array_equal(sessions.upper(one), sessions.upper(other))
    )


# The contract


def test_a_session_goes_from_the_first_question_to_the_stop():
    rules = qs.Rules(stop=qs.any_of(qs.max_questions(3), qs.entropy_below(0.1)))
    session = qs.Session(BANK, rules, seed=0)
    assert session.next.id == qs.rank(BANK).ids[0]
    assert session.stopped is None
    for count in range(1, 4):
        session = session.answer(session.next.id, "right")
        assert len(session.asked) == count
        np.testing.assert_array_equal(session.beliefs["a"].lower, qs.posterior(BANK, session.answers)["a"].lower)
    assert session.next is None
    assert session.stopped == qs.Stop("3 questions were asked; the limit is 3.")
    assert session.undo().stopped is None


def test_without_a_stop_rule_the_test_ends_with_the_last_question():
    session = sessions.played(qs.Session(BANK))
    assert len(session.asked) == 6
    assert session.stopped == qs.Stop("No question is left.")
    assert session.next is None


def test_a_session_is_frozen_and_every_answer_gives_a_new_one():
    session = qs.Session(BANK)
    after = session.answer("a1", "right")
    assert session.log == ()
    assert after.log == (Answer("a1", "right"),)
    with pytest.raises(FrozenInstanceError):
        session.seed = 1


@pytest.mark.parametrize("bank", [BANK, CREDAL])
def test_beliefs_are_the_posterior_of_the_answers(bank):
    session = qs.Session(bank).answer("a1", "right").answer("b2", "wrong").skip("a2")
    found = qs.posterior(bank, {"a1": "right", "b2": "wrong"})
    for skill in bank.skills:
        np.testing.assert_array_equal(session.beliefs[skill].lower, found[skill].lower)
        np.testing.assert_array_equal(session.beliefs[skill].upper, found[skill].upper)


def test_equal_sessions_are_equal_and_can_be_pickled_and_copied():
    session = qs.Session(BANK, qs.Rules(among=2), 3).answer("a1", "right").late("b", [0.2, 0.8], "seen")
    assert session == qs.Session(BANK, qs.Rules(among=2), 3).answer("a1", 1).late("b", {"yes": 0.8, "no": 0.2}, "seen")
    assert hash(session) == hash(session.undo().late("b", [0.2, 0.8], "seen"))
    for again in (pickle.loads(pickle.dumps(session)), copy.deepcopy(session)):
        assert same(again, session)


def test_an_answer_is_named_or_numbered():
    session = qs.Session(BANK)
    assert session.answer("a1", 0).log == session.answer("a1", "wrong").log
    assert session.answer("a1", np.int64(1)).log == (Answer("a1", "right"),)


def test_any_open_question_may_be_answered_unless_the_rules_forbid_it():
    session = qs.Session(BANK)
    other = next(name for name in BANK.questions if name != session.next.id)
    assert session.answer(other, "right").asked == (other,)
    strict = qs.Session(BANK, qs.Rules(only_next=True))
    for act in (lambda: strict.answer(other, "right"), lambda: strict.skip(other)):
        with pytest.raises(SessionError) as caught:
            act()
        assert str(caught.value) == f"the rules let only the next question be answered, {strict.next.id}, got {other}"
    assert strict.answer(strict.next.id, "right").asked == (strict.next.id,)


# Entries


@pytest.mark.parametrize(
    ("question", "entry", "answer", "logged"),
    [
        ("c", " 50 ", "right", " 50 "),
        ("c", "15", "wrong", "15"),
        ("m", ["y", "x"], "right", "y | x"),
        ("m", "x|y", "right", "x|y"),
        ("m", ("x",), "wrong", "x"),
        ("n", "5.0", "right", "5.0"),
        ("n", "4", "wrong", "4"),
        ("t", "FIVE.", "right", "FIVE."),
        ("t", "six", "wrong", "six"),
    ],
)
def test_what_a_taker_typed_is_classified_and_both_are_logged(question, entry, answer, logged):
    session = qs.Session(ENTERED).enter(question, entry, minutes=2)
    assert session.log == (Answer(question, answer, logged, 2.0),)
    assert session.answers == {question: answer}
    assert qs.Session.from_json(ENTERED, session.to_json()) == session


def test_an_entry_may_come_from_a_generator():
    assert qs.Session(ENTERED).enter("m", (one for one in "xy")).log == (Answer("m", "right", "x | y"),)


def test_a_bad_entry_is_refused_and_nothing_is_logged():
    session = qs.Session(ENTERED)
    for question, entry in (("c", "51"), ("n", "five"), ("t", " "), ("m", [])):
        with pytest.raises(AnswerError, match=f"^{question}: "):
            session.enter(question, entry)
    assert session.log == ()


# Skips


def test_a_skip_tells_nothing_by_default_and_is_not_asked_again():
    session = qs.Session(BANK)
    name = session.next.id
    after = session.skip(name, minutes=0.5)
    assert after.log == (Answer(name, None, None, 0.5),)
    assert after.answers == {}
    assert after.asked == (name,)
    assert np.array_equal(sessions.lower(after), sessions.lower(session))
    assert after.next.id != name
    assert name not in after.choice.ranking.ids
    assert name not in sessions.asked(after)


def test_a_skip_counts_as_a_question_asked():
    session = qs.Session(BANK, qs.Rules(stop=qs.max_questions(2))).skip("a1").skip("b1")
    assert session.stopped.reason == "2 questions were asked; the limit is 2."


@pytest.mark.parametrize(("skips", "counts"), [("wrong", "none"), ("left", "left"), ("right", "right")])
def test_a_skip_may_count_as_an_answer_class(skips, counts):
    tables = {"no": [0.5, 0.3, 0.2], "yes": [0.1, 0.1, 0.8]}
    question = {"skill": "a", "classes": ["none", "left", "right"], "table": tables}
    bank = qs.Bank({"skills": {"a": {}}, "questions": {"x": question, "y": question}})
    session = qs.Session(bank, qs.Rules(skips=skips)).skip("x")
    assert session.answers == {"x": counts}
    assert session.log == (Answer("x", None),)
    np.testing.assert_array_equal(session.beliefs["a"].lower, qs.posterior(bank, {"x": counts})["a"].lower)
    assert qs.Session.from_json(bank, session.to_json()) == session


# Late evidence


def with_extra(bank, skill, weights):
    """The bank with one more question whose best class has these likelihoods, numbers or pairs."""
    document = bank.document
    document["questions"]["extra"] = {"skill": skill, "right": weights}
    return qs.Bank(document)


@pytest.mark.parametrize("bank", [BANK, CREDAL], ids=["precise", "credal"])
@pytest.mark.parametrize("skill", ["a", "b"])
@pytest.mark.parametrize("weights", [[0.2, 0.8], [1, 0.01], [0, 1], [1, 0]])
def test_late_evidence_is_what_one_more_question_would_say(bank, skill, weights):
    session = qs.Session(bank).answer("a1", "right").late(skill, weights).answer("b1", "wrong")
    expected = qs.posterior(with_extra(bank, skill, weights), {"a1": "right", "b1": "wrong", "extra": "right"})
    for name in bank.skills:
        np.testing.assert_allclose(session.beliefs[name].lower, expected[name].lower, atol=1e-12)
        np.testing.assert_allclose(session.beliefs[name].upper, expected[name].upper, atol=1e-12)


@pytest.mark.parametrize("skill", ["a", "b"])
def test_pairs_of_weights_are_for_credal_banks(skill):
    pairs = [(0.1, 0.3), [0.6, 0.9]]
    session = qs.Session(CREDAL).answer("a1", "right").late(skill, pairs)
    expected = qs.posterior(with_extra(CREDAL, skill, [[0.1, 0.3], [0.6, 0.9]]), {"a1": "right", "extra": "right"})
    for name in CREDAL.skills:
        np.testing.assert_allclose(session.beliefs[name].lower, expected[name].lower, atol=1e-12)
        np.testing.assert_allclose(session.beliefs[name].upper, expected[name].upper, atol=1e-12)
    assert session.log[-1] == Late(skill, ((0.1, 0.3), (0.6, 0.9)))
    with pytest.raises(AnswerError, match=r"^a: a precise bank takes numbers as weights, got pairs$"):
        qs.Session(BANK).late("a", pairs)
    assert qs.Session(BANK).late("a", [(0.5, 0.5), 0.2]).log == (Late("a", (0.5, 0.2)),)


def test_the_next_question_takes_late_evidence_into_account():
    weights = [0.001, 1]
    session = qs.Session(BANK).late("a", weights)
    expected = qs.rank(with_extra(BANK, "a", weights), {"extra": "right"})
    assert list(session.choice.ranking.ids) == list(expected.ids)
    np.testing.assert_allclose(session.choice.ranking.gains, expected.gains, atol=1e-12)
    assert session.next.id != qs.Session(BANK).next.id


def test_a_level_may_be_stated_and_weights_multiply():
    session = qs.Session(BANK).late("a", "yes", "worked well in class")
    assert session.log == (Late("a", (0.0, 1.0), "worked well in class"),)
    np.testing.assert_array_equal(session.beliefs["a"].lower, [0, 1])
    twice = qs.Session(BANK).late("b", [0.5, 1]).late("a", [0.3, 0.4]).late("b", {"yes": 0.6, "no": 0.2})
    once = qs.Session(BANK).late("b", [0.1, 0.6]).late("a", [0.3, 0.4])
    np.testing.assert_allclose(sessions.lower(twice), sessions.lower(once), atol=1e-12)


def test_late_evidence_is_not_a_question_and_may_come_after_the_stop():
    session = qs.Session(BANK, qs.Rules(stop=qs.max_questions(1))).answer("a1", "right").late("a", "no")
    assert session.asked == ("a1",)
    assert session.stopped.reason == "1 question was asked; the limit is 1."
    assert session.beliefs["a"].lower[0] == 1


@pytest.mark.parametrize(
    ("skill", "seen", "said"),
    [
        ("c", "yes", "unknown skill, got 'c'"),
        (["a"], "yes", "unknown skill, got ['a']"),
        ("a", "maybe", "a: a level is one of no, yes, got 'maybe'"),
        ("a", {"yes": 1}, "a: a weight for each of no, yes, got {'yes': 1}"),
        ("a", [0.1, 0.2, 0.3], "a: a weight for each of no, yes, got 3 weights"),
        ("a", 0.5, "a: a level, or a weight for each of no, yes, got 0.5"),
        ("a", None, "a: a level, or a weight for each of no, yes, got None"),
        ("a", [0.1, 2], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got 2"),
        ("a", [0.1, float("nan")], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got nan"),
        ("a", [True, 0.5], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got True"),
        ("a", ["x", 0.5], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got 'x'"),
        ("a", [(0.5, 0.4), 1], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got (0.5, 0.4)"),
        ("a", [(0.1, 0.2, 0.3), 1], "a: a weight is a number between 0 and 1, or a pair of them in rising order, got (0.1, 0.2, 0.3)"),
        ("a", [0, 0], "these answers cannot be given together: the bank gives them probability zero, got what was stated of a"),
    ],
)
def test_bad_late_evidence_is_refused(skill, seen, said):
    with pytest.raises(AnswerError) as caught:
        qs.Session(CREDAL).late(skill, seen)
    assert str(caught.value) == said


# Undo


def test_undo_takes_back_the_last_line_whatever_it_is():
    start = qs.Session(BANK, qs.Rules(stop=qs.max_questions(2)), seed=4)
    steps = [start, start.answer("a1", "right")]
    steps.append(steps[-1].late("b", "yes"))
    steps.append(steps[-1].skip("b1"))
    assert steps[-1].stopped is not None
    for now, then in zip(steps[:0:-1], steps[-2::-1], strict=True):
        assert now.undo() is then
        assert same(qs.Session.from_json(BANK, now.to_json()).undo(), then)
    assert steps[-1].so_far == steps
    assert steps[-1].undo().answer("b1", "right").asked == ("a1", "b1")
    with pytest.raises(SessionError, match=r"^there is nothing to undo: the log is empty$"):
        start.undo()


# Errors


@pytest.mark.parametrize(
    ("act", "kind", "said"),
    [
        (lambda s: s.answer("a1", "right"), AnswerError, "a1: a question is answered once; undo first to change it"),
        (lambda s: s.skip("a1"), AnswerError, "a1: a question is answered once; undo first to change it"),
        (lambda s: s.answer("aa2", "right"), AnswerError, "unknown question, got 'aa2' (did you mean 'a2'?)"),
        (lambda s: s.skip("zzz"), AnswerError, "unknown question, got 'zzz'"),
        (lambda s: s.enter("", "50"), AnswerError, "unknown question, got ''"),
        (lambda s: s.answer(None, "right"), AnswerError, "unknown question, got None"),
        (lambda s: s.answer(["a2"], "right"), AnswerError, "unknown question, got ['a2']"),
        (lambda s: s.answer("a2", "rihgt"), AnswerError, "a2: an answer class is one of wrong, right, got 'rihgt'"),
        (lambda s: s.answer("a2", 2), AnswerError, "a2: an answer class is one of wrong, right, got 2"),
        (lambda s: s.answer("a2", -1), AnswerError, "a2: an answer class is one of wrong, right, got -1"),
        (lambda s: s.answer("a2", 0.5), AnswerError, "a2: an answer class is one of wrong, right, got 0.5"),
        (lambda s: s.answer("a2", None), AnswerError, "a2: an answer class is one of wrong, right, got None"),
        (lambda s: s.answer("a2", True), AnswerError, "a2: an answer class is one of wrong, right, got True"),
        (lambda s: s.enter("a2", "x"), AnswerError, "a2: has no options to choose from; its answer classes are wrong, right"),
        (lambda s: s.answer("a2", "right", minutes=-1), AnswerError, "minutes are a number of at least 0, got -1"),
        (lambda s: s.skip("a2", minutes=float("nan")), AnswerError, "minutes are a number of at least 0, got nan"),
        (lambda s: s.skip("a2", minutes=float("inf")), AnswerError, "minutes are a number of at least 0, got inf"),
        (lambda s: s.answer("a2", "right", minutes="3"), AnswerError, "minutes are a number of at least 0, got '3'"),
    ],
)
def test_bad_input_is_refused_and_the_session_stays_as_it_was(act, kind, said):
    session = qs.Session(BANK).answer("a1", "wrong")
    before = session.to_json()
    with pytest.raises(kind) as caught:
        act(session)
    assert str(caught.value) == said
    assert session.to_json() == before
    assert session.answer("a2", "right").asked == ("a1", "a2")


def test_after_the_stop_no_answer_is_taken():
    session = qs.Session(BANK, qs.Rules(stop=qs.max_questions(1))).answer("a1", "right")
    for act in (lambda: session.answer("a2", "right"), lambda: session.skip("a2"), lambda: session.enter("a2", "x")):
        with pytest.raises(SessionError) as caught:
            act()
        assert str(caught.value) == "the test is over: 1 question was asked; the limit is 1. Got an answer to a2"


@pytest.mark.parametrize("seed", [-1, 0.5, "1", True, None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(SessionError) as caught:
        qs.Session(BANK, seed=seed)
    assert str(caught.value) == f"a seed is a whole number of at least 0, got {seed!r}"


CERTAIN = qs.Bank(
    {
        "skills": {"a": {}},
        "questions": {
            "x": {"skill": "a", "right": [0, 0.5]},
            "y": {"skill": "a", "right": [0.5, 1]},
            "z": {"skill": "a", "right": [0.25, 0.75]},
        },
    }
)


def test_answers_that_cannot_be_given_together_are_refused_and_the_old_session_still_works():
    session = qs.Session(CERTAIN).answer("x", "right").answer("z", "wrong")
    impossible = "these answers cannot be given together: the bank gives them probability zero, got "
    for act, conflict in (
        (lambda: session.answer("y", "wrong"), "x=right, y=wrong"),
        (lambda: session.late("a", "no"), "x=right, what was stated of a"),
    ):
        with pytest.raises(AnswerError) as caught:
            act()
        assert str(caught.value) == impossible + conflict
    after = session.answer("y", "right")
    assert after.stopped is not None
    assert after.beliefs["a"].lower[1] == 1
    wrong = qs.Session(CERTAIN, qs.Rules(skips="wrong")).answer("x", "right")
    with pytest.raises(AnswerError, match=r"cannot be given together.* got x=right, y=wrong$"):
        wrong.skip("y")


# Minutes and right answers


def test_minutes_are_those_recorded_or_the_questions_own():
    bank = sessions.bank({"a1": {"minutes": 4}})
    session = qs.Session(bank, qs.Rules(stop=qs.minutes(7)))
    session = session.answer("a1", "right").answer("a2", "right", minutes=1.5).skip("a3")  # 4 + 1.5 + 1
    assert session.stopped is None
    assert session.answer("b1", "right", minutes=0).stopped is None
    assert session.answer("b1", "right", minutes=0.5).stopped.reason == "7 minutes were spent; the limit is 7."


def test_only_the_best_class_is_a_right_answer():
    session = qs.Session(BANK, qs.Rules(stop=qs.right_answers(2))).answer("a1", "right").answer("a2", "wrong").skip("a3")
    assert session.stopped is None
    assert session.answer("b1", "right").stopped.reason == "2 questions were answered right; 2 are enough."


def test_questions_are_counted_for_every_skill_of_their_scope():
    both = {"skill": None, "skills": ["a", "b"], "right": None, "needs": "all", "slip": 0.1, "guess": 0.2}
    session = qs.Session(sessions.bank({"a1": both}), qs.Rules(stop=qs.max_questions(1, skill="each"))).answer("a1", "right")
    assert session.stopped.reason == "At least 1 question was asked on each skill."


def test_the_gain_that_stops_a_test_is_that_of_the_best_question_left():
    gains = sorted(qs.rank(BANK).gains)
    assert qs.Session(BANK, qs.Rules(stop=qs.gain_below(gains[-1] - 1e-6))).stopped is None
    assert qs.Session(BANK, qs.Rules(stop=qs.gain_below(gains[-1] + 1e-6))).stopped.reason.startswith(
        "The best question left would gain 0."
    )


def test_the_joint_uncertainty_can_stop_a_test():
    session = sessions.played(qs.Session(BANK, qs.Rules(stop=qs.entropy_below(0.5, over="joint"))))
    joint = qs.rank(BANK, session.answers, "entropy", target="joint")
    assert session.stopped.reason.startswith("The joint uncertainty (entropy) is 0.4")
    assert len(joint) == 6 - len(session.asked) > 0


# History


@pytest.mark.parametrize("bank", [BANK, CREDAL], ids=["precise", "credal"])
def test_history_tells_gains_candidates_and_beliefs_of_every_step(bank):
    session = (
        qs.Session(bank, qs.Rules(score="entropy")).answer("b3", "right").late("a", [0.3, 0.9], "seen").skip("a1").answer("b1", "wrong")
    )
    answers = {}
    for step, now, then in zip(session.history, session.so_far, session.so_far[1:], strict=False):
        expected = qs.rank(bank, now.answers, "entropy", stated=now.stated)
        listed = [name for name in expected.ids if name not in now.asked]
        assert list(step.candidates.ids) == listed
        assert step.event == then.log[-1]
        assert step.asked_for == now.next
        assert step.before is now.beliefs
        assert step.after is then.beliefs
        if isinstance(step.event, Answer):
            assert step.gain == pytest.approx(dict(zip(expected.ids, expected.gains, strict=True))[step.event.question], abs=1e-12)
            answers[step.event.question] = step.event.answer
        else:
            assert step.gain is None
    chain = [step.after for step in session.history]
    assert [step.before for step in session.history[1:]] == chain[:-1]
    assert len(session.history) == 4
    assert answers == {"b3": "right", "a1": None, "b1": "wrong"}
    assert qs.Session(bank).history == ()


def test_history_is_the_same_after_loading():
    session = sessions.played(qs.Session(CREDAL, qs.Rules(among=3, stop=qs.max_questions(4)), 5), "wrong")
    again = qs.Session.from_json(CREDAL, session.to_json())
    for one, other in zip(session.history, again.history, strict=True):
        assert (one.event, one.gain, one.asked_for) == (other.event, other.gain, other.asked_for)
        np.testing.assert_array_equal(one.candidates.gains, other.candidates.gains)


# Saved sessions

GOES_ON = """
import json, sys
import quaestor as qs
found = []
for text, ids in json.load(sys.stdin):
    bank = qs.load(sys.argv[1])
    session = qs.Session.from_json(bank, text)
    for answer in ids:
        found_next = session.next.id
        session = session.answer(found_next, answer) if answer is not None else session.skip(found_next)
    beliefs = {skill: [bounds.lower.tolist(), bounds.upper.tolist()] for skill, bounds in session.beliefs.items()}
    stopped = session.stopped.reason if session.stopped else None
    found.append([session.to_json(), session.next.id if session.next else None, stopped, beliefs])
json.dump(found, sys.stdout)
"""


@pytest.mark.parametrize("kind", ["precise", "credal"])
def test_a_session_saved_after_each_step_goes_on_identically_in_a_new_process(kind, tmp_path):
    bank = sessions.bank({"b1": {"minutes": 3}}, pilots=2)
    bank = bank if kind == "precise" else bank.widen(0.04)
    rules = qs.Rules(
        score="entropy",
        among=2,
        pilots=1,
        exposure=qs.Exposure(chances={"a1": 0.5}),
        content=(qs.Content("b", least=2),),
        variety=qs.Variety(),
        robust=qs.Robust(networks=4),
        skips="wrong",
        stop=qs.any_of(qs.max_questions(5), qs.minutes(30), qs.entropy_below(0.05)),
    )
    replies = ["right", None, "wrong", "right", "wrong", "right", "wrong"]
    session = qs.Session(bank, rules, seed=11).late("b", [0.4, 0.6], "a hunch")
    steps = [session]
    for reply in replies:
        if session.next is None:
            break
        session = session.answer(session.next.id, reply) if reply else session.skip(session.next.id)
        steps.append(session)
    assert len(steps) > 5
    assert session.stopped
    qs.dump(bank, tmp_path / "bank.yaml")
    work = [[step.to_json(), replies[number : len(steps) - 1]] for number, step in enumerate(steps)]
    ended = subprocess.run(
        [sys.executable, "-c", GOES_ON, str(tmp_path / "bank.yaml")],
        input=json.dumps(work),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    for text, following, stopped, beliefs in json.loads(ended.stdout):
        assert text == session.to_json()
        assert following is None
        assert stopped == session.stopped.reason
        for skill, (lower, upper) in beliefs.items():
            np.testing.assert_allclose(lower, session.beliefs[skill].lower, rtol=0, atol=1e-12)
            np.testing.assert_allclose(upper, session.beliefs[skill].upper, rtol=0, atol=1e-12)


def test_json_round_trips_keep_everything():
    session = qs.Session(CREDAL, qs.Rules(target=["a"], variety=qs.Variety(of=["skill"]), exposure=qs.Exposure(rates={"a1": 0.5})), 3)
    session = session.answer("a1", "right", minutes=0).skip("a2", minutes=1.5).late("b", [(0.1, 0.2), 1], "é “quoted”")
    again = qs.Session.from_json(CREDAL, session.to_json())
    assert same(again, session)
    assert again.to_json() == session.to_json()
    document = json.loads(session.to_json())
    assert list(document) == ["session", "bank", "rules", "seed", "log"]
    assert document["bank"] == {"title": "Six questions", "version": CREDAL.version, "model_version": CREDAL.model_version}
    assert document["log"] == [
        {"question": "a1", "answer": "right", "minutes": 0.0},
        {"question": "a2", "answer": None, "minutes": 1.5},
        {"skill": "b", "likelihood": [[0.1, 0.2], 1.0], "note": "é “quoted”"},
    ]


def test_a_session_that_went_beyond_its_rules_can_still_be_loaded():
    rules = qs.Rules(stop=qs.max_questions(3))
    long = sessions.played(qs.Session(BANK, rules))
    tight = json.loads(long.to_json())
    tight["rules"] = qs.Rules(stop=qs.max_questions(1), only_next=True).document
    loaded = qs.Session.from_json(BANK, json.dumps(tight))
    assert loaded.log == long.log
    assert loaded.stopped.reason == "3 questions were asked; the limit is 1."


def test_another_model_version_is_refused_with_both_versions_named():
    text = qs.Session(BANK).answer("a1", "right").to_json()
    document = BANK.document
    document["questions"]["a1"]["right"] = [0.1, 0.91]
    other = qs.Bank(document)
    with pytest.raises(SessionError) as caught:
        qs.Session.from_json(other, text)
    assert str(caught.value) == (
        f"the session was taken with model version {BANK.model_version} of 'Six questions' and goes on only with that one,"
        f" got version {other.model_version} of 'Six questions'"
    )


def test_a_changed_text_alone_is_accepted():
    session = qs.Session(BANK).answer("a1", "right")
    document = BANK.document
    document["questions"]["a1"]["text"] = "A text without its typo"
    mended = qs.Bank(document)
    assert mended.version != BANK.version
    again = qs.Session.from_json(mended, session.to_json())
    assert again.log == session.log
    assert again.next.id == session.next.id


def broken(change):
    """A saved session with something changed."""
    document = json.loads(qs.Session(BANK).answer("a1", "right").late("b", [0.5, 1]).to_json())
    change(document)
    return json.dumps(document)


def line(**fields):
    return lambda document: document["log"].append(fields)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a saved session is JSON, got Expecting value: line 1 column 1 (char 0)"),
        ("{", "a saved session is JSON, got Expecting property name enclosed in double quotes"),
        ("[" * 100_000, "a saved session is JSON, got "),
        ("1" * 5000, "a saved session is JSON, got "),
        ("[]", "a saved session of format 1 is expected, got []"),
        ("null", "a saved session of format 1 is expected, got None"),
        ('{"session": 2}', "a saved session of format 1 is expected, got 2"),
        ('{"session": 1}', "bank: a saved session has it as dict, got None"),
        (broken(lambda d: d.pop("log")), "log: a saved session has it as list, got None"),
        (broken(lambda d: d.update(seed="x")), "seed: a saved session has it as int, got 'x'"),
        (broken(lambda d: d.update(seed=-3)), "a seed is a whole number of at least 0, got -3"),
        (broken(lambda d: d.update(seed=True)), "a seed is a whole number of at least 0, got True"),
        (broken(lambda d: d.update(rules=[])), "rules: a saved session has it as dict, got []"),
        (broken(lambda d: d.update(bank={})), "the session was taken with model version None of ''"),
        (broken(lambda d: d["log"].append(3)), "log[2]: a line is an answer or what was seen of a skill, got 3"),
        (broken(line()), "log[2]: a line is an answer or what was seen of a skill, got {}"),
        (broken(line(question="a2")), "log[2]: a line is an answer or what was seen of a skill, got {'question': 'a2'}"),
        (broken(line(question="a2", answer="right", mood=1)), "log[2]: a line is an answer or what was seen of a skill, got {"),
        (broken(line(question="a1", answer="right")), "log[2]: a question of the bank, each once, got 'a1'"),
        (broken(line(question="q", answer="right")), "log[2]: a question of the bank, each once, got 'q'"),
        (broken(line(question=["a2"], answer="right")), "log[2]: a question of the bank, each once, got ['a2']"),
        (broken(line(question="a2", answer="good")), "log[2]: a2: an answer class is one of wrong, right, got 'good'"),
        (broken(line(question="a2", answer=[])), "log[2]: a2: an answer class is one of wrong, right, got []"),
        (broken(line(question="a2", answer=7)), "log[2]: a2: an answer class is one of wrong, right, got 7"),
        (broken(line(question="a2", answer="right", entry=3)), "log[2]: a2: an entry is a text, got 3"),
        (broken(line(question="a2", answer="right", minutes="3")), "log[2]: minutes are a number of at least 0, got '3'"),
        (broken(line(question="a2", answer="right", minutes=10**400)), "log[2]: minutes are a number of at least 0, got 1000"),
        (broken(line(skill="c", likelihood=[1, 1])), "log[2]: unknown skill, got 'c'"),
        (broken(line(skill=["a"], likelihood=[1, 1])), "log[2]: unknown skill, got ['a']"),
        (broken(line(skill="a", likelihood=3)), "log[2]: a: a level, or a weight for each of no, yes, got 3"),
        (broken(line(skill="a", likelihood=None)), "log[2]: a: a level, or a weight for each of no, yes, got None"),
        (broken(line(skill="a", likelihood=[[1, 2, 3], 1])), "log[2]: a: a weight is a number between 0 and 1"),
        (broken(line(skill="a", likelihood=[0, 0])), "log[2]: these answers cannot be given together"),
    ],
)
def test_a_broken_file_is_refused_in_words(text, said):
    with pytest.raises(SessionError) as caught:
        qs.Session.from_json(BANK, text)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"score": "x"}, "score: one of entropy, mode, gini, right, random, order is expected, got 'x'"),
        ({"first": ["x"]}, "first: a question of the bank, got 'x'"),
    ],
)
def test_broken_rules_in_a_file_are_refused_in_words(rules, said):
    with pytest.raises(RulesError) as caught:
        qs.Session.from_json(BANK, broken(lambda document: document.update(rules=rules)))
    assert str(caught.value) == said


def test_numbered_answers_in_a_file_become_names():
    loaded = qs.Session.from_json(BANK, broken(line(question="a2", answer=1)))
    assert loaded.answers["a2"] == "right"


def test_changed_bytes_never_end_in_a_foreign_error():
    text = qs.Session(CREDAL, qs.Rules(stop=qs.any_of(qs.max_questions(3)))).answer("a1", "right").late("b", [0.5, 1]).skip("b1").to_json()
    rng = np.random.default_rng(8)
    loaded = 0
    for _ in range(400):
        letters = list(text)
        for place in rng.integers(len(letters), size=int(rng.integers(1, 4))):
            letters[place] = str(rng.choice(list('{}[]",:0123456789abnotrue -.e')))
        try:
            loaded += qs.Session.from_json(CREDAL, "".join(letters)).beliefs is not None
        except QuaestorError:
            continue
    assert 0 < loaded < 400


# Any order


def test_a_threshold_met_exactly_does_not_depend_on_the_order_of_the_answers():
    bank = qs.Bank(
        {
            "skills": {"a": {}},
            "questions": {f"q{n}": {"skill": "a", "right": [0.3, 0.9]} for n in range(3)} | {"x": {"skill": "a", "right": [0.1, 0.7]}},
        }
    )
    rng = np.random.default_rng(0)
    for _ in range(50):
        answers = {name: int(rng.integers(2)) for name in bank.questions}
        exact = float(qs.posterior(bank, answers)["a"].lower.max())
        found = set()
        for order in (rng.permutation(list(answers)) for _ in range(4)):
            session = qs.Session(bank, qs.Rules(stop=qs.all_of(qs.min_questions(4), qs.probability_above(exact))))
            for name in order:
                session = session.answer(name, answers[name])
            found.add(session.stopped.reason)
        assert len(found) == 1
        assert "No question" not in next(iter(found))


@given(seed=st.integers(0, 10**6))
def test_the_same_answers_in_any_order_give_the_same_next_question_stop_and_result(seed):
    rng = np.random.default_rng(seed)
    bank = sessions.random_bank(rng, ("precise", "credal")[seed % 2], questions=7)
    rules = replace(sessions.random_rules(rng, bank, orderly=True), only_next=False, stop=None)
    assert not rules.is_random
    stop = sessions.random_criterion(rng, bank)
    answers = random_models.answer(rng, bank, 0.5)
    skipped = [name for name in bank.questions if name not in answers and rng.random() < 0.2]
    seen = None
    for _ in range(3):
        session = qs.Session(bank, rules)
        for name in rng.permutation([*answers, *skipped, "late"]).tolist():
            if name == "late":
                session = session.late("s0", [0.4, 0.9][: len(bank.skills["s0"].levels)] + [0.5] * (len(bank.skills["s0"].levels) - 2))
            elif session.stopped and name in bank.questions:
                session = session._with(Answer(name, None if name in skipped else bank.questions[name].classes[answers[name]]))
            else:
                session = session.skip(name) if name in skipped else session.answer(name, answers[name])
        session = replace(session, rules=replace(rules, stop=stop))
        stands = session.next, session.stopped, sorted(session.answers.items())
        numbers = np.concatenate([sessions.lower(session), sessions.upper(session)])
        if seen is None:
            seen = stands, numbers
        assert stands == seen[0]
        np.testing.assert_allclose(numbers, seen[1], atol=1e-9)
