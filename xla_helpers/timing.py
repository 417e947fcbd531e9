"""Measure one function: the first call apart, then the steady state with its spread."""

import statistics
import sys
import time
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from .tables import format_seconds

SAMPLES = 15  # samples of the steady state
BLOCK_SECONDS = 0.02  # a sample runs at least this long, so that the clock's own cost does not show
MAX_CALLS = 100_000  # calls in one sample at the most
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
    fn: Callable,
    *args,
    label: str | None = None,
    samples: int = SAMPLES,
    block: float = BLOCK_SECONDS,
    clock: Callable[[], float] = time.perf_counter,
) -> Measurement:
    """Time ``fn(*args)``: its first call alone, then `samples` blocks of calls.

    The device has finished when the clock is read. A block holds enough calls to last `block`
    seconds; the garbage collector rests meanwhile, as in `timeit`. For a first call that
    compiles, pass a function that has not been called yet. Introduced in notebook 01.

    Returns: a `Measurement`, in seconds per call.
    Raises: TypeError when `fn` cannot be called, ValueError when `samples` or `block` is not
    positive, and whatever `fn` raises.
    """
    check_callable(fn)
    check_counts(samples=samples, block=block)
    label = label or getattr(fn, "__name__", "function")
    first, _ = time_first_call(fn, args, clock)
    calls = calibrate(fn, args, block, clock)
    blocks = tuple(time_block(fn, args, calls, clock) for _ in range(samples))
    return Measurement(label, first, blocks, calls)


def check_callable(fn) -> None:
    """Refuse what is not a function, such as the result of calling one."""
    if not callable(fn):
        raise TypeError(
            f"`fn` is {type(fn).__name__}, which cannot be called: pass the function itself"
        )


def check_counts(**counts) -> None:
    """Refuse counts and sizes that are not positive, naming them."""
    for name, value in counts.items():
        if not (isinstance(value, Real) and value > 0):
            raise ValueError(f"`{name}` is {value!r}: give a number above zero")


def time_first_call(fn, args, clock=time.perf_counter):
    """Seconds of one call on its own, and what it returned."""
    start = clock()
    result = fn(*args)
    wait_for_device()
    return clock() - start, result


def calibrate(fn, args, block=BLOCK_SECONDS, clock=time.perf_counter) -> int:
    """How many calls of ``fn(*args)`` last about `block` seconds."""
    calls = 1
    while calls < MAX_CALLS:
        seconds = calls * min(time_block(fn, args, calls, clock) for _ in range(2))
        if seconds >= block / 2:
            return max(1, min(MAX_CALLS, round(calls * block / seconds)))
        calls *= 4
    return MAX_CALLS


def time_block(fn, args, calls, clock=time.perf_counter) -> float:
    """Seconds per call over a block of `calls` calls, the device's work included."""

    def block():
        for _ in range(calls):
            fn(*args)
        wait_for_device()

    return timeit.Timer(block, timer=clock).timeit(number=1) / calls


def wait_for_device() -> None:
    """Return when every device has finished what TensorFlow gave it."""
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].test.experimental.sync_devices()
