"""The clock: one call alone, blocks of calls, the seconds they took, and their page faults."""

import gc
import itertools
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .errors import check_number
from .memory import page_fault_seconds, page_faults
from .tables import format_si, pluralize

ROUNDS = 15  # samples of the steady state, one a round
LEAST_ROUNDS = 9  # whose interval leaves out one outlier on either side
BLOCK_SECONDS = 0.02  # a sample lasts at least so long, so that the clock's own cost does not show
NOISY = 0.15  # of the median: samples whose interquartile range is wider are noisy
SHARE = 0.05  # of a call's time: page faults that take less are not shown


class Block(NamedTuple):
    """What a block of calls took.

    seconds: of a call; of each call of a lane, where they were timed apart. faults: page faults of
    a call, None where none are counted.
    """

    seconds: Any
    faults: float | None


@dataclass(frozen=True)
class Measurement:
    """Seconds per call of one function.

    Attributes:
        label: The name of the function.
        first: Seconds of the first call, which may trace and compile.
        samples: Seconds per call, one entry for each timed block.
        calls: Calls in each block.
        faults: Page faults of a call, the median over blocks; None where the system counts none.
        fault_seconds: The price of one in the same process, when all cores touch new memory.
    """

    label: str
    first: float
    samples: tuple[float, ...]
    calls: int
    faults: float | None = None
    fault_seconds: float = 0.0

    @classmethod
    def of(cls, label: str, first: float, blocks: Sequence[Block], calls: int) -> "Measurement":
        """A measurement from its blocks."""
        faults = [block.faults for block in blocks if block.faults is not None]
        usual = statistics.median(faults) if faults else None
        samples = tuple(block.seconds for block in blocks)
        return cls(label, first, samples, calls, usual, page_fault_seconds())

    @property
    def median(self) -> float:
        """Median seconds per call."""
        return statistics.median(self.samples)

    @property
    def iqr(self) -> float:
        """Interquartile range in seconds, from the first to the third quartile."""
        low, high = np.percentile(self.samples, [25, 75])
        return float(high - low)

    @property
    def noisy(self) -> bool:
        """Whether the interquartile range exceeds `NOISY` of the median."""
        return self.iqr > NOISY * self.median

    @property
    def fault_share(self) -> float:
        """The share of a call's time that its page faults take, by their price."""
        return min(1.0, (self.faults or 0.0) * self.fault_seconds / self.median)

    @property
    def new_memory(self) -> str:
        """Page faults of a call, in words; "" where they cost less than `SHARE` of its time."""
        if self.faults is None:
            return "new memory: not known"
        shown = f"new memory: {pluralize(round(self.faults), 'page')} a call"
        return shown if self.fault_share >= SHARE else ""

    def __str__(self):
        median, iqr, first = (format_si(s, "s") for s in (self.median, self.iqr, self.first))
        samples = f"{len(self.samples)} samples of {self.calls}{', noisy' if self.noisy else ''}"
        memory = f", {self.new_memory}" if self.new_memory else ""
        return f"{self.label}: {median}, IQR {iqr} ({samples}), first call {first}{memory}"

    __repr__ = __str__


def effort() -> float:
    """By how much the seconds of blocks and races are multiplied: XLA_EFFORT, usually 1.

    Tests of notebooks set it to less, because what they assert holds of short races, too.
    """
    given = os.environ.get("XLA_EFFORT") or "1"
    with suppress(ValueError):
        check_number("XLA_EFFORT", factor := float(given))
        return factor
    raise ValueError(f"XLA_EFFORT must be a number above zero, not {given!r}")


def rounds_by_effort(rounds: int) -> int:
    """So many rounds, or fewer where tests ask for less, down to `LEAST_ROUNDS`."""
    return max(min(rounds, LEAST_ROUNDS), round(rounds * min(1.0, effort())))


def timed(fn: Callable, *args, **kwargs) -> tuple[float, Any]:
    """Seconds of one call, the device's work included, and what it returned."""
    start = time.perf_counter()
    result = fn(*args, **kwargs)
    wait_for_device()
    return time.perf_counter() - start, result


def calibrate(lane: Sequence[Callable], block=BLOCK_SECONDS, clock=time.perf_counter) -> int:
    """How many passes over a lane of one call last about `block` seconds."""
    passes = 1
    while True:
        seconds = passes * time_block(lane, passes, clock).seconds
        if block / 2 <= seconds < 10 * block:  # look again: a disturbance makes it longer
            again = [time_block(lane, passes, clock).seconds for _ in range(3)]
            seconds = min(seconds, passes * min(again))
        if seconds >= block / 2:
            return max(1, round(passes * block / seconds))
        passes *= 4


def in_step(calls: int, first: int) -> int:
    """Calls in a block: as many as the first candidate's, or 4, 16 times as many or as few.

    The start of a block costs something too. So it costs two like candidates the same, also where a
    disturbance made one of them look slower than it is.
    """
    nearest_power_of_four = 4.0 ** round(math.log(calls / first, 4))
    return max(1, round(first * nearest_power_of_four))


def time_block(lane: Sequence[Callable], passes: int, clock=time.perf_counter) -> Block:
    """Time passes over a lane of one call, the device's work included, by one look at the clock.

    Raises:
        ValueError: When the clock did not move.
    """
    [call] = lane
    before = page_faults()
    with _no_garbage_collection():
        start = clock()
        for _ in itertools.repeat(None, passes):  # no counter: the loop costs what timeit's does
            call()
        wait_for_device()
        seconds = (clock() - start) / passes
    if not seconds > 0:
        raise ValueError("the clock did not move: let a block last longer")
    return Block(seconds, _faults_since(before, passes))


def time_each(lane: Sequence[Callable], passes: int, clock=time.perf_counter) -> Block:
    """Time passes over a lane, each call of it by itself: the mean over its passes."""
    seconds, waits, before = np.zeros(len(lane)), needs_waiting(), page_faults()
    with _no_garbage_collection():
        for _ in range(passes):
            for place, call in enumerate(lane):
                start = clock()
                call()
                if waits:
                    wait_for_device()
                seconds[place] += clock() - start
    return Block(seconds / passes, _faults_since(before, passes * len(lane)))


def _faults_since(before, calls):
    """Page faults of a call, of so many since a count; None where none are counted."""
    return None if before is None else (page_faults() - before) / calls


@contextmanager
def _no_garbage_collection():
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def needs_waiting() -> bool:
    """Whether a call may return before a device has done its work; a processor's never does."""
    tf = sys.modules.get("tensorflow")
    devices = tf.config.list_logical_devices() if tf else []
    return any(device.device_type != "CPU" for device in devices)


def wait_for_device() -> None:
    """Return when every device has finished what TensorFlow gave it."""
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].test.experimental.sync_devices()
