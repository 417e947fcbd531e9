import math

import numpy as np
import pytest
from scipy.stats import binom, quantile_test, rankdata

from xla_helpers.ratios import CONFIDENCE, MOST_ALIKE, Ratio, _dependence, _rank, median_ratio


def test_the_interval_is_the_one_of_scipy_for_independent_rounds():
    for rounds in (6, 7, 9, 15, 30):
        ratios = np.random.default_rng(rounds).permutation(np.arange(1.0, rounds + 1))
        found = median_ratio(ratios)
        if found.dependence == 0:
            exact = quantile_test(ratios, p=0.5).confidence_interval(0.95)
            assert (found.low, found.high) == (exact.low, exact.high)


def test_the_rank_is_the_one_of_scipy():
    for rounds in (*range(1, 100), 9999, 10_000):
        expected = binom.ppf((1 - CONFIDENCE) / 2, rounds, 0.5)
        assert _rank(rounds) == int(expected), rounds


def test_neighbours_are_compared_by_the_ranks_of_scipy():
    draw = np.random.default_rng(0)
    for rounds in range(4, 60):
        ratios = np.cumsum(draw.integers(-3, 4, rounds)).astype(float)  # some of them are equal
        ranks = rankdata(ratios) - (rounds + 1) / 2
        raw = ranks[1:] @ ranks[:-1] / max(ranks @ ranks, 1e-9)
        expected = min(max((rounds * raw + 1) / (rounds - 3), 0.0), MOST_ALIKE)
        assert _dependence(ratios) == pytest.approx(expected)


def test_an_outlier_does_not_move_the_interval():
    assert median_ratio([2.0] * 14 + [100.0]) == Ratio(2.0, 2.0, 2.0)


def test_the_interval_holds_the_median_and_ends_at_rounds():
    ratios = np.random.default_rng(1).lognormal(size=15)
    found = median_ratio(ratios)
    assert found.rounds == 15
    assert found.low < found.value == np.median(ratios) < found.high
    assert {found.low, found.high} < set(ratios)


def test_fewer_than_six_rounds_have_no_interval():
    for rounds in range(1, 6):
        few = median_ratio([2.0] * rounds)
        assert (few.value, few.bounded, few.clear, few.once) == (2.0, False, False, rounds == 1)
    assert repr(median_ratio([2.0] * 3)) == "2x faster, too few rounds"
    assert median_ratio([2.0] * 6) == Ratio(2.0, 2.0, 2.0)


def test_rounds_that_are_alike_make_it_wider():
    calm = [2.0, 1.0] * 10
    slow_for_a_while = [1.0] * 10 + [2.0] * 10
    assert median_ratio(calm).dependence == 0
    assert median_ratio(slow_for_a_while).dependence == MOST_ALIKE
    assert median_ratio(slow_for_a_while) == Ratio(1.5, 1.0, 2.0)
    assert median_ratio(slow_for_a_while).widened and not median_ratio(calm).widened
    assert median_ratio([1.5] * 20).dependence == 0


def missed(rounds, correlation, machines=600):
    """How often the interval misses 1, over machines whose rounds depend on each other."""
    noise = np.random.default_rng(rounds).normal(size=(machines, rounds))
    for i in range(1, rounds):
        noise[:, i] *= np.sqrt(1 - correlation**2)
        noise[:, i] += correlation * noise[:, i - 1]
    ratios = [median_ratio(np.exp(0.03 * own + 0.1 * (own > 2))) for own in noise]
    return np.mean([not ratio.low <= 1 <= ratio.high for ratio in ratios])


@pytest.mark.parametrize("rounds", [15, 30, 60])
@pytest.mark.parametrize(("correlation", "most"), [(0.0, 0.05), (0.3, 0.05), (0.5, 0.06)])
def test_the_interval_keeps_its_word_on_simulated_machines(rounds, correlation, most):
    assert missed(rounds, correlation) <= most


@pytest.mark.parametrize("noise", [1.3, 1 / 1.3])
def test_what_is_as_close_to_1_as_the_noise_is_not_clear(noise):
    faster, slower = Ratio(1.2, 1.1, 1.25, noise), Ratio(1 / 1.2, 0.8, 0.9, noise)
    assert not faster.clear and not slower.clear
    assert repr(faster) == "no clear difference [1.10, 1.25]"
    assert slower.against("eager") == "not clearly different from eager [0.80, 0.90]"
    assert Ratio(1.4, 1.35, 1.5, noise).clear and Ratio(1 / 1.4, 0.6, 0.8, noise).clear
    assert Ratio(1.2, 1.1, 1.25).clear


@pytest.mark.parametrize(
    ("ratio", "words", "against"),
    [
        (Ratio(2.0, 1.5, 2.5), "2.00x faster [1.50, 2.50]", "2.00x faster than eager [1.50, 2.50]"),
        (Ratio(0.5, 0.4, 0.8), "2.00x slower [1.25, 2.50]", "2.00x slower than eager [1.25, 2.50]"),
        *(
            (
                Ratio(middle, low, high),
                f"no clear difference {interval}",
                f"not clearly different from eager {interval}",
            )
            for middle, low, high, interval in [
                (1.2, 0.9, 1.4, "[0.90, 1.40]"),
                (1.2, 1.0, 1.4, "[1.00, 1.40]"),
                (0.8, 0.6, 1.0, "[0.60, 1.00]"),
                (1.03, 1.00007, 1.1, "[1.00, 1.10]"),
            ]
        ),
        (
            Ratio(418.4, 0.0, math.inf, rounds=1),
            "418x faster, seen once",
            "418x faster than eager, seen once",
        ),
        (
            Ratio(0.25, 0.0, math.inf, rounds=1),
            "4x slower, seen once",
            "4x slower than eager, seen once",
        ),
    ],
)
def test_ratio_in_words(ratio, words, against):
    assert repr(ratio) == words
    assert ratio.against("eager") == against
    assert words.startswith(ratio.short)
    assert ratio.clear is ("[" in words and "no clear" not in words)
    assert ratio.once is ("seen once" in words)


def test_ratios_that_make_no_sense_are_refused_by_name():
    with pytest.raises(ValueError, match="`ratios` is empty: give one of each round"):
        median_ratio([])
