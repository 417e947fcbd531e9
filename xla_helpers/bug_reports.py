"""Write a bug report: what XLA was given and gave back, without the data."""

import os
import platform
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .archives import (
    DTYPES,
    FORMAT,
    GRAPH,
    STABLEHLO,
    BugReport,
    write_archive,
)
from .errors import headline
from .programs import StaticShapeError, compiler_ir, optimised_proto
from .replays import run_both, xla_errors
from .startup import describe_machine

DYNAMIC = "has dynamic shapes"  # in what it says of a program that it cannot run

RECORDED_FLAGS = (
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "TF_DUMP_GRAPH_PREFIX",
    "TF_ENABLE_ONEDNN_OPTS",
    "NVIDIA_TF32_OVERRIDE",
    "CUDA_VISIBLE_DEVICES",
)
"""The environment variables that a report records; all others are nobody's business."""


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
    except xla_errors() as error:
        details |= {"inputs": _known_inputs(function), "error": headline(error)}
    else:
        details |= _describe_shapes(module.host_program_shape, function)
        # The program may crash its process: let that be another one, before this one compiles.
        write_archive(path, details, members)
        run = run_both(path, timeout)
        outcome = run["outcome"]
        details |= {"outcome": outcome, "without_xla": run.get("without_xla")}
        if DYNAMIC in outcome.get("error", ""):  # the replay's own limit, not the program's
            details["error"] = (
                "sizes in the program depend on its data, and a replay needs fixed ones"
            )
        if "results" in outcome or details["error"]:
            members |= _optimised(fn, args)
    write_archive(path, details, members)
    return BugReport(path, details)


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
