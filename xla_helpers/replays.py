"""Run what a bug report holds in another process, and compare with what it recorded."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .archives import (
    GRAPH,
    STABLEHLO,
    BugReport,
    BugReportError,
    outcome_text,
    read_bug_report,
    read_member,
    verdict,
)
from .errors import headline
from .processes import ProcessError, run_in_process
from .startup import describe_machine

SAMPLES = 16  # numbers of each result that an archive holds, to compare with another machine's
CALL_MODULE_VERSION = 9  # of the calling convention of XlaCallModule


@dataclass(frozen=True, repr=False)
class Replay:
    """The outcome of a report's program in another process, beside the recorded one.

    verdict: "same bits", "close", "different", "same error" or "other error".
    """

    report: BugReport
    machine: str
    outcome: Mapping
    verdict: str

    @property
    def same(self) -> bool:
        """True when it gave the very same bits, or failed in the same way."""
        return self.verdict.startswith("same")

    def __repr__(self):
        recorded, now = self.report.details["machine"], self.machine
        return (
            f"{self.report.path.name}: {self.verdict}\n"
            f"  recorded:    {outcome_text(self.report.details['outcome'])} · {recorded}\n"
            f"  replayed:    {outcome_text(self.outcome)} · {now}\n"
            f"  without XLA: {self.report.without_xla}"
        )


def replay_bug_report(
    path: str | Path, flags: Mapping[str, str] | None = None, timeout: float = 120
) -> Replay:
    """Run the program of an archive in a fresh process, and compare with what it recorded.

    Nothing but the archive is needed. The program is compiled and run by XLA; no Python code is
    read from the archive, its graph is not run, and nothing is unpacked to disk. flags:
    environment variables for the process; the recorded ones are shown by
    ``read_bug_report(path).details["flags"]`` and are not set by themselves, because a flag can
    name files. timeout: seconds. Introduced in notebook 09.

    Returns: a `Replay`. Results are the same when all bits are, and "close" when the recorded
    samples agree to within `TOLERANCE`, relative to the largest.
    Raises: BugReportError when the archive cannot be read, or its program not be run;
    ProcessError when the process runs too long.
    """
    report = read_bug_report(path)
    if report.details["error"]:
        raise BugReportError(f"{report.path.name} cannot be replayed: {report.details['error']}")
    read_member(report.path, STABLEHLO)
    run = _run_program(report.path, timeout, flags)
    found = verdict(report.details["outcome"], run["outcome"])
    return Replay(report, run["machine"], run["outcome"], found)


def run_both(path, timeout):
    """With XLA and without: in one process, or in one each when that one crashes or hangs."""
    try:
        return _run_elsewhere(path, timeout, "run_program", "run_graph")
    except ProcessError:
        run = _run_program(path, timeout)
    try:
        return run | _run_elsewhere(path, timeout, "run_graph")
    except ProcessError:
        return run


def _run_program(path, timeout, flags=None):
    try:
        return _run_elsewhere(path, timeout, "run_program", flags=flags)
    except ProcessError as error:
        if "was killed by" not in str(error):
            raise
        return {"machine": describe_machine(), "outcome": {"error": headline(error)}}


def _run_elsewhere(path, timeout, *parts, flags=None):
    """What functions of this module give in a fresh process that has nothing but the archive."""
    growth = {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}  # this process may hold the GPU's memory
    flags = growth | dict(flags or {})
    arguments = str(path.resolve()), *parts
    return run_in_process(_run_archive, *arguments, flags=flags, timeout=timeout).value


def _run_archive(path, *parts):
    from xla_helpers import replays

    return {key: value for part in parts for key, value in getattr(replays, part)(path).items()}


def run_program(path: str) -> dict:
    """Run the program of an archive in this process: the machine, and the outcome.

    `replay_bug_report` calls it in a fresh one. The operation that runs StableHLO is the one that
    JAX uses to hand its programs to TensorFlow, `XlaCallModule`.
    """
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.python.xla import call_module

    report = read_bug_report(path)
    outputs = report.details["outputs"]
    program = {
        "module": read_member(report.path, STABLEHLO),
        "version": CALL_MODULE_VERSION,
        "platforms": [_platform()],
        "Tout": [tf.as_dtype(spec["dtype"]) for spec in outputs],
        "Sout": [spec["shape"] for spec in outputs],
    }
    run = tf.function(lambda *inputs: call_module(inputs, **program), jit_compile=True)
    try:
        results = [np.asarray(result) for result in run(*map(tf.constant, report.inputs))]
    except xla_errors() as error:
        outcome = {"error": headline(error)}
    else:
        outcome = {"results": [fingerprint(result) for result in results]}
    return {"machine": describe_machine(), "outcome": outcome}


def run_graph(path: str) -> dict:
    """Run the graph of an archive in this process, without XLA: the outcome.

    The inputs are those of a replay. `write_bug_report` calls it in a fresh process, and
    `replay_bug_report` does not: a graph that somebody sent may read and write files.
    """
    import tensorflow as tf
    from google.protobuf import text_format

    report = read_bug_report(path)
    specs = report.details["inputs"]
    if not all("name" in spec for spec in specs):  # the program's inputs are not the graph's
        return {"without_xla": None}
    graph = text_format.Parse(read_member(report.path, GRAPH), tf.compat.v1.GraphDef())
    _switch_off_xla(graph)
    resource = tf.resource.as_datatype_enum
    places = [node for node in graph.node if node.op == "Placeholder"]
    variables = {node.name for node in places if node.attr["dtype"].type == resource}
    inputs = [
        (tf.Variable if spec["name"] in variables else tf.constant)(array)
        for spec, array in zip(specs, report.inputs, strict=True)
    ]
    results = [spec["name"] for spec in report.details["outputs"] if "name" in spec]

    @tf.function(autograph=False)
    def run(*values):
        given = {f"{spec['name']}:0": value for spec, value in zip(specs, values, strict=True)}
        return tf.graph_util.import_graph_def(graph, given, results, name="")

    try:
        values = run(*(getattr(value, "handle", value) for value in inputs))
    except tf.errors.OpError as error:
        return {"without_xla": {"error": headline(error)}}
    return {"without_xla": {"results": [fingerprint(np.asarray(value)) for value in values]}}


def _switch_off_xla(graph):
    """For functions that ask for it themselves, and for auto-clustering."""
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


def fingerprint(result):
    places = np.linspace(0, result.size - 1, min(SAMPLES, result.size)).astype(int)
    numbers = np.atleast_1d(result.ravel()[places].astype(np.complex128))
    return {
        "sha256": hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest(),
        "real": numbers.real.tolist(),
        "imaginary": numbers.imag.tolist(),
    }


def xla_errors():
    import tensorflow as tf

    return tf.errors.OpError, ValueError
