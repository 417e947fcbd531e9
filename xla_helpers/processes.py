"""Run Python in a fresh process: other flags, a time limit, and its output."""

import ast
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import check_args, check_number
from .logs import Compilation, compilations_in
from .memory import PINNED
from .tables import printable, truncate

CALL_FUNCTION = """{source}
if __name__ == "__main__":
    import json, pathlib
    result = json.dumps({name}(*json.loads({args!r})))
    pathlib.Path(__file__).with_name("answer.json").write_text(result, encoding="utf-8")
"""


@dataclass(frozen=True)
class Run:
    """A finished process.

    Attributes:
        value: What the function returned.
        stdout, stderr: What was printed.
        seconds: Of wall time.
    """

    value: Any
    stdout: str
    stderr: str
    seconds: float

    @property
    def compilations(self) -> list[Compilation]:
        """What XLA compiled, with `name` and `seconds`, as the log in `stderr` says."""
        return compilations_in(self.stderr)


class ProcessError(RuntimeError):
    """The process failed, crashed or ran too long. The message ends with its last lines.

    Attributes:
        stdout, stderr: What it printed.
        signal: The name of the signal that killed it, such as "SIGSEGV", or None.
        timed_out: Whether it was stopped after the time limit.
    """

    def __init__(self, what, stdout, stderr, *, signal=None, timed_out=False):
        self.stdout, self.stderr = stdout, stderr
        self.signal, self.timed_out = signal, timed_out
        lines = (self.stdout + self.stderr).strip().splitlines()[-12:]
        super().__init__("\n".join([what, *(printable(truncate(line, 2000)) for line in lines)]))


def run_in_process(code, args=(), *, uses=(), flags=None, timeout=300.0) -> Run:
    """Run a function or source text in a fresh Python process.

    Args:
        code: Source text, or a function made by `def` that imports what it needs: its source
            travels, so it may not use names from around it.
        args: A tuple; for a function, values that JSON can hold; for text, strings in ``sys.argv``.
        uses: Functions that the function calls, whose source travels with it.
        flags: Environment variables to set, such as ``TF_XLA_FLAGS``.
        timeout: Seconds after which it is killed. What it started goes on, and holds nobody up.

    Returns:
        A `Run`; what a function returned must fit in JSON.

    Raises:
        ProcessError: When the process fails, crashes or runs too long.
        TypeError, ValueError: For arguments that make no sense.

    Example:
        >>> run_in_process("import os; print(os.environ['WHO'])", flags={"WHO": "me"}).stdout
        'me\\n'
    """
    check_number("timeout", timeout)
    check_args(args)
    # UTF-8 whatever the system's language is.
    own = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"} | (flags or {})
    environment = PINNED | os.environ | own
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        script, answer = Path(place, "script.py"), Path(place, "answer.json")
        script.write_text(_source(code, args, uses), encoding="utf-8")
        words = [] if callable(code) else list(map(str, args))
        start = time.perf_counter()
        command = [sys.executable, "-u", str(script), *words]
        status, stdout, stderr = _finished(command, environment, timeout)
        seconds = time.perf_counter() - start
        if status is None:
            what = f"The process ran longer than {timeout:g} s and was stopped."
            raise ProcessError(what, stdout, stderr, timed_out=True)
        if status:
            killer = signal_of(status)
            how = f"was killed by {killer}" if killer else f"ended with exit code {status}"
            raise ProcessError(f"The process {how}.", stdout, stderr, signal=killer)
        if callable(code) and not answer.exists():
            raise ProcessError("The process ended before the function returned.", stdout, stderr)
        value = json.loads(answer.read_text(encoding="utf-8")) if callable(code) else None
        return Run(value, stdout, stderr, seconds)


def _finished(command, environment, timeout):
    """The exit status of a process, None where it was stopped, and what it printed.

    It prints into files. Of a pipe nobody knows the end while a process that it started holds it.
    """
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        status = None
        with suppress(subprocess.TimeoutExpired):
            to = {"stdout": stdout, "stderr": stderr, "env": environment}
            status = subprocess.run(command, timeout=timeout, **to).returncode
        return status, _text(stdout), _text(stderr)


def _text(file):
    printed = os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0)
    return printed.decode("utf-8", errors="replace")


def signal_of(status: int) -> str | None:
    """The name of the signal that ended a process with this status, such as "SIGSEGV", or None."""
    if status > 0:
        return None
    names = {number.value: number.name for number in signal.Signals}
    return names.get(-status, f"signal {-status}")


def _source(code, args, uses):
    """The text of the script that runs `code`."""
    if isinstance(code, str):
        return code
    source = "\n".join(map(_source_of, (*uses, code)))
    return CALL_FUNCTION.format(source=source, name=code.__name__, args=json.dumps(args))


def _source_of(function):
    """The source of a function, as it stands; TypeError for one whose source cannot travel."""
    name = getattr(function, "__qualname__", repr(function))
    try:
        source = inspect.getsource(function)
        # Not dedented: a text in it may have lines that begin further left.
        source = f"if True:\n{source}" if source[0] in " \t" else source
        [made] = ast.parse(source).body
        made = made.body[0] if isinstance(made, ast.If) else made
    except (OSError, SyntaxError, TypeError, ValueError) as error:
        raise TypeError(f"`{name}` has no source that could travel: write it with `def`") from error
    if not isinstance(made, ast.FunctionDef) or made.decorator_list:
        raise TypeError(f"`{name}` must be a plain `def`, not decorated: its source is sent")
    return source
