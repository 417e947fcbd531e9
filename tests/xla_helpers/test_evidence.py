"""What calls really ran, as a comparison tells it, in numbers that every TensorFlow shows."""

import pytest

import xla_helpers as xh
from xla_helpers.evidence import Evidence

BRIEF = {"rounds": 2, "block": 1e-9, "budget": 0, "strict": False}


def three_operations(x):
    import tensorflow as tf

    return tf.sin(tf.cos(x)) + x


@pytest.fixture
def seen(tf):
    """What a call of a function runs, by what `compare` says of it."""

    def look(fn, *args):
        return xh.compare({"it": fn}, *(args or [tf.ones([3])]), **BRIEF).evidence["it"]

    return look


def test_operations_that_python_starts_are_counted(seen):
    found = seen(three_operations)
    assert (found.mode, found.eager, found.graphs, found.programs) == ("eager", 3, 0, 0)
    assert str(found) == "3 operations"


def test_a_graph_is_no_program_of_xla(tf, seen):
    found = seen(tf.function(three_operations))
    assert (found.mode, found.eager, found.graphs, found.programs) == ("graph", 0, 1, 0)
    assert str(found) == "1 graph"


def test_what_is_compiled_is_seen_in_whatever_calls_it(tf, jit, seen):
    inner = jit(three_operations)
    assert (seen(inner).mode, seen(inner).programs) == ("XLA", 1)
    for wrapper in (lambda x: inner(inner(x)), tf.function(lambda x: inner(inner(x)))):
        found = seen(wrapper)
        assert (found.mode, found.programs) == ("XLA", 2)
        assert str(found).endswith("2 XLA programs")


def test_a_compiled_function_that_runs_eagerly_shows_its_operations(tf, jit, seen):
    tf.config.run_functions_eagerly(True)
    try:
        found = seen(jit(three_operations))
    finally:
        tf.config.run_functions_eagerly(False)
    assert (found.mode, found.eager, found.programs) == ("eager", 3, 0)


def test_nothing_of_tensorflow_is_nothing(seen):
    found = seen(lambda x: 2)
    assert (found.eager, found.graphs, found.programs) == (0, 0, 0)
    assert str(found) == "nothing of TensorFlow"


def test_random_numbers_are_named_with_their_place(tf, seen):
    import keras

    drop = keras.layers.Dropout(0.5, name="drop")
    ((path, kind),) = seen(tf.function(lambda x: drop(x, training=True))).draws
    assert "drop" in path and kind == "StatelessRandomUniformV2"
    assert seen(lambda x: tf.random.normal([2])).draws == (("", "RandomStandardNormal"),)
    assert seen(three_operations).draws == ()


def test_while_somebody_else_records_nothing_is_claimed(tf, seen, tmp_path):
    seen(three_operations)  # what is asked only once is known now
    with tf.profiler.experimental.Profile(str(tmp_path)):
        found = seen(three_operations)
        labels = xh.compare({"XLA": tf.function(three_operations)}, tf.ones([3]), **BRIEF)
    assert not found.seen and str(found) == ""
    assert found.unlike("XLA") == "" and "no compiled program ran" not in str(labels)
    assert seen(three_operations).eager == 3


def test_without_tensorflow_there_is_no_evidence():
    def plain():
        import sys

        import xla_helpers as xh

        found = xh.compare({"a": lambda: 1, "b": lambda: 1}, rounds=2, block=1e-4, budget=0)
        return str(found.evidence["a"]), "tensorflow" in sys.modules

    assert xh.run_in_process(plain).value == ["", False]


NO_XLA = "not XLA: no compiled program ran"
EAGER, GRAPH = Evidence(eager=3, programs=0), Evidence(graphs=2, programs=0)
BOTH = Evidence(eager=1, graphs=1, programs=0)
PROGRAM = Evidence(programs=1)
LOGGED = Evidence(eager=1200, graphs=1, compiled=2)  # by the log, where the profiler shows nothing
UNSEEN = Evidence(graphs=1)  # it may be XLA


@pytest.mark.parametrize(
    ("found", "words", "unlike"),
    [
        (EAGER, "3 operations", ["", "not graph: it ran eagerly", NO_XLA]),
        (GRAPH, "2 graphs", ["not eager: a graph ran", "", NO_XLA]),
        (BOTH, "1 operation, 1 graph", ["not eager alone: a graph ran inside", "", NO_XLA]),
        (PROGRAM, "1 XLA program", ["not eager: XLA ran", "not graph: XLA ran", ""]),
        (
            LOGGED,
            "1,200 operations, 1 graph, 2 XLA programs",
            ["not eager alone: XLA ran inside", "not graph alone: XLA ran inside", ""],
        ),
        (UNSEEN, "", ["", "", ""]),
    ],
)
def test_evidence_in_words_and_beside_a_label(found, words, unlike):
    assert str(found) == words
    assert [found.unlike(mode) for mode in ("eager", "graph", "XLA")] == unlike
