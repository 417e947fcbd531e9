"""What a process asked of oneDNN, the library of kernels for processors, by its own log."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..processes import run_in_process
from ..tables import Table, pluralize

VERBOSE = "onednn_verbose,v1,primitive,exec,"
# Of a line, split at commas: the primitive, its implementation, and the sizes, before the time.
PRIMITIVE, IMPLEMENTATION, SIZES = 5, 6, -2
MOST_ROWS = 12


@dataclass(frozen=True, repr=False)
class LibraryCalls(Table):
    """The calls of oneDNN in a process; it shows itself as a table, the most frequent first.

    Attributes:
        calls: Primitive (such as "convolution"; "gemm_api" is a matrix product), implementation
            and sizes, each as oneDNN names them, to how often it was called.
        value: What the function returned.
    """

    calls: Mapping[tuple[str, str, str], int]
    value: object = None

    def count(self, primitive: str) -> int:
        """How often a primitive was called, such as "convolution", by all implementations."""
        return sum(count for (kind, *_), count in self.calls.items() if kind == primitive)

    def _parts(self):
        found = Counter(self.calls).most_common()
        rows = [[kind, by, sizes, f"{count:,}"] for (kind, by, sizes), count in found[:MOST_ROWS]]
        total = pluralize(sum(self.calls.values()), "call")
        left = len(found) - MOST_ROWS
        notes = [f"Left out: {pluralize(left, 'kind')}."] if left > 0 else []
        columns = ["primitive", "implementation", "sizes", "calls"]
        return f"{total} of oneDNN.", columns, rows, *notes


def onednn_calls(fn: Callable | str, args=(), *, flags=None, timeout=300.0) -> LibraryCalls:
    """Run a function in a fresh process, and count what it calls of oneDNN, under XLA too.

    oneDNN writes a line for each call where the variable ``ONEDNN_VERBOSE`` is 1
    (oneDNN developer guide, "Verbose mode"). All calls of the process are counted: a function that
    is called twice calls twice.

    Args:
        fn: A function that imports what it needs, or source text, as `run_in_process` takes it.
        args: Its arguments, as there.
        flags: Environment variables to set, such as ``TF_ENABLE_ONEDNN_OPTS``.
        timeout: Seconds after which it is killed.

    Returns:
        `LibraryCalls`; none where this build of TensorFlow has no oneDNN.

    Raises:
        ProcessError: When the process fails, crashes or runs too long.
    """
    done = run_in_process(fn, args, flags={"ONEDNN_VERBOSE": "1"} | (flags or {}), timeout=timeout)
    lines = (line.split(",") for line in done.stdout.splitlines() if line.startswith(VERBOSE))
    calls = Counter((x[PRIMITIVE], x[IMPLEMENTATION], x[SIZES]) for x in lines)
    return LibraryCalls(dict(calls), done.value)
