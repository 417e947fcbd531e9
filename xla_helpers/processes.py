"""Run Python in a fresh process: other flags, a time limit, and its output."""

import inspect
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .tables import cut, in_one_line
from .validation import check_positive

LAST_LINES = 12  # lines of output that an error shows
LETTERS = 2000  # of each of them
UTF_8 = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}  # whatever the language of the system

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

    returncode: its exit code, or None after a signal or the time limit; 0 when a function gave no
    value, such as one that ends the process. signal: the name of the signal that killed it, such
    as "SIGSEGV", or None. timed_out: whether it was stopped. stdout, stderr: what it printed.
    """

    def __init__(self, what, stdout, stderr, *, returncode=None, signal=None, timed_out=False):
        self.returncode, self.signal, self.timed_out = returncode, signal, timed_out
        self.stdout, self.stderr = stdout, stderr
        lines = (stdout + stderr).strip().splitlines()[-LAST_LINES:]
        ending = ["Its last lines:", *(in_one_line(cut(line, LETTERS)) for line in lines)]
        super().__init__("\n".join([what, *(ending if lines else [])]))


def run_in_process(
    code: Callable | str | Path,
    *args,
    uses: Iterable[Callable] = (),
    flags: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> Run:
    """Run a function, source text or a script file in a fresh Python process.

    code: a function that imports what it needs (its source travels, so it may not use names from
    around it), or source text, or the `Path` of a script. args: for a function, values that JSON
    can hold; for text and scripts, strings in ``sys.argv``. uses: functions that the function
    calls, whose source travels with it. flags: environment variables to set, such as
    ``{"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"}``. timeout: seconds, after which it is killed, and
    what it started with it. What a function returns must fit in JSON; text in and out is UTF-8.
    Introduced in notebook 05.

    Returns: a `Run`.
    Raises: ProcessError when the process fails, crashes or runs too long; TypeError and
    ValueError for arguments that make no sense.

    >>> run_in_process("import os; print(os.environ['WHO'])", flags={"WHO": "me"}).stdout
    'me\\n'
    """
    check_positive("timeout", timeout)
    flags = dict(flags or {})
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        script, words = _script(code, args, uses, folder)
        started = time.perf_counter()
        environment = os.environ | UTF_8 | flags
        ended, *printed = _execute([script, *words], environment, folder, timeout)
        seconds = time.perf_counter() - started
        _check_end(ended, printed, flags, timeout)
        value = _returned(folder / "answer.json", printed) if callable(code) else None
    return Run(value, *printed, seconds)


def _execute(words, environment, folder, timeout):
    """The exit code, None when it ran too long, and what was printed.

    Into files, because the end of a pipe comes only when the last process that holds it ends; and
    in a session of its own, so that whatever it started can be killed with it.
    """
    command = [sys.executable, "-u", *map(str, words)]
    printed = folder / "stdout.txt", folder / "stderr.txt"
    with open(printed[0], "wb") as stdout, open(printed[1], "wb") as stderr:
        output = {"stdout": stdout, "stderr": stderr, "start_new_session": True}
        process = subprocess.Popen(command, env=environment, **output)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill_group(process)
    return code, *(path.read_text(encoding="utf-8", errors="replace") for path in printed)


def _kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS: the latter when only zombies are left
        pass
    process.wait()


def _check_end(code, printed, flags, timeout):
    if code is None:
        what = f"The process ran longer than {timeout:g} s and was stopped."
        raise ProcessError(what, *printed, timed_out=True)
    hint = _unknown_flag("".join(printed), flags)
    if code > 0:
        what = f"The process ended with exit code {code}.{hint}"
        raise ProcessError(what, *printed, returncode=code)
    if code < 0:
        names = {number.value: number.name for number in signal.Signals}
        name = names.get(-code, f"signal {-code}")
        raise ProcessError(f"The process was killed by {name}.{hint}", *printed, signal=name)


def _unknown_flag(output, flags):
    """What the output says of a flag, when that one really was given."""
    found = re.search(r"Unknown flags? in (\w+): (\S+)", output)
    if not found or found[2] not in flags.get(found[1], "").split():
        return ""
    name, flag = found.groups()
    return f" {name} in `flags` holds {flag!r}, which is unknown here: {name}=--help lists all."


def _returned(answer, printed):
    """What the function returned, if it came to that."""
    if not answer.exists():
        raise ProcessError(
            "The process ended before the function returned.", *printed, returncode=0
        )
    return json.loads(answer.read_text(encoding="utf-8"))


# What runs


def _script(code, args, uses, folder):
    """A script, and what it gets in ``sys.argv``; a `Path` is the script itself."""
    if isinstance(code, Path):
        return code, list(map(str, args))
    script, words = folder / "script.py", []
    if isinstance(code, str):
        text, words = code, list(map(str, args))
    else:
        source = "\n".join(map(_source, [*uses, code]))
        text = CALL_FUNCTION.format(source=source, name=code.__name__, args=_as_json(args))
    script.write_text(text, encoding="utf-8")
    return script, words


def _source(function):
    if not inspect.isfunction(function) or function.__name__ == "<lambda>":
        raise TypeError(f"{function!r} cannot travel to a process: give a function made by `def`")
    return textwrap.dedent(inspect.getsource(function))


def _as_json(args):
    try:
        return json.dumps(args)
    except (TypeError, ValueError) as error:
        raise TypeError(f"`args` must fit in JSON: {error}") from error
