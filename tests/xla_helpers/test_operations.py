"""The operations of graphs, without running or compiling them where that is possible."""

import pytest

from xla_helpers.layers import layers_of
from xla_helpers.operations import (
    DRAWS,
    Draw,
    Refusal,
    checks_in,
    draws_in,
    effects_in,
    operations_in,
    refused_by_keras,
    unsupported_in,
)


@pytest.fixture
def found(tf):
    """The operations of a function, by default of one number."""

    def trace(function, *specs):
        specs = specs or [tf.TensorSpec([])]
        return list(operations_in(tf.function(function).get_concrete_function(*specs).graph))

    return trace


@pytest.fixture
def draws(found):
    """The types of the operations of a function that draw random numbers."""
    return lambda function: tuple(draw.operation for draw in draws_in(found(function), {}))


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
        one.type.removeprefix("Stateless").removeprefix("Stateful") for one in operations
    }
    (place,) = [one.name for one in operations if one.type == "Sin"]
    assert place.endswith("/Sin") and "PartitionedCall" in place


def test_operations_of_a_loaded_graph_are_reached_without_lines(tf, found, tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: tf.sin(x), input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path))
    sines = [one for one in found(tf.saved_model.load(str(tmp_path)).f) if one.type == "Sin"]
    assert [one.line.split(",")[0] for one in sines] == [""]


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


# Lines


def test_an_operation_knows_the_readers_line_in_a_branch_too(found, tf):
    def nothing(x):
        return tf.sin(x)

    def branches(x):
        if x > 0:
            x = nothing(x)
        return x

    first = nothing.__code__.co_firstlineno
    [sine] = [one for one in found(branches) if one.type == "Sin"]
    assert sine.line == f"test_operations.py, line {first + 1} in nothing"


@pytest.mark.parametrize(
    "file, line",
    [
        ("/tmp/ipykernel_1/2.py", "line 2 in talk"),
        ("/tmp/ipython-input-3.py", "line 2 in talk"),
        ("<stdin>", "line 2 in talk"),
        ("/home/me/model.py", "model.py, line 2 in talk"),
        ("/tmp/__autograph_generated_file1.py", ""),
        ("<string>", ""),
    ],
)
def test_a_line_is_told_apart_from_those_of_libraries(tf, monkeypatch, file, line):
    space = {"tf": tf}
    exec(compile("def talk(x):\n    return tf.sin(x)", file, "exec"), space)
    monkeypatch.setattr("xla_helpers.operations.is_library", lambda name: name != file)
    function = tf.function(space["talk"], autograph=False)
    graph = function.get_concrete_function(tf.TensorSpec([])).graph
    assert [one.line for one in operations_in(graph) if one.type == "Sin"] == [line]


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
def test_a_draw_is_found_without_what_prepares_its_seed(tf, draws, draw, operation):
    assert draws(lambda x: (x, eval(f"tf.random.{draw}", {"tf": tf}))) == (operation,)


def test_a_generator_draws(tf, draws):
    generator = tf.random.Generator.from_seed(1)
    both = draws(lambda x: x + generator.normal([]) + generator.uniform([]))
    assert both == ("StatelessRandomNormalV2", "StatelessRandomUniformV2")


def test_what_only_prepares_is_no_draw(tf, draws):
    assert draws(lambda x: tf.sin(x)) == ()
    assert draws(lambda x: (x, tf.random.experimental.stateless_split([1, 2], 2))) == ()


def test_a_draw_tells_the_layer_and_the_line(tf, found):
    drop = tf.keras.Sequential([tf.keras.layers.GaussianNoise(1.0, name="noise")], name="drop")

    def call(x):
        return drop(x, training=True)

    [draw] = draws_in(found(call, tf.TensorSpec([1, 2])), layers_of(call))
    line = f"test_operations.py, line {call.__code__.co_firstlineno + 1} in call"
    assert draw == Draw("StatelessRandomNormalV2", "noise", line)
    assert str(draw) == f"StatelessRandomNormalV2 in noise ({line})"


# What outlasts a call


def test_what_outlasts_a_call_is_named(tf, found):
    rows = iter(tf.data.Dataset.range(9))
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    queue = tf.queue.FIFOQueue(9, tf.float32, [[]])

    def changes(x):
        row = next(rows)
        table.insert(row, row)
        queue.enqueue(x)
        tf.io.write_file("never-called", "")
        return tf.py_function(abs, [x + tf.random.uniform([])], tf.float32)

    assert effects_in(found(changes), {}) == (
        "an iterator (IteratorGetNext)",
        "a lookup table (LookupTableInsertV2)",
        "a queue (QueueEnqueueV2)",
        "a file (WriteFile)",
        "a stream of random numbers (RandomUniform)",
        "Python code (EagerPyFunc)",
    )


def test_what_is_put_back_or_belongs_to_the_call_is_not_named(tf, found):
    generator = tf.random.Generator.from_seed(1)
    seeds = tf.keras.layers.Dropout(0.5)
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)

    def changes(x):
        row = next(iter(tf.data.Dataset.range(9)))
        numbers = tf.random.stateless_normal([], [1, 2]) + generator.normal([])
        return table.lookup(row), seeds(x, training=True) + numbers

    assert effects_in(found(changes), {}) == ()


# What XLA has no code for


def test_nothing_is_unsupported_without_an_error(tf, found):
    assert unsupported_in(found(tf.strings.as_string), None, {}) == ()


def test_what_the_error_names_comes_first_and_each_once(tf, found, jit):
    jit(lambda x: x + 1)(1.0)  # the registry is full only afterwards
    operations = found(lambda x: tf.strings.length(tf.strings.as_string(x)))
    error = ValueError("StringLength (No registered 'StringLength' OpKernel for XLA_CPU_JIT)")
    refused = unsupported_in(operations, error, {})
    assert [one.operation for one in refused] == ["StringLength", "AsString"]
    assert unsupported_in(operations, ValueError("something else"), {}) == ()
    unasked = unsupported_in(operations, NotImplementedError("XLA was not asked"), {})
    assert {one.operation for one in unasked} == {"StringLength", "AsString"}
    assert [one.operation for one in unsupported_in([], error, {})] == ["StringLength"]


def test_refusals_tell_layer_line_and_mend_all_at_once(tf, found, jit):
    layers = tf.keras.layers
    augment = tf.keras.Sequential([layers.RandomRotation(0.1, name="turn")], name="augmentation")
    model = tf.keras.Sequential([tf.keras.Input([4, 4, 3]), augment, layers.RandomZoom(0.1)])

    def step(x):
        tf.print(tf.reduce_sum(x))
        return model(x, training=True)

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        jit(step)(tf.ones([1, 4, 4, 3]))
    operations = found(step, tf.TensorSpec([1, 4, 4, 3]))
    refused = unsupported_in(operations, caught.value, layers_of(step))
    transform, zoom = "ImageProjectiveTransformV3", model.layers[-1].name
    assert {(one.operation, one.layer) for one in refused} == {
        ("StringFormat", ""),
        ("PrintV2", ""),
        (transform, "augmentation/turn"),
        (transform, zoom),
    }
    line = step.__code__.co_firstlineno + 2
    assert str(next(one for one in refused if one.layer == zoom)) == (
        f"{transform} in {zoom} (test_operations.py, line {line} in step): "
        "do it in the data pipeline, before the compiled function"
    )


@pytest.mark.parametrize(
    "operation, words",
    [
        ("PrintV2", "print outside"),
        ("EagerPyFunc", "TensorFlow's operations"),
        ("LookupTableFindV2", "look it up"),
        ("DecodeJpeg", "data pipeline"),
        ("StaticRegexReplace", "text into numbers"),
        ("StringToHashBucketFast", "pass the numbers in"),
        ("ReduceDataset", "take the elements"),
        ("SparseTensorDenseMatMul", "dense tensors"),
        ("RandomPoissonV2", "draw outside"),
        ("Anything", "other operations"),
    ],
)
def test_a_mend_fits_the_operation(operation, words):
    error = ValueError(f"{operation} (No registered '{operation}' OpKernel for XLA_CPU_JIT)")
    [refusal] = unsupported_in([], error, {})
    assert words in refusal.mend and str(refusal) == f"{operation}: {refusal.mend}"


# What Keras refuses for XLA


@pytest.fixture
def zoomed(tf):
    """A model that holds a layer without XLA's support, one level down."""
    zoom = tf.keras.Sequential([tf.keras.layers.RandomZoom(0.1, name="zoom")], name="first")
    return tf.keras.Sequential([tf.keras.Input([4, 4, 3]), zoom, tf.keras.layers.Flatten()])


def test_a_layer_because_of_which_keras_leaves_xla_out_is_told(zoomed):
    [refusal] = refused_by_keras(zoomed)
    assert isinstance(refusal, Refusal)
    assert str(refusal).startswith("RandomZoom in first/zoom: while the model holds it, Keras ")


def test_keras_leaves_xla_out_for_the_whole_model_as_the_mend_says(zoomed):
    with pytest.warns(UserWarning, match="Model doesn't support `jit_compile=True`"):
        zoomed.compile("sgd", "mse", jit_compile=True)
    assert not zoomed.jit_compile


def test_a_layer_that_cudnn_may_run_has_a_mend_of_its_own(tf):
    layer = tf.keras.layers.LSTM(2)
    layer.supports_jit = False  # as Keras does on a GPU
    assert "use_cudnn=False" in refused_by_keras(layer)[0].mend
