"""Where the time of a call goes, by layer: of an arithmetic by hand, and of real recordings."""

import time

import pytest

import xla_helpers as xh
from xla_helpers.look.profiles import Profile

AB = dict.fromkeys("ab")  # paths of two layers
OUTSIDE = "not in a layer"


def test_an_operation_is_booked_until_the_next_one_starts_and_the_sum_is_the_call():
    starts = (0.0, "a call"), (0.5, "m/a/x"), (1.0, "m/add"), (2.0, "m/b/x"), (2.5, "m/a/y")
    found = Profile(1, (*starts, (4.0, "")))
    assert found.seconds_by(AB) == {"a": 2.0, "b": 0.5, OUTSIDE: 1.5}
    assert found.seconds_by({}) == {OUTSIDE: 4.0}
    twice = Profile(2, ((0.0, "a/x"), (1.0, ""), (9.0, "a/x"), (12.0, "")))
    assert twice.seconds_by(AB) == {"a": 2.0}  # nothing between two calls


def test_a_call_takes_as_long_as_by_the_clock(tf):
    start = time.perf_counter()
    found = xh.profile(lambda: time.sleep(0.05))
    elapsed = time.perf_counter() - start
    [(place, seconds)] = found.seconds_by({}).items()
    assert place == OUTSIDE and seconds > 0.049
    assert found.calls * seconds < elapsed


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
    found = xh.profile(function, (tf.ones([1, 8, 8, 3]),))
    seconds = found.seconds_by(xh.layers_of(model))
    assert {"inner/channels", "inner/dense", "inner/dense_1", OUTSIDE} <= set(seconds)
    assert function.experimental_get_tracing_count() == 1
    assert all(second > 0 for second in seconds.values())
    marks = [start for start, path in found.starts if path in ("one recorded call", "")]
    begins, ends = marks[::3], marks[2::3]
    assert len(begins) == len(ends) == found.calls == 3
    assert sum(seconds.values()) == pytest.approx(sum(ends) / 3 - sum(begins) / 3)


def test_instructions_of_one_name_in_two_programs_keep_their_paths(tf, jit):
    one, other = (tf.keras.layers.Activation("tanh", name=name) for name in ("one", "other"))
    first, second = jit(lambda x: one(x)), jit(lambda x: other(x))
    found = xh.profile(lambda x: second(first(x)), (tf.ones([64, 64]),))
    assert {"one", "other"} <= set(found.seconds_by({"one": one, "other": other}))


def test_variables_are_restored_and_a_recording_of_others_is_left_alone(tf, tmp_path):
    total = tf.Variable(0.0)
    xh.profile(tf.function(total.assign_add), (), {"delta": 1.0})
    with pytest.raises(IndexError):
        xh.profile(([None] * 3).pop)  # while it is recorded
    with tf.profiler.experimental.Profile(str(tmp_path)), pytest.raises(RuntimeError):
        xh.profile(tf.function(lambda: total.assign_add(1.0)))
    assert total.numpy() == 0 and list(tmp_path.rglob("*.xplane.pb"))
