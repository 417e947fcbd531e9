"""Single measurements, and the intervals of ratios, held against SciPy and simulated machines."""

import gc
import time
from functools import partial

import numpy as np
import pytest
from scipy.stats import quantile_test

import xla_helpers as xh


def ratio(ratios):
    """That of a comparison whose rounds have these ratios."""
    samples = {"slow": tuple(map(float, ratios)), "fast": (1.0,) * len(ratios)}
    found = {label: xh.Measurement(label, 1.0, s, 1) for label, s in samples.items()}
    return xh.Comparison(found, {}).ratio("fast")


def test_the_first_call_is_apart_from_the_samples(tf):
    naps = iter([0.1])
    m = xh.measure(lambda: tf.executing_eagerly() and time.sleep(next(naps, 0.001)), rounds=4)
    assert m.first >= 0.1 > max(m.samples) and min(m.samples) >= 0.001
    assert len(m.samples) == 4 and 1 < m.calls <= 20


def test_the_first_call_holds_the_trace_of_what_it_calls(tf):
    for around in (partial, lambda graph: lambda: graph()):
        graph = tf.function(lambda: time.sleep(0.1))  # while it is traced
        assert xh.measure(around(graph), rounds=1).first >= 0.1


def test_the_arguments_arrive_and_the_garbage_collector_rests():
    seen = []

    def function(*args, **kwargs):
        seen.append((*args, *kwargs.items(), gc.isenabled()))

    assert xh.measure(function, (1,), {"rounds": 7, "label": 8}, rounds=3).label == "function"
    assert seen[-1] == (1, ("rounds", 7), ("label", 8), False) and gc.isenabled()


def test_a_name_is_that_of_the_function_or_the_class_of_a_model(tf):
    assert xh.measure(max, [1, 2], rounds=1).label == "max"  # whose signature nobody knows
    assert xh.measure(len, ([1],), label="XLA", rounds=1).label == "XLA"
    assert xh.measure(tf.keras.layers.Dense(1), (tf.ones([1, 1]),), rounds=1).label == "Dense"


def test_variables_are_as_before_though_each_call_changes_them(tf):
    total, given = tf.Variable(1.0), tf.Variable(2.0)

    def add(amount, other):
        total.assign_add(amount)
        other.assign_add(amount)

    graph, one = tf.function(add), tf.constant(1.0)
    for function in (add, graph, partial(graph), graph.get_concrete_function(one, given)):
        xh.measure(function, (one, given), rounds=2)
        assert (total.numpy(), given.numpy()) == (1, 2)


def test_an_error_comes_through():
    with pytest.raises(StopIteration):
        xh.measure(partial(next, iter(range(5))))
    with pytest.raises(TypeError):
        xh.measure(len, "ab")


def test_median_iqr_and_noise():
    m = xh.Measurement("eager", 2.0, (5.0, 1.0, 2.0, 3.0, 4.0), 20)
    assert (m.median, m.iqr, m.noisy) == (3.0, 2.0, True)  # from 2 to 4, the middle half
    for high, noisy in ((1.14, False), (1.16, True)):
        assert xh.Measurement("f", 1.0, (1.0, 1.0, 1.0, high, high), 1).noisy is noisy
    assert not xh.Measurement("f", 1.0, (1.0,) * 14 + (100.0,), 1).noisy  # one outlier


@pytest.mark.parametrize("rounds", [6, 7, 9, 15, 30, 100, 1001])
def test_the_interval_is_the_one_of_scipy_for_independent_rounds(rounds):
    ratios = np.arange(1.0, rounds + 1)
    ratios[1::2] = ratios[1::2][::-1]  # neighbours are unlike, and nothing widens it
    exact, found = quantile_test(ratios, p=0.5).confidence_interval(0.95), ratio(ratios)
    assert (found.low, found.value, found.high) == (exact.low, np.median(ratios), exact.high)


def test_fewer_than_six_rounds_have_no_interval():
    assert not any(ratio([2.0] * n).bounded or ratio([2.0] * n).significant for n in range(1, 6))
    assert ratio([2.0] * 6).significant


def test_rounds_that_are_alike_make_it_wider():
    calm, in_a_row = ratio([2.0, 1.9, 1.8, 1.7] * 5), ratio(sorted([2.0, 1.9, 1.8, 1.7] * 5))
    assert in_a_row.low < calm.low < calm.value == in_a_row.value < calm.high < in_a_row.high


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
