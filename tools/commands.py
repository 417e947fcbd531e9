"""How every command ends: with an exit code, and one line for what went wrong."""

import os
import sys
from collections.abc import Callable

from tools.collection import UsageError
from xla_helpers.tables import in_one_line

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def carried_out(name: str, action: Callable[[], int | None]) -> int:
    """Carry out what a command does. name: how its messages begin.

    Returns: the exit code. What the file system answers is 1, words that make no sense are 2,
    Ctrl-C is 130, each with a line on stderr; a reader that has gone ends it quietly, with 1.
    """
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # None when it is closed
    try:
        code = action() or DONE
        sys.stdout.flush()
        return code
    except UsageError as error:
        return _said(f"{name}: {error}", MISUSED)
    except BrokenPipeError:
        return FAILED
    except OSError as error:
        return _said(f"{name}: {of_file(error)}", FAILED)
    except KeyboardInterrupt:
        return _said(f"{name}: interrupted", INTERRUPTED)
    finally:
        _settle_stdout()


def of_file(error: OSError) -> str:
    """An error of the file system in one line: the file that it names, and what happened."""
    parts = [error.filename, error.strerror] if error.strerror else [error]
    named = [os.fsdecode(part) if isinstance(part, bytes) else part for part in parts]
    return ": ".join(in_one_line(str(part)) for part in named if part is not None)


def _said(line, code):
    print(*map(in_one_line, line.split("\n")), sep="\n", file=sys.stderr)
    return code


def _settle_stdout():
    """Write what is left, or drop it where that fails: Python would complain at its exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
