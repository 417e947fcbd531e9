"""New memory: who gives it, how large its pages are, and what a page fault costs.

A page that a process has not touched yet is found and cleared by the kernel when it is touched: a
page fault. glibc's malloc maps a large array anew for each call, so that each call pays for all of
its pages; other allocators, TensorFlow's own with oneDNN among them, keep what was freed.
"""

import ctypes
import math
import mmap
import os
import re
import resource
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

MALLOC_LIMITS = {"mmap_threshold": (-3, 32 << 20), "trim_threshold": (-1, 64 << 20)}
"""Names of glibc's tunables to their number in mallopt(3), and to bytes: the most that it takes."""

PINNED = {
    "GLIBC_TUNABLES": ":".join(f"glibc.malloc.{x}={size}" for x, (_, size) in MALLOC_LIMITS.items())
}
"""What `pin_malloc` sets, in the environment of a process that does not call it."""

TOUCHED = 32 << 20  # bytes of new memory by which the price of a page fault is measured
QUOTA = Path("/sys/fs/cgroup/cpu.max")  # microseconds of all cores in each period, of a container
HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")

_pinned = False


def pin_malloc() -> None:
    """Set two limits of glibc's malloc to what it raises them to by itself.

    What a process did before then does not change what a large array costs.
    """
    global _pinned
    with suppress(AttributeError, OSError, TypeError):  # another C library
        libc = ctypes.CDLL(None)
        _pinned = bool(libc.gnu_get_libc_version) and all(
            [libc.mallopt(*limit) for limit in MALLOC_LIMITS.values()]
        )


def malloc_name() -> str:
    """Who gives memory to this process: "pinned malloc", "malloc", or one that was preloaded."""
    with suppress(OSError):
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
        if found := re.search(r"/lib([a-z]*malloc)[\w.]*\.so", maps):
            return found[1]
    is_pinned = _pinned or PINNED.items() <= os.environ.items()
    return "pinned malloc" if is_pinned else "malloc"


def page_size() -> int | None:
    """Find out how many bytes of new memory one page fault brings.

    Returns:
        Bytes; None where a predicted count would not hold, because pages have another size or an
        array may get huge ones.
    """
    with suppress(OSError):
        is_ordinary = "[always]" not in HUGE_PAGES.read_text(encoding="ascii")
        is_ordinary &= "hugetlb" not in os.environ.get("GLIBC_TUNABLES", "")
        return mmap.PAGESIZE if is_ordinary and mmap.PAGESIZE == 4096 else None
    return None


def peak_memory() -> int:
    """Bytes that this process held at most until now."""
    status = Path("/proc/self/status")
    if status.exists():  # Linux, where `ru_maxrss` starts at the peak of the parent
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii"))
        return 1024 * int(found[1]) if found else 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def page_faults() -> int | None:
    """Page faults of this process until now; None on a system that counts none."""
    return _faults() if _are_faults_counted() else None


@cache
def _are_faults_counted():
    """Whether the system counts a page fault when new memory is touched."""
    before = _faults()
    with mmap.mmap(-1, 16 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as fresh:
        fresh[:: mmap.PAGESIZE] = bytes(16)
    return _faults() > before


@cache
def page_fault_seconds() -> float:
    """Seconds of a page fault when all cores touch new memory; 0 where none is counted."""
    with ThreadPoolExecutor(available_cores()) as threads:
        prices = [_touch(threads) for _ in range(16)]
    # The host of a virtual machine may have to find the first hundreds of MiB: five times as long.
    return statistics.quantiles(prices, n=4)[0]


def available_cores() -> int:
    """The number of cores that this process may use, by its affinity and its container's quota."""
    affinity = getattr(os, "sched_getaffinity", lambda pid: range(os.cpu_count() or 1))
    cores = len(affinity(0))
    with suppress(OSError, ValueError):  # no container, or no limit: "max 100000"
        quota, period = QUOTA.read_text(encoding="ascii").split()
        cores = min(cores, math.ceil(int(quota) / int(period)))
    return cores


def _touch(threads):
    fresh = mmap.mmap(-1, TOUCHED, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    pages = np.frombuffer(fresh, np.uint8)[:: mmap.PAGESIZE]
    parts = np.array_split(pages, available_cores())
    before, start = _faults(), time.perf_counter()
    list(threads.map(lambda part: part.fill(1), parts))
    seconds, faults = time.perf_counter() - start, _faults() - before
    return seconds / faults if faults else 0.0


def _faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
