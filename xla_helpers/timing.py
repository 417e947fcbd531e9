"""The clock: one call alone, blocks of calls, and the seconds they took."""

import itertools
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .tables import format_si

ROUNDS = 15  # samples of the steady state, one a round
BLOCK_SECONDS = 0.02  # a sample lasts at least so long, so that the clock's own cost does not show


@dataclass(frozen=True)
class Measurement:
    """Seconds per call of one function.

    Attributes:
        label: The name of the function.
        first: Seconds of the first call, which may trace and compile.
        samples: Seconds per call, one entry for each timed block.
        calls: Calls in each block.
    """

    label: str
    first: float
    samples: tuple[float, ...]
    calls: int

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
        """Whether the interquartile range exceeds 15 % of the median."""
        return self.iqr > 0.15 * self.median

    def __str__(self):
        median, iqr, first = (format_si(s, "s") for s in (self.median, self.iqr, self.first))
        samples = f"{len(self.samples)} samples of {self.calls}{', noisy' if self.noisy else ''}"
        return f"{self.label}: {median}, IQR {iqr} ({samples}), first call {first}"

    __repr__ = __str__


def timed(fn: Callable, *args, **kwargs) -> tuple[float, Any]:
    """Seconds of one call, the device's work included, and what it returned."""
    start = time.perf_counter()
    result = fn(*args, **kwargs)
    wait_for_device()
    return time.perf_counter() - start, result


def calibrate(call: Callable, block: float = BLOCK_SECONDS, clock=time.perf_counter) -> int:
    """How many calls last about `block` seconds."""
    calls = 1
    while True:
        seconds = calls * time_block(call, calls, clock)
        if block / 2 <= seconds < 10 * block:  # look again: a disturbance makes it longer
            again = [time_block(call, calls, clock) for _ in range(3)]
            seconds = min(seconds, calls * min(again))
        if seconds >= block / 2:
            return max(1, round(calls * block / seconds))
        calls *= 4


def time_block(call: Callable, calls: int, clock=time.perf_counter) -> float:
    """Seconds per call over a block of `calls` calls, the device's work included.

    Raises:
        ValueError: When the clock did not move.
    """

    def block(call=call):  # a local name, and no counter: the loop costs what that of timeit does
        for _ in itertools.repeat(None, calls):
            call()
        wait_for_device()

    seconds = timeit.Timer(block, timer=clock).timeit(number=1) / calls
    if not seconds > 0:
        raise ValueError("the clock did not move: let a block last longer")
    return seconds


def wait_for_device() -> None:
    """Return when every device has finished what TensorFlow gave it."""
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].test.experimental.sync_devices()
