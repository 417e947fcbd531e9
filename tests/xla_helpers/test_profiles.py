"""Where the time of a call goes, by layer: of an arithmetic by hand, and of real recordings."""

import pytest

import xla_helpers as xh
from xla_helpers.profiles import Profile

AB = dict.fromkeys("ab")  # paths of two layers
OUTSIDE = "not in a layer"


def test_an_operation_is_booked_until_the_next_one_starts_and_the_sum_is_the_call():
    starts = (0.0, "a call"), (0.5, "m/a/x"), (1.0, "m/add"), (2.0, "m/b/x"), (2.5, "m/a/y")
    found = Profile(1, (*starts, (4.0, "")))
    assert found.seconds_by(AB) == {"a": 2.0, "b": 0.5, OUTSIDE: 1.5}
    assert found.seconds_by({}) == {OUTSIDE: 4.0}


def test_nothing_is_booked_between_two_calls():
    found = Profile(2, ((0.0, "a/x"), (1.0, ""), (9.0, "a/x"), (12.0, "")))
    assert found.seconds_by(AB) == {"a": 2.0}


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
    marks = [start for start, path in found.starts if path in ("one recorded call", "")]
    begins, ends = marks[::3], marks[2::3]
    assert len(begins) == len(ends) == 3
    assert sum(seconds.values()) == pytest.approx(sum(ends) / 3 - sum(begins) / 3)
    assert repr(found).startswith("Profile of 3 calls, ")


def test_instructions_of_one_name_in_two_programs_keep_their_paths(tf, jit):
    one, other = (tf.keras.layers.Activation("tanh", name=name) for name in ("one", "other"))
    first, second = jit(lambda x: one(x)), jit(lambda x: other(x))
    found = xh.profile(lambda x: second(first(x)), tf.ones([64, 64]))
    assert {"one", "other"} <= set(found.seconds_by({"one": one, "other": other}))


def test_the_first_call_is_not_recorded_and_variables_are_as_before(tf):
    total, traced = tf.Variable(0.0), []

    def step(x, scale):
        traced.append(1)
        return total.assign_add(tf.reduce_sum(scale * x))

    found = xh.profile(tf.function(step), tf.ones([3]), scale=tf.constant(2.0))
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
