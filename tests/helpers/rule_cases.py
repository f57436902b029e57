"""Banks that every rule has something to do with, every rule, takers with histories of their own, and one step of all of them."""

from functools import cache

import numpy as np

import quaestor as qs
from helpers import random_models
from quaestor.inference.evidence import MISSING, Evidence
from quaestor.selection.step import step

_RIGHT = {
    "a1": (0.1, 0.9),
    "a2": (0.2, 0.8),
    "a3": (0.3, 0.9),
    "a4": (0.25, 0.6),
    "b1": (0.25, 0.8),
    "b2": (0.3, 0.7),
    "b3": (0.4, 0.75),
    "b4": (0.15, 0.85),
}
BANKS = ("precise", "binary", "levels", "loop")


@cache
def bank(kind):
    """Four questions on each of two skills and two pilots, of two groups and two templates, that take one to three minutes.

    `precise`; `binary`: 0.05 wide; `levels`: the first skill has three levels; `loop`: a third skill that needs both, with one question
    on it, and a question on the first two in the place of `b4`.
    """
    names = ["low", "mid", "high"] if kind == "levels" else ["no", "yes"]
    skills = {"a": {"levels": names}, "b": {"parents": ["a"], "strength": 0.4}}
    questions = {}
    for number, (name, (low, high)) in enumerate(_RIGHT.items()):
        right = [low, round((low + high) / 2, 3), high] if name[0] == "a" and kind == "levels" else [low, high]
        questions[name] = {"skill": name[0], "right": right, "template": f"t{number % 2 + 1}", "group": f"g{number // 3 % 2 + 1}"}
        questions[name]["minutes"] = number % 3 + 1
    if kind == "loop":
        skills["c"] = {
            "parents": ["a", "b"],
            "table": {"no, no": [0.9, 0.1], "no, yes": [0.6, 0.4], "yes, no": [0.5, 0.5], "yes, yes": [0.2, 0.8]},
        }
        questions["c1"] = {"skill": "c", "right": [0.2, 0.7]}
        questions["b4"] = {"skills": ["b", "a"], "needs": "all", "slip": 0.1, "guess": 0.2}
    for number in (1, 2):
        questions[f"p{number}"] = {"skill": "b", "right": [0.1, 0.9], "pilot": True}
    made = qs.Bank({"skills": skills, "templates": {"t1": {"tags": ["x"]}, "t2": {"tags": ["y"]}}, "questions": questions})
    return made if kind == "precise" else made.widen(0.05 if kind == "binary" else 0.02)


_STOP = qs.any_of(qs.max_questions(6), qs.entropy_below(0.25))
RULES = {
    "nothing": {},
    "content least": {"content": (qs.Content("b", least=3),), "stop": qs.any_of(qs.max_questions(5), qs.entropy_below(0.6))},
    "content most": {"content": (qs.Content("a", most=2),), "stop": qs.max_questions(5)},
    "content share": {"content": (qs.Content("a", share=0.3), qs.Content("b", share=0.7))},
    "content of groups": {"content": (qs.Content("g2", least=2, most=3), qs.Content("g1", share=0.5))},
    "exclude": {"exclude": (("a1", "b1"), ("a2", "a3", "b2"))},
    "testlets": {"testlets": (("a3", "b2", "a1"), ("b1", "b3"))},
    "a testlet with a mandatory question": {"testlets": (("a3", "b2", "a1"),), "mandatory": ("a1",), "stop": qs.max_questions(3)},
    "variety": {"variety": qs.Variety(after=1, give_up=0.9)},
    "variety of groups and templates": {"variety": qs.Variety(after=2, give_up=0.6, of=("group", "template"))},
    "exposure most": {"exposure": qs.Exposure(most=0.5, rates={"a1": 0.7, "b4": 0.5, "b1": 0.49})},
    "exposure chances": {"exposure": qs.Exposure(chances={"a1": 0.5, "b1": 0.3, "b4": 0.0})},
    "retire": {"retire": qs.probability_above(0.7)},
    "retire by two": {"retire": qs.any_of(qs.entropy_below(0.6), qs.dominant())},
    "mandatory": {"mandatory": ("b3", "a4")},
    "first": {"first": ("b3", "p1", "a2")},
    "first_among": {"first_among": 3},
    "among": {"among": 3},
    "pilots": {"pilots": 2},
    "robust": {"robust": qs.Robust(networks=5)},
    "progressive": {"progressive": 1, "stop": qs.max_questions(4)},
    "proportional": {"proportional": 2.0, "stop": qs.max_questions(4)},
    "robust, least exposed": {"robust": qs.Robust(networks=5, choose="least exposed", seed=2), "exposure": qs.Exposure(rates={"a1": 0.5})},
    "per minute": {"per": "minute"},
    "target all": {"target": "all"},
    "one target": {"target": ("b",)},
    "weights": {"target": {"a": 2.0, "b": 1.0}},
    "entropy": {"score": "entropy"},
    "mode, lower": {"score": "mode", "bound": "lower"},
    "mode alone": {"score": "mode", "then": None},
    "gini": {"score": "gini", "bound": "lower"},
    "right": {"score": "right"},
    "order": {"score": "order"},
    "random": {"score": "random"},
    "order, then random": {"score": "order", "then": "random"},
    "random, then random": {"score": "random", "then": "random"},
    "all_of": {"stop": qs.any_of(qs.all_of(qs.min_questions(2), qs.entropy_below(0.7)), qs.max_questions(7))},
    "gain_below": {"stop": qs.any_of(qs.gain_below(0.05), qs.max_questions(7))},
    "gain_below of what content leaves": {"stop": qs.gain_below(0.05), "content": (qs.Content("a", most=1),), "variety": qs.Variety()},
    "min_questions of a skill": {"stop": qs.all_of(qs.min_questions(2, skill="b"), qs.probability_above(0.6))},
    "max_questions of each": {"stop": qs.any_of(qs.max_questions(2, skill="each"), qs.max_questions(5, skill="a"))},
    "other criteria": {"stop": qs.any_of(qs.mode_below(0.3), qs.gini_below(0.3, over="largest"), qs.right_answers(4), qs.minutes(9))},
    "dominant": {"stop": qs.any_of(qs.all_of(qs.dominant(), qs.min_questions(3)), qs.max_questions(6))},
    "no stop": {"stop": None, "exclude": (("a1", "a2"),)},
    "skips missing": {"skips": "missing"},
    "skips wrong": {"skips": "wrong"},
    "skips right": {"skips": "right"},
    "many together": {
        "first": ("a2",),
        "mandatory": ("b3",),
        "content": (qs.Content("b", least=2), qs.Content("g1", most=3)),
        "exclude": (("a1", "a3"),),
        "variety": qs.Variety(after=1, give_up=0.5),
        "pilots": 1,
        "among": 2,
        "exposure": qs.Exposure(most=0.6, rates={"b4": 0.9}, chances={"b1": 0.5}),
    },
    "many together, drawn": {
        "score": "random",
        "testlets": (("b1", "a4"),),
        "content": (qs.Content("a", share=0.5), qs.Content("b", share=0.5)),
        "retire": qs.entropy_below(0.3),
        "pilots": 2,
        "skips": "wrong",
        "per": "minute",
    },
}


def rules(name, **fields):
    """Rules by their name."""
    return qs.Rules(**{"score": "entropy", "stop": _STOP, **RULES[name], **fields})


def histories(made, wanted, takers, seed=0, skipping=0.2, astray=0.15):
    """Sessions of takers with seeds of their own, each somewhere on its way: some at the beginning, some at the end.

    They answer at random, skip a share of the questions and now and then answer another one than the next.
    """
    found = []
    for taker in range(takers):
        rng = np.random.default_rng([seed, taker])
        session = qs.Session(made, wanted, seed=int(rng.integers(2**31)))
        for _ in range(int(rng.integers(0, 9))):
            if session.next is None:
                break
            left = [name for name in made.questions if name not in session.asked]
            question = str(rng.choice(left)) if rng.random() < astray and not wanted.only_next else session.next.id
            if rng.random() < skipping and wanted.may_skip:
                session = session.skip(question)
            else:
                session = session.answer(question, int(rng.integers(len(made.questions[question].classes))))
        found.append(session)
    return found


def together(listed):
    """The step of all these sessions at once, from their logs alone."""
    made, wanted = listed[0].bank, listed[0].rules
    ids, most = list(made.questions), max(len(session.log) for session in listed)
    asked, classes = np.full((len(listed), most), -1, dtype=np.int32), np.full((len(listed), most), MISSING)
    for taker, session in enumerate(listed):
        for place, question in enumerate(session.asked):
            asked[taker, place] = ids.index(question)
            if question in session.answers:
                classes[taker, place] = made.questions[question].classes.index(session.answers[question])
    evidence = Evidence.begin(made, len(listed)).with_rows(asked, classes)
    return step(wanted, evidence, [session.seed for session in listed])


def assert_same(decision, listed, near=1e-12):
    """The decision says of every taker what the session of this taker says."""
    for taker, session in enumerate(listed):
        alone, number = session.stopped, int(decision.question[taker])
        assert decision.rule[taker] == (alone.rule if alone else ""), taker
        assert (decision.evidence.layout.questions[number].id if number >= 0 else None) == (session.next.id if session.next else None)
        if alone:
            assert decision.reason(taker) == alone.reason
        for bracket, bounds in zip(decision.bounds, session.beliefs.values(), strict=True):
            np.testing.assert_allclose(bracket.lower[taker], bounds.lower, rtol=0, atol=near)
            np.testing.assert_allclose(bracket.upper[taker], bounds.upper, rtol=0, atol=near)
        _same_choice(decision.choice(taker), session.decision.choice(), near)


def _same_choice(found, alone, near):
    """The choice, also of those whose test is over."""
    assert found.question == alone.question
    assert [(note.rule, note.text, note.left) for note in found.narrowed] == [(note.rule, note.text, note.left) for note in alone.narrowed]
    assert found.candidates.tolist() == alone.candidates.tolist()
    assert list(found.votes.items()) == list(alone.votes.items())
    assert found.ranking.ids.tolist() == alone.ranking.ids.tolist()
    np.testing.assert_allclose(found.ranking.gains, alone.ranking.gains, rtol=0, atol=near)
    assert (found.best_gain is None) == (alone.best_gain is None)
    if found.best_gain is not None:
        assert abs(found.best_gain - alone.best_gain) <= near


def levelled_bank(rng):
    """A random credal bank of skills with two or three levels in a tree, single-skill questions, minutes, groups and perhaps a pilot."""
    count = int(rng.integers(1, 3))
    scopes = random_models.scopes_of(rng, count, 5)
    document = random_models.bank(rng, random_models.tree(rng, count), scopes, (2, 3), kinds=("precise", "interval"), width=0.1).document
    for place, fields in enumerate(document["questions"].values()):
        fields |= {"minutes": int(rng.integers(1, 4)), "group": f"g{place % 2}", "pilot": place == 4}
    return qs.Bank(document)
