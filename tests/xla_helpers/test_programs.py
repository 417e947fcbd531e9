"""Kernels and bytes: of real programs, in numbers that hold for every supported TensorFlow,
and of HLO modules made by hand, in exact numbers."""

import math

import pytest

from xla_helpers.programs import compiler_ir, inspect_program, optimised_module, optimised_proto

N = 256
ARRAY = N * N * 4  # bytes


def fused(x, y, z):
    import tensorflow as tf

    return tf.reduce_sum(x + y * z)


@pytest.fixture
def arrays(tf):
    return [tf.ones([N, N])] * 3


def operations(program):
    return [operation for kernel in program.kernels for operation in kernel.operations]


# reduce_sum(x + y * z)

AXES = 8  # bytes of the two axes that the sum reads
SCALAR = 4


def test_eager_makes_three_passes(arrays):
    program = inspect_program(fused, *arrays)
    assert program.mode == "eager"
    assert [kernel.operations for kernel in program.kernels] == [("Mul",), ("AddV2",), ("Sum",)]
    moved = [(kernel.bytes_read, kernel.bytes_written) for kernel in program.kernels]
    assert moved == [(2 * ARRAY, ARRAY), (2 * ARRAY, ARRAY), (ARRAY + AXES, SCALAR)]
    assert program.bytes == 7 * ARRAY + AXES + SCALAR


def test_a_graph_makes_the_same_passes(tf, arrays):
    eager, graph = (inspect_program(f, *arrays) for f in (fused, tf.function(fused)))
    assert graph.mode == "graph"
    assert operations(graph) == operations(eager)
    assert graph.bytes == eager.bytes


def test_xla_moves_fewer_bytes_and_fuses(jit, arrays):
    eager, xla = (inspect_program(f, *arrays) for f in (fused, jit(fused)))
    assert xla.mode == "XLA"
    assert 3 * ARRAY + SCALAR <= xla.bytes <= 0.8 * eager.bytes
    assert any(len(kernel.operations) > 1 for kernel in xla.kernels)
    assert {"multiply", "add"} <= set(operations(xla))
    assert "parameter" not in operations(xla)


def test_xla_has_fewer_kernels_over_whole_arrays(jit, arrays):
    eager, xla = (inspect_program(f, *arrays) for f in (fused, jit(fused)))
    whole = [sum(k.bytes_read >= ARRAY for k in program.kernels) for program in (eager, xla)]
    assert whole[1] < whole[0] == 3


def test_arrays_have_type_and_shape(arrays):
    kernel = inspect_program(fused, *arrays).kernels[0]
    assert [str(array) for array in kernel.reads] == [f"float32[{N},{N}]"] * 2
    assert [str(array) for array in kernel.writes] == [f"float32[{N},{N}]"]


def test_table(arrays):
    program = inspect_program(fused, *arrays)
    text = str(program)
    assert text.startswith("eager: 3 kernels move 1.84 MB.")
    assert text.splitlines()[3].split() == ["Mul", "Mul", "524", "kB", "262", "kB"]
    assert "AddV2" in program._repr_html_()


# Other real programs


def test_a_matrix_product_reads_both_matrices(tf, jit):
    program = inspect_program(jit(tf.matmul), tf.ones([N, N]), tf.ones([N, N]))
    assert max(kernel.bytes_read for kernel in program.kernels) >= 2 * ARRAY
    assert program.bytes >= 3 * ARRAY


def test_arguments_with_defaults_may_be_left_out(tf, jit):
    def scale(x, factor=2.0, *, shift=1.0):
        return x * factor + shift

    for function in (scale, tf.function(scale), jit(scale)):
        program = inspect_program(function, tf.ones([N]))
        assert [operation[:3].lower() for operation in operations(program)][-1] == "add"
    assert inspect_program(jit(scale), tf.ones([N])).bytes >= 2 * N * 4


def test_a_keras_model(tf, jit):
    import keras

    model = keras.Sequential([keras.layers.Input([N]), keras.layers.Dense(3)])
    for function in (model, model.call):
        assert inspect_program(jit(function), tf.ones([2, N])).bytes > 3 * N * 4


def test_a_loop_is_walked_once(tf, jit):
    def repeat(times):
        def loop(x):
            for _ in tf.range(times):
                x = tf.sin(x) @ x
            return x

        return inspect_program(jit(loop), tf.ones([32, 32]))

    few, many = repeat(50), repeat(5000)
    assert operations(few).count("sine") == 1
    assert "while" not in operations(few)
    assert operations(few) == operations(many)


def test_arguments_arrive_under_their_names(tf, jit):
    def masked(x, *, mask, training=True):
        x = tf.where(mask, x, 0.0)
        return tf.tanh(x) if training else x

    mask = tf.constant([True] * N)
    for function in (masked, tf.function(masked), jit(masked)):
        training, resting = (
            operations(inspect_program(function, tf.ones([N]), mask=mask, training=training))
            for training in (True, False)
        )
        assert "tanh" in [name.lower() for name in training]
        assert "tanh" not in [name.lower() for name in resting]
    module = optimised_module(jit(masked), tf.ones([N]), mask=mask)
    assert "tanh" in [i.opcode for part in module.computations for i in part.instructions]


def test_while_functions_run_eagerly_so_does_a_program(tf, jit, arrays):
    tf.config.run_functions_eagerly(True)
    try:
        programs = [inspect_program(make(fused), *arrays) for make in (tf.function, jit)]
    finally:
        tf.config.run_functions_eagerly(False)
    for program in programs:
        assert program.mode == "eager" and operations(program) == ["Mul", "AddV2", "Sum"]


@pytest.mark.parametrize("compiled", [True, False])
def test_python_that_calls_a_graph_has_kernels_that_cannot_be_seen(tf, compiled):
    inner = tf.function(fused, jit_compile=compiled)
    for wrapper in (lambda *arrays: inner(*arrays), lambda *arrays: tf.sin(inner(*arrays))):
        with pytest.raises(
            TypeError, match=r"Python that calls 1 graph\(s\).*inspect the tf.function"
        ):
            inspect_program(wrapper, *[tf.ones([2])] * 3)


def test_a_graph_that_calls_a_compiled_function_is_not_told_as_one(tf, jit):
    inner = jit(tf.sin)
    with pytest.raises(TypeError, match="a graph that calls a compiled function: inspect that one"):
        inspect_program(tf.function(lambda x: inner(x)), tf.ones([2]))


def test_a_graph_without_its_python_is_inspected(tf, jit, tmp_path):
    module = tf.Module()
    module.__call__ = tf.function(tf.sin, input_signature=[tf.TensorSpec([N])])
    tf.saved_model.save(module, str(tmp_path))
    concrete = tf.function(tf.sin).get_concrete_function(tf.ones([N]))
    assert operations(inspect_program(concrete, tf.ones([N]))) == ["Sin"]
    for graph in (tmp_path, tf.saved_model.load(str(tmp_path))):
        program = inspect_program(graph, tf.ones([N]))
        assert program.mode == "graph" and "Sin" in operations(program)
    with pytest.raises(TypeError, match="the graph of a compiled function: pass the tf.function"):
        inspect_program(jit(tf.sin).get_concrete_function(tf.ones([N])), tf.ones([N]))


def test_a_model_compiled_by_keras_is_seen_only_where_it_is_compiled(tf):
    """`compile` says what `fit` and `predict` do; a call of the model is eager all the same."""
    import keras

    model = keras.Sequential([keras.layers.Input([3]), keras.layers.Dense(2)])
    model.compile(jit_compile=True)
    program = inspect_program(model, tf.ones([4, 3]), training=False)
    assert program.mode == "eager" and "MatMul" in operations(program)


def test_looking_changes_no_variable(tf):
    total = tf.Variable(1.0)
    assert "AssignAddVariableOp" in operations(inspect_program(lambda: total.assign_add(1.0)))
    assert total.numpy() == 1


def test_both_branches_of_a_condition_are_walked(tf, jit):
    def branch(x):
        return tf.cond(x[0, 0] > 0, lambda: tf.sin(x) @ x, lambda: tf.cos(x))

    found = operations(inspect_program(jit(branch), tf.ones([32, 32])))
    assert {"sine", "cosine"} <= set(found)


def test_variables_are_no_kernels(tf, jit):
    weight = tf.Variable(tf.ones([N, N]))
    for function in (lambda x: x + weight, tf.function(lambda x: x + weight)):
        program = inspect_program(function, tf.ones([N, N]))
        assert operations(program) == ["AddV2"]
        assert program.bytes == 3 * ARRAY
    assert inspect_program(jit(lambda x: x + weight), tf.ones([N, N])).bytes == 3 * ARRAY


def test_looking_leaves_no_observer_behind(tf):
    def fails(x):
        tf.sin(x)
        raise LookupError("no such row")

    with pytest.raises(LookupError, match="no such row"):
        inspect_program(fails, tf.ones([2]))
    first = inspect_program(tf.sin, tf.ones([2]))
    tf.cos(tf.ones([2]))
    assert operations(first) == ["Sin"]
    assert operations(inspect_program(tf.cos, tf.ones([2]))) == ["Cos"]


def test_the_optimised_module_is_the_one_that_is_inspected(tf, jit, arrays):
    function = jit(fused)
    kernels = {kernel.name for kernel in inspect_program(function, *arrays).kernels}
    for module in (
        optimised_module(function, *arrays),
        optimised_proto(function, *arrays).hlo_module,
    ):
        assert kernels <= {i.name for part in module.computations for i in part.instructions}
    assert "HloModule" in compiler_ir(function, arrays, "hlo")


# Bad input


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called: pass the function"):
        inspect_program(3)


def test_a_graph_of_unknown_shape_is_refused(tf):
    graph = tf.function(fused, input_signature=[tf.TensorSpec([None, N], name="x")] * 3)
    with pytest.raises(ValueError) as caught:
        inspect_program(graph, *[tf.ones([N, N])] * 3)
    assert "is (None, 256): bytes can only be counted for static shapes" in str(caught.value)
    assert "without a signature such as `input_signature=" in str(caught.value)


@pytest.mark.parametrize("look", [inspect_program, optimised_module])
def test_a_compiled_function_of_unknown_shape_is_refused(tf, jit, look):
    with pytest.raises(ValueError, match="XLA compiles static shapes only, and `fn` was traced"):
        look(jit(fused), *[tf.TensorSpec([None, N])] * 3)


def test_other_errors_of_the_compiler_come_through(tf, jit):
    with pytest.raises(ValueError, match="unsupported operations"):
        inspect_program(jit(lambda x: tf.strings.length(x)), tf.constant("text"))


# HLO modules made by hand


class Module:
    """Builds a module: `computation` takes instructions as (opcode, operands, details)."""

    def __init__(self, tf):
        from tensorflow.compiler.xla import xla_data_pb2
        from tensorflow.compiler.xla.service import hlo_pb2

        self.types, self.proto = xla_data_pb2, hlo_pb2.HloProto()
        self.count = 0

    def computation(self, *instructions):
        computation = self.proto.hlo_module.computations.add()
        computation.id = self.proto.hlo_module.entry_computation_id = self._number()
        made = []
        for opcode, operands, details in instructions:
            instruction = computation.instructions.add(opcode=opcode, id=self._number())
            instruction.name = f"{opcode}.{instruction.id}"
            instruction.operand_ids.extend(made[i] for i in operands)
            instruction.called_computation_ids.extend(details.get("calls", []))
            instruction.custom_call_target = details.get("target", "")
            self._fill(instruction.shape, details.get("shape", ("F32", [4])))
            made.append(instruction.id)
        return computation.id

    def _number(self):
        self.count += 1
        return self.count

    def _fill(self, shape, description):
        if isinstance(description, list):
            shape.element_type = self.types.TUPLE
            for part in description:
                self._fill(shape.tuple_shapes.add(), part)
        else:
            name, dimensions = description
            shape.element_type = self.types.PrimitiveType.Value(name)
            shape.dimensions.extend(dimensions)

    def inspect(self):
        """What `inspect_program` makes of it; the last computation is the entry."""

        class Compiled:
            _jit_compile = True
            experimental_get_tracing_count = None
            python_function = staticmethod(lambda: None)

            def __call__(self):
                raise AssertionError("only inspected")

        function = Compiled()
        answer = {"optimized_hlo_proto_serialized": self.proto.SerializeToString()}
        function.experimental_get_compiler_ir = lambda: lambda stage: answer[stage]
        return inspect_program(function)


@pytest.fixture
def module(tf):
    return Module(tf)


X = ("parameter", [], {})


def test_a_fusion_is_one_kernel_of_several_operations(module):
    inside = module.computation(X, X, ("multiply", [0, 1], {}), ("add", [2, 1], {}))
    module.computation(X, X, ("fusion", [0, 1], {"calls": [inside]}), ("tuple", [2], {}))
    (kernel,) = module.inspect().kernels
    assert kernel.operations == ("multiply", "add")
    assert (kernel.bytes_read, kernel.bytes_written) == (32, 16)
    assert kernel.name.startswith("fusion")


def test_names_for_values_are_no_kernels(module):
    module.computation(
        X,
        ("constant", [], {}),
        ("bitcast", [0], {}),
        ("tuple", [0, 1], {"shape": [("F32", [4]), ("F32", [4])]}),
        ("get-tuple-element", [3], {}),
        ("add", [2, 4], {}),
    )
    assert operations(module.inspect()) == ["add"]


def test_calls_loops_and_conditions_are_walked_each_once(module):
    helper = module.computation(X, ("sine", [0], {}))
    condition = module.computation(X, ("compare", [0, 0], {"shape": ("PRED", [])}))
    body = module.computation(X, ("call", [0], {"calls": [helper]}), ("add", [1, 1], {}))
    other = module.computation(X, ("cosine", [0], {}))
    module.computation(
        X,
        ("while", [0], {"calls": [body, condition]}),
        ("conditional", [1, 1], {"calls": [helper, other]}),
        ("negate", [2], {}),
    )
    assert operations(module.inspect()) == ["sine", "add", "compare", "sine", "cosine", "negate"]


def test_the_function_that_a_reduction_applies_is_no_kernel(module):
    adder = module.computation(X, X, ("add", [0, 1], {}))
    module.computation(X, ("constant", [], {}), ("reduce", [0, 1], {"calls": [adder]}))
    assert operations(module.inspect()) == ["reduce"]


def test_a_custom_call_is_named_after_its_target(module):
    module.computation(X, ("custom-call", [0], {"target": "__onednn$matmul"}))
    assert operations(module.inspect()) == ["__onednn$matmul"]


def test_parts_of_tuples_count_apart(module):
    parts = [("F32", [2, 3]), [("S32", [5]), ("PRED", [])]]
    module.computation(("parameter", [], {"shape": parts}), ("sort", [0], {"shape": parts}))
    (kernel,) = module.inspect().kernels
    assert [str(array) for array in kernel.writes] == ["f32[2,3]", "s32[5]", "pred[]"]
    assert kernel.bytes_read == kernel.bytes_written == 24 + 20 + 1


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        ("PRED", 1),
        ("S4", 1),  # in memory, one to a byte
        ("S8", 1),
        ("U8", 1),
        ("F8E4M3FN", 1),
        ("F8E5M2", 1),
        ("F16", 2),
        ("BF16", 2),
        ("S32", 4),
        ("F32", 4),
        ("U64", 8),
        ("F64", 8),
        ("C64", 8),
        ("C128", 16),
        ("TOKEN", 0),
    ],
)
@pytest.mark.parametrize("shape", [[], [3], [2, 0], [2, 3, 4]])
def test_size_of_arrays(module, dtype, size, shape):
    module.computation(X, ("copy", [0], {"shape": (dtype, shape)}))
    (kernel,) = module.inspect().kernels
    assert kernel.bytes_written == size * math.prod(shape)
