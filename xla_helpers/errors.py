"""Errors: those of a reader's functions in one line, and those of arguments that make no sense."""

import itertools
import math
import re
from numbers import Integral, Real

from .tables import printable, truncate

UNSUPPORTED = re.compile(
    r"(\w+) \(No registered '\1' OpKernel for \w+ devices compatible with node {{node ([^}]+)}}"
    r"(?:\s*\(OpKernel was found, but attributes didn't match\)[^)]*?\bT=DT_(\w+))?"
)
"""How TensorFlow names an operation that XLA has no code for: its type, its node, and the type of
its elements where XLA has code for others."""

KERAS_LINE = re.compile(r"Exception encountered when calling |.*\bError encountered:$")
"""What Keras puts above the message of an error in a layer."""

NOISE = re.compile(r"\x1b\[\d+m|\{\{.*?\}\}| \(defined @ [^)]*\)|\[Op:.*|name: *$")
"""TensorFlow's brackets around the names of nodes and operations, their files, Keras' bold type."""


def headline(error: BaseException | None, limit: int = 300) -> str:
    """The type of an error and the telling line of its message, in at most `limit` characters."""
    kind = f"{type(error).__name__}: "
    return printable(truncate(f"{kind}{_telling_line(str(error), kind)}", limit))


def _telling_line(message, kind):
    if unsupported := UNSUPPORTED.findall(message):
        return f"unsupported {', '.join(kind for kind, _, _ in unsupported)}"
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["no message"]
    if lines[0] == "in user code:":  # while tracing: below the lines of code that led to it
        lines = lines[next((n for n, x in enumerate(lines) if x.startswith(kind)), -1) :]
    while len(lines) > 1 and KERAS_LINE.match(NOISE.sub("", lines[0].removeprefix(kind))):
        lines = lines[1:]
    line = lines[0]
    if line == "Graph execution error:":  # the message stands above the node's name
        pairs = itertools.pairwise(lines)
        line = next((above for above, below in pairs if below.startswith("[[{{node")), lines[-1])
    return NOISE.sub("", line.removeprefix(kind)).strip()


def check_number(name: str, value, *, whole: bool = False, zero: bool = False) -> None:
    """Raise ValueError unless the value is a finite number above zero, or zero where allowed."""
    kind = Integral if whole else Real
    good = isinstance(value, kind) and not isinstance(value, bool) and math.isfinite(value)
    if not (good and (value > 0 or (zero and value == 0))):
        wanted = f"a {'whole ' if whole else ''}number, {'zero or more' if zero else 'above zero'}"
        raise ValueError(f"`{name}` must be {wanted}, not {truncate(repr(value), 60)}")


def check_args(args) -> None:
    """Raise TypeError unless it is a tuple or a list."""
    if not isinstance(args, (tuple, list)):
        raise TypeError(f"`args` must be a tuple, such as (x,), not {type(args).__name__}")
