"""Write a bug report: what XLA was given and gave back, without the data."""

import os
import platform
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import headline
from ..programs import StaticShapeError, compiler_ir, optimised_proto
from ..startup import describe_machine
from ..tables import in_one_line
from .archive import GRAPH, STABLEHLO, write_archive
from .replay import run_both, run_graph
from .report import BugReport, Spec

RECORDED_FLAGS = (
    "XLA_FLAGS",
    "TF_XLA_FLAGS",
    "TF_DUMP_GRAPH_PREFIX",
    "TF_ENABLE_ONEDNN_OPTS",
    "NVIDIA_TF32_OVERRIDE",
    "CUDA_VISIBLE_DEVICES",
)
"""The environment variables that a report records; all others are nobody's business."""

ELEMENTS = "PRED S8 S16 S32 S64 U8 U16 U32 U64 BF16 F16 F32 F64 C64 C128".split()
NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
    "bfloat16 float16 float32 float64 complex64 complex128"
).split()
DTYPES = dict(zip(ELEMENTS, NAMES, strict=True))
"""XLA's element types that a report can hold, as TensorFlow names them."""


def write_bug_report(
    path: str | Path, fn: Callable, *args, dumps: str | Path | None = None, timeout: float = 300
) -> BugReport:
    """Write all that a report on ``fn(*args)`` needs into one zip archive at `path`.

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
    when a shape is not static, or a constant is too large; ProcessError when the program runs too
    long, and then the archive holds all but the answers.
    """
    import tensorflow as tf

    _check_jitted(fn)
    _check_arguments(args)
    function = fn.get_concrete_function(*args)
    report = _describe(Path(path), fn)
    files = _graphs(function, dumps or os.environ.get("TF_DUMP_GRAPH_PREFIX"))
    try:
        module, texts = _before(fn, args)
    except StaticShapeError:
        raise
    except (tf.errors.OpError, ValueError) as error:
        report = replace(report, inputs=_known_inputs(function), obstacle=headline(error))
    else:
        inputs, outputs = _specs(module.host_program_shape, function)
        report = replace(report, inputs=inputs, outputs=outputs, obstacle=_obstacle(module))
        files |= texts
        # The program may crash its process: let that be another one, before this one compiles.
        write_archive(report, files)
        report = _with_answers(report, timeout)
        if report.obstacle or not report.with_xla.error:
            files |= _after(fn, args)
    write_archive(report, files)
    return report


def _check_jitted(fn):
    if not (hasattr(fn, "get_concrete_function") and getattr(fn, "_jit_compile", None)):
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


def _describe(path, fn):
    import tensorflow as tf

    versions = {
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "built from": tf.version.GIT_VERSION,
        "built with": tf.version.COMPILER_VERSION,
        "numpy": np.__version__,
    }
    flags = {
        name: without_folders(os.environ[name]) for name in RECORDED_FLAGS if name in os.environ
    }
    machine = in_one_line(describe_machine())
    return BugReport(path, fn.python_function.__name__, machine, versions, flags)


def without_folders(flags: str) -> str:
    """Of each path only the last part: the folders before it may name a person."""
    cut = []
    for flag in re.split(r"\s+(?=-)", flags.strip()):  # a path may hold spaces
        parts = flag.partition("=") if flag.startswith("-") else [flag]
        cut.append("".join(part.strip("\"'").rstrip("/").split("/")[-1] for part in parts))
    return in_one_line(" ".join(cut))


def _obstacle(module):
    shapes = (i.shape for c in module.computations for i in c.instructions)
    if any(any(shape.is_dynamic_dimension) for shape in shapes):
        return "sizes in the program depend on its data, and a replay needs fixed ones"
    return None


def _with_answers(report, timeout):
    if report.obstacle:
        return replace(report, without_xla=run_graph(report.path, timeout))
    with_xla, without_xla = run_both(report.path, timeout)
    return replace(report, with_xla=with_xla, without_xla=without_xla)


def _specs(program_shape, function):
    """The inputs and the outputs, with the names of their tensors in the graph."""
    inputs = [spec for shape in program_shape.parameters for spec in _arrays(shape)]
    outputs = _arrays(program_shape.result)
    names = [tensor.op.name for tensor in function.inputs]
    captured = len(names) - len(function.captured_inputs)
    if len(names) == len(inputs):  # not when XLA made a constant of an argument
        inputs = [
            replace(spec, name=name, captured=position >= captured)
            for position, (spec, name) in enumerate(zip(inputs, names, strict=True))
        ]
    named = zip(outputs, function.outputs, strict=False)  # the new values of variables have none
    results = [replace(spec, name=tensor.name) for spec, tensor in named]
    return tuple(inputs), tuple(results + outputs[len(results) :])


def _arrays(shape):
    from tensorflow.compiler.xla import xla_data_pb2

    name = xla_data_pb2.PrimitiveType.Name(shape.element_type)
    if name == "TUPLE":
        return [spec for part in shape.tuple_shapes for spec in _arrays(part)]
    if name not in DTYPES:
        raise ValueError(f"the program has an array of {name.lower()}, which a report cannot hold")
    return [Spec(DTYPES[name], tuple(shape.dimensions))]


def _known_inputs(function):
    """Of a program that XLA refused: what can be said without it."""
    return tuple(
        Spec(tensor.dtype.name, tuple(tensor.shape), tensor.op.name)
        for tensor in function.inputs
        if tensor.dtype.name in DTYPES.values() and tensor.shape.is_fully_defined()
    )


def _graphs(function, dumps):
    """The graph and those of clusters, as text.

    TensorFlow notes a small tensor from outside as a constant: its value is taken out.
    """
    graph = function.graph.as_graph_def()
    inputs = {tensor.op.name: tensor for tensor in function.inputs}
    for node in graph.node:
        if node.name in inputs and node.op == "Const":
            node.op = "Placeholder"
            del node.attr["value"]
            node.attr["shape"].shape.CopyFrom(inputs[node.name].shape.as_proto())
    clusters = Path(dumps).glob("mark_for_compilation_annotated*.pbtxt") if dumps else ()
    return {GRAPH: str(graph)} | {
        f"clusters/{file.name}": file.read_text(encoding="utf-8") for file in sorted(clusters)
    }


def _before(fn, args):
    """The program as XLA was given it: as data, and in two languages."""
    from tensorflow.compiler.xla.service import hlo_pb2

    module = hlo_pb2.HloModuleProto.FromString(compiler_ir(fn, args, "hlo_serialized"))
    # TensorFlow 2.21 copies new values of variables by an operation that its own loader of
    # StableHLO does not know. A conversion to the same type means the same.
    stablehlo = compiler_ir(fn, args, "stablehlo").replace(" mhlo.copy ", " stablehlo.convert ")
    texts = {"hlo_before.txt": compiler_ir(fn, args, "hlo"), STABLEHLO: stablehlo}
    return module, _without_source_folders(texts, module)


def _after(fn, args):
    proto = optimised_proto(fn, *args)
    texts = {"hlo_after.txt": compiler_ir(fn, args, "optimized_hlo")}
    texts = _without_source_folders(texts, proto.hlo_module)
    proto.hlo_module.ClearField("stack_frame_index")
    for computation in proto.hlo_module.computations:
        for instruction in computation.instructions:
            instruction.metadata.source_file = Path(instruction.metadata.source_file).name
    return texts | {"hlo_after.pb": proto.SerializeToString(deterministic=True)}


def _without_source_folders(texts, module):
    files = {i.metadata.source_file for c in module.computations for i in c.instructions}
    for file in {*files, *module.stack_frame_index.file_names} - {""}:
        texts = {name: text.replace(file, Path(file).name) for name, text in texts.items()}
    return texts
