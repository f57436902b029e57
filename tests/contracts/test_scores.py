"""Every score against its definition, worked out from enumerated pieces, and the contract that all scores keep."""

from itertools import product

import numpy as np
import pytest

import quaestor as qs
from helpers.score_banks import looked, open_questions, random_bank
from oracles.scores import BOUNDS, UNCERTAINTY, gain_on, index_bound, index_of, left, pieces_of, theorem_one
from quaestor import Bank, QuaestorError, load, rank
from quaestor.credal.indices import INDICES
from quaestor.draws import Draws
from quaestor.inference.lookahead import lookahead
from quaestor.selection.scores.known import SCORES

WEIGHTS = {"s0": 1.0, "s1": 2.5}


BANKS = [*(("precise", seed) for seed in range(8)), *(("odds", seed) for seed in range(8))]
BANKS += [*(("hulls", seed) for seed in range(8)), *(("two skills", seed) for seed in range(12))]


@pytest.mark.parametrize(("kind", "seed"), BANKS)
def test_gains_on_skills_are_those_of_the_definition(kind, seed):
    """For each question's own skills, for all, and for some with weights."""
    bank, answers = random_bank(kind, seed)
    every = looked(bank, answers, "all")
    aheads = {"scope": looked(bank, answers), "all": every, "weights": looked(bank, answers, WEIGHTS)}
    for name, bound in product(UNCERTAINTY, BOUNDS if kind != "precise" else BOUNDS[:1]):
        found = {target: SCORES[name](ahead, bound, [])[0] for target, ahead in aheads.items()}
        for place, question in open_questions(bank, answers):
            weights = {"scope": dict.fromkeys(bank.questions[question].skills, 1.0), "all": dict.fromkeys(bank.skills, 1.0)}
            pieces = pieces_of(bank, answers, question)
            parts = {skill: gain_on(name, bound, pieces, skill) for skill in bank.skills}
            if name == "mode" and kind == "two skills":
                parts = {
                    skill: index_bound(name, bound, *pieces.now(skill)) - left_by_rows(every, place, pieces, skill, bound)
                    for skill in parts
                }
            for target, gained in found.items():
                shares = weights.get(target, WEIGHTS)
                mean = np.average([parts[skill] for skill in shares], weights=list(shares.values()))
                assert gained[place] == pytest.approx(mean, abs=1e-7), (name, bound, question, target)


def left_by_rows(ahead, place, pieces, skill, bound):
    """M(S|Q,e) by Theorem 1 from safe bounds of P(class | level): in loops these need not be exact, but they contain what is."""
    found, expected = rows_of(ahead, place, skill), pieces.rows(skill)
    possible = pieces.now(skill)[1] > 0
    assert (found[0] <= expected[0] + 1e-9)[:, possible].all()
    assert (found[1] >= expected[1] - 1e-9)[:, possible].all()
    if all(np.abs(end - same).max() < 1e-9 for end, same in zip(found, expected, strict=True)):
        return pieces.mode(skill)[bound]
    return theorem_one(*pieces.now(skill), *found)[bound]


def rows_of(ahead, place, skill):
    """The bounds of P(class | level of a skill, evidence) of one question, (classes, levels)."""
    for group in ahead.groups:
        if place in group.batch.index:
            target = next(target for target in group.targets if target.skill == skill)
            row = group.batch.row[list(group.batch.index).index(place)]
            return tuple(np.clip(end[0, row], 0, 1) for end in target.rows)
    raise AssertionError("every question is in a group")


@pytest.mark.parametrize("seed", range(12))
def test_joint_gains_of_precise_banks_are_those_of_the_joint(seed):
    bank, answers = random_bank("precise", seed)
    for name in UNCERTAINTY:
        found = SCORES[name](looked(bank, answers, "joint"), "upper", [])[0]
        for place, question in open_questions(bank, answers):
            joint = pieces_of(bank, answers, question).everything()
            now = index_of(name, joint.sum(axis=2))
            assert found[place] == pytest.approx(float((now - left(name, joint))[0]), abs=1e-9), (name, question)


@pytest.mark.parametrize(("kind", "seed"), BANKS)
def test_precise_gains_on_skills_are_those_of_every_network_and_credal_terms_contain_them(kind, seed):
    """U(S|e) and U(S|Q,e) of every network of vertices lie between the lower and the upper ones."""
    bank, answers = random_bank(kind, seed)
    ahead = looked(bank, answers, "all")
    for name in UNCERTAINTY:
        ends = {bound: terms(name, bound, ahead) for bound in BOUNDS}
        for (place, question), skill in product(open_questions(bank, answers), bank.skills):
            pieces = pieces_of(bank, answers, question)
            now, after = index_of(name, pieces.of(skill).sum(axis=2)), pieces.left(name, skill)
            (now_low, left_low), (now_high, left_high) = (ends[bound][skill] for bound in ("lower", "upper"))
            assert now_low - 1e-7 <= now.min()
            assert now.max() <= now_high + 1e-7
            assert left_low[place] - 1e-7 <= after.min()
            assert after.max() <= left_high[place] + 1e-7
            if kind == "precise":
                assert left_low[place] == pytest.approx(after[0], abs=1e-9)
                assert left_high[place] == pytest.approx(after[0], abs=1e-9)


def terms(name, bound, ahead):
    """For each target the uncertainty now, and what remains of it after each question: their difference is the gain."""
    found = {}
    for target in ahead.groups[0].targets:
        now = float(INDICES[name].bound(*target.now, bound)[0])
        found[target.skill] = now, now - SCORES[name](ahead.only(target.skill), bound, [])[0]
    return found


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize(("kind", "seed"), BANKS)
def test_the_score_right_is_largest_for_even_chances(kind, seed, bound):
    """1 - 2 |P(best class) - 1/2| at the worst (upper) or best (lower) P."""
    bank, answers = random_bank(kind, seed)
    found = SCORES["right"](looked(bank, answers), bound, [])[0]
    for place, question in open_questions(bank, answers):
        low, high = (end[-1] for end in pieces_of(bank, answers, question).answers())
        values = 1 - 2 * np.abs(np.append(np.linspace(low, high, 1001), np.clip(0.5, low, high)) - 0.5)
        assert found[place] == pytest.approx(values.min() if bound == "upper" else values.max(), abs=1e-7)


def test_random_numbers_come_from_each_takers_generator():
    bank = load("four-skills")
    ahead = lookahead(bank, {})
    found = SCORES["random"](ahead, "upper", Draws([5]))
    np.testing.assert_array_equal(found, [np.random.default_rng(5).random(len(bank.questions))])
    assert ((found >= 0) & (found < 1)).all()


def test_order_falls_with_the_place():
    ahead = lookahead(load("four-skills"), {})
    assert (np.diff(SCORES["order"](ahead, "upper", [])[0]) == -1).all()


def test_the_joint_of_a_credal_bank_is_refused():
    with pytest.raises(QuaestorError, match="target 'joint' is for precise banks, got a credal one; use 'scope', 'all' or skills"):
        rank(load("four-skills").widen(0.05), target="joint")


def test_mode_and_gini_of_a_large_joint_are_refused():
    skills = {f"s{number}": {} for number in range(24)}
    bank = Bank({"skills": skills, "questions": {"Q": {"skill": "s0", "right": [0.2, 0.8]}}})
    expected = rank(bank, score="entropy", target="scope").gains[0] / 24
    assert rank(bank, score="entropy", target="joint").gains[0] == pytest.approx(expected, abs=1e-12)
    for name in ("mode", "gini"):
        with pytest.raises(QuaestorError, match=rf"score {name} with target 'joint' is for small joints, got 1.68e\+07 joint states"):
            rank(bank, score=name, target="joint")


# The contract: all scores, bounds and kinds of banks

KINDS = ("precise", "credal odds", "credal hulls", "two-skill loops", "skill loops")


def contract_bank(kind, width=None, aside=False):
    """Four questions, the last one with equal precise rows; `aside` adds a wide skill that nothing else knows of: the bank is credal."""
    levels = ["low", "mid", "high"] if kind == "credal hulls" else ["low", "high"]
    width = (0.0 if kind == "precise" else 0.04) if width is None else width
    skills = {"a": {"levels": levels, "prior": [0.3, 0.3, 0.4] if len(levels) == 3 else [0.4, 0.6]}}
    skills["b"] = {"levels": levels, "parents": ["a"], "strength": 0.5}
    skills["c"] = {"levels": levels, "parents": ["a", "b"] if kind == "skill loops" else ["b"], "strength": 0.4}
    rights = {2: ([0.2, 0.7], [0.3, 0.9], [0.1, 0.6]), 3: ([0.2, 0.5, 0.7], [0.3, 0.4, 0.9], [0.1, 0.2, 0.6])}[len(levels)]
    questions = {f"Q{number}": {"skill": skill, "right": right} for number, (skill, right) in enumerate(zip("abc", rights, strict=True))}
    questions["Q3"] = {"skill": "b", "right": [0.25, 0.5, 0.8][-len(levels) :]}
    questions["Q4"] = {"skill": "c", "right": [0.15, 0.35, 0.75][-len(levels) :]}
    if kind in ("precise", "two-skill loops"):
        questions["Q5"] = {"skills": ["a", "c"], "needs": "all", "slip": 0.1, "guess": 0.2}
        questions["Q6"] = {"skills": ["c", "b"], "needs": "any", "slip": 0.15, "guess": 0.1}
    wide = Bank({"skills": skills, "questions": questions}).widen(width) if width else Bank({"skills": skills, "questions": questions})
    document = wide.document
    for question in ("same", "pair"):
        scope = ["b"] if question == "same" else ["a", "b"]
        rows = {", ".join(names): [0.3, 0.7] for names in product(*([levels] * len(scope)))}
        if question == "same" or "Q5" in document["questions"]:
            document["questions"][question] = {"skills": scope, "classes": ["wrong", "right"], "table": rows}
    if aside:
        document["skills"]["z"] = {"prior": [[0.2, 0.7], [0.3, 0.8]]}
    return Bank(document)


ANSWERS = [{}, {"Q0": "right", "Q3": "wrong"}, {"Q4": "right", "Q1": "right", "Q0": "wrong"}]


def scored(ahead, name, bound):
    """The gain of every open question, by its id."""
    gains = SCORES[name](ahead, bound, Draws([0]))[0]
    return {question: gain for question, gain, is_open in zip(ahead.ids, gains, ahead.open[0], strict=True) if is_open}


@pytest.mark.parametrize("target", ["scope", "all"])
@pytest.mark.parametrize("kind", KINDS)
def test_contract_every_gain_is_finite_and_the_order_of_the_answers_does_not_matter(kind, target):
    bank = contract_bank(kind)
    answers = {**ANSWERS[2], **({"Q5": "wrong"} if "Q5" in bank.questions else {})}
    turned = dict(reversed(answers.items()))
    assert list(turned) != list(answers)
    ahead, other = (lookahead(bank, given, target) for given in (answers, turned))
    for name, bound in product(SCORES, BOUNDS):
        found, again = scored(ahead, name, bound), scored(other, name, bound)
        assert np.isfinite(list(found.values())).all()
        assert set(found) == set(bank.questions) - set(answers)
        assert again == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("kind", KINDS)
def test_contract_a_question_with_equal_precise_rows_gains_nothing(kind, answers):
    bank = contract_bank(kind)
    for target in ("scope", "all", ["c"]):
        ahead = looked(bank, answers, target)
        for name, bound in product(UNCERTAINTY, BOUNDS):
            found = scored(ahead, name, bound)
            assert found["same"] == pytest.approx(0, abs=1e-9), (name, bound, target)
            assert found.get("pair", 0.0) == pytest.approx(0, abs=1e-9), (name, bound, target)
            assert max(found.values()) > 1e-3 or name == "mode"  # the others are not nothing


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("kind", KINDS)
def test_contract_width_zero_is_precise(kind, answers):
    """A wide skill that is linked to no other makes the bank credal: its inference is, and what it says of the others must not be."""
    precise, credal = contract_bank(kind, 0.0), contract_bank(kind, 0.0, aside=True)
    assert precise.is_precise
    assert not credal.is_precise
    for target in ("scope", ["a", "b", "c"]):
        exactly, loosely = looked(precise, answers, target), looked(credal, answers, target)
        for name, bound in product((*UNCERTAINTY, "right"), BOUNDS):
            expected = scored(exactly, name, "upper")
            assert scored(loosely, name, bound) == pytest.approx(expected, abs=1e-9), (name, bound, target)
            assert scored(exactly, name, bound) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("answers", ANSWERS)
@pytest.mark.parametrize("kind", KINDS)
def test_contract_almost_no_width_is_almost_precise(kind, answers):
    precise, credal = contract_bank(kind, 0.0), contract_bank(kind, 1e-7)
    assert not credal.is_precise
    exactly, nearly = looked(precise, answers), looked(credal, answers)
    for name, bound in product((*UNCERTAINTY, "right"), BOUNDS):
        assert scored(nearly, name, bound) == pytest.approx(scored(exactly, name, "upper"), abs=1e-5), (name, bound)


@pytest.mark.parametrize("kind", KINDS)
def test_contract_the_default_tolerance_moves_gains_by_little(kind):
    """In loops bounds are let go at a gap of some 5e-4; everywhere else they are exact, and so is what the front door says."""
    bank = contract_bank(kind)
    for target in ("scope", "all"):
        exactly, quickly = looked(bank, ANSWERS[1], target), lookahead(bank, ANSWERS[1], target)
        for name, bound in product((*UNCERTAINTY, "right"), BOUNDS):
            found = scored(quickly, name, bound)
            assert found == pytest.approx(scored(exactly, name, bound), abs=1e-9 + 8 * quickly.gap), (name, bound, target)
            ranking = rank(bank, ANSWERS[1], score=name, bound=bound, target=target)
            assert dict(zip(ranking.ids, ranking.gains, strict=True)) == pytest.approx(found, abs=1e-12)
        assert quickly.exact or "loops" in kind


@pytest.mark.parametrize("answers", ANSWERS[:2])
@pytest.mark.parametrize("kind", KINDS)
def test_contract_wider_intervals_give_wider_bounds_that_contain_the_precise_values(kind, answers):
    widths = [0.0, 0.01, 0.03, 0.06]
    ahead = [lookahead(contract_bank(kind, width), answers, "all", tolerance=1e-7, limit=20_000) for width in widths]
    for name in UNCERTAINTY:
        found = {bound: [terms(name, bound, one) for one in ahead] for bound in BOUNDS}
        for skill in "abc":
            now = {bound: np.array([one[skill][0] for one in found[bound]]) for bound in BOUNDS}
            after = {bound: np.array([one[skill][1] for one in found[bound]]) for bound in BOUNDS}
            for upper, lower in ((now["upper"], now["lower"]), (after["upper"], after["lower"])):
                assert (np.diff(upper, axis=0) >= -1e-6).all()
                assert (np.diff(lower, axis=0) <= 1e-6).all()
                assert (lower <= upper + 1e-9).all()
                np.testing.assert_allclose(lower[0], upper[0], atol=1e-9)
            assert (after["upper"][-1] > after["upper"][0] + 1e-3).any()


def test_contract_zeros_and_certainty_are_no_trouble():
    """Impossible classes, levels and a skill that is certain: gains stay numbers, and nothing is gained about what is known."""
    rows = {"low": [1.0, 0.0, 0.0], "high": [0.0, [0.3, 0.5], [0.5, 0.7]]}
    levels = {"levels": ["low", "high"]}
    for prior in ([0.5, 0.5], [[0.4, 0.6], [0.4, 0.6]], [0.0, 1.0], [[0.0, 0.2], [0.8, 1.0]]):
        skills = {"a": {**levels, "prior": prior}, "b": {**levels, "parents": ["a"], "strength": 0.5}}
        questions = {"Q0": {"skills": ["a"], "classes": ["x", "y", "z"], "table": rows}, "Q1": {"skill": "b", "right": [0.0, 1.0]}}
        questions["Q2"] = {"skill": "a", "right": [[0.0, 0.1], [0.9, 1.0]]}
        bank = Bank({"skills": skills, "questions": questions})
        for target, answers in product(("scope", "all"), ({}, {"Q0": "y"}, {"Q1": "right"})):
            ahead = lookahead(bank, answers, target)
            for name, bound in product(SCORES, BOUNDS):
                assert np.isfinite(list(scored(ahead, name, bound).values())).all()
                if "Q0" in answers and target == "scope" and name in UNCERTAINTY:  # `y` is for the high level alone
                    assert scored(ahead, name, bound)["Q2"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("levels", "two_skills", "width"),
    [
        *((2, several, width) for several, width in product((False, True), (0.0, 0.1))),
        *((3, several, width) for several, width in product((False, True), (0.0, 0.1))),
    ],
)
def test_contract_a_class_that_nobody_gives_changes_nothing(levels, two_skills, width):
    """The same question with and without a class of probability zero: the gains are the same numbers."""
    names = [f"l{number}" for number in range(levels)]
    even = [1 / levels] * levels
    skills = {"a": {"levels": names, "prior": even}, "b": {"levels": names, "parents": ["a"], "strength": 0.5}}
    scope = ["a", "b"] if two_skills else ["a"]
    combinations = list(product(range(levels), repeat=len(scope)))
    right = {", ".join(names[one] for one in each): 0.2 + 0.6 * sum(each) / (len(scope) * (levels - 1)) for each in combinations}
    rows = {key: [[1 - p - width, 1 - p + width], [p - width, p + width]] if width else [1 - p, p] for key, p in right.items()}
    questions = {"Q0": {"skill": "b", "right": [0.3, 0.5, 0.8][-levels:]}}
    questions["two"] = {"skills": scope, "classes": ["wrong", "right"], "table": rows}
    questions["three"] = {"skills": scope, "classes": ["never", "wrong", "right"], "table": {key: [0.0, *row] for key, row in rows.items()}}
    bank = Bank({"skills": skills, "questions": questions})
    assert bank.is_precise == (width == 0)
    for target, answers in product(("scope", "all"), ({}, {"Q0": "right"})):
        ahead = looked(bank, answers, target)
        for name, bound in product((*UNCERTAINTY, "right"), BOUNDS):
            found = scored(ahead, name, bound)
            assert found["three"] == pytest.approx(found["two"], abs=1e-8), (name, bound, target)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("score", UNCERTAINTY)
@pytest.mark.parametrize("seed", range(8))
def test_gains_of_two_levels_are_those_found_without_the_closed_form(seed, score, bound, monkeypatch):
    rng = np.random.default_rng([seed, 22])
    edge = [0.1, 1e-3, 1e-6, 1e-10][seed % 4]
    asked = {}
    for number in range(30):
        ends = np.sort(rng.choice([edge, 1 - edge, 0.5], (2, 1)) * rng.uniform(0.5, 1, (2, 2)), axis=1)
        if number >= 20:  # ends that only some networks attain
            ends[number % 2, number % 3 // 2] = number % 3 // 2
        table = {level: [[1 - high, 1 - low], [low, high]] for level, (low, high) in zip("ab", ends.tolist(), strict=True)}
        asked[f"Q{number}"] = {"skill": "st"[number % 2], "table": table}
    skills = {
        "s": {"levels": ["a", "b"], "prior": [[0.3, 0.5], [0.5, 0.7]]},
        "t": {"levels": ["a", "b"], "prior": [[0.1, 0.2], [0.8, 0.9]]},
    }
    bank = qs.Bank({"skills": skills, "questions": asked})
    answers = {f"Q{number}": int(rng.integers(2)) for number in range(int(rng.integers(8)))}
    quick = {one.question.id: one.gain for one in qs.rank(bank, answers, score=score, bound=bound, then=None)}
    monkeypatch.setattr("quaestor.selection.scores.uncertainty.TwoByTwo.of", lambda batch: None)
    slow = {one.question.id: one.gain for one in qs.rank(bank, answers, score=score, bound=bound, then=None)}
    assert quick.keys() == slow.keys()
    for name, gain in quick.items():
        assert abs(gain - slow[name]) < 1e-11
