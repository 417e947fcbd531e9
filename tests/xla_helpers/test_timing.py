"""Single measurements."""

import gc
import time
from functools import partial

import pytest

import xla_helpers as xh
from xla_helpers import comparing, timing
from xla_helpers.timing import Measurement


def test_the_first_call_is_apart_from_the_samples(tf):
    naps = iter([0.1])
    m = xh.measure(lambda: tf.executing_eagerly() and time.sleep(next(naps, 0.001)), rounds=4)
    assert m.first >= 0.1 > m.median and min(m.samples) >= 0.001
    assert len(m.samples) == 4 and m.calls <= 20


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
    for function in (graph, partial(graph), graph.get_concrete_function(one, given)):
        xh.measure(function, (one, given), rounds=2)
        assert (total.numpy(), given.numpy()) == (1, 2)
    xh.measure(lambda given: given.assign_add(1.0), (given,), rounds=2)
    assert given.numpy() == 2  # what is an argument is known without a trace


def test_each_block_begins_with_the_same_values(tf, monkeypatch):
    """A step that takes longer with each change would not be the same step any more."""
    count, first = tf.Variable(0.0), []
    step = tf.function(lambda: count.assign_add(1.0))

    def time_block(call, calls):
        first.append(float(count))
        return timing.time_block(call, calls)

    monkeypatch.setattr(comparing, "time_block", time_block)
    xh.measure(step, rounds=3)
    assert first == [0, 0, 0] and float(count) == 0


class KeepsATensor:
    """As a model does that makes its mask at the first call."""

    def __init__(self, tf):
        self._tf, self._mask = tf, None

    def __call__(self, x):
        if self._mask is None:
            self._mask = self._tf.ones_like(x)
        return x * self._mask


@pytest.mark.parametrize("look", ["measure", "profile", "inspect_program", "compare"])
def test_an_object_that_keeps_a_tensor_can_be_called_afterwards(tf, look):
    """So plain Python is called, and not traced."""
    model, x = KeepsATensor(tf), tf.ones([2])
    getattr(xh, look)({"it": model} if look == "compare" else model, (x,))
    assert model(x).numpy().tolist() == [1, 1]


def test_a_block_ends_when_the_device_has_finished(tf, clock, monkeypatch):
    """On a processor it always has; here a device needs 3 s more."""

    def finish():
        clock.now += 3.0

    monkeypatch.setattr(tf.test.experimental, "sync_devices", finish)
    call = clock.takes(1.0)
    assert timing.time_block([call], 5, clock).seconds == (5 * 1.0 + 3.0) / 5
    monkeypatch.setattr(timing.time, "perf_counter", clock)
    assert timing.timed(call)[0] == 4.0


def test_a_disturbed_first_look_is_looked_at_again(clock):
    """Three times, and the shortest counts: so a block is as long as it should be."""
    disturbed = clock.takes(0.4, 0.4, 0.4, 0.1)
    assert timing.calibrate([disturbed], 0.4, clock) == 4


def test_seconds_shrink_where_tests_ask_for_less(clock, monkeypatch):
    def calls():  # of a block of 0.02 seconds
        return xh.compare({"a": clock.takes(0.0005)}, rounds=1, budget=0, clock=clock)["a"].calls

    assert calls() == 40
    monkeypatch.setenv("XLA_EFFORT", "0.25")
    assert calls() == 10
    rounds = [len(xh.measure(abs, (1,), rounds=n).samples) for n in (1, 9, 15, 60)]
    assert rounds == [1, 9, 9, 15]
    for wrong in ("no", "0", "-1", "nan"):
        monkeypatch.setenv("XLA_EFFORT", wrong)
        with pytest.raises(ValueError, match="XLA_EFFORT"):
            xh.measure(abs, (1,))


def test_an_error_comes_through():
    with pytest.raises(StopIteration):
        xh.measure(partial(next, iter(range(5))))
    with pytest.raises(TypeError):
        xh.measure(len, "ab")


def test_median_iqr_and_noise():
    m = Measurement("eager", 2.0, (5.0, 1.0, 2.0, 3.0, 4.0), 20)
    assert (m.median, m.iqr, m.noisy) == (3.0, 2.0, True)  # from 2 to 4, the middle half
    for high, noisy in ((1.14, False), (1.16, True)):
        assert Measurement("f", 1.0, (1.0, 1.0, 1.0, high, high), 1).noisy is noisy
    assert not Measurement("f", 1.0, (1.0,) * 14 + (100.0,), 1).noisy  # one outlier
