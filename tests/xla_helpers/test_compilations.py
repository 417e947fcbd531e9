"""Traces and compilations of real functions, and the reasons beside what they really caused."""

import math
import time

import numpy as np
import pytest

import xla_helpers as xh

FIRST, NOTHING = (1, 1, "first call"), (0, 0)


def add_one(x):
    return x + 1


def power(x, exponent, mode="fast"):
    return x**exponent


@pytest.fixture
def new_log(keep_log):
    def new():
        keep_log()
        return xh.CompilationLog()

    return new


def causes(log):
    return [(call.traces, call.compilations, *map(str, call.reasons)) for call in log.calls]


@pytest.fixture
def caused(new_log):
    """What calls of a function cause, with these arguments one after the other."""

    def look(function, *calls):
        log = new_log()
        for args in calls:
            log.call(function, *args)
        return causes(log)

    return look


def ones(*sizes):
    return [(np.ones([size], np.float32),) for size in sizes]


# What is recorded


def test_seconds_are_those_of_the_parts(new_log, jit, tf):
    def slow_to_trace(x):
        time.sleep(0.1)
        return x + 1

    log, function = new_log(), jit(slow_to_trace)
    results = [log.call(function, tf.ones([2])) for _ in range(2)]
    assert [result.numpy().tolist() for result in results] == [[2, 2]] * 2
    first, second = log.calls
    assert first.trace_seconds >= 0.1 and first.compile_seconds > 0
    assert second.trace_seconds == second.compile_seconds == 0 < second.run_seconds
    assert first.seconds == first.trace_seconds + first.compile_seconds + first.run_seconds


def test_a_log_is_a_table(new_log, jit, tf):
    log, function = new_log(), jit(add_one)
    for _ in range(2):
        log.call(function, tf.ones([2]))
    title, _, _, first, second = str(log).splitlines()
    assert title == "Calls 2, traces 1, compilations 1."
    assert first.split()[:4] == ["1", "add_one", "1", "1"] and first.endswith("first call")
    assert len(second.split()) == 4  # its number, its name, a time and its unit
    assert "first call" in log._repr_html_()


def test_a_call_that_raises_is_not_recorded(new_log, tf):
    def fails(x):
        return tf.debugging.check_numerics(x, "no such row")

    log = new_log()
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such row"):
        log.call(tf.function(fails), math.nan)
    with pytest.raises(TypeError, match="fails is no tf.function that runs as a graph, and nobody"):
        log.call(fails, 1.0)
    assert log.calls == []


def test_a_call_changes_variables_once(new_log, tf):
    total, log = tf.Variable(1.0), new_log()
    step = tf.function(lambda: total.assign_add(1.0))
    assert [float(log.call(step)) for _ in range(2)] == [2, 3]


def test_a_keras_model(new_log, jit):
    import keras

    model = keras.Sequential([keras.layers.Input([4]), keras.layers.Dense(3)])
    log, function = new_log(), jit(model)
    for options in ({}, {}, {"training": True}):
        log.call(function, np.ones([2, 4], np.float32), **options)
    changed = (1, 1, "`training`: not given → True, a Python value")
    assert causes(log) == [FIRST, NOTHING, changed]
    assert {call.function for call in log.calls} == {"Sequential"}


def test_a_saved_model(caused, jit, tf, tmp_path):
    module = tf.Module()
    module.add_one = jit(add_one, input_signature=[tf.TensorSpec([None])])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    shape = (1, "shape of `args[0]`: (2,) → (3,)")
    assert caused(loaded.add_one, *ones(2, 3))[1][1:] == shape


# Why


def test_reduce_retracing_traces_twice_and_compiles_each_shape(caused, jit):
    assert caused(jit(add_one, reduce_retracing=True), *ones(2, 3, 4, 2)) == [
        FIRST,
        (1, 1, "shape of `x`: (2,) → (3,)"),
        (0, 1, "shape of `x`: (3,) → (4,)"),
        NOTHING,
    ]


def test_python_values_tensors_and_types(caused, jit, tf):
    x, integers = tf.ones([2]), tf.ones([3], "int32")
    calls = (x, 2), (x, 3), (x, 2), (integers, 4), (x, tf.constant(2.0)), (x, 2, "exact")
    assert caused(jit(power), *calls) == [
        FIRST,
        (1, 1, "`exponent`: 2 → 3, a Python value"),
        NOTHING,
        (
            *(1, 1, "dtype of `x`: float32 → int32", "shape of `x`: (2,) → (3,)"),
            "`exponent`: 2 → 4, a Python value",
        ),
        (1, 1, "`exponent`: 2, a Python value → a tensor of shape ()"),
        (1, 1, "`mode`: 'fast' → 'exact', a Python value"),
    ]


def test_the_most_similar_earlier_call_is_the_one_compared_with(caused, jit, tf):
    calls = [(tf.ones([2]), 2), (tf.ones([3]), 3), (tf.ones([3]), 2)]
    assert caused(jit(power), *calls)[2] == (1, 1, "`exponent`: 3 → 2, a Python value")


def test_names_defaults_and_options_are_those_of_the_signature(new_log, jit, tf):
    def generate(x, exponent=2, **options):
        return x**exponent * options["beams"]

    log, function, x = new_log(), jit(generate), tf.ones([2])
    for args, options in (
        ((x,), {"beams": 1}),
        ((x, 2), {"beams": 1}),
        ((x,), {"beams": 1, "exponent": 3}),
        ((x,), {"beams": 1, "top": 3}),
        ((x,), {"beams": 2}),
    ):
        log.call(function, *args, **options)
    assert causes(log) == [
        FIRST,
        NOTHING,
        (1, 1, "`exponent`: 2 → 3, a Python value"),
        (1, 1, "`top`: not given → 3, a Python value"),
        (1, 1, "`beams`: 1 → 2, a Python value"),
    ]


def test_parts_of_dicts_and_lists_have_their_own_names(caused, jit, tf):
    def total(batch):
        return batch["ids"][0] + batch["ids"][1] + batch["scale"]

    x, y = tf.ones([2]), tf.ones([1])
    calls = [
        ({"ids": [x, x], "scale": 1, "mask": None},),
        ({"ids": [x, y], "scale": 1, "mask": None},),
        ({"ids": [x, x], "scale": 1},),
        ({"ids": [x, x, x], "scale": 1},),
    ]
    assert caused(jit(total), *calls) == [
        FIRST,
        (1, 1, "shape of `batch['ids'][1]`: (2,) → (1,)"),
        (1, 1, "`batch['mask']`: None, a Python value → not given"),
        (1, 1, "`batch['ids'][2]`: not given → a tensor of shape (2,)"),
    ]


@pytest.mark.parametrize("integer", [np.int32, lambda n: np.array(n, np.int32)])
def test_a_tensor_that_sets_a_shape(caused, jit, tf, integer):
    calls = (integer(3),), (integer(4),), (integer(3),)
    assert caused(jit(lambda n: tf.range(n)), *calls) == [
        FIRST,
        (0, 1, "content of `n`: 3 → 4, which XLA may have to know"),
        NOTHING,
    ]
    assert caused(jit(lambda n: n + 1), *calls) == [FIRST, NOTHING, NOTHING]


def test_what_cannot_be_seen_is_said_to_be_not_known(caused, jit, tf):
    """Such as what many integers hold, and that a tensor became a variable."""
    many, x = tf.range(9), tf.ones([2])
    _, (*counts, reason) = caused(jit(tf.math.bincount), (many,), (2 * many,))
    assert counts == [0, 1] and reason.startswith("not known: ")
    _, (*counts, reason) = caused(jit(add_one), (x,), (tf.Variable(x),))
    assert counts == [1, 1] and reason.startswith("not known: ")


def test_tensors_of_several_parts(caused, tf):
    sparse = [(tf.sparse.from_dense([row]),) for row in ([1, 0], [1, 0, 0])]
    ragged = [(tf.ragged.constant([row]),) for row in ([1], [1, 2])]
    changed = (1, 0, "shape of `x`: (1, 2) → (1, 3)")
    assert caused(tf.function(lambda x: 1), *sparse)[1] == changed
    assert caused(tf.function(lambda x: 1), *ragged)[1] == NOTHING


def test_a_long_python_value_is_cut_in_the_reason_but_not_in_the_comparison(caused, jit, tf):
    names = ["x" * 200 + end for end in "ab"]
    function = jit(lambda x, name: x + len(name))
    _, (_, _, reason) = caused(function, *[(tf.ones([2]), name) for name in names])
    assert reason.startswith("`name`: 'xxx") and "… → 'xxx" in reason and len(reason) < 160


def test_a_function_that_is_wrapped_anew_is_new(new_log, jit, tf):
    log = new_log()
    for fn in (add_one, add_one, lambda x: x + 1):
        log.call(jit(fn), tf.ones([2]))
    new = (1, 1, "a new function object: it shares nothing with the earlier one")
    assert causes(log) == [FIRST, new, FIRST]


def test_methods_are_those_of_their_object(new_log, tf):
    class Scale(tf.Module):
        def __init__(self):
            self.factor = tf.Variable(2.0)

        @tf.function(jit_compile=True)
        def apply(self, x):
            return x * self.factor

    log, one, other = new_log(), Scale(), Scale()
    for scale, size in ((one, 2), (one, 3), (one, 3), (other, 3)):
        log.call(scale.apply, tf.ones([size]))
    assert causes(log) == [FIRST, (1, 1, "shape of `x`: (2,) → (3,)"), NOTHING, FIRST]
