"""The lines of the reader's own code from which an operation, or a kernel, came."""

import linecache
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

LIBRARY = re.compile(r"/lib(64)?/python3(\.\d+)?/")  # where Python and its packages are installed
PACKAGES = Path(__file__).parents[2]
# Who called a helper, of either package, made no operation.
HELPERS = tuple(f"{PACKAGES / name}/" for name in ("xla_helpers", "xla_decide"))
GRADIENT = "gradient_tape/"  # how the operations of a gradient are named, before the forward scope


class Line(NamedTuple):
    """A line of code: its file (a cell of a notebook has a name of Jupyter's), number, function."""

    file: str
    number: int
    function: str

    def __str__(self):
        named = f"{self.name}, " if self.name else ""
        return f"{named}line {self.number} in {self.function}"

    @property
    def name(self) -> str:
        """The name of the file; "" for a cell of a notebook, and for what is no file."""
        file = Path(self.file)
        return file.name if file.is_file() else ""


def line_of(op: Any) -> Line | None:
    """The reader's line that made an operation; None where a graph was loaded, or remembers none.

    It is the last one of the traceback that is in no installed package. Where its text cannot be
    read, nobody could look it up.
    """
    for frame in reversed(op.traceback or ()):
        if frame.filename.startswith(HELPERS):
            break
        if not LIBRARY.search(frame.filename):
            is_there = linecache.getline(frame.filename, frame.lineno)  # not of code from `exec`
            return Line(frame.filename, frame.lineno, frame.name) if is_there else None
    return None


class Lines:
    """Finds the reader's lines by the names of operations, which TensorFlow and XLA keep.

    An operation of a gradient has the line of its forward operation: TensorFlow names it after the
    forward one, or it has that as an input. Where neither is so, it has the line that asked for
    the gradient.
    """

    def __init__(self, operations: Iterable[Any]):
        """Take operations that have a `name` in the whole and TensorFlow's object as `op`."""
        self._ops = {one.name: one.op for one in operations}

    def of(self, names: Iterable[str]) -> tuple[Line, ...]:
        """The lines of several operations, each once, in order; () where none is known."""
        found = (self._line(name) for name in dict.fromkeys(names))
        return tuple(sorted({line for line in found if line}))

    def _line(self, name):
        op = self._op_of(name)
        if name.startswith(GRADIENT):
            scope = name.removeprefix(GRADIENT).rpartition("/")[0]
            inputs = [x.op for x in op.inputs] if op else []
            made_for = (one for one in inputs if op.type == f"{one.type}Grad")
            op = self._op_of(scope) or next(made_for, op)
        return line_of(op) if op else None

    def _op_of(self, name):
        """The operation of this name, or the one after which it is named ("dense/MatMul/MatMul_1").

        None where there is neither.
        """
        parts = name.split("/")
        longest_first = ("/".join(parts[:count]) for count in range(len(parts), 0, -1))
        return next((self._ops[one] for one in longest_first if one in self._ops), None)


def lines_shown(lines: Sequence[Line]) -> str:
    """Lines in few words, such as "6, 7" in a cell of a notebook, or "model.py 12"."""
    by_file = groupby(sorted(lines), key=lambda line: line.file)
    shown = []
    for _, group in by_file:
        own = list(group)
        numbers = ", ".join(str(number) for number in sorted({line.number for line in own}))
        shown.append(f"{own[0].name} {numbers}".strip())
    return "; ".join(shown)
