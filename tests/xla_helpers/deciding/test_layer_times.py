"""The time of a call by layer: from the call in the middle, under the names of the plan."""

from functools import partial
from types import SimpleNamespace

import pytest

from xla_helpers.deciding import layer_times as room
from xla_helpers.deciding.findings import LayerTime
from xla_helpers.deciding.layer_times import layer_times, median_call
from xla_helpers.profiles import NOT_IN_A_LAYER, Profile

OUTSIDE = "one recorded call"


class First(SimpleNamespace):
    """A layer."""


class Second(SimpleNamespace):
    """Another."""


def starts(*calls):
    """Events of calls that follow each other; of each, pairs of path and seconds."""
    now = 0.0
    for call in calls:
        for path, seconds in call:
            yield now, path
            now += seconds
        yield now, ""


def recorded(*calls):
    return Profile(len(calls), tuple(starts(*calls)))


@pytest.fixture
def times(monkeypatch):
    """`layer_times` of a call that was recorded like this, and how many calls were asked for."""
    asked = []

    def find(*calls, lasts=1.0, paths=("a", "b")):
        def profile(call, calls):
            asked.append(calls)
            return found

        found = recorded(*calls)
        monkeypatch.setattr(room, "profile", profile)
        monkeypatch.setattr(room, "layers_of", lambda fn: {"a": First(), "b": Second()})
        return layer_times(partial(abs, 1), "XLA", lasts, paths)

    find.asked = asked
    return find


CALL = ((OUTSIDE, 2.0), ("a/MatMul", 1.0), ("b/MatMul", 3.0), ("a/Tanh", 0.5))


def test_the_layer_that_takes_longest_comes_first(times):
    assert times(CALL) == (
        LayerTime("XLA", "b", "Second", 3.0),
        LayerTime("XLA", NOT_IN_A_LAYER, "", 2.0),
        LayerTime("XLA", "a", "First", 1.5),
    )


def test_a_fresh_copy_has_the_names_of_the_plan(times):
    found = times(CALL, paths=("dense", "dense_1"))
    assert [row.layer for row in found] == ["dense_1", NOT_IN_A_LAYER, "dense"]


def test_names_of_other_layers_are_not_taken(times):
    for paths in ((), ("dense",), ("dense", "dense_1", "dense_2")):
        assert [row.layer for row in times(CALL, paths=paths)] == ["b", NOT_IN_A_LAYER, "a"]


@pytest.mark.parametrize(("lasts", "calls"), [(1e-6, 21), (0.1, 10), (30.0, 1)])
def test_short_calls_are_recorded_more_often(times, lasts, calls):
    times(CALL, lasts=lasts)
    assert times.asked == [calls]


def test_the_call_in_the_middle_counts(times):
    calls = [[("a/x", seconds)] for seconds in (1.0, 50.0, 2.0)]
    assert median_call(recorded(*calls)).seconds_by({"a": None}) == {"a": 2.0}
    assert [row.seconds for row in times(*calls)] == [2.0]


def test_of_a_graph_all_layers_are_seen(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Dense(4, name="first"), layers.Dense(2, name="second")])
    call = partial(tf.function(lambda x: model(x)), tf.ones([3, 5]))
    call()
    found = layer_times(call, "graph", 0.5, ("first", "second"))
    kinds = {(row.layer, row.kind) for row in found}
    assert kinds == {("first", "Dense"), ("second", "Dense"), (NOT_IN_A_LAYER, "")}
    assert all(row.mode == "graph" and row.seconds > 0 for row in found)
    assert list(found) == sorted(found, key=lambda row: -row.seconds)
