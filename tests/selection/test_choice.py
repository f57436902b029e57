"""Which question is asked next: every rule does what it says, and says what it did."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from helpers.sessions import notes

BANK = sessions.bank()
BEST = list(qs.rank(BANK).ids)
ENOUGH = qs.gain_below(9)  # always


def first_of(rules, seeds=range(1000), bank=BANK):
    """How often each question is the first, over sessions with different seeds."""
    return Counter(qs.Session(bank, rules, seed).next.id for seed in seeds)


# Without rules


def test_the_best_question_is_asked_and_nothing_is_noted():
    session = qs.Session(BANK)
    for _ in BANK.questions:
        best = qs.rank(BANK, session.answers)
        assert session.next.id == best.ids[0]
        assert session.choice.gain == best.gains[0]
        assert session.choice.best_gain == pytest.approx(best.gains[0], abs=1e-12)
        assert list(session.choice.ranking.ids) == list(best.ids)
        assert session.choice.narrowed == ()
        session = session.answer(session.next.id, "wrong")
    assert session.next is None
    assert session.choice is None


@pytest.mark.parametrize("fields", [{"score": "order"}, {"score": "gini", "target": ["b"]}, {"score": "entropy", "target": "joint"}])
def test_the_ranking_is_that_of_the_rules_scores(fields):
    session = qs.Session(BANK, qs.Rules(**fields)).answer("a2", "right")
    assert list(session.choice.ranking.ids) == list(qs.rank(BANK, {"a2": "right"}, **fields).ids)
    assert session.next.id == session.choice.ranking.ids[0]


def test_gains_per_minute_prefer_short_questions():
    slow = sessions.bank({BEST[0]: {"minutes": 20}, BEST[1]: {"minutes": 0.5}})
    session = qs.Session(slow, qs.Rules(per="minute"))
    assert qs.Session(slow).next.id == BEST[0]
    assert session.next.id == BEST[1]
    assert session.choice.gain == pytest.approx(2 * qs.rank(BANK).gains[1])


# The first questions


def test_the_test_begins_with_the_first_questions_in_their_order():
    session = qs.Session(BANK, qs.Rules(first=("b3", "a3", "b2")))
    assert sessions.asked(session)[:3] == ["b3", "a3", "b2"]
    assert notes(session) == [("first", "the test begins with b3, a3, b2", 1)]
    assert session.choice.gain == qs.rank(BANK).gains[list(qs.rank(BANK).ids).index("b3")]
    after = session.answer("a3", "right")  # any open question may be answered
    assert sessions.asked(after)[:2] == ["b3", "b2"]


def test_many_first_questions_are_not_all_named():
    session = qs.Session(BANK, qs.Rules(first=("a1", "a2", "a3", "b1", "b2")))
    assert notes(session)[0][1] == "the test begins with a1, a2, a3 and 2 more"


def test_the_first_question_is_drawn_from_the_best():
    counts = first_of(qs.Rules(first_among=3))
    assert set(counts) == set(BEST[:3])
    assert min(counts.values()) > 270  # 333 expected, standard deviation 15
    session = qs.Session(BANK, qs.Rules(first_among=3), seed=4)
    assert notes(session) == [("among", "drawn from the first 3 of the ranking", 1)]
    second = session.answer(session.next.id, "right")
    assert second.next.id == qs.rank(BANK, second.answers).ids[0]
    assert second.choice.narrowed == ()


def test_the_stop_waits_for_first_and_mandatory_questions_but_not_beyond_a_limit():
    rules = qs.Rules(first=("b3",), mandatory=("b2", "a3"), stop=ENOUGH)
    assert sessions.asked(qs.Session(BANK, rules)) == ["b3", "a3", "b2"]
    limited = replace(rules, stop=qs.any_of(ENOUGH, qs.max_questions(2)))
    assert sessions.asked(qs.Session(BANK, limited)) == ["b3", "a3"]


def test_mandatory_questions_come_before_all_others_the_best_first():
    session = qs.Session(BANK, qs.Rules(mandatory=("b3", "a3", "b2")))
    expected = [name for name in BEST if name in ("b3", "a3", "b2")]
    assert session.next.id == expected[0]
    assert notes(session) == [("mandatory", "b3, a3, b2 must be asked in any case", 3)]
    assert set(sessions.asked(session)[:3]) == set(expected)


def test_what_can_no_longer_be_asked_does_not_keep_the_test_from_stopping():
    rules = qs.Rules(first=("a1",), mandatory=("a2",), exclude=(("a1", "a2"),), stop=ENOUGH)
    assert sessions.asked(qs.Session(BANK, rules)) == ["a1"]
    short = qs.Rules(content=(qs.Content("a", least=2),), exclude=(("a1", "a2", "a3"),), stop=ENOUGH)
    found = sessions.asked(qs.Session(BANK, short))
    assert len(found) == 1
    assert found[0] in ("a1", "a2", "a3")


def test_a_mandatory_question_within_a_testlet_brings_the_testlet_on():
    rules = qs.Rules(mandatory=("b2",), testlets=(("b3", "b2"),), stop=ENOUGH)
    assert sessions.asked(qs.Session(BANK, rules)) == ["b3", "b2"]


# Draws and exposure


def test_every_question_is_drawn_from_the_best_n():
    counts = first_of(qs.Rules(among=2))
    assert set(counts) == set(BEST[:2])
    assert min(counts.values()) > 440
    seconds = Counter()
    for seed in range(300):
        session = qs.Session(BANK, qs.Rules(among=2), seed).answer(BEST[0], "right")
        seconds[session.next.id] += 1
    assert set(seconds) == set(qs.rank(BANK, {BEST[0]: "right"}).ids[:2])
    assert min(seconds.values()) > 110
    assert len(sessions.asked(qs.Session(BANK, qs.Rules(among=50), 3))) == 6


def test_draws_repeat_with_the_seed():
    rules = qs.Rules(among=3, score="random")
    runs = [tuple(sessions.asked(qs.Session(BANK, rules, seed))) for seed in (0, 0, 1, 2, 3)]
    assert runs[0] == runs[1]
    assert len(set(runs)) > 2


def test_a_worn_question_rests_unless_nothing_else_is_left():
    rates = {BEST[0]: 0.3, BEST[1]: 0.29}
    session = qs.Session(BANK, qs.Rules(exposure=qs.Exposure(most=0.3, rates=rates)))
    assert session.next.id == BEST[1]
    assert notes(session) == [("exposure", "questions that 30% of the takers or more have seen rest", 5)]
    assert sessions.asked(session)[-1] == BEST[0]
    worn = qs.Session(BANK, qs.Rules(exposure=qs.Exposure(most=0.3, rates=dict.fromkeys(BEST, 1.0))))
    assert worn.next.id == BEST[0]
    assert notes(worn) == []


def test_a_chosen_question_is_asked_with_its_chance():
    chances = {BEST[0]: 0.3, BEST[1]: 0.5}
    rules = qs.Rules(exposure=qs.Exposure(chances=chances))
    counts = first_of(rules, range(2000))
    rates = [counts[name] / 2000 for name in BEST[:3]]
    np.testing.assert_allclose(rates, [0.3, 0.7 * 0.5, 0.35], atol=0.043)  # four standard deviations
    held = next(session for seed in range(20) if (session := qs.Session(BANK, rules, seed)).next.id == BEST[1])
    assert notes(held) == [("exposure", "others that came first were held back to spare them", 1)]


def test_chances_bound_how_often_a_question_is_seen_in_the_long_run():
    chances = {BEST[0]: 0.2}
    rules = qs.Rules(exposure=qs.Exposure(chances=chances), stop=qs.max_questions(1))
    seen = sum(BEST[0] in sessions.asked(qs.Session(BANK, rules, seed)) for seed in range(1000)) / 1000
    assert 0.15 < seen < 0.25


def test_when_luck_holds_all_back_the_best_is_asked():
    rules = qs.Rules(exposure=qs.Exposure(chances=dict.fromkeys(BEST, 0.0)))
    assert sessions.asked(qs.Session(BANK, rules)) == sessions.asked(qs.Session(BANK))


# Content


def test_at_most_so_many_of_a_skill_or_group():
    grouped = sessions.bank({"b1": {"group": "words"}, "b2": {"group": "words"}})
    rules = qs.Rules(content=(qs.Content("a", most=1), qs.Content("words", most=1)))
    session = qs.Session(grouped, rules)
    found = sessions.asked(session)
    assert sum(name[0] == "a" for name in found) == 1
    assert len({"b1", "b2"} & set(found)) == 1
    assert "b3" in found
    after = session.answer("a2", "right")
    assert ("content", "a: the rules allow no more than 1 question", 3) in notes(after)
    assert sessions.played(session).stopped.reason == "No question is left that the rules allow."


def test_none_at_all_of_a_skill():
    assert sessions.asked(qs.Session(BANK, qs.Rules(content=(qs.Content("a", most=0),)))) == ["b1", "b2", "b3"]


def test_at_least_so_many_before_the_test_stops():
    rules = qs.Rules(content=(qs.Content("b", least=2),), stop=ENOUGH)
    session = qs.Session(BANK, rules)
    assert session.stopped is None
    assert [name[0] for name in sessions.asked(session)] == ["b", "b"]
    assert ("content", "the rules want at least 2 more on b", 3) in notes(session)


def test_at_least_so_many_within_a_limit_on_questions():
    free = qs.Session(BANK, qs.Rules(stop=qs.max_questions(3), target=["a"]))
    assert [name[0] for name in sessions.asked(free)] == ["a", "a", "a"]
    rules = qs.Rules(content=(qs.Content("b", least=2),), stop=qs.max_questions(3), target=["a"])
    assert [name[0] for name in sessions.asked(qs.Session(BANK, rules))] == ["a", "b", "b"]


def test_the_least_is_no_more_than_there_is():
    rules = qs.Rules(content=(qs.Content("b", least=10),), stop=ENOUGH)
    assert sessions.asked(qs.Session(BANK, rules)) == ["b1", "b2", "b3"]


@pytest.mark.parametrize("shares", [{"a": 0.3}, {"a": 0.5, "b": 0.5}, {"a": 0.2, "b": 0.5}, {"a": 0.1, "b": 0.2, "c": 0.7}, {"c": 0.0}])
def test_a_share_is_kept_to_the_nearest_question_at_every_step(shares):
    made = sessions.long_bank("abc", each=12)
    rules = qs.Rules(content=tuple(qs.Content(of, share=share) for of, share in shares.items()))
    found = sessions.asked(qs.Session(made, rules), 15)
    slack = 0.5 if len(shares) == 1 else 1.0  # several shares cannot all be at the nearest number
    for count in range(1, 16):
        for of, share in shares.items():
            assert abs(sum(name[0] == of for name in found[:count]) - share * count) <= slack + 1e-9


def test_shares_say_what_they_did():
    made = sessions.long_bank("ab")
    session = qs.Session(made, qs.Rules(content=(qs.Content("b", share=0.5),)))
    assert notes(session) == [("content", "b: behind the share of the questions that the rules want", 10)]
    assert notes(session.answer("b1", "right")) == [("content", "b: has had its share of the questions", 10)]


def test_of_questions_that_exclude_one_another_one_is_asked():
    rules = qs.Rules(exclude=(("a1", "a2"), ("a2", "b1", "b2")))
    session = qs.Session(BANK, rules)
    for name in ("a1", "a2", "b1"):
        found = [name, *sessions.asked(session.answer(name, "right"))]
        for ids in rules.exclude:
            assert len(set(found) & set(ids)) <= 1
    after = session.answer("a2", "right")
    assert notes(after) == [("exclude", "questions that exclude one another: one of them was asked", 2)]


def test_a_testlet_is_asked_in_its_order_and_to_its_end():
    rules = qs.Rules(testlets=((BEST[2], BEST[0], BEST[1]),))
    session = qs.Session(BANK, rules)
    found = sessions.asked(session)
    begins = found.index(BEST[2])
    assert found[begins : begins + 3] == [BEST[2], BEST[0], BEST[1]]
    assert notes(session) == [("testlets", "a testlet is asked in its order", 4)]
    started = session.answer(BEST[2], "right")
    assert notes(started)[-1] == ("testlets", f"the questions {BEST[2]}, {BEST[0]}, {BEST[1]} are asked together", 1)
    other = session.answer(BEST[0], "right")  # out of order, from paper
    assert sessions.asked(other)[:2] == [BEST[2], BEST[1]]


# Pilots


@pytest.mark.parametrize("count", [1, 2, 4])
def test_so_many_pilots_are_asked_after_some_question_and_never_count(count):
    made = sessions.long_bank("ab", each=8, pilots=4)
    starts = Counter()
    chosen = Counter()
    for seed in range(30):
        session = qs.Session(made, qs.Rules(pilots=count, stop=qs.max_questions(12)), seed)
        while session.next is not None:
            question, before = session.next, session
            if question.pilot:
                assert session.choice.gain is None
                assert notes(session)[-1][:2] == ("pilots", "a pilot question, which does not count, is tried out")
            session = session.answer(question.id, "right")
            if question.pilot:
                assert np.array_equal(sessions.lower(before), sessions.lower(session))
                assert session.history[-1].gain is None
        pilots = [name for name in session.asked if made.questions[name].pilot]
        assert len(pilots) == count
        assert len(session.asked) == 12 + count  # a pilot is not one of the twelve
        assert not made.questions[session.asked[0]].pilot
        starts[session.asked.index(pilots[0])] += 1
        chosen.update(pilots)
    assert len(starts) > 1
    assert set(chosen) == {"p1", "p2", "p3", "p4"}


def test_without_the_rule_no_pilot_is_asked_but_one_may_be_answered():
    made = sessions.bank(pilots=1)
    session = qs.Session(made, qs.Rules(stop=qs.any_of(qs.right_answers(1), qs.max_questions(2))))
    answered = session.answer("p1", "right")
    assert np.array_equal(sessions.lower(session), sessions.lower(answered))
    assert answered.stopped is None
    assert sessions.asked(answered, answer="wrong") == sessions.asked(session, answer="wrong")


# Variety


def varied(give_up, after=2, of=("skill",), bank=None):
    return qs.Session(bank or BANK, qs.Rules(score="entropy", variety=qs.Variety(after, give_up, of)))


def test_after_a_run_of_one_skill_another_is_asked_if_it_gains_nearly_as_much():
    start = varied(1.0).answer("a3", "right").answer("a2", "wrong")
    ranking = start.choice.ranking
    best_b = next(name for name in ranking.ids if name[0] == "b")
    best, other = ranking.gains[0], ranking.gains[list(ranking.ids).index(best_b)]
    assert ranking.ids[0] == "a1"
    assert start.next.id == best_b
    assert notes(start) == [("variety", "the last 2 questions had the same skill (a); others gain nearly as much", 3)]
    needed = 1 - other / best
    for give_up, asked in ((needed + 0.001, best_b), (needed - 0.001, "a1"), (0.0, "a1")):
        session = varied(give_up).answer("a3", "right").answer("a2", "wrong")
        assert session.next.id == asked
        assert bool(notes(session)) == (asked == best_b)


def test_a_run_is_as_long_as_the_rule_says_and_of_the_kinds_it_names():
    assert notes(varied(1.0, after=3).answer("a3", "right").answer("a2", "wrong")) == []
    assert notes(varied(1.0).answer("b3", "right").answer("a2", "wrong")) == []
    assert notes(varied(1.0, of=("group", "template")).answer("a3", "right").answer("a2", "wrong")) == []
    grouped = sessions.bank({name: {"group": "words"} for name in ("a1", "a2", "b3")})
    session = varied(1.0, of=("group",), bank=grouped).answer("a2", "right").answer("b3", "wrong")
    assert notes(session) == [("variety", "the last 2 questions had the same group (words); others gain nearly as much", 3)]
    assert session.next.id != "a1"
    shaped = sessions.bank({name: {"template": "easy"} for name in ("a1", "a2", "b3")}, templates={"easy": {"minutes": 1}})
    session = varied(1.0, of=("template",), bank=shaped).answer("a2", "right").answer("b3", "wrong")
    assert notes(session)[0][1] == "the last 2 questions had the same template (easy); others gain nearly as much"


def test_the_price_of_variety_is_paid_once_for_all_kinds():
    rng = np.random.default_rng(2)
    rules = qs.Rules(score="entropy", variety=qs.Variety(after=1, give_up=0.3))
    narrowed = 0
    for _ in range(40):
        changes = {name: {"group": str(rng.choice(["g", "h"])), "template": str(rng.choice(["s", "t"]))} for name in BANK.questions}
        made = sessions.bank(changes, templates={"s": {"minutes": 1}, "t": {"minutes": 1}})
        session = qs.Session(made, rules)
        while session.next is not None:
            ranking = session.choice.ranking
            narrowed += sum(note.rule == "variety" for note in session.choice.narrowed) > 1
            assert session.choice.gain >= 0.7 * ranking.gains[0] - 1e-12
            session = session.answer(session.next.id, int(rng.integers(2)))
    assert narrowed > 10


# Retiring skills


def test_a_skill_that_is_decided_is_not_asked_any_more():
    rules = qs.Rules(retire=qs.probability_above(0.9))
    session = qs.Session(BANK, rules).late("a", [0.01, 0.99])
    assert session.beliefs["a"].lower[1] >= 0.9 > session.beliefs["b"].lower.max()
    assert session.next.skills == ("b",)
    assert notes(session) == [("retire", "enough is known of a", 3)]
    played = sessions.played(session)
    for step in played.history[1:]:
        skill = step.event.question[0]
        assert step.before[skill].lower.max() < 0.9


def test_a_question_on_a_decided_and_an_open_skill_stays():
    both = sessions.bank({"b3": {"skill": None, "skills": ["a", "b"], "right": None, "needs": "all", "slip": 0.1, "guess": 0.2}})
    session = qs.Session(both, qs.Rules(retire=qs.probability_above(0.9))).late("a", "yes")
    assert {list(both.questions)[place] for place in session.choice.candidates} == {"b1", "b2", "b3"}
    assert notes(session)[0] == ("retire", "enough is known of a", 3)


def test_a_short_test_has_room_for_its_pilots():
    asked = {f"q{n}": {"skill": "a", "right": [0.3, 0.8]} for n in range(9)} | {
        f"p{n}": {"skill": "a", "right": [0.3, 0.8], "pilot": True} for n in range(2)
    }
    bank = qs.Bank({"skills": {"a": {}}, "questions": asked})
    for seed in range(20):
        found = sessions.asked(qs.Session(bank, qs.Rules(pilots=2, stop=qs.max_questions(5)), seed))
        assert sorted(name for name in found if name[0] == "p") == ["p0", "p1"]
        assert len(found) == 7


def test_a_testlet_is_finished_before_the_test_stops():
    rules = qs.Rules(testlets=(("a1", "a2", "a3"),), stop=qs.min_questions(1), first=("a1",))
    assert sessions.asked(qs.Session(BANK, rules)) == ["a1", "a2", "a3"]
    limited = qs.Rules(testlets=(("a1", "a2", "a3"),), stop=qs.max_questions(2), first=("a1",))
    assert sessions.asked(qs.Session(BANK, limited)) == ["a1", "a2"]


@pytest.mark.parametrize(
    ("score", "words"), [("order", "it is the first"), ("random", "it was drawn"), ("right", "equally near to one half")]
)
def test_scores_that_are_no_gains_are_explained_as_what_they_are(score, words):
    text = qs.explain(qs.Session(BANK, qs.Rules(score=score))).question.text
    assert words in text
    assert "gain" not in text
