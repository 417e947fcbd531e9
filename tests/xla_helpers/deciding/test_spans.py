"""Numbers known from end to end, and ratios weighted over a plan."""

import itertools
import math

import pytest

from xla_helpers.deciding.spans import Span, added, at_least, union, unknown, weighted


def exactly(value):
    return Span(value, value, value)


def test_a_union_reaches_from_end_to_end():
    spans = [Span(1.0, 2.0, 3.0), Span(0.5, 1.0, 2.5), Span(1.5, 1.6, 1.7)]
    assert union(spans) == Span(0.5, 1.6, 3.0)


def test_a_sum_adds_the_ends():
    assert added([Span(1, 2, 3), Span(10, 20, 40)], [1, 2]) == Span(21, 42, 83)


def test_the_larger_of_two_end_by_end():
    assert at_least(Span(1, 5, 6), Span(2, 3, 9)) == Span(2, 5, 9)


def test_shapes_are_weighted_with_their_seconds_and_not_with_their_calls():
    times, seconds = {0: exactly(2.0), 1: exactly(0.5)}, {0: exactly(1.0), 1: exactly(3.0)}
    assert weighted(times, seconds).value == pytest.approx(4 / (0.5 + 6))


def test_one_shape_keeps_its_ratio():
    times = {3: Span(1.1, 1.2, 1.4)}
    found = weighted(times, {3: Span(1.0, 2.0, 5.0)})
    assert (found.low, found.value, found.high) == pytest.approx((1.1, 1.2, 1.4))


def test_the_ends_are_the_furthest_of_all_that_is_possible():
    times = {0: Span(0.7, 0.8, 0.9), 1: Span(1.0, 1.5, 1.6), 2: Span(2.5, 3.0, 3.5)}
    seconds = {0: Span(1.0, 2.0, 3.0), 1: Span(4.0, 5.0, 5.5), 2: Span(0.1, 1.0, 9.0)}
    found = weighted(times, seconds)
    corners = [
        sum(s) / sum(s_i / t_i for s_i, t_i in zip(s, t, strict=True))
        for s in itertools.product(*((seconds[i].low, seconds[i].high) for i in range(3)))
        for t in itertools.product(*((times[i].low, times[i].high) for i in range(3)))
    ]
    assert (found.low, found.high) == pytest.approx((min(corners), max(corners)))
    assert found.low < found.value < found.high


@pytest.mark.parametrize("times", [unknown(1.5), Span(0.0, 1.5, 2.0), Span(1.0, 1.5, math.inf)])
def test_without_an_interval_of_one_shape_there_is_none_of_all(times):
    found = weighted({0: times, 1: exactly(1.5)}, {0: exactly(1.0), 1: exactly(1.0)})
    assert found == unknown(pytest.approx(1.5))


def test_without_seconds_there_is_no_interval_either():
    assert weighted({0: exactly(1.5)}, {0: unknown(1.0)}) == unknown(1.5)
