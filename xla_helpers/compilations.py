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

REASONS = {
    "first call": "first call",
    "new function": "a new function object: it shares nothing with the earlier one",
    "not known": "not known: no shape, dtype or Python value changed; look for Python state that "
    "the function reads, or a tensor whose content XLA has to know",
    "kind": "`{0}`: {1} → {2}",
    "dtype": "dtype of `{0}`: {1} → {2}",
    "shape": "shape of `{0}`: {1} → {2}",
    "value": "`{0}`: {1} → {2}, a Python value",
    "content": "content of `{0}`: {1} → {2}, which XLA may have to know",
}
"""The kinds of a `Reason`, and what each says: of an argument, how it was before and after."""


@dataclass(frozen=True)
class Reason:
    """What made a call trace or compile.

    kind: "first call" of this function in this log, "new function" around the same Python, "not
    known", or what of an argument changed: "dtype", "shape", "content", "value" of what is a
    Python value both times, or else "kind". argument: the name that its author gave it. before,
    after: the change, as text.
    """

    kind: str
    argument: str = ""
    before: str = ""
    after: str = ""

    def __str__(self):
        change = (cut(text, SHOWN) for text in (self.before, self.after))
        return REASONS[self.kind].format(self.argument, *change)


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
        self._seen = []  # the function and its arguments, by name, of every earlier call

    def call(self, fn, *args, **kwargs):
        """Call ``fn(*args, **kwargs)``, record what it caused, and return its result.

        fn: a `tf.function`, or a SavedModel. Variables that it changes stay changed, as after any
        call.

        Raises: TypeError for anything else, whose traces nobody counts; RuntimeError when
        compilations cannot be counted in this process, with the mend; whatever the call raises.
        """
        fn = resolve(fn)
        if not is_traced(fn):
            raise TypeError(
                f"{name_of(fn)} is no tf.function that runs as a graph, and nobody counts its "
                "traces: watch_compilations counts what it compiles"
            )
        arguments, before = _arguments(fn, args, kwargs), fn.experimental_get_tracing_count()
        with watch_compilations() as compiled:
            trace_seconds = trace(fn, args, kwargs, State())
            traces = fn.experimental_get_tracing_count() - before
            seconds, result = timed(fn, *args, **kwargs)
        compile_seconds = sum(compilation.seconds for compilation in compiled)
        self.calls.append(
            Call(
                number=len(self.calls) + 1,
                function=name_of(fn),
                traces=traces,
                compilations=len(compiled),
                trace_seconds=trace_seconds if traces else 0.0,
                compile_seconds=compile_seconds,
                run_seconds=max(0.0, seconds - compile_seconds),
                reasons=self._reasons(fn, arguments) if traces or compiled else (),
            )
        )
        self._seen.append((fn, arguments))
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
        return "call function traces compilations tracing compiling running why".split()

    def _rows(self):
        for c in self.calls:
            counts = [c.number, c.function, c.traces or "", c.compilations or ""]
            tracing = Seconds(c.trace_seconds) if c.traces else ""
            compiling = Seconds(c.compile_seconds) if c.compilations else ""
            why = "; ".join(map(str, c.reasons))
            yield [*counts, tracing, compiling, Seconds(c.run_seconds), why]

    def _reasons(self, fn, arguments):
        """What differs from the most similar earlier call of the same function."""
        earlier = [old for other, old in self._seen if other is fn]
        if earlier:
            changes = [_changes(old, arguments) for old in reversed(earlier)]
            return tuple(min(changes, key=len)) or (Reason("not known"),)
        same = any(python_of(other) == python_of(fn) for other, _ in self._seen)
        return (Reason("new function" if same else "first call"),)


def _arguments(fn, args, kwargs):
    """Name to what can cause a trace or a compilation, defaults included.

    The parts of lists and dicts have names of their own, such as ``batch['ids'][0]``.
    """
    bound = inspect.signature(python_of(fn)).bind(*args, **kwargs)
    bound.apply_defaults()
    arguments = bound.arguments
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments |= arguments.pop(name)
    found = {}
    for name, value in arguments.items():
        found |= _parts(value, name)
    return found


def _parts(value, name):
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _parts(part, f"{name}[{key!r}]")
    elif isinstance(value, (list, tuple)):
        for i, part in enumerate(value):
            yield from _parts(part, f"{name}[{i}]")
    else:
        yield name, _described(value)


def _described(value):
    """What can change, by the kinds of a `Reason`."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return {"value": repr(value)}
    dtype = getattr(value.dtype, "name", str(value.dtype))
    found = {"dtype": dtype, "shape": tuple(value.shape)}
    if "int" in dtype and hasattr(value, "__array__") and math.prod(value.shape) <= FEW:
        found["content"] = np.asarray(value).tolist()
    return found


def _changes(old, new):
    """A content is named where nothing else changed: XLA seldom has to know it."""
    names = dict.fromkeys([*new, *old])
    reasons = [reason for x in names for reason in _change(x, old.get(x), new.get(x))]
    return [reason for reason in reasons if reason.kind != "content"] or reasons


def _change(name, old, new):
    if old is None or new is None or ("value" in old) != ("value" in new):
        return [Reason("kind", name, _shown(old), _shown(new))]
    kinds = [kind for kind in new if old.get(kind) != new[kind]]
    return [Reason(kind, name, str(old.get(kind)), str(new[kind])) for kind in kinds]


def _shown(described):
    if described is None:
        return "not given"
    if "value" in described:
        return f"{described['value']}, a Python value"
    return f"a tensor of shape {described['shape']}"
