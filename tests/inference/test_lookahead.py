"""The look-ahead against the posterior after each hypothetical answer, which is its definition."""

import numpy as np
import pytest

import quaestor as qs
from quaestor.errors import QuaestorError
from quaestor.inference.chooser import Chooser
from quaestor.inference.evidence import OPEN, Evidence
from quaestor.inference.layout import layout_of
from quaestor.inference.lookahead import look, lookahead

TIGHT = 1e-10


def bank_of(levels, shape, two_skills, width, seed, questions=7):
    """A random bank: skills in a chain, a star or a loop; some questions on two skills when asked for."""
    random = np.random.default_rng(seed)
    names = ["a", "b", "c", "d"]
    parents = {"chain": [[], ["a"], ["b"], ["c"]], "star": [[], ["a"], ["a"], ["a"]], "loop": [[], ["a"], ["a"], ["b", "c"]]}[shape]
    skills = {}
    for name, above in zip(names, parents, strict=True):
        fields = {"levels": [f"l{k}" for k in range(levels)], "parents": above} if above else {"levels": [f"l{k}" for k in range(levels)]}
        skills[name] = {**fields, "strength": 0.6} if above else {**fields, "prior": random.dirichlet(np.ones(levels) * 5).tolist()}
    listed = {}
    for number in range(questions):
        if two_skills and number % 3 == 0:
            one, other = random.choice(names, 2, replace=False).tolist()
            listed[f"Q{number}"] = {"skills": [one, other], "needs": "all", "slip": 0.1, "guess": round(float(random.uniform(0.1, 0.3)), 3)}
        else:
            right = np.sort(random.uniform(0.1, 0.9, levels)).round(3).tolist()
            listed[f"Q{number}"] = {"skill": str(random.choice(names)), "right": right}
    return qs.Bank({"skills": skills, "questions": listed, **({"imprecision": width} if width else {})})


CASES = [
    (2, "chain", False, 0.0, "joint"),
    (3, "loop", True, 0.0, "joint"),
    (2, "chain", False, 0.05, "odds"),
    (2, "star", False, 0.1, "odds"),
    (3, "star", False, 0.05, "hulls"),
    (3, "chain", False, 0.02, "hulls"),
    (2, "chain", True, 0.05, None),
    (2, "loop", False, 0.03, "separators"),
    pytest.param(3, "chain", True, 0.02, None, marks=pytest.mark.long),
]


@pytest.mark.parametrize("targets", ["scope", "all"])
@pytest.mark.parametrize(("levels", "shape", "two_skills", "width", "method"), CASES)
def test_bounds_after_each_answer_are_those_of_the_posterior(levels, shape, two_skills, width, method, targets):
    bank = bank_of(levels, shape, two_skills, width, seed=levels * 10 + len(shape))
    answers = {"Q1": "right", "Q4": "wrong"}
    ahead = lookahead(bank, answers, targets, tolerance=TIGHT, limit=2000)
    now = qs.posterior(bank, answers)
    ids = list(bank.questions)
    seen = set()
    assert method is None or ahead.exact
    for group in ahead.groups:
        assert method is None or group.bracket.method == method
        for place, row in zip(group.batch.index, group.batch.row, strict=True):
            seen.add(ids[place])
            for target in group.targets:
                np.testing.assert_allclose(target.now[0][0], now[target.skill].lower, atol=1e-8)
                np.testing.assert_allclose(target.now[1][0], now[target.skill].upper, atol=1e-8)
            if ids[place] in answers:
                continue
            for answer in range(2):
                after = qs.posterior(bank, {**answers, ids[place]: answer}, limit=2000)
                for target in group.targets:
                    apart = 1e-8 + group.gap + after[target.skill].gap  # two safe bounds differ by no more than their gaps
                    np.testing.assert_allclose(target.after[0][0, row, answer], after[target.skill].lower, rtol=0, atol=apart)
                    np.testing.assert_allclose(target.after[1][0, row, answer], after[target.skill].upper, rtol=0, atol=apart)
    assert set(ids) - set(answers) <= seen  # groups in which no question is open are left out
    assert ahead.open.tolist() == [[question not in answers for question in ids]]


@pytest.mark.parametrize(("levels", "shape", "two_skills", "width", "method"), CASES)
def test_bounds_of_the_answers_are_those_of_the_question_as_a_variable(levels, shape, two_skills, width, method):
    bank = bank_of(levels, shape, two_skills, width, seed=3)
    answers = {"Q2": "right"}
    ahead = lookahead(bank, answers, tolerance=TIGHT)
    ids = list(bank.questions)
    for group in ahead.groups:
        for place, row in zip(group.batch.index, group.batch.row, strict=True):
            if ids[place] not in answers:
                bounds = qs.bounds(bank.network, ids[place], answers)
                np.testing.assert_allclose(group.answers[0][0, row], bounds.lower, atol=1e-8)
                np.testing.assert_allclose(group.answers[1][0, row], bounds.upper, atol=1e-8)


@pytest.mark.parametrize("name", ["four-skills", "fractions"])
@pytest.mark.parametrize("width", [0.0, 0.05])
def test_many_takers_at_once_equal_one_at_a_time(name, width):
    bank = qs.load(name)
    if name == "fractions":
        bank = bank.subset([q.id for q in bank.questions.values() if len(q.skills) == 1][:12])
    bank = bank.widen(width) if width else bank
    ids = list(bank.questions)
    takers = [{}, {ids[0]: 1}, {ids[0]: 0, ids[5]: 1, ids[-1]: 1}]
    rows = np.array([[answers.get(question, OPEN) for question in ids] for answers in takers], dtype=np.int16)
    evidence = Evidence.of_rows(bank, rows)
    together = look(evidence.layout, Chooser(evidence.model, 3), evidence.is_open)
    for taker, answers in enumerate(takers):
        alone = lookahead(bank, answers)
        known = {group.batch.index.tobytes(): group for group in together.groups}
        for one in alone.groups:
            many = known[one.batch.index.tobytes()]
            np.testing.assert_allclose(many.answers[0][taker], one.answers[0][0], atol=1e-12)
            for target, same in zip(one.targets, many.targets, strict=True):
                for end in (0, 1):
                    np.testing.assert_allclose(same.now[end][taker], target.now[end][0], atol=1e-12)
                    np.testing.assert_allclose(same.after[end][taker], target.after[end][0], atol=1e-12)


def test_questions_with_equal_tables_are_worked_out_once():
    batches = layout_of(qs.load("four-skills")).batches
    assert [len(batch.index) for batch in batches] == [16, 16, 16, 16]
    assert [len(batch.low) for batch in batches] == [4, 4, 4, 4]
    bank = qs.load("four-skills")
    for batch in batches:
        for place, row in zip(batch.index, batch.row, strict=True):
            table = list(bank.questions.values())[place].table
            np.testing.assert_array_equal(batch.low[row], table.lower.T)


def test_a_limit_gives_a_bracket_that_says_so():
    bank = bank_of(2, "loop", True, 0.1, seed=8, questions=14)
    answers = {f"Q{number}": number % 2 for number in range(10)}
    rough = lookahead(bank, answers, tolerance=TIGHT, limit=2)
    fine = lookahead(bank, answers, tolerance=1e-3)
    assert rough.gap > fine.gap
    assert not rough.exact
    for one, other in zip(rough.groups, fine.groups, strict=True):
        for target, same in zip(one.targets, other.targets, strict=True):
            assert (target.after[0] <= same.after[0] + 1e-3).all()
            assert (target.after[1] >= same.after[1] - 1e-3).all()


def test_wrong_targets_are_named():
    bank = qs.load("four-skills")
    with pytest.raises(QuaestorError, match="unknown skill, got 'S9'"):
        lookahead(bank, {}, ["S1", "S9"])
    with pytest.raises(QuaestorError, match="a target is 'scope', 'all', 'joint', a list of skills or weights by skill, got 'every'"):
        lookahead(bank, {}, "every")


def test_look_ahead_has_the_guard_of_the_posterior_where_answers_contradict_one_another():
    """130 answers for the lowest level of one skill, 130 for another level of its copy: plain numbers lost both, without a guard."""
    names = ["0", "1", "2"]
    skills = {
        "a": {"levels": names, "prior": [[0.3, 0.35], [0.3, 0.35], [0.3, 0.4]]},
        "b": {"levels": names, "parents": ["a"], "table": {one: [float(one == other) for other in names] for one in names}},
    }
    asked = {f"a{number}": {"skill": "a", "right": [0.998, 0.001, 0.001]} for number in range(130)}
    asked |= {f"b{number}": {"skill": "b", "right": [0.001, 0.998, 0.001]} for number in range(130)}
    bank = qs.Bank({"skills": skills, "questions": {**asked, "x": {"skill": "a", "right": [0.3, 0.5, 0.7]}}})
    answers = dict.fromkeys(asked, "right")
    truth = qs.posterior(bank, answers, method="enumeration")["a"]
    group = lookahead(bank, answers).groups[0]
    target, row = group.targets[0], group.batch.row[-1]  # of the question that is left
    np.testing.assert_allclose(target.now[0][0], truth.lower, atol=1e-9)
    np.testing.assert_allclose(target.now[1][0], truth.upper, atol=1e-9)
    for number, answer in enumerate(("wrong", "right")):
        then = qs.posterior(bank, {**answers, "x": answer}, method="enumeration")["a"]
        np.testing.assert_allclose(target.after[0][0, row, number], then.lower, atol=1e-9)
        np.testing.assert_allclose(target.after[1][0, row, number], then.upper, atol=1e-9)
