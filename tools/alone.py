"""One process at a time: a lock that ends with the process that holds it.

Standard library only. It must parse on old Pythons, as `set_up` does, which uses it.
"""

import errno
import fcntl
import os
from contextlib import contextmanager
from pathlib import Path

WITHOUT_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)
"""What a file system answers that has no locks, as some that many machines share."""


class Taken(Exception):
    """Another process holds the lock. Its message is the number of that process."""


@contextmanager
def alone(lock: Path, wait=None):
    """Hold the lock in a file while the block runs; the file stays, and holds our number.

    wait: is called with the number of a process that holds it, before we wait for that to end;
    None: nobody waits. Where the file system has no locks, the block runs without one.
    Raises: Taken when another process holds it; OSError when the file cannot be written.
    """
    with lock.open("ab+", buffering=0) as file:
        if not _locked(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
            file.seek(0)
            holder = file.read().decode().strip() or "unknown"
            if wait is None:
                raise Taken(holder)
            wait(holder)
            _locked(file, fcntl.LOCK_EX)
        _sign(file, lock)
        yield


def _locked(file, how):
    """Whether the lock is ours now; where the file system has none, it is everybody's."""
    try:
        fcntl.flock(file, how)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise
    return True


def _sign(file, lock):
    try:
        file.truncate(0)
        file.write(f"{os.getpid()}\n".encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(lock)) from error
