"""Kernels and bytes of real programs, in numbers that hold for every supported TensorFlow."""

from functools import partial

import numpy as np
import pytest

import xla_helpers as xh

N = 256
ARRAY = N * N * 4  # bytes
AXES, SCALAR = 8, 4  # bytes of the two axes that a sum reads, and of a number


def fused(x, y, z):
    import tensorflow as tf

    return tf.reduce_sum(x + y * z)


@pytest.fixture
def arrays(tf):
    return [tf.ones([N, N]) for _ in range(3)]


@pytest.fixture
def modes(tf, jit):
    """A function as it stands, as a graph, and compiled."""
    return lambda function: (function, tf.function(function), jit(function))


def operations(program):
    return [operation for kernel in program.kernels for operation in kernel.operations]


def traced(program):
    return [operation for kernel in program.traced for operation in kernel.operations]


def test_eager_code_makes_three_passes_and_a_graph_the_same(modes, arrays):
    eager, graph, _ = (xh.inspect_program(fn, arrays) for fn in modes(fused))
    for program, mode in ((eager, "eager"), (graph, "graph")):
        assert program.mode == mode
        assert [kernel.operations for kernel in program.kernels] == [("Mul",), ("AddV2",), ("Sum",)]
        moved = [(kernel.bytes_read, kernel.bytes_written) for kernel in program.kernels]
        assert moved == [(2 * ARRAY, ARRAY), (2 * ARRAY, ARRAY), (ARRAY + AXES, SCALAR)]
        assert program.bytes == 7 * ARRAY + AXES + SCALAR
    assert (traced(eager), traced(graph)) == ([], ["Mul", "AddV2", "Sum"])
    assert "524 kB" in str(eager) and "AddV2" in eager._repr_html_()


def test_xla_fuses_and_moves_fewer_bytes(jit, arrays):
    xla = xh.inspect_program(jit(fused), arrays)
    assert xla.mode == "XLA" and traced(xla) == ["Mul", "AddV2", "Sum"]
    assert 3 * ARRAY + SCALAR <= xla.bytes <= 0.8 * 7 * ARRAY
    assert any({"multiply", "add"} <= set(kernel.operations) for kernel in xla.kernels)
    assert not {"parameter", "fusion", "tuple"} & set(operations(xla))


def test_the_hlo_before_and_after_the_passes_of_xla(jit, arrays):
    def opcodes(fn, args, **options):
        module = xh.hlo_module(fn, args, **options)
        return {inner.opcode for outer in module.computations for inner in outer.instructions}

    function, given = jit(fused), partial(jit(fused), arrays[0])
    assert "fusion" in opcodes(function, arrays) and "fusion" in opcodes(given, arrays[1:])
    assert "fusion" not in opcodes(function, arrays, optimized=False)
    assert xh.inspect_program(given, arrays[1:]).mode == "XLA"


# What counts


def test_an_array_is_read_once_and_a_variable_counts_as_one(tf, modes):
    weight = tf.Variable(tf.ones([N, N]))
    for function, arrays in ((lambda x: x * x, 2), (lambda x: x + weight, 3)):
        for fn in modes(function):
            program = xh.inspect_program(fn, (tf.ones([N, N]),))
            assert len(program.kernels) == 1 and program.bytes == arrays * ARRAY


def test_what_only_renames_or_reshapes_is_no_kernel(tf, modes):
    for function in modes(lambda x: tf.expand_dims(tf.squeeze(tf.reshape(x, [1, -1])), 1))[:2]:
        assert xh.inspect_program(function, (tf.ones([4, 4]),)).kernels == ()


def test_text_has_bytes_that_are_not_known(tf, modes):
    for function in modes(lambda x: tf.strings.length(x))[:2]:
        (kernel,) = xh.inspect_program(function, (tf.constant(["some", "text"]),)).kernels
        assert (kernel.bytes_read, kernel.bytes_written) == (None, 8)


SIZES = {"bool": 1, "int8": 1, "bfloat16": 2, "int32": 4, "float64": 8, "complex128": 16}


@pytest.mark.parametrize(("dtype", "size"), SIZES.items(), ids=SIZES)
def test_every_type_has_its_size(tf, modes, dtype, size):
    for function in modes(lambda x: tf.reverse(x, [0])):
        program = xh.inspect_program(function, (tf.cast(tf.ones([3, 5]), dtype),))
        assert program.kernels[0].bytes_read - 15 * size in (0, 4)  # eager code reads the axis, too
        assert program.kernels[-1].bytes_written == 15 * size


def test_the_parts_of_a_tuple_count_together(tf, jit):
    program = xh.inspect_program(jit(lambda x: tf.argsort(x)), (tf.ones([8], tf.int16),))
    (sort,) = [kernel for kernel in program.kernels if "sort" in kernel.operations]
    assert sort.bytes_written == 8 * 2 + 8 * 4  # the values, and their places


def test_a_type_of_half_a_byte_takes_a_whole_one(tf, jit):
    half = tf.dtypes.experimental.int4
    (kernel,) = xh.inspect_program(jit(lambda x: tf.cast(x, half)), (tf.ones([9]),)).kernels
    assert (kernel.bytes_read, kernel.bytes_written) == (9 * 4, 9)


# What TensorFlow makes of a graph


def test_what_the_optimiser_joins_or_removes_does_not_run(tf):
    layer = tf.keras.layers.Dense(3, activation="relu")
    joined = xh.inspect_program(tf.function(lambda x: layer(x)), (tf.ones([2, N]),))
    assert traced(joined) == ["MatMul", "BiasAdd", "Relu"]
    assert [name for name in operations(joined) if "MatMul" not in name] == ["BiasAdd", "Relu"]
    assert joined.bytes <= sum(one.bytes_read + one.bytes_written for one in joined.traced)
    removed = xh.inspect_program(tf.function(lambda x: x + (tf.zeros([]) + 2.0)), (tf.ones([N]),))
    assert traced(removed) == ["AddV2", "AddV2"] and operations(removed) == ["AddV2"]
    assert removed.bytes == 2 * N * 4 + 4


def test_a_graph_that_ran_often_is_seen_as_a_new_one(tf):
    """TensorFlow prepares it only once."""
    function, x = tf.function(lambda x: tf.sin(x) + tf.cos(x)), tf.ones([2])
    for _ in range(3):
        function(x)
    for _ in range(2):
        assert {*operations(xh.inspect_program(function, (x,)))} == {"AddV2", "Cos", "Sin"}
    assert function.experimental_get_tracing_count() == 1


def test_a_graph_of_any_length_has_bytes_that_are_not_known(tf):
    """Not those of a graph that was traced for this one length."""
    any_length = tf.function(tf.sin, input_signature=[tf.TensorSpec([None])])
    program = xh.inspect_program(any_length, (tf.ones([3]),))
    assert operations(program) == ["Sin"] and program.bytes is None


# Loops, conditions and calls


@pytest.mark.parametrize("kind", ["loop", "condition", "choice"])
def test_a_body_and_all_branches_stand_there_once_and_bytes_are_not_known(tf, modes, kind):
    def function(x):
        if kind == "condition":
            return tf.cond(x[0] > 0, lambda: tf.sin(x), lambda: tf.cos(x))
        if kind == "choice":
            return tf.switch_case(tf.cast(x[0], "int32"), [lambda: tf.sin(x), lambda: tf.cos(x)])
        for _ in tf.range(3):
            x = tf.sin(x) + tf.cos(x)
        return x

    graph, xla = (xh.inspect_program(fn, (tf.ones([32]),)) for fn in modes(function)[1:])
    assert graph.bytes is None and (kind == "condition" or xla.bytes is None)  # which XLA selects
    for program, names in ((graph, ("Sin", "Cos")), (xla, ("sine", "cosine"))):
        assert [operations(program).count(name) for name in names] == [1, 1]


def test_a_function_that_is_called_belongs_to_the_graph_unless_it_stays_a_call(tf):
    for stays, names in ((False, ["Cos", "Mul", "Sin"]), (True, ["Cos", "PartitionedCall"])):
        kept = {"experimental_attributes": {"_noinline": True}} if stays else {}
        inner = tf.function(lambda x: tf.sin(x) * 2.0, **kept)
        outer = tf.function(lambda x, inner=inner: tf.cos(inner(x)))
        program = xh.inspect_program(outer, (tf.ones([8]),))
        assert sorted(operations(program)) == names and (program.bytes is None) == stays
        assert sorted(traced(program)) == ["Cos", "Mul", "Sin"]


def test_arguments_arrive_under_their_names_and_defaults_are_known(tf, modes):
    def masked(x, scale=2.0, *, mask, training=True):
        x = tf.where(mask, x, 0.0) * scale
        return tf.tanh(x) if training else x

    mask, x = tf.constant([True] * N), np.ones([N], np.float32)
    for function in modes(masked):
        for options, there in (({}, True), ({"training": False}, False)):
            program = xh.inspect_program(function, (x,), {"mask": mask, **options})
            assert ("tanh" in map(str.lower, operations(program))) == there


def test_graphs_without_their_python(tf, tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Input([N]), tf.keras.layers.Dense(3)])
    model.export(str(tmp_path), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path))
    concrete = tf.function(tf.sin).get_concrete_function(tf.ones([2, N]))
    for graph in (loaded.serve, loaded.signatures["serving_default"], concrete):
        program = xh.inspect_program(graph, (tf.ones([2, N]),))
        assert program.mode == "graph" and 1 <= len(program.kernels) <= len(program.traced)


def test_looking_changes_no_variable_and_leaves_no_observer_behind(tf, modes):
    total = tf.Variable(1.0)
    eager, *traced = modes(lambda variable: total.assign_add(variable.assign_add(1.0)))
    for function in traced:
        xh.inspect_program(function, (tf.Variable(1.0),))
    assert total.numpy() == 1
    given = tf.Variable(1.0)
    xh.inspect_program(eager, (given,))
    assert given.numpy() == 1 and total.numpy() == 3  # of plain Python only what is given is known
    for bad in (lambda x: tf.sin(x) + {}["no such row"], tf.function(lambda x: x[5])):
        with pytest.raises((KeyError, tf.errors.InvalidArgumentError, ValueError)):
            xh.inspect_program(bad, (tf.ones([2]),))
    first = xh.inspect_program(tf.sin, (tf.ones([2]),))
    tf.cos(tf.ones([2]))
    assert operations(first) == ["Sin"]
    assert operations(xh.inspect_program(tf.function(tf.cos), (tf.ones([2]),))) == ["Cos"]


def test_what_has_to_be_inspected_itself_is_refused(tf, jit):
    compiled, x = jit(tf.sin), tf.ones([2])
    holders = [tf.function(lambda x: compiled(x)), compiled.get_concrete_function(x)]
    for fn in (lambda x: tf.cos(tf.function(tf.sin)(x)), lambda x: compiled(x), *holders):
        with pytest.raises(TypeError, match="inspect"):
            xh.inspect_program(fn, (x,))


@pytest.mark.parametrize("look", [xh.inspect_program, xh.hlo_module])
def test_what_xla_refuses_is_told_in_its_words(tf, jit, look):
    with pytest.raises(ValueError, match="static"):
        look(jit(lambda x: tf.sin(x)), (tf.TensorSpec([None, N]),))
    with pytest.raises(ValueError, match="unsupported operations"):
        look(jit(lambda x: tf.strings.length(x)), (tf.constant("text"),))
