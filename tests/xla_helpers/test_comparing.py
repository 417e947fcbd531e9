"""Comparisons, most of them on a clock that moves only when a candidate says so."""

import math
import random

import numpy as np
import pytest

import xla_helpers as xh

SHORT = 1e-9  # a block this short holds one call
QUICK = {"rounds": 2, "budget": 0, "block": SHORT, "strict": False}
GOOD = np.array([1.0, 2.0])


def fails(*args):
    raise ArithmeticError("too large")


def title(table):
    return str(table).splitlines()[0]


def line(table, label):
    """The row of a label, as words."""
    return next(x.split() for x in str(table).splitlines()[3:] if x.startswith(f"{label} "))


# Rounds


def test_times_and_results(clock):
    candidates = {"a": clock.takes(8.0, 2.0, result=4.0), "b": clock.takes(0.5, result=4.0)}
    c = xh.compare(candidates, rounds=6, budget=0, clock=clock)
    assert (c["a"].samples, c["b"].samples) == ((2.0,) * 6, (0.5,) * 6)
    assert (c.baseline, c.failures, c["b"].label) == ("a", {}, "b")
    assert [difference.size for difference in c.differences.values()] == [0, 0]
    assert repr(c.ratio("b")) == "4.00x faster [4.00, 4.00]"
    assert title(c).startswith("Largest relative difference of results 0, allowed 0.0001.")


def test_candidates_take_turns_and_the_control_runs_twice(clock):
    candidates = {label: clock.takes(1.0, label=label) for label in "ABC"}
    c = xh.compare(candidates, rounds=3, budget=0, block=SHORT, clock=clock)
    order = "".join(clock.labels)
    assert order.startswith("ABC")
    rounds = [order[-12:][i : i + 4] for i in (0, 4, 8)]
    assert all(sorted(one) == ["A", "A", "B", "C"] for one in rounds)
    assert len(set(rounds)) > 1
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
        def candidate():
            noise = math.exp(self._random.gauss(0, self._noise))
            self.now += seconds * noise * (1 + self._drift * self.now)

        return candidate

    def race(self, a=1.0, b=1.0, **options):
        candidates = {"a": self.takes(a), "b": self.takes(b)}
        return xh.compare(candidates, clock=self, block=SHORT, **options)


def test_a_wide_interval_is_given_the_budget():
    narrow, quick = Machine().race(rounds=7), Machine(noise=0.5).race(rounds=7, budget=0)
    wide = Machine(noise=0.5).race(rounds=7, budget=40)
    lanes = (*wide.measurements.values(), wide.control)
    assert [len(c["a"].samples) for c in (narrow, quick)] == [7, 7]
    assert {len(lane.samples) for lane in lanes} == {len(wide["a"].samples)} != {7}
    assert 40 < sum(sum(lane.samples) for lane in lanes) < 100


def test_a_function_against_itself_is_seldom_called_different():
    machines = [Machine(0.03, seed=seed) for seed in range(100)]
    assert sum(one.race(budget=60).ratio("b").clear for one in machines) <= 5


def test_a_planted_slowdown_is_found():
    for seed in range(10):
        ratio = Machine(0.02, seed=seed).race(b=1.1, budget=60).ratio("b")
        assert ratio.clear and ratio.value < 1


@pytest.mark.parametrize("drift", [-1e-3, 1e-2])
def test_a_clock_that_drifts_becomes_no_difference(drift):
    assert not Machine(drift=drift).race(budget=60).ratio("b").clear
    assert Machine(drift=drift).race(b=0.8, budget=60).ratio("b").clear


def test_the_device_is_awaited(tf, clock, monkeypatch):
    """Calls return at once, and the device then works for half a second on each of them."""
    waiting = []

    def sync_devices():
        clock.now += sum(waiting)
        waiting.clear()

    monkeypatch.setattr(tf.test.experimental, "sync_devices", sync_devices)
    c = xh.compare({"a": lambda: waiting.append(0.5)}, rounds=3, budget=0, block=1.0, clock=clock)
    assert (c["a"].samples, c["a"].calls) == ((0.5,) * 3, 2)


# What is compared


BAD = {
    "raises": (fails, "ArithmeticError: too large"),
    "NaN": (lambda: GOOD * math.nan, "and NaN equals nothing: give other arguments"),
    "shape": (lambda: np.zeros([3]), "its result has shape (3,), that of 'good' has (2,)"),
    "nothing": (lambda: None, "its result has parts [], that of 'good' has ['result']"),
    "value": (lambda: GOOD + [0, 0.5], "by 0.25 (relative), 0.5 (absolute), more than `tolerance`"),
    "a generator": (lambda: (x for x in GOOD), "TypeError: `result` is a generator"),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_candidate_does_not_hide_the_good_ones(clock, bad):
    function, why = BAD[bad]
    good = clock.takes(1.0, result=GOOD)
    with pytest.raises(xh.ComparisonError) as caught:
        candidates = {"good": good, "bad": function, "fine": good}
        xh.compare(candidates, rounds=3, budget=0, clock=clock)
    found = caught.value.found
    assert list(found.measurements) == ["good", "fine"] and list(found.failures) == ["bad"]
    assert why in found.failures["bad"]
    assert str(caught.value) == f"- bad: {found.failures['bad']}\n\n{found}"
    with pytest.raises(KeyError, match="'bad.* was not measured: "):
        found.ratio("bad")


def test_the_first_result_is_the_reference(clock):
    good, other = (clock.takes(1.0, result=result) for result in (GOOD, 1.0))
    c = xh.compare({"other": other, "good": good, "fine": good}, clock=clock, **QUICK)
    assert (list(c.measurements), list(c.failures)) == (["other"], ["good", "fine"])
    assert title(c).startswith("No other result agrees with the first.")
    c = xh.compare({"bad": fails, "good": good, "fine": good}, clock=clock, **QUICK)
    assert (list(c.measurements), c.baseline) == (["good", "fine"], "good")


def test_a_tolerance_allows_what_it_says(clock):
    near = {"a": clock.takes(1.0, result=2.0), "b": clock.takes(1.0, result=3.0)}
    assert xh.compare(near, tolerance=0.25, clock=clock, **QUICK).failures
    c = xh.compare(near, tolerance=0.5, clock=clock, **QUICK)
    assert c.failures == {} and "results 0.5, allowed 0.5" in title(c)


@pytest.mark.parametrize(
    ("candidates", "words"),
    [
        ({"a": lambda: None, "b": lambda: None}, "were not compared: there are none."),
        ({"a": lambda: 1.0}, "were not compared: there is only one."),
        ({"a": lambda: 1.0, "b": fails}, "were not compared: there is only one."),
        ({}, "were not compared: there are none."),
    ],
)
def test_results_that_were_not_compared_are_not_called_equal(candidates, words):
    assert title(xh.compare(candidates, **QUICK)).startswith(f"Results {words}")


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
    assert c.control is None or "breaks" != c.control.label
    assert "MemoryError: no room" in str(c) and c.ratio("fine").value == 1


@pytest.mark.parametrize(
    ("option", "value"), [("rounds", 1.5), ("block", 0), ("budget", -1), ("tolerance", math.nan)]
)
def test_options_that_make_no_sense_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=f"`{option}` is {value!r}: give"):
        xh.compare({"a": fails}, **{option: value})


def test_candidates_without_labels_are_refused():
    with pytest.raises(TypeError, match="`candidates` is list: give a dict, label to function"):
        xh.compare([fails])


# What ran


def test_rows_say_what_really_ran(tf, keep_log):
    keep_log()
    plain, compiled = tf.function(tf.sin), tf.function(tf.sin, jit_compile=True)
    candidates = {"eager": tf.sin, "graph": plain, "XLA": compiled}
    c = xh.compare(candidates, tf.ones([3]), **QUICK)
    assert c.as_labelled and c.control.label == "graph"
    assert [(x.mode, x.programs) for x in c.evidence.values()] == [
        ("eager", 0),
        ("graph", 0),
        ("XLA", 1),
    ]
    assert line(c, "XLA")[1:4] == ["1", "XLA", "program"]
    wrong = xh.compare({"eager": tf.sin, "XLA, padded": plain}, tf.ones([3]), **QUICK)
    assert not wrong.as_labelled and "not XLA: no compiled program ran" in str(wrong)
    assert not xh.Comparison(c.measurements, {}).as_labelled  # nobody saw it


def test_a_saved_model_may_be_a_candidate_by_its_folder(tf, tmp_path):
    module = tf.Module()
    module.__call__ = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([2])])
    tf.saved_model.save(module, str(tmp_path))
    candidates = {"saved": str(tmp_path), "path": tmp_path, "Python": lambda x: 2 * x, "no": "no"}
    c = xh.compare(candidates, tf.ones([2]), **QUICK)
    assert list(c.differences) == ["saved", "path", "Python"]
    assert c.failures == {"no": "ValueError: 'no' is no folder of a SavedModel: it has no graph"}


def test_xla_is_not_asked_where_it_would_end_the_process(tf):
    def words(text):
        return tf.strings.split(text).values

    modes = {"eager": words, "XLA": tf.function(words, jit_compile=True)}
    c = xh.compare(modes, tf.constant(["a b"]), **QUICK)
    assert "it would abort at StringSplit" in c.failures["XLA"] and "eager" in c.measurements


# Variables


def descent(tf, rate=0.1):
    """Weights, and a step that changes them."""
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((weights * x) ** 2)
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return loss

    return weights, step


def test_a_step_trains_nothing_and_its_variables_are_compared(tf):
    weights, step = descent(tf)

    def half_done(x):
        weights.assign_sub(x)
        raise ArithmeticError("too large")

    modes = {"eager": step, "graph": tf.function(step), "broken": half_done}
    c = xh.compare(modes, tf.ones([2]), **QUICK)
    assert list(c.failures) == ["broken"] and weights.numpy().tolist() == [1, 2]
    assert "Variables compared: weights." in title(c)


def test_what_a_graph_changes_is_found_wherever_python_keeps_it(tf):
    class Counter:
        hidden = {"count": tf.Variable(0.0, name="count")}  # noqa: RUF012

        def step(self, by):
            return self.hidden["count"].assign_add(by)

    xh.compare({"graph": tf.function(Counter().step)}, 1.0, **QUICK)
    assert Counter.hidden["count"].numpy() == 0


def test_a_variable_may_be_given(tf):
    weights, _ = descent(tf)
    modes = {"eager": lambda v: v.assign_add(v) * 0, "other": lambda v: v * 0}
    c = xh.compare(modes, weights, **QUICK)
    assert "variables['weights']" in c.failures["other"] and weights.numpy().tolist() == [1, 2]


def test_variables_that_each_candidate_has_for_itself_are_not_compared(tf):
    steps = {"one": descent(tf), "other": descent(tf, rate=0.2)}  # with the same loss
    modes = {label: tf.function(step) for label, (_, step) in steps.items()}
    c = xh.compare(modes, tf.constant([1.0, 3.0]), **QUICK)
    assert c.failures == {} and "has for itself were not compared." in title(c)
    assert [weights.numpy().tolist() for weights, _ in steps.values()] == [[1, 2]] * 2


def test_each_block_begins_with_the_same_values(tf, clock):
    """A step that took longer with each change would not be the same step any more."""
    count, seen = tf.Variable(0.0), []

    def step():
        clock.now += 1
        seen.append(float(count))
        count.assign_add(1.0)

    xh.compare({"step": step}, rounds=3, budget=0, block=SHORT, clock=clock)
    assert set(seen[-6:]) == {0.0}


# What cannot be decided


def test_results_of_drawn_numbers_are_not_compared(tf):
    dropout = [tf.keras.layers.Dropout(0.5, seed=1) for _ in range(2)]
    eager, other = (lambda x, layer=layer: layer(x, training=True) for layer in dropout)
    other = tf.function(other, jit_compile=True)
    c = xh.compare({"eager": eager, "XLA": other}, tf.ones([64]), **QUICK)
    assert c.failures == c.differences == {} and list(c.measurements) == ["eager", "XLA"]
    assert title(c).startswith("Results were not compared: random numbers are drawn (Stateless")
    still, drawn = tf.function(lambda: tf.zeros([9])), tf.function(lambda: tf.random.normal([9]))
    c = xh.compare({"still": still, "drawn": drawn}, **QUICK)
    assert title(c).startswith("Results were not compared: random numbers are drawn (Random")


def test_a_control_that_differs_from_itself_says_how(tf):
    numbers = iter(range(10**9))
    candidates = {"one": lambda: next(numbers), "other": lambda: next(numbers)}
    c = xh.compare(candidates, **QUICK)
    assert c.failures == {} and "called again, one's result differs from the first time" in title(c)
    drawn = tf.function(lambda: tf.constant(next(numbers)))
    c = xh.compare({"graph": drawn, "other": lambda: 0}, **QUICK)
    assert c.failures == {} and "traced anew, graph's result differs" in title(c)


def test_equal_results_are_compared_though_numbers_are_drawn(tf):
    def same():
        return tf.random.stateless_normal([2], [1, 2], alg="philox")

    c = xh.compare({"eager": same, "graph": tf.function(same)}, **QUICK)
    assert c.undecided == "" and list(c.differences) == ["eager", "graph"]


# What a comparison says


def raced(control=None, **samples):
    """A comparison of samples; `control` are those of the first label, raced against itself."""
    measurements = {label: xh.Measurement(label, 1.0, s, 1) for label, s in samples.items()}
    same = dict.fromkeys(samples, xh.largest_difference(1.0, 1.0))
    control = control and xh.Measurement(next(iter(samples)), 1.0, control, 1)
    return xh.Comparison(measurements, same, control=control)


def test_ratios_are_taken_round_by_round():
    c = raced(a=(2.0, 4.0, 8.0), b=(4.0, 1.0, 2.0))
    assert c.ratio("b").value == 4.0  # of 0.5, 4 and 4; the medians would give 2
    assert c.ratio("a", "b").value == 0.25


def test_a_ratio_within_the_noise_of_the_control_is_not_clear():
    near, far = (1.9,) * 7, (1.0,) * 7
    noisy = raced((1.8,) * 7, graph=(2.0,) * 7, near=near, far=far)
    assert noisy.noise == 2 / 1.8 and "graph raced against itself: 1.11x apart." in title(noisy)
    assert not noisy.ratio("near").clear and noisy.ratio("far").clear
    assert noisy.calls_to_repay("near") == math.inf
    assert "no clear difference [1.05, 1.05]" in str(noisy)
    alone = raced(graph=(2.0,) * 7, near=near)
    assert alone.noise == 1 and "itself" not in title(alone)


@pytest.mark.parametrize(
    ("first", "later", "cost", "calls"),
    [
        (8.0, 1.0, None, 6.0),  # the first call took 6 s more, each later one saves 1 s
        (8.0, 1.0, 3.0, 3.0),
        (1.0, 1.0, None, 0.0),
        (8.0, 2.0, None, math.inf),
    ],
)
def test_calls_to_repay(first, later, cost, calls):
    graph = xh.Measurement("graph", 2.0, (2.0,) * 7, 1)
    xla = xh.Measurement("XLA", first, (later,) * 7, 1)
    c = xh.Comparison({"graph": graph, "XLA": xla}, {})
    assert c.calls_to_repay("XLA", cost=cost) == calls
    assert c.calls_to_repay("XLA", "graph", cost) == calls


def test_a_table_and_what_is_not_in_it():
    c = raced(eager=(2.0,) * 6, XLA=(0.5, 1.5) * 3)
    assert (
        str(c).splitlines()[1].split() == "ran first call median spread against eager note".split()
    )
    assert line(c, "eager") == "eager 1 s 2 s 0 s".split()
    assert line(c, "XLA")[-1] == "noisy"
    assert repr(c.ratio("XLA")) in c._repr_html_()
    with pytest.raises(KeyError, match="'graph' was not measured: there is eager, XLA"):
        c.ratio("graph")
    with pytest.raises(KeyError, match="was not measured: there is nothing"):
        xh.Comparison({}, {}).ratio("XLA")
    single = xh.Comparison(raced(a=(2.0,), b=(1.0,)).measurements, {})
    assert title(single) == "Results were not compared." and "2x faster, seen once" in str(single)
