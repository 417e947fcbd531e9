"""Count traces and compilations apart, call by call, and say what caused each."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from .reasons import Reason, leaves_by_name, name_of, reasons
from .startup import LOG_SWITCH, log_path
from .tables import Seconds, Table
from .timing import wait_for_device

LOGGED = re.compile(
    r"BuildExecutable on service .* module proto: ([^\s[]+)"  # from XLA's service.cc
    r"|Compilation of XLA executable time: (\S+) (us|ms|s|min|h) .*\n"  # from device_compiler.h
    r"(?!.*OP_REQUIRES failed at xla_)"  # the compilation failed
)
"""The two lines of a compilation: the program's name, then the seconds that it took."""

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}  # in seconds


class Compilation(NamedTuple):
    """A program that XLA compiled: its name, and the seconds that it took, to three digits."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Call:
    """One recorded call: what it caused, the seconds of each part, and why.

    number: from 1 in the order of the calls. function: its name. traces, compilations: how many
    this call caused. trace_seconds, compile_seconds, run_seconds:
    the parts of `seconds`. reasons: one for each argument that made the difference.
    """

    number: int
    function: str
    traces: int
    compilations: int
    trace_seconds: float
    compile_seconds: float
    run_seconds: float
    reasons: tuple[Reason, ...]

    @property
    def seconds(self) -> float:
        """Seconds of the whole call."""
        return self.trace_seconds + self.compile_seconds + self.run_seconds


class CompilationLog(Table):
    """Records calls of `tf.function`s: traces, compilations, seconds of each, and the reasons.

    A trace runs the Python body and builds a graph; a compilation turns a graph into machine code
    for one set of shapes. Traces are TensorFlow's own count (`experimental_get_tracing_count`);
    compilations are read from its log, which `prepare_tensorflow` must have switched on.
    Introduced in notebook 01.

    Raises: RuntimeError when compilations cannot be counted in this process, with the mend.

    >>> import tensorflow as tf
    >>> log, total = CompilationLog(), tf.function(tf.reduce_sum, jit_compile=True)
    >>> for length in (3, 3, 4):
    ...     result = log.call(total, tf.ones([length]))
    >>> [call.compilations for call in log.calls], str(log.calls[2].reasons[0])
    ([1, 0, 1], 'shape of `input_tensor`: (3,) → (4,)')
    """

    def __init__(self):
        _check_that_compilations_are_logged()
        self.calls: list[Call] = []
        self._seen = []  # (function, its arguments as leaves) of every earlier call

    def call(self, fn, *args, **kwargs):
        """Call ``fn(*args, **kwargs)``, record what it caused, and return its result.

        Raises: TypeError when `fn` is not a `tf.function`, and whatever the call raises.
        """
        if not hasattr(fn, "experimental_get_tracing_count"):
            raise TypeError(
                f"`fn` is {type(fn).__name__}, not a tf.function: nothing else is traced"
            )
        leaves = leaves_by_name(fn, args, kwargs)
        traces = fn.experimental_get_tracing_count()
        position = _log_end()
        start = time.perf_counter()
        fn.get_concrete_function(*args, **kwargs)
        traced = time.perf_counter()
        result = fn(*args, **kwargs)
        wait_for_device()
        end = time.perf_counter()
        compilations = compilations_in(_log_since(position))
        new_traces = fn.experimental_get_tracing_count() - traces
        compile_seconds = sum(compilation.seconds for compilation in compilations)
        trace_seconds = traced - start if new_traces else 0.0
        self.calls.append(
            Call(
                number=len(self.calls) + 1,
                function=name_of(fn),
                traces=new_traces,
                compilations=len(compilations),
                trace_seconds=trace_seconds,
                compile_seconds=compile_seconds,
                run_seconds=max(0.0, end - start - trace_seconds - compile_seconds),
                reasons=reasons(fn, leaves, self._seen) if new_traces or compilations else (),
            )
        )
        self._seen.append((fn, leaves))
        return result

    @property
    def traces(self) -> int:
        """Traces over all calls."""
        return sum(call.traces for call in self.calls)

    @property
    def compilations(self) -> int:
        """Compilations over all calls."""
        return sum(call.compilations for call in self.calls)

    def _title(self):
        return f"Calls {len(self.calls)}, traces {self.traces}, compilations {self.compilations}."

    def _columns(self):
        return [
            "call",
            "function",
            "traces",
            "compilations",
            "tracing",
            "compiling",
            "running",
            "why",
        ]

    def _rows(self):
        return [
            [
                c.number,
                c.function,
                c.traces or "",
                c.compilations or "",
                Seconds(c.trace_seconds) if c.traces else "",
                Seconds(c.compile_seconds) if c.compilations else "",
                Seconds(c.run_seconds),
                "; ".join(map(str, c.reasons)),
            ]
            for c in self.calls
        ]


def compilations_in(log: str) -> list[Compilation]:
    """Every compilation in a log, such as the `stderr` of a `Run`.

    The process must have had the switch that `prepare_tensorflow` sets, which children inherit.
    Seconds are those of the log, three digits. Neither a program that was built only to be looked
    at counts nor one that was found in a cache on disk. Introduced in notebook 03.
    """
    built, compiled = [], []
    for name, number, unit in LOGGED.findall(log):
        if name:
            built.append(name)
        elif built:
            compiled.append(Compilation(built.pop(), float(number) * UNITS[unit]))
    return compiled


@contextmanager
def watch_compilations() -> Iterator[list[Compilation]]:
    """What XLA compiles in a block, whoever asks for it.

    A name twice is one graph compiled for two shapes. Introduced in notebook 02.

    Yields: a list, filled when the block ends.
    Raises: RuntimeError when compilations cannot be counted in this process, with the mend.

    >>> import tensorflow as tf
    >>> double = tf.function(lambda x: 2 * x, jit_compile=True, autograph=False)
    >>> with watch_compilations() as compiled:
    ...     first, second = double(tf.ones([3])), double(tf.ones([4]))
    >>> len(compiled)
    2
    """
    _check_that_compilations_are_logged()
    position, compiled = _log_end(), []
    yield compiled
    compiled += compilations_in(_log_since(position))


@cache
def _check_that_compilations_are_logged():
    """Compile something tiny, once, and look for its line: the only proof of a read switch."""
    cannot = "Compilations cannot be counted here"
    mend = (
        "Restart the kernel and call xla_helpers.prepare_tensorflow() before `import tensorflow`: "
        f"TensorFlow reads {LOG_SWITCH[0]} only once, when it is imported."
    )
    if log_path() is None:
        raise RuntimeError(f"{cannot}: TensorFlow's log is not kept. {mend}")
    import tensorflow as tf

    position = _log_end()
    tf.function(lambda x: x + 1, jit_compile=True, autograph=False)(tf.constant(1))
    if not compilations_in(_log_since(position)):
        raise RuntimeError(f"{cannot}: a test compilation left no line in the log. {mend}")


def _log_end():
    with open(log_path(), "rb") as log:
        return log.seek(0, 2)


def _log_since(position):
    with open(log_path(), "rb") as log:
        log.seek(position)
        return log.read().decode(errors="replace")
