"""Traces and compilations of real functions, and of a real notebook kernel."""

import time

import numpy as np
import pytest

from xla_helpers import startup
from xla_helpers.compilations import CompilationLog
from xla_helpers.logs import check_that_compilations_are_logged
from xla_helpers.processes import run_in_process


def add_one(x):
    return x + 1


# What is recorded


def test_a_function_called_inside_counts_too(new_log, jit, tf):
    inner = jit(add_one)
    log = new_log()
    log.call(tf.function(lambda x: inner(x) * 2), tf.ones([2]))
    assert log.calls[0].compilations == 1


def test_the_result_comes_back(new_log, jit, tf):
    assert new_log().call(jit(add_one), tf.constant(1)).numpy() == 2


def test_seconds_are_those_of_the_parts(new_log, jit, tf):
    log, function = new_log(), jit(add_one)
    for _ in range(2):
        log.call(function, tf.ones([2]))
    first, second = log.calls
    assert first.trace_seconds > 0
    assert first.compile_seconds > 0
    assert second.trace_seconds == second.compile_seconds == 0
    assert second.run_seconds > 0
    assert first.seconds == first.trace_seconds + first.compile_seconds + first.run_seconds


def test_the_python_body_counts_as_tracing(new_log, jit, tf):
    def slow_to_trace(x):
        time.sleep(0.1)
        return x + 1

    log = new_log()
    log.call(jit(slow_to_trace), tf.ones([2]))
    assert log.calls[0].trace_seconds >= 0.1


def test_table(new_log, jit, tf):
    log, function = new_log(), jit(add_one)
    for size in (2, 2):
        log.call(function, tf.ones([size]))
    title, _, _, first, second = str(log).splitlines()
    assert title == "Calls 2, traces 1, compilations 1."
    assert first.split()[:4] == ["1", "add_one", "1", "1"]
    assert first.endswith("first call")
    assert second.split()[:2] == ["2", "add_one"]
    assert len(second.split()) == 4  # its number, its name, a time and its unit
    assert "first call" in log._repr_html_()


def test_a_call_that_raises_is_not_recorded(new_log, jit, tf):
    def fails(x):
        raise ValueError("no such row")

    log = new_log()
    with pytest.raises(ValueError, match="no such row"):
        log.call(jit(fails), tf.ones([2]))
    assert log.calls == []


# What is called


def test_a_plain_function_shows_what_the_graphs_inside_it_cause(new_log, jit, tf):
    """It has no count of its own: traces and their seconds are those that were recorded."""
    graph, compiled = tf.function(add_one), jit(lambda x: 2 * x)

    def twice(x):
        return compiled(graph(x)) + graph(x)

    log = new_log()
    for _ in range(2):
        log.call(twice, tf.ones([2]))
    assert [(c.traces, c.compilations) for c in log.calls] == [(2, 1), (0, 0)]
    first, second = log.calls
    assert 0 < first.trace_seconds < first.seconds
    assert second.trace_seconds == 0
    assert (first.function, str(first.reasons[0])) == ("twice", "first call")


def test_a_plain_function_without_graphs_causes_nothing(new_log, tf):
    log = new_log()
    assert log.call(add_one, 1) == 2
    assert log.causes == [(0, 0)]


def test_a_keras_model_and_its_predict_are_watched(new_log, tf):
    import keras

    model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(2)])
    model.compile(jit_compile=True)
    log = new_log()
    for size in (4, 4):
        log.call(model.predict, np.ones([size, 3]), verbose=0)
    first, second = log.calls
    assert first.function == "predict"
    assert first.traces >= 1 and first.compilations >= 1
    assert (second.traces, second.compilations) == (0, 0)
    log.call(model, tf.ones([4, 3]))
    assert log.calls[2].function == "Sequential"


def test_under_run_functions_eagerly_nothing_is_traced(new_log, jit, tf):
    log = new_log()
    tf.config.run_functions_eagerly(True)
    try:
        log.call(jit(add_one), tf.ones([2]))
    finally:
        tf.config.run_functions_eagerly(False)
    assert log.causes == [(0, 0)]


def test_a_changed_variable_is_named_and_has_its_value_again(new_log, tf):
    weights = tf.Variable([1.0, 2.0], name="weights")
    step = tf.function(lambda x: weights.assign_sub(x))
    log = new_log()
    for _ in range(2):
        result = log.call(step, tf.ones([2]))
    assert result.numpy().tolist() == [0, 1]
    assert weights.numpy().tolist() == [1, 2]
    assert [call.changed for call in log.calls] == [("weights",)] * 2
    assert str(log).startswith(
        "Calls 2, traces 1, compilations 0. Changed and put back: 1 variable.\n"
    )


def test_variables_of_one_name_count_each_and_one_of_two_functions_once(new_log, tf):
    def counter():
        total = tf.Variable(0.0, name="total")
        return lambda: total.assign_add(1.0)

    one, other = counter(), counter()
    log = new_log()
    for fn in (one, other, tf.function(lambda: one())):
        log.call(fn)
    assert [call.changed for call in log.calls][:2] == [("total",)] * 2
    assert "Changed and put back: 2 variables.\n" in str(log)


def test_a_variable_that_the_first_call_makes_is_as_it_was_made(new_log, tf):
    made = []

    @tf.function
    def count():
        if not made:
            made.append(tf.Variable(5.0, name="count"))
        return made[0].assign_add(1.0)

    log = new_log()
    assert [float(log.call(count)) for _ in range(2)] == [6, 6]


def test_variables_are_as_before_after_a_call_that_raises(new_log, tf):
    count = tf.Variable(1.0)

    def fails():
        count.assign_add(1.0)
        raise ValueError("no such row")

    with pytest.raises(ValueError, match="no such row"):
        new_log().call(fails)
    assert count.numpy() == 1


def test_a_call_that_nobody_could_see_into_is_not_called_one_without_traces(new_log, tf, tmp_path):
    graph = tf.function(add_one)
    log = new_log()
    tf.profiler.experimental.start(str(tmp_path))
    try:
        log.call(graph, tf.ones([2]))  # counts its own traces
        with pytest.raises(RuntimeError, match="while something else records a profile"):
            log.call(lambda x: graph(x), tf.ones([2]))
    finally:
        tf.profiler.experimental.stop()
    assert [call.traces for call in log.calls] == [1]


def test_what_cannot_be_called_is_refused(new_log):
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called: pass the function"):
        new_log().call(3)


def test_a_log_that_cannot_count_is_refused_from_the_start(tf, monkeypatch):
    monkeypatch.setattr(startup, "_log_path", None)
    check_that_compilations_are_logged.cache_clear()
    with pytest.raises(RuntimeError, match="Compilations cannot be counted here"):
        CompilationLog()


# Other places to run


SCRIPT = """
import xla_helpers as xh
xh.prepare_tensorflow()
import tensorflow as tf
log = xh.CompilationLog()
f = tf.function(lambda x: x + 1, jit_compile=True)
for size in (2, 3, 3):
    log.call(f, tf.zeros([size]))
[(call.traces, call.compilations, *map(str, call.reasons)) for call in log.calls]
"""
EXPECTED = [(1, 1, "first call"), (1, 1, "shape of `x`: (2,) → (3,)"), (0, 0)]


def test_in_a_plain_script_and_its_output_stays_clean():
    *lines, last = SCRIPT.strip().splitlines()
    run = run_in_process("\n".join([*lines, f"print({last})"]))
    assert run.stdout == f"{EXPECTED}\n"
    assert run.stderr == ""


@pytest.fixture
def notebook(tmp_path):
    """A function that runs cells in a Jupyter kernel and returns the outputs of each."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")

    def run(*cells):
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        resources = {"metadata": {"path": str(tmp_path)}}
        client = nbclient.NotebookClient(made, timeout=120, resources=resources, allow_errors=True)
        return [cell.outputs for cell in client.execute().cells]

    return run


def test_in_a_notebook_kernel(notebook):
    (outputs,) = notebook(SCRIPT.replace("[(call", "str([(call").strip() + ")")
    assert [output.output_type for output in outputs] == ["execute_result"], outputs
    assert outputs[0].data["text/plain"] == repr(str(EXPECTED))
