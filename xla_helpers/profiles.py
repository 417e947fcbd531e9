"""Record a few calls with TensorFlow's profiler, and book their seconds on layers."""

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from .layers import finder
from .recordings import OPERATION, planes_in, spans_in
from .state import variables_kept
from .targets import resolve
from .timing import wait_for_device
from .validation import check_positive

CALLS = 3  # calls in a recording
ONE_CALL = "one recorded call"  # the name of the event that spans a call
END = ""  # stands in place of a path where a call ends

NOT_IN_A_LAYER = "not in a layer"
"""Where `Profile.seconds_by` books what belongs to no layer, such as the start of a call."""


@dataclass(frozen=True, repr=False)
class Profile:
    """When the operations of a few calls started.

    calls: how many were recorded. starts: pairs of seconds and path, in order; a path is like
    ``model_1/dense_1/MatMul``, and empty where a call ends. An instruction of a compiled program
    has the path that it came from, or its own name; before the first operation and after the
    last stands "one recorded call". module: the largest compiled program that ran, an
    `HloModuleProto` (xla/service/hlo.proto), or None.
    """

    calls: int
    starts: tuple[tuple[float, str], ...]
    module: object = None

    @property
    def seconds(self) -> float:
        """Seconds per call, with all that is between the operations."""
        return sum(self.seconds_by({}).values())

    def seconds_by(self, layers: Mapping[str, object]) -> Counter:
        """Seconds per call for each of `layers`, and for all that is "not in a layer".

        A layer gets the time from the start of each operation of its own to the start of the
        next one of any kind, and from the last to its own end. Where operations run side by side,
        the one that started last gets it. So nothing is booked twice, and the sum is the call.

        layers: path to layer, as `layers_of` returns them.
        """
        layer_of = finder(layers)
        seconds = Counter()
        for (start, path), (end, _) in itertools.pairwise(self.starts):
            if path != END:
                seconds[layer_of(path) or NOT_IN_A_LAYER] += (end - start) / self.calls
        return seconds

    def __repr__(self):
        return f"Profile of {self.calls} calls, {len(self.starts)} events"


def profile(fn: Callable, *args, calls: int = CALLS, **kwargs) -> Profile:
    """Record ``fn(*args, **kwargs)``, called once before so that it is traced and compiled.

    An operation of a graph is recorded under its own path, an instruction of a compiled program
    under the path that it came from. The times are those of the processor; on a GPU they show who
    starts the work. Operations that Python starts one by one have no path: their time is in no
    layer. In a graph, operations that only hand something on, such as `Reshape`, are not recorded.
    A graph that ran about a hundred times no longer records its short operations, whose
    time then stands with the one before them: record one that is new. Introduced in notebook 06.

    fn: whatever can be called; for a SavedModel, its folder will do. Variables that the calls
    change have their values again afterwards. calls: how many to record, one after the other.

    Returns: a `Profile`, in seconds.
    Raises: TypeError when `fn` cannot be called, ValueError when `calls` is not positive, and
    whatever `fn` raises.

    >>> import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(2, name="scores")
    >>> recorded = profile(tf.function(lambda x: layer(x)), tf.ones([1, 3]), calls=2)
    >>> sorted(recorded.seconds_by({"scores": layer}))
    ['not in a layer', 'scores']
    """
    import tensorflow as tf

    fn = resolve(fn)
    check_positive("calls", calls)
    with variables_kept(fn), tempfile.TemporaryDirectory() as folder:
        fn(*args, **kwargs)
        with tf.profiler.experimental.Profile(folder):
            for _ in range(calls):
                with tf.profiler.experimental.Trace(ONE_CALL):
                    fn(*args, **kwargs)
                    wait_for_device()
        return _read(Path(folder), calls)


def _read(folder, calls):
    planes = planes_in(folder)
    module = _largest_program(planes)
    computations = module.computations if module else ()
    instructions = {i.name: i for c in computations for i in c.instructions}
    recorded = list(_calls(planes, instructions))
    events = sorted(itertools.chain(*itertools.starmap(_starts, recorded)), key=itemgetter(0))
    first = events[0][0] if events else 0
    starts = tuple(((start - first) / 1e12, path) for start, path in events)
    return Profile(calls, starts, module)


def _largest_program(planes):
    """Of the programs that are named by an event; the recording also holds those that wait."""
    from tensorflow.compiler.xla.service.hlo_pb2 import HloProto

    details = [m for p in planes if p.name == "/host:metadata" for m in p.event_metadata.values()]
    stats = sorted((stat.bytes_value for detail in details for stat in detail.stats), key=len)
    programs = [HloProto.FromString(stat).hlo_module for stat in stats]
    mentioned = {m.name for plane in planes for m in plane.stat_metadata.values()}
    return next((program for program in reversed(programs) if program.name in mentioned), None)


class _Operation(NamedTuple):
    """One that ran: its path, and when, in picoseconds."""

    path: str
    begin: int
    end: int


def _calls(planes, instructions):
    """Begin and end of each call in picoseconds, and the operations that began in between."""
    spans = list(spans_in(planes))
    found = [operation for span in spans if (operation := _operation(span, instructions))]
    for call in spans:
        if call.name == ONE_CALL:
            inside = [operation for operation in found if call.begin <= operation.begin <= call.end]
            yield call.begin, call.end, inside


def _operation(span, instructions):
    """What an event says of an operation, or of an instruction; None when it is about neither."""
    if span.name in instructions:
        path = instructions[span.name].metadata.op_name or span.name
        return _Operation(path, span.begin, span.end)
    inner = OPERATION.fullmatch(span.name)
    return inner and _Operation(inner[1], span.begin, span.end)


def _starts(begin, end, operations):
    """Start in picoseconds and path of each operation of a call, and of what frames them."""
    yield begin, ONE_CALL
    for operation in operations:
        yield operation.begin, operation.path
    yield min(end, max((operation.end for operation in operations), default=end)), ONE_CALL
    yield end, END
