"""Whether a process has ended."""

import os
import signal
import time

import psutil


def is_gone(pid):
    """True when the process ends within ten seconds; a zombie has ended."""
    for _ in range(1000):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return False
