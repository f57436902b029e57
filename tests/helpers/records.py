"""When two records of simulated students tell the same."""

import numpy as np

from quaestor.simulate.simulation import summarised


def check_same(one, other):
    """Two records tell the same."""
    one, other = one.unmerged, other.unmerged
    assert (one.asked == other.asked).all()
    assert (one.answers == other.answers).all()
    assert (one.rule == other.rule).all()
    for (low, high), (its_low, its_high) in zip(one.bounds, other.bounds, strict=True):
        assert np.abs(low - its_low).max() <= 1e-12
        assert np.abs(high - its_high).max() <= 1e-12


def check_summaries(one, other):
    """The sums of metrics of two records agree to 1e-9, and calibration."""
    one, other = summarised(one), summarised(other)
    for name, total in one.totals.items():
        np.testing.assert_allclose(total.mean(), other.totals[name].mean(), rtol=0, atol=1e-9)
        np.testing.assert_allclose(total.error(), other.totals[name].error(), rtol=0, atol=1e-7)  # a root: of 1e-18 it is 1e-9
    assert np.abs(one.calibration - other.calibration).max() <= 1e-9
    for name, values in one.each.by_student.items():
        np.testing.assert_allclose(values, other.each.by_student[name], rtol=0, atol=1e-6)  # single precision
