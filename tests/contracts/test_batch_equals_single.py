"""Many students at once are asked exactly what each would be asked alone, believe the same and stop for the same reason."""

import numpy as np
import pytest

import quaestor as qs
from helpers import sessions
from oracles.students import check_same, students_of
from quaestor.selection.scores.known import SCORES
from quaestor.simulate import simulate
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.run import PLAIN

FEW = ("mutual_information", "kl", "mpwkl", "variance")  # of these the small banks are enough: the others run the same lines
DIFFERENT = [name for name in SCORES if name != "jensen_shannon"]  # which is mutual_information
SMALL = ("multiplication", "single-skill", "single-skill-as-run")
LARGE = ("four-skills", "german", "fractions")
MOST = {"four-skills": 8, "german": 8, "fractions": 8}


def stop_of(name):
    return qs.max_questions(MOST[name]) if name in MOST else None


EVERY = [(name, score) for name in (*SMALL, *LARGE) for score in DIFFERENT if name in SMALL or score not in FEW]


@pytest.mark.parametrize(("name", "score"), EVERY)
def test_precise_banks(name, score):
    bank = qs.load(name)
    bound = "upper" if name == "single-skill" else "lower"  # in a precise bank they are the same
    found = check_same(bank, qs.Rules(score=score, bound=bound, stop=stop_of(name)), students_of(bank, 20))
    assert len(found) == 20
    assert {len(taken.asked) for taken in found} == {MOST.get(name, len(bank.questions))}


@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("score", DIFFERENT)
@pytest.mark.parametrize("name", SMALL)
def test_widened_banks(name, score, bound):
    bank = qs.load(name).widen(0.05)
    check_same(bank, qs.Rules(score=score, bound=bound, then=None, stop=qs.entropy_below(0.1)), students_of(bank, 20))


@pytest.mark.parametrize("bound", ["upper", "lower"])
@pytest.mark.parametrize("score", [score for score in DIFFERENT if score not in FEW])
@pytest.mark.parametrize("name", ["four-skills", "german"])
def test_widened_chains(name, score, bound):
    bank = qs.load(name).widen(0.05)
    check_same(bank, qs.Rules(score=score, bound=bound, stop=qs.max_questions(4)), students_of(bank, 12))


def test_widened_levels():
    """Skills of three levels and questions on two of them: sets of messages and branch and bound, which are slow."""
    bank = qs.Bank({
        "skills": {"a": {"levels": ["low", "mid", "high"]}, "b": {"parents": ["a"], "strength": 0.6}},
        "questions": {
            "a1": {"skill": "a", "right": [0.2, 0.5, 0.9]},
            "a2": {"skill": "a", "right": [0.3, 0.4, 0.8]},
            "b1": {"skill": "b", "right": [0.2, 0.8]},
            "ab": {"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2, "at_least": {"a": "mid"}},
        },
        "imprecision": 0.03,
    })  # fmt: skip
    for score in ("entropy", "mode"):
        check_same(bank, qs.Rules(score=score, stop=qs.max_questions(3)), students_of(bank, 4))


@pytest.mark.parametrize("score", ["entropy", "mode", "gini", "right"])
def test_widened_fractions(score):
    bank = qs.load("fractions").widen(0.05)
    check_same(bank, qs.Rules(score=score, stop=qs.max_questions(3)), students_of(bank, 2))


STOPS = {
    "max_questions": qs.max_questions(5),
    "max_questions of a skill": qs.any_of(qs.max_questions(2, skill="grammar"), qs.max_questions(9)),
    "max_questions of each": qs.max_questions(1, skill="each"),
    "min_questions": qs.all_of(qs.min_questions(3), qs.entropy_below(0.9)),
    "entropy_below": qs.any_of(qs.entropy_below(0.6), qs.max_questions(9)),
    "entropy_below largest": qs.any_of(qs.entropy_below(0.8, over="largest"), qs.max_questions(9)),
    "mode_below": qs.any_of(qs.mode_below(0.5), qs.max_questions(9)),
    "gini_below": qs.any_of(qs.gini_below(0.5), qs.max_questions(9)),
    "probability_above": qs.any_of(qs.probability_above(0.7), qs.max_questions(9)),
    "dominant": qs.any_of(qs.all_of(qs.min_questions(2), qs.dominant()), qs.max_questions(9)),
    "gain_below": qs.any_of(qs.gain_below(0.04), qs.max_questions(9)),
    "right_answers": qs.right_answers(3),
    "minutes": qs.minutes(6),
    "in all of": qs.any_of(qs.all_of(qs.right_answers(2), qs.minutes(4)), qs.max_questions(7)),
}


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
@pytest.mark.parametrize("width", [0.0, 0.05])
def test_every_stop_rule(stop, width):
    bank = qs.load("german")
    bank = bank.widen(width) if width else bank
    found = check_same(bank, qs.Rules(score="entropy", stop=stop), students_of(bank, 12))
    assert any(taken.asked for taken in found)


@pytest.mark.parametrize("index", [qs.entropy_below, qs.mode_below, qs.gini_below])
def test_stop_by_the_joint_uncertainty(index):
    bank = qs.load("german")
    check_same(bank, qs.Rules(score="entropy", stop=qs.any_of(index(0.7, over="joint"), qs.max_questions(9))), students_of(bank, 12))


OTHER = {
    "target all": {"target": "all"},
    "target joint": {"score": "entropy", "target": "joint"},
    "one target": {"target": ("grammar",)},
    "weights": {"target": {"grammar": 2.0, "reading": 1.0}},
    "per minute": {"per": "minute"},
    "then random": {"score": "order", "then": "random"},
    "random then random": {"score": "random", "then": "random"},
    "tied, then random": {"score": "right", "then": "random"},
    "only next": {"only_next": True},
}


@pytest.mark.parametrize("fields", OTHER.values(), ids=OTHER)
def test_other_plain_rules(fields):
    bank = qs.load("german")
    rules = qs.Rules(**{"stop": qs.max_questions(5), **fields})
    assert set(rules.document) <= PLAIN
    check_same(bank, rules, students_of(bank, 20))


NOT_PLAIN = {
    "first": {"first": ("b3", "a2")},
    "first_among": {"first_among": 3},
    "among": {"among": 3},
    "mandatory": {"mandatory": ("b3",)},
    "content": {"content": (qs.Content("b", least=2), qs.Content("a", most=2))},
    "shares": {"content": (qs.Content("a", share=0.3), qs.Content("b", share=0.7))},
    "exclude": {"exclude": (("a1", "b1"),)},
    "testlets": {"testlets": (("a3", "b2", "a1"),)},
    "variety": {"variety": qs.Variety(after=1, give_up=0.9)},
    "retire": {"retire": qs.probability_above(0.8)},
    "exposure": {"exposure": qs.Exposure(most=0.5, rates={"a1": 0.7})},
    "chances": {"exposure": qs.Exposure(chances={"a1": 0.5, "b1": 0.3})},
    "pilots": {"pilots": 2},
    "robust": {"robust": qs.Robust(networks=5)},
}


@pytest.mark.parametrize("width", [0.0, 0.05])
@pytest.mark.parametrize("fields", NOT_PLAIN.values(), ids=NOT_PLAIN)
def test_rules_that_keep_an_order_or_draw(fields, width):
    bank = sessions.bank(pilots=2)
    bank = bank.widen(width) if width else bank
    rules = qs.Rules(score="entropy", stop=qs.max_questions(5), **fields)
    assert not set(rules.document) <= PLAIN
    check_same(bank, rules, students_of(bank, 20))


@pytest.mark.parametrize("skips", ["missing", "wrong", "right"])
@pytest.mark.parametrize("fields", [{}, {"among": 2}, {"score": "random"}])
def test_skips(skips, fields):
    bank = sessions.bank()
    rules = qs.Rules(skips=skips, stop=qs.any_of(qs.right_answers(3), qs.max_questions(5)), **fields)
    found = check_same(bank, rules, students_of(bank, 30), Behaviour(skipping=0.4))
    assert sum(answer is None for taken in found for answer in taken.answers) > 20


def test_behaviour_of_all_kinds():
    bank = sessions.bank()
    behaviour = Behaviour(fatigue=0.1, guessing=0.1, slips=0.1, skipping=0.2, reveals={"a1": {"b1": 0.9, "a2": 0.5}, "b1": {"a2": 0.5}})
    for fields in ({}, {"among": 2}):
        check_same(bank, qs.Rules(score="entropy", **fields), students_of(bank, 20), behaviour)


@pytest.mark.parametrize("kind", ["precise", "credal"])
def test_random_banks_and_rules(kind):
    """Answers of three classes, questions on two skills, pilots, and every rule together with others."""
    rng, plain = np.random.default_rng(8), 0
    for number in range(30):
        bank = sessions.random_bank(rng, kind)
        rules = sessions.random_rules(rng, bank)
        if number % 2:  # such rules have an order or a draw nearly always
            rules = qs.Rules(**{name: getattr(rules, name) for name in ("score", "then", "bound", "target", "per", "stop", "skips")})
        plain += set(rules.document) <= PLAIN
        check_same(bank, rules, students_of(bank, 6, seed=number), Behaviour(skipping=0.2))
    assert 10 <= plain <= 25


def mirrored():
    """Two skills that mirror each other, known nearly for certain: their questions S and T are tied, T is first; X may make s certain."""
    e = 1.1e-9
    prior = [[e, 1.3 * e], [1 - 1.3 * e, 1 - e]]
    low, high = [[5 * e, 0.2], [0.8, 1 - 5 * e]], [[0.8, 1 - 5 * e], [5 * e, 0.2]]
    questions = {
        "T": {"skill": "t", "table": {"a": low, "b": high}},
        "S": {"skill": "s", "table": {"a": high, "b": low}},
        "X": {"skill": "s", "table": {"a": [1 - 1e-9, 1e-9], "b": [0.1, 0.9]}},
    }
    skills = {"s": {"levels": ["a", "b"], "prior": prior}, "t": {"levels": ["a", "b"], "prior": prior[::-1]}}
    return qs.Bank({"skills": skills, "questions": questions})


def test_ties_near_certainty_are_ties_for_one_and_for_many():
    bank, rules = mirrored(), qs.Rules(score="entropy", stop=qs.max_questions(2))
    ranked = {candidate.question.id: candidate.gain for candidate in qs.rank(bank, score="entropy")}
    assert abs(ranked["S"] - ranked["T"]) < 1e-12
    assert qs.Session(bank, rules).skip("X").next.id == "T"
    one, many = (simulate(bank, rules, count, behaviour=Behaviour(skipping=0.5)) for count in (1, 8))
    assert one.asked[0].tolist() == many.asked[0].tolist() == ["X", "T"]
