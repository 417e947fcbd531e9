import math

import numpy as np
import pytest

from xla_helpers.ratios import Ratio, bootstrap_ratio


def test_bootstrap_interval_of_two_rounds_holds_both():
    # Medians of resamples are 1 or 3 with probability 1/4 each, so the 95 % interval holds both.
    assert bootstrap_ratio([1.0, 3.0]) == Ratio(2.0, 1.0, 3.0)


def test_bootstrap_interval_ignores_an_outlier():
    assert bootstrap_ratio([2.0] * 14 + [100.0]) == Ratio(2.0, 2.0, 2.0)


def test_bootstrap_interval_is_the_same_twice_and_holds_the_median():
    ratios = np.random.default_rng(1).lognormal(size=15)
    first = bootstrap_ratio(ratios)
    assert first == bootstrap_ratio(ratios)
    assert min(ratios) <= first.low < first.value == np.median(ratios) < first.high <= max(ratios)


def test_a_single_round_shows_nothing():
    ratio = bootstrap_ratio([2.0])
    assert (ratio.value, ratio.once, ratio.clear) == (2.0, True, False)


@pytest.mark.parametrize("ratios", [[2.0, 2.0], [1.0, 3.0], range(1, 16)])
def test_several_rounds_are_not_once(ratios):
    assert not bootstrap_ratio(ratios).once


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
            Ratio(418.4, 0.0, math.inf),
            "418x faster, seen once",
            "418x faster than eager, seen once",
        ),
        (Ratio(0.25, 0.0, math.inf), "4x slower, seen once", "4x slower than eager, seen once"),
    ],
)
def test_ratio_in_words(ratio, words, against):
    assert repr(ratio) == words
    assert ratio.against("eager") == against
    assert words.startswith(ratio.short)
    assert ratio.clear is ("[" in words and "no clear" not in words)
    assert ratio.once is ("seen once" in words)
