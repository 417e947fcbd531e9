"""What TensorFlow's profiler records: what ran, and the seconds of layers."""

import itertools
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .calls import Call, variables_restored
from .operations import RANDOM, layer_at
from .tables import counted
from .timing import wait_for_device

# Names of events, or parts of them.
PROGRAM = "Executable::ExecuteAsyncOnStream"  # a program of XLA, on any device
EAGER_OPERATION = "EagerLocalExecute: "  # begins that of what Python starts, operation or graph

ONE_CALL = "one recorded call"  # the name of the event that spans a call

OPERATION = re.compile(r"(?!__inference_)([^:]+):(\w+)")
"""The name of the event of an operation in a graph: its path and type. The graph itself has one."""


class Span(NamedTuple):
    """An event: its name, and the picoseconds at which it begins and ends.

    module: the program of XLA that it is an instruction of.
    """

    name: str
    begin: int
    end: int
    module: str = ""


@contextmanager
def recorded() -> Iterator[list | None]:
    """Record what runs in a block.

    Yields:
        A list, which holds the planes of the recording (`XPlane` of tsl/profiler/protobuf) when the
        block has ended; None while something else records.
    """
    import tensorflow as tf
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    planes: list = []
    with TemporaryDirectory() as folder:
        try:
            tf.profiler.experimental.start(folder)
        except tf.errors.OpError:
            yield None
            return
        try:
            yield planes
        finally:
            tf.profiler.experimental.stop()
        [file] = Path(folder).rglob("*.xplane.pb")
        planes += XSpace.FromString(file.read_bytes()).planes


def spans_in(planes) -> Iterator[Span]:
    """Every event of a recording."""
    for plane in planes:
        names = {number: kind.name for number, kind in plane.stat_metadata.items()}
        for line in plane.lines:
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                begin = 1000 * line.timestamp_ns + event.offset_ps
                mine = (x for x in event.stats if names[x.metadata_id] == "hlo_module")
                module = [x.str_value or names.get(x.ref_value, "") for x in mine]
                yield Span(name, begin, begin + event.duration_ps, *module)


@dataclass(frozen=True)
class Evidence:
    """What a call ran, as TensorFlow's profiler recorded it.

    Attributes:
        eager: Operations that Python started one by one.
        graphs: Graphs that Python started.
        programs: Programs of XLA that ran, each time counted; None when nothing was recorded.
        random_ops: Types of the operations that drew random numbers; inside XLA's programs they
            cannot be seen.
    """

    eager: int = 0
    graphs: int = 0
    programs: int | None = None
    random_ops: tuple[str, ...] = ()

    @property
    def mode(self) -> str:
        """ "XLA" when a program of XLA ran, otherwise "graph" or "eager"."""
        return "XLA" if self.programs else "graph" if self.graphs else "eager"

    def __str__(self):
        if self.programs is None:
            return ""
        parts = {"operation": self.eager, "graph": self.graphs, "XLA program": self.programs}
        said = [counted(number, what) for what, number in parts.items() if number]
        return ", ".join(said) or "nothing of TensorFlow"

    def unlike(self, mode: str | None) -> str:
        """Why this is not the mode that a label names; "" when it is, or nothing was seen."""
        if self.programs is None or mode in (None, self.mode):
            return ""
        has_own = {"eager": self.eager, "graph": self.graphs, "XLA": 0}[str(mode)]
        return f"not {mode}{' alone' if has_own else ''}: {self.mode} ran"


@contextmanager
def observe() -> Iterator[list[Evidence]]:
    """Record what runs in a block.

    Yields:
        A list, which holds one `Evidence` when the block has ended: an empty one without
        TensorFlow, and while another profile is being made.
    """
    seen: list[Evidence] = []
    if "tensorflow" not in sys.modules:
        yield seen
        seen.append(Evidence())
        return
    with recorded() as planes:
        yield seen
    seen.append(Evidence() if planes is None else _evidence(list(spans_in(planes))))


def _evidence(spans):
    from tensorflow.python.framework import op_def_registry

    names = [span.name for span in spans]
    run = [n.removeprefix(EAGER_OPERATION) for n in names if n.startswith(EAGER_OPERATION)]
    operations = [n for n in run if op_def_registry.get(n) and n != "SyncDevice"]
    # An operation in a graph is named PATH:TYPE, and one that Python starts by its type alone.
    kinds = {name.removeprefix(EAGER_OPERATION).rpartition(":")[2] for name in names}
    drawn = tuple(sorted(filter(RANDOM.fullmatch, kinds)))
    return Evidence(len(operations), names.count("FunctionRun"), _programs(spans), drawn)


def _programs(spans):
    """How many programs of XLA ran. TensorFlow 2.20 records their instructions alone.

    Of these, some stand outside of loops and run once in each run of the program.
    """
    times = Counter((span.module, span.name) for span in spans if span.module)
    runs: dict[str, int] = {}
    for (module, _), count in times.items():
        runs[module] = min(count, runs.get(module, count))
    return sum(PROGRAM in span.name for span in spans) or sum(runs.values())


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
        layer_of = cache(lambda path: layer_at(path, layers))
        seconds: dict[str, float] = defaultdict(float)
        for (start, path), (end, _) in itertools.pairwise(self.starts):
            if path:
                seconds[layer_of(path) or "not in a layer"] += (end - start) / self.calls
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
        TypeError: When `fn` cannot be called or `args` is no tuple.
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
    with variables_restored(call):
        call()
        with recorded() as planes:
            for _ in range(3):
                with tf.profiler.experimental.Trace(ONE_CALL):
                    call()
                    wait_for_device()
    if planes is None:
        raise RuntimeError("Something else records a profile: end that first")
    starts = _starts(list(spans_in(planes)), _paths_of_instructions(planes))
    return Profile(3, tuple((1e-12 * (start - starts[0][0]), path) for start, path in starts))


def _paths_of_instructions(planes):
    """Program and instruction to the path that it came from, of the programs in a recording."""
    from tensorflow.compiler.xla.service.hlo_pb2 import HloProto

    details = [m for p in planes if p.name == "/host:metadata" for m in p.event_metadata.values()]
    programs = (HloProto.FromString(stat.bytes_value) for one in details for stat in one.stats)
    modules = [program.hlo_module for program in programs]
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
