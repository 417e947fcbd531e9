"""What the first calls of a candidate cost: traces, compilations, memory."""

import functools
import gc
import time
from collections.abc import Callable

import psutil

from ..errors import headline
from ..logs import compilations_are_logged, compilations_in, log_end, log_since
from ..state import Variables
from ..tables import counted
from ..timing import time_first_call
from ..trials import refuse_what_aborts
from ..watching import resident
from .batches import Example
from .findings import PADDED, Findings, FirstCall, FirstCalls
from .plan import Case, Order, described

BY_VALUE = (
    "Programs for other values: called again with other values in arguments of one shape, "
    "XLA compiled again, so there may be more programs than shapes."
)


def first_calls(case: Case, order: Order, report: Callable[[Findings], None]) -> None:
    """Call `order.label` for the first time with each shape, in one process.

    TensorFlow itself has started by then, which is charged to no candidate. Variables that a call
    changes have their values again afterwards. For padded arguments it is XLA itself that is
    called, with arguments padded beforehand. Nothing is reported twice but the `FirstCalls`, of
    which the last one counts.
    """
    padded = order.label == PADDED
    examples = case.padded if padded else case.examples
    shapes = range(len(examples)) if padded else order.shapes
    fn = case.candidate("XLA" if padded else order.label)
    _start_tensorflow()
    found, end = FirstCalls(order.label, _memory()), time.perf_counter() + order.seconds
    for done, shape in enumerate(shapes):
        if done and time.perf_counter() >= end:
            report(Findings(left_out=(_not_called(order.label, len(shapes) - done),)))
            break
        call = first_call(fn, examples[shape], shape)
        found = FirstCalls(found.label, found.memory, (*found.calls, call))
        report(Findings(first=(found,)))
    report(Findings(left_out=_by_value(case, order, fn)))
    report(Findings(plan=described(case), left_out=_uncounted(order.label)))


@functools.cache
def _start_tensorflow():
    """Trace and compile something tiny, once: what comes first in a process takes longer."""
    import tensorflow as tf

    def add_one(x):
        return x + 1

    for compiled in (None, True):
        tf.function(add_one, jit_compile=compiled)(tf.constant(1))


def first_call(fn: Callable, example: Example, shape: int) -> FirstCall:
    """What a call of `fn` costs and causes; an error is part of it, and so is its time.

    Python collects its garbage before, so that a call pays for none that others left.
    """
    variables, position = Variables(), _log_end()
    gc.collect()
    trace, call, traces, error = 0.0, 0.0, 0, ""
    start = time.perf_counter()
    try:
        with variables.adopting():
            trace, traces = _traced(fn, example, variables)
            call, _ = time_first_call(fn, example.args, example.kwargs)
    except Exception as raised:  # whatever a reader's function raises
        error, call = headline(raised), time.perf_counter() - start - trace
    finally:
        variables.put_back()
    compiled = compilations_in(log_since(position)) if position is not None else []
    return FirstCall(
        shape=shape,
        seconds=trace + call,
        traces=traces,
        compilations=len(compiled),
        trace_seconds=trace if traces else 0.0,
        compile_seconds=sum(one.seconds for one in compiled),
        memory=_memory(),
        error=error,
    )


def _traced(fn, example, variables):
    """The seconds in which a `tf.function` finds or makes the graph of a call, and its traces."""
    if not hasattr(fn, "experimental_get_tracing_count"):
        return 0.0, 0
    before = fn.experimental_get_tracing_count()
    find = fn.get_concrete_function
    seconds, concrete = time_first_call(find, example.args, example.kwargs)
    variables.adopt_made()
    if getattr(fn, "_jit_compile", None):
        refuse_what_aborts(concrete.graph)
    return seconds, fn.experimental_get_tracing_count() - before


def _log_end():
    """The end of TensorFlow's log; None where it says nothing of compilations."""
    return log_end() if compilations_are_logged() else None


def _memory():
    """Bytes that this process holds."""
    return resident(psutil.Process())


def _by_value(case, order, fn):
    """A sentence when XLA compiles again for a shape that it knows, because values are others."""
    other = case.others[order.shapes[0]] if order.label == "XLA" and case.others else None
    if other is None or not first_call(fn, other, order.shapes[0]).compilations:
        return ()
    return (BY_VALUE,)


def _not_called(label, number):
    return f"First calls of {label} with {counted(number, 'shape')}: the time was up."


def _uncounted(label):
    if compilations_are_logged() or label in ("eager", "graph"):
        return ()
    return ("Compilations were not counted: TensorFlow's log is not kept in this process.",)
