"""Outcomes of real functions in the three modes. A compilation takes tens of milliseconds."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

from xla_helpers import Check, Outcome, check, plot_checks, run_in_process

THREE = np.float32([3, 1, 3])


def shape_of(check):
    """Which modes gave a result, for a glance at all three."""
    return {mode: outcome.error is None for mode, outcome in check.outcomes.items()}


# What is the same


def test_the_same_result(tf):
    result = check(lambda x, y: {"sum": x + y, "pair": (x, 2.0 * y)}, THREE, 1)
    assert result.agrees and not result.differences and not result.errors
    assert list(result.outcomes) == ["eager", "graph", "XLA"]
    assert result["XLA"].result["pair"][1] == 2
    assert [o.difference for o in result.outcomes.values()] == [0, 0, 0]
    assert result.verdict == "The same result in all three modes."
    assert str(result).startswith("the function: The same result in all three modes.\n")
    assert [row[2] for row in result._rows()] == ["", "the same", "the same"]


def test_results_without_numbers(tf):
    assert check(lambda: None).agrees
    assert check(lambda x: (None, [], x), 1).agrees
    text = check(lambda x: tf.strings.as_string(x), tf.constant(1))
    assert text["eager"].result == text["graph"].result == b"1"
    assert not text["graph"].reason
    constant = check(lambda: "a")  # a graph makes a tensor of it
    assert constant["graph"].result == b"a" and not constant["graph"].reason


def test_nan_in_the_same_places_is_the_same(tf):
    assert check(lambda x: x / x, np.float32([0, 1])).agrees


def test_ragged_and_sparse_results(tf):
    def sliced(table):
        with tf.GradientTape() as tape:
            tape.watch(table)
            rows = tf.reduce_sum(tf.gather(table, [1, 1]))
        return tape.gradient(rows, table)

    result = check(sliced, np.eye(3, dtype=np.float32))
    assert result.agrees
    assert result["eager"].result[1].tolist() == [1, 1]  # IndexedSlices: values, indices, shape
    ragged = check(lambda x: tf.RaggedTensor.from_row_splits(x, [0, 1, 3]), THREE)
    assert ragged["XLA"].result[1].tolist() == [0, 1, 3] and not ragged.differences


def test_last_digits_are_the_same_up_to_the_tolerance(tf):
    def near(x):
        return x + (0.0 if tf.executing_eagerly() else 1e-3)

    assert check(near, np.float32(1), tolerance=1e-2).agrees
    result = check(near, np.float32(1))
    assert result["XLA"].difference == pytest.approx(1e-3, rel=0.01)
    assert result.differences == dict.fromkeys(["graph", "XLA"], "differs by 0.001, allowed 0.0001")
    loose = check(near, np.float32(1), tolerance=1e-2)
    assert [row[2] for row in loose._rows()] == ["", "the same to 0.001", "the same to 0.001"]


# What differs


def test_a_result_instead_of_an_error(tf):
    result = check(lambda x, y: x // y, np.int32([3]), np.int32(0))
    if not tf.config.list_physical_devices("GPU"):
        assert shape_of(result) == {"eager": False, "graph": False, "XLA": True}
        assert result.differences == {"XLA": "gives a result instead of an error"}
        assert result["XLA"].difference == math.inf
        assert result["eager"].short == "InvalidArgumentError: Integer division by zero"
        assert [row[2] for row in result._rows()][1] == "an error too"
    assert not result.agrees


def test_another_shape(tf):
    def collect():
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(5):
            array = array.write(i, 1.0)
        return array.stack()

    result = check(collect)
    assert result.differences == {"XLA": "differs: result has shape (0,), eager has (5,)"}
    assert result.verdict == "XLA differs: result has shape (0,), eager has (5,)."


def test_other_integers_and_lost_nan(tf):
    def only_eager(x):
        return x + int(tf.executing_eagerly())

    result = check(only_eager, np.int32([1, 2]))
    assert result.differences["graph"] == "differs in 2 of 2 entries, allowed none"
    nan = check(lambda x: x * (math.nan if tf.executing_eagerly() else 1.0), np.float32(1))
    assert nan.differences["XLA"] == "differs: eager's result holds NaN where the other does not"


def test_random_numbers(tf):
    result = check(lambda: tf.random.normal([4]))
    assert set(result.differences) == {"graph", "XLA"}
    assert result.random == ("RandomStandardNormal",)
    assert "It draws random numbers (RandomStandardNormal)" in result.verdict
    same = check(lambda: tf.random.stateless_normal([4], [1, 2], alg="philox"))
    assert same.agrees and same.random == ("StatelessRandomNormalV2",)
    assert "random" not in same.verdict
    seeded = check(lambda: tf.random.stateless_uniform([4], [1, 2]))
    assert seeded.random == ("StatelessRandomUniformV2",)
    assert check(lambda x: x + 1, 1).random == ()


# What XLA refuses


def test_all_unsupported_operations_are_named(tf):
    def logs(x):
        tf.print(x, output_stream="file:///dev/null")
        if tf.reduce_sum(x) > 0:
            tf.strings.as_string(x)
        return tf.numpy_function(np.copy, [x], tf.float32)

    result = check(logs, THREE)
    assert shape_of(result) == {"eager": True, "graph": True, "XLA": False}
    assert set(result.unsupported) == {"StringFormat", "PrintV2", "AsString", "PyFunc"}
    assert str(result["XLA"].error).count("No registered") == 1  # the error names only one
    assert result["XLA"].short == f"InvalidArgumentError: unsupported {result.unsupported[0]}"
    assert result.verdict.startswith("XLA does not support ")
    assert "instead" not in result.verdict
    assert result.differences == {"XLA": "gives an error instead of a result"}


def test_the_first_compilation_of_a_process():
    """The registry of kernels is empty for XLA until then."""

    def first():
        import tensorflow as tf

        import xla_helpers as xh

        text = xh.check(lambda x: tf.strings.length(tf.strings.as_string(x)), tf.constant(1))
        return text.unsupported

    assert run_in_process(first).value == ["AsString", "StringLength"]


def test_other_errors_of_the_compiler_are_not_called_unsupported(tf):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 100.0, lambda y: (2 * y,), (x,))[0]
        return tape.gradient(y, x)

    result = check(gradient, np.float32(3))
    assert result.unsupported == ()
    assert result["XLA"].short.startswith("InvalidArgumentError: XLA compilation requires a fixed")
    assert len(result["XLA"].short) == 64
    assert result.verdict == "XLA gives an error instead of a result."


def test_a_training_step_of_a_model_has_no_unsupported_operation(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(3)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.Adam()

    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(value, variables), variables, strict=True))
        tf.numpy_function(np.copy, [value], tf.float32)  # so that the list is made
        return value

    model.build([None, 5])
    before = [np.array(variable.numpy()) for variable in model.variables]
    result = check(step, np.ones([2, 5], np.float32), np.int32([0, 1]))
    assert result.unsupported == ("PyFunc",)
    assert not result["graph"].reason  # each mode began with the same weights
    for old, variable in zip(before, model.variables, strict=True):
        np.testing.assert_array_equal(old, variable)


# What XLA leaves out


def test_vanished_checks_of_loops_and_branches(tf):
    @tf.function
    def inner(x):
        return tf.debugging.check_numerics(x, "inner")

    def guarded(x):
        tf.debugging.assert_positive(x)
        tf.debugging.Assert(tf.reduce_all(x > 0), [x], name="mine")
        tf.debugging.assert_less(x, 9.0, message="has another name in the graph")
        for _ in tf.range(2):
            if tf.reduce_sum(x) > 0:
                tf.debugging.assert_less(x, 100.0)
                x = tf.debugging.check_numerics(x, "loop")
        return inner(inner(x))

    result = check(guarded, THREE)
    assert not result.differences and not result.agrees
    vanished = [name.replace("Stateful", "") for name in result.vanished]
    assert sorted(vanished) == [
        "PartitionedCall/CheckNumerics",
        "PartitionedCall_1/CheckNumerics",
        "assert_less",
        "assert_positive/assert_less",
        "mine",
        "while/cond/CheckNumerics",
        "while/cond/assert_less",
    ]
    assert "XLA leaves out 7 checks: " in result.verdict


def test_one_vanished_check(tf):
    def positive(x):
        tf.debugging.assert_positive(x)
        return x

    assert check(positive, THREE).verdict == (
        "XLA leaves out a check: assert_positive/assert_less."
    )
    failing = check(positive, -THREE)
    assert shape_of(failing) == {"eager": False, "graph": False, "XLA": True}
    assert failing["eager"].short.startswith("InvalidArgumentError: Condition x > 0 did not hold")
    assert failing["graph"].short.startswith("InvalidArgumentError: assertion failed: []")


# The modes are what they are called


def test_eager_is_eager_all_the_way_down(tf):
    @tf.function(jit_compile=True)
    def inner(x):
        modes.append(tf.executing_eagerly())
        return x

    modes = []
    check(lambda x: inner(x), 1.0)
    assert sorted(set(modes)) == [False, True]
    assert modes.count(True) == 1


def test_graph_is_a_graph_whatever_was_set_before(tf):
    tf.config.run_functions_eagerly(True)
    try:
        result = check(lambda x: tf.strings.as_string(x), 1.0)
        assert tf.config.functions_run_eagerly()
    finally:
        tf.config.run_functions_eagerly(False)
    assert result.unsupported[0] in ("AsString", "_Retval")
    assert check(lambda x: x, 1.0).agrees
    assert not tf.config.functions_run_eagerly()


def test_a_tf_function_is_unwrapped(tf):
    class Module(tf.Module):
        @tf.function(jit_compile=True)
        def step(self, x):
            modes.append(tf.executing_eagerly())
            return x + 1

    modes = []
    result = check(Module().step, 1.0)
    assert result.agrees and result.function == "step"
    assert modes[0] is False and modes.count(True) == 1


def test_arrays_are_tensors_in_eager_mode_too(tf):
    result = check(lambda x: tf.constant(tf.is_tensor(x["a"][0])), {"a": [np.float32(1)]})
    assert result["eager"].result and result.agrees


def test_variables_are_restored(tf):
    count, other = tf.Variable(1.0), tf.Variable([1, 2])

    @tf.function
    def inner():
        other.assign_add([1, 1])

    def step(x):
        for _ in tf.range(3):
            count.assign_add(x)
        inner()
        return count, other

    result = check(step, 1.0)
    assert result.agrees and result["XLA"].result[0] == 4
    assert count.numpy() == 1 and other.numpy().tolist() == [1, 2]


def test_variables_are_restored_after_an_error(tf):
    count = tf.Variable(1.0)

    def step(x):
        count.assign_add(1.0)
        tf.debugging.assert_positive(x)
        return count

    assert check(step, tf.constant(-1.0)).errors.keys() == {"eager", "graph"}
    assert count.numpy() == 1


def test_a_function_that_cannot_be_traced(tf):
    result = check(lambda x: x.numpy(), np.float32(1))
    assert shape_of(result) == {"eager": True, "graph": False, "XLA": False}
    assert result.vanished == result.random == result.unsupported == ()
    assert result["graph"].short.startswith("AttributeError: 'SymbolicTensor' object has no")


def test_many_checks_bring_no_warning_of_retracing(tf, caplog):
    def add(x):
        return x + 1

    for size in range(1, 7):
        assert check(add, np.zeros(size)).agrees
    assert "retracing" not in caplog.text


# What is refused, and what is shown


def test_failure_in_every_mode(tf):
    def incompatible(x):
        return x[:1] + x[1:] + x

    result = check(incompatible, np.zeros(4))
    assert len(result.errors) == 3 and not result.differences and not result.agrees
    assert result.verdict == "It fails in every mode: look at the arguments first."
    assert result["graph"].short.startswith("ValueError: Dimensions must be equal")


def test_what_cannot_be_checked(tf):
    with pytest.raises(TypeError, match="cannot be called|callable"):
        check(3)
    graph = tf.function(lambda x: x).get_concrete_function(1.0)
    with pytest.raises(TypeError, match="ConcreteFunction, a graph already"):
        check(graph)
    with pytest.raises(RuntimeError, match="inside of a tf.function"):
        tf.function(lambda: check(lambda: 1))()


@pytest.mark.parametrize(
    ("result", "short"),
    [
        (None, "None"),
        ({"a": [np.float32(1), None]}, "{a: (1., None)}"),
        (np.float32([1 / 3, math.nan]), "[0.3333, nan]"),
        (np.int32([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (np.zeros([7]), "float64[7]"),
        (np.asarray(b"a", object), "b'a'"),
        ([b"word"] * 40, "(" + ", ".join(["b'word'"] * 7) + ",…"),
    ],
)
def test_short_results(result, short):
    shown = Outcome("eager", result).short
    assert shown == short and len(shown) <= 64


@pytest.mark.parametrize(
    ("message", "short"),
    [
        ("", "ValueError: no message"),
        ("\n\nfirst\nsecond", "ValueError: first"),
        ("{{function_node f}} bad value [Op:Div] name: ", "ValueError: bad value"),
        ("in user code:\n\n  File x, line 1\n\n ValueError: shapes\n", "ValueError: shapes"),
        ("Graph execution error:\n\n at node\n\nbad\n\t [[{{node x}}]] [Op:f]", "ValueError: bad"),
    ],
)
def test_short_errors(message, short):
    assert Outcome("XLA", error=ValueError(message)).short == short


def outcomes(**by_mode):
    return Check("f", {mode: Outcome(mode, **fields) for mode, fields in by_mode.items()})


def test_a_picture_of_checks():
    checks = {
        "silent": outcomes(
            eager=dict(error=ValueError("x")), XLA=dict(result=1, reason="gives a result")
        ),
        "loud": outcomes(eager=dict(result=2), XLA=dict(error=ValueError("x"), reason="error")),
        "same": outcomes(eager=dict(result=3), XLA=dict(result="a " * 30)),
    }
    ax = plot_checks(checks, title="Three")
    texts = [text.get_text() for text in ax.texts]
    assert texts[::2] == ["!", "≠", "=", "!", "=", "="]
    assert texts[1:-1:2] == ["error", "1", "2", "error", "3"] and len(texts[-1]) <= 22
    colours = [bar.get_facecolor() for bar in ax.patches]
    assert colours[0] == colours[3] and colours[2] == colours[4] == colours[5]
    assert len(set(colours)) == 3
    assert [label.get_text() for label in ax.get_yticklabels()] == list(checks)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["eager", "XLA"]
    assert ax.get_title(loc="left") == "Three"
    assert plot_checks({"same": checks["same"]}, ax=ax) is ax
    plt.close(ax.figure)
    with pytest.raises(ValueError, match="holds no check"):
        plot_checks({})
