"""Everything here runs on a clock that stands still, so that every number is exact."""

import gc

import pytest

from xla_helpers.timing import MAX_CALLS, ROUNDS, Measurement, calibrate, measure, time_block


def test_the_first_call_is_apart_from_the_samples(clock):
    m = measure(clock.takes(8.0, 0.5), rounds=4, clock=clock)
    assert m.first == 8.0
    assert m.samples == (0.5, 0.5, 0.5, 0.5)
    assert m.median == 0.5


def test_fifteen_rounds_unless_told(clock):
    assert len(measure(clock.takes(1.0), clock=clock).samples) == ROUNDS == 15


@pytest.mark.parametrize(
    ("seconds", "calls"),
    [(1.0, 1), (1 / 16, 1), (1 / 32, 2), (1 / 128, 8), (1 / 1024, 64)],
)
def test_a_block_holds_as_many_calls_as_fill_it(clock, seconds, calls):
    function = clock.takes(seconds)
    assert calibrate(function, block=1 / 16, clock=clock) == calls
    m = measure(function, block=1 / 16, clock=clock)
    assert m.calls == calls
    assert set(m.samples) == {seconds}


def test_calibration_ends_when_the_clock_does_not_move(clock):
    assert calibrate(lambda: None, clock=clock) == MAX_CALLS


def test_a_sample_is_the_seconds_of_one_call_in_its_block(clock):
    assert time_block(clock.takes(0.25, 0.75), calls=2, clock=clock) == 0.5


def test_the_arguments_arrive(clock):
    seen = set()

    def function(*args, **kwargs):
        seen.add((*args, *kwargs.items()))
        clock.now += 1

    measure(function, 1, "two", training=False, clock=clock)
    assert seen == {(1, "two", ("training", False))}


def test_the_device_is_awaited(tf, clock, monkeypatch):
    """Calls return at once, and the device then works for half a second on each of them."""
    waiting = []

    def sync_devices():
        clock.now += sum(waiting)
        waiting.clear()

    monkeypatch.setattr(tf.test.experimental, "sync_devices", sync_devices)
    m = measure(lambda: waiting.append(0.5), rounds=3, block=1.0, clock=clock)
    assert m.first == 0.5
    assert m.samples == (0.5, 0.5, 0.5)


def test_the_garbage_collector_rests_meanwhile(clock):
    collecting = []

    def function():
        clock.now += 1
        collecting.append(gc.isenabled())

    measure(function, rounds=3, clock=clock)
    assert not any(collecting[-3:])
    assert gc.isenabled()


def test_median_and_spread():
    m = Measurement("f", first=1.0, samples=(5.0, 1.0, 2.0, 3.0, 4.0), calls=1)
    assert m.median == 3.0
    assert m.spread == 2.0  # from 2 to 4, the first and the third quartile


@pytest.mark.parametrize(("high", "noisy"), [(1.14, False), (1.16, True)])
def test_noisy_when_the_middle_half_is_wide(high, noisy):
    samples = tuple(0.001 * seconds for seconds in (1.0, 1.0, 1.0, high, high))
    m = Measurement("f", first=1.0, samples=samples, calls=1)
    assert m.noisy is noisy
    assert ("noisy" in repr(m)) is noisy


def test_one_outlier_is_not_noise():
    assert not Measurement("f", first=1.0, samples=(1.0,) * 14 + (100.0,), calls=1).noisy


def test_repr_is_one_line():
    m = Measurement("eager", first=2.0, samples=(0.001, 0.001), calls=20)
    assert repr(m) == "eager: 1 ms, spread 0 s (2 samples of 20), first call 2 s"


def test_the_label_is_the_name_of_the_function_unless_told(clock):
    def fused(x):
        clock.now += 1

    assert measure(fused, 1, clock=clock).label == "fused"
    assert measure(fused, 1, label="XLA", clock=clock).label == "XLA"


def test_variables_are_as_before_though_each_call_changes_them(tf, clock):
    total = tf.Variable(1.0)

    def add():
        clock.now += 1
        total.assign_add(1.0)

    assert len(measure(add, rounds=3, clock=clock).samples) == 3
    assert total.numpy() == 1


def test_a_saved_model_is_measured_by_its_folder(tf, clock, tmp_path):
    module = tf.Module()
    module.__call__ = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path))
    measured = measure(tmp_path, tf.constant(1.0), rounds=2, block=1e-9)
    assert measured.label == "the function of a SavedModel"


def test_measurements_are_frozen():
    m = Measurement("f", 1.0, (1.0,), 1)
    with pytest.raises(AttributeError):
        m.first = 0.0


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called: pass the function"):
        measure(3)


@pytest.mark.parametrize("name", ["rounds", "block"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), None, "3"])
def test_counts_that_are_not_positive_are_refused(name, value):
    called = []
    with pytest.raises(ValueError, match=f"`{name}` is {value!r}: give a number above zero"):
        measure(lambda: called.append(1), **{name: value})
    assert not called


@pytest.mark.parametrize("good_calls", [0, 1, 5])
def test_what_the_function_raises_comes_through(clock, good_calls):
    countdown = iter(range(good_calls))

    def function():
        clock.now += 1
        if next(countdown, None) is None:
            raise LookupError("no such row")

    with pytest.raises(LookupError, match="no such row"):
        measure(function, clock=clock)
    assert gc.isenabled()
