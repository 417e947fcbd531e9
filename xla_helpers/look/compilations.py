"""Count traces and compilations apart, call by call, and say what caused each."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..calls import Call
from ..differences import leaves
from ..logs import watch_compilations
from ..tables import Table, format_si, truncate
from ..timing import timed

WITHOUT_ARGUMENT = {
    "new function": "a new function object: it shares nothing with the earlier one",
    "not known": "not known: no shape, dtype or Python value changed; look for Python state that "
    "the function reads, or a tensor whose content XLA has to know",
}
ENDINGS = {"value": ", a Python value", "content": ", which XLA may have to know"}


@dataclass(frozen=True)
class Reason:
    """What made a call trace or compile.

    Attributes:
        kind: "first call" of this function in this log, "new function" around the same Python, "not
            known", or what of an argument changed: "dtype", "shape", "content", "value" of what is
            a Python value both times, or else "kind".
        argument: The name that its author gave it.
        before, after: The change, as text.
    """

    kind: str
    argument: str = ""
    before: str = ""
    after: str = ""

    def __str__(self):
        if not self.argument:
            return WITHOUT_ARGUMENT.get(self.kind, self.kind)
        what = "" if self.kind in ("kind", "value") else f"{self.kind} of "
        before, after = truncate(self.before, 60), truncate(self.after, 60)
        return f"{what}`{self.argument}`: {before} → {after}{ENDINGS.get(self.kind, '')}"


@dataclass(frozen=True)
class RecordedCall:
    """One recorded call: what it caused, the seconds of each part, and why.

    Attributes:
        number: From 1 in the order of the calls.
        function: Its name.
        traces, compilations: How many this call caused.
        trace_seconds, compile_seconds, run_seconds: The parts of the call.
        reasons: One for each argument that made the difference.
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
    def row(self) -> list:
        """Its row in the table of a log."""
        parts = self.trace_seconds, self.compile_seconds, self.run_seconds
        times = [format_si(seconds, "s") if seconds else "" for seconds in parts]
        counts = [self.traces or "", self.compilations or ""]
        return [self.number, self.function, *counts, *times, "; ".join(map(str, self.reasons))]


class CompilationLog(Table):
    """Record calls: traces, compilations, seconds of each, and the reasons.

    A trace runs the Python body and builds a graph; a compilation turns a graph into machine code
    for one set of shapes. Traces are TensorFlow's own count (`experimental_get_tracing_count`).
    Compilations are read from its log, which `prepare_tensorflow` must have switched on.

    Example:
        >>> import tensorflow as tf
        >>> log, total = CompilationLog(), tf.function(tf.reduce_sum, jit_compile=True)
        >>> for length in (3, 3, 4):
        ...     result = log.call(total, (tf.ones([length]),))
        >>> [call.compilations for call in log.calls], str(log.calls[2].reasons[0])
        ([1, 0, 1], 'shape of `input_tensor`: (3,) → (4,)')
    """

    def __init__(self):
        self.calls: list[RecordedCall] = []
        # Of every earlier call its function, the Python in it, its identity, which holds while that
        # is there, and what can cause a compilation: no argument is kept alive.
        self._earlier: list[tuple] = []

    def call(self, fn: Callable, args=(), kwargs=None):
        """Call ``fn(*args, **kwargs)`` and record what it caused.

        Args:
            fn: A `tf.function`. Variables that it changes stay changed, as after any call.
            args: Its positional arguments, a tuple.
            kwargs: Its keyword arguments.

        Returns:
            Its result.

        Raises:
            TypeError: For anything else, whose traces nobody counts.
            RuntimeError: When compilations cannot be counted in this process.
            Exception: Whatever the call raises.
        """
        call: Any = Call(fn, args, kwargs)
        if not call.is_traced:
            raise TypeError(
                f"{call.name} is not a tf.function that runs as a graph now, so nobody counts its "
                "traces: watch_compilations counts what it compiles"
            )
        given, before = arguments_of(call), call.fn.experimental_get_tracing_count()
        with watch_compilations() as compiled:
            tracing, _ = timed(call.concrete)
            traces = call.fn.experimental_get_tracing_count() - before
            seconds, result = timed(call)
        compiling = sum(compilation.seconds for compilation in compiled)
        reasons = self._reasons(call, given) if traces or compiled else ()
        self.calls.append(
            RecordedCall(
                number=len(self.calls) + 1,
                function=call.name,
                traces=traces,
                compilations=len(compiled),
                trace_seconds=tracing if traces else 0.0,
                compile_seconds=compiling,
                run_seconds=max(0.0, seconds - compiling),
                reasons=reasons,
            )
        )
        self._earlier.append((call.fn, call.python, call.identity, given))
        return result

    @property
    def traces(self) -> int:
        """Traces over all calls."""
        return sum(call.traces for call in self.calls)

    @property
    def compilations(self) -> int:
        """Compilations over all calls."""
        return sum(call.compilations for call in self.calls)

    def _parts(self):
        title = f"Calls {len(self.calls)}, traces {self.traces}, compilations {self.compilations}."
        columns = "call function traces compilations tracing compiling running why".split()
        return title, columns, [call.row for call in self.calls]

    def _reasons(self, call, given):
        """What differs from the most similar earlier call of the same function."""
        earlier = [old for fn, _, _, old in self._earlier if fn is call.fn]
        if earlier:
            return reasons_for(earlier, given)
        same = any(identity == call.identity for _, _, identity, _ in self._earlier)
        return (Reason("new function" if same else "first call"),)


def reasons_for(earlier: list[dict], arguments: dict) -> tuple[Reason, ...]:
    """What differs from the most similar of earlier arguments, the latest of several."""
    changes = (_changes(old, arguments) for old in reversed(earlier))
    return min(map(tuple, changes), key=len) or (Reason("not known"),)


def arguments_of(call: Call) -> dict[str, dict]:
    """Name to what can cause a trace or a compilation, defaults included.

    The parts of lists, dicts and sparse tensors have names, such as ``batch['ids'][0]``.
    """
    given = _named(call)
    return {place: _facts(part) for name in given for place, part in leaves(given[name], name)}


def _named(call):
    """Name to argument; by their places where a function has no signature, as `max` has none."""
    try:
        signature = inspect.signature(call.python)
    except ValueError:
        return {f"args[{place}]": given for place, given in enumerate(call.args)} | call.kwargs
    bound = signature.bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    given = dict(bound.arguments)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            given |= given.pop(name)
    return given


def _facts(value):
    """What can change, by the kinds of a `Reason`."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return {"value": repr(value)}
    dtype = getattr(value.dtype, "name", str(value.dtype))
    facts = {"dtype": dtype, "shape": tuple(value.shape)}
    if "int" in dtype and hasattr(value, "__array__") and math.prod(value.shape) <= 8:
        facts["content"] = np.asarray(value).tolist()
    return facts


def _changes(old, new):
    """A content is named where nothing else changed: XLA seldom has to know it."""
    reasons = []
    for name in dict.fromkeys([*new, *old]):
        before, after = old.get(name, {}), new.get(name, {})
        if ("value" in before, "shape" in before) != ("value" in after, "shape" in after):
            reasons.append(Reason("kind", name, _shown(before), _shown(after)))
        else:
            kinds = [kind for kind in after if before.get(kind) != after[kind]]
            reasons += [Reason(k, name, str(before.get(k)), str(after[k])) for k in kinds]
    return [reason for reason in reasons if reason.kind != "content"] or reasons


def _shown(facts):
    if not facts:
        return "not given"
    value = facts.get("value")
    return f"{value}, a Python value" if value else f"a tensor of shape {facts['shape']}"
