"""Errors in one line: those of candidates, those that a lesson expects, and those of answers."""

import io
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass

from .tables import cut, in_one_line

DEFINED = re.compile(r" \(defined @ [^)]*\)")
"""What TensorFlow adds to the name of a node: its file, a temporary one for a notebook's cell."""

UNSUPPORTED = re.compile(r"(\w+) \(No registered '\1' OpKernel")
"""How TensorFlow names an operation that XLA has no code for."""

NOISE = re.compile(r"\x1b\[\d+m|\{\{.*?\}\}|\[Op:.*|name: *$")
"""TensorFlow's brackets around the names of nodes and operations, and Keras' bold type."""


def headline(error: BaseException, limit: int = 300) -> str:
    """The type of `error` and the line of its message that says what is wrong.

    limit: the most characters. Nothing in it steers a terminal.
    """
    kind = f"{type(error).__name__}: "
    return in_one_line(cut(f"{kind}{_telling_line(str(error), kind)}", limit))


def _telling_line(message, kind):
    if unsupported := UNSUPPORTED.findall(message):
        return f"unsupported {', '.join(unsupported)}"
    lines = _lines(message)
    line = lines[0]
    if line == "in user code:":  # an error while tracing, below the lines of code that led to it
        line = next((other for other in lines if other.startswith(kind)), lines[-1])
    if line.startswith("Exception encountered when calling "):  # Keras puts its own line above
        line = next(iter(lines[1:]), line)
    if line == "Graph execution error:":  # the message stands above the node's name
        pairs = zip(lines, lines[1:], strict=False)
        line = next((above for above, below in pairs if below.startswith("[[{{node")), lines[-1])
    return NOISE.sub("", line.removeprefix(kind)).strip()


def _lines(message):
    return [line.strip() for line in message.splitlines() if line.strip()] or ["no message"]


@dataclass
class CaughtError:
    """The error that a block raised; None until then."""

    error: BaseException | None = None

    @property
    def lines(self) -> list[str]:
        """Its message, line by line, without the blank ones and the places in temporary files."""
        return _lines(DEFINED.sub("", str(self.error)))


@contextmanager
def expect_error(kind: type[BaseException], *words: str) -> Iterator[CaughtError]:
    """Show in one line the error that the block must raise, and go on.

    kind: its type. words: texts that its message must hold. Introduced in notebook 05.

    Yields: a `CaughtError`, which holds the error after the block.
    Raises: AssertionError when the block raises nothing, or a message without one of `words`.
    """
    caught = CaughtError()
    try:
        yield caught
    except kind as error:
        caught.error = error
    if caught.error is None:
        raise AssertionError(f"this should have raised {kind.__name__}")
    for word in words:
        if word not in str(caught.error):
            raise AssertionError(f"the message does not hold {word!r}: {caught.error}")
    print(in_one_line(f"{type(caught.error).__name__}: {caught.lines[0]}"))


@contextmanager
def not_yet(*names: str) -> Iterator[None]:
    """Say in one line what a learner's answer still lacks, or that it is right.

    The checks of exercises run inside it, so that an open exercise stops nobody. What a check
    prints explains the answer, and is shown only below "Right.". Introduced in notebook 01.

    names: what the cell of the exercise defines. When a cell with one of them has just ended with
        an error, they are forgotten, so that no earlier answer is judged in its place.
    """
    _forget_after_an_error(names)
    explanation = io.StringIO()
    try:
        with redirect_stdout(explanation):
            yield
    except Exception as error:
        print(f"Not yet: {_hint(error, names)}")
    else:
        print(f"Right.\n{explanation.getvalue()}", end="")


def _forget_after_an_error(names):
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    last = getattr(shell, "last_execution_result", None)
    if last and not last.success and any(name in last.info.raw_cell for name in names):
        for name in names:
            shell.user_ns.pop(name, None)


def _hint(error, names):
    if isinstance(error, NameError) and error.name in names:
        return "the cell above ended with an error, or has not run; mend it and run it again"
    if isinstance(error, AssertionError):
        source = traceback.extract_tb(error.__traceback__)[-1].line or "the answer is not right"
        return (str(error).strip() or source).splitlines()[0]
    return f"the answer cannot be checked ({headline(error)})"
