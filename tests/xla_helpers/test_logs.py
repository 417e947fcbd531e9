"""What TensorFlow's log says: of lines made by hand, and of real compilations."""

import pytest

from xla_helpers import logs, startup
from xla_helpers.logs import (
    Compilation,
    check_that_compilations_are_logged,
    compilations_are_logged,
    compilations_in,
    log_end,
    log_since,
    run_probe,
    watch_compilations,
)


def add_one(x):
    return x + 1


# Lines


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


# Real compilations


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


# When compilations cannot be counted


@pytest.fixture
def unchecked():
    """As in a new process, where it is not known whether compilations are logged."""
    for proof in (check_that_compilations_are_logged, compilations_are_logged):
        proof.cache_clear()
    yield
    for proof in (check_that_compilations_are_logged, compilations_are_logged):
        proof.cache_clear()


MEND = r"Restart the kernel and call xla_helpers.prepare_tensorflow\(\) before `import tensorflow`"


def test_a_log_that_is_not_kept_is_said_with_the_mend(tf, unchecked, monkeypatch):
    monkeypatch.setattr(startup, "_log_path", None)
    with pytest.raises(RuntimeError, match=f"TensorFlow's log is not kept. {MEND}"):
        check_that_compilations_are_logged()
    assert not compilations_are_logged()


def test_a_switch_that_was_not_read_is_said_with_the_mend(tf, unchecked, monkeypatch, tmp_path):
    """As when TensorFlow was imported first: nothing is added to its log."""
    (tmp_path / "log").write_text("Compiled long_ago 1 times, compile time: 7 us\n")
    monkeypatch.setattr(startup, "_log_path", str(tmp_path / "log"))
    with pytest.raises(RuntimeError, match=f"a test compilation left no line in the log. {MEND}"):
        watch_compilations().__enter__()


@pytest.mark.parametrize("logged", [True, False])
def test_one_proof_is_enough(keep_log, unchecked, monkeypatch, tmp_path, logged):
    """TensorFlow would warn of many."""
    keep_log()
    if not logged:
        (tmp_path / "log").write_text("")
        monkeypatch.setattr(startup, "_log_path", str(tmp_path / "log"))
    proofs = []
    monkeypatch.setattr(logs, "run_probe", lambda: proofs.append(run_probe()))
    for _ in range(8):
        assert compilations_are_logged() is logged
    assert len(proofs) == 1


def test_the_probe_is_compiled_whatever_was_set_and_never_counts(tf, keep_log):
    keep_log()
    position = log_end()
    tf.config.run_functions_eagerly(True)
    try:
        run_probe()
    finally:
        tf.config.run_functions_eagerly(False)
    assert "xla_helpers_probe" in log_since(position)
    assert compilations_in(log_since(position)) == []
