"""What a function runs, as data: what was traced, the kernels that run, the bytes they move."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import internals
from ..calls import Call
from ..tables import Table, pluralize
from .kernels import Kernel, bytes_of_shape, bytes_shown, total_bytes
from .lines import Lines, lines_shown
from .operations import HOLDERS, NOT_KERNELS, Operation, operations_in

ITSELF = "inspect that function itself, whose kernels cannot be seen from outside"


@dataclass(frozen=True, repr=False)
class Program(Table):
    """What a function runs in one mode.

    Attributes:
        mode: "eager", "graph" or "XLA".
        kernels: What runs.
        traced: The operations of the graph as it was traced, before TensorFlow or XLA joined,
            replaced or removed any; none for eager, where nothing is traced.
    """

    mode: str
    kernels: tuple[Kernel, ...]
    traced: tuple[Kernel, ...] = ()

    @property
    def bytes(self) -> int | None:
        """Bytes that all kernels read and write; None where loops or shapes are unknown."""
        return total_bytes(count for k in self.kernels for count in (k.bytes_read, k.bytes_written))

    def _parts(self):
        kernels = pluralize(len(self.kernels), "kernel")
        if self.mode != "eager":
            kernels = f"{pluralize(len(self.traced), 'operation')} traced, {kernels}"
        title = f"{self.mode}: {kernels}, bytes moved: {bytes_shown(self.bytes)}."
        has_lines = any(k.lines for k in self.kernels)
        rows = [
            [
                k.name,
                " + ".join(k.operations),
                bytes_shown(k.bytes_read),
                bytes_shown(k.bytes_written),
                *[lines_shown(k.lines)] * has_lines,
            ]
            for k in self.kernels
        ]
        columns = ["kernel", "operations", "reads", "writes"]
        return title, columns + ["your lines"] * has_lines, rows


def inspect_program(fn: Callable, args=(), kwargs=None) -> Program:
    """List the kernels that ``fn(*args, **kwargs)`` runs, and the operations that were traced.

    A plain function runs eagerly: each operation is a kernel, observed while it runs. A
    `tf.function` runs a graph. TensorFlow rewrites it first: Grappler, its optimiser of graphs,
    removes and joins operations, and on x86 processors oneDNN takes over some, whose names then
    begin with ``_Mkl``. The kernels are what is left. One with ``jit_compile=True`` runs what XLA
    made of it: the instructions of the optimised HLO. In both, the kernels of a loop's body and of
    all branches are listed once.

    Bytes assume that a kernel reads each array once and writes each result once; what it does to a
    variable in place is not counted. Operations that only rename or reshape are not kernels. To
    look, the function is called, and variables are restored as by `compare`; what XLA compiles is
    not called.

    Of a graph and of what XLA compiles, the lines of your own code stand beside each kernel; those
    of a gradient are the lines of its forward operations.

    Args:
        fn: A function, a `tf.function`, or what `tf.saved_model.load` returned.
        args: Its positional arguments, a tuple.
        kwargs: Its keyword arguments.

    Returns:
        A `Program`, sizes in bytes.

    Raises:
        ValueError: For what XLA refuses, such as a shape that is not static.
        TypeError: When `fn` cannot be called, or calls a graph or a compiled function, which must
            be inspected itself.

    Example:
        >>> import tensorflow as tf
        >>> program = inspect_program(lambda x: tf.tanh(x) + x, (tf.ones([1024]),))
        >>> program.mode, [kernel.operations for kernel in program.kernels], program.bytes
        ('eager', [('Tanh',), ('AddV2',)], 20480)
    """
    call = Call(fn, args, kwargs)
    if not (call.is_traced or call.is_concrete):
        return _of_eager(call)
    if call.is_compiled:
        return _of_xla(call)
    return _of_graph(call if call.is_concrete else call.with_defaults())


def _of_eager(call):
    import tensorflow as tf

    kernels, graphs = [], []

    def observe(op_type, inputs, outputs):
        op_type = tf.compat.as_str(op_type)
        if "PartitionedCall" in op_type or not internals.is_operation(op_type):
            graphs.append(op_type)
        elif op_type not in NOT_KERNELS:
            kernels.append(_of_tensors(op_type, (op_type,), inputs, outputs))

    with call.variables_restored(), internals.operations_observed(observe):
        call()
    if graphs:
        raise TypeError(f"`fn` is Python that calls a graph ({graphs[0]}): {ITSELF}")
    return Program("eager", tuple(kernels))


def _of_tensors(name, operations, inputs, outputs):
    read = {id(tensor): tensor for tensor in inputs}.values()  # x * x reads x once
    return Kernel(
        name, operations, total_bytes(map(_bytes, read)), total_bytes(map(_bytes, outputs))
    )


def _bytes(tensor):
    if tensor.dtype.name in ("resource", "variant"):  # a name for what lies elsewhere
        return 0
    count = tensor.shape.num_elements()
    return None if count is None or tensor.dtype.name == "string" else count * tensor.dtype.size


def _of_graph(call):
    concrete = call.concrete()
    definitions = concrete.function_def, *concrete.graph.as_graph_def().library.function
    if any("_XlaMustCompile" in x.attr and x.attr["_XlaMustCompile"].b for x in definitions):
        raise TypeError(f"`fn` is a graph that holds a compiled function: {ITSELF}")
    operations = (op for op in _prepared(concrete, call) if op.type not in NOT_KERNELS)
    every = list(operations_in(concrete.graph))
    lines = Lines(every)
    kernels = (replace(_prepared_kernel(op), lines=lines.of([op.name])) for op in operations)
    return Program("graph", tuple(kernels), traced_in(every))


def _prepared(concrete, call):
    """The operations of the graphs that TensorFlow prepares to run, of a function that is new."""
    import tensorflow as tf

    new = Call(internals.as_new(concrete), call.args, call.kwargs)
    with call.variables_restored():
        definitions = internals.prepared_graphs(new)
    for definition in definitions:
        graph = tf.Graph()
        with graph.as_default():
            tf.graph_util.import_graph_def(definition, name="")
        yield from graph.get_operations()


def _prepared_kernel(op):
    """With what TensorFlow has joined in it; of what calls a function, the bytes are unknown."""
    if op.type in HOLDERS:
        return Kernel(op.name, (op.type,), None, None)
    joined = (name.decode() for name in op.node_def.attr["fused_ops"].list.s)
    return _of_tensors(op.name, (op.type, *joined), op.inputs, op.outputs)


def traced_in(operations: Iterable[Operation]) -> tuple[Kernel, ...]:
    """The operations of a graph as kernels, each by itself, without those that do no work."""
    found = (one for one in operations if one.type not in NOT_KERNELS | HOLDERS)
    return tuple(_of_tensors(x.name, (x.type,), x.op.inputs, x.op.outputs) for x in found)


def _of_xla(call):
    module = hlo_module(call.fn, call.args, call.kwargs)
    computations = {computation.id: computation for computation in module.computations}
    every = list(operations_in(call.concrete().graph))
    entry = computations[module.entry_computation_id]
    kernels = _instructions(entry, computations, Lines(every))
    return Program("XLA", tuple(kernels), traced_in(every))


def hlo_module(fn: Any, args=(), kwargs=None, *, optimized=True):
    """Give the HLO of ``fn(*args, **kwargs)``, XLA's own representation, as a protocol buffer.

    Args:
        fn: A `tf.function` with ``jit_compile=True``.
        args: Its positional arguments, a tuple.
        kwargs: Its keyword arguments.
        optimized: Whether it is the HLO after XLA's passes; else the one that XLA is given.

    Returns:
        An `HloModuleProto` (xla/service/hlo.proto).

    Raises:
        ValueError: When a shape is not static.
    """
    call: Any = Call(fn, args, kwargs).with_defaults()
    stages = call.fn.experimental_get_compiler_ir(*call.args, **call.kwargs)
    if optimized:
        return internals.hlo_of(stages("optimized_hlo_proto_serialized"))
    return internals.hlo_module_of(stages("hlo_serialized"))


def _instructions(computation, computations, lines):
    """The kernels of a computation and, each once, of the computations that it calls."""
    shapes = {one.id: one.shape for one in computation.instructions}
    for one in computation.instructions:
        inner = [computations[number] for number in one.called_computation_ids]
        read_and_written = [None, None]
        if one.opcode in HOLDERS:
            for called in inner:
                yield from _instructions(called, computations, lines)
        else:
            read = (shapes[number] for number in dict.fromkeys(one.operand_ids))
            read_and_written = [sum(map(bytes_of_shape, read)), bytes_of_shape(one.shape)]
        parts = fused_in(one, computations)
        operations = tuple(part.opcode for part in parts)
        if one.opcode == "custom-call":
            operations = (one.custom_call_target,)
        if one.opcode not in NOT_KERNELS | {"call"}:
            own = lines.of(part.metadata.op_name for part in parts)
            yield Kernel(one.name, operations, *read_and_written, lines=own)


def fused_in(instruction: Any, computations: Mapping[int, Any]) -> list:
    """The instructions that a fusion does; of any other instruction, itself."""
    if instruction.opcode != "fusion":
        return [instruction]
    (inner,) = (computations[number] for number in instruction.called_computation_ids)
    return [one for one in inner.instructions if one.opcode not in NOT_KERNELS]
