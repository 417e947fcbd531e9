"""Keep every core busy, as other work on a shared machine does."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from xla_helpers.startup import usable_cores

BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: sum(range(10**6))"


@contextmanager
def every_core_loaded() -> Iterator[None]:
    """As many processes as there are cores for this one compute until the block ends."""
    alone = {"start_new_session": True}  # a terminal's Ctrl-C is for us
    busy = [subprocess.Popen([sys.executable, "-c", BUSY], **alone) for _ in range(usable_cores())]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
