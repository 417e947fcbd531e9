"""The side that asks: a fresh process, what it answered, and why it ended."""

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import msgspec

from xla_helpers.memory import PINNED
from xla_helpers.processes import signal_of
from xla_helpers.tables import printable, truncate

from .worker import Job

SERVE = """
import sys
from xla_decide.rivals.worker import serve
serve(*sys.argv[1:])
"""
SECONDS = 900.0  # that an answer may take


class WorkerError(RuntimeError):
    """What a process raised, or how it ended.

    Attributes:
        ended: Whether it is there no more.
    """

    def __init__(self, why: str, ended: bool = False):
        super().__init__(why)
        self.ended = ended


@contextmanager
def started(
    factory: str, job: Job, environment: Mapping[str, str] | None = None
) -> Iterator["Worker"]:
    """A process that answers, until the block ends.

    Args:
        factory: Module and name of what makes the object that is asked, such as ``a.b:c``.
        job: What the process is about.
        environment: Variables of the process beside those of this one.
    """
    words = [sys.executable, "-c", SERVE, factory, msgspec.json.encode(job).decode()]
    variables = PINNED | os.environ | {"PYTHONUTF8": "1"} | dict(environment or {})
    with tempfile.TemporaryFile() as stderr:
        pipe = subprocess.PIPE
        process = subprocess.Popen(words, env=variables, stdin=pipe, stdout=pipe, stderr=stderr)
        try:
            yield Worker(process, stderr)
        finally:
            process.kill()
            process.communicate()


class Worker:
    """A process that answers."""

    def __init__(self, process: subprocess.Popen, stderr: IO[bytes]):
        self._process, self._stderr = process, stderr

    def ask(self, method: str, *words: Any) -> Any:
        """Call a method of the object in the process.

        Args:
            method: Its name.
            words: Its arguments, which JSON can hold.

        Returns:
            Its answer, as JSON holds it.

        Raises:
            WorkerError: For what the method raises, and where the process ends or takes too long.
        """
        assert self._process.stdin and self._process.stdout
        late = threading.Timer(SECONDS, self._process.kill)
        late.start()
        try:
            self._process.stdin.write(msgspec.json.encode([method, *words]) + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = b""
        finally:
            is_late = not late.is_alive()
            late.cancel()
        if not line:
            raise WorkerError(self._how_it_ended(is_late), ended=True)
        found = msgspec.json.decode(line)
        if "error" in found:
            raise WorkerError(found["error"])
        return found["answer"]

    def _how_it_ended(self, is_late):
        """Why there is no answer, with the last line that the process printed."""
        status = self._process.wait()
        if is_late:
            return f"it took longer than {SECONDS:g} s"
        how = signal_of(status) or f"exit code {status}"
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", errors="replace").strip().splitlines()
        said = f": {truncate(printable(lines[-1]), 300)}" if lines else ""
        return f"the process ended with {how}{said}"
