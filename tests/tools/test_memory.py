"""The memory that processes hold together."""

import subprocess
import sys

from tools.memory import EVERY, PeakMemory

HOLD = f"held = bytearray(2**28); import time; time.sleep({8 * EVERY})"


def test_processes_below_this_one_are_counted_together():
    with PeakMemory() as peak:
        running = [subprocess.Popen([sys.executable, "-c", HOLD]) for _ in range(2)]
        assert [process.wait() for process in running] == [0, 0]
    assert 2**29 < peak.bytes < 2**30


def test_without_processes_nothing_is_counted():
    with PeakMemory() as peak:
        pass
    assert peak.bytes == 0
