"""Metrics and what simulations sum up, against slow loops."""

import math
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import quaestor as qs
from helpers import sessions
from quaestor.errors import QuaestorError
from quaestor.model.table import centre, row_vertices
from quaestor.simulate import expected, simulate
from quaestor.simulate.answering import Behaviour
from quaestor.simulate.cohort import Cohort
from quaestor.simulate.metrics import METRICS
from quaestor.simulate.run import Record, take
from quaestor.simulate.simulation import Simulation, summarised
from quaestor.simulate.totals import BINS, KEPT

# One metric for one student and step, from plain numbers


def left(low, high):
    return [level for level in range(len(low)) if not any(low[other] > high[level] + 1e-9 for other in range(len(low)))]


def discounted(low, high, truth, linear, quadratic):
    kept = left(low, high)
    x = 1 / len(kept) if truth in kept else 0.0
    return linear * x - quadratic * x * x


def slow_accuracy(low, high, truth):
    p = centre(np.array(low), np.array(high)).tolist()
    tied = [level for level in range(len(p)) if p[level] > max(p) - 1e-9]
    return 1 / len(tied) if truth in tied else 0.0


def minus_log(p):
    return -math.log(p) if p > 0 else math.inf


def slow_brier(low, high, truth):
    p = centre(np.array(low), np.array(high)).tolist()
    return sum((share - (level == truth)) ** 2 for level, share in enumerate(p))


def slow_brier_best(low, high, truth):
    """The nearest point of the set to the truth, by halving."""
    wanted = [float(level == truth) for level in range(len(low))]

    def nearest(t):
        return [min(max(w + t, least), most) for w, least, most in zip(wanted, low, high, strict=True)]

    below, above = -1.0, 1.0
    for _ in range(60):
        middle = (below + above) / 2
        below, above = (middle, above) if sum(nearest(middle)) < 1 else (below, middle)
    return sum((share - w) ** 2 for share, w in zip(nearest(above), wanted, strict=True))


def slow_brier_worst(low, high, truth):
    corners = row_vertices(np.array(low), np.array(high)).tolist()
    return max(sum((share - (level == truth)) ** 2 for level, share in enumerate(point)) for point in corners)


SLOW = {
    "accuracy": slow_accuracy,
    "brier": slow_brier,
    "brier_best": slow_brier_best,
    "brier_worst": slow_brier_worst,
    "log_loss": lambda low, high, truth: minus_log(centre(np.array(low), np.array(high))[truth]),
    "log_loss_best": lambda low, high, truth: minus_log(high[truth]),
    "log_loss_worst": lambda low, high, truth: minus_log(low[truth]),
    "not_upper": lambda low, high, truth: 1 - high[truth],
    "determinate": lambda low, high, truth: float(len(left(low, high)) == 1),
    "single_accuracy": lambda low, high, truth: float(left(low, high)[0] == truth) if len(left(low, high)) == 1 else math.nan,
    "set_accuracy": lambda low, high, truth: float(truth in left(low, high)) if len(left(low, high)) > 1 else math.nan,
    "u65": lambda low, high, truth: discounted(low, high, truth, 1.6, 0.6),
    "u80": lambda low, high, truth: discounted(low, high, truth, 2.2, 1.2),
}


def random_bounds(rng, students, steps, levels):
    """Reachable bounds around random distributions, some of them precise, some with zeros, some with ties."""
    p = rng.dirichlet(np.ones(levels), (students, steps))
    p[rng.random((students, steps)) < 0.2] = 1 / levels
    p[rng.random((students, steps)) < 0.1] = np.eye(levels)[0]
    width = rng.choice([0.0, 0.05, 0.3], (students, steps, 1))
    other = rng.dirichlet(np.ones(levels), (students, steps, 2))
    points = np.concatenate([p[:, :, None], (1 - width[..., None]) * p[:, :, None] + width[..., None] * other], axis=2)
    return points.min(axis=2), points.max(axis=2)


@pytest.mark.parametrize("levels", [2, 3, 5])
@pytest.mark.parametrize("name", METRICS)
def test_metrics_one_by_one(name, levels):
    rng = np.random.default_rng(levels)
    low, high = random_bounds(rng, 40, 5, levels)
    truth = rng.integers(levels, size=40)
    found = METRICS[name](low, high, truth)
    slow = [[SLOW[name](low[s, step].tolist(), high[s, step].tolist(), int(truth[s])) for step in range(5)] for s in range(40)]
    np.testing.assert_allclose(found, slow, rtol=0, atol=1e-9 if name.startswith("brier_") else 1e-12)  # those halve, or round vertices
    assert set(METRICS) == set(SLOW)


def test_by_hand():
    """Levels 0 and 1 cannot be told apart, level 2 is ruled out."""
    low, high = np.array([[[0.3, 0.35, 0.0]]]), np.array([[[0.6, 0.65, 0.2]]])

    def value(name, truth):
        return float(METRICS[name](low, high, np.array([truth]))[0, 0])

    assert [value("set_accuracy", truth) for truth in range(3)] == [1.0, 1.0, 0.0]
    assert [round(value("u65", truth), 12) for truth in range(3)] == [0.65, 0.65, 0.0]
    assert [round(value("u80", truth), 12) for truth in range(3)] == [0.8, 0.8, 0.0]
    assert math.isnan(value("single_accuracy", 0))
    assert value("determinate", 0) == 0.0
    assert value("accuracy", 1) == 1.0


def test_ties_count_in_part():
    for levels in (2, 3, 4):
        even = np.full((1, 1, levels), 1 / levels)
        assert METRICS["accuracy"](even, even, np.array([levels - 1]))[0, 0] == pytest.approx(1 / levels)
    two = np.array([[[0.4, 0.4, 0.2]]])
    assert [METRICS["accuracy"](two, two, np.array([level]))[0, 0] for level in range(3)] == [0.5, 0.5, 0.0]
    nearly = np.array([[[0.5 - 1e-12, 0.5 + 1e-12]]])
    assert METRICS["accuracy"](nearly, nearly, np.array([0]))[0, 0] == 0.5


def test_one_level_is_left_in_a_precise_bank():
    rng = np.random.default_rng(2)
    p = rng.dirichlet(np.ones(3), (50, 4))
    truth = rng.integers(3, size=50)
    right = METRICS["accuracy"](p, p, truth)
    assert (METRICS["determinate"](p, p, truth) == 1).all()
    for name in ("single_accuracy", "u65", "u80"):
        np.testing.assert_allclose(METRICS[name](p, p, truth), right, atol=1e-12)
    assert np.isnan(METRICS["set_accuracy"](p, p, truth)).all()


# Sums over students


def random_record(rng, students, steps, sizes=(2, 3), questions=8):
    """A record of tests of different lengths; after the end nothing changes."""
    length = rng.integers(0, steps + 1, students)
    length[0] = steps
    asked = np.full((students, steps), -1, dtype=np.int32)
    bounds = []
    for student in range(students):
        asked[student, : length[student]] = rng.permutation(questions)[: length[student]]
    kept = np.minimum(np.arange(steps + 1), length[:, None])
    for size in sizes:
        low, high = random_bounds(rng, students, steps + 1, size)
        bounds.append(tuple(np.take_along_axis(end, kept[:, :, None], axis=1) for end in (low, high)))
    levels = np.stack([rng.integers(size, size=students) for size in sizes], axis=1)
    answers = np.where(asked >= 0, rng.integers(2, size=asked.shape), -1).astype(np.int32)
    rule = np.where(length == steps, "max_questions", "dominant").astype(object)
    return Record.of(np.arange(students), levels, asked, answers, tuple(bounds), rule)


QUESTIONS = tuple(f"Q{number}" for number in range(8))


@pytest.fixture(scope="module")
def summed():
    """A record of forty students in three parts of different lengths, and the simulation made of them."""
    rng = np.random.default_rng(7)
    records = [random_record(rng, students, steps) for students, steps in ((12, 6), (20, 4), (8, 5))]
    return records, Simulation.of([summarised(record) for record in records], ("a", "b"), QUESTIONS)


def every_student(records, name, steps=7):
    """The metric of each student, skill and step, (students, steps, skills), the last value kept."""
    rows = []
    for record in records:
        for student in range(len(record.asked)):
            columns = []
            for skill, (low, high) in enumerate(record.bounds):
                truth = int(record.levels[student, skill])
                values = [SLOW[name](low[student, t].tolist(), high[student, t].tolist(), truth) for t in range(low.shape[1])]
                columns.append(values + [values[-1]] * (steps - len(values)))
            rows.append(np.array(columns).T)
    return np.array(rows)


def mean_of_known(values):
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan


@pytest.mark.parametrize("name", METRICS)
def test_means_over_students(summed, name):
    records, x = summed
    values = every_student(records, name)
    for step in range(7):
        by_skill = [mean_of_known(values[:, step, skill].tolist()) for skill in range(2)]
        np.testing.assert_allclose(getattr(x, f"{name}_by_skill")[step], by_skill, atol=1e-12)
        np.testing.assert_allclose(getattr(x, name)[step], mean_of_known(by_skill), atol=1e-12)
    levels = np.concatenate([record.levels for record in records])
    found = x.by_level(name)
    assert found.shape == (7, 2, 3)
    for step, skill, level in np.ndindex(7, 2, 3):
        mine = mean_of_known(values[levels[:, skill] == level, step, skill].tolist())
        np.testing.assert_allclose(found[step, skill, level], mine, atol=1e-12)


SINGLE = 1e-6  # each student's numbers are kept as float32


@pytest.mark.parametrize("name", [name for name in KEPT if "log_loss" not in name])
def test_errors_and_paired_differences(summed, name):
    records, x = summed
    values = every_student(records, name).mean(axis=2)
    np.testing.assert_allclose(x.error(name), values.std(axis=0, ddof=1) / np.sqrt(40), atol=SINGLE)
    rng = np.random.default_rng(9)
    shorter = []
    for record in records:
        made = random_record(rng, len(record.asked), 3)
        shorter.append(Record.of(made.numbers, record.levels, made.asked, made.answers, made.bounds, made.rule))
    other = Simulation.of([summarised(record) for record in shorter], ("a", "b"), QUESTIONS)
    apart = values - every_student(shorter, name).mean(axis=2)
    mean, error = x.difference(other, name)
    np.testing.assert_allclose(mean, apart.mean(axis=0), atol=SINGLE)
    np.testing.assert_allclose(error, apart.std(axis=0, ddof=1) / np.sqrt(40), atol=SINGLE)
    back, same = other.difference(x, name)
    np.testing.assert_allclose(back, -mean, atol=1e-12)
    np.testing.assert_allclose(same, error, atol=1e-12)
    assert x.difference(x, name)[0].tolist() == [0.0] * 7


@pytest.mark.parametrize("name", ["single_accuracy", "set_accuracy"])
def test_errors_where_not_every_student_has_a_value(summed, name):
    """For each skill over those who have one; the mean of these is at least the error of the mean."""
    records, x = summed
    values = every_student(records, name)
    for step in range(7):
        errors = []
        for skill in range(2):
            known = values[:, step, skill][~np.isnan(values[:, step, skill])]
            errors.append(known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else math.nan)
        np.testing.assert_allclose(x.error(name)[step], mean_of_known(errors), atol=1e-12)
    with pytest.raises(QuaestorError, match=rf"^a metric is one of accuracy, brier, .*, got '{name}'$"):
        x.difference(x, name)


def test_two_infinite_losses_have_no_difference(summed):
    _, x = summed
    mean, error = x.difference(x, "log_loss")
    endless = np.isinf(x.by_student["log_loss"]).any(axis=0)
    assert endless.any()
    assert np.isnan(mean[endless]).all()
    assert np.isnan(error[endless]).all()
    assert (mean[~endless] == 0).all()


def test_unknown_metrics_and_known_ones(summed):
    _, x = summed
    for call in (x.by_level, x.error):
        with pytest.raises(QuaestorError, match=r"^a metric is one of accuracy, brier, brier_best, .*, got 'speed'$"):
            call("speed")
    assert {*METRICS, *(f"{name}_by_skill" for name in METRICS), "table", "error"} <= set(dir(x))


def test_parts_one_after_another_are_the_same_as_all_of_them(summed):
    records, x = summed
    again = Simulation.of((summarised(record) for record in records), ("a", "b"), QUESTIONS, sum(len(one.asked) for one in records))
    pd.testing.assert_frame_equal(x.table(), again.table(), check_exact=True)
    assert (again.asked == x.asked).all()


def test_an_infinite_loss_has_no_error_and_raises_no_warning(summed):
    _, x = summed
    assert np.isinf(x.log_loss).any()
    assert np.isnan(x.error("log_loss")[np.isinf(x.log_loss)]).all()


def test_differences_of_other_students_are_refused():
    bank = sessions.bank()
    one, other = simulate(bank, students=20, seed=1), simulate(bank, students=20, seed=2)
    with pytest.raises(QuaestorError, match=r"^differences are taken between simulations of the same students, got the seeds 1 and 2$"):
        one.difference(other)


def test_calibration(summed):
    records, x = summed
    table = np.zeros((7, BINS, 3))
    for record in records:
        for student, step in np.ndindex(len(record.asked), 7):
            for skill, (low, high) in enumerate(record.bounds):
                last = min(step, low.shape[1] - 1)
                for level, p in enumerate(centre(low[student, last], high[student, last]).tolist()):
                    table[step, min(int(p * BINS), BINS - 1)] += [1, p, level == record.levels[student, skill]]
    np.testing.assert_allclose(x.calibration, table, atol=1e-10)
    assert (table[:, :, 0].sum(axis=1) == 40 * 5).all()


def test_exposure_overlap_lengths_and_stops(summed):
    records, x = summed
    asked = [{int(place) for place in row if place >= 0} for record in records for row in record.asked]
    assert x.lengths.tolist() == [len(one) for one in asked]
    assert x.length == pytest.approx(np.mean([len(one) for one in asked]))
    for place, name in enumerate(QUESTIONS):
        assert x.exposure[name] == pytest.approx(sum(place in one for one in asked) / 40)
    shared = np.mean([len(one & other) for one, other in combinations(asked, 2)])
    assert x.overlap == pytest.approx(shared / np.mean([len(one) for one in asked]))
    assert x.never_used == [name for place, name in enumerate(QUESTIONS) if not any(place in one for one in asked)]
    rules = [rule for record in records for rule in record.rule]
    assert x.stops == {name: rules.count(name) for name in set(rules)}
    assert x.running.tolist() == pytest.approx([1.0, *(np.mean([len(one) > step for one in asked]) for step in range(6))])


def test_never_used_and_overlap_by_hand():
    bank = sessions.bank()
    same = simulate(bank, qs.Rules(score="order", stop=qs.max_questions(2)), students=30)
    assert same.never_used == ["a3", "b1", "b2", "b3"]
    assert same.overlap == pytest.approx(1.0)
    assert same.exposure.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_the_simulation_of_a_bank_is_summed_up_so():
    """From the records of its own two parts: curves, ids, true levels."""
    bank, rules = sessions.bank().widen(0.05), qs.Rules(stop=qs.any_of(qs.dominant(), qs.max_questions(4)))
    x = simulate(bank, rules, students=300, seed=6)
    cohort = Cohort(bank, bank, 300, 6)
    records = [take(bank, rules, cohort.part(start, start + 256), Behaviour()) for start in (0, 256)]
    steps = len(x.running)
    for name in KEPT:
        values = every_student(records, name, steps)
        np.testing.assert_allclose(getattr(x, name), values.mean(axis=(0, 2)), atol=1e-12)
        np.testing.assert_allclose(x.by_student[name], values.mean(axis=2), atol=SINGLE)
    assert x.asked[0].tolist() == [list(bank.questions)[place] if place >= 0 else "" for place in x.asked_places[0]]
    assert (x.levels == cohort.part(0, 300).levels).all()


def test_tables():
    x = simulate(sessions.bank(), qs.Rules(stop=qs.max_questions(3)), students=40)
    table = x.table()
    assert isinstance(table, pd.DataFrame)
    assert list(table.columns) == ["running", *METRICS, *(f"{name}_error" for name in METRICS)]
    assert table.index.name == "step"
    assert table.index.tolist() == [0, 1, 2, 3]
    assert table["brier"].to_numpy() == pytest.approx(x.brier)
    assert list(expected(sessions.bank(), qs.Rules(stop=qs.max_questions(3))).table().columns) == ["running", *METRICS]
    with pytest.raises(AttributeError, match=r"^no accurracy \(did you mean 'accuracy'\?\)$"):
        _ = x.accurracy


def test_brier_of_the_bounds_holds_every_distribution_between_them():
    rng = np.random.default_rng(8)
    for levels in (2, 3, 4):
        inside = rng.dirichlet(np.ones(levels), size=(6, 3))
        low, high = np.maximum(inside - 0.15 * rng.random(inside.shape), 0), np.minimum(inside + 0.15 * rng.random(inside.shape), 1)
        raised, cut = 1 - (high.sum(2, keepdims=True) - high), 1 - (low.sum(2, keepdims=True) - low)
        low, high = np.maximum(low, raised), np.minimum(high, cut)
        truth = rng.integers(levels, size=6)
        best, worst = METRICS["brier_best"](low, high, truth), METRICS["brier_worst"](low, high, truth)
        wanted = np.eye(levels)[truth][:, None]
        met = []
        for _ in range(3000):
            p = low + rng.random(low.shape) * (high - low)
            p = np.clip(p + (1 - p.sum(2, keepdims=True)) / levels, low, high)
            good = np.abs(p.sum(2) - 1) < 1e-9
            met.append(np.where(good, ((p - wanted) ** 2).sum(2), np.nan))
        assert (np.nanmin(met, axis=0) >= best - 1e-8).all()
        assert (np.nanmax(met, axis=0) <= worst + 1e-8).all()
    precise = rng.dirichlet(np.ones(3), size=(4, 2))
    np.testing.assert_array_equal(METRICS["brier_best"](precise, precise, truth[:4] % 3), METRICS["brier"](precise, precise, truth[:4] % 3))


def test_errors_by_skill_and_by_true_level():
    bank = qs.load("four-skills")
    x = simulate(bank, qs.Rules(stop=qs.max_questions(3)), 300)
    record = take(bank, qs.Rules(stop=qs.max_questions(3)), Cohort(bank, bank, 300, 1).part(0, 300), Behaviour())
    for skill, (low, high) in enumerate(record.bounds):
        truth = record.levels[:, skill]
        values = METRICS["brier"](low, high, truth)
        np.testing.assert_allclose(x.error_by_skill("brier")[:, skill], values.std(axis=0, ddof=1) / np.sqrt(300), atol=1e-9)
        for level in range(2):
            mine = values[truth == level]
            np.testing.assert_allclose(x.by_level("brier")[:, skill, level], mine.mean(axis=0), atol=1e-9)
            np.testing.assert_allclose(x.error_by_level("brier")[:, skill, level], mine.std(axis=0, ddof=1) / np.sqrt(len(mine)), atol=1e-7)
    with pytest.raises(QuaestorError, match="a metric is one of accuracy"):
        x.error_by_level("speed")
