"""Measure one function: the first call apart, then the steady state with its spread."""

import functools
import itertools
import statistics
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .state import variables_kept
from .tables import format_seconds
from .targets import name_of, resolve
from .validation import check_count

ROUNDS = 15  # samples of the steady state, one a round
BLOCK_SECONDS = 0.02  # a sample runs at least this long, so that the clock's own cost does not show
LONG = 10  # blocks: a call that lasts so long is no disturbance
NOISY = 0.15  # spread relative to the median from which a measurement is called noisy


@dataclass(frozen=True)
class Measurement:
    """Seconds per call of one function.

    label: its name. first: seconds of the first call, which may trace and compile.
    samples: seconds per call, one entry for each timed block. calls: calls in each block.
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
    def spread(self) -> float:
        """Seconds between the first and the third quartile: the middle half of the samples."""
        low, high = np.percentile(self.samples, [25, 75])
        return float(high - low)

    @property
    def noisy(self) -> bool:
        """True when the middle half is spread over more than `NOISY` of the median."""
        return self.spread > NOISY * self.median

    def __repr__(self):
        mark = ", noisy" if self.noisy else ""
        return (
            f"{self.label}: {format_seconds(self.median)}, spread {format_seconds(self.spread)} "
            f"({len(self.samples)} samples of {self.calls}{mark}), "
            f"first call {format_seconds(self.first)}"
        )


def measure(
    fn: Callable, *args, label: str | None = None, rounds: int = ROUNDS, **kwargs
) -> Measurement:
    """Time ``fn(*args, **kwargs)``: its first call alone, then a block of calls in each round.

    fn: whatever can be called; for a SavedModel, its folder will do. label: what it is called, by
    default the function's name. rounds: samples to take; each lasts about `BLOCK_SECONDS`, by
    enough calls in it. The device has finished when the clock is read, and the garbage collector
    rests meanwhile. Variables that its Python names, or that are given to it, have their values
    again afterwards. For a first call that compiles, pass a function that has not been called yet.
    Introduced in notebook 01.

    Returns: a `Measurement`, in seconds per call.
    Raises: TypeError when `fn` cannot be called, ValueError when `rounds` is no count, and
    whatever `fn` raises.

    >>> measured = measure(sum, [1, 2, 3], rounds=5)
    >>> measured.label, len(measured.samples)
    ('sum', 5)
    """
    check_count("rounds", rounds)
    fn = resolve(fn)
    call = functools.partial(fn, *args, **kwargs)
    with variables_kept(fn, *args, *kwargs.values()):
        first, _ = timed(call)
        calls = calibrate(call)
        samples = [time_block(call, calls) for _ in range(rounds)]
    return Measurement(label or name_of(fn), first, tuple(samples), calls)


def timed(fn, *args, **kwargs):
    """Seconds of one call on its own, and what it returned."""
    start = time.perf_counter()
    result = fn(*args, **kwargs)
    wait_for_device()
    return time.perf_counter() - start, result


def calibrate(call, block=BLOCK_SECONDS, clock=time.perf_counter) -> int:
    """How many times `call` must run to last about `block` seconds."""
    calls = 1
    while True:
        seconds = calls * time_block(call, calls, clock)
        if block / 2 <= seconds < LONG * block:  # look again: a disturbance makes it longer
            again = [time_block(call, calls, clock) for _ in range(3)]
            seconds = min(seconds, calls * min(again))
        if seconds >= block / 2:
            return max(1, round(calls * block / seconds))
        calls *= 4


def time_block(call, calls, clock=time.perf_counter) -> float:
    """Seconds per call over a block of `calls` calls, the device's work included."""

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
