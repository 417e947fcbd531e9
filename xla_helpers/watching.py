"""Watch a process until it ends: its limits, and none of it left behind."""

import math
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import psutil

EVERY = 0.1  # seconds between two looks at it
PRINTED = 50_000_000  # bytes that it may print
LOOKS = 10  # after so many of them the processes that it started are looked for anew
GROUP = Path("/sys/fs/cgroup")  # where Linux says how much memory groups of processes have
OWN_GROUP = Path("/proc/self/cgroup")  # in which of them this process is
GUARD = 'read -r _; kill -s KILL -- "-$1"'


@dataclass(frozen=True)
class Watched:
    """How a process ended.

    how: "finished", or the limit that it passed, "time", "memory" or "output". peak: the most
    bytes that it and the processes that it started were seen to hold together; memory that they
    share counts more than once. None where nobody looked.
    """

    how: str
    peak: int | None = None


def watch(
    process: subprocess.Popen,
    timeout: float,
    memory: int | None = None,
    printed: Iterable[Path] = (),
) -> Watched:
    """Wait until a process ends or passes a limit; the caller has to stop it then.

    timeout: seconds. memory: bytes; None does not look at it. printed: files that take what the
    process prints, no more than `PRINTED` bytes together.
    """
    end, peak, members = time.monotonic() + timeout, 0, []
    for look in count():
        finished = _ends_within(process, min(EVERY, end - time.monotonic()))
        if sum(path.stat().st_size for path in printed) > PRINTED:
            return Watched("output", peak or None)
        if finished or time.monotonic() >= end:
            return Watched("finished" if finished else "time", peak or None)
        if memory is not None:
            members = members if look % LOOKS else family(process.pid)
            peak = max(peak, sum(map(resident, members)))
            if peak > memory:
                return Watched("memory", peak)


def _ends_within(process, seconds):
    try:
        process.wait(max(0, seconds))
    except subprocess.TimeoutExpired:
        return False
    return True


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
    """The bytes that processes may still take, at least 1.

    Of this machine, or of a group around us that has less: a container, or a job of a cluster.
    Linux tells of such groups (cgroup v2).
    """
    return max(1, min([psutil.virtual_memory().available, *map(_left_in, _groups())]))


def _groups():
    """The folders of the groups that this process is in, the outermost first."""
    try:
        lines = OWN_GROUP.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    own = next((GROUP / line[3:].lstrip("/") for line in lines if line.startswith("0::")), GROUP)
    return [GROUP, *(folder for folder in (own, *own.parents) if GROUP in folder.parents)]


def _left_in(group):
    """The bytes that a group may still take; without end where it has no limit."""
    try:
        limit, used = (int(_read(group, name)) for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in _read(group, "memory.stat").splitlines())
        cache = sum(int(stat.get(name, 0)) for name in ("inactive_file", "active_file"))
    except (OSError, ValueError):  # no such file, or "max"
        return math.inf
    return limit - used + cache  # a cache is given back


def _read(group, name):
    return (group / name).read_text(encoding="utf-8")


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
