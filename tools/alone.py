"""One process at a time: a lock that ends with the process that holds it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Taken(Exception):
    """Another process holds the lock. Its message is the number of that process."""


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Hold the lock in a file while the block runs; the file stays, and holds our number.

    Raises: Taken when another process holds it; OSError when the file cannot be written.
    """
    with lock.open("ab+", buffering=0) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            raise Taken(file.read().decode().strip() or "unknown") from error
        _sign(file, lock)
        yield


def _sign(file, lock):
    try:
        file.truncate(0)
        file.write(f"{os.getpid()}\n".encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(lock)) from error
