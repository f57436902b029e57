"""Small numbers keep their meaning: what is possible stays possible, in tables, vertices, centres, banks and posteriors.

The oracles are worked out here by hand: fractions for tables, and for posteriors the odds at the ends of all intervals.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import quaestor as qs
from quaestor.bankfile.elicit import by_difficulty, by_irt
from quaestor.model.table import Table, centre, row_vertices, vertices

ENDS = (0.0, 1e-15, 1e-12, 1e-9)
INTERVALS = list(combinations_with_replacement(ENDS, 2))
SHARE = 2e-3  # 1 - 1e-15 is a number with 16 digits, so what is left of it is known to a thousandth


def near(value):
    """The same number, of whatever size; where nothing is possible, nothing."""
    return pytest.approx(value, rel=SHARE, abs=1e-30)


# Tables


def exact_row(lower, upper):
    """Reachable ends in fractions."""
    lower, upper = ([Fraction(float(p)) for p in end] for end in (lower, upper))
    raised = [max(low, 1 - (sum(upper) - high)) for low, high in zip(lower, upper, strict=True)]
    cut = [min(high, 1 - (sum(lower) - low)) for low, high in zip(lower, upper, strict=True)]
    return [float(p) for p in raised], [float(p) for p in cut]


@pytest.mark.parametrize(("low", "high"), INTERVALS)
def test_a_row_of_two_states_keeps_its_small_ends(low, high):
    for lower, upper in (([0, low], [1, high]), ([1 - high, low], [1 - low, high]), ([0.5, low], [1 - low, high])):
        table = Table(lower, upper)
        expected = exact_row(lower, upper)
        assert table.lower == near(expected[0])
        assert table.upper == near(expected[1])
        assert (table.upper > 0).tolist() == [True, high > 0]
        assert table.is_precise == (low == high)


@pytest.mark.parametrize("tiny", ENDS[1:])
def test_a_computed_small_end_is_right(tiny):
    """The others leave 1 - (1 - 1e-15): plain sums would be off by a tenth."""
    assert Table([0, 0], [1 - tiny, 1]).lower == near([0, tiny])
    assert Table([1 - tiny, 0], [1, 1]).upper == near([1, tiny])
    assert Table([0, 0, 0], [0.25, 0.75 - tiny, 1]).lower[2] == pytest.approx(tiny, rel=0.2)
    assert Table([0.25, 0.75 - tiny, 0], [1, 1, 1]).upper[2] == pytest.approx(tiny, rel=0.2)


tiny_rows = st.integers(2, 4).flatmap(
    lambda states: st.tuples(
        st.integers(0, states - 1), st.lists(st.sampled_from(INTERVALS), min_size=states - 1, max_size=states - 1), st.booleans()
    )
)


def built(row):
    """A row with one large state and small ones; the ends of the large one follow, or are said."""
    place, small, said = row
    ends = [list(pair) for pair in small]
    large = [1 - sum(high for _, high in small), 1 - sum(low for low, _ in small)] if said else [0.0, 1.0]
    ends.insert(place, large)
    return [low for low, _ in ends], [high for _, high in ends]


@given(tiny_rows)
def test_rows_of_small_numbers_are_those_of_fractions_and_stay_so(row):
    lower, upper = built(row)
    table = Table(lower, upper)
    expected = exact_row(lower, upper)
    assert table.lower == near(expected[0])
    assert table.upper == near(expected[1])
    assert Table(table.lower, table.upper) == table


def exact_vertices(lower, upper, room=Fraction(1, 2**51)):
    """All states but one at a bound, the free one takes the rest, in fractions; a rest that rounding leaves is none."""
    ends = [(Fraction(float(low)), Fraction(float(high))) for low, high in zip(lower, upper, strict=True)]
    found = set()
    for free, (low, high) in enumerate(ends):
        for chosen in product(*(ends[:free] + ends[free + 1 :])):
            rest = 1 - sum(chosen)
            if low - room <= rest <= high + room:
                rest = low if abs(rest - low) <= room else high if abs(rest - high) <= room else rest
                found.add((*chosen[:free], rest, *chosen[free:]))
    return sorted([float(p) for p in point] for point in found)


@given(tiny_rows)
def test_vertices_of_rows_of_small_numbers(row):
    table = Table(*built(row))
    found = table.row_vertices(0)
    expected = exact_vertices(table.lower, table.upper)
    for point in expected:  # every one is there
        assert any(one == near(point) for one in found), point
    assert len(found) <= len(expected)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-15)
    assert found.min(axis=0) == near(table.lower)
    assert found.max(axis=0) == near(table.upper)
    again = Table(table.lower, table.upper, {0: found})
    assert not again.vertices
    assert again.lower == near(table.lower)
    assert again.upper == near(table.upper)


@pytest.mark.parametrize("tiny", [*ENDS[1:], 1e-5])
def test_small_vertices_that_do_not_fill_their_envelope_are_kept(tiny):
    points = [[1.0, 0.0, 0.0], [1 - tiny, tiny, 0.0], [1 - 2 * tiny, tiny, tiny]]
    table = Table([0.0] * 3, [1.0] * 3, {0: points})
    assert table.row_vertices(0).tolist() == sorted(points)
    assert Table(table.lower, table.upper, table.vertices) == table


@pytest.mark.parametrize("states", [7, 8, 10])
def test_vertices_of_many_states_are_those_of_fractions(states):
    rng = np.random.default_rng(states)
    for tiny in (*ENDS[1:], 0.05):
        p = rng.dirichlet(np.ones(states))
        p[:3] = 0
        table = Table.precise(p / p.sum()).widen(tiny)
        table = Table(np.where(np.arange(states) < 5, table.lower, 0), np.where(np.arange(states) < 5, table.upper, 1))
        expected = exact_vertices(table.lower, table.upper)
        found = table.row_vertices(0)
        assert len(found) == len(expected)
        assert found == pytest.approx(np.array(expected), abs=1e-15)


def test_many_sets_at_once_have_the_vertices_of_each():
    rng = np.random.default_rng(0)
    for states in (2, 3, 5, 7):
        p = rng.dirichlet(np.ones(states), (3, 4))
        table = Table.precise(p).widen(0.05)
        points, inside = vertices(table.lower, table.upper)
        for place in np.ndindex(3, 4):
            mine = points[place][inside[place]]
            expected = row_vertices(table.lower[place], table.upper[place])
            assert {tuple(point) for point in mine.round(12)} == {tuple(point) for point in expected.round(12)}


@pytest.mark.parametrize(("low", "high"), INTERVALS)
def test_the_centre_is_between_small_ends(low, high):
    table = Table([0, low], [1, high])
    middle = table.centre()
    assert middle.lower[1] == pytest.approx((low + high) / 2, rel=0.15)
    assert (middle.lower[1] > 0) == (high > 0)
    assert centre(table.lower, table.upper)[1] == middle.lower[1]


def test_what_is_widened_to_zero_is_zero():
    """0.3 - 0.1 - 0.2 and the like leave rounding: it is no small number."""
    for p in np.arange(1, 50) / 50:
        for epsilon in np.arange(1, 50) / 50:
            lower = Table.precise([p, 1 - p]).widen(float(epsilon)).lower
            assert ((lower == 0) | (lower > 1e-3)).all()


# Posteriors


def bank_of(rows, prior, right=1):
    """One skill with a level a row, one question; each row gives its class `right` an interval, the other classes share what is left."""
    levels = [f"level {place}" for place in range(len(rows))]
    table = {}
    for level, (low, high) in zip(levels, rows, strict=True):
        others = [[0.0, 1.0], [0.0, 0.25]][: 2 if right == 2 else 1]
        table[level] = [*others, [low, high]]
    question = {"skill": "a", "classes": ["wrong", "half", "right"][-right - 1 :] if right == 2 else ["wrong", "right"], "table": table}
    return qs.Bank({"skills": {"a": {"levels": levels, "prior": prior}}, "questions": {"q": question}})


def posterior_by_hand(rows, prior):
    """Bounds of P(level | right): the likelihoods are independent intervals, the prior one of its vertices (levels,).

    None: impossible. Networks that exclude the answer are left out: where nothing else is possible, a level has the whole rest.
    """
    levels = len(rows)
    if all(p * high == 0 for point in prior for p, (_, high) in zip(point, rows, strict=True)):
        return None
    lower, upper = [], []
    for level in range(levels):
        seen = []
        for point in prior:
            for ends in product(*({low, high} for low, high in rows)):
                weights = [p * end for p, end in zip(point, ends, strict=True)]
                if sum(weights) > 0:
                    seen.append(weights[level] / sum(weights))
        lower.append(min(seen))
        upper.append(max(seen))
    return lower, upper


def test_the_faults_that_were_seen():
    table = {"no": [[0, 1], [0, 1e-12]], "yes": [1 - 1e-12, 1e-12]}
    bank = qs.Bank(
        {"skills": {"a": {"prior": [0.5, 0.5]}}, "questions": {"q": {"skill": "a", "classes": ["wrong", "right"], "table": table}}}
    )
    found = qs.posterior(bank, {"q": "right"})["a"]
    assert found.lower == pytest.approx([0, 0.5], abs=1e-12)
    assert found.upper == pytest.approx([0.5, 1], abs=1e-12)
    table = {"no": [[0, 1], [0, 1e-12]], "yes": [[0, 1], [0, 1e-12]]}
    bank = qs.Bank(
        {"skills": {"a": {"prior": [0.5, 0.5]}}, "questions": {"q": {"skill": "a", "classes": ["wrong", "right"], "table": table}}}
    )
    found = qs.posterior(bank, {"q": "right"})["a"]
    assert (found.lower.tolist(), found.upper.tolist()) == ([0, 0], [1, 1])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("first", INTERVALS)
def test_posteriors_of_two_levels_are_those_by_hand(first, classes):
    for second in INTERVALS:
        for prior, points in (([0.5, 0.5], [(0.5, 0.5)]), ([[0.4, 0.7], [0.3, 0.6]], [(0.4, 0.6), (0.7, 0.3)])):
            bank = bank_of([first, second], prior, classes - 1)
            check(bank, posterior_by_hand([first, second], points), 1e-9)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(12))
def test_posteriors_of_three_levels_are_those_by_hand(seed, classes):
    rng = np.random.default_rng([seed, classes])
    for _ in range(6):
        rows = [INTERVALS[k] for k in rng.integers(0, len(INTERVALS), 3)]
        for prior, points in (
            ([0.2, 0.5, 0.3], [(0.2, 0.5, 0.3)]),
            ([[0.1, 0.3], [0.4, 0.6], [0.3, 0.3]], [(0.1, 0.6, 0.3), (0.3, 0.4, 0.3)]),
        ):
            check(bank_of(rows, prior, classes - 1), posterior_by_hand(rows, points), 1e-9)


@pytest.mark.parametrize("first", INTERVALS)
def test_small_priors_count(first):
    """After an answer that only the rare level gives, the rare level is what is left."""
    for second in INTERVALS:
        low, high = first
        prior = [[0, 1], [low, high]]
        bank = bank_of([second, (0.5, 0.75)], prior)
        points = [(1 - low, low), (1 - high, high)]
        check(bank, posterior_by_hand([second, (0.5, 0.75)], points), 1e-3)


def check(bank, expected, tolerance):
    if expected is None:
        with pytest.raises(qs.QuaestorError, match="probability zero"):
            qs.posterior(bank, {"q": "right"})
        return
    for method in ("auto", "enumeration"):
        found = qs.posterior(bank, {"q": "right"}, method=method)["a"]
        assert found.exact
        assert found.lower == pytest.approx(expected[0], abs=tolerance), method
        assert found.upper == pytest.approx(expected[1], abs=tolerance), method


# Banks


VERSIONS = {
    "animals": ("20ba8aed16221674", "c6c64d9e5166f172"),
    "four-skills": ("f33d4605e84cf656", "efdf1b36b81e4ce7"),
    "fractions": ("dc5de39d63c04350", "8ec628d09fbb8f62"),
    "german": ("6bfde20469e72437", "8937efb99255054e"),
    "multiplication": ("90f26bec12ce9dee", "039ef7b172b295d6"),
    "single-skill-as-run": ("79a91fc7fc40c6f4", "edba14a981d739e6"),
    "single-skill": ("6066f519760e6d9a", "cec3705b31b2c4e9"),
}
WIDENED = {  # by 0.05
    "four-skills": ("bdfc7c50a92fc7f5", "f118501f6c672f6e"),
    "fractions": ("5cfa7a16eca52805", "ec87a341e9447e73"),
    "german": ("fa9c00064973026a", "57223dbe3426f5bf"),
}


@pytest.mark.parametrize("name", VERSIONS)
def test_the_versions_of_bundled_banks_stay(name):
    bank = qs.load(name)
    assert (bank.version, bank.model_version) == VERSIONS[name]
    if name in WIDENED:
        widened = bank.widen(0.05)
        assert (widened.version, widened.model_version) == WIDENED[name]


@pytest.mark.parametrize("tiny", [1e-17, *ENDS[1:]])
def test_small_numbers_of_a_bank_survive_copies_and_make_other_models(tiny, tmp_path):
    bank = bank_of([(0, tiny), (0.5, 0.75)], [0.5, 0.5])
    without = bank_of([(0, 0), (0.5, 0.75)], [0.5, 0.5])
    assert bank.model_version != without.model_version
    qs.dump(bank, tmp_path / "bank.yaml")
    explicit = bank.with_tables({"q": bank.questions["q"].table})
    for copy in (qs.load(tmp_path / "bank.yaml"), explicit, qs.Bank(explicit.document)):
        assert copy.questions["q"].table == bank.questions["q"].table
        assert copy.model_version == bank.model_version
    assert bank.widen(tiny).questions["q"].table.upper[0, 1] == near(2 * tiny)


def test_a_question_far_from_a_taker_is_not_impossible():
    """P(wrong) = 1 / (1 + exp(40)), not 1 - 1."""
    (wrong, right) = by_irt([40.0], 1.0, 0.0)[0]
    assert wrong == pytest.approx(np.exp(-40), rel=1e-9)
    assert right == 1.0
    graded = by_irt([50.0, -50.0], 1.0, [-1.0, 0.0, 2.0])
    for row, sign in zip(graded, (1, -1), strict=True):
        order = row[::sign]
        assert all(p > 0 for p in order)
        assert order[0] == pytest.approx(np.exp(-51 if sign == 1 else -52), rel=1e-6)
    assert by_difficulty(0.5, 1 - 1e-13, 2)[0] == pytest.approx(5e-14, rel=0.02)


@pytest.mark.parametrize("free", [[0, 1], [0, 0.5]])
def test_what_decimals_leave_of_one_is_no_probability(free):
    """In binary 0.7 + 0.2 + 0.1 is 2.8e-17 short of one: that is rounding, not a chance for a fourth level."""
    table = Table([0.7, 0.2, 0.1, free[0]], [0.8, 0.3, 0.2, free[1]])
    assert table.is_precise
    assert table.upper.tolist() == [0.7, 0.2, 0.1, 0]
    exact = [
        [p, q, round(1 - p - q, 10), [0, 1]] for p in np.arange(0.05, 0.95, 0.05).round(2) for q in np.arange(0.05, 1 - p, 0.05).round(2)
    ]
    for row in exact:
        lower, upper = ([end[k] if isinstance(end, list) else end for end in row] for k in (0, 1))
        assert Table(lower, upper).is_precise, row


def test_a_level_that_decimals_rule_out_is_ruled_out():
    rows = {"0": [1, 0], "1": [1, 0], "2": [1, 0], "3": [0, 1]}
    skills = {"a": {"levels": list("0123"), "prior": [[0.7, 0.8], [0.2, 0.3], [0.1, 0.2], [0, 1]]}}
    bank = qs.Bank({"skills": skills, "questions": {"x": {"skill": "a", "classes": ["w", "r"], "table": rows}}})
    assert bank.is_precise
    with pytest.raises(qs.AnswerError, match="probability zero"):
        qs.posterior(bank, {"x": "r"})
