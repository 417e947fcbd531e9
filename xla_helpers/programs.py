"""What a function runs, as data: what was traced, the kernels that ran, the bytes they moved."""

import inspect
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .executed import execute
from .operations import HOLDERS, called_by
from .state import variables_kept
from .tables import Bytes, Table, counted, format_bytes
from .targets import is_traced, resolve

# Names for values, not work: instructions of XLA, then operations of TensorFlow.
INSTRUCTIONS = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"}
OPERATIONS = frozenset(
    """
    Placeholder Const Identity IdentityN NoOp ReadVariableOp StopGradient PreventGradient
    Shape ShapeN Size Rank Reshape Squeeze ExpandDims
    Enter Exit NextIteration LoopCond Merge Switch
    _Arg _DeviceArg _EagerConst _Retval _Send _Recv _HostSend _HostRecv
    """.split()
)
NOT_KERNELS = INSTRUCTIONS | OPERATIONS

JOINED = ("fused_ops", "op_names")
"""Where an operation that TensorFlow's optimiser made names what it was made of."""

HANDLES = {"resource", "variant"}  # types of TensorFlow that name what lies elsewhere

CONTROL_FLOW = {"while", "conditional"}  # instructions of XLA that run others often, or not


class StaticShapeError(ValueError):
    """A shape is not static, and XLA compiles static ones only."""


@dataclass(frozen=True)
class Array:
    """An array in memory: its name, dtype, shape, and size in bytes.

    bytes: None where they cannot be known, because a shape is unknown or it holds text; `shape` is
    None where not even the number of dimensions is known, and None stands for an unknown size.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    bytes: int | None

    def __str__(self):
        sizes = ["?" if size is None else str(size) for size in self.shape or ()]
        return f"{self.dtype}[{'...' if self.shape is None else ','.join(sizes)}]"


UNKNOWN = Array("", "unknown", None, None)
"""An array of which nothing can be seen."""


@dataclass(frozen=True)
class Kernel:
    """One piece of work: its name, the operations it does, the arrays it reads and writes.

    runs: how often it ran in one call, which is more than once in a loop; None where that was not
    seen, as for a kernel of XLA, or one that shares its name and type with another.
    """

    name: str
    operations: tuple[str, ...]
    reads: tuple[Array, ...]
    writes: tuple[Array, ...]
    runs: int | None = None

    @property
    def bytes_read(self) -> int | None:
        """Bytes of all arrays that it reads each time; None where some cannot be known."""
        return _sum(array.bytes for array in self.reads)

    @property
    def bytes_written(self) -> int | None:
        """Bytes of all arrays that it writes each time; None where some cannot be known."""
        return _sum(array.bytes for array in self.writes)


@dataclass(frozen=True, repr=False)
class Program(Table):
    """What a function runs in one mode ("eager", "graph" or "XLA").

    kernels: what runs, in order. traced: the operations of the graph as it was traced, before
    TensorFlow or XLA joined, replaced or removed any; none for eager, where nothing is traced.
    recorded: False for a graph of which could not be seen what ran: `kernels` are then all that
    TensorFlow prepared to run, of a condition both branches. control_flow: True for a program of
    XLA with a loop or a condition: how often its kernels run, and whether, is not seen.
    """

    mode: str
    kernels: tuple[Kernel, ...]
    traced: tuple[Kernel, ...] = ()
    recorded: bool = True
    control_flow: bool = False

    @property
    def bytes(self) -> int | None:
        """Bytes that all kernels read and write, each once; None where some cannot be known."""
        return _sum(count for k in self.kernels for count in (k.bytes_read, k.bytes_written))

    def plot(self, *, ax=None, title: str = ""):
        """The kernels as rows: bytes read to the left, bytes written to the right.

        ax, title: made when not given.

        Returns: the axes, for `picture`.
        """
        from .plots import plot_program

        return plot_program(self, ax, title)

    def _title(self):
        traced = f"{counted(len(self.traced), 'operation')} traced, "
        return f"{self.mode}: {'' if self.mode == 'eager' else traced}{self._kernels_in_words()}"

    def _kernels_in_words(self):
        kernels = counted(len(self.kernels), "kernel")
        moved = "bytes that are not all known" if self.bytes is None else format_bytes(self.bytes)
        if not self.recorded:
            return f"{kernels} prepared, which would move {moved}; what ran could not be recorded."
        one = len(self.kernels) == 1
        run, move, each = ("runs", "moves", "it") if one else ("run", "move", "each")
        if self.control_flow:
            return f"{kernels} in the program, which {move} {moved} if {each} runs once."
        if self._repeats:
            often = " repeatedly" if one else ", some of them repeatedly,"
            once = "" if self.bytes is None else f" if {each} is counted once"
            return f"{kernels} {run}{often} and {move} {moved}{once}."
        return f"{kernels} {run} and {move} {moved}."

    def _columns(self):
        return ["kernel", "operations", "reads", "writes", *(["runs"] if self._repeats else [])]

    def _rows(self):
        for k in self.kernels:
            moved = [_shown(k.bytes_read), _shown(k.bytes_written)]
            runs = ["unknown" if k.runs is None else k.runs] if self._repeats else []
            yield [k.name, " + ".join(k.operations), *moved, *runs]

    @property
    def _repeats(self):
        return any((kernel.runs or 1) > 1 for kernel in self.kernels)


def inspect_program(fn: Callable, /, *args, **kwargs) -> Program:
    """List the kernels that ``fn(*args, **kwargs)`` runs, and the operations that were traced.

    A plain function runs eagerly: each TensorFlow operation is a kernel, observed while it runs.
    A `tf.function` runs a graph, as a SavedModel does. TensorFlow rewrites it first: Grappler, its
    optimiser of graphs, removes and joins operations, and on x86 processors oneDNN takes over
    some, whose names then begin with ``_Mkl``. The kernels are the operations that are left and
    that a recorded call ran, each once, in a loop too, where `Kernel.runs` says how often. One
    with ``jit_compile=True`` runs what XLA made of it: the instructions of the optimised HLO, read
    from its protocol buffer, those of a loop's body once and those of both branches of a condition.
    While `tf.config.run_functions_eagerly` is on, all of them run eagerly.

    Bytes assume that a kernel reads each array once and writes each result once; what it does
    to a variable in place is not counted. Operations that only rename or reshape are no kernels.
    To look, an eager function is called once and a graph three times; what XLA compiles is
    compiled and not called. Introduced in notebook 01.

    Returns: a `Program`, sizes in bytes.
    Raises: ValueError when XLA is given a shape that is not static, TypeError when `fn` cannot be
    called, or is Python that calls a graph, which must be inspected itself, RuntimeError where
    TensorFlow does not say what it runs.

    >>> import tensorflow as tf
    >>> program = inspect_program(lambda x: tf.tanh(x) + x, tf.ones([1024]))
    >>> program.mode, [kernel.operations for kernel in program.kernels], program.bytes
    ('eager', [('Tanh',), ('AddV2',)], 20480)
    """
    fn = resolve(fn)
    if hasattr(fn, "function_def"):  # a graph without Python
        return _of_graph(fn, fn, args, kwargs)
    if not is_traced(fn):
        return Program("eager", _eager_kernels(fn, args, kwargs))
    if getattr(fn, "_jit_compile", None):
        return _of_xla(fn, args, kwargs)
    return _of_graph(fn, fn.get_concrete_function(*args, **kwargs), args, kwargs)


def _of_graph(fn, concrete, args, kwargs):
    if _is_compiled(concrete.function_def):
        raise TypeError("`fn` is the graph of a compiled function: pass the tf.function itself")
    if any(map(_is_compiled, concrete.graph.as_graph_def().library.function)):
        raise TypeError("`fn` is a graph that calls a compiled function: inspect that one itself")
    if any(type(value).__name__ == "TensorSpec" for value in (*args, *kwargs.values())):
        raise TypeError("to see what a graph runs, it is called: pass tensors, not a TensorSpec")
    executed = execute(fn, args, kwargs)
    kernels, traced = _executed_kernels(executed), _traced_kernels(concrete.graph)
    return Program("graph", tuple(kernels), tuple(traced), executed.times is not None)


def _is_compiled(definition):
    marks = definition.attr  # in which asking for what is missing would make it
    return "_XlaMustCompile" in marks and marks["_XlaMustCompile"].b


def _executed_kernels(executed):
    """What ran of the graphs that TensorFlow prepared, and what ran in others that they call."""
    for op in executed.operations:
        calls_seen = op.type in HOLDERS and executed.times is not None
        if op.type not in NOT_KERNELS and executed.runs(op) != 0 and not calls_seen:
            yield _tensor_kernel(op.name, _parts(op), op.inputs, op.outputs, executed.runs(op))
    if any(op.type in HOLDERS for op in executed.operations):
        for path, kind, runs in executed.elsewhere():
            if kind not in NOT_KERNELS | HOLDERS:
                yield Kernel(path, (kind,), (UNKNOWN,), (UNKNOWN,), runs)


def _parts(op):
    """The type of an operation, and what TensorFlow has joined in it."""
    attributes = op.node_def.attr
    joined = [name for key in JOINED if key in attributes for name in attributes[key].list.s]
    return (op.type, *(name.decode() for name in joined))


def _traced_kernels(graph):
    """The operations of a graph, and those of the functions that it calls."""
    for op in graph.get_operations():
        if op.type in HOLDERS:
            for body in called_by(op):
                yield from _traced_kernels(body)
        elif op.type not in NOT_KERNELS:
            yield _tensor_kernel(op.name, (op.type,), op.inputs, op.outputs)


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
            kernels.append(_tensor_kernel(op_type, (op_type,), inputs, outputs, 1))

    op_callbacks.add_op_callback(record)
    try:
        with variables_kept(fn):
            fn(*args, **kwargs)
    finally:
        op_callbacks.remove_op_callback(record)
    if graphs:
        raise TypeError(
            f"`fn` is Python that calls {len(graphs)} graph(s), whose kernels cannot be seen from "
            "outside: inspect the tf.function itself"
        )
    return tuple(kernels)


def _tensor_kernel(name, operations, inputs, outputs, runs=None):
    read = {id(tensor): tensor for tensor in inputs}.values()  # x * x reads x once
    reads, writes = (tuple(map(_tensor_array, some)) for some in (read, outputs))
    return Kernel(name, operations, reads, writes, runs)


def _tensor_array(tensor):
    name = getattr(tensor, "name", None) if not hasattr(tensor, "numpy") else None
    shape = None if tensor.shape.rank is None else tuple(tensor.shape)
    return Array(name or "", tensor.dtype.name, shape, _bytes_of(tensor))


def _bytes_of(tensor):
    if tensor.dtype.name in HANDLES:
        return 0
    count = tensor.shape.num_elements()
    return None if count is None or tensor.dtype.name == "string" else count * tensor.dtype.size


def _sum(counts):
    counts = list(counts)
    return None if None in counts else sum(counts)


def _shown(count):
    return "unknown" if count is None else Bytes(count)


def _of_xla(fn, args, kwargs):
    module = optimised_module(fn, *args, **kwargs)
    computations = {computation.id: computation for computation in module.computations}
    kernels = tuple(_walk(computations[module.entry_computation_id], computations))
    traced = tuple(_traced_kernels(fn.get_concrete_function(*args, **kwargs).graph))
    opcodes = {inner.opcode for outer in module.computations for inner in outer.instructions}
    return Program("XLA", kernels, traced, control_flow=not CONTROL_FLOW.isdisjoint(opcodes))


def optimised_module(fn: Callable, /, *args, **kwargs):
    """The optimised HLO module of ``fn(*args, **kwargs)``.

    It is an `HloModuleProto` (xla/service/hlo.proto).

    fn: a `tf.function` with ``jit_compile=True``. Introduced in notebook 06.

    Raises: ValueError when a shape is not static.
    """
    return optimised_proto(fn, *args, **kwargs).hlo_module


def optimised_proto(fn: Callable, /, *args, **kwargs):
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
        if instruction.opcode in HOLDERS:
            for number in instruction.called_computation_ids:
                yield from _walk(computations[number], computations)
        elif instruction.opcode not in NOT_KERNELS:
            operands = [instructions[number] for number in dict.fromkeys(instruction.operand_ids)]
            yield Kernel(
                instruction.name,
                _operations(instruction, computations),
                tuple(array for one in operands for array in arrays_in(one.shape, one.name)),
                tuple(arrays_in(instruction.shape, instruction.name)),
            )


def _operations(instruction, computations):
    if instruction.opcode == "custom-call":
        return (instruction.custom_call_target,)
    if instruction.opcode != "fusion":
        return (instruction.opcode,)
    fused = computations[instruction.called_computation_ids[0]].instructions
    return tuple(inner.opcode for inner in fused if inner.opcode not in NOT_KERNELS)


def arrays_in(shape, name: str = "") -> Iterator[Array]:
    """The arrays of a shape of XLA, a `ShapeProto` (xla/xla_data.proto); a tuple has several."""
    from tensorflow.compiler.xla import xla_data_pb2

    if shape.tuple_shapes:
        for part in shape.tuple_shapes:
            yield from arrays_in(part, name)
        return
    dtype = xla_data_pb2.PrimitiveType.Name(shape.element_type).lower()
    dimensions = tuple(shape.dimensions)
    yield Array(name, dtype, dimensions, math.prod(dimensions) * _element_bytes(dtype))


def _element_bytes(dtype):
    """From the name of an XLA element type: f32 is 4, c64 is 8, pred is 1, token is 0."""
    bits = re.search(r"\d+", dtype)
    return -(-int(bits.group()) // 8) if bits else int(dtype == "pred")
