"""What TensorFlow's log says of compilations: of lines made by hand, and of real ones."""

import pytest

import xla_helpers as xh
from xla_helpers import logs
from xla_helpers.processes import Run

BUILT = "I service.cc:593] BuildExecutable on service 0x1 with serialized module proto: {}[].1\n"
TOOK = (
    "I device_compiler.h:538] Compilation of XLA executable time: {} (cumulative: 9 s, max: 9 s)\n"
)
FAILED = "W op_kernel.cc:1858] OP_REQUIRES failed at xla_ops.cc:602 : INVALID_ARGUMENT\n"
F, G, TWO, THREE = BUILT.format("f"), BUILT.format("g"), TOOK.format("2 s"), TOOK.format("3 s")


@pytest.mark.parametrize(
    ("log", "found"),
    [
        (f"noise ü\n{F}{TWO}{G}Compiled cluster!\n{THREE}", [("f", 2), ("g", 3)]),
        (F + G + TWO + THREE, [("g", 2), ("f", 3)]),  # two at once
        (F + TOOK.format("1e+03 us"), [("f", 1e-3)]),
        (F + TOOK.format("139 ms (139000 us)"), [("f", 0.139)]),
        (F + TOOK.format("2 min"), [("f", 120)]),
        (F + TOOK.format("1.5 h"), [("f", 5400)]),
        (F + G + TWO, [("g", 2)]),  # f was only looked at
        (F + TWO + FAILED, []),
        (F + TWO + FAILED + THREE, []),  # what failed does not lend its name to what was cached
        (F + TWO + FAILED + G + THREE + TWO, [("g", 3)]),
        (F + F + TWO + FAILED + TWO, [("f", 2)]),
        (TWO, []),  # found in a cache on disk
        (BUILT.format("__inference_xla_helpers_probe_3") + TWO, []),
    ],
)
def test_what_was_compiled_to_run_counts_with_its_name_and_seconds(log, found):
    assert Run(None, "", log, 1.0).compilations == [(x, pytest.approx(s)) for x, s in found]


def test_compilations_in_a_block(keep_log, jit, tf):
    def add_one(x):
        return x + 1

    function, refused = jit(add_one), jit(lambda x: tf.strings.as_string(x))
    any_length = jit(add_one, input_signature=[tf.TensorSpec([None])])
    function(tf.ones([2]))
    with xh.watch_compilations() as compiled:
        for size in (2, 3, 3, 4):
            function(tf.ones([size]))
        assert compiled == []
    assert len(compiled) == 2
    assert all("add_one" in name and seconds > 0 for name, seconds in compiled)
    with xh.watch_compilations() as none:
        function(tf.ones([4]))
        xh.inspect_program(function, (tf.ones([5]),))  # only looked at
        with pytest.raises(tf.errors.InvalidArgumentError):
            refused(tf.ones([5]))
    assert none == []
    with xh.watch_compilations() as twice:  # one graph
        any_length(tf.ones([2])), any_length(tf.ones([3]))
    assert len(twice) == 2 and len({one.name for one in twice}) == 1


@pytest.mark.parametrize("kept", ["", "import xla_helpers; xla_helpers.prepare_tensorflow()"])
def test_where_nothing_is_logged_nothing_is_counted_and_the_fix_is_named(kept):
    """Not even where the log is kept, when TensorFlow reads another switch."""
    code = f"""{kept}
import os, xla_helpers as xh
os.environ["TF_CPP_VMODULE"] = ""
with xh.watch_compilations():
    pass
"""
    with pytest.raises(xh.ProcessError, match=r"(?s)cannot be counted.*prepare_tensorflow\(\)"):
        xh.run_in_process(code)


def test_a_comparison_before_the_preparation_takes_no_count_away():
    code = """
import xla_helpers as xh
xh.compare({"abs": abs}, (-1,))
xh.prepare_tensorflow()
import tensorflow as tf
with xh.watch_compilations() as compiled:
    tf.function(abs, jit_compile=True, autograph=False)(tf.ones([2]))
print(len(compiled))
"""
    assert xh.run_in_process(code).stdout == "1\n"


def test_a_log_that_was_deleted_names_the_fix(tf, keep_log, monkeypatch, tmp_path):
    assert logs.compilations_are_logged()
    monkeypatch.setattr(logs, "_path", f"{tmp_path}/gone")
    with pytest.raises(RuntimeError, match=r"prepare_tensorflow\(\)"), xh.watch_compilations():
        pass


@pytest.mark.parametrize(
    ("flags", "background"),
    [
        ("--tf_xla_async_compilation", True),
        ("--tf_xla_auto_jit=2 --tf_xla_async_compilation=true", True),
        ("--tf_xla_async_compilation=false", False),
    ],
)
def test_what_compiles_in_the_background_is_not_counted_and_that_is_said(
    tf, keep_log, monkeypatch, flags, background
):
    monkeypatch.setenv("TF_XLA_FLAGS", flags)
    assert logs.compilations_are_logged() != background
    if background:
        with pytest.raises(RuntimeError, match="in the background"), xh.watch_compilations():
            pass
