"""Whether results are equal: the graph is the reference, and eager mode a late witness."""

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from xla_helpers.calls import Call
from xla_helpers.differences import as_arrays, largest
from xla_helpers.first_calls import FirstCalls
from xla_helpers.outcomes import FirstCall, differences_between
from xla_helpers.timing import timed
from xla_helpers.variables import Snapshot

ROUNDED = 0.1  # relative: where all three are farther apart, it is not rounding
FEW_TIMES = 3  # as far from eager mode as the graph is: so far XLA may be from both


def ask_eager(call: Call, snapshot: Snapshot, seconds: float) -> FirstCall:
    """What a call does eagerly, within so many seconds; an error is an outcome, and so is time."""
    try:
        with time_limit(seconds):
            took, returned = timed(call)
            return FirstCall(took, as_arrays(returned), snapshot.changed())
    except Exception as error:  # whatever a reader's function raises
        return FirstCall(error=error)
    finally:
        snapshot.restore()


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after so many seconds.

    It comes between two steps of Python, and only in the main thread of a system with signals;
    elsewhere there is no limit.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not (is_main and hasattr(signal, "setitimer")):
        yield
        return

    def ring(number, frame):
        raise TimeoutError(f"it took longer than {seconds:g} s")

    before, start = signal.signal(signal.SIGALRM, ring), time.monotonic()
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:  # a timer of the caller's, which may be late already
            rest = max(1e-6, left - (time.monotonic() - start))
            signal.setitimer(signal.ITIMER_REAL, rest, interval)


def is_as_close(first_calls: FirstCalls, eager: FirstCall) -> bool:
    """Whether XLA is about as close to eager mode as the graph is, wherever they differ.

    Where the graph equals eager mode, the tolerance alone decides.
    """
    graph, xla = (first_calls.outcomes[mode] for mode in ("graph", "XLA"))
    if eager.error or graph.error or xla.error:
        return False

    def by_place(outcome, reference):
        return {
            x.place: x.size for x in differences_between(outcome, reference, first_calls.snapshot)
        }

    ours, theirs, between = by_place(xla, eager), by_place(graph, eager), by_place(xla, graph)
    with suppress(KeyError):  # parts that only one of them has
        return all(
            size <= first_calls.tolerance
            or (
                ours[place] <= max(first_calls.tolerance, FEW_TIMES * theirs[place])
                and ours[place] < math.inf
            )
            for place, size in between.items()
        )
    return False


def three_results(first_calls: FirstCalls, eager: FirstCall) -> str:
    """How far XLA is from eager mode, in words, where all three are too far apart for rounding."""
    outcomes = (first_calls.outcomes["XLA"], first_calls.outcomes["graph"])
    xla, graph = (largest(differences_between(x, eager, first_calls.snapshot)) for x in outcomes)
    between = largest(differences_between(*outcomes, first_calls.snapshot))
    if min(xla.size, graph.size, between.size) < ROUNDED:
        return ""
    return f"graph, XLA and eager mode give three results (XLA and the graph: {between})"
