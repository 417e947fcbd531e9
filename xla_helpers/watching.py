"""Watch a process until it ends: limits of time and memory, and none of it left behind."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil

EVERY = 0.1  # seconds between two looks at the memory
LOOKS = 10  # after so many of them the processes that it started are looked for anew
GROUP = Path("/sys/fs/cgroup")  # where Linux says how much memory a container has
GUARD = 'read -r _; kill -s KILL -- "-$1"'


@dataclass(frozen=True)
class Watched:
    """How a process ended.

    how: "finished", or the limit that it passed, "time" or "memory". peak: the most bytes that it
    and the processes that it started were seen to hold together; memory that they share counts
    more than once. None where nobody looked.
    """

    how: str
    peak: int | None = None


def watch(process: subprocess.Popen, timeout: float, memory: int | None = None) -> Watched:
    """Wait until a process ends or passes a limit; the caller has to stop it then.

    timeout: seconds. memory: bytes; None leaves the process alone.
    """
    end, peak, members = time.monotonic() + timeout, 0, []
    for look in count():
        left = end - time.monotonic()
        try:
            process.wait(max(0, left if memory is None else min(left, EVERY)))
            return Watched("finished", peak or None)
        except subprocess.TimeoutExpired:
            if memory is None or time.monotonic() >= end:
                return Watched("time", peak or None)
        members = members if look % LOOKS else family(process.pid)
        peak = max(peak, sum(map(resident, members)))
        if peak > memory:
            return Watched("memory", peak)


def family(pid: int) -> list[psutil.Process]:
    """A process and all that it started, as far as it still runs."""
    try:
        first = psutil.Process(pid)
        return [first, *first.children(recursive=True)]
    except psutil.Error:
        return []


def resident(process: psutil.Process) -> int:
    """The bytes that a process holds; 0 when it has just ended."""
    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def free_memory() -> int:
    """The bytes that processes may still take: of this machine, or of the container around us."""
    free = psutil.virtual_memory().available
    try:
        limit, used = (int((GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        stat = dict(line.split() for line in (GROUP / "memory.stat").read_text().splitlines())
        used -= int(stat.get("inactive_file", 0))  # a cache, which the system gives back
    except (OSError, ValueError):  # no container, or one without a limit
        return free
    return max(0, min(free, limit - used))


@contextmanager
def guarded(process: subprocess.Popen) -> Iterator[None]:
    """What a process started ends with the block, and with us, however we end.

    process: one with a session of its own. A shell waits for the end of a pipe that only we hold:
    when we are killed, the system closes it.
    """
    guard = None
    try:
        guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", str(process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        yield
    finally:
        try:
            _stop(process)
        finally:
            if guard:
                _dismiss(guard)


def _dismiss(guard):
    guard.kill()
    guard.stdin.close()
    guard.wait()


def _stop(process):
    """Kill a process and all that it started; what outlived it is found by its group."""
    for member in family(process.pid) if process.poll() is None else []:
        try:
            member.kill()
        except psutil.Error:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS: the latter when only zombies are left
        pass
    process.wait()
