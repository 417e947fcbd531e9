"""Run Python in a fresh process: other flags, a time limit, and its output."""

import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from .tables import cut, in_one_line
from .validation import check_positive

CALL_FUNCTION = """{source}

if __name__ == "__main__":
    import json
    from pathlib import Path

    result = json.dumps({name}(*json.loads({args!r})))
    Path(__file__).with_name("answer.json").write_text(result, encoding="utf-8")
"""


@dataclass(frozen=True)
class Run:
    """A finished process.

    value: what the function returned. stdout, stderr: what was printed. seconds: of wall time.
    """

    value: object
    stdout: str
    stderr: str
    seconds: float


class ProcessError(RuntimeError):
    """The process failed, crashed or ran too long. The message ends with its last lines.

    signal: the name of the signal that killed it, such as "SIGSEGV", or None. timed_out: whether
    it was stopped. stdout, stderr: what it printed.
    """

    def __init__(self, what, stdout, stderr, *, signal=None, timed_out=False):
        self.signal, self.timed_out = signal, timed_out
        self.stdout, self.stderr = stdout, stderr
        lines = (stdout + stderr).strip().splitlines()[-12:]
        shown = [in_one_line(cut(line, 2000)) for line in lines]
        super().__init__("\n".join([what, *(["Its last lines:", *shown] if shown else [])]))


def run_in_process(
    code: Callable | str,
    *args,
    uses: Iterable[Callable] = (),
    flags: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> Run:
    """Run a function or source text in a fresh Python process.

    code: source text, or a function made by `def` that imports what it needs: its source travels,
    so it may not use names from around it. args: for a function, values that JSON can hold; for
    text, strings in ``sys.argv``. uses: functions that the function calls, whose source travels
    with it. flags: environment variables to set, such as ``TF_XLA_FLAGS``. timeout: seconds, after
    which it is killed, and what it started with it. What a function returns must fit in JSON; text
    in and out is UTF-8. Introduced in notebook 05.

    Returns: a `Run`.
    Raises: ProcessError when the process fails, crashes or runs too long; TypeError and
    ValueError for arguments that make no sense.

    >>> run_in_process("import os; print(os.environ['WHO'])", flags={"WHO": "me"}).stdout
    'me\\n'
    """
    check_positive("timeout", timeout)
    utf_8 = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}  # whatever the system's language is
    environment = os.environ | utf_8 | dict(flags or {})
    with tempfile.TemporaryDirectory() as place:
        script, answer = Path(place, "script.py"), Path(place, "answer.json")
        script.write_text(_source(code, args, uses), encoding="utf-8")
        words = () if callable(code) else map(str, args)
        started = time.perf_counter()
        ended, *printed = _execute([script, *words], environment, script.parent, timeout)
        seconds = time.perf_counter() - started
        _check_end(ended, printed, timeout)
        if not callable(code):
            return Run(None, *printed, seconds)
        if not answer.exists():
            raise ProcessError("The process ended before the function returned.", *printed)
        return Run(json.loads(answer.read_text(encoding="utf-8")), *printed, seconds)


def _source(code, args, uses):
    """The text of the script that runs `code`."""
    if isinstance(code, str):
        return code
    source = "\n".join(textwrap.dedent(inspect.getsource(f)) for f in (*uses, code))
    return CALL_FUNCTION.format(source=source, name=code.__name__, args=json.dumps(args))


def _execute(words, environment, folder, timeout):
    """The exit code, None when it ran too long, and what was printed.

    Into files, because the end of a pipe comes only when the last process that holds it ends; and
    in a session of its own, so that whatever it started can be killed with it.
    """
    command = [sys.executable, "-u", *words]
    printed = folder / "stdout.txt", folder / "stderr.txt"
    with open(printed[0], "wb") as stdout, open(printed[1], "wb") as stderr:
        files = {"stdout": stdout, "stderr": stderr}
        process = subprocess.Popen(command, env=environment, start_new_session=True, **files)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError, PermissionError):  # the latter: zombies on macOS
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return code, *(path.read_text(encoding="utf-8", errors="replace") for path in printed)


def _check_end(code, printed, timeout):
    if code is None:
        what = f"The process ran longer than {timeout:g} s and was stopped."
        raise ProcessError(what, *printed, timed_out=True)
    if code < 0:
        names = {number.value: number.name for number in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        raise ProcessError(f"The process was killed by {name}.", *printed, signal=name)
    if code > 0:
        raise ProcessError(f"The process ended with exit code {code}.", *printed)
