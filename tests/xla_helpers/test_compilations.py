"""Traces and compilations of real functions, and of a real notebook kernel.

Between the phases of a test pytest takes file descriptor 2 for itself, so each test
gives it back to TensorFlow's log first. Nobody else needs this.
"""

import os
import time

import numpy as np
import pytest

from xla_helpers import CompilationLog, compilations_in, programs_compiled, run_in_process, startup
from xla_helpers.compilations import _check_that_compilations_are_logged

NEW = "a new function object: it shares nothing with the earlier one"


def send_stderr_to_the_log():
    """Again, because pytest takes file descriptor 2 for each test."""
    log = os.open(startup.log_path(), os.O_WRONLY | os.O_APPEND)
    os.dup2(log, 2)
    os.close(log)


def new_log():
    send_stderr_to_the_log()
    return CompilationLog()


def causes(log):
    """Of each call: traces, compilations, reasons."""
    return [(call.traces, call.compilations, *call.reasons) for call in log.calls]


@pytest.fixture
def record(tf):
    """A function that records calls, each a tuple of arguments and perhaps a dict of options."""

    def record(function, *calls):
        log = new_log()
        for call in calls:
            *args, options = call if isinstance(call[-1], Options) else (*call, {})
            log.call(function, *args, **options)
        return causes(log)

    return record


class Options(dict):
    """Keyword arguments."""


@pytest.fixture
def jit(tf):
    """`tf.function` with ``jit_compile=True``."""
    return lambda function, **options: tf.function(function, jit_compile=True, **options)


def add_one(x):
    return x + 1


# Shapes


def shapes(*sizes):
    return [(np.zeros([size], np.float32),) for size in sizes]


def test_a_new_shape_traces_and_compiles(record, jit):
    assert record(jit(add_one), *shapes(2, 3, 2, 4)) == [
        (1, 1, "first call"),
        (1, 1, "shape of `x`: (2,) → (3,)"),
        (0, 0),
        (1, 1, "shape of `x`: (2,) → (4,)"),
    ]


def test_reduce_retracing_traces_twice_and_compiles_each_shape(record, jit):
    assert record(jit(add_one, reduce_retracing=True), *shapes(2, 3, 4, 5)) == [
        (1, 1, "first call"),
        (1, 1, "shape of `x`: (2,) → (3,)"),
        (0, 1, "shape of `x`: (3,) → (4,)"),
        (0, 1, "shape of `x`: (4,) → (5,)"),
    ]


def test_input_signature_traces_once_and_compiles_each_shape(record, jit, tf):
    signature = [tf.TensorSpec([None])]
    assert record(jit(add_one, input_signature=signature), *shapes(2, 3, 2)) == [
        (1, 1, "first call"),
        (0, 1, "shape of `x`: (2,) → (3,)"),
        (0, 0),
    ]


def test_without_jit_nothing_compiles(record, tf):
    assert record(tf.function(add_one), *shapes(2, 3)) == [
        (1, 0, "first call"),
        (1, 0, "shape of `x`: (2,) → (3,)"),
    ]


# Other arguments


def power(x, exponent, mode="fast"):
    return x**exponent


def test_python_values(record, jit, tf):
    x = tf.ones([2])
    assert record(jit(power), (x, 2), (x, 3), (x, 2), (x, tf.constant(2.0))) == [
        (1, 1, "first call"),
        (1, 1, "`exponent`: 2 → 3, a Python value"),
        (0, 0),
        (1, 1, "`exponent`: 2, a Python value → a tensor of shape ()"),
    ]


def test_keyword_arguments_and_defaults(record, jit, tf):
    x = tf.ones([2])
    calls = [(x, 2), (x, Options(exponent=2, mode="exact")), (x, 2, Options(mode="fast"))]
    assert record(jit(power), *calls) == [
        (1, 1, "first call"),
        (1, 1, "`mode`: 'fast' → 'exact', a Python value"),
        (0, 0),
    ]


def test_options_taken_by_double_star(record, jit, tf):
    def generate(x, **options):
        return x * options["num_beams"]

    x = tf.ones([2])
    calls = [(x, Options(num_beams=1)), (x, Options(num_beams=2)), (x, Options(num_beams=2, top=3))]
    assert record(jit(generate), *calls) == [
        (1, 1, "first call"),
        (1, 1, "`num_beams`: 1 → 2, a Python value"),
        (1, 1, "`top`: not given → 3, a Python value"),
    ]


def test_dtypes(record, jit, tf):
    calls = [(tf.ones([2], dtype),) for dtype in ("float32", "int32", "float32")]
    assert record(jit(add_one), *calls) == [
        (1, 1, "first call"),
        (1, 1, "dtype of `x`: float32 → int32"),
        (0, 0),
    ]


def test_two_changes_are_two_reasons(record, jit, tf):
    calls = [(tf.ones([2]), 2), (tf.ones([3], "int32"), 3)]
    assert record(jit(power), *calls)[1] == (
        *(1, 1),
        "dtype of `x`: float32 → int32",
        "shape of `x`: (2,) → (3,)",
        "`exponent`: 2 → 3, a Python value",
    )


def test_the_most_similar_earlier_call_is_the_one_compared_with(record, jit, tf):
    calls = [(tf.ones([2]), 2), (tf.ones([3]), 3), (tf.ones([3]), 2)]
    assert record(jit(power), *calls)[2] == (1, 1, "`exponent`: 3 → 2, a Python value")


@pytest.mark.parametrize("integer", ["tensor", np.int32, lambda n: np.array(n, np.int32)])
def test_a_tensor_that_sets_a_shape(record, jit, tf, integer):
    integer = tf.constant if integer == "tensor" else integer

    def count(n):
        return tf.range(n)

    assert record(jit(count), (integer(3),), (integer(4),), (integer(3),)) == [
        (1, 1, "first call"),
        (0, 1, "content of `n`: 3 → 4, a tensor that sets a shape"),
        (0, 0),
    ]


def test_a_tensor_that_sets_no_shape_may_hold_anything(record, jit, tf):
    assert record(jit(add_one), (tf.constant(3),), (tf.constant(4),)) == [
        (1, 1, "first call"),
        (0, 0),
    ]


def test_nested_arguments(record, jit, tf):
    def total(batch):
        return batch["ids"][0] + batch["ids"][1] + batch["scale"]

    x, y = tf.ones([2]), tf.ones([1])
    calls = [
        ({"ids": [x, x], "scale": 1},),
        ({"ids": [x, y], "scale": 1},),
        ({"ids": [x, x], "scale": 2},),
        ({"ids": [x, x], "scale": 1, "mask": None},),
        ({"ids": [x, x, x], "scale": 1},),
    ]
    assert record(jit(total), *calls) == [
        (1, 1, "first call"),
        (1, 1, "shape of `batch['ids'][1]`: (2,) → (1,)"),
        (1, 1, "`batch['scale']`: 1 → 2, a Python value"),
        (1, 1, "`batch['mask']`: not given → None, a Python value"),
        (1, 1, "`batch['ids'][2]`: not given → a tensor of shape (2,)"),
    ]


def test_a_part_that_is_gone(record, jit, tf):
    x = tf.ones([2])
    calls = [({"x": x, "extra": 1},), ({"x": x},)]
    assert record(jit(lambda d: d["x"] + 1), *calls)[1] == (
        1,
        1,
        "`d['extra']`: 1, a Python value → not given",
    )


def test_a_variable_in_place_of_a_tensor(record, jit, tf):
    x = tf.ones([2])
    assert record(jit(add_one), (x,), (tf.Variable(x),)) == [
        (1, 1, "first call"),
        (1, 1, "`x`: a tensor of shape (2,) → a variable of shape (2,)"),
    ]


# Functions


def test_a_new_function_object_in_a_loop(jit, tf):
    log = new_log()
    for _ in range(3):
        log.call(jit(add_one), tf.ones([2]))
    assert causes(log) == [(1, 1, "first call"), (1, 1, NEW), (1, 1, NEW)]
    assert (log.traces, log.compilations) == (3, 3)


def test_functions_of_other_names_do_not_mix(jit, tf):
    log = new_log()
    log.call(jit(add_one), tf.ones([2]))
    log.call(jit(power), tf.ones([2]), 2)
    assert [call.function for call in log.calls] == ["add_one", "power"]
    assert causes(log) == [(1, 1, "first call")] * 2


def test_a_function_called_inside_counts_too(jit, tf):
    inner = jit(add_one)
    log = new_log()
    log.call(tf.function(lambda x: inner(x) * 2), tf.ones([2]))
    assert log.calls[0].compilations == 1


def test_a_method(tf):
    class Scale(tf.Module):
        def __init__(self):
            self.factor = tf.Variable(2.0)

        @tf.function(jit_compile=True)
        def apply(self, x):
            return x * self.factor

    scale, log = Scale(), new_log()
    for size in (2, 3, 3):
        log.call(scale.apply, tf.ones([size]))
    assert causes(log) == [(1, 1, "first call"), (1, 1, "shape of `x`: (2,) → (3,)"), (0, 0)]


@pytest.fixture(scope="module")
def model(tf):
    import keras

    return keras.Sequential([keras.layers.Input([4]), keras.layers.Dense(3)])


@pytest.mark.parametrize(("part", "name"), [("call", "call"), (None, "Sequential")])
def test_a_keras_model_and_its_method(jit, tf, model, part, name):
    function = jit(getattr(model, part) if part else model)
    log = new_log()
    for batch in (1, 2, 2):
        log.call(function, tf.ones([batch, 4]))
    log.call(function, tf.ones([2, 4]), training=True)
    assert causes(log) == [
        (1, 1, "first call"),
        (1, 1, "shape of `inputs`: (1, 4) → (2, 4)"),
        (0, 0),
        (1, 1, "`training`: None → True, a Python value"),
    ]
    assert {call.function for call in log.calls} == {name}


# What is recorded


def test_the_result_comes_back(jit, tf):
    assert new_log().call(jit(add_one), tf.constant(1)).numpy() == 2


def test_seconds_are_those_of_the_parts(jit, tf):
    log, function = new_log(), jit(add_one)
    for _ in range(2):
        log.call(function, tf.ones([2]))
    first, second = log.calls
    assert first.trace_seconds > 0
    assert first.compile_seconds > 0
    assert second.trace_seconds == second.compile_seconds == 0
    assert second.run_seconds > 0
    assert first.seconds == first.trace_seconds + first.compile_seconds + first.run_seconds


def test_the_python_body_counts_as_tracing(jit, tf):
    def slow_to_trace(x):
        time.sleep(0.1)
        return x + 1

    log = new_log()
    log.call(jit(slow_to_trace), tf.ones([2]))
    assert log.calls[0].trace_seconds >= 0.1


BUILT = "I service.cc:593] BuildExecutable on service 0x1 with serialized module proto: {}[].1\n"
TOOK = (
    "I device_compiler.h:538] Compilation of XLA executable time: {} (cumulative: 9 s, max: 9 s)\n"
)
FAILED = "W op_kernel.cc:1858] OP_REQUIRES failed at xla_ops.cc:602 : INVALID_ARGUMENT\n"


def test_names_and_seconds_are_those_that_tensorflow_logs():
    first = ["noise ü\n", BUILT.format("__inference_f_12"), TOOK.format("2.5 s")]
    second = [BUILT.format("cluster_0"), "Compiled cluster!\n", TOOK.format("40 ms (40000 us)")]
    compilations = compilations_in("".join(first + second))
    assert compilations == [("__inference_f_12", 2.5), ("cluster_0", 0.04)]


@pytest.mark.parametrize(
    ("shown", "seconds"),
    [("1e+03 us", 1e-3), ("139 ms", 0.139), ("1.5 s", 1.5), ("2 min", 120), ("1.5 h", 5400)],
)
def test_seconds_are_read_in_every_unit(shown, seconds):
    log = BUILT.format("f") + TOOK.format(shown)
    assert compilations_in(log) == [("f", pytest.approx(seconds))]


def test_two_compilations_at_once_both_count():
    built, took = BUILT.format("f") + BUILT.format("g"), TOOK.format("2 s") + TOOK.format("3 s")
    assert compilations_in(built + took) == [("g", 2), ("f", 3)]


def test_only_what_was_compiled_to_run_counts():
    looked_at, took = BUILT.format("f"), TOOK.format("2 s")
    assert compilations_in(looked_at + BUILT.format("g") + took) == [("g", 2)]
    assert compilations_in(looked_at + took + FAILED) == []
    assert compilations_in(took) == []  # found in a cache on disk


def test_neither_a_look_at_a_program_nor_a_refused_one_counts(jit, tf):
    send_stderr_to_the_log()
    function, refused = jit(add_one), jit(lambda x: tf.strings.as_string(x))
    with programs_compiled() as names:
        function.experimental_get_compiler_ir(tf.ones([5]))("optimized_hlo")
        with pytest.raises(tf.errors.InvalidArgumentError):
            refused(tf.ones([5]))
    assert names == []


def test_programs_compiled_in_a_block(jit, tf):
    send_stderr_to_the_log()
    function = jit(add_one)
    function(tf.ones([2]))
    with programs_compiled() as names:
        for size in (2, 3, 3, 4):
            function(tf.ones([size]))
        assert names == []
    assert len(names) == 2
    with programs_compiled() as none:
        function(tf.ones([4]))
    assert none == []


def test_table(jit, tf):
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


def test_a_call_that_raises_is_not_recorded(jit, tf):
    def fails(x):
        raise ValueError("no such row")

    log = new_log()
    with pytest.raises(ValueError, match="no such row"):
        log.call(jit(fails), tf.ones([2]))
    assert log.calls == []


def test_a_plain_function_is_refused(tf):
    with pytest.raises(TypeError, match="`fn` is function, not a tf.function: nothing else is"):
        new_log().call(add_one, 1)


# When compilations cannot be counted


@pytest.fixture
def unchecked():
    """As in a new process, where it is not known whether compilations are logged."""
    _check_that_compilations_are_logged.cache_clear()
    yield
    _check_that_compilations_are_logged.cache_clear()


MEND = r"Restart the kernel and call xla_helpers.prepare_tensorflow\(\) before `import tensorflow`"


def test_a_log_that_is_not_kept_is_said_with_the_mend(tf, unchecked, monkeypatch):
    monkeypatch.setattr(startup, "_log_path", None)
    with pytest.raises(RuntimeError, match=f"TensorFlow's log is not kept. {MEND}"):
        CompilationLog()


def test_a_switch_that_was_not_read_is_said_with_the_mend(tf, unchecked, monkeypatch, tmp_path):
    """As when TensorFlow was imported first: nothing is added to its log."""
    (tmp_path / "log").write_text("Compiled long_ago 1 times, compile time: 7 us\n")
    monkeypatch.setattr(startup, "_log_path", str(tmp_path / "log"))
    with pytest.raises(RuntimeError, match=f"a test compilation left no line in the log. {MEND}"):
        CompilationLog()


def test_many_logs_do_not_make_tensorflow_warn(tf, unchecked, caplog):
    for _ in range(8):
        new_log()
    assert "retracing" not in caplog.text


# Other places to run


SCRIPT = """
import xla_helpers as xh
xh.prepare_tensorflow()
import tensorflow as tf
log = xh.CompilationLog()
f = tf.function(lambda x: x + 1, jit_compile=True)
for size in (2, 3, 3):
    log.call(f, tf.zeros([size]))
[(call.traces, call.compilations, *call.reasons) for call in log.calls]
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


def test_a_long_python_value_is_cut_in_the_reason_but_not_in_the_comparison(jit, tf):
    long = "x" * 200
    log = new_log()
    f = jit(lambda x, name: x + len(name))
    log.call(f, tf.ones([2]), long + "a")
    log.call(f, tf.ones([2]), long + "b")
    (reason,) = log.calls[1].reasons
    assert reason.startswith("`name`: 'xxx") and reason.endswith("…, a Python value")
    assert len(reason) < 160
