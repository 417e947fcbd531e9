"""Comparisons, most of them on a clock that moves only when a candidate says so."""

import functools
import math
import random

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh
from xla_helpers.differences import Difference
from xla_helpers.timing import Measurement
from xla_helpers.variables import Snapshot

SHORT = 1e-9  # a block this short holds one call
QUICK = {"rounds": 2, "budget": 0, "block": SHORT, "strict": False}
GOOD = np.array([1.0, 2.0, math.nan])  # which equals NaN in the same place


def fails(*args):
    raise ArithmeticError("too large")


def test_samples_and_their_ratio(clock):
    candidates = {"a": clock.takes(8.0, 2.0, result=4.0), "b": clock.takes(0.5, result=4.0)}
    c = xh.compare(candidates, rounds=6, budget=0, clock=clock)
    assert (c["a"].samples, c["b"].samples) == ((2.0,) * 6, (0.5,) * 6)
    assert (c.ratio("b").low, c.ratio("b").high) == (4.0, 4.0)


def test_candidates_take_turns_and_the_control_runs_twice(clock):
    candidates = {label: clock.takes(1.0, label=label) for label in "ABC"}
    c = xh.compare(candidates, rounds=3, budget=0, block=SHORT, clock=clock)
    order = "".join(clock.labels)
    rounds = [order[-12:][i : i + 4] for i in (0, 4, 8)]
    assert all(sorted(one) == ["A", "A", "B", "C"] for one in rounds) and len(set(rounds)) > 1
    assert c.control.label == "A" and len(c.control.samples) == 3


def test_like_candidates_have_blocks_of_as_many_calls(clock):
    """However the clock's first look at each of them was disturbed."""
    seconds = {"first": 1 / 64, "like": 1 / 36, "half": 1 / 128, "slow": 1 / 4, "fast": 1 / 1024}
    candidates = {label: clock.takes(s) for label, s in seconds.items()}
    found = xh.compare(candidates, block=1.0, rounds=6, budget=0, clock=clock)
    calls = {label: m.calls for label, m in found.measurements.items()}
    assert calls["first"] == calls["like"] == 64
    assert calls["half"] in (64, 256) and calls["slow"] in (4, 16) and calls["fast"] == 1024


class Machine:
    """A clock that its candidates move: each call takes its seconds, times a noise and a drift."""

    def __init__(self, noise=0.0, drift=0.0, seed=0):
        self.now, self._noise, self._drift = 0.0, noise, drift
        self._random = random.Random(seed)

    def __call__(self):
        return self.now

    def takes(self, seconds):
        def candidate(_):
            noise = math.exp(self._random.gauss(0, self._noise))
            self.now += seconds * noise * (1 + self._drift * self.now)

        return candidate

    def race(self, a=1.0, b=1.0, **options):
        candidates = {"a": self.takes(a), "b": self.takes(b)}
        return xh.compare(candidates, (1,), clock=self, block=SHORT, **options)


def test_a_wide_interval_is_given_the_budget():
    narrow, quick = Machine().race(rounds=7), Machine(noise=0.5).race(rounds=7, budget=0)
    wide = Machine(noise=0.5).race(rounds=7, budget=40)
    lanes = (*wide.measurements.values(), wide.control)
    assert [len(c["a"].samples) for c in (narrow, quick)] == [7, 7]
    assert {len(lane.samples) for lane in lanes} == {len(wide["a"].samples)} != {7}
    assert 40 < sum(sum(lane.samples) for lane in lanes) < 100


def test_an_interval_of_a_tenth_is_not_narrow():
    """It is given the budget: narrow is a twentieth."""
    quick = Machine(noise=0.02).race(rounds=9, budget=0)
    ratio = quick.ratio("b")
    assert 0.06 < (ratio.high - ratio.low) / ratio.value < 0.4
    assert len(Machine(noise=0.02).race(rounds=9, budget=40)["a"].samples) > 9


def test_a_function_against_itself_is_seldom_called_different():
    machines = [Machine(0.03, seed=seed) for seed in range(20)]
    assert sum(one.race(budget=60).ratio("b").significant for one in machines) <= 1


@pytest.mark.parametrize("drift", [0.0, -1e-3, 1e-2])
def test_a_planted_slowdown_is_found_and_a_clock_that_drifts_is_none(drift):
    assert not Machine(drift=drift).race(budget=60).ratio("b").significant
    for seed in range(10):
        ratio = Machine(0.02, drift, seed).race(b=1.1, budget=60).ratio("b")
        assert ratio.significant and ratio.value < 1


# What is compared


@pytest.mark.parametrize(
    "bad", [fails, lambda: GOOD[:2], lambda: GOOD + 1, lambda: None, lambda: (x for x in GOOD)]
)
def test_a_bad_candidate_does_not_hide_the_good_ones(clock, bad):
    good = clock.takes(1.0, result=GOOD)
    with pytest.raises(xh.ComparisonError) as caught:
        xh.compare({"good": good, "bad": bad, "fine": good}, rounds=3, budget=0, clock=clock)
    found = caught.value.found
    assert list(found.measurements) == ["good", "fine"] and list(found.failures) == ["bad"]
    assert found.failures["bad"] in str(caught.value)
    with pytest.raises(KeyError, match="bad"):
        found.ratio("bad")


def test_the_first_result_is_the_reference(clock):
    good, other = (clock.takes(1.0, result=result) for result in (GOOD, 1.0))
    candidates = {"bad": fails, "other": other, "good": good, "fine": good}
    c = xh.compare(candidates, clock=clock, **QUICK)
    assert (list(c.measurements), list(c.failures)) == (["other"], ["bad", "good", "fine"])


@pytest.mark.parametrize("results", [[None, None], [1.0], []])
def test_results_that_were_not_compared_are_not_called_equal(results):
    candidates = {str(i): lambda result=result: result for i, result in enumerate(results)}
    assert "not compared" in str(xh.compare(candidates, **QUICK))


def test_a_reader_may_say_what_equal_is():
    candidates = {"up": lambda: np.array([1, 2, 3]), "down": lambda: np.array([3, 2, 1])}
    assert list(xh.compare(candidates, **QUICK).failures) == ["down"]
    same_set = xh.compare(
        candidates, equal=lambda found, wanted: set(found) == set(wanted), **QUICK
    )
    assert not same_set.failures and same_set.differences["down"].size == 0
    never = xh.compare(candidates, equal=lambda found, wanted: False, **QUICK)
    assert list(never.failures) == ["down"] and "`equal` says so" in never.failures["down"]
    assert list(same_set.again().measurements) == ["up", "down"]


@pytest.mark.parametrize("good_calls", [0, 1, 2, 4])
def test_a_candidate_may_fail_in_any_call(clock, good_calls):
    countdown = iter(range(good_calls))

    def breaks():
        clock.now += 1
        if next(countdown, None) is None:
            raise MemoryError("no room")

    candidates = {"breaks": breaks, "good": clock.takes(1.0), "fine": clock.takes(1.0)}
    c = xh.compare(candidates, rounds=3, budget=0, block=SHORT, strict=False, clock=clock)
    assert c.failures == {"breaks": "MemoryError: no room"}
    assert [len(m.samples) for m in c.measurements.values()] == [3, 3]
    assert "MemoryError: no room" in str(c)


def test_options_that_make_no_sense_are_refused_by_name():
    for option in ({"rounds": 1.5}, {"block": 0}, {"budget": -1}, {"tolerance": math.nan}):
        with pytest.raises(ValueError, match=next(iter(option))):
            xh.compare({"a": fails}, **option)


def test_rows_say_what_really_ran(tf, jit):
    modes = {"eager": tf.sin, "graph": tf.function(tf.sin), "XLA": jit(tf.sin)}
    c = xh.compare(modes, (tf.ones([3]),), **QUICK)
    assert [ran.mode for ran in c.evidence.values()] == list(modes)
    assert c.as_labelled and c.control.label == "graph"
    assert not xh.Comparison(c.measurements, {}).as_labelled  # nobody saw it
    wrong = xh.compare({"XLA, padded": modes["graph"]}, (tf.ones([3]),), **QUICK)
    assert not wrong.as_labelled and "not XLA" in str(wrong)


# Variables


def descent(tf, rate=0.1):
    """Weights, and a step that changes them."""
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        weights.assign_sub(rate * x)
        return tf.reduce_sum(x)

    return weights, step


def test_variables_are_restored_though_a_candidate_fails_halfway(tf):
    weights, step = descent(tf)

    @tf.function
    def half_done(x):
        weights.assign_sub(x)
        return tf.debugging.check_numerics(x / 0.0, "too large")

    modes = {"eager": step, "graph": tf.function(step), "broken": half_done}
    c = xh.compare(modes, (tf.ones([2]),), **QUICK)
    assert list(c.failures) == ["broken"] and weights.numpy().tolist() == [1, 2]


def test_variables_are_compared_whatever_a_reader_calls_equal(tf):
    weights, step = descent(tf)
    forgets = tf.function(lambda x: (tf.reduce_sum(x), weights + 0.0)[0])
    candidates = {"step": tf.function(step), "forgets": forgets}
    found = xh.compare(candidates, (tf.ones(2),), equal=lambda *results: True, **QUICK)
    assert list(found.failures) == ["forgets"] and "weights" in found.failures["forgets"]


def test_a_partial_of_a_function_is_traced(tf):
    weights, step = descent(tf)
    scaled = tf.function(lambda scale, x: step(scale * x))
    modes = {"still": lambda scale: 2.0, "step": functools.partial(scaled, x=tf.ones([2]))}
    c = xh.compare(modes, (1.0,), **QUICK)  # a number: plain Python of it is not traced
    assert "variables['weights']" in c.failures["step"]
    assert weights.numpy().tolist() == [1, 2]


def test_a_variable_may_be_given(tf):
    weights, _ = descent(tf)
    modes = {"eager": lambda v: v.assign_add(v) * 0, "other": lambda v: v * 0}
    c = xh.compare(modes, (weights,), **QUICK)
    assert "variables['weights']" in c.failures["other"] and weights.numpy().tolist() == [1, 2]


def test_variables_that_each_candidate_has_for_itself_are_not_compared(tf):
    steps = {"one": descent(tf), "other": descent(tf, rate=0.2)}  # with the same loss
    modes = {label: tf.function(step) for label, (_, step) in steps.items()}
    c = xh.compare(modes, (tf.constant([1.0, 3.0]),), **QUICK)
    assert c.failures == {} and c.own_variables
    assert [weights.numpy().tolist() for weights, _ in steps.values()] == [[1, 2]] * 2


def test_each_block_begins_with_the_same_values(tf):
    """A step that took longer with each change would not be the same step any more."""
    count, seen = tf.Variable(0.0), []

    def step():
        seen.append(count.numpy() if tf.executing_eagerly() else 0)
        count.assign_add(1.0)

    modes = {"step": step, "graph": tf.function(step)}  # whose trace knows the variable
    xh.compare(modes, rounds=3, budget=0, block=SHORT)
    assert set(seen[-3:]) == {0}


def test_variables_are_known_by_themselves(tf, monkeypatch):
    """And not by comparing each with all: 4,000 of three traces would be 24 million times."""

    def refuse(*both):
        raise AssertionError("two variables were compared")

    variables, snapshot = [tf.Variable(0.0) for _ in range(9)], Snapshot()
    monkeypatch.setattr(tf.Variable, "__eq__", refuse)
    for _ in range(3):
        snapshot.add(variables)
    assert not snapshot.changed()


@pytest.mark.parametrize("labels", [(1, "1"), (None, "None"), (1.5, "1.5")])
def test_no_candidate_is_lost_by_a_label_that_reads_the_same(labels):
    with pytest.raises(ValueError, match="two labels read the same"):
        xh.compare(dict.fromkeys(labels, abs), (1,), **QUICK)


# Models that are not built


@pytest.mark.parametrize("way", ["compare", "check", "decide"])
def test_a_model_that_is_not_built_keeps_what_it_has(tf, keep_log, way):
    """A first call makes its weights, and may change others."""

    class Counts(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(1)
            self.count = tf.Variable(0.0)

        def call(self, x):
            self.count.assign_add(1.0)
            return self.dense(x)

    model, x = Counts(), tf.ones([2, 3])
    looks = {
        "compare": lambda: xh.compare({"it": tf.function(model)}, (x,), **QUICK),
        "check": lambda: xh.check(model, (x,)),
        "decide": lambda: xd.decide(model, [x], budget=0.1),
    }
    if way == "decide":  # which builds it, and restores what was there
        looks[way]()
        assert float(model.count) == 0 and model.built
    else:
        with pytest.raises(ValueError, match="Counts is not built yet: call it once first"):
            looks[way]()
    assert float(model.count) == 0
    model(x)
    looks[way]()
    assert float(model.count) == 1


@pytest.mark.parametrize("built", [False, None, 0])
def test_what_is_built_or_not_is_asked_of_keras_alone(tf, built):
    class House:
        def __init__(self):
            self.built, self.calls = built, 0

        def __call__(self, x):
            self.calls += 1
            return x

    house = House()
    xh.compare({"it": house}, (1,), rounds=1, budget=0, block=SHORT)
    assert house.calls > 2


# What a comparison says


def raced(control=None, **samples):
    """A comparison of samples; `control` are those of the first label, raced against itself."""
    measurements = {label: Measurement(label, 1.0, s, 1) for label, s in samples.items()}
    same = dict.fromkeys(samples, xh.max_difference(1.0, 1.0))
    control = control and Measurement(next(iter(samples)), 1.0, control, 1)
    return xh.Comparison(measurements, same, control=control)


def test_ratios_are_taken_round_by_round():
    c = raced(a=(2.0, 4.0, 8.0), b=(4.0, 1.0, 2.0))
    assert c.ratio("b").value == 4.0  # of 0.5, 4 and 4; the medians would give 2
    assert c.ratio("a", "b").value == 0.25


def test_a_ratio_within_the_noise_of_the_control_is_not_significant():
    near, far = (1.9,) * 7, (1.0,) * 7
    noisy = raced((1.8,) * 7, graph=(2.0,) * 7, near=near, far=far)
    assert not noisy.ratio("near").significant and noisy.ratio("far").significant
    assert noisy.break_even_calls("near") == math.inf
    assert raced(graph=(2.0,) * 7, near=near).ratio("near").significant  # without a control


@pytest.mark.parametrize(
    ("first", "cost", "calls"), [(8.0, None, 6.0), (8.0, 3.0, 3.0), (1.0, None, 0.0)]
)
def test_break_even_calls(first, cost, calls):
    """The first call took 6 s more, or 1 s less, and each later one saves 1 s."""
    graph = Measurement("graph", 2.0, (2.0,) * 7, 1)
    xla = Measurement("XLA", first, (1.0,) * 7, 1)
    c = xh.Comparison({"graph": graph, "XLA": xla}, {})
    assert c.break_even_calls("XLA", cost=cost) == c.break_even_calls("XLA", "graph", cost) == calls


def test_a_small_difference_may_be_significant():
    c = raced(a=tuple(np.linspace(1.003, 1.0045, 100)), b=(1.0,) * 100)
    assert c.ratio("b").significant and "1.0037x faster [1.0030, 1.0045]" in str(c)


def test_the_title_tells_the_largest_difference_that_is_allowed():
    """A result that differs by more failed, and has its own line."""
    rows = raced(a=(1.0,) * 7, b=(1.0,) * 7).measurements
    sizes = {"a": 0.0, "b": 2e-6, "c": 1.0, "d": 1e-6}
    differences = {label: Difference(size) for label, size in sizes.items()}
    title = str(xh.Comparison(rows, differences, {"c": "differs"})).splitlines()[0]
    assert title.startswith("Largest relative difference of the results that agree 2e-06, allowed")
