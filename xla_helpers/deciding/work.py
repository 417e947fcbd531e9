"""The part "work": where the time of a call goes, what it does, and what the machine can do."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from ..errors import headline
from ..layers import layers_of
from ..programs import compiler_ir, inspect_program, optimised_proto
from ..state import variables_kept
from ..tables import counted
from ..targets import as_tensors
from ..timing import measure, time_block
from .batches import Example, words_of
from .findings import PADDED, Findings, Peaks, Work
from .flops import Flops, count_flops
from .layer_times import layer_times
from .memory import memory_of
from .moved import Moved, moved_by_graph, moved_by_xla
from .peaks import in_cache, measure_peaks
from .plan import Case, Order

ROUNDS = 5  # samples of a call's seconds
LONG = 1.0  # seconds from which a call is measured once

XLA_LEFT_OUT = (
    "The floating-point operations were not counted, nor the memory of XLA's programs, because "
    "XLA did not get through its first calls."
)
BY_SIGNATURE = (
    "XLA shows the programs of exact shapes only, so those that were looked at are not traced by "
    "the signature."
)
IN_A_LOOP = (
    "The kernels of {} were not counted: it has a loop or a condition, and how often what is in "
    "it runs is not seen."
)
NOT_SEEN = "The kernels of {} were not counted: how often each ran was not seen."
NOT_ALL_BYTES = (
    "The bytes that {} moves were not counted: the sizes of some of its arrays are not known, or "
    "it changes variables in place."
)
SAID = 80  # characters of an error in a sentence
NO_TIME_FOR = "The memory of {} of XLA was not looked at: there was no time left."
SMALL_COPY = "The copied array is not much larger than the caches, and may have come from them."


def work(case: Case, order: Order, report: Callable[[Findings], None]) -> None:
    """Report layers, work, peaks and memory: for the most frequent shape, memory for all.

    order.labels: "graph" and "XLA" are looked at. order.shapes: the most frequent one first.
    order.seconds: after which nothing new is begun; what did not fit is reported as left out.
    """
    end = time.monotonic() + (order.seconds or math.inf)
    looking = _Looking(case, order, report, end, tuple(layers_of(case.plain())))
    peaks = _peaks(looking)
    flops = _flops(looking)
    _look_at_graph(looking, flops)
    compiles = _look_at_xla(looking, flops)
    _peaks_again(looking, peaks)
    if compiles:
        _memory_of_others(looking)


@dataclass(frozen=True)
class _Looking:
    """What is looked at, and until when.

    end: by the clock of `time.monotonic`. paths: what the layers are called.
    """

    case: Case
    order: Order
    report: Callable[[Findings], None]
    end: float
    paths: tuple[str, ...]

    @property
    def shape(self) -> int:
        """The number of the most frequent shape."""
        return self.order.shapes[0]

    @property
    def example(self) -> Example:
        return self.case.examples[self.shape]

    @property
    def exact(self) -> Case:
        """What XLA is asked about: it shows programs of exact shapes only."""
        return replace(self.case, signature=None)

    def call(self, label: str) -> Callable:
        """A call of a new candidate, with the most frequent shape."""
        return partial(self.case.candidate(label), *self.example.args, **self.example.kwargs)

    def say(self, sentence: str) -> None:
        self.report(Findings(left_out=(sentence,)))

    def find(self, what: str, found: Callable):
        """What `found()` returns; None, and a sentence, where it raises or there is no time."""
        if time.monotonic() > self.end:
            self.say(f"Not looked at, because the time was up: {what}.")
            return None
        try:
            return found()
        except Exception as error:  # of code that is not ours
            self.say(f"Not known: {what} ({headline(error, SAID).rstrip('.')}).")
            return None


# A call


def _look_at_graph(looking, flops):
    if "graph" not in looking.order.labels:
        return
    seconds = _seconds(looking, "graph", "the graph")
    program = looking.find("the kernels of the graph", lambda: _inspected(looking))
    moved = moved_by_graph(program) if program else Moved(None, None)
    if program:
        _say_unknown(looking, moved, "the graph", NOT_SEEN)
    _report_work(looking, "graph", seconds, moved, flops)


def _look_at_xla(looking, flops) -> bool:
    """Whether XLA compiles it."""
    if "XLA" not in looking.order.labels:
        looking.say(XLA_LEFT_OUT)
        return False
    seconds = _seconds(looking, "XLA", "XLA")
    if seconds is None:
        return False
    if looking.case.signature is not None:
        looking.say(BY_SIGNATURE)
    proto = looking.find("XLA's program", lambda: _proto(looking.exact, looking.example))
    moved = moved_by_xla(proto.hlo_module) if proto else Moved(None, None)
    if proto:
        _say_unknown(looking, moved, "XLA", IN_A_LOOP)
        memory = memory_of("XLA", looking.shape, proto.buffer_assignment)
        looking.report(Findings(memory=(memory,)))
    _report_work(looking, "XLA", seconds, moved, flops)
    return True


def _seconds(looking, label, name) -> float | None:
    """The median of a call; its time by layer is reported first, from the first calls.

    Only they are recorded in full.
    """
    call = looking.call(label)
    lasts = looking.find(f"a call of {name}", lambda: _second_call(call))
    if lasts is None:
        return None
    if layers_of(call.func):
        by_layer = partial(layer_times, call, label, lasts, looking.paths)
        times = looking.find(f"the time of {name} by layer", by_layer)
        looking.report(Findings(layers=times or ()))
    rounds = ROUNDS if lasts < LONG else 1
    return looking.find(f"the seconds of {name}", lambda: measure(call, rounds=rounds).median)


def _second_call(call):
    """Its seconds."""
    with variables_kept():
        call()
        return time_block(call, 1)


def _inspected(looking):
    example = looking.example
    return inspect_program(looking.case.candidate("graph"), *example.args, **example.kwargs)


def _say_unknown(looking, moved, what, of_kernels):
    if moved.kernels is None:
        looking.say(of_kernels.format(what))
    elif moved.bytes is None:
        looking.say(NOT_ALL_BYTES.format(what))


def _report_work(looking, label, seconds, moved, flops):
    if seconds is None:
        return
    count, least = (flops.count, flops.least) if flops else (None, False)
    work = Work(label, looking.shape, seconds, moved.kernels, moved.bytes, count, least)
    looking.report(Findings(works=(work,)))


# Operations, peaks


def _flops(looking) -> Flops | None:
    """Those of a call; XLA's translation of it shows them, before anything is compiled."""
    if "XLA" not in looking.order.labels:
        return None
    what = "the floating-point operations"
    flops = looking.find(what, lambda: count_flops(_translated(looking)))
    if flops and flops.least and not flops.count:
        why = "because all are in loops or conditions that only a run decides"
        looking.say(f"Not known: {what}, {why}.")
        return None
    return flops


def _translated(looking):
    from tensorflow.compiler.xla.service import hlo_pb2

    candidate, example = looking.exact.candidate("XLA"), looking.example
    serialized = compiler_ir(candidate, example.args, "hlo_serialized", example.kwargs)
    return hlo_pb2.HloModuleProto.FromString(serialized)


def _peaks(looking) -> Peaks | None:
    peaks = looking.find("what this machine can do", measure_peaks)
    if peaks:
        looking.report(Findings(peaks=peaks))
        if in_cache():
            looking.say(SMALL_COPY)
    return peaks


def _peaks_again(looking, before):
    """At another moment, because other work may have slowed the first; the faster ones count."""
    if before is None or time.monotonic() > looking.end:
        return
    after = measure_peaks()
    flops = max(before.flops_per_second, after.flops_per_second)
    copied = max(before.bytes_per_second, after.bytes_per_second)
    looking.report(Findings(peaks=Peaks(flops, copied)))


# Memory


def _memory_of_others(looking):
    """Of all shapes but the first, whose memory is known, and of those that padding makes."""
    case = looking.exact
    asked = [("XLA", number, case.examples[number]) for number in looking.order.shapes[1:]]
    asked += [(PADDED, number, example) for number, example in enumerate(case.padded)]
    for done, (label, number, example) in enumerate(asked):
        if time.monotonic() > looking.end:
            looking.say(NO_TIME_FOR.format(counted(len(asked) - done, "more program")))
            return
        what = f"the memory of {label} for {', '.join(words_of(example))}"
        proto = looking.find(what, partial(_proto, case, example))
        if proto:
            memory = memory_of(label, number, proto.buffer_assignment)
            looking.report(Findings(memory=(memory,)))


def _proto(case, example):
    args, kwargs = as_tensors((example.args, example.kwargs))
    return optimised_proto(case.candidate("XLA"), *args, **kwargs)
