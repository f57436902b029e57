"""Statements become probabilities by the formulas that are documented."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from quaestor.bankfile import elicit
from quaestor.errors import StatementError

unit = st.floats(0, 1)
level_counts = st.integers(2, 6)


def refusal(function, *arguments):
    """The words with which a statement is refused."""
    with pytest.raises(StatementError) as caught:
        function(*arguments)
    return str(caught.value)


# Words and numbers


DIFFICULTY = {"very easy": 0.3, "easy": 0.4, "medium": 0.5, "hard": 0.6, "very hard": 0.7}
DISCRIMINATION = {"weak": 0.2, "fair": 0.4, "strong": 0.55}
CONFIDENCE = {"certain": 0, "sure": 0.02, "fairly sure": 0.05, "unsure": 0.1, "very unsure": 0.2}
CHANCE = {"impossible": 0, "almost impossible": 0.02, "very unlikely": 0.1, "unlikely": 0.25, "even": 0.5, "likely": 0.75}
CHANCE |= {"very likely": 0.9, "almost certain": 0.98, "certain": 1}


def test_the_words_stand_for_their_documented_numbers():
    assert elicit.DIFFICULTY == DIFFICULTY
    assert elicit.DISCRIMINATION == DISCRIMINATION
    assert elicit.CONFIDENCE == CONFIDENCE
    assert elicit.CHANCE == CHANCE


@pytest.mark.parametrize("words", [elicit.DIFFICULTY, elicit.DISCRIMINATION, elicit.CONFIDENCE, elicit.CHANCE])
def test_the_words_of_a_scale_rise(words):
    assert list(words.values()) == sorted(set(words.values()))


@pytest.mark.parametrize("difficulty", DIFFICULTY)
@pytest.mark.parametrize("discrimination", DISCRIMINATION)
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_every_pair_of_words_gives_probabilities(difficulty, discrimination, levels):
    rights = elicit.by_difficulty(difficulty, discrimination, levels)
    assert len(rights) == levels
    assert all(0 < p < 1 for p in rights)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (0.3, 0.3),
        (1, 1.0),
        ("likely", 0.75),
        (" Very  LIKELY ", 0.9),
        ("0.3", 0.3),
        ("30%", 0.3),
        ("1/4", 0.25),
        ("0,25", 0.25),
        ("½", 0.5),
    ],
)
def test_a_value_is_a_number_or_a_word(written, value):
    assert elicit.word_value(written, elicit.CHANCE, "a probability") == value
    assert elicit.chance(written) == (value, value)


@pytest.mark.parametrize(
    ("words", "what", "word", "message"),
    [
        (
            elicit.DIFFICULTY,
            "difficulty",
            "esay",
            "difficulty is a number or one of: very easy, easy, medium, hard, very hard, got 'esay' (did you mean 'easy'?)",
        ),
        (elicit.DISCRIMINATION, "discrimination", "huge", "discrimination is a number or one of: weak, fair, strong, got 'huge'"),
        (
            elicit.CONFIDENCE,
            "confidence",
            "shure",
            "confidence is a number or one of: certain, sure, fairly sure, unsure, very unsure, got 'shure' (did you mean 'sure'?)",
        ),
        (
            elicit.CHANCE,
            "a probability",
            "",
            "a probability is a number or one of: impossible, almost impossible, very unlikely, unlikely, even, likely, very likely, "
            "almost certain, certain, got ''",
        ),
    ],
)
def test_an_unknown_word_is_refused(words, what, word, message):
    assert refusal(elicit.word_value, word, words, what) == message


# One probability


@pytest.mark.parametrize(
    ("stated", "ends"),
    [
        ([0.2, 0.3], (0.2, 0.3)),
        (("unlikely", "even"), (0.25, 0.5)),
        (["10%", "1/2"], (0.1, 0.5)),
        ([0.4, 0.4], (0.4, 0.4)),
        ([0, 1], (0, 1)),
    ],
)
def test_a_pair_is_an_interval(stated, ends):
    assert elicit.chance(stated) == ends


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        (1.5, "a probability lies between 0 and 1, got 1.5"),
        ("150%", "a probability lies between 0 and 1, got '150%'"),
        (-0.1, "a probability lies between 0 and 1, got -0.1"),
        (math.nan, "a probability lies between 0 and 1, got nan"),
        ([0.5, 1.5], "a probability lies between 0 and 1, got 1.5"),
        ([0.6, 0.5], "an interval's lower end is not above its upper end, got [0.6, 0.5]"),
        (["likely", "unlikely"], "an interval's lower end is not above its upper end, got ['likely', 'unlikely']"),
        ([0.5], "an interval is a pair of a lower and an upper end, got [0.5]"),
        ([], "an interval is a pair of a lower and an upper end, got []"),
        ((0.1, 0.2, 0.3), "an interval is a pair of a lower and an upper end, got (0.1, 0.2, 0.3)"),
    ],
)
def test_what_is_no_probability_is_refused(stated, message):
    assert refusal(elicit.chance, stated) == message


# Difficulty and discrimination


def test_difficulty_and_discrimination_of_the_paper():
    # The nine templates of the single-skill study: (delta, kappa) in {.4, .5, .6}^2.
    rows = [elicit.by_difficulty(delta, kappa, 2) for delta in (0.4, 0.5, 0.6) for kappa in (0.4, 0.5, 0.6)]
    assert rows == [[0.4, 0.8], [0.35, 0.85], [0.3, 0.9], [0.3, 0.7], [0.25, 0.75], [0.2, 0.8], [0.2, 0.6], [0.15, 0.65], [0.1, 0.7]]


@given(unit, unit, level_counts)
def test_difficulty_is_the_mean_share_wrong_and_discrimination_the_rise(delta, share, levels):
    kappa = share * 2 * min(delta, 1 - delta)
    rights = elicit.by_difficulty(delta, kappa, levels)
    digits = 1e-12 * levels  # each probability is rounded to 12 digits
    assert sum(rights) / levels == pytest.approx(1 - delta, abs=digits)
    assert rights[-1] - rights[0] == pytest.approx(kappa, abs=digits)
    steps = [high - low for low, high in pairwise(rights)]
    assert steps == pytest.approx([kappa / (levels - 1)] * (levels - 1), abs=digits)


@given(unit, unit, unit, level_counts)
def test_a_harder_question_is_answered_right_less_often(first, second, share, levels):
    easy, hard = sorted([first, second])
    kappa = share * 2 * min(easy, 1 - easy, hard, 1 - hard)
    rights = zip(elicit.by_difficulty(easy, kappa, levels), elicit.by_difficulty(hard, kappa, levels), strict=True)
    assert all(of_hard <= of_easy for of_easy, of_hard in rights)


def test_numbers_are_as_people_write_them():
    assert elicit.by_difficulty(0.4, 0.4, 2) == [0.4, 0.8]  # 1 - 0.4 - 0.2 is 0.39999999999999997 in floats
    assert elicit.by_difficulty("easy", "fair", 3) == [0.4, 0.6, 0.8]
    assert elicit.by_difficulty(0.3, 0.6, 2) == [0.4, 1.0]  # the largest discrimination, though 0.7 + 0.3 > 2 * 0.3 in floats


@pytest.mark.parametrize(
    ("difficulty", "discrimination", "message"),
    [
        (1.2, 0.1, "difficulty lies between 0 and 1, got 1.2"),
        ("-10%", 0.1, "difficulty lies between 0 and 1, got '-10%'"),
        (0.9, "fair", "at difficulty 0.9 discrimination lies between 0 and 0.2, got 'fair'"),
        (0.5, 1.001, "at difficulty 0.5 discrimination lies between 0 and 1, got 1.001"),
        ("medium", -0.1, "at difficulty 0.5 discrimination lies between 0 and 1, got -0.1"),
    ],
)
def test_impossible_difficulties_and_discriminations_are_refused(difficulty, discrimination, message):
    assert refusal(elicit.by_difficulty, difficulty, discrimination, 2) == message


# Slip and guess


SLIP, GUESS = (0.1, 0.2), (0.05, 0.25)
ABLE = (0.8, 0.9)
TWO_SKILLS = [[False, True], [False, False, True]]


def test_all_skills_needed_leaves_one_combination_able():
    assert elicit.by_needs(TWO_SKILLS, "all", SLIP, GUESS) == [GUESS] * 5 + [ABLE]


def test_any_skill_needed_leaves_one_combination_for_each_way_to_lack_all():
    assert elicit.by_needs(TWO_SKILLS, "any", SLIP, GUESS) == [GUESS, GUESS, ABLE, ABLE, ABLE, ABLE]


def test_one_skill_is_all_and_any():
    assert elicit.by_needs([[False, True, True]], "all", SLIP, GUESS) == elicit.by_needs([[False, True, True]], "any", SLIP, GUESS)


@given(st.lists(st.lists(st.booleans(), min_size=2, max_size=3), min_size=1, max_size=3), unit, unit)
def test_needs_are_the_noisy_and_and_the_noisy_or(has, slip, guess):
    rows = {needs: elicit.by_needs(has, needs, (slip, slip), (guess, guess)) for needs in ("all", "any")}
    sizes = [len(levels) for levels in has]
    for number in range(math.prod(sizes)):
        rest, levels = number, []
        for size in reversed(sizes):  # the last skill varies fastest
            rest, level = divmod(rest, size)
            levels.insert(0, level)
        enough = sum(has[skill][level] for skill, level in enumerate(levels))
        assert rows["all"][number] == ((1 - slip,) * 2 if enough == len(has) else (guess, guess))
        assert rows["any"][number] == ((1 - slip,) * 2 if enough else (guess, guess))


def test_needs_is_all_or_any():
    assert refusal(elicit.by_needs, TWO_SKILLS, "both", SLIP, GUESS) == "needs is 'all' or 'any', got 'both'"


# Item response theory


@given(level_counts)
def test_abilities_are_the_medians_of_equal_shares_of_the_normal_distribution(levels):
    assert elicit.abilities(levels) == pytest.approx([norm.ppf((k + 0.5) / levels) for k in range(levels)], abs=1e-9)


def test_abilities_of_two_and_three_levels():
    assert elicit.abilities(2) == pytest.approx([-0.6744897501960817, 0.6744897501960817])
    assert elicit.abilities(3) == pytest.approx([-0.9674215661017014, 0, 0.9674215661017014])


thetas = st.lists(st.floats(-5, 5), min_size=1, max_size=4)


@given(thetas, st.floats(0.1, 5), st.floats(-5, 5), st.floats(0, 0.9))
def test_three_parameters_give_the_logistic_curve(theta, a, b, c):
    rows = elicit.by_irt(theta, a, b, c)
    assert [row[1] for row in rows] == pytest.approx([c + (1 - c) / (1 + math.exp(-a * (x - b))) for x in theta], abs=1e-12)
    assert [sum(row) for row in rows] == pytest.approx([1] * len(theta), abs=1e-12)


@given(thetas, st.floats(0.1, 5), st.lists(st.floats(-5, 5), min_size=1, max_size=4, unique=True).map(sorted))
def test_the_graded_model_gives_the_logistic_curve_of_each_threshold(theta, a, thresholds):
    for x, row in zip(theta, elicit.by_irt(theta, a, thresholds), strict=True):
        assert len(row) == len(thresholds) + 1
        assert all(p >= 0 for p in row)
        tails = [sum(row[j:]) for j in range(1, len(row))]
        assert tails == pytest.approx([1 / (1 + math.exp(-a * (x - b))) for b in thresholds], abs=1e-12)


def test_one_threshold_in_a_list_is_the_two_parameter_model():
    assert elicit.by_irt([-1, 0, 2], 1.3, [0.4]) == elicit.by_irt([-1, 0, 2], 1.3, 0.4)


def test_extreme_abilities_are_no_overflow():
    assert elicit.by_irt([-1e9, 1e9], 1e9, 0.0) == [[1, 0], [0, 1]]


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0.1, 3), st.floats(-3, 3), st.floats(0, 0.5))
def test_the_more_able_are_right_more_often(first, second, a, b, c):
    low, high = sorted([first, second])
    (_, less), (_, more) = elicit.by_irt([low, high], a, b, c)
    assert less <= more


@pytest.mark.parametrize(
    ("a", "b", "c", "message"),
    [
        (0, 0, 0, "the discrimination a is positive, got 0"),
        (-1.5, 0, 0, "the discrimination a is positive, got -1.5"),
        (1, 0, 1, "the guessing parameter c lies between 0 and 1, got 1"),
        (1, 0, -0.1, "the guessing parameter c lies between 0 and 1, got -0.1"),
        (1, [0, 1], 0.2, "the graded model has no guessing parameter c, got 0.2"),
        (1, [1, 0], 0, "the thresholds b rise, got [1, 0]"),
        (1, [0, 0], 0, "the thresholds b rise, got [0, 0]"),
        (1, [], 0, "the thresholds b rise, got []"),
    ],
)
def test_impossible_parameters_are_refused(a, b, c, message):
    assert refusal(elicit.by_irt, [0.0], a, b, c) == message


# Priors and chains


def test_shares_are_divided_by_their_sum():
    assert elicit.by_shares([5, 12, 8]) == [0.2, 0.48, 0.32]
    assert elicit.by_shares([0, 3]) == [0, 1]
    assert elicit.by_shares([0.5, 1.5]) == [0.25, 0.75]


@pytest.mark.parametrize("shares", [[0, 0], [1, -1], [2, -1], [1, math.inf], [1, math.nan], []])
def test_shares_of_nothing_are_refused(shares):
    assert refusal(elicit.by_shares, shares) == f"shares are not negative and not all zero, got {shares}"


PRIORS = {
    "even": {2: [1 / 2, 1 / 2], 3: [1 / 3] * 3, 5: [1 / 5] * 5},
    "mostly low": {2: [2 / 3, 1 / 3], 3: [3 / 6, 2 / 6, 1 / 6], 5: [5 / 15, 4 / 15, 3 / 15, 2 / 15, 1 / 15]},
    "mostly middle": {2: [1 / 2, 1 / 2], 3: [1 / 4, 2 / 4, 1 / 4], 5: [1 / 9, 2 / 9, 3 / 9, 2 / 9, 1 / 9]},
    "mostly high": {2: [1 / 3, 2 / 3], 3: [1 / 6, 2 / 6, 3 / 6], 5: [1 / 15, 2 / 15, 3 / 15, 4 / 15, 5 / 15]},
}


def test_every_prior_word_is_known():
    assert list(PRIORS) == list(elicit.PRIOR)


@pytest.mark.parametrize("word", PRIORS)
@pytest.mark.parametrize("levels", [2, 3, 5])
def test_a_prior_in_words(word, levels):
    assert elicit.by_prior_word(word, levels) == pytest.approx(PRIORS[word][levels])
    assert elicit.by_prior_word(f" {word.upper()}  ", levels) == elicit.by_prior_word(word, levels)


def test_an_unknown_prior_word_is_refused():
    known = "a prior is a list of probabilities or one of: even, mostly low, mostly middle, mostly high"
    assert refusal(elicit.by_prior_word, "mostly hihg", 2) == f"{known}, got 'mostly hihg' (did you mean 'mostly high'?)"
    assert refusal(elicit.by_prior_word, "0.5", 2) == f"{known}, got '0.5'"


def test_strength_between_skills_of_two_levels():
    assert np.array(elicit.by_strength([2], 2, 0.6)) == pytest.approx(np.array([[0.8, 0.2], [0.2, 0.8]]))
    assert elicit.by_strength([2], 2, 0) == [[0.5, 0.5], [0.5, 0.5]]
    assert elicit.by_strength([2], 2, 1) == [[1, 0], [0, 1]]


def test_strength_between_skills_of_different_levels():
    # Level 1 of 3 is half way up: between levels 1 and 2 of 4, which share it. Level 1 of 2 is at the top.
    assert elicit.by_strength([3], 4, 1) == [[1, 0, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 1]]
    assert np.array(elicit.by_strength([2], 3, 0.4)) == pytest.approx(np.array([[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]]))


def test_strength_of_two_parents_is_the_mean_of_their_rows():
    assert elicit.by_strength([2, 2], 2, 1) == [[1, 0], [0.5, 0.5], [0.5, 0.5], [0, 1]]
    # The last parent varies fastest: low and middle, low and high.
    assert elicit.by_strength([2, 3], 3, 1)[1:3] == [[0.5, 0.5, 0], [0.5, 0, 0.5]]


@given(st.lists(level_counts, min_size=1, max_size=2), level_counts, unit)
def test_strength_gives_a_distribution_for_each_combination(parents, levels, strength):
    rows = elicit.by_strength(parents, levels, strength)
    assert len(rows) == math.prod(parents)
    assert [sum(row) for row in rows] == pytest.approx([1] * len(rows), abs=1e-12)
    assert all(p >= 0 for row in rows for p in row)


@given(level_counts, level_counts, unit)
def test_a_higher_parent_means_a_higher_child(parent, levels, strength):
    means = [sum(level * p for level, p in enumerate(row)) for row in elicit.by_strength([parent], levels, strength)]
    # The expected height of the child is a straight line in the height of the parent, as steep as the strength.
    rise = strength * (levels - 1) / (parent - 1)
    assert [high - low for low, high in pairwise(means)] == pytest.approx([rise] * (parent - 1), abs=1e-12)


@pytest.mark.parametrize("strength", [-0.1, 1.5])
def test_strength_is_a_share(strength):
    assert refusal(elicit.by_strength, [2], 2, strength) == f"strength lies between 0 and 1, got {strength}"


# Confidence


@pytest.mark.parametrize("word", CONFIDENCE)
def test_confidence_in_words(word):
    assert elicit.by_confidence(word) == CONFIDENCE[word]


def test_confidence_in_numbers():
    assert [elicit.by_confidence(stated) for stated in (0, 0.03, "5%", 0.5)] == [0, 0.03, 0.05, 0.5]


@pytest.mark.parametrize(("stated", "shown"), [(0.6, "0.6"), (-0.1, "-0.1"), ("60%", "'60%'"), (math.nan, "nan")])
def test_confidence_is_at_most_one_half(stated, shown):
    assert refusal(elicit.by_confidence, stated) == f"confidence is a half-width between 0 and 0.5, or a word, got {shown}"
