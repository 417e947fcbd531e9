"""What real calls ran. Numbers are those that every supported TensorFlow shows."""

import pytest

from xla_helpers import evidence
from xla_helpers.evidence import Event, Evidence, observe
from xla_helpers.processes import run_in_process
from xla_helpers.timing import wait_for_device

NO_XLA = "not XLA: no compiled program ran"


def double_and_add(x):
    import tensorflow as tf

    return tf.sin(x) * 2.0 + 1.0


def seen(fn, *args):
    """What the second call of a function runs, which neither traces nor compiles."""
    fn(*args)
    with observe() as found:
        fn(*args)
    return found[0]


@pytest.fixture
def x(tf):
    return tf.ones([3])


# What ran


def test_operations_that_python_starts_are_counted(x):
    found = seen(double_and_add, x)
    assert (found.mode, found.eager, found.graphs, found.programs) == ("eager", 3, 0, 0)


def test_waiting_for_the_device_is_no_operation_of_the_reader(x):
    def wait():
        double_and_add(x)
        wait_for_device()

    assert seen(wait).eager == 3


def test_a_graph_is_no_program_of_xla(tf, x):
    found = seen(tf.function(double_and_add), x)
    assert (found.mode, found.graphs, found.programs) == ("graph", 1, 0)
    assert found.eager == 0


def test_a_compiled_function_runs_a_program(tf, jit, x, keep_log):
    keep_log()
    found = seen(jit(double_and_add), x)
    assert (found.mode, found.programs, found.compiled) == ("XLA", 1, 0)


def test_what_is_compiled_inside_is_seen_from_outside(tf, jit, x):
    inner = jit(double_and_add)
    for wrapper in (lambda x: inner(inner(x)), tf.function(lambda x: inner(inner(x)))):
        found = seen(wrapper, x)
        assert (found.mode, found.programs) == ("XLA", 2)


def test_a_compiled_function_that_runs_eagerly_shows_its_operations(tf, jit, x):
    tf.config.run_functions_eagerly(True)
    try:
        found = seen(jit(double_and_add), x)
    finally:
        tf.config.run_functions_eagerly(False)
    assert (found.mode, found.eager, found.programs) == ("eager", 3, 0)


def test_the_predict_of_a_compiled_keras_model_runs_a_program(tf, x):
    import keras

    model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(2)])
    model.compile(jit_compile=True)
    rows = tf.ones([4, 3])
    assert seen(lambda: model.predict(rows, verbose=0)).mode == "XLA"
    assert seen(model, rows).mode == "eager"


def test_nothing_of_tensorflow_is_nothing(x):
    found = seen(lambda: sum([1, 2]))
    assert (found.eager, found.graphs, found.programs, found.traced) == (0, 0, 0, 0)


# The first call


def test_a_first_call_traces_and_compiles(tf, jit, x, keep_log):
    keep_log()
    inner = jit(lambda x: x + 1)
    outer = tf.function(lambda x: inner(x) * 2)
    with observe() as found:
        outer(x)
    assert found[0].compiled == 1
    assert found[0].traced == 1  # with the other one inside
    assert 0 < found[0].trace_seconds < 60
    assert seen(outer, x).traced == seen(outer, x).compiled == 0


def test_seconds_of_a_trace_are_without_those_of_running():
    """Made by hand: a call of ten seconds of which its graph took six, twice nested."""
    line = ("host", 1)
    call = Event("f", "traced-nonXla", "", line, 0.0, 10.0)
    inside = Event("g", "traced-xla", "", line, 1.0, 2.0)
    running = [
        Event(evidence.RUNNING, "", "", line, 3.0, 9.0),
        Event(evidence.RUNNING, "", "", line, 4.0, 5.0),
        Event(evidence.RUNNING, "", "", ("host", 2), 0.0, 10.0),  # of somebody else
    ]
    found = evidence._evidence([inside, call, *running])
    assert (found.traced, found.trace_seconds) == (1, 4.0)


# Random numbers


def test_draws_are_named_with_their_place(tf, x):
    import keras

    drop = keras.layers.Dropout(0.5, name="drop")
    found = seen(tf.function(lambda x: drop(x, training=True)), x)
    assert [kind for _, kind in found.draws] == ["StatelessRandomUniformV2"]
    assert all("drop" in path for path, _ in found.draws)


def test_a_draw_of_python_has_no_place(tf, x):
    assert seen(lambda: tf.random.normal([2])).draws == (("", "RandomStandardNormal"),)
    assert seen(double_and_add, x).draws == ()


# What cannot be seen


def test_while_somebody_else_records_there_is_no_evidence_and_no_error(tf, x, tmp_path):
    tf.profiler.experimental.start(str(tmp_path))
    try:
        found = seen(double_and_add, x)
    finally:
        tf.profiler.experimental.stop()
    assert (found.eager, found.programs, str(found)) == (0, None, "")
    assert not found.recorded and seen(double_and_add, x).recorded


def test_a_block_that_raises_lets_the_error_through_and_ends_the_recording(tf, x):
    with pytest.raises(LookupError), observe():
        raise LookupError
    assert seen(double_and_add, x).eager == 3


def test_without_tensorflow_there_is_an_empty_one():
    def plain():
        import sys

        from xla_helpers.evidence import Evidence, observe

        with observe() as found:
            pass
        return found == [Evidence()], "tensorflow" in sys.modules

    assert run_in_process(plain).value == [True, False]


@pytest.mark.parametrize(
    ("found", "mode", "words"),
    [
        (Evidence(eager=1, programs=0), "eager", "1 operation"),
        (Evidence(eager=1200, programs=0), "eager", "1,200 operations"),
        (Evidence(eager=3, graphs=1, programs=0), "graph", "3 operations, 1 graph"),
        (Evidence(graphs=2, programs=0), "graph", "2 graphs"),
        (Evidence(graphs=1, programs=1), "XLA", "1 graph, 1 XLA program"),
        (Evidence(graphs=1, programs=None, compiled=2), "XLA", "1 graph, 2 XLA programs"),
        (Evidence(programs=1), "XLA", "1 XLA program"),
        (Evidence(graphs=1, programs=None), "graph", ""),  # it may be XLA
        (Evidence(), "eager", ""),
    ],
)
def test_evidence_in_words(found, mode, words):
    assert (found.mode, str(found)) == (mode, words)


@pytest.mark.parametrize(
    ("found", "unlike"),
    [
        (Evidence(eager=3, programs=0), ["", "not graph: it ran eagerly", NO_XLA]),
        (Evidence(graphs=1, programs=0), ["not eager: a graph ran", "", NO_XLA]),
        (
            Evidence(eager=3, graphs=1, programs=0),
            ["not eager alone: a graph ran inside", "", NO_XLA],
        ),
        (Evidence(programs=1), ["not eager: XLA ran", "not graph: XLA ran", ""]),
        (
            Evidence(eager=3, graphs=1, programs=1),
            ["not eager alone: XLA ran inside", "not graph alone: XLA ran inside", ""],
        ),
        (Evidence(graphs=1, programs=None), ["", "", ""]),  # nobody saw
    ],
)
def test_a_row_of_another_mode_than_its_label_says_so(found, unlike):
    assert [found.unlike(mode) for mode in ("eager", "graph", "XLA")] == unlike


def test_programs_are_counted_by_their_instructions_where_nothing_else_is_recorded():
    """As TensorFlow 2.20 records them: `a` ran twice, with a loop inside, and `b` once."""
    names = [("add", "a"), ("body", "a"), ("body", "a"), ("body", "a"), ("add", "a"), ("add", "b")]
    events = [Event(name, "", module, ("host", 1), 0.0, 1.0) for name, module in names]
    assert evidence._programs(events) == 3
    assert evidence._programs([Event("add", "", "", ("host", 1), 0.0, 1.0)]) == 0
