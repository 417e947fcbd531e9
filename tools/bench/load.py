"""Keep every core busy, as other work on a shared machine does."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from xla_helpers.startup import usable_cores

BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): sum(range(10**6))"


@contextmanager
def every_core_loaded() -> Iterator[None]:
    """As many processes as there are cores for this one compute until the block ends."""
    alone = {"start_new_session": True}  # a terminal's Ctrl-C is for us
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    busy = [subprocess.Popen(command, **alone) for _ in range(usable_cores())]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
