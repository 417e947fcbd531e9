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


def places(check):
    return [o.difference.place for o in check.differing.values() if o.difference]


# What is the same


def test_the_same_result(tf):
    found = xh.check(lambda x, y: {"sum": x + y, "pair": (x, 2.0 * y, None)}, (THREE, 1))
    assert found.agrees and found.differing == found.errors == {}
    assert found["XLA"].result["pair"][1] == 2
    assert against(found) == ["the same", "the same"]
    assert modes(found) == {"eager": "eager", "graph": "graph", "XLA": "XLA"}


@pytest.mark.parametrize("nothing", [None, (), {"a": None}])
def test_nothing_does_not_agree_with_nothing(tf, nothing):
    found = xh.check(lambda: nothing)
    assert not found.agrees and found.undecided and found.differing == found.errors == {}


def test_last_digits_are_the_same_up_to_the_tolerance(tf):
    def near(x):
        return x + (0.0 if tf.executing_eagerly() else 1e-3)

    found = xh.check(near, (np.float32(1),))
    assert list(found.differing) == ["graph", "XLA"] and places(found) == ["result"] * 2
    assert xh.check(near, (np.float32(1),), tolerance=1e-2).agrees


# What differs


def test_a_result_instead_of_an_error(tf):
    found = xh.check(lambda x: tf.gather(x, [1, 9]), (THREE,))
    if not tf.config.list_physical_devices("GPU"):
        assert list(modes(found)) == list(found.differing) == ["XLA"]
        assert against(found) == ["an error too", "a result instead of an error"]
        assert "InvalidArgumentError: indices[1] = 9 is not in [0, 3)" in str(found)


def test_another_shape_other_integers_and_lost_nan(tf):
    def collect():
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(5):
            array = array.write(i, 1.0)
        return array.stack()

    assert list(xh.check(collect).differing) == ["XLA"]
    found = xh.check(lambda x: x + int(tf.executing_eagerly()), (np.int32([1, 2]),))
    assert list(found.differing) == ["graph", "XLA"]
    found = xh.check(lambda x: x * (math.nan if tf.executing_eagerly() else 1.0), (THREE,))
    assert list(found.differing) == ["graph", "XLA"] and not found.agrees


def test_a_failure_in_every_mode_is_no_difference(tf):
    found = xh.check(lambda x: x[:1] + x[1:] + x, (np.zeros(4),))
    assert len(found.errors) == 3 and found.differing == {} and not found.agrees
    assert found["eager"].short in found.undecided  # the first error, not another one
    assert found["graph"].short.startswith("ValueError: Dimensions must be equal")


# What cannot be decided


@pytest.mark.parametrize(
    ("draw", "operation"),
    [
        ("normal([4])", "RandomStandardNormal"),
        ("categorical([[0.5, 0.5]], 99)", "Multinomial"),
        ("shuffle(tf.range(99))", "RandomShuffle"),
    ],
)
def test_numbers_that_are_drawn_anew_say_nothing(tf, draw, operation):
    found = xh.check(lambda: eval(f"tf.random.{draw}", {"tf": tf}))
    assert found.random_ops == (operation,)
    assert not found.agrees and operation in found.undecided and "graph" not in found.differing


def test_numbers_that_are_drawn_from_a_seed_are_compared(tf):
    def noisy(**options):
        weights = tf.Variable([1.0, 2.0], name="weights")

        def step(x):
            weights.assign_sub(x * tf.random.stateless_normal([2], [1, 2], **options))
            return tf.reduce_sum(x)

        return step

    same = xh.check(noisy(alg="philox"), (np.float32([1, 1]),))
    assert same.agrees and same.random_ops == ("StatelessRandomNormalV2",)
    other = xh.check(noisy(), (np.float32([1, 1]),))  # XLA draws by another algorithm
    if not tf.config.list_physical_devices("GPU"):
        assert not other.differing and not other.agrees and "Stateless" in other.undecided
    assert xh.check(lambda: tf.random.experimental.stateless_split([1, 2], 2)).random_ops == ()


def test_what_differs_from_itself_when_called_again_says_so(tf):
    times = []

    def moment():
        times.append(1)
        return np.float32(len(times))

    again = xh.check(lambda: tf.numpy_function(moment, [], tf.float32))
    assert "itself" in again.undecided
    assert list(again.differing) == ["XLA"]  # an error is one, whatever the numbers are


# Variables


def test_a_variable_that_comes_out_otherwise_is_a_difference(tf):
    weights = tf.Variable([1.0, 2.0], name="weights")

    def step(x):
        weights.assign_sub(x if tf.executing_eagerly() else 2 * x)
        tf.debugging.assert_positive(x)
        return tf.reduce_sum(x)

    found = xh.check(step, (np.float32([1, 1]),))
    values = [o.variables["weights"].tolist() for o in found.outcomes.values()]
    assert values[:2] == [[0, 1], [-1, 0]]
    assert places(found) == ["variables['weights']"] * 2
    assert xh.check(step, (-THREE[:2],)).errors.keys() >= {"eager", "graph"}  # after the change
    assert weights.numpy().tolist() == [1, 2]


def test_variables_alone_are_compared_and_restored(tf):
    total, inner_total = tf.Variable(0.0, name="total"), tf.Variable(0.0, name="inner")
    inner = tf.function(lambda: inner_total.assign_add(1.0))

    def add(x):
        for _ in tf.range(3):
            total.assign_add(x)
        inner()

    found = xh.check(add, (1.0,))
    assert found.agrees and found["XLA"].result is None
    assert found["XLA"].variables == {"total": 3, "inner": 1}
    assert total.numpy() == inner_total.numpy() == 0


# The modes are what they are called


def test_each_mode_is_what_it_is_called_all_the_way_down(tf):
    inner = tf.function(lambda x: tf.sin(x) + 1, jit_compile=True)
    found = xh.check(inner, (THREE,))  # unwrapped, so its own `jit_compile` is not used
    assert modes(found) == {"eager": "eager", "graph": "graph", "XLA": "XLA"}
    inside = xh.check(lambda x: inner(x), (THREE,))
    assert inside["eager"].evidence.mode == "eager" and inside["graph"].evidence.programs == 1


# What XLA refuses, and what it leaves out


def test_all_that_xla_refuses_is_named_with_its_line_and_a_fix(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def logs(x):
        tf.print(x, output_stream="file:///dev/null")
        if tf.reduce_sum(x) > 0:
            tf.strings.as_string(x)
        table.lookup(tf.range(2, dtype=tf.int64))
        tf.random.poisson([], 1.0)
        return tf.numpy_function(np.copy, [x], tf.float32)

    found, first = xh.check(logs, (THREE,)), logs.__code__.co_firstlineno
    assert list(modes(found)) == ["eager", "graph"]
    assert str(found["XLA"].error).count("No registered") == 1  # the error names only one
    below = {"PrintV2": 1, "AsString": 3, "LookupTableFindV2": 4, "RandomPoissonV2": 5, "PyFunc": 6}
    refused = {one.operation: one for one in found.unsupported}
    assert refused.keys() == below.keys() | {"StringFormat"}
    for operation, lines in below.items():
        one = refused[operation]
        assert one.line == f"test_checking.py, line {first + lines} in logs"
        assert one.fix in str(found.fixes) and operation in str(found)


def test_a_refusal_stands_in_its_layer(tf):
    layers = tf.keras.layers
    inner = tf.keras.Sequential([layers.RandomZoom(0.1, name="zoom")], name="augment")
    parts = [tf.keras.Input([8, 8, 3]), inner, layers.Dropout(0.5, name="drop")]
    images = (np.ones([1, 8, 8, 3], "float32"),)
    found = xh.check(tf.keras.Sequential(parts), images, {"training": True})
    assert {one.layer for one in found.unsupported} == {"augment/zoom"}
    assert found.jit_unsupported_layers == ("augment/zoom",)


def test_the_first_compilation_of_a_process():
    """The registry of kernels is empty for XLA until then; after it, some text ends a process."""

    def first():
        import tensorflow as tf

        import xla_helpers as xh

        text = xh.check(lambda x: tf.strings.length(tf.strings.as_string(x)), (tf.constant(1),))
        split = xh.check(lambda x: tf.strings.split(x), (tf.constant(["a b"]),))
        return [[refusal.operation for refusal in found.unsupported] for found in (text, split)]

    lengths, parts = xh.run_in_process(first).value
    assert lengths == ["AsString", "StringLength"] and "StringSplitV2" in parts


def test_other_errors_of_the_compiler_are_not_called_unsupported(tf):
    length = tf.function(lambda x: tf.strings.length(tf.as_string(x)))

    def gradient(x):
        length(x)  # which XLA leaves out, because nothing needs it
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 100.0, lambda y: (2 * y,), (x,))[0]
        return tape.gradient(y, x)

    found = xh.check(gradient, (np.float32(3),))
    assert found.unsupported == () and list(found.differing) == ["XLA"]
    assert found["XLA"].short.startswith("InvalidArgumentError: XLA compilation requires a fixed")


def test_dropped_checks_of_loops_branches_and_calls(tf):
    inner = tf.function(lambda x: tf.debugging.check_numerics(x, "inner"))

    def guarded(x):
        tf.debugging.assert_positive(x)
        tf.debugging.Assert(tf.reduce_all(x > 0), [x], name="mine")
        for _ in tf.range(2):
            if tf.reduce_sum(x) > 0:
                x = tf.debugging.check_numerics(x, "loop")
        return inner(x)

    found = xh.check(guarded, (THREE,))
    assert found.differing == {} and not found.agrees
    assert sorted(name.replace("Stateful", "") for name in found.dropped_checks) == [
        "PartitionedCall/CheckNumerics",
        "assert_positive/assert_less",
        "mine",
        "while/cond/CheckNumerics",
    ]


# What is refused, and what is shown


def test_what_cannot_be_checked(tf):
    with pytest.raises(TypeError, match="callable"):
        xh.check(3)
    with pytest.raises(TypeError, match="`args` must be a tuple"):
        xh.check(tf.sin, THREE)
    with pytest.raises(ValueError, match="`tolerance` must be a number"):
        xh.check(lambda: 1, tolerance=-1)
    with pytest.raises(RuntimeError, match=r"inside a tf\.function"):
        tf.function(lambda: xh.check(lambda: 1))()
