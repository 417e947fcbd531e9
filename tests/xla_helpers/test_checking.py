"""Outcomes of real functions in the three modes. A compilation takes tens of milliseconds."""

import math

import numpy as np
import pytest

from xla_helpers.agreement import Difference
from xla_helpers.checking import SHOWN, Check, Outcome, check
from xla_helpers.processes import run_in_process

THREE = np.float32([3, 1, 3])


def gave_results(check):
    """The modes that gave a result."""
    return [mode for mode, outcome in check.outcomes.items() if outcome.error is None]


def against_eager(check):
    """The last column of the table, for the graph and for XLA."""
    return [row[2] for row in check._rows()][1:]


# What is the same


def test_the_same_result(tf):
    result = check(lambda x, y: {"sum": x + y, "pair": (x, 2.0 * y)}, THREE, 1)
    assert result.agrees and result.differing == result.errors == {}
    assert list(result.outcomes) == ["eager", "graph", "XLA"]
    assert result["XLA"].result["pair"][1] == 2
    assert [o.difference.size for o in result.outcomes.values()] == [0, 0, 0]
    assert result.summary == "The same result in all three modes."
    assert str(result).startswith("the function: The same result in all three modes.\n")
    assert against_eager(result) == ["the same", "the same"]
    assert list(result._rows())[0][2] == ""


def test_results_without_numbers(tf):
    assert check(lambda x: (None, [], x), 1).agrees
    text = check(lambda x: tf.strings.as_string(x), tf.constant(1))
    assert text["eager"].result == text["graph"].result == b"1"
    assert text["graph"].agrees
    constant = check(lambda: "a")  # a graph makes a tensor of it
    assert constant["graph"].result == b"a" and constant["graph"].agrees


@pytest.mark.parametrize("nothing", [None, (), {"a": None}])
def test_nothing_does_not_agree_with_nothing(tf, nothing):
    result = check(lambda: nothing)
    assert not result.compared and not result.agrees
    assert result.differing == result.errors == {}
    assert result.summary == (
        "It returns nothing and changes no variable: there was nothing to compare."
    )


def test_what_cannot_be_compared_is_no_failure_of_the_call(tf):
    with pytest.raises(TypeError, match="`result` is a object: only numbers, text and nests"):
        check(object)


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
    assert result["eager"].result["indices"].tolist() == [1, 1]  # of `tf.IndexedSlices`
    ragged = check(lambda x: tf.RaggedTensor.from_row_splits(x, [0, 1, 3]), THREE)
    assert ragged["XLA"].result["row_splits"].tolist() == [0, 1, 3] and not ragged.differing


def test_last_digits_are_the_same_up_to_the_tolerance(tf):
    def near(x):
        return x + (0.0 if tf.executing_eagerly() else 1e-3)

    result = check(near, np.float32(1))
    assert list(result.differing) == ["graph", "XLA"] and result.tolerance == 1e-4
    about = pytest.approx(1e-3, rel=0.01)
    assert result["XLA"].difference == Difference(about, absolute=about)
    words = "differs by 0.001 (relative; 0.001 absolute), allowed 0.0001"
    assert against_eager(result) == [words] * 2
    loose = check(near, np.float32(1), tolerance=1e-2)
    assert loose["XLA"].difference == result["XLA"].difference and loose["XLA"].agrees
    assert against_eager(loose) == ["the same to 0.001"] * 2


# What differs


def test_a_result_instead_of_an_error(tf):
    result = check(lambda x, y: x // y, np.int32([3]), np.int32(0))
    if not tf.config.list_physical_devices("GPU"):
        assert gave_results(result) == list(result.differing) == ["XLA"]
        assert [o.difference for o in result.outcomes.values()] == [None] * 3
        assert result["eager"].short == "InvalidArgumentError: Integer division by zero"
        assert against_eager(result) == ["an error too", "gives a result instead of an error"]
        assert result.summary == "XLA gives a result instead of an error."
    assert not result.agrees


def test_another_shape(tf):
    def collect():
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(5):
            array = array.write(i, 1.0)
        return array.stack()

    result = check(collect)
    assert list(result.differing) == ["XLA"]
    assert result["XLA"].difference == Difference(math.inf, "result", "shape", (0,), (5,))
    assert result.summary == "XLA differs: its result has shape (0,), eager has (5,)."


def test_other_integers_and_lost_nan(tf):
    def only_eager(x):
        return x + int(tf.executing_eagerly())

    result = check(only_eager, np.int32([1, 2]))
    assert result["graph"].difference == Difference(math.inf, "result", "entries", 2, 2)
    assert against_eager(result)[0] == "differs in 2 of 2 entries"
    nan = check(lambda x: x * (math.nan if tf.executing_eagerly() else 1.0), np.float32(1))
    assert nan["XLA"].difference == Difference(math.inf, "result", "NaN", 0, 1)
    assert not nan["XLA"].agrees


def test_random_numbers(tf):
    result = check(lambda: tf.random.normal([4]))
    assert not result.agrees and not result.decidable and result.differing == {}
    assert [draw.operation for draw in result.draws] == ["RandomStandardNormal"]
    assert against_eager(result) == ["not decidable"] * 2
    assert result.not_put_back[0].startswith("a stream of random numbers")
    same = check(lambda: tf.random.stateless_normal([4], [1, 2], alg="philox"))
    assert same.agrees and same.decidable
    assert [draw.operation for draw in same.draws] == ["StatelessRandomNormalV2"]
    assert "random" not in same.summary
    assert check(lambda x: x + 1, 1).draws == ()


def test_drawn_numbers_hide_neither_an_error_nor_a_lost_check(tf):
    def noisy(x):
        tf.debugging.assert_positive(x)
        return x + tf.random.normal([])

    result = check(noisy, tf.constant(-1.0))
    assert list(result.differing) == ["XLA"] and result.vanished
    assert result.summary.startswith("XLA gives a result instead of an error.")


def noisy_descent(tf, **options):
    """A step that returns the loss, in which nothing is drawn, and changes `weights`."""
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((weights * x) ** 2)
        noise = tf.random.stateless_normal([2], [1, 2], **options)
        weights.assign_sub(0.1 * (tape.gradient(loss, weights) + noise))
        return loss

    return step


def test_noise_in_a_variable_alone_is_found(tf):
    """XLA may draw with another algorithm, unless one is named."""
    result = check(noisy_descent(tf), np.float32([1, 1]))
    for outcome in result.outcomes.values():
        assert outcome.result == 5 and list(outcome.state) == ["weights"]
    if not tf.config.list_physical_devices("GPU"):
        assert result["XLA"].difference.place == "variables['weights']"
        assert not result.agrees and not result.decidable and result.differing == {}
        assert result.summary.startswith(
            "Not decidable for XLA: it draws random numbers (Stateless"
        )
    same = check(noisy_descent(tf, alg="philox"), np.float32([1, 1]))
    assert same.summary == (
        "The same result and the same values in variable weights in all three modes."
    )


# What a call changes


def test_a_variable_that_comes_out_otherwise_is_a_difference(tf):
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        weights.assign_sub(x if tf.executing_eagerly() else 2 * x)
        return tf.reduce_sum(x)

    result = check(step, np.float32([1, 1]))
    assert list(result.differing) == ["graph", "XLA"]
    assert [o.state["weights"].tolist() for o in result.outcomes.values()] == [
        [0, 1],
        [-1, 0],
        [-1, 0],
    ]
    assert result["XLA"].difference.place == "variables['weights']"
    assert result["XLA"].difference.absolute == 1
    assert "weights" in against_eager(result)[1]
    assert weights.numpy().tolist() == [1, 2]


def test_a_function_that_only_changes_variables_is_compared(tf):
    total = tf.Variable(0.0, name="total")

    def add(x):
        total.assign_add(x)

    result = check(add, 1.0)
    assert result.agrees and result["XLA"].result is None
    assert result.summary == "The same values in variable total in all three modes."


def test_what_rounding_left_of_a_zero_is_named(tf):
    def slopes(x):
        return {"kernel": x, "bias": x * (1e-10 if tf.executing_eagerly() else -2e-10)}

    result = check(slopes, np.float32([0.5, 1.0]))
    assert result.agrees
    assert result.summary.endswith("Practically zero, and so not compared: result['bias'].")
    exact = check(slopes, np.float32([0.5, 1.0]), tolerance=0)
    assert not exact.agrees and "Practically zero" not in exact.summary


def test_a_graph_that_differs_from_itself_says_so(tf):
    times = []

    def moment():
        times.append(1)
        return np.float32(len(times))

    result = check(lambda: tf.numpy_function(moment, [], tf.float32))
    assert not result.settled and not result.decidable and not result.agrees
    assert result.itself.size > 0
    assert "The graph differs from itself, so other numbers say nothing" in result.summary
    assert list(result.differing) == ["XLA"]  # an error is one, whatever the numbers are


# What ran


def test_each_outcome_has_the_evidence_of_its_mode(tf):
    result = check(lambda x: tf.sin(x) + 1, THREE)
    assert [o.evidence.mode for o in result.outcomes.values()] == ["eager", "graph", "XLA"]
    assert [o.evidence.programs for o in result.outcomes.values()] == [0, 0, 1]


def test_a_model_compiled_by_keras_is_checked_in_the_mode_of_the_row(tf):
    import keras

    model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(2)])
    model.compile(jit_compile=True)
    result = check(model, np.ones([4, 3], np.float32), training=False)
    assert result.agrees and result.function == "Sequential"
    assert [o.evidence.mode for o in result.outcomes.values()] == ["eager", "graph", "XLA"]


@pytest.mark.parametrize("flag", ["", "--tf_xla_auto_jit=2"])
def test_programs_in_a_graph_have_the_cause_that_is_known(tf, monkeypatch, flag):
    monkeypatch.setenv("TF_XLA_FLAGS", flag)  # TensorFlow has read it long before
    inner = tf.function(lambda x: x + 1, jit_compile=True)
    found = check(lambda x: inner(x) * 2, THREE)
    assert found.clustered == bool(flag)
    why = "Parts of its graph were compiled" if flag else "Its graph holds compiled functions"
    assert found.summary.endswith(f"{why}: XLA ran 1 program(s) in it.")


def test_clustering_is_known_from_the_option_too(tf, monkeypatch):
    monkeypatch.setattr(tf.config.optimizer, "get_jit", lambda: "autoclustering")
    assert check(lambda x: x + 1, 1.0).clustered


# What XLA refuses


def test_all_unsupported_operations_are_named(tf):
    def logs(x):
        tf.print(x, output_stream="file:///dev/null")
        if tf.reduce_sum(x) > 0:
            tf.strings.as_string(x)
        return tf.numpy_function(np.copy, [x], tf.float32)

    result = check(logs, THREE)
    assert gave_results(result) == ["eager", "graph"]
    refused = [refusal.operation for refusal in result.unsupported]
    assert set(refused) == {"StringFormat", "PrintV2", "AsString", "PyFunc"}
    assert str(result["XLA"].error).count("No registered") == 1  # the error names only one
    assert result["XLA"].short == f"InvalidArgumentError: unsupported {refused[0]}"
    where = ", ".join(refusal.where for refusal in result.unsupported)
    assert result.summary == (f"XLA does not support {where}. Not put back: Python code (PyFunc).")
    assert all("test_checking.py, line" in refusal.where for refusal in result.unsupported)
    assert list(result.differing) == ["XLA"]
    assert against_eager(result)[1] == "gives an error instead of a result"


def test_the_first_compilation_of_a_process():
    """The registry of kernels is empty for XLA until then; after it, some text ends a process."""

    def first():
        import tensorflow as tf

        import xla_helpers as xh

        text = xh.check(lambda x: tf.strings.length(tf.strings.as_string(x)), tf.constant(1))
        split = xh.check(lambda x: tf.strings.split(x), tf.constant(["a b"]))
        refused = [[refusal.operation for refusal in found.unsupported] for found in (text, split)]
        return refused, str(split["XLA"].error)

    (lengths, parts), error = run_in_process(first).value
    assert lengths == ["AsString", "StringLength"]
    assert "StringSplitV2" in parts
    assert error == "XLA was not asked: it would abort at StringSplitV2"


def test_all_to_mend_is_one_table(tf):
    import keras

    zoom = keras.layers.RandomZoom(0.1, name="zoom")
    model = keras.Sequential([keras.layers.Input([8, 8, 3]), zoom])
    result = check(model, np.ones([1, 8, 8, 3], np.float32), training=True)
    assert [refusal.layer for refusal in result.switched_off] == ["zoom"]
    assert "Keras' own `fit` and `predict` run it without XLA, because of RandomZoom" in str(result)
    refused = {row[0]: row[1:] for row in result.mends._rows()}
    assert refused["RandomZoom"][0] == refused["ImageProjectiveTransformV3"][0] == "zoom"
    assert all(mend for *_, mend in refused.values())


def test_other_errors_of_the_compiler_are_not_called_unsupported(tf):
    length = tf.function(lambda x: tf.strings.length(tf.as_string(x)))

    def gradient(x):
        length(x)  # which XLA leaves out, because nothing needs it
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 100.0, lambda y: (2 * y,), (x,))[0]
        return tape.gradient(y, x)

    result = check(gradient, np.float32(3))
    assert result.unsupported == ()
    assert result["XLA"].short.startswith("InvalidArgumentError: XLA compilation requires a fixed")
    assert len(result["XLA"].short) == SHOWN
    assert result.summary == "XLA gives an error instead of a result."


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
    assert [refusal.operation for refusal in result.unsupported] == ["PyFunc"]
    assert result["graph"].agrees  # each mode began with the same weights
    changed = set(result["graph"].state)
    assert changed == set(result["eager"].state)
    assert any("iteration" in name for name in changed) and any("bias" in name for name in changed)
    for old, variable in zip(before, model.variables, strict=True):
        np.testing.assert_array_equal(old, variable)


def test_what_is_practically_zero_is_not_called_the_same():
    tiny, state = np.float32([1e-10]), {"total": np.float32([1.0])}
    outcomes = {mode: Outcome(mode, tiny, state=state) for mode in ("graph", "XLA")}
    zeros = Difference(zeros=("result",))
    outcomes["XLA"] = Outcome("XLA", -tiny, state=state, difference=zeros)
    assert Check("slopes", outcomes).summary == (
        "The same values in variable total as a graph and under XLA. "
        "Practically zero, and so not compared: result."
    )


def test_where_all_is_practically_zero_nothing_is_called_the_same():
    tiny = np.float32([1e-10])
    outcomes = {mode: Outcome(mode, tiny) for mode in ("graph", "XLA")}
    outcomes["XLA"] = Outcome("XLA", -tiny, difference=Difference(zeros=("result",)))
    said = Check("slopes", outcomes).summary
    assert said.startswith("All that there is to compare is practically zero. Practically zero,")


# What XLA leaves out


def test_vanished_checks(tf):
    def positive(x):
        tf.debugging.assert_positive(x)
        return x

    def finite(x):
        return tf.debugging.check_numerics(positive(x), "here", name="finite")

    one, two = check(positive, THREE), check(finite, THREE)
    assert one.differing == {} and not one.agrees
    assert one.vanished == ("assert_positive/assert_less",)
    assert one.summary == "XLA leaves out a check: assert_positive/assert_less."
    assert two.summary == "XLA leaves out 2 checks: assert_positive/assert_less, finite."
    failing = check(positive, -THREE)
    assert gave_results(failing) == ["XLA"]
    assert failing["eager"].short.startswith("InvalidArgumentError: Condition x > 0 did not hold")
    assert failing["graph"].short.startswith("InvalidArgumentError: assertion failed: []")
    refused = check(lambda x: tf.strings.length(tf.as_string(positive(x))), THREE)
    assert refused.vanished and "XLA leaves out" not in refused.summary


# The modes are what they are called


def test_eager_is_eager_all_the_way_down(tf):
    @tf.function(jit_compile=True)
    def inner(x):
        modes.append(tf.executing_eagerly())
        return x

    modes = []
    check(lambda x: inner(x), 1.0)
    assert modes == [False, True]  # traced, and called eagerly


def test_graph_is_a_graph_whatever_was_set_before(tf):
    tf.config.run_functions_eagerly(True)
    try:
        result = check(lambda x: tf.strings.as_string(x), 1.0)
        assert tf.config.functions_run_eagerly()
    finally:
        tf.config.run_functions_eagerly(False)
    assert result.unsupported[0].operation in ("AsString", "text as a result")
    assert check(lambda x: x, 1.0).agrees
    assert not tf.config.functions_run_eagerly()


def test_a_tf_function_is_unwrapped(tf):
    class Module(tf.Module):
        @tf.function(jit_compile=True)
        def step(self, x):
            modes.append(tf.executing_eagerly())
            return x + 1

    modes = []
    module = Module()
    result = check(module.step, 1.0)
    assert result.agrees and result.function == "step"
    assert modes == [False, True, False]
    assert result["graph"].evidence.mode == "graph"  # its own `jit_compile` is not used


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
    assert gave_results(result) == ["eager"]
    assert result.vanished == result.draws == result.unsupported == ()
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
    assert len(result.errors) == 3 and result.differing == {} and not result.agrees
    assert result.summary == "It fails in every mode: look at the arguments first."
    assert result["graph"].short.startswith("ValueError: Dimensions must be equal")


def test_what_cannot_be_checked(tf):
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called"):
        check(3)
    with pytest.raises(ValueError, match="`tolerance` is -1: give a number"):
        check(lambda: 1, tolerance=-1)
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
    assert shown == short and len(shown) <= SHOWN


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


# What no name is known for


def test_a_mode_that_changes_another_variable_differs(tf):
    one, other = tf.Variable(0.0), tf.Variable(5.0)

    def step(x):
        (one if tf.executing_eagerly() else other).assign_add(1.0)
        return x

    assert list(check(step, 1.0).differing) == ["graph", "XLA"]
    assert one.numpy() == 0 and other.numpy() == 5


def test_a_generator_of_numpy_is_not_decidable(tf):
    generator = np.random.default_rng(0)
    found = check(lambda x: x * generator.normal(), tf.constant(1.0))
    assert not found.decidable and not found.differing
    assert "The graph differs from itself" in found.summary


def test_a_graph_that_fails_the_second_time_is_not_settled(tf):
    elements = iter(tf.data.Dataset.range(2))
    found = check(lambda: tf.cast(next(elements), tf.float32))
    assert not found.settled and "graph" not in found.differing


def test_a_buffer_that_is_filled_again_is_not_compared_with_itself(tf):
    out = np.zeros(3)

    def fill(x):
        out[:] = 2.0 if tf.executing_eagerly() else 3.0
        return out

    assert not check(fill, 1.0).agrees
