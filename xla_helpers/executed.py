"""What TensorFlow makes of a graph before it runs it, and how often each operation then ran."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .recordings import OPERATION, recorded
from .state import variables_kept
from .timing import wait_for_device

OF_LOOPS = {"Enter", "Exit", "NextIteration", "LoopCond"}
"""Operations that hand a value on into a loop, out of it, or to its next iteration."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Executed:
    """What one call of a graph ran.

    operations: `tf.Operation`, in an order in which they can run, after TensorFlow's optimiser of
    graphs (Grappler) and oneDNN have rewritten them; their shapes are known as far as they follow
    from those of the arguments. times: how often each ran, by path and type, such as
    ``dense/Relu:_FusedMatMul``; None where nothing could be recorded. owners: how many operations
    have each path and type, those of functions that stay calls too.
    """

    operations: tuple
    times: Counter | None
    owners: Counter

    def runs(self, op) -> int | None:
        """How often an operation ran in the call; None where that cannot be told."""
        return None if self.times is None else self._runs(_event(op))

    def elsewhere(self) -> Iterator[tuple[str, str, int | None]]:
        """Path, type and runs of what ran and is in none of the graphs that were handed out."""
        known = Counter(map(_event, self.operations))
        for name in self.times or ():
            if known[name] < max(1, self.owners[name]):
                yield *name.rsplit(":", 1), self._runs(name)

    def _runs(self, name):
        """The runs of several that share a name are added up, so those of each are unknown."""
        times = self.times[name]
        return None if times and self.owners[name] > 1 else times


def execute(fn: Callable, args: tuple, kwargs: dict) -> Executed:
    """Call ``fn(*args, **kwargs)`` three times, to see what of its graphs TensorFlow runs.

    The first call traces what is to be traced. TensorFlow hands out a graph only when it prepares
    it, and records short operations only in the first calls after that, so for the other two it is
    made to prepare all graphs anew. Variables have their values again afterwards.

    Raises: RuntimeError where TensorFlow hands out no graph, and whatever `fn` raises.
    """
    if _somebody_collects():
        raise RuntimeError(
            "TensorFlow hands its graphs to `tf.summary.trace_on` now: export that trace first"
        )
    with variables_kept(fn):
        fn(*args, **kwargs)
        with _prepared_anew():
            with _collected() as graphs:
                fn(*args, **kwargs)
            with recorded() as spans:
                fn(*args, **kwargs)
                wait_for_device()
    if not graphs:
        raise RuntimeError("TensorFlow handed out no graph, so what ran cannot be told")
    operations = tuple(op for graph in graphs for op in _with_shapes(graph).get_operations())
    names = [span.name for span in spans or ()]
    times = Counter(name for name in names if OPERATION.fullmatch(name))
    return Executed(operations, times or None, _owners(graphs))


@contextmanager
def _prepared_anew() -> Iterator[None]:
    """Each graph that is called in the block is prepared for it, whatever was called before.

    TensorFlow keeps a prepared graph for each configuration. This one differs from the usual in
    the number of a session, which decides nothing.
    """
    from tensorflow.core.protobuf.config_pb2 import ConfigProto
    from tensorflow.python.eager import context

    now = context.context()
    now.ensure_initialized()
    usual = now.function_call_options
    config = ConfigProto.FromString(usual.config_proto_serialized or b"")
    config.experimental.session_metadata.name = "inspected"
    config.experimental.session_metadata.version = next(_numbers)
    now.function_call_options = context.FunctionCallOptions(usual.executor_type, config)
    try:
        yield
    finally:
        now.function_call_options = usual


def _somebody_collects():
    from tensorflow.python.ops import summary_ops_v2

    return getattr(summary_ops_v2, "_current_trace_context", None) is not None


@contextmanager
def _collected() -> Iterator[list]:
    """The graphs, `GraphDef`, that are prepared in the block, as the executor gets them."""
    from tensorflow.python.eager import context

    graphs = []
    now = context.context()
    now.enable_graph_collection()
    try:
        yield graphs
        metadata = now.export_run_metadata()
    finally:
        now.disable_graph_collection()
    made = [graph.partition_graphs for graph in metadata.function_graphs]
    graphs += [_joined(parts) for parts in made if parts]


def _joined(parts):
    """The parts of a graph for several devices as one again: what is received is what was sent."""
    import tensorflow as tf

    whole = tf.compat.v1.GraphDef()
    for part in parts:
        whole.MergeFrom(part)
    sent = {_key(node): node.input[0] for node in whole.node if node.op in ("_Send", "_HostSend")}
    for node in whole.node:
        if node.op in ("_Recv", "_HostRecv") and _key(node) in sent:
            _replace(node, "Identity", [sent[_key(node)]], node.attr["tensor_type"].type)
    return whole


def _key(node):
    return node.attr["tensor_name"].s


def _owners(graphs):
    """How many operations of graphs, and of the functions in them, have each path and type.

    graphs: `GraphDef`.
    """
    functions = {f.signature.name: f.node_def for graph in graphs for f in graph.library.function}
    nodes = itertools.chain(*(graph.node for graph in graphs), *functions.values())
    return Counter(map(_event, nodes))


def _with_shapes(definition):
    """The graph as a `tf.Graph`, in which TensorFlow has inferred the shapes.

    A loop's values are taken to keep the shapes with which they enter it. Those of which that
    turns out wrong, or cannot be told, have an unknown shape, and so has what follows from them.
    """
    changing = set()
    while True:
        graph, loops = _imported(definition, changing)
        found = {merge for merge, ends in loops.items() if _differ(graph, *ends)} - changing
        if not found:
            return graph
        changing |= found


def _differ(graph, first, last):
    before, after = (graph.as_graph_element(_output(name)).shape for name in (first, last))
    return not (before.is_fully_defined() and before == after)


def _imported(definition, changing):
    """The graph without its loops' way back, and each loop's merge with its two inputs.

    changing: merges whose values change their shape.
    """
    import tensorflow as tf

    changed = tf.compat.v1.GraphDef()
    changed.CopyFrom(definition)
    kinds = {node.name: node.op for node in definition.node}
    loops = {}
    for node in changed.node:
        back = [name for name in node.input if kinds.get(_node(name)) == "NextIteration"]
        if node.op == "Merge" and back:
            [enters] = [name for name in node.input if name not in back and name[0] != "^"]
            loops[node.name] = enters, back[0]
            kind = "Placeholder" if node.name in changing else "Identity"
            _replace(node, kind, [enters], node.attr["T"].type)
        elif node.op in OF_LOOPS:
            dtype = tf.bool.as_datatype_enum if node.op == "LoopCond" else node.attr["T"].type
            _replace(node, "Identity", list(node.input), dtype)
    graph = tf.Graph()
    with graph.as_default():
        tf.graph_util.import_graph_def(changed, name="")
    return graph, loops


def _replace(node, kind, inputs, dtype):
    node.op = kind
    node.attr.clear()
    node.attr["dtype" if kind == "Placeholder" else "T"].type = dtype
    node.ClearField("input")
    if kind != "Placeholder":
        node.input.extend(inputs)


def _event(op):
    """The name of the event of an operation, or of a node."""
    return f"{op.name}:{getattr(op, 'type', None) or op.op}"


def _node(name):
    return name.removeprefix("^").partition(":")[0]


def _output(name):
    return name if ":" in name else f"{name}:0"
