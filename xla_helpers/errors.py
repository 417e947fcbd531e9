"""Errors in one line: of a reader's functions, of lessons that expect one, of learners' answers."""

import io
import itertools
import math
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from numbers import Integral, Real
from types import SimpleNamespace

from .tables import cut, in_one_line

UNSUPPORTED = re.compile(
    r"(\w+) \(No registered '\1' OpKernel for \w+ devices compatible with node {{node ([^}]+)}}"
    r"(?:\s*\(OpKernel was found, but attributes didn't match\)[^)]*?\bT=DT_(\w+))?"
)
"""How TensorFlow names an operation that XLA has no code for: its type, its node, and the type of
its elements where XLA has code for others."""

NOISE = re.compile(r"\x1b\[\d+m|\{\{.*?\}\}| \(defined @ [^)]*\)|\[Op:.*|name: *$")
"""TensorFlow's brackets around the names of nodes and operations, their files, Keras' bold type."""


def headline(error: BaseException | None, limit: int = 300) -> str:
    """The type of an error and the telling line of its message, in at most `limit` characters."""
    kind = f"{type(error).__name__}: "
    return in_one_line(cut(f"{kind}{_telling_line(str(error), kind)}", limit))


def _telling_line(message, kind):
    if unsupported := UNSUPPORTED.findall(message):
        return f"unsupported {', '.join(kind for kind, _, _ in unsupported)}"
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no message"]
    line = lines[0]
    if line == "in user code:":  # an error while tracing, below the lines of code that led to it
        line = next((other for other in lines if other.startswith(kind)), lines[-1])
    if line.startswith("Exception encountered when calling "):  # Keras puts its own line above
        line = next(iter(lines[1:]), line)
    if line == "Graph execution error:":  # the message stands above the node's name
        pairs = itertools.pairwise(lines)
        line = next((above for above, below in pairs if below.startswith("[[{{node")), lines[-1])
    return NOISE.sub("", line.removeprefix(kind)).strip()


@contextmanager
def expect_error(kind: type[BaseException], *words: str) -> Iterator[SimpleNamespace]:
    """Show in one line the error that the block must raise, and go on.

    Args:
        kind: The type of the error.
        words: Texts that its message must contain.

    Yields:
        A namespace, whose `error` is the error after the block.

    Raises:
        AssertionError: When the block raises nothing, or a message without one of `words`.
    """
    caught = SimpleNamespace(error=None)
    try:
        yield caught
    except kind as error:
        caught.error = error
    assert caught.error, f"this should have raised {kind.__name__}"
    missing = [word for word in words if word not in str(caught.error)]
    assert not missing, f"the message does not contain {missing}: {caught.error}"
    print(headline(caught.error))


def exercise(check: Callable[[], None]) -> None:
    """Say whether a learner's answer is right, so that an open exercise stops nobody.

    Args:
        check: Asserts what a right answer does, each with a hint for a wrong one. What it prints
            explains the right answer, and is shown below "Right." only.
    """
    explanation = io.StringIO()
    try:
        with redirect_stdout(explanation):
            check()
    except AssertionError as error:
        source = traceback.extract_tb(error.__traceback__)[-1].line or "the answer is not right"
        print(f"Not yet: {(str(error).strip() or source).splitlines()[0]}")
    except Exception as error:  # whatever a learner's answer raises
        print(f"Not yet: the answer cannot be checked ({headline(error)})")
    else:
        print(f"Right.\n{explanation.getvalue()}", end="")


def check_number(name: str, value, *, whole: bool = False, zero: bool = False) -> None:
    """Raise ValueError unless the value is a finite number above zero, or zero where allowed."""
    kind = Integral if whole else Real
    good = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
    if not (good and (value > 0 or (zero and value == 0))):
        wanted = f"a {'whole ' if whole else ''}number, {'zero or more' if zero else 'above zero'}"
        raise ValueError(f"`{name}` must be {wanted}, not {cut(repr(value), 60)}")


def check_args(args) -> None:
    """Raise TypeError unless it is a tuple or a list."""
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"`args` must be a tuple, such as (x,), not {type(args).__name__}")
