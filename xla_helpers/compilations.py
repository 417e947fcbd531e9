"""Count traces and compilations apart, call by call, and say what caused each."""

import time
from dataclasses import dataclass

from .evidence import observe
from .logs import check_that_compilations_are_logged, compilations_in, log_end, log_since
from .reasons import Reason, leaves_by_name, reasons
from .state import State
from .tables import Seconds, Table, counted
from .targets import is_traced, name_of, resolve
from .timing import wait_for_device


@dataclass(frozen=True)
class Call:
    """One recorded call: what it caused, the seconds of each part, and why.

    number: from 1 in the order of the calls. function: its name. traces, compilations: how many
    this call caused. trace_seconds, compile_seconds, run_seconds: the parts of `seconds`.
    reasons: one for each argument that made the difference. changed: the variables that it
    changed, which have their values again.
    """

    number: int
    function: str
    traces: int
    compilations: int
    trace_seconds: float
    compile_seconds: float
    run_seconds: float
    reasons: tuple[Reason, ...]
    changed: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Seconds of the whole call."""
        return self.trace_seconds + self.compile_seconds + self.run_seconds


class CompilationLog(Table):
    """Records calls: traces, compilations, seconds of each, and the reasons.

    A trace runs the Python body and builds a graph; a compilation turns a graph into machine code
    for one set of shapes. Traces of a `tf.function` are TensorFlow's own count
    (`experimental_get_tracing_count`); those of the functions that other Python calls, such as
    Keras' `predict`, are read from a recording of its profiler. Compilations are read from its
    log, which `prepare_tensorflow` must have switched on. Introduced in notebook 01.

    Raises: RuntimeError when compilations cannot be counted in this process, with the mend.

    >>> import tensorflow as tf
    >>> log, total = CompilationLog(), tf.function(tf.reduce_sum, jit_compile=True)
    >>> for length in (3, 3, 4):
    ...     result = log.call(total, tf.ones([length]))
    >>> [call.compilations for call in log.calls], str(log.calls[2].reasons[0])
    ([1, 0, 1], 'shape of `input_tensor`: (3,) → (4,)')
    """

    def __init__(self):
        check_that_compilations_are_logged()
        self.calls: list[Call] = []
        self._seen = []  # (function, its arguments as leaves) of every earlier call
        self._changed = {}  # the variables that a call changed, under their `id`

    def call(self, fn, *args, **kwargs):
        """Call ``fn(*args, **kwargs)``, record what it caused, and return its result.

        fn: whatever can be called. Variables that the call changes have their values again
        afterwards, so a model is not trained by being watched; `watch_compilations` leaves the
        state of a training alone.

        Raises: TypeError when `fn` cannot be called, RuntimeError when traces cannot be counted
        because something else records a profile, and whatever the call raises.
        """
        fn = resolve(fn)
        leaves, position = leaves_by_name(fn, args, kwargs), log_end()
        state, moved = State(fn), None  # None: whatever changed
        try:
            with observe() as seen:
                counted = _counted_call(fn, args, kwargs, state)
            moved = state.moved()
        finally:
            state.put_back(moved)
        result, traces, trace_seconds, seconds = counted
        if traces is None:
            traces, trace_seconds = seen[0].traced, seen[0].trace_seconds
            if not seen[0].recorded:
                raise RuntimeError(
                    "Traces of what is no tf.function cannot be counted while something else "
                    "records a profile: end that first"
                )
        compilations = compilations_in(log_since(position))
        compile_seconds = sum(compilation.seconds for compilation in compilations)
        self.calls.append(
            Call(
                number=len(self.calls) + 1,
                function=name_of(fn),
                traces=traces,
                compilations=len(compilations),
                trace_seconds=trace_seconds,
                compile_seconds=compile_seconds,
                run_seconds=max(0.0, seconds - trace_seconds - compile_seconds),
                reasons=reasons(fn, leaves, self._seen) if traces or compilations else (),
                changed=tuple(moved),
            )
        )
        self._seen.append((fn, leaves))
        self._changed |= {id(variable): variable for variable in moved.values()}
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
        counts = f"Calls {len(self.calls)}, traces {self.traces}, compilations {self.compilations}."
        changed = counted(len(self._changed), "variable")
        return f"{counts} Changed and put back: {changed}." if self._changed else counts

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


def _counted_call(fn, args, kwargs, state):
    """Result, traces, seconds of tracing and of all; no traces for what is no `tf.function`."""
    start = time.perf_counter()
    traces = trace_seconds = None
    if is_traced(fn):
        before = fn.experimental_get_tracing_count()
        concrete = fn.get_concrete_function(*args, **kwargs)
        traces = fn.experimental_get_tracing_count() - before
        trace_seconds = time.perf_counter() - start if traces else 0.0
        state.add(concrete.graph.variables)
    result = fn(*args, **kwargs)
    wait_for_device()
    return result, traces, trace_seconds, time.perf_counter() - start
