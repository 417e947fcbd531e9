"""What `check` says of real functions in the three modes. A compilation takes milliseconds."""

import math

import numpy as np
import pytest

import xla_helpers as xh

THREE = np.float32([3, 1, 3])


def against(check):
    """The last column of the table, below the first mode."""
    return [check.against(mode) for mode in list(check.outcomes)[1:]]


def modes(check):
    return {mode: o.evidence.mode for mode, o in check.outcomes.items() if not o.error}


# What is the same


def test_the_same_result(tf):
    found = xh.check(lambda x, y: {"sum": x + y, "pair": (x, 2.0 * y, None)}, THREE, 1)
    assert found.agrees and found.differing == found.errors == {}
    assert found["XLA"].result["pair"][1] == 2
    assert found.summary == "The same result in all three modes."
    assert str(found).startswith("the function: The same result in all three modes.\n")
    assert against(found) == ["the same", "the same"]


@pytest.mark.parametrize("nothing", [None, (), {"a": None}])
def test_nothing_does_not_agree_with_nothing(tf, nothing):
    found = xh.check(lambda: nothing)
    assert not found.agrees and found.differing == found.errors == {}
    assert found.summary == "Not decidable: it returns nothing and changes no variable."


def test_last_digits_are_the_same_up_to_the_tolerance(tf):
    def near(x):
        return x + (0.0 if tf.executing_eagerly() else 1e-3)

    found = xh.check(near, np.float32(1))
    words = "differs from eager by 0.001 (relative), 0.001 (absolute); allowed 0.0001"
    assert list(found.differing) == ["graph", "XLA"] and against(found) == [words] * 2
    loose = xh.check(near, np.float32(1), tolerance=1e-2)
    assert loose.agrees and against(loose) == ["the same to 0.001"] * 2


def test_what_rounding_left_of_a_zero_is_the_same(tf):
    def slopes(x):
        return {"kernel": x, "bias": x * (1e-10 if tf.executing_eagerly() else -2e-10)}

    found = xh.check(slopes, np.float32([0.5, 1.0]))
    assert found.agrees
    assert not xh.check(slopes, np.float32([0.5, 1.0]), tolerance=0).agrees


# What differs


def test_a_result_instead_of_an_error(tf):
    found = xh.check(lambda x: tf.gather(x, [1, 9]), THREE)
    if not tf.config.list_physical_devices("GPU"):
        assert list(modes(found)) == list(found.differing) == ["XLA"]
        assert against(found) == ["an error too", "gives a result instead of an error"]
        assert found.summary == "XLA gives a result instead of an error."
        assert "InvalidArgumentError: indices[1] = 9 is not in [0, 3)" in str(found)


def test_another_shape_other_integers_and_lost_nan(tf):
    def collect():
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(5):
            array = array.write(i, 1.0)
        return array.stack()

    assert xh.check(collect).summary == "XLA has shape (0,), eager has (5,)."
    found = xh.check(lambda x: x + int(tf.executing_eagerly()), np.int32([1, 2]))
    assert against(found) == ["differs from eager in 2 of 2 entries"] * 2
    found = xh.check(lambda x: x * (math.nan if tf.executing_eagerly() else 1.0), THREE)
    assert against(found) == ["holds 0 NaN, eager holds 3"] * 2 and not found.agrees


def test_a_failure_in_every_mode_is_no_difference(tf):
    found = xh.check(lambda x: x[:1] + x[1:] + x, np.zeros(4))
    assert len(found.errors) == 3 and found.differing == {} and not found.agrees
    assert "it fails in every mode" in found.summary
    assert found["graph"].short.startswith("ValueError: Dimensions must be equal")


def test_a_graph_without_python_has_no_eager_row_though_it_fails(tf):
    checked = tf.function(lambda x: tf.debugging.check_numerics(x, "no number"))
    found = xh.check(checked.get_concrete_function(tf.TensorSpec([])), math.nan)
    assert list(found.outcomes) == ["graph", "XLA"] and found["graph"].error


def test_a_buffer_that_is_filled_again_is_not_compared_with_itself(tf):
    out = np.zeros(3)

    def fill(x):
        out[:] = 2.0 if tf.executing_eagerly() else 3.0
        return out

    assert not xh.check(fill, 1.0).agrees


# What cannot be decided


@pytest.mark.parametrize(
    ("draw", "operation"),
    [
        ("normal([4])", "RandomStandardNormal"),
        ("categorical([[0.5, 0.5]], 99)", "Multinomial"),
        ("gamma([4], 1.0)", "RandomGamma"),
        ("shuffle(tf.range(99))", "RandomShuffle"),
    ],
)
def test_numbers_that_are_drawn_anew_say_nothing(tf, draw, operation):
    found = xh.check(lambda: eval(f"tf.random.{draw}", {"tf": tf}))
    assert [draw.operation for draw in found.draws] == [operation]
    assert not found.agrees and found.undecided and "graph" not in found.differing
    assert found["graph"].error or found.against("graph") == "cannot be compared"
    assert found["XLA"].error or operation in found.summary


def test_numbers_that_are_drawn_from_a_seed_are_compared(tf):
    def noisy(**options):
        weights = tf.Variable([1.0, 2.0], name="weights")

        def step(x):
            weights.assign_sub(x * tf.random.stateless_normal([2], [1, 2], **options))
            return tf.reduce_sum(x)

        return step

    same = xh.check(noisy(alg="philox"), np.float32([1, 1]))
    assert same.agrees and [draw.operation for draw in same.draws] == ["StatelessRandomNormalV2"]
    assert "random" not in same.summary
    other = xh.check(noisy(), np.float32([1, 1]))  # XLA draws by another algorithm
    if not tf.config.list_physical_devices("GPU"):
        assert not other.differing and not other.agrees
        assert other.summary.startswith("Not decidable: it draws random numbers (Stateless")
    assert xh.check(lambda: tf.random.experimental.stateless_split([1, 2], 2)).draws == ()


def test_drawn_numbers_hide_neither_an_error_nor_a_lost_check(tf):
    def noisy(x):
        tf.debugging.assert_positive(x)
        return x + tf.random.normal([])

    found = xh.check(noisy, tf.constant(-1.0))
    assert list(found.differing) == ["XLA"] and found.vanished
    assert found.summary.startswith("XLA gives a result instead of an error.")


def test_a_graph_that_differs_from_itself_says_so(tf):
    generator, times = np.random.default_rng(0), []

    def moment():
        times.append(1)
        return np.float32(len(times))

    anew = xh.check(lambda x: x * generator.normal(), tf.constant(1.0))
    assert anew.differing == {} and "itself: traced anew, its result differs" in anew.summary
    again = xh.check(lambda: tf.numpy_function(moment, [], tf.float32))
    assert "itself: called again, its result differs from the first time" in again.summary
    assert list(again.differing) == ["XLA"]  # an error is one, whatever the numbers are
    elements = iter(tf.data.Dataset.range(2))
    failing = xh.check(lambda: tf.cast(next(elements), tf.float32))
    assert "itself: called again, its result is an error" in failing.summary


# Variables


def test_a_variable_that_comes_out_otherwise_is_a_difference(tf):
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        weights.assign_sub(x if tf.executing_eagerly() else 2 * x)
        tf.debugging.assert_positive(x)
        return tf.reduce_sum(x)

    found = xh.check(step, np.float32([1, 1]))
    assert [o.state["weights"].tolist() for o in found.outcomes.values()][:2] == [[0, 1], [-1, 0]]
    assert "(absolute), in variables['weights']" in found.against("XLA")
    assert xh.check(step, -THREE[:2]).errors.keys() >= {"eager", "graph"}  # after the change
    assert weights.numpy().tolist() == [1, 2]


def test_variables_alone_are_compared_and_put_back(tf):
    total, inner_total = tf.Variable(0.0, name="total"), tf.Variable(0.0, name="inner")
    inner = tf.function(lambda: inner_total.assign_add(1.0))

    def add(x):
        for _ in tf.range(3):
            total.assign_add(x)
        inner()

    found = xh.check(add, 1.0)
    assert found.agrees and found["XLA"].result is None and found["XLA"].state["total"] == 3
    assert found.summary == "The same values in 2 variables (total, inner) in all three modes."
    assert total.numpy() == inner_total.numpy() == 0


# The modes are what they are called


def test_each_mode_is_what_it_is_called_all_the_way_down(tf):
    @tf.function(jit_compile=True)
    def inner(x):
        eagerly.append(tf.executing_eagerly())
        return tf.sin(x) + 1

    eagerly = []
    found = xh.check(inner, THREE)  # unwrapped, so its own `jit_compile` is not used
    assert found.function == "inner" and eagerly == [False, True, False]
    assert modes(found) == {"eager": "eager", "graph": "graph", "XLA": "XLA"}
    inside = xh.check(lambda x: inner(x), THREE)
    assert inside["eager"].evidence.mode == "eager"
    assert "XLA ran 1 program in the graph, too." in inside.summary


@pytest.mark.parametrize("before", [True, False])
def test_graph_is_a_graph_whatever_was_set_before(tf, before):
    tf.config.run_functions_eagerly(before)
    try:
        assert modes(xh.check(tf.function(tf.sin), THREE))["graph"] == "graph"
        assert tf.config.functions_run_eagerly() == before
    finally:
        tf.config.run_functions_eagerly(False)


# What XLA refuses


def test_all_that_xla_refuses_is_named_with_its_mend(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def logs(x):
        tf.print(x, output_stream="file:///dev/null")
        if tf.reduce_sum(x) > 0:
            tf.strings.as_string(x)
        table.lookup(tf.range(2, dtype=tf.int64))
        tf.random.poisson([], 1.0)
        return tf.numpy_function(np.copy, [x], tf.float32)

    found, first = xh.check(logs, THREE), logs.__code__.co_firstlineno
    assert list(modes(found)) == ["eager", "graph"]
    assert str(found["XLA"].error).count("No registered") == 1  # the error names only one
    mends = {
        "PrintV2": (1, "print outside"),
        "AsString": (3, "leave text outside"),
        "LookupTableFindV2": (4, "look it up"),
        "RandomPoissonV2": (5, "before or after"),
        "PyFunc": (6, "TensorFlow's operations"),
    }
    refused = {one.operation: one for one in found.unsupported}
    assert refused.keys() == mends.keys() | {"StringFormat"}
    for operation, (below, words) in mends.items():
        one = refused[operation]
        assert one.line == f"test_checking.py, line {first + below} in logs" and words in one.mend
        assert one.where in found.summary and one.mend in str(found.mends)


def test_a_refusal_and_a_draw_stand_in_their_layers(tf):
    layers = tf.keras.layers
    inner = tf.keras.Sequential([layers.RandomZoom(0.1, name="zoom")], name="augment")
    parts = [tf.keras.Input([8, 8, 3]), inner, layers.Dropout(0.5, name="drop")]
    found = xh.check(tf.keras.Sequential(parts), np.ones([1, 8, 8, 3], "float32"), training=True)
    assert [one.layer for one in (*found.unsupported, *found.switched_off)] == ["augment/zoom"] * 2
    assert "Keras' own `fit` runs it without XLA, because of RandomZoom" in found.summary
    assert {draw.layer for draw in found.draws} == {"augment/zoom", "drop"}
    assert {one.line for one in found.unsupported} == {""}  # no line of a reader made it


def test_the_first_compilation_of_a_process():
    """The registry of kernels is empty for XLA until then; after it, some text ends a process."""

    def first():
        import tensorflow as tf

        import xla_helpers as xh

        text = xh.check(lambda x: tf.strings.length(tf.strings.as_string(x)), tf.constant(1))
        split = xh.check(lambda x: tf.strings.split(x), tf.constant(["a b"]))
        refused = [[refusal.operation for refusal in found.unsupported] for found in (text, split)]
        return refused, str(split["XLA"].error)

    (lengths, parts), error = xh.run_in_process(first).value
    assert lengths == ["AsString", "StringLength"] and "StringSplitV2" in parts
    assert error == "XLA was not asked: it would abort at StringSplitV2"


def test_other_errors_of_the_compiler_are_not_called_unsupported(tf):
    length = tf.function(lambda x: tf.strings.length(tf.as_string(x)))

    def gradient(x):
        length(x)  # which XLA leaves out, because nothing needs it
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 100.0, lambda y: (2 * y,), (x,))[0]
        return tape.gradient(y, x)

    found = xh.check(gradient, np.float32(3))
    assert found.unsupported == ()
    assert found["XLA"].short.startswith("InvalidArgumentError: XLA compilation requires a fixed")
    assert found.summary == "XLA gives an error instead of a result."


# What XLA leaves out


def test_vanished_checks_of_loops_branches_and_calls(tf):
    @tf.function
    def inner(x):
        return tf.debugging.check_numerics(x, "inner")

    def guarded(x):
        tf.debugging.assert_positive(x)
        tf.debugging.Assert(tf.reduce_all(x > 0), [x], name="mine")
        for _ in tf.range(2):
            if tf.reduce_sum(x) > 0:
                x = tf.debugging.check_numerics(x, "loop")
        return inner(x)

    found = xh.check(guarded, THREE)
    assert found.differing == {} and not found.agrees
    assert sorted(name.replace("Stateful", "") for name in found.vanished) == [
        "PartitionedCall/CheckNumerics",
        "assert_positive/assert_less",
        "mine",
        "while/cond/CheckNumerics",
    ]
    assert found.summary.startswith("XLA leaves out 4 checks: assert_positive/assert_less, mine, ")
    refused = xh.check(lambda x: tf.strings.length(tf.as_string(guarded(x))), THREE)
    assert refused.vanished and "XLA leaves out" not in refused.summary


# What is refused, and what is shown


def test_what_cannot_be_checked(tf):
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called"):
        xh.check(3)
    with pytest.raises(ValueError, match="`tolerance` is -1: give a number"):
        xh.check(lambda: 1, tolerance=-1)
    with pytest.raises(RuntimeError, match="inside of a tf.function"):
        tf.function(lambda: xh.check(lambda: 1))()
    with pytest.raises(TypeError, match="`result` is a object: only numbers, text and nests"):
        xh.check(object)


@pytest.mark.parametrize(
    ("result", "short"),
    [
        ({"a": [np.float32(1), None]}, "{a: (1., None)}"),
        (np.float32([1 / 3, math.nan]), "[0.3333, nan]"),
        (np.zeros([7]), "float64[7]"),
        ([b"word"] * 40, "(" + ", ".join(["b'word'"] * 7) + ",…"),
    ],
)
def test_results_are_shown_in_one_short_line(tf, result, short):
    assert xh.check(lambda: result)["eager"].short == short
