"""What a call really ran: operations one by one, graphs, programs of XLA."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from .logs import compilations_are_logged, compilations_in, log_end, log_since, run_probe
from .operations import DRAWS
from .recordings import EAGER_OPERATION, OWN_OPERATION, recorded
from .state import started
from .tables import counted

NOTHING = "nothing of TensorFlow"
GRAPH = "FunctionRun"  # the name of the event that spans a graph
RUNNING = "EagerKernelExecute"  # spans what one operation or one graph does, compiling included
PROGRAM = "Executable::ExecuteAsyncOnStream"  # part of the name of a program's event, any device
MODULE = "hlo_module"  # what the event of an instruction of XLA says: the program that it is of
FUNCTION_CALL = "tf_function_call"  # what the event of a `tf.function` says of itself
SAID = (FUNCTION_CALL, MODULE)


@dataclass(frozen=True)
class Evidence:
    """What one call ran, as TensorFlow's profiler recorded it.

    eager: operations that Python started one by one. graphs: graphs that Python started.
    programs: programs of XLA that ran, each time counted; None when that cannot be seen here.
    compiled: programs that XLA compiled in the call; None when they cannot be counted.
    traced: calls of a `tf.function` that traced it, and perhaps others inside. trace_seconds:
    what these took beside running and compiling. draws: name and type of the operations, in
    graphs and one by one, that drew random numbers. recorded: False where nothing could be.
    """

    eager: int = 0
    graphs: int = 0
    programs: int | None = None
    compiled: int | None = None
    traced: int = 0
    trace_seconds: float = 0.0
    draws: tuple[tuple[str, str], ...] = ()
    recorded: bool = False

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
        parts = {"operation": self.eager, "graph": self.graphs}
        parts["XLA program"] = self.programs or self.compiled
        return ", ".join(counted(n, what) for what, n in parts.items() if n) or NOTHING

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


class Event(NamedTuple):
    """Something that TensorFlow did.

    call: such as "traced-xla", for a call of a `tf.function`; nothing for anything else. module:
    the program of XLA that it is an instruction of. thread: where. start, end: seconds.
    """

    name: str
    call: str
    module: str
    thread: tuple
    start: float
    end: float

    def inside(self, other: "Event") -> bool:
        """Whether it is a part of another one, in the same thread."""
        held = other.start <= self.start and self.end <= other.end
        return held and self is not other and self.thread == other.thread


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
    position = log_end() if compilations_are_logged() else None
    with recorded(SAID) as spans:
        yield seen
    compiled = None if position is None else len(compilations_in(log_since(position)))
    found = Evidence() if spans is None else _evidence(_events(spans))
    seen.append(replace(found, compiled=compiled))


def _evidence(events):
    from tensorflow.python.framework import op_def_registry

    names = [event.name for event in events]
    run = [n.removeprefix(EAGER_OPERATION) for n in names if n.startswith(EAGER_OPERATION)]
    known = [name for name in run if op_def_registry.get(name) and name != OWN_OPERATION]
    traced = _outermost([event for event in events if event.call.startswith("traced")])
    return Evidence(
        eager=len(known),
        graphs=names.count(GRAPH),
        programs=_programs(events) if _programs_are_seen() else None,
        traced=len(traced),
        trace_seconds=sum(_beside_running(event, events) for event in traced),
        draws=tuple(dict.fromkeys(_draws(names))),
        recorded=True,
    )


def _outermost(events):
    """Without those that lie inside another one: a trace of one function may trace others."""
    outer = []
    for event in sorted(events, key=lambda e: (e.thread, e.start, -e.end)):
        if not (outer and event.inside(outer[-1])):
            outer.append(event)
    return outer


def _beside_running(call, events):
    """Seconds of a call of a `tf.function` without those in which its graph was compiled or ran."""
    running = [e for e in events if e.name == RUNNING and e.inside(call)]
    running = sum(e.end - e.start for e in _outermost(running))
    return max(0.0, call.end - call.start - running)


def _draws(names):
    """An event of an operation is named NAME:TYPE in a graph, and by its type alone elsewhere."""
    for name in names:
        path, _, kind = name.removeprefix(EAGER_OPERATION).rpartition(":")
        if kind in DRAWS:
            yield path, kind


def _programs(events):
    """How many programs of XLA ran. TensorFlow 2.20 records their instructions alone."""
    return sum(PROGRAM in event.name for event in events) or _programs_by_instruction(events)


def _programs_by_instruction(events):
    """Instructions outside of loops run once in each run of a program, all others more often."""
    times = Counter((event.module, event.name) for event in events if event.module)
    runs = {}
    for (module, _), count in times.items():
        runs[module] = min(count, runs.get(module, count))
    return sum(runs.values())


@cache
def _programs_are_seen() -> bool:
    """Run something tiny that is compiled, once, and look for it: the only proof of a name."""
    with recorded(SAID) as spans:
        run_probe()
    return _programs(_events(spans or ())) > 0


def _events(spans):
    return [
        Event(
            span.name,
            *(span.said.get(what, "") for what in SAID),
            span.thread,
            1e-12 * span.begin,
            1e-12 * span.end,
        )
        for span in spans
    ]
