"""Elicitation: probabilities from a few plain statements.

Each function turns a statement that an author can make (how difficult, how discriminating, which skills are needed, how sure) into
probabilities, by the formula in its docstring. The words and their numbers are in the dictionaries below; they are conventions of the bank
format, not measurements.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from statistics import NormalDist

from quaestor.errors import StatementError, format_value, nearest
from quaestor.i18n import say
from quaestor.numerals import read_number

Interval = tuple[float, float]

DIFFICULTY = {"very easy": 0.3, "easy": 0.4, "medium": 0.5, "hard": 0.6, "very hard": 0.7}
DISCRIMINATION = {"weak": 0.2, "fair": 0.4, "strong": 0.55}
CONFIDENCE = {"certain": 0.0, "sure": 0.02, "fairly sure": 0.05, "unsure": 0.1, "very unsure": 0.2}
CHANCE = {
    "impossible": 0.0,
    "almost impossible": 0.02,
    "very unlikely": 0.1,
    "unlikely": 0.25,
    "even": 0.5,
    "likely": 0.75,
    "very likely": 0.9,
    "almost certain": 0.98,
    "certain": 1.0,
}
A_PROBABILITY, A_DIFFICULTY, A_DISCRIMINATION = say("a probability"), say("difficulty"), say("discrimination")
PRIOR = ("even", "mostly low", "mostly middle", "mostly high")


def word_value(value: float | str, words: Mapping[str, float], what: str) -> float:
    """The number that a value stands for: a number, a word of the scale `words`, or a text such as `1/3` or `30%`."""
    if not isinstance(value, str):
        return float(value)
    found = words.get(" ".join(value.lower().split()))
    if found is not None:
        return found
    number = read_number(value)
    if number is None:
        rule = say("{what} is a number or one of: {words}", what=what, words=", ".join(words))
        raise StatementError(rule, format_value(value), nearest(value, words))
    return float(number)


def is_word(value: float | str) -> bool:
    """Whether a value is a word, not a number or a text such as `30%`."""
    return isinstance(value, str) and read_number(value) is None


def chance(value: float | str | Sequence[float | str]) -> Interval:
    """A probability as an interval: a number, a word of the verbal scale, or a pair (lower, upper) of these."""
    if isinstance(value, (list, tuple)):
        if len(value) != 2:
            raise StatementError(say("an interval is a pair of a lower and an upper end"), format_value(value))
        low, high = (chance(end)[0] for end in value)
    else:
        low = high = word_value(value, CHANCE, A_PROBABILITY)  # type: ignore[arg-type]  # narrowed: not a sequence
    if not (0 <= low <= 1 and 0 <= high <= 1):
        raise StatementError(say("a probability lies between 0 and 1"), format_value(value))
    if low > high:
        raise StatementError(say("an interval's lower end is not above its upper end"), format_value(value))
    return low, high


def by_difficulty(difficulty: float | str, discrimination: float | str, levels: int) -> list[float]:
    """P(right | level k) = 1 - delta + kappa (k / (levels - 1) - 1/2), for each level.

    delta (difficulty) is the mean of P(wrong) over the levels, kappa (discrimination) is P(right | highest) - P(right | lowest), as in the
    paper, where there are two levels.
    """
    delta = word_value(difficulty, DIFFICULTY, A_DIFFICULTY)
    kappa = word_value(discrimination, DISCRIMINATION, A_DISCRIMINATION)
    if not 0 <= delta <= 1:
        raise StatementError(say("difficulty lies between 0 and 1"), format_value(difficulty))
    largest = 2 * min(delta, 1 - delta)
    if not 0 <= kappa <= largest + 1e-12:
        rule = say("at difficulty {difficulty:g} discrimination lies between 0 and {most:g}", difficulty=delta, most=largest)
        raise StatementError(rule, format_value(discrimination))
    steps = [k / (levels - 1) - 0.5 for k in range(levels)]
    return [min(1.0, max(0.0, round(1 - delta + kappa * step, 15))) for step in steps]  # 0.4, not 0.39999999999999997


def graded(low: float, high: float, classes: int) -> list[Interval]:
    """Bounds of P(class), worst first, where the mean share of the points is p, low <= p <= high, and a class is worth its place.

    Of m = classes - 1 steps each is done with chance p. If they are independent their number is binomial, B(j) = C(m, j) p^j
    (1 - p)^(m - j); if they hang together it is all or none. How much they do so nobody said: P = (1 - s) B + s (all or none) for each s in
    [0, 1/2], whose mean is p for every s. With two classes both are the same, so that P(right) = p.
    """
    last = classes - 1

    def binomial(place: int, p: float) -> float:
        return math.comb(last, place) * p**place * (1 - p) ** (last - place)

    def end(low: float, high: float) -> Interval:
        return low**last, (high**last + high) / 2

    between = []
    for place in range(1, last):
        peak = min(max(place / last, low), high)
        between.append((min(binomial(place, low), binomial(place, high)) / 2, binomial(place, peak)))
    return [end(1 - high, 1 - low), *between, end(low, high)]


def by_needs(has: Sequence[Sequence[bool]], needs: str, slip: Interval, guess: Interval) -> list[Interval]:
    """P(right) for each combination of levels, the last skill varying fastest: 1 - slip for those who can, guess for the others.

    `has[i][k]`: whether level k of skill i is enough. Those who can are those with enough of all skills (`needs="all"`, the DINA or
    noisy-AND model) or of at least one (`needs="any"`, DINO or noisy-OR).
    """
    if needs not in ("all", "any"):
        raise StatementError(say("needs is 'all' or 'any'"), format_value(needs))
    can = all if needs == "all" else any
    able = (1 - slip[1], 1 - slip[0])
    return [able if can(enough) else guess for enough in product(*has)]


def abilities(levels: int) -> list[float]:
    """The abilities of levels in item response theory: theta_k = Phi^-1((k + 1/2) / levels), the medians of equal shares of N(0, 1)."""
    return [NormalDist().inv_cdf((k + 0.5) / levels) for k in range(levels)]


def by_irt(theta: Sequence[float], a: float, b: float | Sequence[float], c: float = 0.0) -> list[list[float]]:
    """The probabilities of the classes at each ability, (abilities, classes): the 1PL to 3PL models, or, for a list `b`, the graded
    response model.

    P(right | theta) = c + (1 - c) / (1 + exp(-a (theta - b))); graded: P(class >= j | theta) = 1 / (1 + exp(-a (theta - b_j))),
    b_1 < b_2 < ...; there is one more class than thresholds.
    """
    if a <= 0:
        raise StatementError(say("the discrimination a is positive"), format_value(a))
    if not 0 <= c < 1:
        raise StatementError(say("the guessing parameter c lies between 0 and 1"), format_value(c))
    graded = isinstance(b, (list, tuple))
    thresholds: list[float] = [float(x) for x in b] if isinstance(b, (list, tuple)) else [float(b)]  # type: ignore[arg-type]
    if graded and c:
        raise StatementError(say("the graded model has no guessing parameter c"), format_value(c))
    if not thresholds or any(low >= high for low, high in pairwise(thresholds)):
        raise StatementError(say("the thresholds b rise"), format_value(b))
    rows = []
    for ability in theta:
        at_least = [1.0, *(c + (1 - c) * _logistic(a * (ability - threshold)) for threshold in thresholds), 0.0]
        below = [0.0, *((1 - c) * _logistic(a * (threshold - ability)) for threshold in thresholds), 1.0]
        ends = zip(pairwise(at_least), pairwise(below), strict=True)  # differences of small numbers: 1 - P(right) would be 0, not 1e-17
        rows.append([high - low if high <= 0.5 else above - under for (high, low), (under, above) in ends])
    return rows


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def by_shares(shares: Sequence[float]) -> list[float]:
    """A prior from counts or percentages: each of them divided by their sum."""
    total = sum(shares)
    if any(share < 0 for share in shares) or not 0 < total < math.inf:
        raise StatementError(say("shares are not negative and not all zero"), format_value(list(shares)))
    return [share / total for share in shares]


def by_prior_word(word: str, levels: int) -> list[float]:
    """A prior from a word: `even` is proportional to 1, ..., 1, `mostly low` to m, ..., 1, `mostly high` to 1, ..., m, and `mostly middle`
    to 1, 2, ..., 2, 1.
    """
    weights = {
        "even": [1.0] * levels,
        "mostly low": [float(levels - k) for k in range(levels)],
        "mostly middle": [1.0 + min(k, levels - 1 - k) for k in range(levels)],
        "mostly high": [1.0 + k for k in range(levels)],
    }
    wanted = " ".join(word.lower().split())
    if wanted not in weights:
        rule = say("a prior is a list of probabilities or one of: {words}", words=", ".join(PRIOR))
        raise StatementError(rule, format_value(word), nearest(wanted, PRIOR))
    return by_shares(weights[wanted])


def by_strength(parent_levels: Sequence[int], levels: int, strength: float) -> list[list[float]]:
    """The table of a skill with parents from one number: a row for each combination of the parents' levels, (rows, levels).

    With one parent at level i of n, the row is strength * near(i) + (1 - strength) / levels, where near(i) has all its mass at the relative
    height i / (n - 1), divided linearly between the two nearest levels; with several parents it is the mean of these rows. Strength 0 means
    independence, 1 the same relative height with certainty; 0.6 between skills of two levels gives 0.8 and 0.2.
    """
    if not 0 <= strength <= 1:
        raise StatementError(say("strength lies between 0 and 1"), format_value(strength))

    def near(level: int, parent: int) -> list[float]:
        height = level / (parent - 1) * (levels - 1)
        return [max(0.0, 1 - abs(height - k)) for k in range(levels)]

    rows = []
    for combination in product(*(range(parent) for parent in parent_levels)):
        masses = [near(level, parent) for level, parent in zip(combination, parent_levels, strict=True)]
        rows.append([strength * sum(mass) / len(masses) + (1 - strength) / levels for mass in zip(*masses, strict=True)])
    return rows


def by_confidence(confidence: float | str) -> float:
    """The half-width of the intervals around the author's numbers, from a number between 0 and 1/2 or a word."""
    width = word_value(confidence, CONFIDENCE, say("confidence"))
    if not 0 <= width <= 0.5:
        raise StatementError(say("confidence is a half-width between 0 and 0.5, or a word"), format_value(confidence))
    return width
