"""Record a few calls with TensorFlow's profiler, and book their seconds on the parts of a model."""

import itertools
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from .timing import wait_for_device
from .validation import check_callable, check_positive

CALLS = 3  # calls in a recording
ONE_CALL = "one recorded call"  # the name of the event that spans a call
END = ""  # stands in place of a path where a call ends
NUMBER = re.compile(r"_\d+$")  # what TensorFlow adds to a name that is taken


@dataclass(frozen=True, repr=False)
class Profile:
    """When the operations of a few calls started.

    calls: how many were recorded. starts: pairs of seconds and path, in order; a path is like
    ``model_1/dense_1/MatMul``, and empty where a call ends. module: the largest compiled
    program that ran, an `HloModuleProto` (xla/service/hlo.proto), or None.
    """

    calls: int
    starts: tuple[tuple[float, str], ...]
    module: object = None

    def seconds_by(self, names: Collection[str]) -> Counter:
        """Seconds per call for each of `names`, which are parts of paths, such as layers.

        Each gets the time from the start of an operation of its own to the start of the next
        operation of any of them, or to the end of the call. Where operations run side by side,
        the one that started last gets it. So nothing is booked twice.
        """
        parts = [(start, part_of(path, names), path) for start, path in self.starts]
        known = [(start, name) for start, name, path in parts if name or path == END]
        seconds = Counter()
        for (start, name), (end, _) in itertools.pairwise(known):
            if name:
                seconds[name] += (end - start) / self.calls
        return seconds

    def __repr__(self):
        return f"Profile of {self.calls} calls, {len(self.starts)} events"


def profile(fn: Callable, *args, calls: int = CALLS) -> Profile:
    """Record ``fn(*args)``, called once before so that it is traced and compiled.

    An operation of a graph is recorded under its own path, an instruction of a compiled program
    under the path that it came from. The times are those of the processor; on a GPU they show who
    starts the work. Introduced in notebook 06.

    calls: how many to record, one after the other.

    Returns: a `Profile`, in seconds.
    Raises: TypeError when `fn` cannot be called, ValueError when `calls` is not positive, and
    whatever `fn` raises.

    >>> import tensorflow as tf
    >>> layer = tf.keras.layers.Dense(2, name="scores")
    >>> recorded = profile(tf.function(lambda x: layer(x)), tf.ones([1, 3]), calls=2)
    >>> list(recorded.seconds_by(["scores"]))
    ['scores']
    """
    import tensorflow as tf

    check_callable(fn)
    check_positive("calls", calls)
    fn(*args)
    with tempfile.TemporaryDirectory() as folder:
        with tf.profiler.experimental.Profile(folder):
            for _ in range(calls):
                with tf.profiler.experimental.Trace(ONE_CALL):
                    fn(*args)
                    wait_for_device()
        return _read(Path(folder), calls)


def part_of(path: str, names: Collection[str]) -> str | None:
    """The first part of a path that is one of `names`; None when there is none.

    TensorFlow adds a number to names that are taken, which is looked past.
    Introduced in notebook 06.

    >>> part_of("model_1/dense_1/MatMul", ["dense", "flatten"])
    'dense'
    """
    parts = [NUMBER.sub("", part) for part in path.split("/")]
    return next((part for part in parts if part in names), None)


def _read(folder, calls):
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    [file] = folder.rglob("*.xplane.pb")
    planes = XSpace.FromString(file.read_bytes()).planes
    module = _largest_program(planes)
    computations = module.computations if module else ()
    origins = {i.name: i.metadata.op_name for c in computations for i in c.instructions}
    events = sorted(_events(planes, origins))
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


def _events(planes, origins):
    """Start in picoseconds and path of every event, and the end of each call."""
    for plane in planes:
        for line in plane.lines:
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                start = 1000 * line.timestamp_ns + event.offset_ps
                if name == ONE_CALL:
                    yield start + event.duration_ps, END
                else:
                    yield start, (origins.get(name) or name).split(":")[0]
