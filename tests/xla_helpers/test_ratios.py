"""The intervals of ratios, held against SciPy and simulated machines."""

import numpy as np
import pytest
from scipy.stats import quantile_test

from xla_helpers.ratios import MAX_AUTOCORRELATION, _rank_autocorrelation
from xla_helpers.ratios import median_ratio as ratio


@pytest.mark.parametrize("rounds", [6, 7, 9, 15, 30, 100, 1001])
def test_the_interval_is_the_one_of_scipy_for_independent_rounds(rounds):
    ratios = np.arange(1.0, rounds + 1)
    ratios[1::2] = ratios[1::2][::-1]  # neighbours are unlike, and nothing widens it
    exact, found = quantile_test(ratios, p=0.5).confidence_interval(0.95), ratio(ratios)
    assert (found.low, found.value, found.high) == (exact.low, np.median(ratios), exact.high)


def test_fewer_than_six_rounds_have_no_interval():
    assert not any(
        ratio([2.0] * n).has_interval or ratio([2.0] * n).significant for n in range(1, 6)
    )
    assert ratio([2.0] * 6).significant


def test_rounds_that_are_alike_make_it_wider():
    calm, in_a_row = ratio([2.0, 1.9, 1.8, 1.7] * 5), ratio(sorted([2.0, 1.9, 1.8, 1.7] * 5))
    assert in_a_row.low < calm.low < calm.value == in_a_row.value < calm.high < in_a_row.high


@pytest.mark.parametrize("number", [6, 7, 30, 60])
def test_more_processes_make_no_wider_interval(number):
    """The same order statistics as of rounds: of six, the lowest and the highest."""
    gains = 1.2 + 0.03 * np.random.default_rng(2).normal(size=60)
    few, many = ratio(gains[:6]), ratio(gains[:number])
    assert (few.low, few.high) == (min(gains[:6]), max(gains[:6]))
    if number > 7:
        assert min(gains[:number]) < many.low < 1.2 < many.high < max(gains[:number])
        assert many.high - many.low < few.high - few.low


def test_the_likeness_of_neighbours_is_corrected_for_short_series():
    """Kendall, 1954: of n independent rounds it is below zero by about 1/n on average."""
    ranks = np.array([1.0, 5.0, 6.0, 2.0, 3.0, 8.0, 7.0, 4.0])
    middle = ranks - 4.5
    raw = middle[1:] @ middle[:-1] / (middle @ middle)
    assert 0 < _rank_autocorrelation(ranks) == pytest.approx((8 * raw + 1) / (8 - 3))
    assert _rank_autocorrelation(np.arange(8.0)) == MAX_AUTOCORRELATION
    assert _rank_autocorrelation(np.ones(8)) == _rank_autocorrelation(ranks % 2) == 0


def missed(rounds, correlation, machines=400):
    """How often the interval misses 1, over machines whose rounds depend on each other."""
    noise = np.random.default_rng(rounds).normal(size=(machines, rounds))
    for i in range(1, rounds):
        noise[:, i] *= np.sqrt(1 - correlation**2)
        noise[:, i] += correlation * noise[:, i - 1]
    found = (ratio(np.exp(0.03 * own + 0.1 * (own > 2))) for own in noise)
    return np.mean([not one.low <= 1 <= one.high for one in found])


@pytest.mark.parametrize("rounds", [15, 60])
@pytest.mark.parametrize(("correlation", "most"), [(0.0, 0.05), (0.3, 0.05), (0.5, 0.06)])
def test_the_interval_keeps_its_word_on_simulated_machines(rounds, correlation, most):
    assert missed(rounds, correlation) <= most


@pytest.mark.parametrize(
    ("ratios", "significant", "words", "ends"),
    [
        ([1.5, 2, 2, 2, 2, 2.5], True, "2.00x faster", " [1.50, 2.50]"),
        ([0.4, 0.5, 0.5, 0.5, 0.5, 0.8], True, "2.00x slower", " [1.25, 2.50]"),
        ([1.003, *[1.004] * 4, 1.0045], True, "1.0040x faster", " [1.0030, 1.0045]"),
        ([0.9, 1.4] * 3, False, "not significantly different", " [0.90, 1.40]"),
        ([0.25], False, "4.00x slower", ", too few rounds"),
    ],
)
def test_a_ratio_is_told_as_it_is(ratios, significant, words, ends):
    found = ratio(ratios)
    assert (found.significant, found.short, str(found)) == (significant, words, words + ends)
    assert found.against("eager").endswith(f" eager{ends}")
