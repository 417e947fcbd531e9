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
hlo_before.txt  the same as HLO, and hlo_after.txt optimised, unless the program failed

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
    Raises: TypeError when `fn` is not compiled by XLA; ValueError when XLA refuses the program,
    when its sizes are unknown, and when it is too large.
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
    report = Report(fn.name, says, _flags(), inputs, outputs, Answer("", [], "not run"))
    # TensorFlow 2.21 copies new values of variables by an operation that its own loader of
    # StableHLO does not know. A conversion to the same type means the same.
    stablehlo = stages("stablehlo").replace(" mhlo.copy ", " stablehlo.convert ")
    path = Path(path)
    (path / "hlo_after.txt").unlink(missing_ok=True)  # of an earlier report
    before = {"README.txt": README, "stablehlo.mlir": stablehlo, "hlo_before.txt": stages("hlo")}
    _write(path, report, before)
    read_report(path)  # raises for what is too large to be read again
    report = replace(report, recorded=_run(path, timeout))
    # What failed there would fail here.
    failed = report.recorded.error
    _write(path, report, {} if failed else {"hlo_after.txt": stages("optimized_hlo")})
    return report


def replay_bug_report(path: str | Path, timeout: float = 300) -> Report:
    """Run the program of a report in a fresh process, on the inputs of the recorded run.

    path: of its folder, in which nothing but StableHLO is run. timeout: seconds. Introduced in
    notebook 09.

    Returns: the `Report`, which shows both answers. They are the `same` in every bit or not:
    another processor or version may round otherwise, and then look at the numbers of both.
    Raises: ValueError, in one line, when the file is no bug report or a damaged one.
    """
    path = Path(path)
    return replace(read_report(path), replayed=_run(path, timeout))


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


def _write(path, report, texts):
    path.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (path / name).write_text(FOLDERS.sub("", text), encoding="utf-8")
    (path / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)))


def read_report(path: Path) -> Report:
    """The report in a folder, read in bounded memory.

    Raises: ValueError for whatever is wrong with it, or with its program.
    """
    try:
        report = msgspec.json.decode(read_bytes(path / "report.json", LARGEST), type=Report)
        read_bytes(path / "stablehlo.mlir", LARGEST_PROGRAM).decode()
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"no bug report: {headline(error)}") from error
    if sum(math.prod(shape) for _, shape in report.inputs) > MOST_NUMBERS:
        raise ValueError(f"the report asks for inputs of more than {MOST_NUMBERS:,} numbers")
    return report


def _run(path, timeout):
    """What the program in a folder gives in a fresh process, even a crash."""
    try:
        return Answer(*run_in_process(run_report, str(path.resolve()), timeout=timeout).value)
    except ProcessError as error:
        if not (error.signal or error.timed_out):
            raise
        return Answer(describe_machine(), [], str(error).splitlines()[0])


def run_report(path: str) -> list:
    """The parts of an `Answer`. Its source travels, and so it imports."""
    from pathlib import Path

    import tensorflow as tf
    from tensorflow.compiler.tf2xla.python.xla import call_module

    from xla_helpers import describe_machine, reports

    folder = Path(path)
    report = reports.read_report(folder)
    program = {
        "module": (folder / "stablehlo.mlir").read_text(encoding="utf-8"),
        "version": 9,  # of the calling convention of XlaCallModule, which JAX uses, too
        "platforms": ["CUDA" if tf.config.list_physical_devices("GPU") else "CPU"],
        "Tout": [tf.as_dtype(dtype) for dtype, _ in report.outputs],
        "Sout": [shape for _, shape in report.outputs],
    }
    run = tf.function(lambda *inputs: call_module(inputs, **program), jit_compile=True)
    try:
        results = run(*map(reports.seeded, range(len(report.inputs)), report.inputs))
        return [describe_machine(), [reports.digest(result.numpy()) for result in results]]
    except Exception as error:  # whatever TensorFlow makes of a program that somebody sent
        return [describe_machine(), [], reports.headline(error)]


def seeded(seed: int, array: Array) -> np.ndarray:
    """An input: whole numbers from 0 to 7, others from 0 to 1.

    Made of PCG64's raw bits, which NumPy promises never to change, unlike the numbers that its
    `Generator` makes of them.
    """
    import tensorflow as tf

    dtype, shape = array
    bits = np.random.PCG64(seed).random_raw(math.prod(shape))
    numbers = bits * 2.0**-64 if "float" in dtype else bits % 8
    return numbers.reshape(shape).astype(tf.as_dtype(dtype).as_numpy_dtype)


def digest(result: np.ndarray) -> str:
    """Of the bytes of an array, with its first, middle and last number."""
    some = result.ravel()[[0, result.size // 2, -1]] if result.size else []
    numbers = ", ".join(f"{float(number):.6g}" for number in some)
    return f"{hashlib.sha256(result.tobytes()).hexdigest()[:16]} ({numbers})"
