"""The race over a stream, by a clock that moves when a test says so."""

from collections import Counter

import numpy as np
import pytest

from xla_decide.stream import Example, Stream
from xla_decide.stream_race import Passes, race_passes
from xla_helpers import timing
from xla_helpers.calls import Call
from xla_helpers.variables import Snapshot


def stream_of(*shapes):
    counts = {shape: shapes.count(shape) for shape in shapes}
    return Stream(counts, tuple(Example(n, shape, ()) for n, shape in enumerate(shapes)))


def race(clock, stream, budget=1.0, **seconds):
    """label to the seconds of the call of each example."""
    calls = {x: [Call(clock.takes(s, label=x)) for s in mine] for x, mine in seconds.items()}
    return race_passes(stream, calls, Snapshot(), budget, clock)


def test_a_stream_costs_what_its_calls_cost_whatever_their_order(clock):
    for order in (1, -1):
        found = race(
            clock, stream_of(*"aaab"[::order]), graph=[0.1, 0.1, 0.1, 0.9][::order], XLA=[0.1] * 4
        )
        assert found.call("graph") == pytest.approx(0.3) and found.call("XLA") == pytest.approx(0.1)
        assert found.ratio("XLA").value == pytest.approx(3.0)


def test_eight_passes_are_timed_and_the_first_is_not(clock):
    warm = clock.takes(9e-3, 1e-3)  # the first call of all is slow
    calls = {"graph": [Call(clock.takes(2e-3))], "XLA": [Call(warm)]}
    found = race_passes(stream_of("a"), calls, Snapshot(), 1.0, clock)
    assert len(found.seconds["graph"]) == 8
    assert found.seconds["XLA"].max() == pytest.approx(1e-3)


def test_a_pass_of_short_calls_is_repeated_until_it_is_long_enough(clock):
    race(clock, stream_of("a"), graph=[1e-4], XLA=[1e-4])
    assert 200 <= clock.labels.count("XLA") / 8 <= 201  # 20 ms


def test_a_candidate_that_takes_no_time_makes_the_others_no_longer(clock):
    race(clock, stream_of("a"), graph=[2e-3], XLA=[1e-6])
    assert 8 * 10 <= clock.labels.count("graph") / 2 <= 8 * 11  # 20 ms, and with the control
    assert clock.labels.count("XLA") > 8 * 5_000


def test_too_long_a_sample_is_thinned_and_not_cut_off(clock):
    found = race(clock, stream_of(*"abcdefgh"), budget=8.0, graph=[0.1] * 8, XLA=[0.1] * 8)
    assert found.shapes == ("a", "d", "g") and len(found.seconds["graph"]) == 8


def test_where_tests_ask_for_less_the_budget_shrinks(clock, monkeypatch):
    monkeypatch.setenv("XLA_EFFORT", "0.25")
    found = race(clock, stream_of(*"abcdefgh"), budget=32.0, graph=[0.1] * 8, XLA=[0.1] * 8)
    assert found.shapes == ("a", "d", "g")  # as with a quarter of it


@pytest.mark.parametrize(("seconds", "timed"), [(2.0, 3), (9.0, 2), (20.0, 1)])
def test_calls_that_take_long_are_given_fewer_passes_and_a_wide_margin(clock, seconds, timed):
    found = race(clock, stream_of("a"), budget=5.0, graph=[seconds], XLA=[seconds / 4])
    assert len(found.seconds["graph"]) == timed
    ratio = found.ratio("XLA")
    assert (ratio.low, ratio.value, ratio.high) == pytest.approx((4 / 1.5, 4, 4 * 1.5))


def test_a_candidate_that_fails_leaves_and_the_graph_ends_it(clock):
    def bad():
        raise OSError("no more")

    calls = {"graph": [Call(clock.takes(1e-2))], "mine": [Call(bad)]}
    found = race_passes(stream_of("a"), calls, Snapshot(), 1.0, clock)
    assert "no more" in found.failures["mine"] and list(found.seconds) == ["graph"]
    with pytest.raises(OSError, match="no more"):
        race_passes(stream_of("a"), {"graph": [Call(bad)]}, Snapshot(), 1.0, clock)


def test_page_faults_are_those_of_a_call(clock, monkeypatch):
    """Not those of a pass, which has three calls, or is repeated."""
    total = Counter()

    def touch():
        clock.now += 1e-3
        total["faults"] += 7

    monkeypatch.setattr(timing, "page_faults", lambda: total["faults"])
    calls = {"graph": [Call(touch)] * 3, "XLA": [Call(clock.takes(1e-3))] * 3}
    found = race_passes(stream_of(*"aab"), calls, Snapshot(), 1.0, clock)
    assert found.faults == {"graph": 7.0, "XLA": 0.0}


def test_variables_begin_each_pass_anew_and_not_each_call(tf):
    total, seen = tf.Variable(0.0), []

    def add():
        seen.append(float(total.assign_add(1.0)))

    snapshot = Snapshot()
    snapshot.add([total])
    race_passes(stream_of(*"ab"), {"graph": [Call(add)] * 2}, snapshot, 0.1)
    assert seen[:4] == [1.0, 2.0, 1.0, 2.0] and float(total) == 0


def made(xla, is_sample, weights=None):
    """Eight passes; of XLA the seconds of each example."""
    seconds = {"graph": [1.0] * len(xla), "XLA": xla}
    arrays = {label: np.tile(mine, (8, 1)) for label, mine in seconds.items()}
    weights = weights or (1 / len(xla),) * len(xla)
    return Passes(arrays, tuple("a" * len(xla)), weights, is_sample)


def test_the_interval_of_a_sample_holds_which_examples_were_drawn():
    """Nothing varies between passes, and much between examples."""
    xla = [0.1] * 9 + [9.0] * 3
    alike, sample = (made(xla, is_sample).ratio("XLA") for is_sample in (False, True))
    assert alike.low == alike.high == pytest.approx(alike.value)
    assert sample.low < 0.6 * sample.value and sample.high > 1.5 * sample.value


def test_an_example_that_stands_for_hardly_any_call_moves_no_interval():
    """It is slow, and drawn as often as the others, each time with its own weight."""
    found = made([0.5] * 11 + [99.0], True, (1 / 11,) * 11 + (1e-9,)).ratio("XLA")
    assert (found.low, found.high) == pytest.approx((2.0, 2.0), rel=1e-3)


def test_calls_of_one_shape_that_lie_far_apart_are_told():
    assert made([1.0, 1.9], False).uneven("XLA") == {}
    assert made([1.0, 2.5], False).uneven("XLA") == {"a": 2.5}


def test_a_gpu_is_waited_for_and_a_processor_is_not(clock, monkeypatch):
    for needed in (True, False):
        waits = []
        monkeypatch.setattr(timing, "needs_waiting", lambda needed=needed: needed)
        monkeypatch.setattr(timing, "wait_for_device", lambda waits=waits: waits.append(1))
        race(clock, stream_of("a"), graph=[1.0], XLA=[1.0])
        assert bool(waits) == needed
