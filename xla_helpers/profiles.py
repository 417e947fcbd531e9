"""Record a few calls with TensorFlow's profiler, and book their seconds on layers."""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from .evidence import recorded, spans_in
from .layers import layer_at
from .state import variables_kept
from .targets import resolve
from .timing import wait_for_device

CALLS = 3  # in a recording
ONE_CALL = "one recorded call"  # the name of the event that spans a call
END = ""  # stands in place of a path where a call ends

OPERATION = re.compile(r"(?!__inference_)([^:]+):(\w+)")
"""The name of the event of an operation in a graph: its path and type. The graph itself has one."""

OUTSIDE = "not in a layer"


@dataclass(frozen=True, repr=False)
class Profile:
    """When the operations of a few calls started.

    calls: how many were recorded. starts: pairs of seconds and path, in order; a path is like
    ``model_1/dense_1/MatMul``, and empty where a call ends. An instruction of a compiled program
    has the path that it came from, or its own name; before the first operation and after the
    last stands "one recorded call".
    """

    calls: int
    starts: tuple[tuple[float, str], ...]

    def seconds_by(self, layers: Mapping[str, object]) -> Counter:
        """Seconds per call for each of `layers`, and for all that is "not in a layer".

        A layer gets the time from the start of each operation of its own to the start of the
        next one of any kind, and from the last to its own end. Where operations run side by side,
        the one that started last gets it. So nothing is booked twice, and the sum is the call.

        layers: path to layer, as `layers_of` returns them.
        """
        layer_of, seconds = cache(lambda path: layer_at(path, layers)), Counter()
        for (start, path), (end, _) in itertools.pairwise(self.starts):
            if path != END:
                seconds[layer_of(path) or OUTSIDE] += (end - start) / self.calls
        return seconds

    def __repr__(self):
        return f"Profile of {self.calls} calls, {len(self.starts)} events"


def profile(fn: Callable, *args, **kwargs) -> Profile:
    """Record three calls of ``fn(*args, **kwargs)``, called once before to be traced and compiled.

    The times are those of the processor; on a GPU they show who starts the work. Operations that
    Python starts one by one have no path: their time is in no layer. In a graph, operations that
    only hand something on, such as `Reshape`, are not recorded. A graph that ran about a hundred
    times no longer records its short operations, whose time then stands with the one before them:
    record one that is new. Introduced in notebook 06.

    fn: whatever can be called; for a SavedModel, its folder will do. Variables that the calls
    change have their values again afterwards.

    Returns: a `Profile`, in seconds.
    Raises: TypeError when `fn` cannot be called, RuntimeError while something else records a
    profile, and whatever `fn` raises.

    >>> import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(2, name="scores")
    >>> recorded = profile(tf.function(lambda x: layer(x)), tf.ones([1, 3]))
    >>> sorted(recorded.seconds_by({"scores": layer}))
    ['not in a layer', 'scores']
    """
    import tensorflow as tf

    fn = resolve(fn)
    with variables_kept(fn, *args, *kwargs.values()):
        fn(*args, **kwargs)
        with recorded() as planes:
            for _ in range(CALLS):
                with tf.profiler.experimental.Trace(ONE_CALL):
                    fn(*args, **kwargs)
                    wait_for_device()
    if planes is None:
        raise RuntimeError("Something else records a profile: end that first")
    starts = _starts(list(spans_in(planes)), _paths_of_instructions(planes))
    return Profile(CALLS, tuple((1e-12 * (start - starts[0][0]), path) for start, path in starts))


def _paths_of_instructions(planes):
    """Program and instruction to the path that it came from, of the programs in a recording."""
    from tensorflow.compiler.xla.service.hlo_pb2 import HloProto

    details = [m for p in planes if p.name == "/host:metadata" for m in p.event_metadata.values()]
    programs = (HloProto.FromString(stat.bytes_value) for one in details for stat in one.stats)
    return {
        (program.hlo_module.name, instruction.name): instruction.metadata.op_name
        for program in programs
        for computation in program.hlo_module.computations
        for instruction in computation.instructions
    }


def _starts(spans, paths):
    """Picoseconds and path of each operation in the calls, and of what frames them."""
    operations = [(span, path) for span in spans if (path := _path(span, paths))]
    starts = []
    for call in (span for span in spans if span.name == ONE_CALL):
        inside = [(x, path) for x, path in operations if call.begin <= x.begin <= call.end]
        last = min(call.end, max((x.end for x, _ in inside), default=call.end))
        starts += [(call.begin, ONE_CALL), *((x.begin, path) for x, path in inside)]
        starts += [(last, ONE_CALL), (call.end, END)]
    return sorted(starts, key=lambda start: start[0])


def _path(span, paths):
    """The path of an operation or of an instruction; None for an event that is about neither."""
    if span.module:
        return paths.get((span.module, span.name)) or span.name
    operation = OPERATION.fullmatch(span.name)
    return operation and operation[1]
