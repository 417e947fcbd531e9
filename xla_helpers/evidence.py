"""What TensorFlow's profiler records, and what that says of a call: what really ran."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .logs import compilations_are_logged, run_probe, watch_compilations
from .operations import DRAWS
from .state import started
from .tables import counted

# Names of events, or parts of them.
EAGER_OPERATION = "EagerLocalExecute: "  # begins that of what Python starts, operation or graph
OWN_OPERATION = "SyncDevice"  # with which `timing` waits for the device
GRAPH = "FunctionRun"
PROGRAM = "Executable::ExecuteAsyncOnStream"  # a program of XLA, on any device


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

    Yields: a list, which holds the planes of the recording, `XPlane` of tsl/profiler/protobuf, when
    the block has ended; None where nothing can be recorded because somebody else records.
    """
    import tensorflow as tf
    from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

    planes = []
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
                module = [
                    stat.str_value or names.get(stat.ref_value, "")
                    for stat in event.stats
                    if names[stat.metadata_id] == "hlo_module"
                ]
                yield Span(name, begin, begin + event.duration_ps, *module)


@dataclass(frozen=True)
class Evidence:
    """What one call ran, as TensorFlow's profiler recorded it.

    eager: operations that Python started one by one. graphs: graphs that Python started.
    programs: programs of XLA that ran, each time counted; None when that cannot be seen here.
    compiled: programs that XLA compiled in the call; None when they cannot be counted. draws: name
    and type of the operations, in graphs and one by one, that drew random numbers.
    """

    eager: int = 0
    graphs: int = 0
    programs: int | None = None
    compiled: int | None = None
    draws: tuple[tuple[str, str], ...] = ()

    @property
    def seen(self) -> bool:
        """Whether anything could be recorded."""
        return self.programs is not None or bool(self.compiled)

    @property
    def mode(self) -> str:
        """ "XLA" when a program of XLA ran or was compiled, otherwise "graph" or "eager"."""
        return "XLA" if self.programs or self.compiled else "graph" if self.graphs else "eager"

    def __str__(self):
        if not self.seen:
            return ""
        programs = self.programs or self.compiled
        parts = {"operation": self.eager, "graph": self.graphs, "XLA program": programs}
        said = [counted(number, what) for what, number in parts.items() if number]
        return ", ".join(said) or "nothing of TensorFlow"

    def unlike(self, mode: str) -> str:
        """A reason why this is not what a label says; empty when it is, or when nothing was seen.

        mode: what the label says, "eager", "graph" or "XLA".
        """
        if not self.seen or self.mode == mode:
            return ""
        if mode == "XLA":
            return "not XLA: no compiled program ran"
        ran = {"XLA": "XLA ran", "graph": "a graph ran", "eager": "it ran eagerly"}[self.mode]
        has_own = self.graphs if mode == "graph" else self.eager
        return f"not {mode} alone: {ran} inside" if has_own else f"not {mode}: {ran}"


@contextmanager
def observe() -> Iterator[list[Evidence]]:
    """Record what runs in a block.

    Yields: a list, which holds one `Evidence` when the block has ended. It is an empty one where
    nothing could be recorded, such as while another profile is being made.
    """
    seen = []
    if not started():
        yield seen
        seen.append(Evidence())
        return
    watched = watch_compilations() if compilations_are_logged() else nullcontext()
    with recorded() as planes, watched as compiled:
        yield seen
    found = Evidence() if planes is None else _evidence(list(spans_in(planes)))
    seen.append(replace(found, compiled=None if compiled is None else len(compiled)))


def _evidence(spans):
    from tensorflow.python.framework import op_def_registry

    names = [span.name for span in spans]
    run = [n.removeprefix(EAGER_OPERATION) for n in names if n.startswith(EAGER_OPERATION)]
    operations = [n for n in run if op_def_registry.get(n) and n != OWN_OPERATION]
    # An operation in a graph is named PATH:TYPE, and one that Python starts by its type alone.
    paths = [name.removeprefix(EAGER_OPERATION).rpartition(":") for name in names]
    return Evidence(
        eager=len(operations),
        graphs=names.count(GRAPH),
        programs=_programs(spans) if _programs_are_seen() else None,
        draws=tuple(dict.fromkeys((path, kind) for path, _, kind in paths if kind in DRAWS)),
    )


def _programs(spans):
    """How many programs of XLA ran. TensorFlow 2.20 records their instructions alone.

    Of these, some stand outside of loops and run once in each run of the program.
    """
    times = Counter((span.module, span.name) for span in spans if span.module)
    runs = {}
    for (module, _), count in times.items():
        runs[module] = min(count, runs.get(module, count))
    return sum(PROGRAM in span.name for span in spans) or sum(runs.values())


@cache
def _programs_are_seen() -> bool:
    """Run something tiny that is compiled, once, and look for it: the only proof of a name."""
    with recorded() as planes:
        run_probe()
    return _programs(list(spans_in(planes or ()))) > 0
