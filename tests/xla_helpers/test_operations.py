"""The operations of graphs, without running or compiling them where that is possible."""

import pytest

from xla_helpers.operations import (
    DRAWS,
    checks_in,
    draws_in,
    operations_in,
    unsupported_in,
)


@pytest.fixture
def found(tf):
    """The operations of a function of one number, as pairs of name and type."""

    def trace(function):
        graph = tf.function(function).get_concrete_function(tf.TensorSpec([])).graph
        return list(operations_in(graph.as_graph_def()))

    return trace


def test_operations_of_loops_branches_and_calls_are_reached(tf, found):
    @tf.function
    def inner(x):
        return tf.sin(x)

    def outer(x):
        for _ in tf.range(2):
            if x > 0:
                x = tf.cos(x)
            else:
                x = tf.tan(x)
        return inner(x)

    operations = found(outer)
    assert {"Cos", "Tan", "Sin", "While", "If"} <= {
        op.removeprefix("Stateless").removeprefix("Stateful") for _, op in operations
    }
    (place,) = [name for name, op in operations if op == "Sin"]
    assert place.endswith("/Sin") and "PartitionedCall" in place


def test_a_function_that_calls_itself_ends(tf):
    from tensorflow.core.framework.graph_pb2 import GraphDef

    graph = GraphDef()
    function = graph.library.function.add()
    function.signature.name = "again"
    for node, name in ((graph.node.add(), "first"), (function.node_def.add(), "second")):
        node.name, node.op = name, "PartitionedCall"
        node.attr["f"].func.name = "again"
    assert [name for name, _ in operations_in(graph)] == ["first", "first/second"]


def test_vanished_checks_of_loops_and_branches(tf, found):
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

    assert sorted(name.replace("Stateful", "") for name in checks_in(found(guarded))) == [
        "PartitionedCall/CheckNumerics",
        "PartitionedCall_1/CheckNumerics",
        "assert_less",
        "assert_positive/assert_less",
        "mine",
        "while/cond/CheckNumerics",
        "while/cond/assert_less",
    ]


# Random numbers


def test_what_draws_is_registered_with_tensorflow(tf):
    from tensorflow.python.framework import op_def_registry

    assert [name for name in DRAWS if op_def_registry.get(name) is None] == []


@pytest.mark.parametrize(
    ("draw", "operation"),
    [
        ("normal([4])", "RandomStandardNormal"),
        ("uniform([4])", "RandomUniform"),
        ("uniform([4], maxval=3, dtype='int32')", "RandomUniformInt"),
        ("truncated_normal([4])", "TruncatedNormal"),
        ("categorical([[0.5, 0.5]], 2)", "Multinomial"),
        ("gamma([4], 1.0)", "RandomGamma"),
        ("poisson([4], 1.0)", "RandomPoissonV2"),
        ("shuffle([1, 2])", "RandomShuffle"),
        ("stateless_normal([4], [1, 2])", "StatelessRandomNormalV2"),
        ("stateless_uniform([4], [1, 2])", "StatelessRandomUniformV2"),
        ("stateless_truncated_normal([4], [1, 2])", "StatelessTruncatedNormalV2"),
        ("stateless_categorical([[0.5, 0.5]], 2, [1, 2])", "StatelessMultinomial"),
        ("stateless_gamma([4], [1, 2], 1.0)", "StatelessRandomGammaV3"),
    ],
)
def test_a_draw_is_found_without_what_prepares_its_seed(tf, found, draw, operation):
    operations = found(lambda x: (x, eval(f"tf.random.{draw}", {"tf": tf})))
    assert draws_in(operations) == (operation,)


def test_a_generator_draws(tf, found):
    generator = tf.random.Generator.from_seed(1)
    operations = found(lambda x: x + generator.normal([]) + generator.uniform([]))
    assert draws_in(operations) == ("StatelessRandomNormalV2", "StatelessRandomUniformV2")


def test_what_only_prepares_is_no_draw(tf, found):
    assert draws_in(found(lambda x: tf.sin(x))) == ()
    split = found(lambda x: (x, tf.random.experimental.stateless_split([1, 2], 2)))
    assert draws_in(split) == ()


# What XLA has no code for


def test_nothing_is_unsupported_without_an_error(tf, found):
    assert unsupported_in(found(tf.strings.as_string), None) == ()


def test_what_the_error_names_comes_first_and_each_once(tf, found, jit):
    jit(lambda x: x + 1)(1.0)  # the registry is full only afterwards
    operations = found(lambda x: tf.strings.length(tf.strings.as_string(x)))
    error = ValueError("StringLength (No registered 'StringLength' OpKernel for XLA_CPU_JIT)")
    assert unsupported_in(operations, error) == ("StringLength", "AsString")
    assert unsupported_in(found(tf.sin), ValueError("something else")) == ()
