"""A bug report: the program that XLA was given, without the data, and its replay elsewhere."""

import hashlib
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np

from .errors import headline
from .processes import ProcessError, run_in_process
from .programs import with_defaults
from .results import LARGEST, read_bytes
from .startup import describe_machine
from .tables import Table, cut

README = """\
A bug report on a function compiled by XLA. To run it again from here, on inputs made from a seed:

    python -c "import xla_helpers as xh; print(xh.replay_bug_report('.'))"

report.json     what is wrong, flags, dtypes and shapes, and what the program gave, and where
stablehlo.mlir  the program as XLA was given it, which is what runs again
hlo_before.txt  the same as HLO, before XLA optimises it

Constants and Python values are part of the program; arguments and variables are not in here.
"""
LARGEST_PROGRAM = 2**26  # bytes
MOST_NUMBERS = 2**27  # in the inputs of a program
FOLDERS = re.compile(r'(?<=")/[^"\n]*/(?=[^"/\n]+")')  # of a source file, which XLA notes in quotes

DTYPES = {"PRED": "bool", "BF16": "bfloat16", "F16": "float16", "F32": "float32", "F64": "float64"}
DTYPES |= {f"S{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}
DTYPES |= {f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}

Size = Annotated[int, msgspec.Meta(ge=0, le=2**40)]
Array = tuple[Literal[*DTYPES.values()], list[Size]]  # an input or a result: dtype and shape


class Answer(NamedTuple):
    """What a program gave on a machine: a digest of each result, or an error."""

    machine: str
    results: list[str]
    error: str = ""


@dataclass(frozen=True, repr=False)
class Report(Table):
    """A program, what it gave where it was recorded, and what it gave in a replay.

    inputs, outputs: dtype and shape of each, variables last. recorded, replayed: their `machine`,
    the `results` in short, and the `error`; the second is None before a replay.
    """

    function: str
    says: str
    flags: str
    inputs: list[Array]
    outputs: list[Array]
    recorded: Answer
    replayed: Answer | None = None

    @property
    def same(self) -> bool:
        """Whether the replay gave the same bits, or failed in the same way."""
        return self.replayed is not None and self.recorded[1:] == self.replayed[1:]

    def _title(self):
        inputs = ", ".join(f"{dtype}{shape}" for dtype, shape in self.inputs)
        program = cut(f"{self.function}({inputs})", 150)
        return cut(f"{program}: {self.says}" if self.says else program, 400)

    def _columns(self):
        return ["", "gave", "on"]

    def _rows(self):
        for name, answer in (("recorded", self.recorded), ("replayed", self.replayed)):
            if answer:
                gave = answer.error or ", ".join(answer.results)
                yield [name, cut(gave, 200), cut(answer.machine, 200)]


def write_bug_report(
    path: str | Path, fn: Callable, *args, says: str = "", timeout: float = 300
) -> Report:
    """Write the program that XLA makes of ``fn(*args)`` into a folder, without the data.

    path: of the folder; an earlier report in it is replaced. fn: a `tf.function` with
    ``jit_compile=True``. args: as for a call, which is not made; each may be a `tf.TensorSpec`.
    says: what is wrong, in your words. timeout: seconds for a fresh process, in which the program
    runs once on inputs made from a seed. What it gives is recorded, even an error, a crash, or
    that it took too long. Introduced in notebook 09.

    Returns: a `Report`, which shows what was recorded.
    Raises: TypeError when `fn` is not compiled by XLA; ValueError when XLA refuses the program
    or its sizes are unknown.
    """
    if not hasattr(fn, "experimental_get_compiler_ir"):
        raise TypeError("`fn` is not compiled by XLA: give tf.function(..., jit_compile=True)")
    from tensorflow.compiler.xla.service import hlo_pb2

    given, named = with_defaults(fn, args, {})
    stages = fn.experimental_get_compiler_ir(*given, **named)
    module = hlo_pb2.HloModuleProto.FromString(stages("hlo_serialized"))
    shape = module.host_program_shape
    inputs = [_array(part) for part in shape.parameters]
    outputs = [_array(part) for part in shape.result.tuple_shapes or [shape.result]]
    # TensorFlow 2.21 copies new values of variables by an operation that its own loader of
    # StableHLO does not know. A conversion to the same type means the same.
    stablehlo = stages("stablehlo").replace(" mhlo.copy ", " stablehlo.convert ")
    texts = {"README.txt": README, "stablehlo.mlir": stablehlo, "hlo_before.txt": stages("hlo")}
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    (path / "report.json").unlink(missing_ok=True)  # of an earlier program
    for name, text in texts.items():
        (path / name).write_text(FOLDERS.sub("", text), encoding="utf-8")
    recorded = _run(path, inputs, outputs, timeout)
    report = Report(fn.name, says, _flags(), inputs, outputs, recorded)
    (path / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)))
    return report


def replay_bug_report(path: str | Path, timeout: float = 300) -> Report:
    """Run the program of a report in a fresh process, on the inputs of the recorded run.

    path: of its folder, in which nothing but StableHLO is run. timeout: seconds. Introduced in
    notebook 09.

    Returns: the `Report`, which shows both answers. They are the `same` in every bit or not:
    another processor or version may round otherwise, and then look at the numbers of both.
    Raises: ValueError, in one line, when its report.json is none, or a damaged one.
    """
    path = Path(path)
    try:
        report = msgspec.json.decode(read_bytes(path / "report.json", LARGEST), type=Report)
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"no bug report: {headline(error)}") from error
    return replace(report, replayed=_run(path, report.inputs, report.outputs, timeout))


def _array(shape):
    """An array as XLA describes it, a `ShapeProto` (xla/xla_data.proto)."""
    from tensorflow.compiler.xla import xla_data_pb2

    name = xla_data_pb2.PrimitiveType.Name(shape.element_type)
    if name not in DTYPES:
        raise ValueError(f"the program has an array of {name}, which a report cannot hold")
    return DTYPES[name], list(shape.dimensions)


def _flags():
    """Of XLA, without those that name a folder, because that may name a person."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {os.environ.get('TF_XLA_FLAGS', '')}".split()
    return " ".join(flag for flag in flags if flag.startswith("--") and "/" not in flag)


def _run(path, inputs, outputs, timeout):
    """What the program in a folder gives in a fresh process, even a crash."""
    program = str(path.resolve() / "stablehlo.mlir")
    try:
        return Answer(*run_in_process(run_program, program, inputs, outputs, timeout=timeout).value)
    except ProcessError as error:
        if not (error.signal or error.timed_out):
            raise
        return Answer(describe_machine(), [], str(error).splitlines()[0])


def run_program(path: str, inputs: list, outputs: list) -> list:
    """The parts of an `Answer`. Its source travels, and so it imports."""
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.python.xla import call_module

    from xla_helpers import describe_machine, reports

    program = {
        "version": 9,  # of the calling convention of XlaCallModule, which JAX uses, too
        "platforms": ["CUDA" if tf.config.list_physical_devices("GPU") else "CPU"],
        "Tout": [tf.as_dtype(dtype) for dtype, _ in outputs],
        "Sout": [shape for _, shape in outputs],
    }
    try:
        program["module"] = reports.read_bytes(reports.Path(path), reports.LARGEST_PROGRAM).decode()
        run = tf.function(lambda *given: call_module(given, **program), jit_compile=True)
        results = run(*reports.seeded(inputs))
        return [describe_machine(), [reports.digest(result.numpy()) for result in results]]
    except Exception as error:  # whatever TensorFlow makes of a program that somebody sent
        return [describe_machine(), [], reports.headline(error)]


def seeded(inputs: list[Array]) -> list[np.ndarray]:
    """The inputs: whole numbers from 0 to 7, others from 0 to 1.

    Made of PCG64's raw bits, which NumPy promises never to change, unlike the numbers that its
    `Generator` makes of them. Raises: ValueError when there are too many for a replay.
    """
    import tensorflow as tf

    if sum(math.prod(shape) for _, shape in inputs) > MOST_NUMBERS:
        raise ValueError(f"the inputs have more than {MOST_NUMBERS:,} numbers")
    arrays = []
    for seed, (dtype, shape) in enumerate(inputs):
        bits = np.random.PCG64(seed).random_raw(math.prod(shape))
        numbers = bits * 2.0**-64 if "float" in dtype else bits % 8
        arrays.append(numbers.reshape(shape).astype(tf.as_dtype(dtype).as_numpy_dtype))
    return arrays


def digest(result: np.ndarray) -> str:
    """Of the bytes of an array, with its first, middle and last number."""
    some = result.ravel()[[0, result.size // 2, -1]] if result.size else []
    numbers = ", ".join(f"{float(number):.6g}" for number in some)
    return f"{hashlib.sha256(result.tobytes()).hexdigest()[:16]} ({numbers})"
