"""What a function runs, as data: its kernels, what each one fused, the bytes it moves."""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from .operations import called_by
from .state import variables_kept
from .tables import Bytes, Table, format_bytes
from .targets import is_traced, resolve

# Names for values, not work: instructions of XLA, then operations of TensorFlow.
INSTRUCTIONS = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"}
OPERATIONS = {"Placeholder", "Const", "Identity", "IdentityN", "NoOp", "ReadVariableOp", "Shape"}
NOT_KERNELS = INSTRUCTIONS | OPERATIONS

# What has its kernels elsewhere: instructions of XLA, then operations of TensorFlow.
CALLS_INSIDE = {"call", "while", "conditional"}
CALLS_OF_FUNCTIONS = {"PartitionedCall", "StatefulPartitionedCall"}


class StaticShapeError(ValueError):
    """A shape is not static, and XLA compiles static ones only."""


@dataclass(frozen=True)
class Array:
    """An array in memory: its name, dtype, shape, and size in bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int

    def __str__(self):
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclass(frozen=True)
class Kernel:
    """One piece of work: its name, the operations it does, the arrays it reads and writes."""

    name: str
    operations: tuple[str, ...]
    reads: tuple[Array, ...]
    writes: tuple[Array, ...]

    @property
    def bytes_read(self) -> int:
        """Bytes of all arrays that it reads."""
        return sum(array.bytes for array in self.reads)

    @property
    def bytes_written(self) -> int:
        """Bytes of all arrays that it writes."""
        return sum(array.bytes for array in self.writes)


@dataclass(frozen=True, repr=False)
class Program(Table):
    """The kernels of a function in one mode ("eager", "graph" or "XLA"), in order."""

    mode: str
    kernels: tuple[Kernel, ...]

    @property
    def bytes(self) -> int:
        """Bytes that all kernels read and write."""
        return sum(k.bytes_read + k.bytes_written for k in self.kernels)

    def _title(self):
        return f"{self.mode}: {len(self.kernels)} kernels move {format_bytes(self.bytes)}."

    def _columns(self):
        return ["kernel", "operations", "reads", "writes"]

    def _rows(self):
        return [
            [k.name, " + ".join(k.operations), Bytes(k.bytes_read), Bytes(k.bytes_written)]
            for k in self.kernels
        ]


def inspect_program(fn: Callable, *args, **kwargs) -> Program:
    """List the kernels that ``fn(*args, **kwargs)`` runs.

    A plain function runs eagerly: each TensorFlow operation is a kernel, observed while it runs.
    A `tf.function` runs a graph, as a SavedModel does: its operations as traced, before
    TensorFlow's own graph optimiser (Grappler) sees them, those of functions inside it too; a loop
    counts as one. One with ``jit_compile=True`` runs what XLA made of it: the instructions of the
    optimised HLO, read from its protocol buffer, those of a loop's body once. While
    `tf.config.run_functions_eagerly` is on, all of them run eagerly.
    Bytes assume that a kernel reads each argument once and writes each result once.
    Introduced in notebook 01.

    Returns: a `Program`, sizes in bytes.
    Raises: ValueError when a shape is not static, TypeError when `fn` cannot be called, or is
    Python that calls a graph, which must be inspected itself.

    >>> import tensorflow as tf
    >>> program = inspect_program(lambda x: tf.tanh(x) + x, tf.ones([1024]))
    >>> program.mode, [kernel.operations for kernel in program.kernels], program.bytes
    ('eager', [('Tanh',), ('AddV2',)], 20480)
    """
    fn = resolve(fn)
    if hasattr(fn, "function_def"):  # a graph without Python
        return _of_graph(fn)
    if not is_traced(fn):
        return Program("eager", _eager_kernels(fn, args, kwargs))
    if getattr(fn, "_jit_compile", None):
        return Program("XLA", _xla_kernels(fn, args, kwargs))
    return _of_graph(fn.get_concrete_function(*args, **kwargs))


def _of_graph(concrete):
    if concrete.function_def.attr["_XlaMustCompile"].b:
        raise TypeError("`fn` is the graph of a compiled function: pass the tf.function itself")
    library = concrete.graph.as_graph_def().library.function
    if any(function.attr["_XlaMustCompile"].b for function in library):
        raise TypeError("`fn` is a graph that calls a compiled function: inspect that one itself")
    return Program("graph", tuple(_graph_kernels(concrete.graph)))


def _graph_kernels(graph):
    """The operations of a graph, and those of the functions that it calls."""
    for op in graph.get_operations():
        if op.type in CALLS_OF_FUNCTIONS:
            for body in called_by(op):
                yield from _graph_kernels(body)
        elif op.type not in NOT_KERNELS:
            yield _tensor_kernel(op.name, op.type, op.inputs, op.outputs)


def _eager_kernels(fn, args, kwargs):
    from tensorflow.python.framework import op_callbacks, op_def_registry

    kernels, graphs = [], []

    def record(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        if graph is not None:  # traced, not run
            return
        if isinstance(op_type, bytes):  # some of TensorFlow's own Python code names them so
            op_type = op_type.decode()
        if "PartitionedCall" in op_type or op_def_registry.get(op_type) is None:
            graphs.append(op_type)
        elif op_type not in NOT_KERNELS:
            kernels.append(_tensor_kernel(op_type, op_type, inputs, outputs))

    op_callbacks.add_op_callback(record)
    try:
        with variables_kept():
            fn(*args, **kwargs)
    finally:
        op_callbacks.remove_op_callback(record)
    if graphs:
        raise TypeError(
            f"`fn` is Python that calls {len(graphs)} graph(s), whose kernels cannot be seen from "
            "outside: inspect the tf.function itself"
        )
    return tuple(kernels)


def _tensor_kernel(name, op_type, inputs, outputs):
    return Kernel(
        name, (op_type,), *(tuple(map(_tensor_array, some)) for some in (inputs, outputs))
    )


def _tensor_array(tensor):
    name = getattr(tensor, "name", None) if not hasattr(tensor, "numpy") else None
    if not tensor.shape.is_fully_defined():
        raise ValueError(
            f"the shape of {name} is {tensor.shape}: bytes can only be counted for static shapes, "
            "so call with tensors, and without a signature such as `input_signature=[... None ...]`"
        )
    return Array(
        name or "",
        tensor.dtype.name,
        tuple(tensor.shape),
        tensor.shape.num_elements() * tensor.dtype.size,
    )


def _xla_kernels(fn, args, kwargs):
    module = optimised_module(fn, *args, **kwargs)
    computations = {computation.id: computation for computation in module.computations}
    return tuple(_walk(computations[module.entry_computation_id], computations))


def optimised_module(fn: Callable, *args, **kwargs):
    """The optimised HLO module of ``fn(*args, **kwargs)``.

    It is an `HloModuleProto` (xla/service/hlo.proto).

    fn: a `tf.function` with ``jit_compile=True``. Introduced in notebook 06.

    Raises: ValueError when a shape is not static.
    """
    return optimised_proto(fn, *args, **kwargs).hlo_module


def optimised_proto(fn: Callable, *args, **kwargs):
    """The same with its buffer assignment, an `HloProto` (xla/service/hlo.proto).

    Raises: ValueError when a shape is not static.
    """
    from tensorflow.compiler.xla.service import hlo_pb2

    serialized = compiler_ir(fn, args, "optimized_hlo_proto_serialized", kwargs)
    return hlo_pb2.HloProto.FromString(serialized)


def compiler_ir(fn: Callable, args, stage: str, kwargs=None) -> str | bytes:
    """What XLA holds at a stage of compiling ``fn(*args, **kwargs)``, as text or bytes.

    stage: a name that `experimental_get_compiler_ir` knows, such as "hlo".
    Raises: ValueError when a shape is not static.
    """
    # TensorFlow does not look up the defaults of arguments here, so they are given.
    bound = inspect.signature(fn.python_function).bind(*args, **(kwargs or {}))
    bound.apply_defaults()
    try:
        return fn.experimental_get_compiler_ir(*bound.args, **bound.kwargs)(stage=stage)
    except ValueError as error:
        if "static" not in str(error):
            raise
        raise StaticShapeError(
            "XLA compiles static shapes only, and `fn` was traced with an unknown one: inspect a "
            "tf.function without `input_signature` and `reduce_retracing`, called with tensors"
        ) from error


def _walk(computation, computations):
    """The kernels of a computation and, each once, of the computations that it calls."""
    instructions = {instruction.id: instruction for instruction in computation.instructions}
    for instruction in computation.instructions:
        if instruction.opcode in CALLS_INSIDE:
            for number in instruction.called_computation_ids:
                yield from _walk(computations[number], computations)
        elif instruction.opcode not in NOT_KERNELS:
            operands = [instructions[number] for number in instruction.operand_ids]
            yield Kernel(
                instruction.name,
                _operations(instruction, computations),
                tuple(
                    array for operand in operands for array in _arrays(operand.name, operand.shape)
                ),
                tuple(_arrays(instruction.name, instruction.shape)),
            )


def _operations(instruction, computations):
    if instruction.opcode == "custom-call":
        return (instruction.custom_call_target,)
    if instruction.opcode != "fusion":
        return (instruction.opcode,)
    fused = computations[instruction.called_computation_ids[0]].instructions
    return tuple(inner.opcode for inner in fused if inner.opcode not in NOT_KERNELS)


def _arrays(name, shape):
    from tensorflow.compiler.xla import xla_data_pb2

    if shape.tuple_shapes:
        for part in shape.tuple_shapes:
            yield from _arrays(name, part)
        return
    dtype = xla_data_pb2.PrimitiveType.Name(shape.element_type).lower()
    dimensions = tuple(shape.dimensions)
    yield Array(name, dtype, dimensions, math.prod(dimensions) * _element_bytes(dtype))


def _element_bytes(dtype):
    """From the name of an XLA element type: f32 is 4, c64 is 8, pred is 1, token is 0."""
    bits = re.search(r"\d+", dtype)
    return -(-int(bits.group()) // 8) if bits else int(dtype == "pred")
