"""The field's models as statements: textbook formulas, published numbers, what is refused, and that files keep them."""

from itertools import combinations, pairwise, product
from math import exp, log, prod

import numpy as np
import pytest

import quaestor as qs
from quaestor.bankfile import response_models as models

SKILLS = {"a": {}, "b": {}, "c": {"levels": ["low", "mid", "high"]}}
COMBINATIONS = list(product([False, True], repeat=2))
BOTH = [[False, True]] * 2


def rows_of(question, skills=SKILLS):
    """The table of a question, a row for each combination of levels."""
    table = qs.Bank({"skills": skills, "questions": {"Q": question}}).questions["Q"].table
    assert table.is_precise
    return table.lower.reshape(-1, table.lower.shape[-1])


def test_the_partial_credit_model_gives_a_published_example():
    """De Ayala (2009), The Theory and Practice of Item Response Theory, p. 204; the R package classify prints these digits."""
    assert models.by_partial_credit([0.0], 1.0, [-1, 1])[0] == pytest.approx([0.2119416, 0.5761169, 0.2119416], abs=5e-8)


@pytest.mark.parametrize(("a", "b"), [(1.0, [-1, 1]), (0.683, [-3.513, -0.041, 0.182]), (1.7, [0.8, -0.3]), (2.0, [0.4])])
def test_neighbouring_classes_of_partial_credit_are_two_class_models(a, b):
    """P(j) / (P(j - 1) + P(j)) = 1 / (1 + exp(-a (theta - b_j))), as Masters and Muraki define it; 0.683: Embretson and Reise (2000)."""
    theta = [-2.0, 0.0, 0.7, 3.0]
    for ability, row in zip(theta, models.by_partial_credit(theta, a, b), strict=True):
        assert sum(row) == pytest.approx(1, abs=1e-15)
        for step, (before, after) in zip(b, pairwise(row), strict=True):
            assert after / (before + after) == pytest.approx(1 / (1 + exp(-a * (ability - step))), abs=1e-13)


def test_the_nominal_model_holds_the_partial_credit_model():
    """With a_k = k a and c_k = -a sum b_j; and the ratio of any two classes is exp((a_k - a_l) theta + c_k - c_l)."""
    a, b, theta = 1.3, [0.5, -0.7, 1.1], [-1.5, 0.0, 2.0]
    slopes, starts = [k * a for k in range(4)], [-a * sum(b[:k]) for k in range(4)]
    np.testing.assert_allclose(models.by_nominal(theta, slopes, starts), models.by_partial_credit(theta, a, b), atol=1e-14)
    for ability, row in zip(theta, models.by_nominal(theta, [0, 0.5, -1.2], [0, 0.3, 0.4]), strict=True):
        assert sum(row) == pytest.approx(1, abs=1e-15)
        assert row[2] / row[1] == pytest.approx(exp(-1.7 * ability + 0.1))
    assert models.by_nominal([1e6], [0, 1], [0, 0]) == [[0.0, 1.0]]


def test_irt_statements_make_tables_at_the_abilities_of_the_levels():
    theta = [-0.967421566101701, 0.0, 0.967421566101701]  # the medians of thirds of N(0, 1)
    thirds = {"skill": "c", "classes": ["x", "y", "z"]}
    np.testing.assert_allclose(
        rows_of({**thirds, "irt": {"model": "partial credit", "a": 0.8, "b": [0.5, -1]}}), models.by_partial_credit(theta, 0.8, [0.5, -1])
    )
    nominal = {"model": "nominal", "a": [0, 1, 2], "c": [0, 0.2, -1]}
    np.testing.assert_allclose(rows_of({**thirds, "irt": nominal}), models.by_nominal(theta, [0, 1, 2], [0, 0.2, -1]))
    plain, one = {"skill": "c", "irt": {"b": 0.4}}, {"skill": "c", "irt": {"model": "partial credit", "b": 0.4}}
    np.testing.assert_allclose(rows_of(plain), rows_of(one), atol=1e-15)  # of two classes they are one model


@pytest.mark.parametrize("link", models.LINKS)
def test_gdina_is_the_link_of_a_sum_over_sets_of_skills(link):
    inverse = {"identity": lambda x: x, "logit": lambda x: 1 / (1 + exp(-x)), "log": exp}[link]
    start, effects = {"identity": (0.1, [0.3, 0.2, 0.35]), "logit": (-2.0, [1.5, 2.0, -0.4]), "log": (-2.5, [0.9, 0.7, 0.8])}[link]
    sets = [(0,), (1,), (0, 1)]
    found = models.by_gdina(BOTH, link, start, dict(zip(sets, effects, strict=True)))
    expected = [
        inverse(start + sum(effect * prod(has[k] for k in skills) for skills, effect in zip(sets, effects, strict=True)))
        for has in COMBINATIONS
    ]
    assert found == pytest.approx(expected, abs=1e-14)


def test_the_saturated_model_can_say_any_table():
    """The effects are the alternating sums of P(right): G-DINA's delta."""
    right = dict(zip(COMBINATIONS, [0.15, 0.5, 0.35, 0.9], strict=True))
    none, first, second = (False, False), (True, False), (False, True)
    effects = {"a": right[first] - right[none], "b": right[second] - right[none]}
    effects["a, b"] = right[True, True] - right[first] - right[second] + right[none]
    rows = rows_of({"skills": ["a", "b"], "gdina": {"intercept": right[none], "effects": effects}})
    assert rows[:, 1] == pytest.approx(list(right.values()), abs=1e-12)


def test_dina_is_an_intercept_and_one_effect():
    dina = rows_of({"skills": ["a", "b"], "needs": "all", "slip": 0.1, "guess": 0.2})
    np.testing.assert_allclose(rows_of({"skills": ["a", "b"], "gdina": {"intercept": 0.2, "effects": {"b, a": 0.7}}}), dina, atol=1e-12)


def test_the_reduced_rum_in_both_parametrisations():
    """log P = b0 + sum b_k alpha_k with pi = exp(b0 + sum b_k), r_k = exp(-b_k): the conversion of the R package CDM."""
    best, penalties = 0.9, {"a": 0.4, "b": 0.55}
    intercept = log(best) + sum(log(r) for r in penalties.values())
    effects = {skill: -log(r) for skill, r in penalties.items()}
    published = rows_of({"skills": ["a", "b"], "rrum": {"pi": best, "r": penalties}})
    assert published[:, 1] == pytest.approx([0.9 * 0.4 * 0.55, 0.9 * 0.4, 0.9 * 0.55, 0.9], abs=1e-12)
    np.testing.assert_allclose(
        rows_of({"skills": ["a", "b"], "gdina": {"link": "log", "intercept": intercept, "effects": effects}}), published, atol=1e-12
    )


def test_the_reduced_rum_takes_intervals_and_levels_that_are_enough():
    question = {"skills": ["a", "c"], "rrum": {"pi": [0.8, 0.9], "r": {"a": 0.5, "c": [0.2, 0.4]}}, "at_least": {"c": "mid"}}
    table = qs.Bank({"skills": SKILLS, "questions": {"Q": question}}).questions["Q"].table
    ends = {(a, c): (0.5 ** (1 - a) * (0.8 if c else 0.16), 0.5 ** (1 - a) * (0.9 if c else 0.36)) for a in (0, 1) for c in (0, 1, 2)}
    for (a, c), (low, high) in ends.items():
        assert (table.lower[a, c, 1], table.upper[a, c, 1]) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize("ending", ["yaml", "json", "xlsx", "csv"])
def test_files_keep_them(tmp_path, ending):
    questions = {
        "G": {"skills": ["a", "b"], "gdina": {"link": "logit", "intercept": -2, "effects": {"a": 1.5, "a, b": 2}}},
        "R": {"skills": ["a", "c"], "rrum": {"pi": 0.9, "r": {"a": 0.4, "c": [0.5, 0.6]}}, "at_least": {"c": "mid"}},
        "P": {"skill": "c", "classes": ["x", "y", "z"], "irt": {"model": "partial credit", "b": [0.5, -1]}},
        "N": {"skill": "c", "classes": ["x", "y", "z"], "irt": {"model": "nominal", "a": [0, 0.5, 1.2], "c": [0, 0.3, -0.4]}},
    }
    bank = qs.Bank({"skills": SKILLS, "questions": questions})
    qs.dump(bank, tmp_path / f"bank.{ending}")
    again = qs.load(tmp_path / f"bank.{ending}")
    assert again.document["questions"] == bank.document["questions"]
    assert again.model_version == bank.model_version


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ({"gdina": {"effects": {"a": 0.2}}}, "questions.Q.gdina: 'gdina' has intercept, effects, got no intercept"),
        (
            {"gdina": {"intercept": 0.5, "effects": {"a": 0.4, "b": 0.3}}},
            r"questions.Q.gdina: the effects of every combination of skills sum to a probability \(link identity\), got 1.2",
        ),
        (
            {"gdina": {"link": "log", "intercept": 0.1}},
            r"questions.Q.gdina: the effects of every combination of skills sum to a probability \(link log\), got 0.1",
        ),
        (
            {"gdina": {"intercept": 0.5, "effects": {"c": 0.4}}},
            r"effects: an effect names skills of this question, each set of them once, got 'c' \(the skills are a, b\)",
        ),
        ({"gdina": {"intercept": 0.1, "effects": {"a, b": 0.4, "b, a": 0.1}}}, "each set of them once, got 'b, a'"),
        ({"gdina": {"link": "probit", "intercept": 0.1}}, "link: one of identity, logit, log is expected, got 'probit'"),
        ({"rrum": {"pi": 0.9}}, "questions.Q.rrum: 'rrum' has pi, r, got no r"),
        ({"rrum": {"pi": 0.9, "r": {"a": 0.5}}}, "rrum.r: a penalty r for each skill of the question: a, b, got 'a'"),
        ({"rrum": {"pi": 1.2, "r": {"a": 0.5, "b": 0.5}}}, "rrum.pi: a probability lies between 0 and 1, got 1.2"),
        ({"gdina": {"intercept": 0.1}, "slip": 0.1}, "slip: this field belongs to 'needs', got 'gdina'"),
    ],
)
def test_what_is_wrong_with_a_question_of_cognitive_diagnosis_is_said(question, problem):
    with pytest.raises(qs.BankError, match=problem):
        qs.Bank({"skills": SKILLS, "questions": {"Q": {"skills": ["a", "b"], **question}}})


@pytest.mark.parametrize(
    ("irt", "problem"),
    [
        ({"model": "nominal", "a": [0, 1], "c": [0, 0, 0]}, "irt.a: the nominal model has a slope a and an intercept c for each of the 3"),
        ({"model": "nominal", "a": [0, 1, 2]}, "irt.c: the nominal model has a slope a and an intercept c .*, got none"),
        ({"model": "nominal", "a": [0, 1, 2], "c": [0, 1, 2], "b": 1}, "irt: the nominal model .*, and no b, got 1"),
        ({"model": "partial credit", "b": [0]}, "irt.b: 3 answer classes have 2 thresholds, got 1"),
        ({"model": "partial credit", "a": 0, "b": [0, 1]}, "the discrimination a is positive, got 0"),
        ({"model": "partial credit", "b": [0, 1], "c": 0.1}, "irt.c: the partial credit model has no guessing parameter c, got 0.1"),
        ({"a": [1, 2, 3], "b": [0, 1]}, "irt.a: one number; a list of them is for the nominal model, got"),
        ({"model": "rasch", "b": [0, 1]}, "irt.model: one of graded, partial credit, nominal is expected, got 'rasch'"),
    ],
)
def test_what_is_wrong_with_a_question_of_item_response_theory_is_said(irt, problem):
    with pytest.raises(qs.BankError, match=problem):
        qs.Bank({"skills": SKILLS, "questions": {"Q": {"skill": "c", "classes": ["x", "y", "z"], "irt": irt}}})


def test_effects_of_all_sets_of_three_skills():
    """The order in which skills are named does not matter, and skills that are not named have no effect."""
    has = [[False, True]] * 3
    effects = {skills: 0.1 for size in (1, 2, 3) for skills in combinations(range(3), size)}
    assert models.by_gdina(has, "identity", 0.1, effects)[-1] == pytest.approx(0.8)
    assert models.by_gdina(has, "identity", 0.1, {(1,): 0.5}) == pytest.approx([0.1, 0.1, 0.6, 0.6] * 2)
