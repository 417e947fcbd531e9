"""Kernels and bytes of real programs, in numbers that hold for every supported TensorFlow."""

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


def title(program):
    return str(program).splitlines()[0]


# reduce_sum(x + y * z)


def test_eager_code_makes_three_passes_and_a_graph_the_same(modes, arrays):
    eager, graph, _ = (xh.inspect_program(fn, *arrays) for fn in modes(fused))
    for program, mode in ((eager, "eager"), (graph, "graph")):
        assert program.mode == mode
        assert [kernel.operations for kernel in program.kernels] == [("Mul",), ("AddV2",), ("Sum",)]
        moved = [(kernel.bytes_read, kernel.bytes_written) for kernel in program.kernels]
        assert moved == [(2 * ARRAY, ARRAY), (2 * ARRAY, ARRAY), (ARRAY + AXES, SCALAR)]
        assert program.bytes == 7 * ARRAY + AXES + SCALAR


def test_xla_fuses_and_moves_fewer_bytes(modes, arrays):
    eager, graph, xla = (xh.inspect_program(fn, *arrays) for fn in modes(fused))
    assert xla.mode == "XLA" and eager.traced == ()
    for program in (graph, xla):
        assert [kernel.operations[0] for kernel in program.traced] == ["Mul", "AddV2", "Sum"]
        assert title(program).startswith(f"{program.mode}: 3 operations traced, ")
    assert 3 * ARRAY + SCALAR <= xla.bytes <= 0.8 * eager.bytes
    assert any({"multiply", "add"} <= set(kernel.operations) for kernel in xla.kernels)
    assert not {"parameter", "fusion", "tuple"} & set(operations(xla))


def test_a_program_is_a_table(arrays):
    program = xh.inspect_program(fused, *arrays)
    assert title(program) == "eager: 3 kernels run and move 1.84 MB."
    assert str(program).splitlines()[3].split() == ["Mul", "Mul", "524", "kB", "262", "kB"]
    assert "AddV2" in program._repr_html_()
    one = xh.inspect_program(lambda x: -x, arrays[0])
    assert title(one) == "eager: 1 kernel runs and moves 524 kB."


# What counts


def test_an_argument_that_is_given_twice_is_read_once(tf, jit, modes):
    for function in modes(lambda x: x * x):
        assert xh.inspect_program(function, tf.ones([N, N])).bytes == 2 * ARRAY
    product = xh.inspect_program(jit(lambda x: x @ x), tf.ones([N, N]))
    assert max(kernel.bytes_read for kernel in product.kernels) == ARRAY


def test_a_variable_that_is_read_counts_as_an_array_and_is_no_kernel(tf, modes):
    weight = tf.Variable(tf.ones([N, N]))
    for function in modes(lambda x: x + weight):
        program = xh.inspect_program(function, tf.ones([N, N]))
        assert len(program.kernels) == 1 and program.bytes == 3 * ARRAY


def test_what_only_renames_or_reshapes_is_no_kernel(tf, modes):
    def rename(x):
        return tf.identity(tf.expand_dims(tf.squeeze(tf.reshape(x, [1, -1])), 1))

    eager, graph, _ = modes(rename)
    for function in (eager, graph):
        assert xh.inspect_program(function, tf.ones([4, 4])).kernels == ()


def test_text_has_bytes_that_are_not_known(tf, modes):
    eager, graph, _ = modes(lambda x: tf.strings.length(x))
    for function in (eager, graph):
        program = xh.inspect_program(function, tf.constant(["some", "text"]))
        (kernel,) = program.kernels
        assert (kernel.bytes_read, kernel.bytes_written) == (None, 8)
        assert "moves bytes that are not all known." in title(program) and program.bytes is None


SIZES = {"bool": 1, "int8": 1, "bfloat16": 2, "int32": 4, "float64": 8, "complex128": 16}


@pytest.mark.parametrize(("dtype", "size"), SIZES.items(), ids=SIZES)
def test_every_type_has_its_size(tf, modes, dtype, size):
    for function in modes(lambda x: tf.reverse(x, [0])):
        moved = [
            (kernel.bytes_read, kernel.bytes_written)
            for kernel in xh.inspect_program(function, tf.cast(tf.ones([3, 5]), dtype)).kernels
        ]
        assert moved[0][0] in (15 * size, 15 * size + 4)  # eager code reads the axis, too
        assert moved[-1][1] == 15 * size


def test_the_parts_of_a_tuple_count_together(tf, jit):
    program = xh.inspect_program(jit(lambda x: tf.argsort(x)), tf.ones([8], tf.int16))
    (sort,) = [kernel for kernel in program.kernels if "sort" in kernel.operations]
    assert sort.bytes_written == 8 * 2 + 8 * 4  # the values, and their places


# What TensorFlow makes of a graph


def test_what_is_joined_is_one_kernel_that_names_its_parts(tf):
    import keras

    layer = keras.layers.Dense(3, activation="relu")
    program = xh.inspect_program(tf.function(lambda x: layer(x)), tf.ones([2, N]))
    traced = [kernel.operations[0] for kernel in program.traced]
    assert traced == ["MatMul", "BiasAdd", "Relu"]
    assert len(program.kernels) <= 3
    joined = [kernel for kernel in program.kernels if len(kernel.operations) > 1]
    assert all(set(kernel.operations[1:]) <= {"BiasAdd", "Relu"} for kernel in joined)
    assert program.bytes <= sum(k.bytes_read + k.bytes_written for k in program.traced)


def test_what_the_optimiser_removes_does_not_run(tf):
    program = xh.inspect_program(tf.function(lambda x: x + (tf.zeros([]) + 2.0)), tf.ones([N]))
    assert len(program.traced) == 2 and operations(program) == ["AddV2"]
    assert program.bytes == 2 * N * 4 + 4


def test_a_graph_that_ran_often_is_seen_as_a_new_one(tf):
    """TensorFlow prepares it only once."""
    function = tf.function(lambda x: tf.sin(x) + tf.cos(x))
    for _ in range(3):
        function(tf.ones([2]))
    for _ in range(2):
        assert sorted(operations(xh.inspect_program(function, tf.ones([2])))) == [
            *("AddV2", "Cos", "Sin")
        ]
    assert function.experimental_get_tracing_count() == 1


def test_a_graph_of_any_length_has_bytes_that_are_not_known(tf):
    """Not those of a graph that was traced for this one length."""
    graph = tf.function(
        lambda x: x + tf.shape(x)[0], input_signature=[tf.TensorSpec([None], "int32")]
    )
    program = xh.inspect_program(graph, tf.range(3))
    assert operations(program) == ["StridedSlice", "AddV2"] and program.bytes is None


# Loops, conditions and calls


def repeat(x, times=3):
    import tensorflow as tf

    for _ in tf.range(times):
        x = tf.sin(x) @ x
    return x


def branch(x):
    import tensorflow as tf

    return tf.cond(x[0, 0] > 0, lambda: tf.sin(x), lambda: tf.cos(x))


def choose(x):
    import tensorflow as tf

    return tf.switch_case(tf.cast(x[0, 0], tf.int32), [lambda: tf.sin(x), lambda: tf.cos(x)])


def test_the_body_of_a_loop_stands_once_and_the_title_says_so(tf, modes):
    graph, xla = (xh.inspect_program(fn, tf.ones([32, 32])) for fn in modes(repeat)[1:])
    for program, sine in ((graph, "Sin"), (xla, "sine")):
        assert operations(program).count(sine) == 1
        assert title(program).endswith(", if each runs once.")
    assert graph.bytes is None  # what a loop hands on has no known shape
    assert xla.bytes > 4 * 32 * 32 * 4
    longer = xh.inspect_program(tf.function(repeat, jit_compile=True), tf.ones([32, 32]), 5000)
    assert operations(longer) == operations(xla)


@pytest.mark.parametrize("function", [branch, choose])
def test_all_branches_stand_there_and_the_title_says_so(tf, modes, function):
    graph, xla = (xh.inspect_program(fn, tf.ones([32, 32])) for fn in modes(function)[1:])
    assert {"Sin", "Cos"} <= set(operations(graph)) and "_SwitchN" not in operations(graph)
    assert title(graph).endswith(" if each runs once.")
    assert {"sine", "cosine"} <= set(operations(xla))


def test_a_function_that_is_called_belongs_to_the_graph(tf, modes):
    inner = tf.function(lambda x: tf.sin(x) * 2.0)
    _, graph, xla = modes(lambda x: tf.cos(inner(x)))
    assert sorted(operations(xh.inspect_program(graph, tf.ones([8])))) == ["Cos", "Mul", "Sin"]
    assert {"sine", "cosine"} <= set(operations(xh.inspect_program(xla, tf.ones([8]))))


def test_a_function_that_stays_a_call_is_not_looked_into(tf):
    inner = tf.function(lambda x: tf.sin(x) * 2.0, experimental_attributes={"_noinline": True})
    program = xh.inspect_program(tf.function(lambda x: tf.cos(inner(x))), tf.ones([8]))
    assert sorted(operations(program)) == ["Cos", "PartitionedCall"]
    read = {kernel.operations[0]: kernel.bytes_read for kernel in program.kernels}
    assert read == {"Cos": 32, "PartitionedCall": None} and program.bytes is None
    assert {"Sin", "Mul", "Cos"} == {kernel.operations[0] for kernel in program.traced}


# What can be inspected


def test_arguments_arrive_under_their_names_and_defaults_are_known(tf, modes):
    def masked(x, scale=2.0, *, mask, training=True):
        x = tf.where(mask, x, 0.0) * scale
        return tf.tanh(x) if training else x

    mask = tf.constant([True] * N)
    for function in modes(masked):
        training, resting = (
            operations(xh.inspect_program(function, np.ones([N], np.float32), mask=mask, **options))
            for options in ({}, {"training": False})
        )
        assert "tanh" in [name.lower() for name in training]
        assert "tanh" not in [name.lower() for name in resting]


def test_graphs_without_their_python(tf, tmp_path):
    import keras

    model = keras.Sequential([keras.layers.Input([N]), keras.layers.Dense(3)])
    model.export(str(tmp_path), verbose=False)
    loaded = tf.saved_model.load(str(tmp_path))
    concrete = tf.function(tf.sin).get_concrete_function(tf.ones([2, N]))
    for graph in (tmp_path, loaded.serve, loaded.signatures["serving_default"], concrete):
        program = xh.inspect_program(graph, tf.ones([2, N]))
        assert program.mode == "graph" and len(program.kernels) <= len(program.traced)
    assert tf.function(lambda x: loaded.serve(x))(tf.ones([2, N])).shape == [2, 3]


def test_while_functions_run_eagerly_so_does_a_program(tf, modes, arrays):
    tf.config.run_functions_eagerly(True)
    try:
        programs = [xh.inspect_program(fn, *arrays) for fn in modes(fused)]
    finally:
        tf.config.run_functions_eagerly(False)
    assert {program.mode for program in programs} == {"eager"}


def test_looking_changes_no_variable(tf, modes, tmp_path):
    total = tf.Variable(1.0)
    for function in modes(lambda: total.assign_add(1.0)):
        xh.inspect_program(function)
    for function in modes(lambda variable: variable.assign_add(1.0)):
        xh.inspect_program(function, total)
    assert total.numpy() == 1
    module = tf.Module()
    module.total = total
    module.add = tf.function(lambda: total.assign_add(1.0), input_signature=[])
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    assert "AssignAddVariableOp" in operations(xh.inspect_program(loaded.add))
    assert loaded.total.numpy() == 1


def test_looking_leaves_no_observer_behind(tf):
    def fails(x):
        tf.sin(x)
        raise LookupError("no such row")

    with pytest.raises(LookupError, match="no such row"):
        xh.inspect_program(fails, tf.ones([2]))
    first = xh.inspect_program(tf.sin, tf.ones([2]))
    tf.cos(tf.ones([2]))
    assert operations(first) == ["Sin"]
    bad = tf.function(lambda x: tf.debugging.check_numerics(tf.math.log(x), "below zero"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        xh.inspect_program(bad, -tf.ones([2]))
    assert operations(xh.inspect_program(tf.function(tf.cos), tf.ones([2]))) == ["Cos"]


# What cannot


def test_what_has_to_be_inspected_itself_is_refused(tf, jit):
    graph, compiled, x = tf.function(tf.sin), jit(tf.sin), tf.ones([2])
    for inner in (graph, compiled):
        with pytest.raises(TypeError, match=r"calls a graph.*inspect the tf.function itself"):
            xh.inspect_program(lambda x, inner=inner: tf.cos(inner(x)), x)
    for holder in (tf.function(lambda x: compiled(x)), compiled.get_concrete_function(x)):
        with pytest.raises(TypeError, match="a graph that holds a compiled function: inspect that"):
            xh.inspect_program(holder, x)
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called: pass the function"):
        xh.inspect_program(3)


@pytest.mark.parametrize("look", [xh.inspect_program, xh.optimised_module])
def test_what_xla_refuses_is_told_in_its_words(tf, jit, look):
    with pytest.raises(ValueError, match="static"):
        look(jit(lambda x: tf.sin(x)), tf.TensorSpec([None, N]))
    with pytest.raises(ValueError, match="unsupported operations"):
        look(jit(lambda x: tf.strings.length(x)), tf.constant("text"))
