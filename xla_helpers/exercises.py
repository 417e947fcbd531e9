"""The check of a workshop's exercise: "Not yet" and a hint, or "Right." and the explanation."""

import io
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from .errors import headline

BROKEN = "the cell above ended with an error; mend it and run it again"
UNSAID = "the answer is not right"
MISSING = "run the cell above first"
SAME = "(The cell above has not run since the last check.)"

DEFINES = r"(?m)^(?:def {name}\b|[^#(\n]*\b{name}\b[^(\n]*(?<![=!<>])=(?!=))"
"""A line that defines a name, also in code that cannot be parsed."""


@contextmanager
def not_yet(*names: str) -> Iterator[None]:
    """Say in one line what a learner's answer still lacks, or that it is right.

    The checks of exercises run inside it, so that an open exercise stops nobody. What a check
    prints explains the answer, and is shown only below "Right.". Introduced in notebook 01.

    names: what the cell of the exercise defines. When that cell has just ended with an error,
        they are forgotten, so that no earlier answer is judged in its place.
    """
    shell = _shell()
    broken = _is_broken(shell, names)
    if broken:
        for name in names:
            shell.user_ns.pop(name, None)
    explanation, hint = io.StringIO(), None
    try:
        with redirect_stdout(explanation):
            yield
    except Exception as error:
        hint = _hint(error, names)
    if broken:
        hint = BROKEN
    if hint is None:
        print(f"Right.\n{explanation.getvalue()}", end="")
    else:
        print(f"Not yet: {hint}")
        if _ran_twice(shell):
            print(SAME)


def _shell():
    """IPython, where this runs in one."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _is_broken(shell, names):
    """Whether the cell that ran last is that of the exercise, and ended with an error."""
    last = getattr(shell, "last_execution_result", None)
    if last is None or last.success:
        return False
    return any(re.search(DEFINES.format(name=name), last.info.raw_cell) for name in names)


def _ran_twice(shell):
    """Whether the cell that ran last is this one."""
    sources = shell.user_ns.get("In", []) if shell else []
    return len(sources) > 1 and sources[-1] == sources[-2]


def _hint(error, names):
    if isinstance(error, NameError) and error.name in names:
        return MISSING
    if isinstance(error, AssertionError):
        return (str(error).strip() or _line_that_raised(error)).splitlines()[0]
    return f"the answer cannot be checked ({headline(error)})"


def _line_that_raised(error):
    return traceback.extract_tb(error.__traceback__)[-1].line or UNSAID
