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
from .results import read_bytes
from .startup import describe_machine
from .tables import cut, in_one_line

README = """\
A bug report on a function compiled by XLA. To run it again from here, on inputs made from a seed:

    python -c "import xla_helpers as xh; print(xh.replay_bug_report('.'))"

report.json     what is wrong, flags, dtypes and shapes, and what the program gave, and where
stablehlo.mlir  the program as XLA was given it, which is what runs again
hlo_before.txt  the same as HLO, and hlo_after.txt optimised, unless the program failed

Constants and Python values are part of the program; arguments and variables are not in here.
"""
LARGEST = 2**26  # bytes of a program
LARGEST_REPORT = 2**20  # bytes of report.json, whose dataclasses take more
MOST_NUMBERS = 2**27  # in the inputs of a program
WIDTH = 300  # letters of a line
FOLDERS = re.compile(r'(?<=")/[^"\n]*/(?=[^"/\n]+")')  # of a source file, which XLA notes in quotes

DTYPES = {"PRED": "bool", "BF16": "bfloat16", "C64": "complex64", "C128": "complex128"}
DTYPES |= {f"S{bits}": f"int{bits}" for bits in (8, 16, 32, 64)}
DTYPES |= {f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)}
DTYPES |= {f"F{bits}": f"float{bits}" for bits in (16, 32, 64)}


class Array(NamedTuple):
    """An input or a result of a program."""

    dtype: Literal[*DTYPES.values()]
    shape: list[Annotated[int, msgspec.Meta(ge=0, le=2**40)]]

    def __str__(self):
        return f"{self.dtype}{self.shape}"


@dataclass(frozen=True, repr=False)
class Report:
    """A program, and what it gave on a machine: a digest of each result, or an error."""

    function: str
    says: str
    flags: str
    inputs: list[Array]  # and behind them the variables
    outputs: list[Array]  # and behind them the new values of variables
    machine: str
    results: list[str]
    error: str

    def answer(self) -> str:
        """What it gave, and where, in one line."""
        gave = self.error or ", ".join(self.results) or "no results"
        return in_one_line(cut(f"{cut(gave, WIDTH // 2)} · {self.machine}", WIDTH))

    def __repr__(self):
        program = cut(f"{self.function}({', '.join(map(str, self.inputs))})", WIDTH // 2)
        says = f": {self.says}" if self.says else ""
        return f"{in_one_line(cut(program + says, WIDTH))}\n  recorded: {self.answer()}"


@dataclass(frozen=True, repr=False)
class Replay:
    """What the program of a report gave in another process, beside what was recorded."""

    name: str
    recorded: Report
    replayed: Report

    @property
    def match(self) -> str:
        """One of "same bits", "other bits", "same error" and "other error"."""
        then, now = self.recorded, self.replayed
        if then.error or now.error:
            return "same error" if then.error == now.error else "other error"
        return "same bits" if then.results == now.results else "other bits"

    def __repr__(self):
        return f"{self.name}: {self.match}, {self.recorded}\n  replayed: {self.replayed.answer()}"


def write_bug_report(
    path: str | Path, fn: Callable, *args, says: str = "", timeout: float = 300
) -> Report:
    """Write the program that XLA makes of ``fn(*args)`` into a folder, without the data.

    path: of the folder; an earlier report in it is replaced. fn: a `tf.function` with
    ``jit_compile=True``. args: as for a call, which is not made; each may be a `tf.TensorSpec`.
    says: what is wrong, in your words. timeout: seconds for a fresh process, in which the program
    runs once on inputs made from a seed. What it gives is recorded, even an error, a crash, or
    that it took too long. Introduced in notebook 09.

    Returns: a report, which shows what was recorded.
    Raises: TypeError when `fn` is not compiled by XLA; ValueError when XLA refuses the program,
    when its sizes are unknown or depend on data, and when it is too large.
    """
    if not hasattr(fn, "experimental_get_compiler_ir"):
        raise TypeError("`fn` is not compiled by XLA: give tf.function(..., jit_compile=True)")
    from tensorflow.compiler.xla.service import hlo_pb2

    given, named = with_defaults(fn, args, {})
    stages = fn.experimental_get_compiler_ir(*given, **named)
    module = hlo_pb2.HloModuleProto.FromString(stages("hlo_serialized"))
    shapes = [i.shape for computation in module.computations for i in computation.instructions]
    if any(any(shape.is_dynamic_dimension) for shape in shapes):
        raise ValueError("sizes in the program depend on its data, and a report needs fixed ones")

    inputs = [array for part in module.host_program_shape.parameters for array in _arrays(part)]
    outputs = _arrays(module.host_program_shape.result)
    report = Report(fn.name, says, _flags(), inputs, outputs, "", [], "not run")
    # TensorFlow 2.21 copies new values of variables by an operation that its own loader of
    # StableHLO does not know. A conversion to the same type means the same.
    stablehlo = stages("stablehlo").replace(" mhlo.copy ", " stablehlo.convert ")
    path = Path(path)
    (path / "hlo_after.txt").unlink(missing_ok=True)  # of an earlier report
    before = {"README.txt": README, "stablehlo.mlir": stablehlo, "hlo_before.txt": stages("hlo")}
    _write(path, report, before)
    read_report(path)  # raises for what is too large to be read again
    report = _run(path, report, timeout)
    # What failed there would fail here.
    _write(path, report, {} if report.error else {"hlo_after.txt": stages("optimized_hlo")})
    return report


def replay_bug_report(path: str | Path, timeout: float = 300) -> Replay:
    """Run the program of a report in a fresh process, on the inputs of the recorded run.

    path: of its folder, in which nothing but StableHLO is run. timeout: seconds. Introduced in
    notebook 09.

    Returns: a replay, whose `match` is "same bits", "other bits", "same error" or "other error".
    Another processor or version may round otherwise: then look at the numbers of both.
    Raises: ValueError, in one line, when the file is no bug report or a damaged one.
    """
    path = Path(path)
    report, _ = read_report(path)
    return Replay(_name(path), report, _run(path, report, timeout))


def _arrays(shape):
    """The arrays of a shape of XLA, a `ShapeProto` (xla/xla_data.proto); a tuple has several."""
    from tensorflow.compiler.xla import xla_data_pb2

    name = xla_data_pb2.PrimitiveType.Name(shape.element_type)
    if name == "TUPLE":
        return [array for part in shape.tuple_shapes for array in _arrays(part)]
    if name not in DTYPES:
        raise ValueError(f"the program has an array of {name}, which a report cannot hold")
    return [Array(DTYPES[name], list(shape.dimensions))]


def _flags():
    """Of XLA, without those that name a folder, because that may name a person."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {os.environ.get('TF_XLA_FLAGS', '')}".split()
    return " ".join(flag for flag in flags if flag.startswith("--") and "/" not in flag)


def _write(path, report, texts):
    path.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (path / name).write_text(FOLDERS.sub("", text), encoding="utf-8")
    (path / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)))


def _name(path):
    return in_one_line(path.resolve().name)


def read_report(path: Path) -> tuple[Report, str]:
    """The report in a folder, and its program, read in bounded memory.

    Raises: ValueError for whatever is wrong with them.
    """
    try:
        report = msgspec.json.decode(read_bytes(path / "report.json", LARGEST_REPORT), type=Report)
        program = read_bytes(path / "stablehlo.mlir", LARGEST).decode()
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{_name(path)} is no report: {headline(error)}") from error
    if sum(math.prod(array.shape) for array in report.inputs) > MOST_NUMBERS:
        raise ValueError(f"{_name(path)} asks for inputs of more than {MOST_NUMBERS:,} numbers")
    return report, program


def _run(path, report, timeout):
    """The report with what its program gives in a fresh process, even a crash."""
    try:
        answer = run_in_process(run_report, str(path.resolve()), timeout=timeout).value
    except ProcessError as error:
        if not (error.signal or error.timed_out):
            raise
        machine, what = describe_machine(), str(error).splitlines()[0]
        answer = {"machine": machine, "results": [], "error": what}
    return replace(report, **answer)


def run_report(path: str) -> dict:
    """The machine, results and error of a program. Its source travels, and so it imports."""
    import tensorflow as tf
    from tensorflow.compiler.tf2xla.python.xla import call_module

    from xla_helpers import describe_machine, reports

    report, module = reports.read_report(reports.Path(path))
    program = {
        "module": module,
        "version": 9,  # of the calling convention of XlaCallModule, which JAX uses, too
        "platforms": ["CUDA" if tf.config.list_physical_devices("GPU") else "CPU"],
        "Tout": [tf.as_dtype(array.dtype) for array in report.outputs],
        "Sout": [array.shape for array in report.outputs],
    }
    run = tf.function(lambda *inputs: call_module(inputs, **program), jit_compile=True)
    answer = {"machine": describe_machine(), "results": [], "error": ""}
    try:
        results = run(*map(reports.seeded, range(len(report.inputs)), report.inputs))
        return answer | {"results": [reports.digest(result.numpy()) for result in results]}
    except Exception as error:  # whatever TensorFlow makes of a program that somebody sent
        return answer | {"error": reports.headline(error)}


def seeded(seed: int, array: Array) -> np.ndarray:
    """An input: whole numbers from 0 to 7, others from 0 to 1.

    Made of PCG64's raw bits, which NumPy promises never to change, unlike the numbers that its
    `Generator` makes of them.
    """
    import tensorflow as tf

    bits = np.random.PCG64(seed).random_raw(math.prod(array.shape))
    numbers = bits % 8 if "int" in array.dtype or array.dtype == "bool" else bits * 2.0**-64
    if "complex" in array.dtype:
        numbers = numbers + 1j * numbers[::-1]
    dtype = tf.as_dtype(array.dtype)
    return numbers.reshape(array.shape).astype(dtype.as_numpy_dtype)


def digest(result: np.ndarray) -> str:
    """Of the bytes of an array, with its first, middle and last number."""
    some = result.ravel()[[0, result.size // 2, -1]] if result.size else result.ravel()
    some = some.astype(np.complex128 if result.dtype.kind == "c" else np.float64)
    numbers = ", ".join(f"{number:.6g}" for number in some)
    return f"{hashlib.sha256(result.tobytes()).hexdigest()[:16]} ({numbers})"
