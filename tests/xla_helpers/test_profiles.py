"""Profiles: what is booked on whom, and what a recording of TensorFlow's profiler holds."""

import pytest

from xla_helpers.profiles import Profile, part_of, profile


@pytest.fixture(scope="module")
def model(tf):
    """A convolution, and two layers whose names differ by a number."""
    layers = tf.keras.layers
    sizes = [layers.Input([8, 8, 3]), layers.DepthwiseConv2D(3, name="channels")]
    sizes += [layers.Flatten(name="row"), layers.Dense(64, name="dense")]
    return tf.keras.Sequential([*sizes, layers.Dense(4, name="dense_1")])


def recorded(*starts, calls=1):
    return Profile(calls, starts)


@pytest.mark.parametrize(
    "path, name",
    [
        ("model/dense/MatMul", "dense"),
        ("model_1/dense_1/MatMul", "dense"),
        ("model_1/dense_1_2/MatMul", "dense_1"),
        ("dense_7/row/Reshape", "dense"),
        ("model_1/dense_one/MatMul", None),
        ("", None),
    ],
)
def test_a_path_leads_to_the_first_of_the_names(path, name):
    assert part_of(path, {"dense", "dense_1", "row"}) == name


def test_an_operation_is_booked_until_the_next_one_starts():
    found = recorded((0.0, "m/a/x"), (1.0, "m/b/x"), (1.5, "m/a/y"), (4.0, ""))
    assert found.seconds_by("ab") == {"a": 3.5, "b": 0.5}


def test_what_has_no_name_leaves_the_time_where_it_is():
    found = recorded((0.0, "m/a/x"), (1.0, "Executor"), (2.0, "m/b/x"), (3.0, ""))
    assert found.seconds_by("ab") == {"a": 2.0, "b": 1.0}
    assert found.seconds_by("a") == {"a": 3.0}
    assert found.seconds_by([]) == {}


def test_nothing_is_booked_between_two_calls():
    found = recorded((0.0, "a/x"), (1.0, ""), (9.0, "a/x"), (12.0, ""), calls=2)
    assert found.seconds_by("a") == {"a": 2.0}


def test_what_runs_after_the_last_call_is_not_booked():
    assert recorded((0.0, "a/x"), (1.0, ""), (2.0, "a/x")).seconds_by("a") == {"a": 1.0}


@pytest.mark.parametrize("compiled", [False, True])
def test_layers_are_found_in_a_graph_and_in_a_compiled_program(tf, model, compiled):
    found = profile(tf.function(lambda x: model(x), jit_compile=compiled), tf.ones([1, 8, 8, 3]))
    seconds = found.seconds_by({layer.name for layer in model.layers})
    assert {"channels", "dense", "dense_1"} <= set(seconds)
    assert all(0 < second < 60 for second in seconds.values())
    assert found.calls == [path for _, path in found.starts].count("") == 3
    assert [start for start, _ in found.starts] == sorted(start for start, _ in found.starts)
    assert (found.module is not None) == compiled


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
