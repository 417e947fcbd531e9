"""How much of the processors other processes took while something was measured."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

STAT = Path("/proc/stat")  # of Linux
BUSY = 0, 1, 2, 5, 6, 7  # columns of its first line: user, nice, system, irq, softirq, steal


class _Clocks(NamedTuple):
    """Seconds: passed, worked by all processors together, and by this process."""

    wall: float
    all: float
    own: float


class OtherWork:
    """Counts from its making on."""

    def __init__(self):
        self._start = _clocks()

    def share(self) -> float:
        """The share of all processors that others took; 0 where the system does not say."""
        wall, busy, own = (now - then for now, then in zip(_clocks(), self._start, strict=True))
        return max(0.0, (busy - own) / ((os.cpu_count() or 1) * wall)) if wall > 0 else 0.0


def _clocks():
    busy = 0.0
    with suppress(OSError, ValueError, IndexError):
        columns = STAT.read_text(encoding="ascii").splitlines()[0].split()[1:]
        busy = sum(int(columns[place]) for place in BUSY) / os.sysconf("SC_CLK_TCK")
    return _Clocks(time.monotonic(), busy, time.process_time())
