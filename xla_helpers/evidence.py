"""What ran in a block, as TensorFlow's profiler recorded it."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from . import internals
from .modes import mode_of
from .tables import pluralize

# Names of events, or parts of them.
PROGRAM = "Executable::ExecuteAsyncOnStream"  # a program of XLA, on any device
EAGER_OPERATION = "EagerLocalExecute: "  # begins that of what Python starts, operation or graph

RANDOM = re.compile(
    r"(?!.*(Dataset|GetAlg|GetKeyCounter|FullInt))\w*(Random|Multinomial|CandidateSampler|TruncatedNormal"
    r"|StandardNormal|StatefulUniform|SampleDistorted|StatelessShuffle)\w*"
)
"""Operations that draw random numbers, without those that only prepare a seed."""


class Span(NamedTuple):
    """An event: its name, and the picoseconds at which it begins and ends.

    module: the program of XLA that it is an instruction of.
    """

    name: str
    begin: int
    end: int
    module: str = ""


def nodes_in(graph: Any) -> Iterator[Any]:
    """Each node (`NodeDef`) of a graph, and of the functions that it can call."""
    definition = graph.as_graph_def()
    yield from definition.node
    for function in definition.library.function:
        yield from function.node_def


def draws_in(graph: Any) -> tuple[str, ...]:
    """The types of the operations of a graph that draw random numbers.

    None are known of a graph that holds more than two gigabytes of constants.
    """
    with suppress(ValueError):
        return _random_among({node.op for node in nodes_in(graph)})
    return ()


def _random_among(kinds):
    return tuple(sorted(filter(RANDOM.fullmatch, kinds)))


@contextmanager
def recorded() -> Iterator[list]:
    """Record what runs in a block.

    Yields:
        A list, which holds the planes of the recording (`XPlane` of tsl/profiler/protobuf) when the
        block has ended. It stays empty where nothing can be recorded: while something else records,
        and without a temporary folder, or room in it.
    """
    import tensorflow as tf

    planes: list = []
    with ExitStack() as stack:
        failures = OSError, ValueError, tf.errors.OpError
        try:
            folder = stack.enter_context(TemporaryDirectory(ignore_cleanup_errors=True))
            tf.profiler.experimental.start(folder)
        except failures:
            folder = ""
        try:
            yield planes
        finally:
            with suppress(*failures):
                if folder:
                    tf.profiler.experimental.stop()
        with suppress(*failures):
            if folder:
                [file] = Path(folder).rglob("*.xplane.pb")
                planes += internals.recording(file.read_bytes()).planes


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
        counts = [pluralize(number, what) for what, number in parts.items() if number]
        return ", ".join(counts) or "nothing of TensorFlow"

    def is_as_labelled(self, label: str) -> bool:
        """Whether it is known, and the mode with which a label begins; any, where none does."""
        mode = mode_of(label)
        return mode is None or (self.programs is not None and not self.unlike(mode))

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
        TensorFlow, and where nothing can be recorded.
    """
    seen: list[Evidence] = []
    if "tensorflow" not in sys.modules:
        yield seen
        seen.append(Evidence())
        return
    with recorded() as planes:
        yield seen
    seen.append(_evidence(list(spans_in(planes))) if planes else Evidence())


def _evidence(spans):
    names = [span.name for span in spans]
    run = [n.removeprefix(EAGER_OPERATION) for n in names if n.startswith(EAGER_OPERATION)]
    operations = [n for n in run if internals.is_operation(n) and n != "SyncDevice"]
    # An operation in a graph is named PATH:TYPE, and one that Python starts by its type alone.
    kinds = {name.removeprefix(EAGER_OPERATION).rpartition(":")[2] for name in names}
    graphs, drawn = names.count("FunctionRun"), _random_among(kinds)
    return Evidence(len(operations), graphs, _programs(spans), drawn)


def _programs(spans):
    """How many programs of XLA ran. TensorFlow 2.20 records their instructions alone.

    Of these, some stand outside of loops and run once in each run of the program.
    """
    times = Counter((span.module, span.name) for span in spans if span.module)
    runs: dict[str, int] = {}
    for (module, _), count in times.items():
        runs[module] = min(count, runs.get(module, count))
    return sum(PROGRAM in span.name for span in spans) or sum(runs.values())
