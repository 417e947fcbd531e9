"""What `check` says of real functions in the three modes. A compilation takes milliseconds."""

import math
from functools import partial

import numpy as np
import pytest

import xla_helpers as xh

THREE = np.float32([3, 1, 3])
NAN, INF = math.nan, math.inf


def modes(check):
    return {mode: o.evidence.mode for mode, o in check.outcomes.items() if not o.error}


class Network:
    """With a second network, as for reinforcement learning, or anything else, as its `target`."""

    def __init__(self, weight, target):
        self.weight, self.target = weight, target

    def step(self, x):
        return x * self.weight


@pytest.mark.parametrize("target", [Network(100.0, None), 3.0, "a name", np.ones(3), abs])
def test_a_method_is_called_on_its_own_object(tf, target):
    network = Network(2.0, target)
    for step in (network.step, tf.function(network.step), partial(network.step)):
        found = xh.check(step, (THREE,))
        assert found.agrees and found["eager"].result.tolist() == (2 * THREE).tolist()


def test_the_same_result(tf):
    found = xh.check(lambda x, y: {"sum": x + y, "pair": (x, 2.0 * y, None)}, (THREE,), {"y": 1})
    assert found.agrees and found.differing == found.errors == {} and not found.inconclusive
    assert found["XLA"].result["pair"][1] == 2


@pytest.mark.parametrize(
    ("eager", "graph", "size"),
    [
        (THREE * NAN, THREE * NAN, 0),
        (1.0, 1.001, 1e-3),
        (THREE * NAN, THREE, INF),
        (np.int32([7, 8]), np.int32([7, 9]), INF),
        (np.zeros([5]), np.zeros([0]), INF),
    ],
)
def test_results_that_differ(tf, eager, graph, size):
    for tolerance in (1e-4, 1e-2):
        found = xh.check(lambda: eager if tf.executing_eagerly() else graph, tolerance=tolerance)
        assert found["XLA"].difference.size == pytest.approx(size, 1e-3)
        assert found.agrees is (size < tolerance)
        assert list(found.differing) == ([] if found.agrees else ["graph", "XLA"])


@pytest.mark.parametrize(("fn", "errors"), [(lambda x: [None], 0), (lambda x: x[1:] + x, 3)])
def test_neither_no_result_nor_a_failure_in_every_mode_agrees(tf, fn, errors):
    found = xh.check(fn, (np.zeros(4),))
    assert len(found.errors) == errors and found.differing == {}
    assert found.inconclusive and not found.agrees


def test_a_graph_without_python_has_no_eager_mode_though_it_fails(tf):
    checked = tf.function(lambda x: tf.debugging.check_numerics(x, "no number"))
    found = xh.check(checked.get_concrete_function(tf.TensorSpec([])), (NAN,))
    assert list(found.outcomes) == ["graph", "XLA"] and found["graph"].error


def test_a_buffer_that_is_filled_again_is_not_compared_with_itself(tf):
    out = np.zeros(3)
    found = xh.check(lambda: np.add(out, 1, out=out))
    assert found["eager"].from_itself.size > 0 and found.inconclusive


@pytest.mark.parametrize(
    ("draw", "operation"),
    [
        (lambda random: random.normal([4]), "RandomStandardNormal"),
        (lambda random: random.categorical([[0.5, 0.5]], 99), "Multinomial"),
        (lambda random: random.shuffle(range(99)), "RandomShuffle"),
    ],
)
def test_random_numbers_say_nothing(tf, draw, operation):
    found = xh.check(lambda: draw(tf.random))
    assert found.random_ops == (operation,)
    assert found.inconclusive and not found.agrees and "graph" not in found.differing


def test_random_numbers_from_a_seed_are_compared(tf):
    same = xh.check(lambda: tf.random.stateless_normal([2], [1, 2], alg="philox"))
    assert same.agrees and same.random_ops == ("StatelessRandomNormalV2",)
    assert xh.check(lambda: tf.random.experimental.stateless_split([1, 2], 2)).random_ops == ()


def test_random_numbers_hide_neither_an_error_nor_a_dropped_check(tf):
    def noisy(x):
        tf.debugging.assert_positive(x)
        return x + tf.random.normal([])

    found = xh.check(noisy, (tf.constant(-1.0),))
    assert list(found.differing) == ["XLA"] and found.dropped_checks


def test_a_function_that_differs_from_itself_is_not_called_different(tf):
    anew = np.random.default_rng(0)
    found = xh.check(lambda: tf.numpy_function(anew.normal, [], tf.float64))
    assert found.inconclusive and found["graph"].from_itself.size > 0
    assert list(found.differing) == ["XLA"]  # which has no such operation


def test_a_variable_that_comes_out_otherwise_is_a_difference(tf):
    weights, steps = tf.Variable([1.0, 2.0], name="weights"), tf.Variable(0, name="steps")
    count = tf.function(lambda: steps.assign_add(1))

    def step(x):
        count()
        weights.assign_sub(x if tf.executing_eagerly() else 2 * x)
        tf.debugging.assert_positive(x)

    found = xh.check(step, (np.float32([1, 1]),))
    after = [o.variables["weights"].tolist() for o in found.outcomes.values()]
    assert after == [[0, 1], [-1, 0], [-1, 0]] and found["XLA"].variables["steps"] == 1
    assert found["XLA"].difference.place == "variables['weights']"
    assert xh.check(step, (np.float32([-1, 1]),)).errors.keys() >= {"eager", "graph"}
    assert weights.numpy().tolist() == [1, 2] and steps.numpy() == 0  # after an error, too


@pytest.mark.parametrize("eagerly", [True, False])
def test_each_mode_is_what_it_is_called_all_the_way_down(tf, jit, eagerly):
    inner = jit(lambda x: tf.sin(x) + 1)
    tf.config.run_functions_eagerly(eagerly)
    try:
        found, inside = (xh.check(fn, (THREE,)) for fn in (inner, lambda x: inner(x)))
        assert tf.config.functions_run_eagerly() == eagerly
    finally:
        tf.config.run_functions_eagerly(False)
    assert modes(found) == {"eager": "eager", "graph": "graph", "XLA": "XLA"}
    assert modes(inside)["eager"] == "eager" and inside["graph"].evidence.programs == 1


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
    refused = {one.operation: one for one in found.unsupported}
    lines = {"PrintV2": 1, "AsString": 3, "LookupTableFindV2": 4, "RandomPoissonV2": 5, "PyFunc": 6}
    assert refused.keys() == lines.keys() | {"StringFormat"}
    for operation, below in lines.items():
        one = refused[operation]
        assert one.line == f"test_checking.py, line {first + below} in logs"
        assert str(one) in str(found) and one.fix in str(found.fixes)
    assert len({refused[operation].fix for operation in lines}) == len(lines)


def test_no_advice_drops_what_is_imaginary(tf):
    matrix = tf.cast(tf.eye(3), tf.complex64)
    [refused] = xh.check(tf.linalg.solve, (matrix, matrix)).unsupported
    assert "real and imaginary parts" in refused.fix


def test_a_refusal_and_what_turns_xla_off_in_keras_are_named_by_layer(tf):
    inner = tf.keras.Sequential([tf.keras.layers.RandomZoom(0.1, name="zoom")], name="augment")
    model = tf.keras.Sequential([tf.keras.Input([8, 8, 3]), inner])
    found = xh.check(model, (np.ones([1, 8, 8, 3], "float32"),), {"training": True})
    assert {one.layer for one in found.unsupported} == {"augment/zoom"}
    assert found.jit_unsupported_layers == ("augment/zoom",)


def test_the_first_compilation_of_a_process():
    """Until then the registry of kernels has none for XLA."""

    def first():
        import tensorflow as tf

        import xla_helpers as xh

        found = xh.check(lambda x: tf.strings.length(tf.strings.as_string(x)), (tf.constant(1),))
        return [one.operation for one in found.unsupported]

    assert xh.run_in_process(first).value == ["AsString", "StringLength"]


def test_other_errors_of_the_compiler_are_not_called_unsupported(tf):
    length = tf.function(lambda x: tf.strings.length(tf.as_string(x)))

    def gradient(x):
        length(x)  # which XLA leaves out, because nothing needs it
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 100.0, lambda y: (2 * y,), (x,))[0]
        return tape.gradient(y, x)

    found = xh.check(gradient, (np.float32(3),))
    assert list(found.errors) == list(found.differing) == ["XLA"] and found.unsupported == ()


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


def test_arguments_that_make_no_sense(tf):
    for wrong in ([3], [tf.sin, THREE]):
        with pytest.raises(TypeError):
            xh.check(*wrong)
    with pytest.raises(ValueError, match="tolerance"):
        xh.check(len, tolerance=-1)
    with pytest.raises(RuntimeError, match="inside"):
        tf.function(lambda: xh.check(lambda: 1))()


def test_a_function_that_was_saved_compiled_has_no_eager_row(tf, tmp_path):
    module = tf.Module()
    signature = [tf.TensorSpec([])]
    module.double = tf.function(lambda x: 2 * x, input_signature=signature, jit_compile=True)
    tf.saved_model.save(module, str(tmp_path))
    found = xh.check(tf.saved_model.load(str(tmp_path)).double, (1.0,))
    assert list(found.outcomes) == ["graph", "XLA"] and found.agrees
