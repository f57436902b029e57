"""How well a whole bank fits: moments against enumeration, M2 against closed forms and another program, levels and power."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import null_space
from scipy.stats import chi2, ncx2

import quaestor as qs
from oracles.learning import SMALL, draw, likelihood, profiles, school
from quaestor.learn import goodness as goodness_module
from quaestor.learn import limited as limited_module
from quaestor.learn.goodness import Goodness, goodness
from quaestor.learn.limited import Limited, left_over, limited
from quaestor.learn.moments import Scores, covariance, implied, jacobian, observed, pairs, scores
from quaestor.learn.skeleton import one_skill

SEED = 5


def rng():
    return np.random.default_rng(SEED)


def moment_functions(bank):
    """The moments as functions of answers, given as class numbers in the order of the bank."""
    tops = [len(question.classes) - 1 for question in bank.questions.values()]
    found = [lambda x, i=i: x[i] / tops[i] for i in range(len(tops))]
    return [*found, *(lambda x, i=i, j=j: x[i] / tops[i] * x[j] / tops[j] for i in range(len(tops)) for j in range(i + 1, len(tops)))]


def by_hand(bank):
    """Means and covariance of all moments over all answers that can be given."""
    listed = list(product(*(range(len(question.classes)) for question in bank.questions.values())))
    named = [{q.id: q.classes[x] for q, x in zip(bank.questions.values(), answers, strict=True)} for answers in listed]
    chance = np.array([sum(likelihood(bank, profile, answers) for profile in profiles(bank)) for answers in named])
    values = np.array([[one(answers) for one in moment_functions(bank)] for answers in listed])
    mean = chance @ values
    return mean, (values * chance[:, None]).T @ values - np.outer(mean, mean)


@pytest.mark.parametrize("name", list(SMALL))
def test_moments_by_hand(name):
    bank = SMALL[name]
    fit = qs.learn(bank, draw(bank, 40), iterations=1)
    own = scores(fit.layout, fit.tables)
    mean, spread = by_hand(fit.bank)
    assert implied(own) == pytest.approx(mean, abs=1e-9)
    assert covariance(own) == pytest.approx(spread, abs=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("name", list(SMALL))
def test_observed_moments_by_hand(name, missing):
    bank = SMALL[name]
    frame = draw(bank, 60, missing=missing)
    fit = qs.learn(bank, frame, iterations=1)
    found = observed(fit.layout, fit.people, np.arange(fit.layout.questions))
    points = pd.DataFrame(
        {q.id: frame[q.id].map({name: n / (len(q.classes) - 1) for n, name in enumerate(q.classes)}) for q in bank.questions.values()}
    ).astype(float)
    singles = points.mean().to_numpy()
    both = [(points.iloc[:, i] * points.iloc[:, j]).mean() for i, j in zip(*pairs(points.shape[1]), strict=True)]
    assert found.values == pytest.approx(np.concatenate([singles, both]))
    assert found.correlations == pytest.approx(points.corr().to_numpy())


def spans(columns, direction):
    """Whether a direction is a combination of the columns."""
    rest = direction - columns @ np.linalg.lstsq(columns, direction, rcond=None)[0]
    return np.abs(rest).max() < 1e-5 * max(np.abs(direction).max(), 1)


@pytest.mark.parametrize("options", [{}, {"tied": True}, {"shape": "curves"}, {"fixed": ["Q1"]}])
@pytest.mark.parametrize("name", list(SMALL))
def test_slopes_are_those_of_tables_learnt_a_little_further(name, options):
    """Tables after one step from other answers are in the span of the slopes; with all directions counted, there are no more of them."""
    bank = SMALL[name]
    fit = qs.learn(bank, draw(bank, 60), **options)
    some = np.arange(fit.layout.questions)
    columns = jacobian(fit, scores(fit.layout, fit.tables), some)
    count = {"shape": "curves", "tied": True}.keys() & options.keys()
    rows = sum(question.table.lower[..., 0].size for question in bank.questions.values() if question.id not in options.get("fixed", ()))
    skills = sum(skill.table.lower[..., 1:].size for skill in bank.skills.values())
    assert columns.shape[1] == rows + skills or count
    step = 1e-6
    for skill, table in enumerate(fit.tables.skills):
        moved = table.copy()
        moved[-1] += step * np.array([1, *[0] * (table.shape[1] - 2), -1])
        tables = type(fit.tables)((*fit.tables.skills[:skill], moved, *fit.tables.skills[skill + 1 :]), fit.tables.groups)
        assert spans(columns, (implied(scores(fit.layout, tables)) - implied(scores(fit.layout, fit.tables))) / step)
    if options:
        return
    for number, table in enumerate(fit.tables.groups):
        moved = table.copy()
        moved[-1, 0] += step * np.array([-1, *[0] * (table.shape[2] - 2), 1])
        tables = type(fit.tables)(fit.tables.skills, (*fit.tables.groups[:number], moved, *fit.tables.groups[number + 1 :]))
        assert spans(columns, (implied(scores(fit.layout, tables)) - implied(scores(fit.layout, fit.tables))) / step)


def test_slopes_of_curves_by_differences():
    from quaestor.learn.curves import numbers
    from quaestor.learn.curves import tables as curve_tables
    from quaestor.learn.moments import _slopes

    design = np.array([[1, -1.0], [1, 0.0], [1, 1.0]])
    found = np.array([[[0.3, 0.8], [-0.4, 0.5]]])
    table = curve_tables(found, design)
    points = np.array([0, 0.5, 1])
    slopes = _slopes(table[0], design)
    for number in range(4):
        moved = numbers(table, design)
        moved.reshape(-1)[number] += 1e-6
        assert slopes[:, number] == pytest.approx((curve_tables(moved, design)[0] @ points - table[0] @ points) / 1e-6, abs=1e-5)


LSAT7 = [12, 19, 1, 7, 3, 19, 3, 17, 10, 5, 3, 7, 7, 23, 8, 28, 7, 39, 11, 34, 14, 51, 15, 90, 6, 25, 7, 35, 18, 136, 32, 308]


def test_m2_is_that_of_mirt():
    """LSAT section 7 (Bock and Lieberman 1970), two-parameter model with the estimates in mirt's own tests; its M2 is 11.93769 there."""
    counts = np.array(LSAT7, float)
    answers = np.array([[int(bit) for bit in f"{number:05b}"] for number in range(32)])
    slope = np.array([0.9879254, 1.080885, 1.705801, 0.7651853, 0.735798])
    level = np.array([1.85606, 0.8079786, 1.804219, 0.4859966, 1.854513])
    ability = np.linspace(-6, 6, 201)
    share = np.exp(-(ability**2) / 2) / np.exp(-(ability**2) / 2).sum()
    right = 1 / (1 + np.exp(-(slope[:, None] * ability + level[:, None])))
    bank = Scores(share, right, right)
    first, second = pairs(5)
    seen = counts @ np.concatenate([answers, answers[:, first] * answers[:, second]], axis=1) / counts.sum()

    def moments(numbers):
        chance = 1 / (1 + np.exp(-(numbers[:5, None] * ability + numbers[5:, None])))
        return implied(Scores(share, chance, chance))

    numbers = np.concatenate([slope, level])
    slopes = np.stack([(moments(numbers + step) - moments(numbers - step)) / 2e-5 for step in 1e-5 * np.eye(10)], axis=1)
    statistic, df = left_over(seen - implied(bank), covariance(bank) / counts.sum(), slopes)
    assert statistic == pytest.approx(11.93769, abs=1e-4)
    assert df == 5


def test_without_skills_m2_is_people_times_squared_correlations():
    """Independent questions with free shares: M2 = N sum r^2 over pairs, one degree of freedom for each."""
    answers = rng().integers(0, 2, (200, 6)) | rng().integers(0, 2, (200, 1))
    right = answers.mean(axis=0)[:, None]
    bank = Scores(np.ones(1), right, right)
    first, second = pairs(6)
    seen = np.concatenate([answers.mean(axis=0), (answers[:, first] * answers[:, second]).mean(axis=0)])
    slopes = np.zeros((21, 6))
    slopes[:6] = np.eye(6)
    slopes[6 + np.arange(15), first] = right[second, 0]
    slopes[6 + np.arange(15), second] = right[first, 0]
    statistic, df = left_over(seen - implied(bank), covariance(bank) / 200, slopes)
    assert df == 15
    assert statistic == pytest.approx(200 * (np.corrcoef(answers.T)[first, second] ** 2).sum())


def test_what_is_left_over_by_the_orthogonal_complement():
    """M2 as in Maydeu-Olivares and Joe: e' C (C' V C)^-1 C' e, with C orthogonal to the slopes, also if these depend on one another."""
    random = rng()
    half = random.normal(size=(9, 9))
    spread, apart, slopes = half @ half.T, random.normal(size=9), random.normal(size=(9, 3))
    slopes = np.column_stack([slopes, slopes[:, 0] - slopes[:, 2], np.zeros(9)])
    beside = null_space(slopes.T)
    statistic, df = left_over(apart, spread, slopes)
    assert df == 6
    assert statistic == pytest.approx(apart @ beside @ np.linalg.solve(beside.T @ spread @ beside, beside.T @ apart))


def test_rmsea_and_its_interval():
    fit = qs.learn(one_skill(school(), 2), draw(school(), 400))
    found = limited(fit, observed(fit.layout, fit.people, np.arange(24)), scores(fit.layout, fit.tables))
    assert found.df == 300 - 48
    assert found.chance == pytest.approx(chi2.sf(found.statistic, found.df))
    assert found.rmsea == pytest.approx(np.sqrt((found.statistic - found.df) / (400 * found.df)))
    for end, tail in zip(found.interval, (0.95, 0.05), strict=True):
        assert ncx2.cdf(found.statistic, found.df, 400 * found.df * end**2) == pytest.approx(tail, abs=1e-6)


def test_missing_answers_count_pair_by_pair():
    """Empty cells at random: as with all answers, but with fewer people; a whole table read as if it had gaps gives the same."""
    bank, frame = school(), draw(school(), 400)
    fit = qs.learn(bank, frame)
    seen, own = observed(fit.layout, fit.people, np.arange(24)), scores(fit.layout, fit.tables)
    whole = limited(fit, seen, own)
    seen.both[0, 0] -= 1  # so that it is no longer taken as complete
    assert limited(fit, seen, own).statistic == pytest.approx(whole.statistic)
    gaps = goodness(qs.learn(bank, draw(bank, 400, missing=0.3)), rng())
    assert gaps.verdict == "fits"
    assert gaps.srmsr == pytest.approx(gaps.by_chance, rel=0.2)
    assert gaps.by_chance > goodness(fit, rng()).by_chance


def test_few_questions_leave_no_test():
    bank = SMALL["one skill"]
    found = goodness(qs.learn(bank, draw(bank, 100)), rng())
    assert found.test is None
    assert found.verdict == "fits"
    assert len(found.words) == 2


def test_a_bank_that_is_right_fits():
    found = goodness(qs.learn(school(), draw(school(), 400)), rng())
    assert found.words[0] == "On the whole the bank fits."
    assert found.srmsr == pytest.approx(found.by_chance, rel=0.15)
    assert found.pairs == 24 * 23 / 2
    assert found == goodness(qs.learn(school(), draw(school(), 400)), rng()), "the same draws, the same result"


def test_one_skill_where_two_are_true_does_not_fit():
    found = goodness(qs.learn(one_skill(school(), 3), draw(school(), 1000)), rng())
    assert found.verdict in ("close", "misfit")
    assert found.both < 1e-3
    assert found.srmsr > 1.3 * found.by_chance
    assert found.words[0].startswith("On the whole the bank")
    assert "fits." not in found.words[0]


def test_many_people_are_drawn_in_part():
    """Of 1,500 people 1,000 are drawn, and what chance makes is scaled."""
    found = goodness(qs.learn(school(), draw(school(), 1500)), rng())
    assert found.srmsr == pytest.approx(found.by_chance, rel=0.15)


def adaptive(bank, people):
    """The second half of the questions depends on the answers to the first."""
    frame = draw(bank, people)
    good = (frame.iloc[:, :12] == "right").sum(axis=1) >= 6
    frame.loc[good, ["Q13", "Q15", "Q17"]] = None
    frame.loc[~good, ["Q14", "Q16", "Q18"]] = None
    return frame


def test_an_adaptive_test_is_not_judged():
    found = goodness(qs.learn(school(), adaptive(school(), 400)), rng())
    assert found.verdict == "unknown"
    assert found.words == (
        "How well the bank fits on the whole cannot be told: which questions people answered depends on how well they do, as in an adaptive"
        " test.",
    )


def test_too_few_people_and_too_many_levels_are_not_judged(monkeypatch):
    fit = qs.learn(school(), draw(school(), 20))
    assert goodness(fit, rng()).words == (
        "How well the bank fits on the whole cannot be told: no two questions were both answered by 30 people.",
    )
    monkeypatch.setattr(goodness_module, "JOINT", 2)
    assert goodness(fit, rng()).words == ("How well the bank fits on the whole is not told for so many combinations of levels.",)
    monkeypatch.undo()
    monkeypatch.setattr(limited_module, "PROFILES", 2)
    fit = qs.learn(school(), draw(school(), 40))
    assert goodness(fit, rng()).test is None


def test_where_replicates_would_take_long_there_are_none(monkeypatch):
    """What chance makes is then told about: within a tenth of that over replicates; only M2 is tested."""
    fit = qs.learn(school(), draw(school(), 400))
    exact = goodness(fit, rng())
    monkeypatch.setattr(goodness_module, "REPLICATED", 2)
    found = goodness(fit, rng())
    assert found.chance is None
    assert found.both == found.test.chance
    assert found.by_chance == pytest.approx(exact.by_chance, rel=0.1)
    assert "(about)" in found.words[1]
    monkeypatch.setattr(limited_module, "PROFILES", 2)
    assert goodness(fit, rng()).both == 1
    assert goodness(fit, rng()).verdict == "close"


def test_a_large_bank_is_tested_in_part(monkeypatch):
    monkeypatch.setattr(limited_module, "QUESTIONS", 10)
    fit = qs.learn(school(), draw(school(), 200))
    assert goodness(fit, rng()).test.questions == 10


def test_words_of_the_four_verdicts():
    test = Limited(150.0, 100, 0.001, 0.03, (0.01, 0.05), 20)
    close = Goodness(0.05, 0.04, 0.2, 190, 400, test)
    assert close.verdict == "close"
    assert close.both == pytest.approx(0.002)
    assert close.words == (
        "On the whole the bank nearly fits: more is off than by chance, but little.",
        "Correlations between questions are off by 0.050 on average (SRMSR); if the bank were right, chance would make 0.040 (p = 0.200)."
        " As a rule of thumb up to 0.05 is called a close fit.",
        "Test from the shares of right answers to one and to two of 20 questions: M2 = 150.0 with 100 degrees of freedom, p = 0.001;"
        " size RMSEA2 = 0.030, between 0.010 and 0.050.",
    )
    assert Goodness(0.08, 0.04, 0.001, 190, 400, None).verdict == "misfit"
    assert Goodness(0.05, 0.04, 0.04, 190, 400, test).beyond == pytest.approx(0.03)
    assert Goodness(0.03, 0.04, 0.04, 190, 400, test).beyond == 0


def test_answers_that_hardly_vary_are_not_judged():
    frame = draw(school(), 60)
    frame.iloc[:, :] = "wrong"
    assert goodness(qs.learn(school(), frame), rng()).words == (
        "How well the bank fits on the whole cannot be told: the answers hardly vary.",
    )


@pytest.mark.long
def test_of_banks_that_are_right_few_are_blamed():
    """Of 60 at the level of .05: 3 are expected, more than 8 have a chance below .01."""
    blamed = sum(goodness(qs.learn(school(seed), draw(school(seed), 300, seed)), rng()).both < 0.05 for seed in range(60))
    assert blamed <= 8


def test_empty_cells_of_many_people_are_counted_by_a_part(monkeypatch):
    fit = qs.learn(school(), draw(school(), 800, 3, missing=0.3))
    whole = goodness(fit, np.random.default_rng(0)).test
    monkeypatch.setattr(limited_module, "PATTERNS", 400)
    part = goodness(fit, np.random.default_rng(0)).test
    assert (part.df, part.questions) == (whole.df, whole.questions)
    assert part.statistic == pytest.approx(whole.statistic, rel=0.05)  # numbers in common differ by some percent
