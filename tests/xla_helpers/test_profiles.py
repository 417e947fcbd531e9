"""Where the time of a call goes, by layer: of seconds by hand, and of real recordings."""

import time

import pytest

import xla_helpers as xh
from xla_helpers.profiles import Profile

OUTSIDE = "not in a layer"


def test_seconds_are_booked_on_the_innermost_layer_of_their_path():
    seconds = {"m/a/x": 1.0, "m/a/y": 0.5, "m/b/a/x": 2.0, "m/add": 0.25, "one recorded call": 1.0}
    found = Profile(2, 9, seconds)
    layers = dict.fromkeys(("a", "b", "b/a"))
    assert found.seconds_by(layers) == {"a": 1.5, "b/a": 2.0, OUTSIDE: 1.25}
    assert found.seconds_by({}) == {OUTSIDE: 4.75}
    assert repr(found) == "Profile of 2 calls, 9 events"


@pytest.fixture(scope="module")
def model(tf):
    """A convolution, and two layers whose names differ by a number, inside of another model."""
    layers = tf.keras.layers
    sizes = [layers.Input([8, 8, 3]), layers.DepthwiseConv2D(3, name="channels")]
    sizes += [layers.Flatten(name="row"), layers.Dense(64, name="dense")]
    inner = tf.keras.Sequential([*sizes, layers.Dense(4, name="dense_1")], name="inner")
    return tf.keras.Sequential([layers.Rescaling(2.0, name="scale"), inner])


@pytest.mark.parametrize("compiled", [False, True])
def test_layers_are_found_in_a_graph_and_in_a_compiled_program(tf, model, compiled):
    function = tf.function(lambda x: model(x), jit_compile=compiled)
    found = xh.profile(function, tf.ones([1, 8, 8, 3]))
    seconds = found.seconds_by(xh.layers_of(model))
    assert {"inner/channels", "inner/dense", "inner/dense_1", OUTSIDE} <= set(seconds)
    assert all(0 < second < 60 for second in seconds.values())
    assert found.seconds["one recorded call"] > 0 and found.events >= 3 * 3
    assert sum(seconds.values()) == pytest.approx(sum(found.seconds.values()))


def test_instructions_of_one_name_in_two_programs_keep_their_paths(tf, jit):
    one, other = (tf.keras.layers.Activation("tanh", name=name) for name in ("one", "other"))
    first, second = jit(lambda x: one(x)), jit(lambda x: other(x))
    found = xh.profile(lambda x: second(first(x)), tf.ones([64, 64]))
    assert {"one", "other"} <= set(found.seconds_by({"one": one, "other": other}))


def test_nothing_is_booked_twice_the_first_call_is_not_and_variables_are_as_before(tf):
    total, traced = tf.Variable(0.0), []

    def step(x, scale):
        traced.append(1)
        return total.assign_add(tf.reduce_sum(scale * x))

    graph, started = tf.function(step), time.perf_counter()

    def slow_step(*args, **kwargs):
        time.sleep(0.02)
        return graph(*args, **kwargs)

    found = xh.profile(slow_step, tf.ones([3]), scale=tf.constant(2.0))
    assert 0.02 < sum(found.seconds.values()) < (time.perf_counter() - started) / 4
    assert len(traced) == 1 and found.calls == 3 and total.numpy() == 0


def test_a_call_that_raises_ends_the_recording_and_one_of_others_is_left_alone(tf, tmp_path):
    behaves = [None]
    with pytest.raises(IndexError):
        xh.profile(lambda: behaves.pop())
    with tf.profiler.experimental.Profile(str(tmp_path)):
        with pytest.raises(RuntimeError, match="end that first"):
            xh.profile(lambda: tf.ones([2]))
    assert xh.profile(lambda: tf.ones([2])).calls == 3
    assert list(tmp_path.rglob("*.xplane.pb"))
    with pytest.raises(TypeError, match="cannot be called"):
        xh.profile(3)
