"""What calls really ran, as a comparison tells it, in numbers that every TensorFlow shows."""

from contextlib import nullcontext
from functools import partial

import pytest

import xla_helpers as xh
from xla_helpers import evidence
from xla_helpers.evidence import Evidence, Span, observe


def three_operations(x):
    import tensorflow as tf

    return tf.sin(tf.cos(x)) + x


@pytest.fixture
def seen(tf):
    """What a call of a function runs, by what `compare` says of it."""
    brief = {"rounds": 2, "block": 1e-9, "budget": 0}
    return lambda fn: xh.compare({"it": fn}, (tf.ones([3]),), **brief).evidence["it"]


def test_each_mode_is_seen_in_what_runs(tf, jit, seen):
    graph, compiled = tf.function(three_operations), jit(three_operations)
    none = Evidence(programs=0)
    assert (seen(lambda x: 2), none.mode, str(none)) == (none, "eager", "nothing of TensorFlow")
    assert seen(three_operations) == Evidence(eager=3, programs=0)
    for function in (graph, partial(graph)):
        assert seen(function) == Evidence(graphs=1, programs=0)
    assert (seen(compiled).mode, seen(compiled).programs) == ("XLA", 1)
    tf.config.run_functions_eagerly(True)
    try:
        assert seen(compiled) == Evidence(eager=3, programs=0)
    finally:
        tf.config.run_functions_eagerly(False)


def test_what_is_compiled_is_seen_in_whatever_calls_it(tf, jit, seen):
    inner = jit(three_operations)
    for wrapper in (lambda x: inner(inner(x)), tf.function(lambda x: inner(inner(x)))):
        assert (seen(wrapper).mode, seen(wrapper).programs) == ("XLA", 2)


def test_random_operations_are_named_by_their_types(tf, seen):
    drop = tf.function(lambda x: tf.nn.dropout(tf.random.shuffle(x), 0.5))
    assert seen(drop).random_ops == ("RandomShuffle", "RandomUniform")
    assert seen(lambda x: tf.random.normal([2])).random_ops == ("RandomStandardNormal",)
    assert seen(lambda x: tf.random.split([1, 2])).random_ops == ()  # it prepares seeds


def test_programs_are_counted_where_their_instructions_alone_are_recorded(tf, monkeypatch):
    """As TensorFlow 2.20 records them: two runs of a program, whose loop has three rounds."""
    names = ["fusion", *["body"] * 3] * 2
    spans = [Span(name, 0, 1, "jit_f") for name in names] + [Span("add", 0, 1, "jit_g")]
    monkeypatch.setattr(evidence, "recorded", lambda: nullcontext(["a plane"]))
    monkeypatch.setattr(evidence, "spans_in", lambda planes: spans)
    with observe() as found:
        pass
    assert found[0].programs == 3


def test_while_somebody_else_records_nothing_is_claimed(tf, seen, tmp_path):
    with tf.profiler.experimental.Profile(str(tmp_path)):
        found = seen(three_operations)
    assert (found.programs, str(found), found.unlike("XLA")) == (None, "", "")


def test_the_first_call_is_timed_without_the_profiler(tf, seen, tmp_path):
    recorded = []

    def look(x):
        if tf.executing_eagerly():  # called, not traced
            try:
                with tf.profiler.experimental.Profile(str(tmp_path)):
                    recorded.append(False)
            except tf.errors.OpError:
                recorded.append(True)

    seen(look)
    assert recorded[:2] == [False, True] and not any(recorded[2:])


@pytest.mark.parametrize(
    ("ran", "shown", "unlike"),
    [
        ({"eager": 3, "programs": 0}, "3 operations", "graph XLA"),
        ({"eager": 1, "graphs": 1, "programs": 0}, "1 operation, 1 graph", "eager XLA"),
        ({"eager": 1200, "programs": 2}, "1,200 operations, 2 XLA programs", "eager graph"),
        ({"graphs": 1}, "", ""),  # nothing was recorded: it may be XLA
    ],
)
def test_a_row_says_what_ran_and_which_labels_that_contradicts(ran, shown, unlike):
    found = Evidence(**ran)
    assert str(found) == shown
    assert [mode for mode in ("eager", "graph", "XLA") if found.unlike(mode)] == unlike.split()


def test_what_breaks_the_recording_is_no_failure_of_the_candidate(tf, monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    fn = tf.function(lambda x: x + 1.0)
    found = xh.compare({"graph": fn}, (tf.ones([3]),), rounds=1, budget=0, block=1e-9)
    assert not found.failures and found.evidence["graph"].programs is None
    with pytest.raises(RuntimeError, match="temporary folder"):
        xh.profile(fn, (tf.ones([3]),))
