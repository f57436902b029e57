"""What explanations may say: what really decided, in at most two sentences, and words that agree with the numbers beside them."""

import re

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from quaestor.credal.indices import entropy
from quaestor.selection.sureness import is_sure, sure_above
from quaestor.session.explain.changes import changes
from quaestor.session.explain.reasons import whole
from quaestor.session.explain.wording import percent

MIDDLE = {"levels": ["low", "middle", "high"], "prior": [0.1, 0.8, 0.1]}
SHARES = {"Q1": [0.3, 0.6, 0.8], "Q2": [0.2, 0.5, 0.7], "Q3": [0.4, 0.7, 0.9]}


def bank_of(shares, **skills):
    return qs.Bank({"skills": skills, "questions": {name: {"skill": next(iter(skills)), "right": right} for name, right in shares.items()}})


def why(session):
    return qs.explain(session).question


# What decided


@pytest.mark.parametrize("width", [0, 0.05])
def test_a_question_that_gains_nothing_is_not_said_to_tell_most(width):
    """A skill that is mostly at its middle level: no single answer makes another level the most probable, so all gains are 0."""
    bank = bank_of(SHARES, a=MIDDLE)
    session = qs.Session(bank.widen(width) if width else bank)
    for _ in range(2):
        found = why(session)
        assert found.gain == pytest.approx(0, abs=1e-9)
        assert (found.decided, found.tied) == ("second", len(session.ranking))
        assert "tell most" not in found.text
        assert "none is expected to change the result by itself, but of these it is expected to leave least doubt." in found.text
        session = session.answer(found.question.id, "right")


def test_equally_good_questions_are_said_to_be():
    bank = bank_of({"Q1": [0.5, 0.5], "Q2": [0.2, 0.8], "Q3": [0.2, 0.8]}, a={})
    assert (
        why(qs.Session(bank)).text == "Why Q2, a question on a: of the 3 open questions 2 were equally good, and it is the first of them."
    )
    same = bank_of({"Q1": [0.2, 0.8], "Q2": [0.2, 0.8]}, a={})
    assert (
        why(qs.Session(same)).text == "Why Q1, a question on a: of the 2 open questions all were equally good, and it is the first of them."
    )
    drawn = why(qs.Session(same, qs.Rules(score="entropy", then="random")))
    assert "all were equally good, and it was drawn from them." in drawn.text


def test_a_useless_rest_of_a_bank_tells_nothing():
    bank = bank_of({"Q1": [0.5, 0.5], "Q2": [0.4, 0.4]}, a={})
    assert why(qs.Session(bank)).text.endswith("none is expected to change the result by itself, and it is the first of them.")


def test_the_only_question_that_the_rules_leave():
    bank = bank_of({"Q1": [0.3, 0.9], "Q2": [0.2, 0.8], "Q3": [0.2, 0.7]}, a={})
    session = qs.Session(bank, qs.Rules(exclude=(("Q1", "Q2"),)))
    after = session.answer("Q1", "right")
    expected = "it is the only question that the rules leave (questions that exclude one another: one of them was asked)."
    assert why(after).text == f"Why Q3, a question on a: {expected}"
    assert why(session.answer("Q3", "right").answer("Q1", "wrong")) is None


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        (qs.Rules(score="random"), "of the 3 open questions it was drawn."),
        (qs.Rules(score="order"), "of the 3 open questions it is the first."),
        (qs.Rules(among=2), "drawn from the first 2 of the ranking."),
        (qs.Rules(per="minute"), "it is expected to tell most for the time it takes."),
        (qs.Rules(first=("Q3",)), "the test begins with Q3."),
        (qs.Rules(mandatory=("Q3",)), "it is the only question that the rules leave (Q3 must be asked in any case)."),
    ],
)
def test_the_rule_that_decided_is_named(rules, words):
    bank = bank_of({"Q1": [0.3, 0.9], "Q2": [0.2, 0.7], "Q3": [0.4, 0.8]}, a={})
    assert why(qs.Session(bank, rules)).text.endswith(words)


def test_the_skill_we_know_least_about_is_one():
    one = {"skill": "a", "right": [0.1, 0.95]}
    other = {"skill": "b", "right": [0.2, 0.8]}
    same = qs.Bank({"skills": {"a": {}, "b": {}}, "questions": {"Q1": one, "Q2": other}})
    assert "know least" not in why(qs.Session(same)).text
    unlike = qs.Bank({"skills": {"a": {}, "b": {"prior": [0.2, 0.8]}}, "questions": {"Q1": one, "Q2": other}})
    assert why(qs.Session(unlike)).text.endswith("That is the skill we know least about.")
    weighted = qs.Rules(target={"a": 1, "b": 3})
    assert "know least" not in why(qs.Session(unlike, weighted)).text


# What sure means


@pytest.mark.parametrize(
    ("stop", "above"),
    [
        (None, 0.8),
        (qs.max_questions(3), 0.8),
        (qs.probability_above(0.95), 0.95),
        (qs.any_of(qs.max_questions(3), qs.probability_above(0.9)), 0.9),
        (qs.all_of(qs.min_questions(3), qs.probability_above(0.7)), 0.7),
    ],
)
def test_sure_is_what_the_test_is_content_with(stop, above):
    rules = qs.Rules(stop=stop)
    assert sure_above(rules) == above
    session = qs.Session(bank_of({"Q1": [0.2, 0.9], "Q2": [0.3, 0.8], "Q3": [0.2, 0.7]}, a={"prior": [0.26, 0.74]}), rules)
    session = session.answer("Q1", "right")
    assert qs.explain(session).open == (() if session.beliefs["a"].lower[1] >= above else ("a",))


def test_a_test_that_stopped_because_it_was_sure_has_nothing_open():
    assert is_sure(0.9 - 1e-10, 0.9)
    rules = qs.Rules(stop=qs.any_of(qs.max_questions(9), qs.probability_above(0.6)))
    session = qs.Session(bank_of({"Q1": [0.4, 0.6], "Q2": [0.3, 0.8]}, a={}), rules).answer("Q1", "right")
    assert session.stopped.rule == "probability_above"
    assert qs.explain(session).open == ()


# What an answer changed


def test_an_answer_that_raises_a_level_is_not_said_to_change_nothing():
    """At the time another level was found, whose probability hardly moved; the level found in the end rose from 25 % to 37 %."""
    levels = {"levels": ["low", "middle", "high"], "prior": [0.38, 0.37, 0.25]}
    session = qs.Session(bank_of({"Q1": [0.4, 0.27, 0.6], "Q2": [0.1, 0.2, 0.9]}, a=levels), qs.Rules(score="order"))
    session = session.answer("Q1", "right").answer("Q2", "right")
    before, after = (step.beliefs["a"].lower for step in session.so_far[:2])
    assert after.argmax() == 0
    assert abs(after[0] - before[0]) < 0.005
    (first, _) = changes(session)
    assert [(change.level, change.text) for change in first] == [("high", "A, 'high': from 25 % to 37 %.")]
    assert [entry.points for entry in qs.explain(session).results["a"].ledger] == [12, 42]


def test_a_change_between_other_levels_is_told():
    levels = {"levels": ["low", "middle", "high"], "prior": [0.25, 0.5, 0.25]}
    session = qs.Session(bank_of({"Q1": [0.2, 0.5, 0.8]}, a=levels)).answer("Q1", "right")
    ((change,),) = changes(session)
    assert qs.explain(session).results["a"].ledger[0].points == 0
    assert change.text in ("A, 'low': from 25 % to 10 %.", "A, 'high': from 25 % to 40 %.")


def test_a_skip_that_counts_for_nothing_changes_nothing():
    session = qs.Session(bank_of(SHARES, a=MIDDLE)).skip("Q1")
    assert changes(session) == [()]


# How far a test is


@pytest.mark.parametrize("pilots", [0, 1])
def test_the_greatest_number_of_questions_stays_the_same_to_the_end(pilots):
    shown = {f"Q{n}": {"skill": "a", "right": [0.3, 0.8]} for n in range(9)} | {"P": {"skill": "a", "right": [0.3, 0.8], "pilot": True}}
    bank = qs.Bank({"skills": {"a": {}}, "questions": shown})
    for seed in range(5):
        session = qs.Session(bank, qs.Rules(pilots=pilots, stop=qs.any_of(qs.max_questions(6), qs.probability_above(0.99))), seed)
        said = [session.at_most]
        while session.next is not None:
            session = session.skip(session.next.id) if len(session.asked) == 2 else session.answer(session.next.id, len(session.asked) % 2)
            said.append(session.at_most)
        assert set(said) == {6 + pilots}
        assert len(session.asked) == 6 + pilots


def test_no_more_questions_are_promised_than_there_are():
    assert qs.Session(bank_of(SHARES, a=MIDDLE), qs.Rules(stop=qs.max_questions(20))).at_most == 3
    assert qs.Session(bank_of(SHARES, a=MIDDLE)).at_most is None


# Whatever the bank, the rules and the answers


def sentences(text):
    return re.findall(r"\.(?= |$)", text)


def question_is_honest(session, found):
    assert len(sentences(found.text)) in (1, 2)
    if "tell most" in found.text or "nearest" in found.text:
        gains = session.decision.gains[0][session.choice.candidates]
        mine = session.decision.gains[0][session.evidence.layout.number[found.question.id]]
        assert ((gains > mine - 1e-9).sum() == 1) or found.decided == "second"
        assert "tell most" not in found.text or mine > 1e-9
    if "equally good" in found.text:
        assert found.tied > 1
    if "the first" in found.text and found.decided == "order":
        order = [name for name in session.bank.questions if session.evidence.layout.number[name] in session.choice.still_tied]
        assert found.question.id == order[0]
    if "only question left" in found.text:
        assert len(session.ranking) == 1
    if "know least" in found.text:
        doubts = sorted((entropy(bounds.centre) for bounds in session.beliefs.values()), reverse=True)
        assert doubts[0] > doubts[1]


def result_is_honest(result, told):
    assert len(sentences(result.text)) in (1, 2)
    assert sum(entry.points for entry in result.ledger) == (
        whole(result.ledger[-1].after) - whole(result.ledger[0].before) if result.ledger else 0
    )
    for verb, before, after in re.findall(r"(raised|lowered) it from ((?:under |over )?\d+ %) to ((?:under |over )?\d+ %)", result.text):
        assert before != after
        entry = next(one for one in result.ledger if (percent(one.before), percent(one.after)) == (before, after))
        assert (verb == "raised") == (entry.after > entry.before)
        assert abs(entry.points) == max(abs(one.points) for one in result.ledger)
    if "No answer changed" in result.text:
        assert all(abs(entry.after - entry.before) <= 0.01 + 1e-9 for entry in result.ledger)
    for entry, changed in zip(result.ledger, told, strict=True):
        mine = [change for change in changed if change.skill == result.skill]
        assert mine or not entry.points
        for change in mine:
            assert len(sentences(change.text)) == 1
            assert percent(*change.ends[0]) != percent(*change.ends[1]) or entry.points == 0


def walk(seed, kind):
    rng = np.random.default_rng([17, seed])
    bank = sessions.random_bank(rng, kind)
    session = qs.Session(bank, sessions.random_rules(rng, bank), int(rng.integers(1000)))
    most = session.at_most
    seen = set()
    for _ in range(5):
        found = qs.explain(session)
        if found.question is not None:
            question_is_honest(session, found.question)
            seen.add(found.question.decided)
            assert most is None or len(session.asked) < session.at_most == most
        told = changes(session)
        for result in found.results.values():
            result_is_honest(result, told)
        if session.next is None:
            break
        asked = session.next
        may_skip = session.rules.may_skip and rng.random() < 0.2
        session = session.skip(asked.id) if may_skip else session.answer(asked.id, int(rng.integers(len(asked.classes))))
    return seen


@pytest.mark.parametrize("chunk", range(6))
def test_no_explanation_says_more_than_is_so(chunk):
    seen = set()
    for seed in range(chunk, 90, 6):
        seen |= walk(seed, "credal" if seed % 5 == 0 else "precise")
    assert {"score", "rule"} <= seen
