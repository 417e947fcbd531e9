"""Profiles: what is booked on whom, and what a recording of TensorFlow's profiler holds."""

import pytest

from xla_helpers.layers import layers_of
from xla_helpers.profiles import NOT_IN_A_LAYER, Profile, profile

AB = dict.fromkeys("ab")  # paths of two layers


@pytest.fixture(scope="module")
def model(tf):
    """A convolution, and two layers whose names differ by a number."""
    layers = tf.keras.layers
    sizes = [layers.Input([8, 8, 3]), layers.DepthwiseConv2D(3, name="channels")]
    sizes += [layers.Flatten(name="row"), layers.Dense(64, name="dense")]
    return tf.keras.Sequential([*sizes, layers.Dense(4, name="dense_1")])


def recorded(*starts, calls=1):
    return Profile(calls, starts)


def test_an_operation_is_booked_until_the_next_one_starts():
    found = recorded((0.0, "m/a/x"), (1.0, "m/b/x"), (1.5, "m/a/y"), (4.0, ""))
    assert found.seconds_by(AB) == {"a": 3.5, "b": 0.5}


def test_what_is_in_no_layer_is_booked_apart_and_the_sum_is_the_call():
    found = recorded((0.0, "a call"), (0.5, "m/a/x"), (1.0, "m/add"), (2.0, "m/b/x"), (3.0, ""))
    assert found.seconds_by(AB) == {"a": 0.5, "b": 1.0, NOT_IN_A_LAYER: 1.5}
    assert found.seconds_by({}) == {NOT_IN_A_LAYER: 3.0}


def test_nothing_is_booked_between_two_calls():
    found = recorded((0.0, "a/x"), (1.0, ""), (9.0, "a/x"), (12.0, ""), calls=2)
    assert found.seconds_by(AB) == {"a": 2.0}


@pytest.mark.parametrize("compiled", [False, True])
def test_layers_are_found_in_a_graph_and_in_a_compiled_program(tf, model, compiled):
    found = profile(tf.function(lambda x: model(x), jit_compile=compiled), tf.ones([1, 8, 8, 3]))
    seconds = found.seconds_by(layers_of(model))
    assert {"channels", "dense", "dense_1", NOT_IN_A_LAYER} <= set(seconds)
    assert all(0 < second < 60 for second in seconds.values())
    assert found.calls == [path for _, path in found.starts].count("") == 3
    assert [start for start, _ in found.starts] == sorted(start for start, _ in found.starts)
    assert (found.module is not None) == compiled


@pytest.mark.parametrize("compiled", [False, True])
def test_the_sum_of_all_layers_is_what_the_calls_took(tf, model, compiled):
    found = profile(tf.function(lambda x: model(x), jit_compile=compiled), tf.ones([1, 8, 8, 3]))
    marks = [start for start, path in found.starts if path in ("one recorded call", "")]
    begins, ends = marks[::3], marks[2::3]
    assert len(begins) == len(ends) == 3
    assert sum(found.seconds_by(layers_of(model)).values()) == pytest.approx(
        sum(ends) / 3 - sum(begins) / 3
    )


@pytest.mark.parametrize("compiled", [False, True])
def test_a_layer_inside_of_a_model_is_booked_by_its_path(tf, model, compiled):
    outer = tf.keras.Sequential([tf.keras.layers.Rescaling(2.0, name="scale"), model])
    model_name = outer.layers[-1].name
    fn = tf.function(lambda x: outer(x), jit_compile=compiled)
    seconds = profile(fn, tf.ones([1, 8, 8, 3]), calls=1).seconds_by(layers_of(fn))
    assert {f"{model_name}/channels", f"{model_name}/dense_1"} <= set(seconds)


def test_arguments_may_be_named(tf):
    fn = tf.function(lambda x, scale: scale * x)
    assert profile(fn, tf.ones([3]), scale=tf.constant(2.0), calls=1).calls == 1


def test_the_program_is_the_largest_one_that_ran(tf, model):
    small = tf.function(lambda x: 2 * x, jit_compile=True)
    large = tf.function(lambda x: model(x), jit_compile=True)
    x = tf.ones([1, 8, 8, 3])
    module = profile(lambda x: large(small(x)), x, calls=1).module
    instructions = [i for computation in module.computations for i in computation.instructions]
    assert "convolution" in {instruction.opcode for instruction in instructions}
    assert any("channels" in instruction.metadata.op_name for instruction in instructions)
    module = profile(small, x).module  # the large one is compiled, but rests
    assert "convolution" not in {i.opcode for c in module.computations for i in c.instructions}


def test_the_first_call_is_not_recorded(tf):
    traced = []
    fn = tf.function(lambda x: (traced.append(1), x * x)[1])
    found = profile(fn, tf.ones([3]), calls=2)
    assert len(traced) == 1 and repr(found).startswith("Profile of 2 calls, ")


def test_a_call_that_raises_ends_the_recording(tf):
    behaves = [None]

    def fails_later():
        behaves.pop()

    with pytest.raises(IndexError):
        profile(fails_later)
    assert profile(lambda: tf.ones([2]), calls=1).calls == 1


@pytest.mark.parametrize(
    "fn, calls, error", [(3, 1, TypeError), (abs, 0, ValueError), (abs, "two", ValueError)]
)
def test_arguments_that_make_no_sense_are_refused(fn, calls, error):
    with pytest.raises(error):
        profile(fn, 1, calls=calls)
