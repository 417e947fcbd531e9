"""The seconds of a call, divided among layers by when its operations started."""

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from .. import internals
from ..calls import Call
from ..evidence import recorded, spans_in
from ..timing import wait_for_device
from .layers import layer_at

OUTSIDE = "not in a layer"  # where time is booked that no layer takes
ONE_CALL = "one recorded call"  # the name of the event that spans a call

OPERATION = re.compile(r"(?!__inference_)([^:]+):(\w+)")
"""The name of the event of an operation in a graph: its path and type. The graph itself has one."""


@dataclass(frozen=True, repr=False)
class Profile:
    """When the operations of a few calls started.

    Attributes:
        calls: How many were recorded.
        starts: Pairs of seconds and path, in order; a path is like ``model_1/dense_1/MatMul``, and
            empty where a call ends. An instruction of a compiled program has the path that it came
            from, or its own name; "one recorded call" stands before the first operation and after
            the last.
    """

    calls: int
    starts: tuple[tuple[float, str], ...]

    def seconds_by(self, layers: Mapping[str, object]) -> dict[str, float]:
        """Divide the seconds of a call among layers.

        A layer gets the time from the start of each operation of its own to the start of the
        next one of any kind, and from the last to its own end. Where operations run side by side,
        the one that started last gets it. So nothing is booked twice, and the sum is the call.

        Args:
            layers: Path to layer, as `layers_of` returns them.

        Returns:
            Seconds per call for each path, and for all that is "not in a layer".
        """
        layer_of = cache(lambda path: layer_at(path, layers) or OUTSIDE)
        seconds = defaultdict[str, float](float)
        for (start, path), (end, _) in itertools.pairwise(self.starts):
            if path:
                seconds[layer_of(path)] += (end - start) / self.calls
        return seconds


def profile(fn: Callable, args=(), kwargs=None) -> Profile:
    """Record three calls of ``fn(*args, **kwargs)`` after one that traces and compiles.

    The times are those of the processor; on a GPU they show who starts the work. Operations that
    Python starts one by one have no path: their time is in no layer. In a graph, operations that
    only hand something on, such as `Reshape`, are not recorded. A graph that ran about a hundred
    times no longer records its short operations, whose time then goes to the one before them: pass
    a function that is new. Variables are restored as by `compare`.

    Args:
        fn: Anything that can be called.
        args: Its positional arguments, a tuple.
        kwargs: Its keyword arguments.

    Returns:
        A `Profile`, in seconds.

    Raises:
        TypeError: When `fn` cannot be called or `args` is not a tuple.
        RuntimeError: While something else records a profile.
        Exception: Whatever `fn` raises.

    Example:
        >>> import tensorflow as tf
        >>> layer = tf.keras.layers.Dense(2, name="scores")
        >>> recorded = profile(tf.function(lambda x: layer(x)), (tf.ones([1, 3]),))
        >>> sorted(recorded.seconds_by({"scores": layer}))
        ['not in a layer', 'scores']
    """
    import tensorflow as tf

    call = Call(fn, args, kwargs)
    with call.variables_restored():
        call()
        with recorded() as planes:
            for _ in range(3):
                with tf.profiler.experimental.Trace(ONE_CALL):
                    call()
                    wait_for_device()
    if not planes:
        raise RuntimeError(
            "Nothing was recorded. Does something else record a profile? Is there a temporary "
            "folder, with room in it?"
        )
    starts = _starts(list(spans_in(planes)), _paths_of_instructions(planes))
    return Profile(3, tuple((1e-12 * (start - starts[0][0]), path) for start, path in starts))


def _paths_of_instructions(planes):
    """Program and instruction to the path that it came from, of the programs in a recording."""
    details = [m for p in planes if p.name == "/host:metadata" for m in p.event_metadata.values()]
    modules = [internals.hlo_of(stat.bytes_value) for one in details for stat in one.stats]
    parts = [(m.name, one) for m in modules for part in m.computations for one in part.instructions]
    return {(module, one.name): one.metadata.op_name for module, one in parts}


def _starts(spans, paths):
    """Picoseconds and path of each operation in the calls, and of what frames them."""
    operations = [(span, path) for span in spans if (path := _path(span, paths))]
    starts = []
    for call in (span for span in spans if span.name == ONE_CALL):
        inside = [(x, path) for x, path in operations if call.begin <= x.begin <= call.end]
        last = min(call.end, max((x.end for x, _ in inside), default=call.end))
        starts += [(call.begin, ONE_CALL), *((x.begin, path) for x, path in inside)]
        starts += [(last, ONE_CALL), (call.end, "")]
    return sorted(starts, key=lambda start: start[0])


def _path(span, paths):
    """The path of an operation or of an instruction; None for an event that is about neither."""
    if span.module:
        return paths.get((span.module, span.name)) or span.name
    operation = OPERATION.fullmatch(span.name)
    return operation and operation[1]
