"""What runs in a fresh process: the program of an archive by XLA, and its graph without XLA."""

import hashlib
import math
from collections.abc import Callable

import numpy as np

from ..errors import headline
from .archive import GRAPH, STABLEHLO, read_bug_report, read_text
from .report import Answer, Fingerprint

SAMPLES = 16  # numbers of each result that an archive holds, to compare with another machine's
CALL_MODULE_VERSION = 9  # of the calling convention of XlaCallModule


def run_archive(path: str, program: bool, graph: bool) -> tuple:
    """The machine, and what the program and the graph of an archive give, as plain data.

    The source of this function travels to the fresh process, so it imports what it needs.
    """
    from dataclasses import asdict

    from xla_helpers import describe_machine
    from xla_helpers.bug_reports.child import run_graph, run_program

    answers = run_program(path) if program else None, run_graph(path) if graph else None
    return describe_machine(), *(answer and asdict(answer) for answer in answers)


def run_program(path: str) -> Answer:
    """Compile the program of an archive and run it, in this process.

    The operation that runs StableHLO is the one that JAX uses to hand its programs to TensorFlow,
    `XlaCallModule`.
    """
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.python.xla import call_module

    report = read_bug_report(path)
    program = {
        "module": read_text(report.path, STABLEHLO),
        "version": CALL_MODULE_VERSION,
        "platforms": [_platform()],
        "Tout": [tf.as_dtype(spec.dtype) for spec in report.outputs],
        "Sout": [spec.shape for spec in report.outputs],
    }
    run = tf.function(lambda *inputs: call_module(inputs, **program), jit_compile=True)
    return _answer(lambda: run(*map(tf.constant, report.seeded_inputs())))


def run_graph(path: str) -> Answer | None:
    """Run the graph of an archive without XLA, in this process, on the inputs of a replay.

    Only for an archive of one's own: a graph that somebody sent may read and write files.
    Returns: None when the program's inputs are not the graph's.
    """
    import tensorflow as tf
    from google.protobuf import text_format

    report = read_bug_report(path)
    graph = text_format.Parse(read_text(report.path, GRAPH), tf.compat.v1.GraphDef())
    switch_off_xla(graph)
    dtypes = {node.name: node.attr["dtype"].type for node in graph.node if node.op == "Placeholder"}
    names = [spec.name for spec in report.inputs]
    if set(names) != set(dtypes):
        return None
    results = [spec.name for spec in report.outputs if spec.name]

    @tf.function(autograph=False)
    def run(*values):
        given = {f"{name}:0": value for name, value in zip(names, values, strict=True)}
        return tf.graph_util.import_graph_def(graph, given, results, name="")

    resource = tf.resource.as_datatype_enum
    inputs = [
        (tf.Variable if dtypes[name] == resource else tf.constant)(array)
        for name, array in zip(names, report.seeded_inputs(), strict=True)
    ]
    return _answer(lambda: run(*(getattr(value, "handle", value) for value in inputs)))


def switch_off_xla(graph) -> None:
    """For the functions of a `GraphDef` that ask for it themselves, and for auto-clustering."""
    functions = graph.library.function
    nodes = [*graph.node, *(node for function in functions for node in function.node_def)]
    for node in nodes:
        node.attr["_XlaCompile"].b = False
    for part in [*nodes, *functions]:
        if "_XlaMustCompile" in part.attr:
            part.attr["_XlaMustCompile"].b = False


def _platform():
    import tensorflow as tf

    if not tf.config.list_physical_devices("GPU"):
        return "CPU"
    return "ROCM" if tf.test.is_built_with_rocm() else "CUDA"


def _answer(run: Callable) -> Answer:
    import tensorflow as tf

    try:
        return Answer(tuple(fingerprint(np.asarray(result)) for result in run()))
    except (tf.errors.OpError, ValueError) as error:
        return Answer(error=headline(error))


def fingerprint(result: np.ndarray) -> Fingerprint:
    """The digest of an array's bytes, and numbers from evenly spaced places."""
    places = np.linspace(0, result.size - 1, min(SAMPLES, result.size)).astype(int)
    kind = np.complex128 if result.dtype.kind == "c" else np.float64
    numbers = result.ravel()[places].astype(kind).view(np.float64).tolist()
    return Fingerprint(
        sha256=hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest(),
        sample=tuple(x if math.isfinite(x) else str(x) for x in numbers),
    )
