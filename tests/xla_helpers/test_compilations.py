"""Traces and compilations of real functions, and of a real notebook kernel."""

import time

import pytest

from xla_helpers import startup
from xla_helpers.compilations import (
    Compilation,
    CompilationLog,
    _check_that_compilations_are_logged,
    compilations_in,
    watch_compilations,
)
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


BUILT = "I service.cc:593] BuildExecutable on service 0x1 with serialized module proto: {}[].1\n"
TOOK = (
    "I device_compiler.h:538] Compilation of XLA executable time: {} (cumulative: 9 s, max: 9 s)\n"
)
FAILED = "W op_kernel.cc:1858] OP_REQUIRES failed at xla_ops.cc:602 : INVALID_ARGUMENT\n"


def test_names_and_seconds_are_those_that_tensorflow_logs():
    first = ["noise ü\n", BUILT.format("__inference_f_12"), TOOK.format("2.5 s")]
    second = [BUILT.format("cluster_0"), "Compiled cluster!\n", TOOK.format("40 ms (40000 us)")]
    compilations = compilations_in("".join(first + second))
    assert compilations == [
        Compilation(name="__inference_f_12", seconds=2.5),
        Compilation(name="cluster_0", seconds=0.04),
    ]


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


def test_neither_a_look_at_a_program_nor_a_refused_one_counts(keep_log, jit, tf):
    keep_log()
    function, refused = jit(add_one), jit(lambda x: tf.strings.as_string(x))
    with watch_compilations() as compiled:
        function.experimental_get_compiler_ir(tf.ones([5]))("optimized_hlo")
        with pytest.raises(tf.errors.InvalidArgumentError):
            refused(tf.ones([5]))
    assert compiled == []


def test_compilations_in_a_block(keep_log, jit, tf):
    keep_log()
    function = jit(add_one)
    function(tf.ones([2]))
    with watch_compilations() as compiled:
        for size in (2, 3, 3, 4):
            function(tf.ones([size]))
        assert compiled == []
    assert len(compiled) == 2
    assert all("add_one" in name and seconds > 0 for name, seconds in compiled)
    with watch_compilations() as none:
        function(tf.ones([4]))
    assert none == []


def test_one_graph_compiled_for_two_shapes_is_one_name_twice(keep_log, jit, tf):
    keep_log()
    function = jit(add_one, input_signature=[tf.TensorSpec([None])])
    with watch_compilations() as compiled:
        for size in (2, 3):
            function(tf.ones([size]))
    assert len(compiled) == 2 and len({compilation.name for compilation in compiled}) == 1


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


def test_a_plain_function_is_refused(new_log, tf):
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


def test_many_logs_do_not_make_tensorflow_warn(new_log, tf, unchecked, caplog):
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
