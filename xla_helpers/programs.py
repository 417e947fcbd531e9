"""What a function runs, as data: what was traced, the kernels that run, the bytes they move."""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from .operations import operations_in
from .state import variables_kept
from .tables import Bytes, Table, counted, format_bytes
from .targets import is_traced, resolve

NOT_KERNELS = frozenset(
    """
    parameter constant tuple get-tuple-element bitcast after-all

    Placeholder Const Identity IdentityN NoOp ReadVariableOp StopGradient PreventGradient
    Shape ShapeN Size Rank Reshape Squeeze ExpandDims
    Enter Exit NextIteration LoopCond Merge Switch _SwitchN
    _Arg _DeviceArg _EagerConst _Retval _Send _Recv _HostSend _HostRecv
    """.split()
)
"""Instructions of XLA, then operations of TensorFlow, that are names for values and no work."""

HOLDERS = frozenset(
    """
    PartitionedCall StatefulPartitionedCall While StatelessWhile If StatelessIf Case StatelessCase
    call while conditional
    """.split()
)
"""Operations, then instructions of XLA, that only hold others: the work is theirs."""

CONTROL_FLOW = HOLDERS - {"call"} | {"Switch", "_SwitchN"}
"""Instructions and operations because of which others may run often, or not at all."""


@dataclass(frozen=True)
class Kernel:
    """One piece of work: its name, and the operations it does.

    bytes_read, bytes_written: of all arrays that it reads and writes each time it runs; None where
    some cannot be known, because a shape is unknown or it holds text.
    """

    name: str
    operations: tuple[str, ...]
    bytes_read: int | None
    bytes_written: int | None


@dataclass(frozen=True, repr=False)
class Program(Table):
    """What a function runs in one mode ("eager", "graph" or "XLA").

    kernels: what runs. traced: the operations of the graph as it was traced, before TensorFlow or
    XLA joined, replaced or removed any; none for eager, where nothing is traced. control_flow: True
    where there may be a loop or a condition: how often kernels run, and whether, is not known.
    """

    mode: str
    kernels: tuple[Kernel, ...]
    traced: tuple[Kernel, ...] = ()
    control_flow: bool = False

    @property
    def bytes(self) -> int | None:
        """Bytes that all kernels read and write, each once; None where some cannot be known."""
        return _sum(count for k in self.kernels for count in (k.bytes_read, k.bytes_written))

    def _title(self):
        kernels = counted(len(self.kernels), "kernel")
        if self.mode != "eager":
            kernels = f"{counted(len(self.traced), 'operation')} traced, {kernels}"
        verbs = "runs and moves" if len(self.kernels) == 1 else "run and move"
        moved = "bytes that are not all known" if self.bytes is None else format_bytes(self.bytes)
        often = ", if each runs once" if self.control_flow else ""
        return f"{self.mode}: {kernels} {verbs} {moved}{often}."

    def _columns(self):
        return ["kernel", "operations", "reads", "writes"]

    def _rows(self):
        for k in self.kernels:
            moved = _shown(k.bytes_read), _shown(k.bytes_written)
            yield [k.name, " + ".join(k.operations), *moved]


def inspect_program(fn: Callable, /, *args, **kwargs) -> Program:
    """List the kernels that ``fn(*args, **kwargs)`` runs, and the operations that were traced.

    A plain function runs eagerly: each operation is a kernel, observed while it runs. A
    `tf.function` or a SavedModel runs a graph. TensorFlow rewrites it first: Grappler, its
    optimiser of graphs, removes and joins operations, and on x86 processors oneDNN takes over
    some, whose names then begin with ``_Mkl``. The kernels are what is left. One with
    ``jit_compile=True`` runs what XLA made of it: the instructions of the optimised HLO. In both,
    the kernels of a loop's body and of all branches stand there once, and what shapes a loop in a
    graph hands on is not known.

    Bytes assume that a kernel reads each array once and writes each result once; what it does
    to a variable in place is not counted. Operations that only rename or reshape are no kernels.
    To look, the function is called, and its variables have their values again; what XLA compiles is
    compiled and not called. Introduced in notebook 01.

    Returns: a `Program`, sizes in bytes.
    Raises: ValueError for what XLA refuses, such as a shape that is not static; TypeError when `fn`
    cannot be called, or calls a graph or a compiled function, which must be inspected itself.

    >>> import tensorflow as tf
    >>> program = inspect_program(lambda x: tf.tanh(x) + x, tf.ones([1024]))
    >>> program.mode, [kernel.operations for kernel in program.kernels], program.bytes
    ('eager', [('Tanh',), ('AddV2',)], 20480)
    """
    fn = resolve(fn)
    if hasattr(fn, "function_def"):  # a graph without Python
        return _of_graph(fn, args, kwargs)
    if not is_traced(fn):
        return _of_eager(fn, args, kwargs)
    args, kwargs = with_defaults(fn, args, kwargs)
    if getattr(fn, "_jit_compile", None):
        return _of_xla(fn, args, kwargs)
    return _of_graph(fn.get_concrete_function(*args, **kwargs), args, kwargs)


def with_defaults(fn, args, kwargs):
    """The arguments with the defaults of others, which TensorFlow does not look up everywhere."""
    bound = inspect.signature(fn.python_function).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args, bound.kwargs


# Eager code


def _of_eager(fn, args, kwargs):
    import tensorflow as tf
    from tensorflow.python.framework import op_callbacks, op_def_registry

    kernels, graphs = [], []

    def observe(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        op_type = tf.compat.as_str(op_type)
        if graph is not None:  # traced, not run
            return
        if "PartitionedCall" in op_type or op_def_registry.get(op_type) is None:
            graphs.append(op_type)
        elif op_type not in NOT_KERNELS:
            kernels.append(_of_tensors(op_type, (op_type,), inputs, outputs))

    op_callbacks.add_op_callback(observe)
    try:
        with variables_kept(fn, *args, *kwargs.values()):
            fn(*args, **kwargs)
    finally:
        op_callbacks.remove_op_callback(observe)
    if graphs:
        raise TypeError(
            "`fn` is Python that calls a graph, whose kernels cannot be seen from outside: inspect "
            "the tf.function itself"
        )
    return Program("eager", tuple(kernels))


def _of_tensors(name, operations, inputs, outputs):
    read = {id(tensor): tensor for tensor in inputs}.values()  # x * x reads x once
    return Kernel(name, operations, _sum(map(_bytes, read)), _sum(map(_bytes, outputs)))


def _bytes(tensor):
    if tensor.dtype.name in ("resource", "variant"):  # a name for what lies elsewhere
        return 0
    count = tensor.shape.num_elements()
    return None if count is None or tensor.dtype.name == "string" else count * tensor.dtype.size


def _sum(counts):
    counts = list(counts)
    return None if None in counts else sum(counts)


def _shown(count):
    return "unknown" if count is None else Bytes(count)


# Graphs


def _of_graph(concrete, args, kwargs):
    definitions = concrete.function_def, *concrete.graph.as_graph_def().library.function
    if any(map(_is_compiled, definitions)):
        raise TypeError("`fn` is a graph that holds a compiled function: inspect that one itself")
    operations = list(_prepared(concrete, args, kwargs))
    return Program(
        "graph",
        tuple(_prepared_kernel(op) for op in operations if op.type not in NOT_KERNELS),
        _traced(concrete.graph),
        control_flow=any(op.type in CONTROL_FLOW for op in operations),
    )


def _is_compiled(definition):
    marks = definition.attr  # in which asking for what is missing would make it
    return "_XlaMustCompile" in marks and marks["_XlaMustCompile"].b


def _prepared(concrete, args, kwargs):
    """The operations of the graphs that TensorFlow prepares to run, as its executor gets them.

    It hands a graph out only when it prepares it, which is in the first call of a function. So
    the graph is called as a function that is new.
    """
    import tensorflow as tf
    from tensorflow.python.eager import context
    from tensorflow.python.eager.polymorphic_function.concrete_function import ConcreteFunction

    new = ConcreteFunction.from_func_graph(
        concrete.graph, concrete.function_type, concrete.function_def.attr
    )
    new._arg_keywords = concrete._arg_keywords  # how it may be called
    new._num_positional_args = concrete._num_positional_args
    now = context.context()
    with variables_kept(concrete, *args, *kwargs.values()):
        now.enable_graph_collection()
        try:
            tf.identity(0)  # hands out what is left of a call that failed
            now.export_run_metadata()
            new(*args, **kwargs)
            found = now.export_run_metadata()
        finally:
            now.disable_graph_collection()
    for definition in (part for one in found.function_graphs for part in one.partition_graphs):
        graph = tf.Graph()
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")
        yield from graph.get_operations()


def _prepared_kernel(op):
    """With what TensorFlow has joined in it. Of what calls a function, the bytes are not known."""
    if op.type in HOLDERS:
        return Kernel(op.name, (op.type,), None, None)
    joined = op.node_def.attr["fused_ops"].list.s
    operations = (op.type, *(name.decode() for name in joined))
    return _of_tensors(op.name, operations, op.inputs, op.outputs)


def _traced(graph):
    """The operations of a graph, and of the functions that it calls."""
    found = (one for one in operations_in(graph) if one.type not in NOT_KERNELS | HOLDERS)
    return tuple(_of_tensors(x.name, (x.type,), x.op.inputs, x.op.outputs) for x in found)


# Programs of XLA


def _of_xla(fn, args, kwargs):
    module = optimised_module(fn, *args, **kwargs)
    computations = {computation.id: computation for computation in module.computations}
    opcodes = {inner.opcode for outer in module.computations for inner in outer.instructions}
    return Program(
        "XLA",
        tuple(_instructions(computations[module.entry_computation_id], computations)),
        _traced(fn.get_concrete_function(*args, **kwargs).graph),
        control_flow=not CONTROL_FLOW.isdisjoint(opcodes),
    )


def optimised_module(fn: Callable, /, *args, **kwargs):
    """The optimised HLO module of ``fn(*args, **kwargs)``.

    It is an `HloModuleProto` (xla/service/hlo.proto).

    fn: a `tf.function` with ``jit_compile=True``. Introduced in notebook 06.

    Raises: ValueError when a shape is not static.
    """
    from tensorflow.compiler.xla.service.hlo_pb2 import HloProto

    args, kwargs = with_defaults(fn, args, kwargs)
    compiler_ir = fn.experimental_get_compiler_ir(*args, **kwargs)
    return HloProto.FromString(compiler_ir("optimized_hlo_proto_serialized")).hlo_module


def _instructions(computation, computations):
    """The kernels of a computation and, each once, of the computations that it calls."""
    instructions = {instruction.id: instruction for instruction in computation.instructions}
    for instruction in computation.instructions:
        if instruction.opcode in HOLDERS:
            for number in instruction.called_computation_ids:
                yield from _instructions(computations[number], computations)
        elif instruction.opcode not in NOT_KERNELS:
            read = [instructions[number].shape for number in dict.fromkeys(instruction.operand_ids)]
            yield Kernel(
                instruction.name,
                _opcodes(instruction, computations),
                sum(map(_bytes_of_shape, read)),
                _bytes_of_shape(instruction.shape),
            )


def _opcodes(instruction, computations):
    if instruction.opcode == "custom-call":
        return (instruction.custom_call_target,)
    if instruction.opcode != "fusion":
        return (instruction.opcode,)
    fused = computations[instruction.called_computation_ids[0]].instructions
    return tuple(inner.opcode for inner in fused if inner.opcode not in NOT_KERNELS)


def _bytes_of_shape(shape):
    """Bytes of a `ShapeProto` (xla/xla_data.proto), of all parts of a tuple together."""
    from tensorflow.compiler.xla.xla_data_pb2 import PrimitiveType

    if shape.tuple_shapes:
        return sum(map(_bytes_of_shape, shape.tuple_shapes))
    dtype = PrimitiveType.Name(shape.element_type).lower()
    bits = re.search(r"\d+", dtype)  # f32, c64, s8; neither in pred nor in token
    element = math.ceil(int(bits.group()) / 8) if bits else int(dtype == "pred")
    return math.prod(shape.dimensions) * element
