"""A bug report as one archive: what XLA was given and gave back, and a replay from it alone."""

import hashlib
import json
import math
import os
import platform
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .checking import headline
from .processes import ProcessError, run_in_process
from .programs import StaticShapeError, compiler_ir, optimised_proto
from .startup import describe_machine

FORMAT = 1  # raised when an older reader would misread an archive
TOLERANCE = 1e-4  # largest relative difference of results from two machines that count as close
SAMPLES = 16  # numbers of each result that an archive holds, for that comparison
CALL_MODULE_VERSION = 9  # of the calling convention of XlaCallModule
DYNAMIC = "has dynamic shapes"  # in what it says of a program that it cannot run
LARGEST = 2**30  # bytes that a file in an archive may unpack to

RECORDED_FLAGS = (
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "TF_DUMP_GRAPH_PREFIX",
    "TF_ENABLE_ONEDNN_OPTS",
    "NVIDIA_TF32_OVERRIDE",
    "CUDA_VISIBLE_DEVICES",
)
"""The environment variables that a report records; all others are nobody's business."""

DETAILS, GRAPH, STABLEHLO = "report.json", "graph.pbtxt", "stablehlo.mlir"
CONTENTS = {
    DETAILS: "versions, machine, flags, dtypes and shapes, the outcomes with XLA and without",
    GRAPH: "the graph that TensorFlow traced, before XLA saw it",
    STABLEHLO: "the program as XLA was given it; a replay compiles and runs this file",
    "hlo_before.txt": "the same as HLO; run_hlo_module, built from XLA's sources, takes this file",
    "hlo_after.txt": "the optimised HLO",
    "hlo_after.pb": "the optimised HLO with its buffer assignment, an HloProto",
    "clusters/": "graphs of auto-clustering, each node marked with its cluster",
}

README = """A bug report on a program compiled by XLA, written by xla_helpers.write_bug_report.

{contents}

Replay it in a fresh process:

    python -c "import xla_helpers as xh; print(xh.replay_bug_report('{archive}'))"

The inputs of a replay are made from a fixed seed. No argument and no variable is in here, only
their dtypes and shapes. Constants and Python values are part of the program and are in here.
"""

DTYPES = {
    "PRED": "bool",
    "S8": "int8",
    "S16": "int16",
    "S32": "int32",
    "S64": "int64",
    "U8": "uint8",
    "U16": "uint16",
    "U32": "uint32",
    "U64": "uint64",
    "BF16": "bfloat16",
    "F16": "float16",
    "F32": "float32",
    "F64": "float64",
    "C64": "complex64",
    "C128": "complex128",
}
"""XLA's element types that a report can hold, as TensorFlow names them."""


class BugReportError(ValueError):
    """A file is no bug report, or one that cannot be read or replayed here."""


@dataclass(frozen=True, repr=False)
class BugReport:
    """What `report.json` of an archive says. `details` is its content, `path` the archive."""

    path: Path
    details: Mapping

    @property
    def inputs(self) -> list[np.ndarray]:
        """The arrays that every replay uses: from the recorded dtypes and shapes, and a seed.

        Floating-point numbers lie from 0 to 1, whole numbers from 0 to 7.
        """
        return [
            _draw(seed, spec["dtype"], tuple(spec["shape"]))
            for seed, spec in enumerate(self.details["inputs"])
        ]

    @property
    def without_xla(self) -> str:
        """What the graph gave on the same inputs without XLA, and how that compares."""
        without, outcome = self.details.get("without_xla"), self.details["outcome"]
        if without is None:
            return "not recorded"
        if "error" in without or "error" in outcome:
            return _outcome_text(without)
        count = len(without["results"])  # XLA's go on with the new values of variables
        verdict = _verdict({"results": outcome["results"][:count]}, without)
        return f"{verdict}, {_outcome_text(without)}"

    def __repr__(self):
        details = self.details
        inputs = ", ".join(map(_spec_text, details["inputs"])) or "no inputs"
        return (
            f"{self.path.name}: {details['function']}({inputs})\n"
            f"  with XLA:    {details['error'] or _outcome_text(details['outcome'])}\n"
            f"  without XLA: {self.without_xla}"
        )


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
            f"  recorded:    {_outcome_text(self.report.details['outcome'])} · {recorded}\n"
            f"  replayed:    {_outcome_text(self.outcome)} · {now}\n"
            f"  without XLA: {self.report.without_xla}"
        )


def write_bug_report(
    path: str | Path, fn: Callable, *args, dumps: str | Path | None = None, timeout: float = 120
) -> BugReport:
    """Write all that a report on ``fn(*args)`` needs into one zip archive.

    fn: a `tf.function` with ``jit_compile=True``. args: as for a call, which is not made, so that
    `tf.TensorSpec`s will do. dumps: the folder that ``TF_DUMP_GRAPH_PREFIX`` named, whose graphs
    of clusters go along; by default the one in the environment.

    The archive holds versions, flags without folders, the graph, HLO before and after
    optimisation, and dtypes and shapes of the inputs: no argument, and no value of a variable.
    Constants and Python values are part of the program, so they are in it; folders of source
    files are cut off. In a fresh process, within `timeout` seconds, the program runs once on
    inputs made from a seed, and so does its graph without XLA; fingerprints of the results are
    recorded. A program that XLA refuses is recorded too, with the reason, and so is one that
    crashes. Introduced in notebook 09.

    Returns: a `BugReport`.
    Raises: TypeError when `fn` is no jitted `tf.function`, or an argument holds text; ValueError
    when a shape is not static.
    """
    _check_jitted(fn)
    _check_arguments(args)
    path = Path(path)
    function = fn.get_concrete_function(*args)
    details = _describe(fn)
    members = {GRAPH: _graph(function)}
    members |= _cluster_graphs(dumps or os.environ.get("TF_DUMP_GRAPH_PREFIX"))
    try:
        module = _module(compiler_ir(fn, args, "hlo_serialized"))
        members |= _before(fn, args, module)
    except StaticShapeError:
        raise
    except _xla_errors() as error:
        details |= {"inputs": _known_inputs(function), "error": _first_line(error)}
    else:
        details |= _describe_shapes(module.host_program_shape, function)
        # The program may crash its process: let that be another one, before this one compiles.
        _write(path, details, members)
        run = _run_both(path, timeout)
        outcome = run["outcome"]
        details |= {"outcome": outcome, "without_xla": run.get("without_xla")}
        if DYNAMIC in outcome.get("error", ""):  # the replay's own limit, not the program's
            details["error"] = (
                "sizes in the program depend on its data, and a replay needs fixed ones"
            )
        if "results" in outcome or details["error"]:
            members |= _optimised(fn, args)
    _write(path, details, members)
    return BugReport(path, details)


def read_bug_report(path: str | Path) -> BugReport:
    """The report in the archive at `path`. Introduced in notebook 09.

    Raises: BugReportError when it is none, or one of a newer format.
    """
    path = Path(path)
    try:
        details = json.loads(_read(path, DETAILS))
        version = details["format"]
        if version > FORMAT:
            raise BugReportError(
                f"{path.name} has format {version}, and this version reads up to {FORMAT}: "
                "take a newer xla_helpers"
            )
        report = BugReport(path, details)
        for spec in details["inputs"] + details["outputs"]:
            if spec["dtype"] not in DTYPES.values() or min([0, *spec["shape"]]) < 0:
                raise TypeError(_spec_text(spec))
        repr(report)  # touches all that is shown
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise BugReportError(f"{path.name} is damaged: {DETAILS}: {error!r}") from error
    return report


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
    _read(report.path, STABLEHLO)
    run = _run_program(report.path, timeout, flags)
    verdict = _verdict(report.details["outcome"], run["outcome"])
    return Replay(report, run["machine"], run["outcome"], verdict)


# What a report holds


def _check_jitted(fn):
    if not hasattr(fn, "get_concrete_function"):
        raise TypeError(
            f"`fn` is {type(fn).__name__}, and a report is on compiled code: "
            "give tf.function(fn, jit_compile=True)"
        )
    if not getattr(fn, "_jit_compile", None):
        raise TypeError("`fn` is not compiled by XLA: give tf.function(..., jit_compile=True)")


def _check_arguments(args):
    import tensorflow as tf

    for position, arg in enumerate(args):
        for leaf in tf.nest.flatten(arg):
            if hasattr(leaf, "dtype") and tf.as_dtype(leaf.dtype) == tf.string:
                raise TypeError(
                    f"argument {position} of `fn` holds text, which XLA cannot take: "
                    "give numbers, such as the ids of words"
                )


def _describe(fn):
    import tensorflow as tf

    return {
        "format": FORMAT,
        "function": fn.python_function.__name__,
        "machine": describe_machine(),
        "versions": {
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
            "built from": tf.version.GIT_VERSION,
            "built with": tf.version.COMPILER_VERSION,
            "numpy": np.__version__,
        },
        "flags": {
            name: _without_paths(os.environ[name]) for name in RECORDED_FLAGS if name in os.environ
        },
        "inputs": [],
        "outputs": [],
        "error": None,
        "outcome": {"error": "the report was never finished"},
        "without_xla": None,
    }


def _without_paths(flags):
    """Of each path only the last part: the folders before it may name a person."""
    cut = []
    for flag in re.split(r"\s+(?=-)", flags.strip()):  # a path may hold spaces
        parts = flag.partition("=") if flag.startswith("-") else [flag]
        cut.append("".join(part.strip("\"'").rstrip("/").split("/")[-1] for part in parts))
    return " ".join(cut)


def _graph(function):
    """As text, without the values that TensorFlow notes for small tensors from outside."""
    graph = function.graph.as_graph_def()
    inputs = {tensor.op.name: tensor for tensor in function.inputs}
    for node in graph.node:
        if node.name in inputs and node.op == "Const":
            node.op = "Placeholder"
            del node.attr["value"]
            node.attr["shape"].shape.CopyFrom(inputs[node.name].shape.as_proto())
    return str(graph)


def _describe_shapes(program_shape, function):
    result = program_shape.result
    inputs = [_spec(shape) for shape in program_shape.parameters]
    outputs = [_spec(shape) for shape in (result.tuple_shapes if _is_tuple(result) else [result])]
    names = [tensor.op.name for tensor in function.inputs]
    captured = len(names) - len(function.captured_inputs)
    if len(names) == len(inputs):  # not when XLA made a constant of an argument
        for position, name in enumerate(names):
            inputs[position] |= {"name": name, "captured": position >= captured}
    # The results come first, then the new values of variables, which have no name here.
    for spec, tensor in zip(outputs, function.outputs, strict=False):
        spec["name"] = tensor.name
    return {"inputs": inputs, "outputs": outputs}


def _known_inputs(function):
    """Of a program that XLA refused: what can be said without it."""
    return [
        {"dtype": tensor.dtype.name, "shape": tensor.shape.as_list(), "name": tensor.op.name}
        for tensor in function.inputs
        if tensor.dtype.name in DTYPES.values() and tensor.shape.is_fully_defined()
    ]


def _is_tuple(shape):
    from tensorflow.compiler.xla import xla_data_pb2

    return shape.element_type == xla_data_pb2.TUPLE


def _spec(shape):
    from tensorflow.compiler.xla import xla_data_pb2

    name = xla_data_pb2.PrimitiveType.Name(shape.element_type)
    if name not in DTYPES:
        raise ValueError(f"the program has an array of {name.lower()}, which a report cannot hold")
    return {"dtype": DTYPES[name], "shape": list(shape.dimensions)}


def _spec_text(spec):
    return f"{spec['dtype']}{spec['shape']}"


def _outcome_text(outcome):
    if "error" in outcome:
        return outcome["error"]
    digests = [result["sha256"][:8] for result in outcome["results"]]
    return f"results {', '.join(digests)}" if digests else "no results"


def _cluster_graphs(folder):
    found = Path(folder).glob("mark_for_compilation_annotated*.pbtxt") if folder else ()
    return {f"clusters/{file.name}": file.read_text() for file in sorted(found)}


def _module(serialized):
    from tensorflow.compiler.xla.service import hlo_pb2

    return hlo_pb2.HloModuleProto.FromString(serialized)


def _before(fn, args, module):
    # TensorFlow 2.21 copies new values of variables by an operation that its own loader of
    # StableHLO does not know. A conversion to the same type means the same.
    stablehlo = compiler_ir(fn, args, "stablehlo").replace(" mhlo.copy ", " stablehlo.convert ")
    texts = {"hlo_before.txt": compiler_ir(fn, args, "hlo"), STABLEHLO: stablehlo}
    return _without_folders(texts, module)


def _optimised(fn, args):
    proto = optimised_proto(fn, *args)
    texts = {"hlo_after.txt": compiler_ir(fn, args, "optimized_hlo")}
    texts = _without_folders(texts, proto.hlo_module)
    proto.hlo_module.ClearField("stack_frame_index")
    for computation in proto.hlo_module.computations:
        for instruction in computation.instructions:
            instruction.metadata.source_file = Path(instruction.metadata.source_file).name
    return texts | {"hlo_after.pb": proto.SerializeToString(deterministic=True)}


def _without_folders(texts, module):
    files = {i.metadata.source_file for c in module.computations for i in c.instructions}
    for file in {*files, *module.stack_frame_index.file_names} - {""}:
        texts = {name: text.replace(file, Path(file).name) for name, text in texts.items()}
    return texts


def _first_line(error):
    return f"{type(error).__name__}: {(str(error).strip().splitlines() or ['no message'])[0]}"


# The archive


def _write(path, details, members):
    members = {DETAILS: json.dumps(details, indent=1)} | members
    lines = [f"{name:<16}{what}" for name, what in CONTENTS.items() if _is_there(name, members)]
    readme = README.format(contents="\n".join(lines), archive=path.name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in ({"README.txt": readme} | members).items():
            archive.writestr(name, content)


def _is_there(name, members):
    return any(member.startswith(name) for member in members)


def _read(path, name):
    """A file of the archive, as text: read by its name, and never unpacked to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(name).file_size > LARGEST:
                raise BugReportError(f"{path.name}: {name} is larger than {LARGEST} bytes")
            return archive.read(name).decode()
    except KeyError as error:
        raise BugReportError(f"{path.name} is no bug report: it holds no {name}") from error
    except (zipfile.BadZipFile, UnicodeDecodeError) as error:
        raise BugReportError(f"{path.name} is no bug report: {error}") from error


# The replay


def _run_both(path, timeout):
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
        return {"machine": describe_machine(), "outcome": {"error": _first_line(error)}}


def _run_elsewhere(path, timeout, *parts, flags=None):
    """What functions of this module give in a fresh process that has nothing but the archive."""
    growth = {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}  # this process may hold the GPU's memory
    flags = growth | dict(flags or {})
    arguments = str(path.resolve()), *parts
    return run_in_process(_run_archive, *arguments, flags=flags, timeout=timeout).value


def _run_archive(path, *parts):
    from xla_helpers import bug_reports

    return {key: value for part in parts for key, value in getattr(bug_reports, part)(path).items()}


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
        "module": _read(report.path, STABLEHLO),
        "version": CALL_MODULE_VERSION,
        "platforms": [_platform()],
        "Tout": [tf.as_dtype(spec["dtype"]) for spec in outputs],
        "Sout": [spec["shape"] for spec in outputs],
    }
    run = tf.function(lambda *inputs: call_module(inputs, **program), jit_compile=True)
    try:
        results = [np.asarray(result) for result in run(*map(tf.constant, report.inputs))]
    except _xla_errors() as error:
        outcome = {"error": _first_line(error)}
    else:
        outcome = {"results": [_fingerprint(result) for result in results]}
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
    graph = text_format.Parse(_read(report.path, GRAPH), tf.compat.v1.GraphDef())
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
        return {"without_xla": {"error": f"{type(error).__name__}: {headline(error)}"}}
    return {"without_xla": {"results": [_fingerprint(np.asarray(value)) for value in values]}}


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


def _xla_errors():
    import tensorflow as tf

    return tf.errors.OpError, ValueError


def _draw(seed, dtype, shape):
    """The bits come from NumPy's PCG64, whose stream never changes."""
    import tensorflow as tf

    dtype = tf.as_dtype(dtype).as_numpy_dtype
    bits = np.random.PCG64(seed).random_raw(2 * math.prod(shape))
    if np.dtype(dtype).kind in "biu":
        numbers = bits[::2] >> (63 if np.dtype(dtype).kind == "b" else 61)
    else:
        numbers = (bits >> 11) * 2.0**-53
        numbers = numbers[::2] + (1j * numbers[1::2] if np.dtype(dtype).kind == "c" else 0)
    return numbers.reshape(shape).astype(dtype)


def _fingerprint(result):
    places = np.linspace(0, result.size - 1, min(SAMPLES, result.size)).astype(int)
    numbers = np.atleast_1d(result.ravel()[places].astype(np.complex128))
    return {
        "sha256": hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest(),
        "real": numbers.real.tolist(),
        "imaginary": numbers.imag.tolist(),
    }


def _verdict(recorded, outcome):
    if "error" in recorded or "error" in outcome:
        return "same error" if recorded == outcome else "other error"
    pairs = list(zip(recorded["results"], outcome["results"], strict=True))
    if all(then["sha256"] == now["sha256"] for then, now in pairs):
        return "same bits"
    return "close" if all(_is_close(then, now) for then, now in pairs) else "different"


def _is_close(then, now):
    then, now = (np.array([part["real"], part["imaginary"]]) for part in (then, now))
    largest = np.max(np.abs(then[np.isfinite(then)]), initial=0)
    return np.allclose(now, then, rtol=0, atol=TOLERANCE * largest, equal_nan=True)
