"""What TensorFlow's log says of compilations: of lines made by hand, and of real ones."""

import pytest

import xla_helpers as xh

BUILT = "I service.cc:593] BuildExecutable on service 0x1 with serialized module proto: {}[].1\n"
TOOK = (
    "I device_compiler.h:538] Compilation of XLA executable time: {} (cumulative: 9 s, max: 9 s)\n"
)
FAILED = "W op_kernel.cc:1858] OP_REQUIRES failed at xla_ops.cc:602 : INVALID_ARGUMENT\n"


def add_one(x):
    return x + 1


def test_names_and_seconds_are_those_that_tensorflow_logs():
    first = ["noise ü\n", BUILT.format("__inference_f_12"), TOOK.format("2.5 s")]
    second = [BUILT.format("cluster_0"), "Compiled cluster!\n", TOOK.format("40 ms (40000 us)")]
    found = xh.compilations_in("".join(first + second))
    assert [(one.name, one.seconds) for one in found] == [
        *(("__inference_f_12", 2.5), ("cluster_0", 0.04))
    ]


@pytest.mark.parametrize(
    ("shown", "seconds"),
    [("1e+03 us", 1e-3), ("139 ms", 0.139), ("1.5 s", 1.5), ("2 min", 120), ("1.5 h", 5400)],
)
def test_seconds_are_read_in_every_unit(shown, seconds):
    (found,) = xh.compilations_in(BUILT.format("f") + TOOK.format(shown))
    assert found.seconds == pytest.approx(seconds)


def test_two_compilations_at_once_both_count():
    built, took = BUILT.format("f") + BUILT.format("g"), TOOK.format("2 s") + TOOK.format("3 s")
    assert xh.compilations_in(built + took) == [("g", 2), ("f", 3)]


def test_only_what_was_compiled_to_run_counts():
    looked_at, took = BUILT.format("f"), TOOK.format("2 s")
    assert xh.compilations_in(looked_at + BUILT.format("g") + took) == [("g", 2)]
    assert xh.compilations_in(looked_at + took + FAILED) == []
    assert xh.compilations_in(took) == []  # found in a cache on disk
    assert xh.compilations_in(BUILT.format("__inference_xla_helpers_probe_3") + took) == []


def test_compilations_in_a_block(keep_log, jit, tf):
    keep_log()
    function, refused = jit(add_one), jit(lambda x: tf.strings.as_string(x))
    function(tf.ones([2]))
    with xh.watch_compilations() as compiled:
        for size in (2, 3, 3, 4):
            function(tf.ones([size]))
        assert compiled == []
    assert len(compiled) == 2
    assert all("add_one" in name and seconds > 0 for name, seconds in compiled)
    with xh.watch_compilations() as none:
        function(tf.ones([4]))
        xh.inspect_program(function, tf.ones([5]))  # only looked at
        with pytest.raises(tf.errors.InvalidArgumentError):
            refused(tf.ones([5]))
    assert none == []


def test_one_graph_compiled_for_two_shapes_is_one_name_twice(keep_log, jit, tf):
    keep_log()
    function = jit(add_one, input_signature=[tf.TensorSpec([None])])
    with xh.watch_compilations() as compiled:
        for size in (2, 3):
            function(tf.ones([size]))
    assert len(compiled) == 2 and len({compilation.name for compilation in compiled}) == 1


@pytest.mark.parametrize("kept", [True, False])
def test_where_nothing_is_logged_nothing_is_counted_and_the_mend_is_named(kept):
    """Not even where the log is kept, when TensorFlow reads another switch."""

    def without_the_switch(kept):
        import os

        import xla_helpers as xh

        if kept:
            xh.prepare_tensorflow()
            os.environ["TF_CPP_VMODULE"] = ""
        with xh.watch_compilations():
            pass

    flags = {"TF_CPP_VMODULE": "", "TF_CPP_MIN_LOG_LEVEL": "0"}
    with pytest.raises(xh.ProcessError) as raised:
        xh.run_in_process(without_the_switch, kept, flags=flags)
    assert "Compilations cannot be counted here" in str(raised.value)
    assert "call xla_helpers.prepare_tensorflow() before `import tensorflow`" in str(raised.value)
