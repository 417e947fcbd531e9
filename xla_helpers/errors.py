"""Errors in one line: those of candidates, and those that a lesson expects."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
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
    unsupported = UNSUPPORTED.findall(message)
    if unsupported:
        return f"unsupported {', '.join(unsupported)}"
    lines = _lines(message) or ["no message"]
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
    return [line.strip() for line in message.splitlines() if line.strip()]


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
    first = next(iter(caught.lines), "no message")
    print(in_one_line(f"{type(caught.error).__name__}: {first}"))
