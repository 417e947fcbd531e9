"""Traces and compilations of real functions, and the reasons beside what they really caused."""

import functools
import gc
import math
import time
import weakref
from contextlib import nullcontext

import numpy as np
import pytest

import xla_helpers as xh
from xla_helpers.logs import Compilation
from xla_helpers.look import compilations

FIRST, NOTHING = (1, 1, "first call"), (0, 0)


def add_one(x):
    return x + 1


def power(x, exponent, mode="fast"):
    return x**exponent


def causes(log):
    return [(call.traces, call.compilations, *map(str, call.reasons)) for call in log.calls]


@pytest.fixture
def caused(keep_log):
    """What calls of a function cause, with these arguments one after the other."""

    def look(function, *calls):
        log = xh.CompilationLog()
        for args in calls:
            log.call(function, args)
        return causes(log)

    return look


def test_a_call_runs_once_and_its_seconds_are_those_of_the_parts(keep_log, jit, tf):
    log, total = xh.CompilationLog(), tf.Variable(1.0)

    def slow_to_trace(x):
        time.sleep(0.1)
        return total.assign_add(x)

    function = jit(slow_to_trace)
    assert [float(log.call(function, (1.0,))) for _ in range(2)] == [2, 3]
    first, second = log.calls
    assert first.trace_seconds >= 0.1 and first.compile_seconds > 0
    assert second.trace_seconds == second.compile_seconds == 0 < second.run_seconds


def test_running_is_what_compiling_leaves_of_a_call(tf, monkeypatch):
    """The first one traces for 4 s, and compiles for 2 of 5 s; the second one runs for 1 s."""
    took, compiled = iter([4.0, 5.0, 4.0, 1.0]), iter([[Compilation("f", 2.0)], []])
    monkeypatch.setattr(compilations, "timed", lambda fn: (next(took), fn()))
    monkeypatch.setattr(compilations, "watch_compilations", lambda: nullcontext(next(compiled)))
    log, function = xh.CompilationLog(), tf.function(add_one)
    for _ in range(2):
        log.call(function, (tf.ones([2]),))
    parts = [(x.trace_seconds, x.compile_seconds, x.run_seconds) for x in log.calls]
    assert parts == [(4.0, 2.0, 3.0), (0.0, 0.0, 1.0)]


def test_a_call_that_raises_is_not_recorded(keep_log, tf):
    checked = tf.function(lambda x: tf.debugging.check_numerics(x, "no such row"))
    log = xh.CompilationLog()
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such row"):
        log.call(checked, (math.nan,))
    with pytest.raises(TypeError, match=r"tf\.function"):
        log.call(len, ("plain Python",))
    assert log.calls == []


def test_a_partial_of_a_keras_model(keep_log, jit):
    import keras

    model = keras.Sequential([keras.layers.Input([4]), keras.layers.Dense(3)])
    log, function = xh.CompilationLog(), jit(model)
    for options in ({}, {}, {"training": True}):
        log.call(functools.partial(function, **options), (np.ones([2, 4], np.float32),))
    assert causes(log) == [FIRST, NOTHING, (1, 1, "`training`: not given → True, a Python value")]
    assert {call.function for call in log.calls} == {"Sequential"}


def test_reduce_retracing_traces_twice_and_compiles_each_shape(caused, jit, tf):
    calls = [(tf.ones([size]),) for size in (2, 3, 4, 2)]
    assert caused(jit(add_one, reduce_retracing=True), *calls) == [
        FIRST,
        (1, 1, "shape of `x`: (2,) → (3,)"),
        (0, 1, "shape of `x`: (3,) → (4,)"),
        NOTHING,
    ]


def test_python_values_tensors_and_types(caused, jit, tf):
    x, integers = tf.ones([2]), tf.ones([3], "int32")
    calls = (x, 2), (x, 3), (x, 2), (integers, 2), (x, tf.constant(2.0)), (x, 2, "exact")
    assert caused(jit(power), *calls) == [
        FIRST,
        (1, 1, "`exponent`: 2 → 3, a Python value"),
        NOTHING,
        (1, 1, "dtype of `x`: float32 → int32", "shape of `x`: (2,) → (3,)"),
        (1, 1, "`exponent`: 2, a Python value → a tensor of shape ()"),
        (1, 1, "`mode`: 'fast' → 'exact', a Python value"),
    ]


def test_names_defaults_and_options_are_those_of_the_signature(keep_log, jit, tf):
    def generate(x, exponent=2, **options):
        return x**exponent * options["beams"]

    log, function, x = xh.CompilationLog(), jit(generate), tf.ones([2])
    for options in ({}, {"exponent": 2}, {"exponent": 3}, {"top": 3}, {"beams": 2}):
        log.call(function, (x,), {"beams": 1} | options)
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
    calls = [({"ids": ids, "scale": 1},) for ids in ([x, x], [x, y], [x, x, x])]
    assert caused(jit(total), *calls) == [
        FIRST,
        (1, 1, "shape of `batch['ids'][1]`: (2,) → (1,)"),
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


def test_a_function_that_is_wrapped_anew_is_new(keep_log, jit, tf):
    log = xh.CompilationLog()
    for fn in (add_one, add_one, lambda x: x + 1):
        log.call(jit(fn), (tf.ones([2]),))
    new = (1, 1, "a new function object: it shares nothing with the earlier one")
    assert causes(log) == [FIRST, new, FIRST]


class Array(np.ndarray):
    """An array that can be referred to weakly."""


@pytest.mark.parametrize("around", [lambda x: x, lambda x: {"x": [x]}, lambda x: (x, 2.0)])
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_a_log_keeps_no_argument_alive(keep_log, tf, around, kind):
    """A thousand calls with large batches would fill the memory."""
    log, function = xh.CompilationLog(), tf.function(lambda given: tf.constant(1.0))
    array = np.ones([1000], np.float32).view(Array) if kind == "array" else tf.ones([1000])
    log.call(function, (around(array),))
    alive = weakref.ref(array)
    del array
    gc.collect()
    assert alive() is None and log.traces == 1
