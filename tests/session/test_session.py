"""One test being taken: answers, skips, undo, errors, history, and the same answers in any order."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from helpers import random_models, sessions
from quaestor.errors import AnswerError
from quaestor.session.session import Answer, SessionError

BANK = sessions.bank()
CREDAL = BANK.widen(0.05)
TYPED = {
    "c": {"skill": "a", "right": [0.3, 0.9], "options": ["15", "50"], "correct": "50"},
    "m": {"skill": "a", "right": [0.2, 0.9], "kind": "choices", "options": ["x", "y", "z"], "correct": ["x", "y"]},
    "n": {"skill": "b", "right": [0.2, 0.8], "kind": "number", "correct": 5},
    "t": {"skill": "b", "right": [0.1, 0.7], "kind": "text", "correct": "five"},
}
ENTERED = qs.Bank({"skills": {"a": {}, "b": {}}, "questions": TYPED})


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
        assert sessions.same(again, session)


def test_an_answer_is_named_or_numbered():
    session = qs.Session(BANK)
    assert session.answer("a1", 0).log == session.answer("a1", "wrong").log
    assert session.answer("a1", np.int64(1)).log == (Answer("a1", "right"),)


def test_any_open_question_may_be_answered_unless_the_rules_forbid_it():
    session = qs.Session(BANK)
    other = next(name for name in BANK.questions if name != session.next.id)
    assert session.answer(other, "right").asked == (other,)
    with pytest.raises(SessionError, match="the rules let no question be skipped, got a skip of"):
        (firm := qs.Session(BANK, qs.Rules(may_skip=False))).skip(firm.next.id)
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


# Undo


def test_undo_takes_back_the_last_line_whatever_it_is():
    start = qs.Session(BANK, qs.Rules(stop=qs.max_questions(2)), seed=4)
    steps = [start, start.answer("a1", "right")]
    steps.append(steps[-1].late("b", "yes"))
    steps.append(steps[-1].skip("b1"))
    assert steps[-1].stopped is not None
    for now, then in zip(steps[:0:-1], steps[-2::-1], strict=True):
        assert now.undo() is then
        assert sessions.same(qs.Session.from_json(BANK, now.to_json()).undo(), then)
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
    for _ in range(4):
        session = qs.Session(bank, rules)
        for name in rng.permutation([*answers, *skipped, "late"]).tolist():
            if name == "late":
                session = session.late("s0", [0.4, 0.9][: len(bank.skills["s0"].levels)] + [0.5] * (len(bank.skills["s0"].levels) - 2))
            elif session.stopped and name in bank.questions:
                session = session._with(Answer(name, None if name in skipped else bank.questions[name].classes[answers[name]]))
            else:
                session = session.skip(name) if name in skipped else session.answer(name, answers[name])
        stopping = replace(session, rules=replace(rules, stop=stop))
        stands = session.next, stopping.next, stopping.stopped, session.answers
        numbers = np.concatenate([sessions.lower(session), sessions.upper(session)])
        if seen is None:
            seen = stands, numbers
        assert stands == seen[0]
        np.testing.assert_allclose(numbers, seen[1], atol=1e-9)
