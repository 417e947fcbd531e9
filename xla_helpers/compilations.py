"""Count traces and compilations apart, call by call, and say what caused each."""

import inspect
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .logs import watch_compilations
from .state import State, python_of
from .tables import Seconds, Table, cut
from .targets import is_traced, name_of, resolve
from .timing import timed
from .trials import trace

SHOWN = 60  # characters of a Python value that a reason shows
FEW = 8  # integers of a tensor that are compared: it may be a shape


UNNAMED = {
    "new function": "a new function object: it shares nothing with the earlier one",
    "not known": "not known: no shape, dtype or Python value changed; look for Python state that "
    "the function reads, or a tensor whose content XLA has to know",
}
"""What a `Reason` says that is about no argument, where its kind says too little."""

ENDS = {"value": ", a Python value", "content": ", which XLA may have to know"}
"""What a `Reason` of these kinds ends with."""


@dataclass(frozen=True)
class Reason:
    """What made a call trace or compile.

    kind: "first call" in this log, "new function", "not known", or what of an argument changed:
    "dtype", "shape", "content", "value" of what is a Python value both times, or else "kind".
    argument: the name that its author gave it. before, after: the change, as text.
    """

    kind: str
    argument: str = ""
    before: str = ""
    after: str = ""

    def __str__(self):
        if not self.argument:
            return UNNAMED.get(self.kind, self.kind)
        name = f"`{self.argument}`"
        what = name if self.kind in ("kind", "value") else f"{self.kind} of {name}"
        return f"{what}: {self.before} → {self.after}{ENDS.get(self.kind, '')}"


@dataclass(frozen=True)
class Call:
    """One recorded call: what it caused, the seconds of each part, and why.

    number: from 1 in the order of the calls. function: its name. traces, compilations: how many
    this call caused. trace_seconds, compile_seconds, run_seconds: the parts of `seconds`.
    reasons: one for each argument that made the difference.
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
    """Records calls: traces, compilations, seconds of each, and the reasons.

    A trace runs the Python body and builds a graph; a compilation turns a graph into machine code
    for one set of shapes. Traces are TensorFlow's own count (`experimental_get_tracing_count`).
    Compilations are read from its log, which `prepare_tensorflow` must have switched on.
    Introduced in notebook 01.

    >>> import tensorflow as tf
    >>> log, total = CompilationLog(), tf.function(tf.reduce_sum, jit_compile=True)
    >>> for length in (3, 3, 4):
    ...     result = log.call(total, tf.ones([length]))
    >>> [call.compilations for call in log.calls], str(log.calls[2].reasons[0])
    ([1, 0, 1], 'shape of `input_tensor`: (3,) → (4,)')
    """

    def __init__(self):
        self.calls: list[Call] = []
        self._seen = []  # (function, its arguments as leaves) of every earlier call

    def call(self, fn, *args, **kwargs):
        """Call ``fn(*args, **kwargs)``, record what it caused, and return its result.

        fn: a `tf.function`, or a SavedModel. Variables of its graph, and those that its Python
        names, have their values again afterwards; `watch_compilations` leaves the state of a
        training alone.

        Raises: TypeError for anything else, whose traces nobody counts; RuntimeError when
        compilations cannot be counted in this process, with the mend; whatever the call raises.
        """
        fn = resolve(fn)
        if not is_traced(fn):
            raise TypeError(
                f"{name_of(fn)} is no tf.function that runs as a graph, and nobody counts its "
                "traces: watch_compilations counts what it compiles"
            )
        leaves, state = _leaves_by_name(fn, args, kwargs), State()
        before = fn.experimental_get_tracing_count()
        try:
            with watch_compilations() as compilations:
                trace_seconds = trace(fn, args, kwargs, state)
                traces = fn.experimental_get_tracing_count() - before
                seconds, result = timed(fn, *args, **kwargs)
        finally:
            state.put_back()
        compile_seconds = sum(compilation.seconds for compilation in compilations)
        self.calls.append(
            Call(
                number=len(self.calls) + 1,
                function=name_of(fn),
                traces=traces,
                compilations=len(compilations),
                trace_seconds=trace_seconds if traces else 0.0,
                compile_seconds=compile_seconds,
                run_seconds=max(0.0, seconds - compile_seconds),
                reasons=_reasons(fn, leaves, self._seen) if traces or compilations else (),
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

    def plot(self, *, ax=None, title: str = ""):
        """The calls as a staircase: a row each, begun where the last one ended.

        A call that traced or compiled is a wide step, with its reasons beside it; one that found
        its program ready is a narrow one. ax, title: made when not given.

        Returns: the axes, for `picture`.
        Raises: ValueError when there is no call.
        """
        from .plots import plot_calls

        return plot_calls(self, ax, title)

    def _title(self):
        return f"Calls {len(self.calls)}, traces {self.traces}, compilations {self.compilations}."

    def _columns(self):
        counts = ["call", "function", "traces", "compilations"]
        return [*counts, "tracing", "compiling", "running", "why"]

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


# Reasons: the arguments beside those of the most similar earlier call


def _leaves_by_name(fn, args, kwargs):
    """Every part of the arguments, defaults included, under the name that its author gave it."""
    python = python_of(fn)
    python = getattr(python, "call", python)  # of a Keras model: its `call`
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
        yield path, _leaf(value)


def _leaf(value):
    """What of a part can cause a trace or a compilation, by the kinds of a `Reason`."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return {"kind": "Python value", "value": repr(value)}
    own = type(value).__name__  # such as SparseTensor
    kind = "variable" if hasattr(value, "assign") else "tensor" if _is_array(value) else own
    dtype = getattr(value.dtype, "name", str(value.dtype))
    leaf = {"kind": kind, "dtype": dtype, "shape": tuple(value.shape)}
    if "int" in dtype and _is_array(value) and math.prod(value.shape) <= FEW:
        leaf["content"] = np.asarray(value).tolist()
    return leaf


def _is_array(value):
    return hasattr(value, "__array__")


def _reasons(fn, leaves, seen):
    """Compare with the most similar earlier call of the same function.

    seen: (function, leaves by name) of every earlier call.
    """
    earlier = [old for other, old in seen if other == fn]  # a method is a new object each time
    if earlier:
        changes = min((_changes(old, leaves) for old in reversed(earlier)), key=len)
        return tuple(changes) or (Reason("not known"),)
    if any(_same_code(other, fn) for other, _ in seen):
        return (Reason("new function"),)
    return (Reason("first call"),)


def _changes(old, new):
    names = dict.fromkeys([*new, *old])
    changes = [change for x in names for change in _change(x, old.get(x), new.get(x))]
    return changes or [
        change for x in names for change in _differences(x, old[x], new[x], ["content"])
    ]


def _change(name, old, new):
    if old is None or new is None or old["kind"] != new["kind"]:
        return [Reason("kind", name, _shown(old), _shown(new))]
    return _differences(name, old, new, ["dtype", "shape", "value"])


def _differences(name, old, new, kinds):
    return [
        Reason(kind, name, *(cut(str(leaf.get(kind)), SHOWN) for leaf in (old, new)))
        for kind in kinds
        if old.get(kind) != new.get(kind)
    ]


def _shown(leaf):
    if leaf is None:
        return "not given"
    if "value" in leaf:
        return f"{cut(leaf['value'], SHOWN)}, a Python value"
    return f"a {leaf['kind']} of shape {leaf['shape']}"


def _same_code(one, other):
    """Whether two functions are one function of the reader's, wrapped or defined anew."""
    one, other = python_of(one), python_of(other)
    methods = hasattr(one, "__self__") or hasattr(other, "__self__")
    code = getattr(one, "__code__", None)
    return one is other or (not methods and code and code is getattr(other, "__code__", None))
