"""Single measurements, and the intervals of ratios, held against SciPy and simulated machines."""

import gc
import time

import numpy as np
import pytest
from scipy.stats import quantile_test

import xla_helpers as xh


def ratio(ratios):
    """That of a comparison whose rounds have these ratios."""
    samples = {"slow": tuple(map(float, ratios)), "fast": (1.0,) * len(ratios)}
    found = {label: xh.Measurement(label, 1.0, s, 1) for label, s in samples.items()}
    return xh.Comparison(found, {}).ratio("fast")


# Measurements


def test_the_first_call_is_apart_from_the_samples():
    naps = iter([0.1])
    m = xh.measure(lambda: time.sleep(next(naps, 0.001)), rounds=4)
    assert m.first >= 0.1 > max(m.samples) and min(m.samples) >= 0.001
    assert len(m.samples) == 4 and 1 < m.calls <= 20
    assert m.median == pytest.approx(np.median(m.samples))


def test_the_arguments_arrive_and_the_garbage_collector_rests():
    seen = []

    def function(*args, **kwargs):
        seen.append((*args, *kwargs.items(), gc.isenabled()))

    m = xh.measure(function, 1, "two", training=False, rounds=3)
    assert set(seen[1:]) == {(1, "two", ("training", False), False)}
    assert gc.isenabled() and m.label == "function"


def test_what_it_is_called(tf, tmp_path):
    module = tf.Module()
    module.__call__ = tf.function(lambda: 2 * tf.ones([2]), input_signature=[])
    tf.saved_model.save(module, str(tmp_path))
    named = {"list": list, "the function": lambda: 1, "the graph": tmp_path}
    for name, fn in named.items():
        assert xh.measure(fn, rounds=1).label == name
    dense = tf.keras.layers.Dense(1)
    assert xh.measure(dense, tf.ones([1, 1]), rounds=1).label == "Dense"
    assert xh.measure(len, [1], label="XLA", rounds=1).label == "XLA"


def test_of_a_saved_model_the_signature_is_meant_and_of_several_none_is_guessed(tf, tmp_path):
    def save(*names):
        module, place = tf.Module(), str(tmp_path / "-".join(names))
        module.two = tf.Variable(2.0)  # lost with the module, unless that is held
        module.double = tf.function(lambda: {"y": module.two * 1.0}, input_signature=[])
        tf.saved_model.save(module, place, signatures=dict.fromkeys(names, module.double))
        return place

    quick = {"rounds": 1}
    assert xh.measure(save("serving_default", "other"), **quick).median > 0
    assert xh.measure(tf.saved_model.load(save("only")), **quick).median > 0
    with pytest.raises(TypeError, match="`fn` has the signatures a, b: pass one of them"):
        xh.measure(save("a", "b"))
    with pytest.raises(ValueError, match="is no folder of a SavedModel"):
        xh.measure(tmp_path)
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called: pass the function"):
        xh.measure(3)


def test_variables_are_as_before_though_each_call_changes_them(tf):
    total, given = tf.Variable(1.0), tf.Variable(2.0)

    def add(other):
        total.assign_add(1.0)
        other.assign_add(1.0)

    xh.measure(add, given, rounds=3)
    assert (total.numpy(), given.numpy()) == (1, 2)


def test_what_the_function_raises_comes_through():
    for good_calls in (0, 1, 5):
        countdown = iter(range(good_calls))
        with pytest.raises(StopIteration):
            xh.measure(lambda calls=countdown: next(calls))
        assert gc.isenabled()


@pytest.mark.parametrize("value", [0, -1, float("nan"), None, "3"])
def test_counts_that_are_not_positive_are_refused(value):
    with pytest.raises(ValueError, match=f"`rounds` is {value!r}: give a number above zero"):
        xh.measure(len, [], rounds=value)


def test_median_spread_and_noise():
    m = xh.Measurement("eager", 2.0, (5.0, 1.0, 2.0, 3.0, 4.0), 20)
    assert (m.median, m.spread, m.noisy) == (3.0, 2.0, True)  # from 2 to 4, the middle half
    assert repr(m) == "eager: 3 s, spread 2 s (5 samples of 20, noisy), first call 2 s"
    for high, noisy in ((1.14, False), (1.16, True)):
        assert xh.Measurement("f", 1.0, (1.0, 1.0, 1.0, high, high), 1).noisy is noisy
    assert not xh.Measurement("f", 1.0, (1.0,) * 14 + (100.0,), 1).noisy  # one outlier


# Intervals


def test_the_interval_is_the_one_of_scipy_for_independent_rounds():
    tried = 0
    for rounds in (6, 7, 9, 15, 30, 100, 1001):
        for seed in range(3):
            ratios = np.random.default_rng(seed).permutation(np.arange(1.0, rounds + 1))
            if np.corrcoef(ratios[1:], ratios[:-1])[0, 1] < -2 / rounds:  # nothing to widen it for
                exact = quantile_test(ratios, p=0.5).confidence_interval(0.95)
                assert (ratio(ratios).low, ratio(ratios).high) == (exact.low, exact.high)
                assert ratio(ratios).value == np.median(ratios)
                tried += 1
    assert tried >= 5


def test_fewer_than_six_rounds_have_no_interval():
    for rounds in range(1, 6):
        few = ratio([2.0] * rounds)
        assert (few.value, few.bounded, few.clear, few.once) == (2.0, False, False, rounds == 1)
    assert repr(ratio([2.0] * 3)) == "2x faster, too few rounds"
    assert repr(ratio([2.0] * 6)) == "2.00x faster [2.00, 2.00]"
    assert repr(ratio([2.0] * 14 + [100.0])) == "2.00x faster [2.00, 2.00]"  # an outlier


def test_rounds_that_are_alike_make_it_wider():
    calm, in_a_row = ratio([2.0, 1.9, 1.8, 1.7] * 5), ratio(sorted([2.0, 1.9, 1.8, 1.7] * 5))
    assert in_a_row.low < calm.low < calm.value == in_a_row.value < calm.high < in_a_row.high


def missed(rounds, correlation, machines=400):
    """How often the interval misses 1, over machines whose rounds depend on each other."""
    noise = np.random.default_rng(rounds).normal(size=(machines, rounds))
    for i in range(1, rounds):
        noise[:, i] *= np.sqrt(1 - correlation**2)
        noise[:, i] += correlation * noise[:, i - 1]
    ratios = [ratio(np.exp(0.03 * own + 0.1 * (own > 2))) for own in noise]
    return np.mean([not one.low <= 1 <= one.high for one in ratios])


@pytest.mark.parametrize("rounds", [15, 60])
@pytest.mark.parametrize(("correlation", "most"), [(0.0, 0.05), (0.3, 0.05), (0.5, 0.06)])
def test_the_interval_keeps_its_word_on_simulated_machines(rounds, correlation, most):
    assert missed(rounds, correlation) <= most


@pytest.mark.parametrize(
    ("ratios", "words", "against"),
    [
        ([1.5, 2, 2, 2, 2, 2.5], "2.00x faster [1.50, 2.50]", "than eager [1.50, 2.50]"),
        ([0.4, 0.5, 0.5, 0.5, 0.5, 0.8], "2.00x slower [1.25, 2.50]", "than eager [1.25, 2.50]"),
        ([0.9, 1.4] * 3, "no clear difference [0.90, 1.40]", "clearly different from eager [0.90"),
        ([1.004, 1.4] * 3, "no clear difference [1.00, 1.40]", "clearly different from eager [1.0"),
        ([418.4], "418x faster, seen once", "418x faster than eager, seen once"),
        ([0.25], "4x slower, seen once", "4x slower than eager, seen once"),
        ([1.0, 1.0], "as fast, too few rounds", "as fast as eager, too few rounds"),
    ],
)
def test_a_ratio_in_words(ratios, words, against):
    found = ratio(ratios)
    assert repr(found) == words and words.startswith(found.short)
    assert found.against("eager").endswith(against) or against in found.against("eager")
    assert found.clear is ("[" in words and "no clear" not in words)
