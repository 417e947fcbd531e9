"""Run Python in a fresh process: other flags, limits, and its output."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from .scripts import ANSWER, write_script
from .tables import cut, format_bytes, in_one_line
from .validation import check_passable, check_positive
from .watching import PRINTED, guarded, watch

LAST_LINES = 12  # lines of output that an error shows
LETTERS = 2000  # of each of them
UTF_8 = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8"}  # whatever the language of the system


@dataclass(frozen=True)
class Run:
    """A finished process.

    value: what the function returned. stdout, stderr: what was printed. seconds: of wall time.
    peak: the most bytes that were seen, with a limit of memory; else None.
    """

    value: object
    stdout: str
    stderr: str
    seconds: float
    peak: int | None = None


class ProcessError(RuntimeError):
    """The process failed, crashed or passed a limit. The message ends with its last lines.

    returncode: its exit code, or None after a signal or a limit; 0 when a function gave no value,
    such as one that ends the process. signal: the name of the signal that killed it, such as
    "SIGSEGV", or None. timed_out: whether it ran too long and was stopped. out_of_memory: whether
    it held too much and was stopped. printed_too_much: whether its output was too long to keep.
    peak: the most bytes that were seen, with a limit of memory; else None. stdout, stderr: what it
    printed; the ends of it when that was too much. What happened is said by the first six alone,
    because the message holds text that the process chose.
    """

    def __init__(
        self,
        what,
        stdout,
        stderr,
        *,
        returncode=None,
        signal=None,
        timed_out=False,
        out_of_memory=False,
        printed_too_much=False,
        peak=None,
    ):
        self.returncode, self.signal, self.timed_out = returncode, signal, timed_out
        self.out_of_memory, self.printed_too_much = out_of_memory, printed_too_much
        self.peak, self.stdout, self.stderr = peak, stdout, stderr
        lines = (stdout + stderr).strip().splitlines()[-LAST_LINES:]
        ending = ["Its last lines:", *(in_one_line(cut(line, LETTERS)) for line in lines)]
        super().__init__("\n".join([what, *(ending if lines else [])]))


def run_in_process(
    code: Callable | str | Path,
    *args,
    uses: Iterable[Callable] = (),
    flags: Mapping[str, str] | None = None,
    timeout: float = 300,
    memory: int | None = None,
) -> Run:
    """Run a function, source text or a script file in a fresh Python process.

    code: a function that imports what it needs (its source travels, so it may not use names from
    around it), or source text, or the `Path` of a script. args: for a function, values that JSON
    can hold; for text and scripts, strings in ``sys.argv``. uses: functions that the function
    calls, whose source travels with it. flags: environment variables to set, such as
    ``{"TF_XLA_FLAGS": "--tf_xla_auto_jit=2"}``. timeout: seconds, after which it is killed.
    memory: bytes that it and what it started may hold together, looked at ten times a second;
    above it is killed. It is also killed when it prints more than 50 MB. What it started ends
    with it, but for what it left behind in a session of its own; and it ends with this process.
    What a function returns must fit in JSON; text in and out is UTF-8. Introduced in notebook 01.

    Returns: a `Run`.
    Raises: ProcessError when the process fails, crashes or passes a limit; TypeError and
    ValueError for arguments that make no sense.

    >>> run_in_process("import os; print(os.environ['WHO'])", flags={"WHO": "me"}).stdout
    'me\\n'
    """
    check_positive("timeout", timeout)
    if memory is not None:
        check_positive("memory", memory)
    environment = os.environ | UTF_8 | _checked_flags({} if flags is None else flags)
    with tempfile.TemporaryDirectory() as folder:
        script, argv = write_script(code, args, uses, Path(folder))
        command = [sys.executable, "-u", str(script), *argv]
        started = time.perf_counter()
        process, watched, *printed = _execute(command, environment, Path(folder), timeout, memory)
        seconds = time.perf_counter() - started
        _check_end(process.returncode, watched, printed, timeout, memory, flags or {})
        value = _returned(Path(folder, ANSWER), printed, watched.peak) if callable(code) else None
    return Run(value, *printed, seconds, watched.peak)


def _returned(answer, printed, peak):
    """What the function returned, if it came to that."""
    if not answer.exists():
        what = "The process ended before the function returned."
        raise ProcessError(what, *printed, returncode=0, peak=peak)
    try:
        return json.loads(answer.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        what = f"What the function returned cannot be read: {error}."
        raise ProcessError(what, *printed, returncode=0, peak=peak) from error


def _execute(command, environment, folder, timeout, memory):
    """The process, how it ended, and what it printed.

    Into files, because the end of a pipe comes only when the last process that holds it ends.
    """
    printed = [folder / "stdout.txt", folder / "stderr.txt"]
    with open(printed[0], "ab") as stdout, open(printed[1], "ab") as stderr:
        process = subprocess.Popen(
            command, env=environment, stdout=stdout, stderr=stderr, start_new_session=True
        )
        with guarded(process):
            watched = watch(process, timeout, memory, printed)
    return process, watched, *map(_end_of, printed)


def _end_of(path):
    """The text of a file, its end when it is too long to keep."""
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - PRINTED))
        return io.TextIOWrapper(file, encoding="utf-8", errors="replace").read(PRINTED)


def _check_end(code, watched, printed, timeout, memory, flags):
    if watched.how != "finished":
        raise _stopped(watched, timeout, memory, *printed)
    if code:
        raise _failed(code, *printed, flags, watched.peak)


def _stopped(watched, timeout, memory, stdout, stderr):
    if watched.how == "time":
        what = f"The process ran longer than {timeout:g} s and was stopped."
        return ProcessError(what, stdout, stderr, timed_out=True, peak=watched.peak)
    if watched.how == "output":
        what = f"The process printed more than {format_bytes(PRINTED)}, too much to keep."
        return ProcessError(what, stdout, stderr, printed_too_much=True, peak=watched.peak)
    what = f"The process held more than {format_bytes(memory)} and was stopped."
    return ProcessError(what, stdout, stderr, out_of_memory=True, peak=watched.peak)


def _failed(code, stdout, stderr, flags, peak):
    hint = _unknown_flag(stdout + stderr, flags)
    if code > 0:
        what = f"The process ended with exit code {code}.{hint}"
        return ProcessError(what, stdout, stderr, returncode=code, peak=peak)
    name = _signal_name(-code)
    what = f"The process was killed by {name}.{hint}"
    return ProcessError(what, stdout, stderr, signal=name, peak=peak)


def _signal_name(number):
    """Real-time signals have numbers only."""
    names = {s.value: s.name for s in signal.Signals}
    return names.get(number, f"signal {number}")


def _unknown_flag(output, flags):
    """What the output says of a flag, when that one really was given."""
    unknown = re.search(r"Unknown flags? in (\w+): (.*)", output)
    if not unknown:
        return ""
    name, flag = unknown.groups()
    if not flag.strip() or not set(flag.split()) <= set(flags.get(name, "").split()):
        return ""
    return f" {name} in `flags` holds {flag!r}, which is unknown here: {name}=--help lists all."


def _checked_flags(flags):
    if not isinstance(flags, Mapping):
        raise TypeError(
            f'`flags` is {flags!r}: write {{"NAME": "value"}}, names of environment variables first'
        )
    for name, value in flags.items():
        if not (isinstance(name, str) and isinstance(value, str)):
            raise TypeError(
                f"`flags[{name!r}]` is {value!r}: names and values of flags are strings"
            )
        check_passable(f"flags[{name!r}]", value)
        if not name.isidentifier():
            raise ValueError(
                f"`flags` names {name!r}, which is no environment variable: write NAME: value"
            )
    return dict(flags)
