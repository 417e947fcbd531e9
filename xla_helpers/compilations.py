"""Count traces and compilations apart, call by call, and say what caused each."""

import inspect
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np

from .startup import LOG_SWITCH, log_path
from .tables import Table, cut, format_seconds
from .timing import wait_for_device

LOGGED = re.compile(
    r"BuildExecutable on service .* module proto: ([^\s[]+)"  # from XLA's service.cc
    r"|Compilation of XLA executable time: (\S+) (us|ms|s|min|h) .*\n"  # from device_compiler.h
    r"(?!.*OP_REQUIRES failed at xla_)"  # the compilation failed
)
"""The two lines of a compilation: the program's name, then the seconds that it took."""

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}  # in seconds

SHOWN = 60  # characters of a Python value that a reason shows


@dataclass(frozen=True)
class Leaf:
    """One part of a call's arguments, as far as it can cause a trace or a compilation.

    kind: "tensor", "variable" or "Python value". spec: dtype and shape, or the value itself.
    value: the content of a small integer tensor, which may set a shape; otherwise None.
    """

    kind: str
    spec: tuple
    value: object = None

    def short(self) -> str:
        """A Python value in at most `SHOWN` characters."""
        return cut(self.spec[0], SHOWN)

    def __str__(self):
        if self.kind == "Python value":
            return f"{self.short()}, a Python value"
        return f"a {self.kind} of shape {self.spec[1]}"


@dataclass(frozen=True)
class Call:
    """One recorded call: what it caused, the seconds of each part, and why.

    traces, compilations: how many this call caused. trace_seconds, compile_seconds, run_seconds:
    the parts of `seconds`. reasons: one sentence for each argument that made the difference.
    """

    number: int
    function: str
    traces: int
    compilations: int
    trace_seconds: float
    compile_seconds: float
    run_seconds: float
    reasons: tuple[str, ...]

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
        leaves = _leaves_by_name(fn, args, kwargs)
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
        compile_seconds = sum(seconds for _, seconds in compilations)
        trace_seconds = traced - start if new_traces else 0.0
        self.calls.append(
            Call(
                number=len(self.calls) + 1,
                function=_name(fn),
                traces=new_traces,
                compilations=len(compilations),
                trace_seconds=trace_seconds,
                compile_seconds=compile_seconds,
                run_seconds=max(0.0, end - start - trace_seconds - compile_seconds),
                reasons=_reasons(fn, leaves, self._seen) if new_traces or compilations else (),
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
                format_seconds(c.trace_seconds) if c.traces else "",
                format_seconds(c.compile_seconds) if c.compilations else "",
                format_seconds(c.run_seconds),
                "; ".join(c.reasons),
            ]
            for c in self.calls
        ]


def compilations_in(log: str) -> list[tuple[str, float]]:
    """Name and seconds of every compilation in a log, such as the `stderr` of a `Run`.

    The process must have had the switch that `prepare_tensorflow` sets, which children inherit.
    Seconds are those of the log, three digits. Neither a program that was built only to be looked
    at counts nor one that was found in a cache on disk. Introduced in notebook 05.
    """
    built, compiled = [], []
    for name, number, unit in LOGGED.findall(log):
        if name:
            built.append(name)
        elif built:
            compiled.append((built.pop(), float(number) * UNITS[unit]))
    return compiled


@contextmanager
def programs_compiled() -> Iterator[list[str]]:
    """The names of the programs that XLA compiles in a block, whoever asks for them.

    A name twice is one graph compiled for two shapes. Introduced in notebook 02.

    Yields: a list, filled when the block ends.
    Raises: RuntimeError when compilations cannot be counted in this process, with the mend.
    """
    _check_that_compilations_are_logged()
    position, names = _log_end(), []
    yield names
    names += [name for name, _ in compilations_in(_log_since(position))]


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


def _name(fn):
    """Its own name; for a model or layer, which has none, that of its class."""
    return getattr(fn.python_function, "__name__", None) or type(fn.python_function).__name__


def _leaves_by_name(fn, args, kwargs):
    """Every part of the arguments, defaults included, under the name that its author gave it."""
    python = getattr(fn.python_function, "call", fn.python_function)  # of a Keras model: its `call`
    try:
        bound = inspect.signature(python).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return dict(_leaves(dict(enumerate(args)) | kwargs))
    bound.apply_defaults()
    arguments = bound.arguments
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments = arguments | arguments.pop(name)
    return dict(_leaves(arguments))


def _leaves(value, path=""):
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}[{key!r}]" if path else str(key))
    elif isinstance(value, (list, tuple)) and path:
        for i, part in enumerate(value):
            yield from _leaves(part, f"{path}[{i}]")
    else:
        yield path, _describe(value)


def _describe(value):
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return Leaf("Python value", (repr(value),))
    dtype = getattr(value.dtype, "name", str(value.dtype))
    shape = tuple(value.shape)
    small_integer = "int" in dtype and len(shape) < 2 and sum(shape) <= 8
    content = np.asarray(value).tolist() if small_integer else None
    return Leaf("variable" if hasattr(value, "assign") else "tensor", (dtype, shape), content)


def _reasons(fn, leaves, seen):
    """Compare with the most similar earlier call of the same function."""
    earlier = [old for other, old in seen if other is fn]
    if not earlier:
        same_name = any(_name(other) == _name(fn) for other, _ in seen)
        return (
            ("a new function object: it shares nothing with the earlier one",)
            if same_name
            else ("first call",)
        )
    changes = min((_changes(old, leaves) for old in reversed(earlier)), key=len)
    return tuple(changes) or ("no argument changed: look for Python state that the function reads",)


def _changes(old, new):
    changes = [
        change for name in new if name in old for change in _change(name, old[name], new[name])
    ]
    changes += [f"`{name}`: not given → {leaf}" for name, leaf in new.items() if name not in old]
    changes += [f"`{name}`: {leaf} → not given" for name, leaf in old.items() if name not in new]
    if changes:
        return changes
    return [
        f"content of `{name}`: {old[name].value} → {leaf.value}, a tensor that sets a shape"
        for name, leaf in new.items()
        if leaf.value != old[name].value
    ]


def _change(name, old, new):
    if old.kind != new.kind:
        return [f"`{name}`: {old} → {new}"]
    if new.kind == "Python value":
        return [f"`{name}`: {old.short()} → {new}"] if old.spec != new.spec else []
    return [
        f"{what} of `{name}`: {before} → {after}"
        for what, before, after in zip(("dtype", "shape"), old.spec, new.spec, strict=True)
        if before != after
    ]
